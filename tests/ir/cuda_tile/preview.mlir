// Calls, declarations and implementations of library functions, and the notation of expressions.
//
// RUN: tileiras-opt %s | tileiras-opt | FileCheck %s
// RUN: tileiras-translate --mlir-to-tileirbc --bytecode-version=13.5 %s | tileiras-translate --tileirbc-to-mlir | FileCheck %s
// RUN: not tileiras-translate --mlir-to-tileirbc --bytecode-version=13.4 %s 2>&1 | FileCheck %s --check-prefix=OLD
//
// OLD: is a preview, which requires bytecode version 13.5, targeting 13.4

cuda_tile.module @m {
  // CHECK: preview$func extern @plain(%arg0: tile<32xf32> {cuda_tile.preview$access = #cuda_tile<preview$access<inout>>}, %arg1: tile<ptr<f32>> {cuda_tile.preview$access = #cuda_tile<preview$access<in>>}) -> tile<32xf32>
  preview$func extern @plain(%a: tile<32xf32> {cuda_tile.preview$access = #cuda_tile<preview$access<inout>>}, %p: tile<ptr<f32>> {cuda_tile.preview$access = #cuda_tile<preview$access<in>>}) -> tile<32xf32>

  // CHECK: preview$func extern @constants<[N: index, T: !cuda_tile<preview$Datatype>, S: !cuda_tile<preview$shape>, X: !cuda_tile<preview$string>]>(%arg0: tile<4xpreview$sym_t<T>> {cuda_tile.preview$access = #cuda_tile<preview$access<inout>>}) -> tile<4xpreview$sym_t<T>>
  preview$func extern @constants<[N: index, T: !cuda_tile<preview$Datatype>, S: !cuda_tile<preview$shape>, X: !cuda_tile<preview$string>]>(%a: tile<4xpreview$sym_t<T>> {cuda_tile.preview$access = #cuda_tile<preview$access<inout>>}) -> tile<4xpreview$sym_t<T>>

  // CHECK: preview$extern_impl @sym implements @plain (%arg0: preview$fragment<1xf32, local, mem_layout = <(1):(1)>, fragmap = <(1, 32, 1):(0, 1, 0)>> {cuda_tile.preview$access = #cuda_tile<preview$access<inout>>}){{$}}
  preview$extern_impl @sym implements @plain (%a: preview$fragment<1xf32, local, mem_layout = <(1):(1)>, fragmap = <(1, 32, 1):(0, 1, 0)>> {cuda_tile.preview$access = #cuda_tile<preview$access<inout>>})

  // CHECK: preview$extern_impl @all<[N: index, ?]> implements @f<[N]> (%arg0: preview$fragment<4x[N]xptr<f32>, smem, mem_layout = <(4, N):(1, 4)>, fragmap = <(1, 32, (4, N)):(0, 0, (1, 512))>, alignment = 4> {cuda_tile.preview$access = #cuda_tile<preview$access<inout>>}) synchronization = #cuda_tile<preview$synchronization<cta>> scratch {smem.size = #cuda_tile<preview$expr_int<1024>>, smem.alignment = #cuda_tile<preview$expr_int<16>>} arch = ["sm_90"] {frontendABI = {}, provider_score = 7 : i64}
  preview$extern_impl @all<[N: index, ?]> implements @f<[N]> (%a: preview$fragment<4x[N]xptr<f32>, smem, mem_layout = <(4, N):(1, 4)>, fragmap = <(1, 32, (4, N)):(0, 0, (1, 512))>, alignment = 4> {cuda_tile.preview$access = #cuda_tile<preview$access<inout>>}) synchronization = #cuda_tile<preview$synchronization<cta>> scratch {smem.size = #cuda_tile<preview$expr_int<1024>>, smem.alignment = #cuda_tile<preview$expr_int<16>>} arch = ["sm_90"] {frontendABI = {}, provider_score = 7 : i64}

  // Precedence, tuples, types and strings.
  // CHECK: preview$extern_impl @infix<[N: index]> implements @f<[(N+3)*2, N*3+2, N-(1-2), N-1-2, -(N+1), -3+-N, N*(N*2), N/2*3, N/+2, N*2/(N/2), -(-N), N+1--2, (), (5,), (7, (3, N)), (N+1)*2, f32, "q\22", !cuda_tile.ptr<f32>, ?]> (
  preview$extern_impl @infix<[N: index]> implements @f<[(N+3)*2, N*3+2, N-(1-2), N-1-2, -(N+1), -3+-N, N*(N*2), N/2*3, N/+2, N*2/(N/2), -(-N), N+1--2, (), (5,), (7, (3, N)), ((N+1))*2, f32, "q\22", !cuda_tile.ptr<f32>, ?]> (%a: preview$fragment<1xf32, local, mem_layout = <(1):(1)>, fragmap = <(1, 32, 1):(0, 1, 0)>> {cuda_tile.preview$access = #cuda_tile<preview$access<inout>>})

  // A quotient without a sign, a builtin, or a name that would be parsed as something else, prints the whole list as
  // attributes.
  // CHECK: implements @f<[#cuda_tile<preview$expr_div<#cuda_tile<preview$expr_int<7>>, #cuda_tile<preview$expr_int<3>>>>, #cuda_tile<preview$expr_int<1>>]> (
  preview$extern_impl @div implements @f<[#cuda_tile<preview$expr_div<#cuda_tile<preview$expr_int<7>>, #cuda_tile<preview$expr_int<3>>>>, 1]> (%a: preview$fragment<1xf32, local, mem_layout = <(1):(1)>, fragmap = <(1, 32, 1):(0, 1, 0)>> {cuda_tile.preview$access = #cuda_tile<preview$access<inout>>})
  // CHECK: implements @f<[#cuda_tile<preview$expr_builtin<"context.num_threads", index>>]> (
  preview$extern_impl @builtin implements @f<[context.num_threads]> (%a: preview$fragment<1xf32, local, mem_layout = <(1):(1)>, fragmap = <(1, 32, 1):(0, 1, 0)>> {cuda_tile.preview$access = #cuda_tile<preview$access<inout>>})
  // CHECK: implements @f<[#cuda_tile<preview$expr_var<"a b">>, #cuda_tile<preview$expr_var<"i32">>]> (
  preview$extern_impl @names implements @f<[#cuda_tile<preview$expr_var<"a b">>, #cuda_tile<preview$expr_var<"i32">>]> (%a: preview$fragment<1xf32, local, mem_layout = <(1):(1)>, fragmap = <(1, 32, 1):(0, 1, 0)>> {cuda_tile.preview$access = #cuda_tile<preview$access<inout>>})

  // Layouts have spaces, and their own fallback.
  // CHECK: fragmap = <(1, context.num_threads, ((4, 2), 1)):(0, N * 2 - 1, ((1, (N + 1) * 2), 0))>> {cuda_tile.preview$access = #cuda_tile<preview$access<inout>>})
  preview$extern_impl @layout<[N: index]> implements @f (%a: preview$fragment<8xf32, local, mem_layout = <(8):(1)>, fragmap = <(1, context.num_threads, ((4, 2), 1)):(0, N*2-1, ((1, (N+1)*2), 0))>> {cuda_tile.preview$access = #cuda_tile<preview$access<inout>>})
  // CHECK: fragmap = <shapes = #cuda_tile<preview$symbolic_tuple<[#cuda_tile<preview$expr_int<1>>, #cuda_tile<preview$expr_div<#cuda_tile<preview$expr_int<64>>, #cuda_tile<preview$expr_int<2>>>>, #cuda_tile<preview$expr_int<1>>]>>, strides =
  preview$extern_impl @fallback implements @f (%a: preview$fragment<1xf32, local, mem_layout = <(1):(1)>, fragmap = <shapes = #cuda_tile<preview$symbolic_tuple<[#cuda_tile<preview$expr_int<1>>, #cuda_tile<preview$expr_div<#cuda_tile<preview$expr_int<64>>, #cuda_tile<preview$expr_int<2>>>>, #cuda_tile<preview$expr_int<1>>]>>, strides = #cuda_tile<preview$symbolic_tuple<[#cuda_tile<preview$expr_int<0>>, #cuda_tile<preview$expr_int<1>>, #cuda_tile<preview$expr_int<0>>]>>>> {cuda_tile.preview$access = #cuda_tile<preview$access<inout>>})

  // CHECK-LABEL: entry @k(
  entry @k(%a: tile<f32>) {
    %t = make_token : token
    // CHECK: preview$call @f(%{{.*}}, %{{.*}}) : (!cuda_tile.tile<f32>, !cuda_tile.token) -> (!cuda_tile.tile<f32>, !cuda_tile.token)
    %r:2 = preview$call @f(%a, %t) : (!cuda_tile.tile<f32>, !cuda_tile.token) -> (!cuda_tile.tile<f32>, !cuda_tile.token)
    // CHECK: preview$call @f<[4, 1+2, "q", f32, (7, 3)]>(%{{.*}}) {arg_attrs = [{cuda_tile.x = #cuda_tile<preview$memory_space<smem>>}]} : (!cuda_tile.tile<f32>) -> ()
    preview$call @f<[4, 1+2, "q", f32, (7, 3)]>(%a) {arg_attrs = [{cuda_tile.x = #cuda_tile<preview$memory_space<smem>>}]} : (!cuda_tile.tile<f32>) -> ()
    return
  }
}
