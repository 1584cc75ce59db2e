// Pointer accesses, the memory model, atomics and globals.
//
// RUN: tileiras-opt %s --cuda-tile-testing-ops --allow-unregistered-dialect \
// RUN:   --split-input-file --verify-diagnostics

cuda_tile.module @m {
  testing$func @f() {
    // expected-error @below {{'cuda_tile.make_token' op result #0 must be cuda tile token type, but got '!cuda_tile.tile<i32>'}}
    %0 = make_token : tile<i32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%t: token) {
    // expected-error @below {{expect two or more tokens}}
    %0 = join_tokens %t : token
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<16x32xf32>) {
    // expected-error @below {{operand #0 must be tile of Pointer type values, but got '!cuda_tile.tile<16x32xf32>'}}
    %0, %t = load_ptr_tko weak %x : tile<16x32xf32> -> tile<16x32xf32>, token
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%p: tile<16xptr<f32>>) {
    // expected-error @below {{`source` type is expected a pointer type of `result` type}}
    %0, %t = load_ptr_tko weak %p : tile<16xptr<f32>> -> tile<16xf64>, token
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%p: tile<16x32xptr<f32>>) {
    // expected-error @below {{operand #1 must be tile of i1 values, but got '!cuda_tile.tile<16x32xptr<f32>>'}}
    %0, %t = load_ptr_tko weak %p, %p : tile<16x32xptr<f32>>, tile<16x32xptr<f32>> -> tile<16x32xf32>, token
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%p: tile<16xptr<f32>>, %m: tile<i1>) {
    // expected-error @below {{shape of 'mask' must match the shape of 'source'}}
    %0, %t = load_ptr_tko weak %p, %m : tile<16xptr<f32>>, tile<i1> -> tile<16xf32>, token
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%p: tile<16xptr<f32>>, %m: tile<16xi1>, %z: tile<16xf64>) {
    // expected-error @below {{type of 'paddingValue' must match the type of 'result'}}
    %0, %t = load_ptr_tko weak %p, %m, %z : tile<16xptr<f32>>, tile<16xi1>, tile<16xf64> -> tile<16xf32>, token
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%p: tile<16xptr<f32>>, %x: tile<16xf64>) {
    // expected-error @below {{op failed to verify that `destination` type is expected a pointer type of `value` type}}
    %t = store_ptr_tko weak %p, %x : tile<16xptr<f32>>, tile<16xf64> -> token
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%p: tile<16xptr<f32>>, %x: tile<16xf32>, %m: tile<i1>) {
    // expected-error @below {{op failed to verify that shape of 'destination' must match the shape of 'mask'}}
    %t = store_ptr_tko weak %p, %x, %m : tile<16xptr<f32>>, tile<16xf32>, tile<i1> -> token
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%p: tile<16xptr<f32>>, %x: tile<16xf32>) {
    // expected-error @below {{'cuda_tile.store_ptr_tko' op operand #2 must be tile of i1 values}}
    %t = store_ptr_tko weak %p, %x, %x : tile<16xptr<f32>>, tile<16xf32>, tile<16xf32> -> token
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%p: tile<ptr<f32>>, %x: tile<f32>) {
    // expected-error @below {{weak load must not have memory scope}}
    %0, %t = load_ptr_tko weak device %p : tile<ptr<f32>> -> tile<f32>, token
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%p: tile<ptr<f32>>, %x: tile<f32>) {
    // expected-error @below {{weak store must not have memory scope}}
    %t = store_ptr_tko weak device %p, %x : tile<ptr<f32>>, tile<f32> -> token
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%p: tile<ptr<f32>>, %x: tile<f32>) {
    // expected-error @below {{Invalid attribute `memory_ordering_semantics` in property conversion: 9 : i32}}
    %0, %t = "cuda_tile.load_ptr_tko"(%p) <{memory_ordering_semantics = 9 : i32, operandSegmentSizes = array<i32: 1, 0, 0, 0>}> : (!cuda_tile.tile<ptr<f32>>) -> (!cuda_tile.tile<f32>, !cuda_tile.token)
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%p: tile<ptr<f32>>, %x: tile<f32>) {
    // expected-error @below {{expect one of: weak, relaxed, or acquire, but got: release}}
    %0, %t = load_ptr_tko release device %p : tile<ptr<f32>> -> tile<f32>, token
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%p: tile<ptr<f32>>, %x: tile<f32>) {
    // expected-error @below {{expect one of: weak, relaxed, or release, but got: acquire}}
    %t = store_ptr_tko acquire device %p, %x : tile<ptr<f32>>, tile<f32> -> token
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%p: tile<ptr<f32>>, %x: tile<f32>) {
    // expected-error @below {{expected ':'}}
    %0, %t = load_ptr_tko weak %p 5 : tile<ptr<f32>> -> tile<f32>, token
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%p: tile<ptr<f32>>, %x: tile<f32>) {
    // expected-error @below {{expected SSA operand}}
    %0, %t = load_ptr_tko weak 5 : tile<ptr<f32>> -> tile<f32>, token
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%p: tile<ptr<f32>>, %x: tile<f32>) {
    // expected-error @below {{expected SSA operand}}
    %0, %t = load_ptr_tko weak %p token= : tile<ptr<f32>> -> tile<f32>, token
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%p: tile<ptr<f32>>, %x: tile<f32>) {
    // expected-error @below {{expected SSA operand}}
    %0, %t = load_ptr_tko weak %p, : tile<ptr<f32>> -> tile<f32>, token
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%v: partition_view<tile=(8), tensor_view<8xf32, strides=[1]>>, %i: tile<i32>) {
    // expected-error @below {{expected valid keyword}}
    %0, %t = load_view_tko %v[%i] : partition_view<tile=(8), tensor_view<8xf32, strides=[1]>>, tile<i32> -> tile<8xf32>, token
  }
}

