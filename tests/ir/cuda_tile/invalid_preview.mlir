// Wrong declarations and implementations of library functions. Most texts are those of NVIDIA's reader.
//
// RUN: tileiras-opt %s --split-input-file --verify-diagnostics

cuda_tile.module @m {
  // expected-error @below {{fragmap must have 3 shape modes (invocation, participant, footprint), got 2}}
  preview$extern_impl @sym implements @f (%a: preview$fragment<4xf32, local, mem_layout = <(4):(1)>, fragmap = <(32, 4):(4, 1)>> {cuda_tile.preview$access = #cuda_tile<preview$access<inout>>})
}

// -----

cuda_tile.module @m {
  // expected-error @below {{fragment arg 0 fragmap footprint mode size (1) must equal the fragment element count (4)}}
  preview$extern_impl @sym implements @f (%a: preview$fragment<4xf32, local, mem_layout = <(4):(1)>, fragmap = <(1, 32, 1):(0, 4, 1)>> {cuda_tile.preview$access = #cuda_tile<preview$access<inout>>})
}

// -----

cuda_tile.module @m {
  // expected-error @below {{fragment arg 0 smem fragmap participant mode must have zero stride for every non-unit submode}}
  preview$extern_impl @sym implements @f (%a: preview$fragment<4xf32, smem, mem_layout = <(4):(1)>, fragmap = <(1, 32, 4):(0, 1, 1)>> {cuda_tile.preview$access = #cuda_tile<preview$access<inout>>})
}

// -----

cuda_tile.module @m {
  // expected-error @below {{fragment arg 1 fragmap participant mode size (64) must match arg 0's (32); all args of one invocation use the same participants}}
  preview$extern_impl @sym implements @f (%a: preview$fragment<4xf32, local, mem_layout = <(4):(1)>, fragmap = <(1, 32, 4):(0, 4, 1)>> {cuda_tile.preview$access = #cuda_tile<preview$access<inout>>}, %b: preview$fragment<4xf32, local, mem_layout = <(4):(1)>, fragmap = <(1, 64, 4):(0, 4, 1)>> {cuda_tile.preview$access = #cuda_tile<preview$access<inout>>})
}

// -----

cuda_tile.module @m {
  // expected-error @below {{fragment arg 1 fragmap invocation mode size (2) must match arg 0's (1)}}
  preview$extern_impl @sym implements @f (%a: preview$fragment<4xf32, local, mem_layout = <(4):(1)>, fragmap = <(1, 32, 4):(0, 4, 1)>> {cuda_tile.preview$access = #cuda_tile<preview$access<inout>>}, %b: preview$fragment<4xf32, local, mem_layout = <(4):(1)>, fragmap = <(2, 32, 4):(0, 4, 1)>> {cuda_tile.preview$access = #cuda_tile<preview$access<inout>>})
}

// -----

cuda_tile.module @m {
  // expected-error @below {{synchronization 'warp' requires the fragmap participant mode size (16) to be a positive multiple of 32}}
  preview$extern_impl @sym implements @f (%a: preview$fragment<4xf32, local, mem_layout = <(4):(1)>, fragmap = <(1, 16, 4):(0, 4, 1)>> {cuda_tile.preview$access = #cuda_tile<preview$access<inout>>}) synchronization = #cuda_tile<preview$synchronization<warp>>
}

// -----

cuda_tile.module @m {
  // expected-error @below {{synchronization 'warpgroup' requires the fragmap participant mode size (32) to be a positive multiple of 128}}
  preview$extern_impl @sym implements @f (%a: preview$fragment<4xf32, local, mem_layout = <(4):(1)>, fragmap = <(1, 32, 4):(0, 4, 1)>> {cuda_tile.preview$access = #cuda_tile<preview$access<inout>>}) synchronization = #cuda_tile<preview$synchronization<warpgroup>>
}

// -----

cuda_tile.module @m {
  // expected-error @below {{argument 0 field fragmap references an undeclared symbolic variable N}}
  preview$extern_impl @sym implements @f (%a: preview$fragment<4xf32, local, mem_layout = <(4):(1)>, fragmap = <(1, N, 4):(0, 4, 1)>> {cuda_tile.preview$access = #cuda_tile<preview$access<inout>>})
}

// -----

cuda_tile.module @m {
  // expected-error @below {{argument 0 field mem_layout references an undeclared symbolic variable N}}
  preview$extern_impl @sym implements @f (%a: preview$fragment<4xf32, local, mem_layout = <(N):(1)>, fragmap = <(1, 32, 4):(0, 4, 1)>> {cuda_tile.preview$access = #cuda_tile<preview$access<inout>>})
}

// -----

cuda_tile.module @m {
  // expected-error @below {{argument 0 field shape references an undeclared symbolic variable N}}
  preview$extern_impl @sym implements @f (%a: preview$fragment<[N]xf32, local, mem_layout = <(4):(1)>, fragmap = <(1, 32, 4):(0, 4, 1)>> {cuda_tile.preview$access = #cuda_tile<preview$access<inout>>})
}

// -----

cuda_tile.module @m {
  // expected-error @below {{duplicate constant parameter name: 'N'}}
  preview$extern_impl @sym<[N: index, N: index]> implements @f (%a: preview$fragment<4xf32, local, mem_layout = <(4):(1)>, fragmap = <(1, 32, 4):(0, 4, 1)>> {cuda_tile.preview$access = #cuda_tile<preview$access<inout>>})
}

// -----

cuda_tile.module @m {
  // expected-error @below {{extern_impl must not carry 'config'}}
  preview$extern_impl @sym implements @f (%a: preview$fragment<4xf32, local, mem_layout = <(4):(1)>, fragmap = <(1, 32, 4):(0, 4, 1)>> {cuda_tile.preview$access = #cuda_tile<preview$access<inout>>}) {config = {}}
}

// -----

cuda_tile.module @m {
  // expected-error @below {{extern_impl argument 0 must carry a 'cuda_tile.preview$access' arg attr}}
  preview$extern_impl @sym implements @f (%a: preview$fragment<4xf32, local, mem_layout = <(4):(1)>, fragmap = <(1, 32, 4):(0, 4, 1)>> )
}

// -----

cuda_tile.module @m {
  // expected-error @below {{function_type must have at least one input and all inputs must be fragment types}}
  preview$extern_impl @sym implements @f ()
}

// -----

cuda_tile.module @m {
  // expected-error @below {{extern_impl must not declare results; outputs are represented as 'out' or 'inout' fragment args, got 1 result(s)}}
  preview$extern_impl @sym implements @f (%a: preview$fragment<4xf32, local, mem_layout = <(4):(1)>, fragmap = <(1, 32, 4):(0, 4, 1)>> {cuda_tile.preview$access = #cuda_tile<preview$access<inout>>}) -> tile<4xf32>
}

// -----

cuda_tile.module @m {
  // expected-error @below {{attribute 'arch' failed to satisfy constraint: string array attribute}}
  preview$extern_impl @sym implements @f (%a: preview$fragment<4xf32, local, mem_layout = <(4):(1)>, fragmap = <(1, 32, 4):(0, 4, 1)>> {cuda_tile.preview$access = #cuda_tile<preview$access<inout>>}) arch = [1]
}

// -----

cuda_tile.module @m {
  // expected-error @below {{extern functions must declare at least one input}}
  preview$func extern @f()
}

// -----

cuda_tile.module @m {
  // expected-error @below {{input type 0 must be a cuda_tile.tile, got 'f32'}}
  preview$func extern @f(%a: f32 {cuda_tile.preview$access = #cuda_tile<preview$access<inout>>})
}

// -----

cuda_tile.module @m {
  // expected-error @below {{extern function argument 0 must have a 'cuda_tile.preview$access' arg attr}}
  preview$func extern @f(%a: tile<4xf32>)
}

// -----

cuda_tile.module @m {
  // expected-error @below {{number of bound inouts exceeded the number of results}}
  preview$func extern @f(%a: tile<4xf32> {cuda_tile.preview$access = #cuda_tile<preview$access<inout>>})
}

// -----

cuda_tile.module @m {
  // expected-error @below {{extern function argument 0 must match result 0}}
  preview$func extern @f(%a: tile<4xf32> {cuda_tile.preview$access = #cuda_tile<preview$access<inout>>}) -> tile<8xf32>
}

// -----

cuda_tile.module @m {
  // expected-error @below {{const_params[0]: '?' wildcard is only valid in extern_impl const_params}}
  preview$func extern @f<[?]>(%a: tile<4xf32> {cuda_tile.preview$access = #cuda_tile<preview$access<inout>>}) -> tile<4xf32>
}

// -----

cuda_tile.module @m {
  // expected-error @below {{input type references undeclared symbolic variable 'T'}}
  preview$func extern @f(%a: tile<4xpreview$sym_t<T>> {cuda_tile.preview$access = #cuda_tile<preview$access<inout>>}) -> tile<4xpreview$sym_t<T>>
}

// -----

cuda_tile.module @m {
  // expected-error @below {{arguments may only have dialect attributes}}
  preview$func extern @f(%a: tile<4xf32> {foo = 1})
}

// -----

cuda_tile.module @m {
  // expected-error @below {{mem_layout must be a bijection on the footprint elements (a permutation of [0, 4)), but its codomain spans 7 element(s)}}
  preview$extern_impl @sym implements @f (%a: preview$fragment<4xf32, local, mem_layout = <(4):(2)>, fragmap = <(1, 32, 4):(0, 4, 1)>> {cuda_tile.preview$access = #cuda_tile<preview$access<inout>>})
}

// -----

cuda_tile.module @m {
  // expected-error @below {{mem_layout must be a bijection on the footprint elements (a permutation of [0, 8)), but it maps two to one offset}}
  preview$extern_impl @sym implements @f (%a: preview$fragment<8xf32, local, mem_layout = <(2, 2, 2):(1, 1, 5)>, fragmap = <(1, 32, 8):(0, 8, 1)>> {cuda_tile.preview$access = #cuda_tile<preview$access<inout>>})
}

// -----

cuda_tile.module @m {
  // expected-error @below {{fragment alignment must be a positive number of elements}}
  preview$extern_impl @sym implements @f (%a: preview$fragment<4xf32, local, mem_layout = <(4):(1)>, fragmap = <(1, 32, 4):(0, 4, 1)>, alignment = 0> {cuda_tile.preview$access = #cuda_tile<preview$access<inout>>})
}

// -----

cuda_tile.module @m {
  // expected-error @below {{shapes and strides must have the same rank, got 1 vs 2}}
  preview$extern_impl @sym implements @f (%a: preview$fragment<4xf32, local, mem_layout = <(4):(1, 1)>, fragmap = <(1, 32, 4):(0, 4, 1)>> {cuda_tile.preview$access = #cuda_tile<preview$access<inout>>})
}

// -----

cuda_tile.module @m {
  // expected-error @below {{shapes and strides must have the same nesting structure, but mode 0 is a tuple in shapes and an integer in strides}}
  preview$extern_impl @sym implements @f (%a: preview$fragment<4xf32, local, mem_layout = <((2, 2)):(1)>, fragmap = <(1, 32, 4):(0, 4, 1)>> {cuda_tile.preview$access = #cuda_tile<preview$access<inout>>})
}

// -----

cuda_tile.module @m {
  // expected-error @below {{shape extents must be positive, but mode 1 is 0}}
  preview$extern_impl @sym implements @f (%a: preview$fragment<4xf32, local, mem_layout = <(4):(1)>, fragmap = <(1, 0, 4):(0, 4, 1)>> {cuda_tile.preview$access = #cuda_tile<preview$access<inout>>})
}

// -----

cuda_tile.module @m {
  // expected-error @below {{strides must be non-negative, but mode 1 is -4}}
  preview$extern_impl @sym implements @f (%a: preview$fragment<4xf32, local, mem_layout = <(4):(1)>, fragmap = <(1, 32, 4):(0, -4, 1)>> {cuda_tile.preview$access = #cuda_tile<preview$access<inout>>})
}

// -----

cuda_tile.module @m {
  // expected-error @below {{expected 'local' or 'smem'}}
  preview$extern_impl @sym implements @f (%a: preview$fragment<4xf32, global, mem_layout = <(4):(1)>, fragmap = <(1, 32, 4):(0, 4, 1)>> {cuda_tile.preview$access = #cuda_tile<preview$access<inout>>})
}

// -----

cuda_tile.module @m {
  // expected-error @below {{shape dimension 0 must be an integer-valued expression}}
  preview$extern_impl @sym implements @f (%a: preview$fragment<[(1, 2)]xf32, local, mem_layout = <(4):(1)>, fragmap = <(1, 32, 4):(0, 4, 1)>> {cuda_tile.preview$access = #cuda_tile<preview$access<inout>>})
}

// -----

cuda_tile.module @m {
  // expected-error @below {{scratch alignment must be a power of two}}
  preview$extern_impl @sym implements @f (%a: preview$fragment<4xf32, local, mem_layout = <(4):(1)>, fragmap = <(1, 32, 4):(0, 4, 1)>> {cuda_tile.preview$access = #cuda_tile<preview$access<inout>>}) scratch {smem.size = #cuda_tile<preview$expr_int<4>>, smem.alignment = #cuda_tile<preview$expr_int<3>>}
}

// -----

cuda_tile.module @m {
  // expected-error @below {{scratch alignment must be positive}}
  preview$extern_impl @sym implements @f (%a: preview$fragment<4xf32, local, mem_layout = <(4):(1)>, fragmap = <(1, 32, 4):(0, 4, 1)>> {cuda_tile.preview$access = #cuda_tile<preview$access<inout>>}) scratch {smem.size = #cuda_tile<preview$expr_int<4>>, smem.alignment = #cuda_tile<preview$expr_int<0>>}
}

// -----

cuda_tile.module @m {
  // expected-error @below {{scratch size must be non-negative}}
  preview$extern_impl @sym implements @f (%a: preview$fragment<4xf32, local, mem_layout = <(4):(1)>, fragmap = <(1, 32, 4):(0, 4, 1)>> {cuda_tile.preview$access = #cuda_tile<preview$access<inout>>}) scratch {smem.size = #cuda_tile<preview$expr_int<-4>>, smem.alignment = #cuda_tile<preview$expr_int<4>>}
}

// -----

cuda_tile.module @m {
  // expected-error @below {{builtin expression name must be in the 'context.' namespace}}
  preview$extern_impl @sym implements @f (%a: preview$fragment<4xf32, local, mem_layout = <(4):(1)>, fragmap = <(1, foo.bar, 4):(0, 4, 1)>> {cuda_tile.preview$access = #cuda_tile<preview$access<inout>>})
}

// -----

cuda_tile.module @m {
  // expected-error @below {{expression variable name cannot be empty}}
  preview$extern_impl @sym implements @f<[#cuda_tile<preview$expr_var<"">>]> (%a: preview$fragment<4xf32, local, mem_layout = <(4):(1)>, fragmap = <(1, 32, 4):(0, 4, 1)>> {cuda_tile.preview$access = #cuda_tile<preview$access<inout>>})
}

// -----

cuda_tile.module @m {
  // expected-error @below {{constant parameter type must be index}}
  preview$extern_impl @sym<[N: f32]> implements @f (%a: preview$fragment<4xf32, local, mem_layout = <(4):(1)>, fragmap = <(1, 32, 4):(0, 4, 1)>> {cuda_tile.preview$access = #cuda_tile<preview$access<inout>>})
}

// -----

cuda_tile.module @m {
  // expected-error @below {{expected a symbolic expression, got #cuda_tile<preview$access<in>>}}
  preview$extern_impl @sym implements @f<[#cuda_tile<preview$access<in>>]> (%a: preview$fragment<4xf32, local, mem_layout = <(4):(1)>, fragmap = <(1, 32, 4):(0, 4, 1)>> {cuda_tile.preview$access = #cuda_tile<preview$access<inout>>})
}

// -----

cuda_tile.module @m {
  // expected-error @below {{integer does not fit in 64 bits}}
  preview$extern_impl @sym implements @f<[9223372036854775808]> (%a: preview$fragment<4xf32, local, mem_layout = <(4):(1)>, fragmap = <(1, 32, 4):(0, 4, 1)>> {cuda_tile.preview$access = #cuda_tile<preview$access<inout>>})
}

// -----

cuda_tile.module @m {
  // expected-error @below {{expression is nested too deeply}}
  preview$extern_impl @sym implements @f<[((((((((((((((((((((((((((((((((((((((((1))))))))))))))))))))))))))))))))))))))))]> (%a: preview$fragment<4xf32, local, mem_layout = <(4):(1)>, fragmap = <(1, 32, 4):(0, 4, 1)>> {cuda_tile.preview$access = #cuda_tile<preview$access<inout>>})
}

// -----

cuda_tile.module @m {
  // expected-error @below {{symbolic type expression must be a SymbolicExprVarAttr, got #cuda_tile<preview$expr_int<1>>}}
  preview$func extern @f(%a: tile<4xpreview$sym_t<1>> {cuda_tile.preview$access = #cuda_tile<preview$access<inout>>}) -> tile<4xf32>
}

// -----

cuda_tile.module @m {
  // expected-error @below {{symbol declaration cannot have public visibility}}
  "cuda_tile.preview$func"() <{arg_attrs = [{cuda_tile.preview$access = #cuda_tile<preview$access<in>>}], const_params = [], function_type = (!cuda_tile.tile<f32>) -> (), sym_name = "f"}> ({}) : () -> ()
}

// -----

cuda_tile.module @m {
  // expected-note @below {{see existing symbol definition here}}
  preview$func extern @f(%a: tile<f32> {cuda_tile.preview$access = #cuda_tile<preview$access<in>>})
  // expected-error @below {{redefinition of symbol named 'f'}}
  preview$func extern @f(%a: tile<f32> {cuda_tile.preview$access = #cuda_tile<preview$access<in>>})
}