// -----

cuda_tile.module @m {
  // expected-note @below {{prior use here}}
  testing$func @f(%p: tile<ptr<f32>>, %arg1: i32) {
    // expected-error @below {{use of value '%arg1' expects different type than prior uses: '!cuda_tile.token' vs 'i32'}}
    %0, %t = load_ptr_tko weak %p token=%arg1 : tile<ptr<f32>> -> tile<f32>, token
  }
}

// -----

cuda_tile.module @m {
  // expected-note @below {{prior use here}}
  testing$func @f(%p: tile<ptr<f32>>, %i: i32) {
    // expected-error @below {{expects different type than prior uses: '!cuda_tile.token' vs 'i32'}}
    %0, %t = load_ptr_tko weak %p token=%i : tile<ptr<f32>> -> tile<f32>, token
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%p: tile<ptr<f32>>, %x: tile<f32>) {
    // expected-error @below {{op result #1 must be cuda tile token type, but got 'i32'}}
    %0, %t = load_ptr_tko weak %p : tile<ptr<f32>> -> tile<f32>, i32
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%p: tile<ptr<f32>>, %x: tile<f32>) {
    // expected-error @below {{result #0 must be cuda tile token type, but got 'i32'}}
    %t = store_ptr_tko weak %p, %x : tile<ptr<f32>>, tile<f32> -> i32
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%v: partition_view<tile=(8), tensor_view<8xf32, strides=[1]>>, %i: tile<i32>) {
    // expected-error @below {{invalid memory_ordering_semantics attribute specification. Got "invalid" but expect one of: weak, relaxed, acquire, release, acq_rel}}
    %0, %t = load_view_tko invalid %v[%i] : partition_view<tile=(8), tensor_view<8xf32, strides=[1]>>, tile<i32> -> tile<8xf32>, token
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%v: partition_view<tile=(8), tensor_view<8xf32, strides=[1]>>, %i: tile<i32>) {
    // expected-error @below {{invalid memory_scope attribute specification. Got "invalid" but expect one of: tl_blk, device, sys}}
    %0, %t = load_view_tko relaxed invalid %v[%i] : partition_view<tile=(8), tensor_view<8xf32, strides=[1]>>, tile<i32> -> tile<8xf32>, token
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%v: partition_view<tile=(8), tensor_view<8xf32, strides=[1]>>, %i: tile<i32>) {
    // expected-error @below {{operation specifies weak memory ordering semantics, but then provides "device" scope, expected no memory scope.}}
    %0, %t = load_view_tko weak device %v[%i] : partition_view<tile=(8), tensor_view<8xf32, strides=[1]>>, tile<i32> -> tile<8xf32>, token
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%v: partition_view<tile=(8), tensor_view<8xf32, strides=[1]>>, %i: tile<i32>, %x: tile<8xf32>) {
    // expected-error @below {{operation specifies weak memory ordering semantics, but then provides "tl_blk" scope, expected no memory scope.}}
    %t = store_view_tko weak tl_blk %x, %v[%i] : tile<8xf32>, partition_view<tile=(8), tensor_view<8xf32, strides=[1]>>, tile<i32> -> token
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%p: tile<ptr<f32>>, %x: tile<f32>) {
    // expected-error @below {{memory scope is required for acquire load}}
    %0, %t = load_ptr_tko acquire %p : tile<ptr<f32>> -> tile<f32>, token
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%p: tile<ptr<f32>>, %x: tile<f32>) {
    // expected-error @below {{memory scope is required for relaxed load}}
    %0, %t = load_ptr_tko relaxed %p : tile<ptr<f32>> -> tile<f32>, token
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%p: tile<ptr<f32>>, %x: tile<f32>) {
    // expected-error @below {{memory scope is required for release store}}
    %t = store_ptr_tko release %p, %x : tile<ptr<f32>>, tile<f32> -> token
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%p: tile<ptr<f32>>, %x: tile<f32>) {
    // expected-error @below {{memory scope is required for relaxed store}}
    %t = store_ptr_tko relaxed %p, %x : tile<ptr<f32>>, tile<f32> -> token
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%p: tile<ptr<i32>>, %x: tile<i32>, %q: tile<ptr<f32>>, %y: tile<f32>, %h: tile<ptr<i16>>, %z: tile<i16>) {
    // expected-error @below {{'addf' works only with floats f16, bf16, f32, and f64}}
    %0, %t = atomic_rmw_tko relaxed device %p, addf, %x : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%p: tile<ptr<i32>>, %x: tile<i32>, %q: tile<ptr<f32>>, %y: tile<f32>, %h: tile<ptr<i16>>, %z: tile<i16>) {
    // expected-error @below {{'add' works only with integers i32 and i64}}
    %0, %t = atomic_rmw_tko relaxed device %q, add, %y : tile<ptr<f32>>, tile<f32> -> tile<f32>, token
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%p: tile<ptr<i32>>, %x: tile<i32>, %q: tile<ptr<f32>>, %y: tile<f32>, %h: tile<ptr<i16>>, %z: tile<i16>) {
    // expected-error @below {{'xchg' works only with integers or float of 32 or 64 bitwidth}}
    %0, %t = atomic_rmw_tko relaxed device %h, xchg, %z : tile<ptr<i16>>, tile<i16> -> tile<i16>, token
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%p: tile<ptr<i32>>, %x: tile<i32>, %q: tile<ptr<f32>>, %y: tile<f32>, %h: tile<ptr<i16>>, %z: tile<i16>) {
    // expected-error @below {{expected string or keyword containing one of the following enum values for attribute 'mode' [and, or, xor, add, addf, max, min, umax, umin, xchg]}}
    %0, %t = atomic_rmw_tko relaxed device %p, , %x : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%p: tile<ptr<i32>>, %x: tile<i32>, %q: tile<ptr<f32>>, %y: tile<f32>, %h: tile<ptr<i16>>, %z: tile<i16>) {
    // expected-error @below {{expected string or keyword containing one of the following enum values for attribute 'memory_ordering_semantics' [weak, relaxed, acquire, release, acq_rel]}}
    %0, %t = atomic_rmw_tko %p, add, %x : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%p: tile<ptr<i32>>, %x: tile<i32>, %q: tile<ptr<f32>>, %y: tile<f32>, %h: tile<ptr<i16>>, %z: tile<i16>) {
    // expected-error @below {{memory ordering semantics must be one of: relaxed, acquire, release, acq_rel}}
    %0, %t = atomic_rmw_tko weak device %p, add, %x : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%p: tile<ptr<i32>>, %x: tile<i32>, %q: tile<ptr<f32>>, %y: tile<f32>, %h: tile<ptr<i16>>, %z: tile<i16>) {
    // expected-error @below {{expected pointee type ('f32') to match element type of 'arg' ('i32')}}
    %0, %t = atomic_rmw_tko relaxed device %q, add, %x : tile<ptr<f32>>, tile<i32> -> tile<i32>, token
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%p: tile<2xptr<i32>>, %x: tile<i32>) {
    // expected-error @below {{failed to verify that all of {pointers, arg, result} have same shape}}
    %0, %t = atomic_rmw_tko relaxed device %p, add, %x : tile<2xptr<i32>>, tile<i32> -> tile<i32>, token
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%p: tile<2xptr<i32>>, %x: tile<2xi32>, %m: tile<4xi1>) {
    // expected-error @below {{failed to verify that all of {pointers, arg, mask} have same shape}}
    %0, %t = atomic_rmw_tko relaxed device %p, add, %x, %m : tile<2xptr<i32>>, tile<2xi32>, tile<4xi1> -> tile<2xi32>, token
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%p: tile<2xptr<i32>>, %x: tile<i32>) {
    // expected-error @below {{failed to verify that all of {pointers, cmp, val, result} have same shape}}
    %0, %t = atomic_cas_tko relaxed device %p, %x, %x : tile<2xptr<i32>>, tile<i32> -> tile<i32>, token
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%p: tile<ptr<i32>>, %x: tile<i32>, %q: tile<ptr<f32>>, %y: tile<f32>, %h: tile<ptr<i16>>, %z: tile<i16>) {
    // expected-error @below {{expected pointee type ('f32') to match element type of 'val' ('i32')}}
    %0, %t = atomic_cas_tko relaxed device %q, %x, %x : tile<ptr<f32>>, tile<i32> -> tile<i32>, token
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%p: tile<ptr<i32>>, %x: tile<i32>, %q: tile<ptr<f32>>, %y: tile<f32>, %h: tile<ptr<i16>>, %z: tile<i16>) {
    // expected-error @below {{expect only float or integer types with 32 or 64 bit}}
    %0, %t = atomic_cas_tko relaxed device %h, %z, %z : tile<ptr<i16>>, tile<i16> -> tile<i16>, token
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%p: tile<ptr<i32>>, %x: tile<i32>, %q: tile<ptr<f32>>, %y: tile<f32>, %h: tile<ptr<i16>>, %z: tile<i16>) {
    // expected-error @below {{memory ordering semantics must be one of: relaxed, acquire, release, acq_rel}}
    %0, %t = atomic_cas_tko weak device %p, %x, %x : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%p: tile<8xptr<f32>>, %o: tile<8xf32>) {
    // expected-error @below {{'cuda_tile.offset' op operand #1 must be tile of i1 or i8 or i16 or i32 or i64 values, but got '!cuda_tile.tile<8xf32>'}}
    %0 = offset %p, %o : tile<8xptr<f32>>, tile<8xf32> -> tile<8xptr<f32>>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%p: tile<8xptr<f32>>, %o: tile<8xi32>) {
    // expected-error @below {{'cuda_tile.offset' op failed to verify that all of {result, ptr} have same type}}
    %0 = offset %p, %o : tile<8xptr<f32>>, tile<8xi32> -> tile<8xptr<i32>>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%p: tile<8xptr<f32>>, %o: tile<4xi32>) {
    // expected-error @below {{op requires the same shape for all operands and results}}
    %0 = offset %p, %o : tile<8xptr<f32>>, tile<4xi32> -> tile<8xptr<f32>>
  }
}

// -----

cuda_tile.module @m {
  // expected-note @below {{prior use here}}
  testing$func @f(%p: tile<8xptr<f32>>, %arg1: tile<4xi32>) {
    // expected-error @below {{use of value '%arg1' expects different type}}
    %0 = offset %p, %arg1 : tile<8xptr<f32>>, tile<8xi32> -> tile<8xptr<f32>>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f() {
    // expected-error @below {{failed to satisfy constraint: 64-bit signless integer attribute whose minimum value is 0}}
    %0 = alloca num_elem = -1, alignment = 4 : tile<ptr<f32>>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f() {
    // expected-error @below {{failed to satisfy constraint: 64-bit signless integer attribute whose minimum value is 0}}
    %0 = alloca num_elem = 1, alignment = -4 : tile<ptr<f32>>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f() {
    // expected-error @below {{op 'alignment' must be power of two}}
    %0 = alloca num_elem = 1, alignment = 3 : tile<ptr<f32>>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f() {
    // expected-error @below {{'alignment' (2) must be at least the natural size (4 bytes) for element type 'f32'}}
    %0 = alloca num_elem = 1, alignment = 2 : tile<ptr<f32>>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f() {
    // expected-error @below {{'g1' does not reference a valid global}}
    %0 = get_global @g1 : tile<ptr<f32>>
  }
}

// -----

cuda_tile.module @m {
  global @g1 <f16: [1.0]> : tile<1xf16>
  entry @f() {
  // expected-error @below {{pointee type of result type '!cuda_tile.ptr<f32>' does not match type 'f16' of the global @g1}}
  %0 = get_global @g1 : tile<ptr<f32>>
  }
}

// -----

cuda_tile.module @m {
  global @g1 <f32: [1.0]> : tile<1xf32>
  entry @f() {
  // expected-error @below {{op result #0 must be 0D tile of Pointer type values, but got '!cuda_tile.tile<4xptr<f32>>}}
  %0 = get_global @g1 : tile<4xptr<f32>>
  }
}

// -----

cuda_tile.module @m {
  // expected-error @below {{type must have rank 1}}
  global @g1 <f32: 1.0> : tile<f32>
}

// -----

// Pointer accesses parse their ordering and scope like MLIR enumerations.
cuda_tile.module @m {
  testing$func @f(%p: tile<ptr<f32>>) {
    // expected-error @below {{expected string or keyword containing one of the following enum values for attribute 'memory_ordering_semantics' [weak, relaxed, acquire, release, acq_rel]}}
    %0, %t = load_ptr_tko invalid %p : tile<ptr<f32>> -> tile<f32>, token
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%p: tile<ptr<f32>>) {
    // expected-error @below {{invalid memory_ordering_semantics attribute specification: "loose"}}
    %0, %t = load_ptr_tko "loose" %p : tile<ptr<f32>> -> tile<f32>, token
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%p: tile<ptr<f32>>) {
    // expected-error @below {{expected SSA operand}}
    %0, %t = load_ptr_tko relaxed invalid %p : tile<ptr<f32>> -> tile<f32>, token
  }
}

// -----

cuda_tile.module @m {
  // expected-error @below {{op 'alignment' must be power of two}}
  global @g alignment = 3 <i32: [1, 2]> : tile<2xi32>
}

// -----

cuda_tile.module @m {
  testing$func @f(%p: tile<ptr<f32>>, %q: tile<f64>) {
    // expected-error @below {{operand #1 must be tile of i1 values, but got '!cuda_tile.tile<f64>'}}
    %0, %t = load_ptr_tko weak %p, %q : tile<ptr<f32>>, tile<f64> -> tile<f32>, token
  }
}
