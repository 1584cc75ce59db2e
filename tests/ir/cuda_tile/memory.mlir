// Access through pointers, atomics, tokens. Printed once in the custom form and once via the generic form.
//
// RUN: tileiras-opt %s | tileiras-opt | FileCheck %s --strict-whitespace
// RUN: tileiras-opt %s -mlir-print-op-generic | tileiras-opt | FileCheck %s --strict-whitespace

// CHECK: cuda_tile.module @memory {
cuda_tile.module @memory {
  // CHECK: global  @counter <i32: 0> : tile<1xi32>
  global @counter <i32: [0]> : tile<1xi32>
  // CHECK: entry @pointers(%arg0: tile<ptr<f32>>, %arg1: tile<ptr<i32>>, %arg2: tile<i32>) {
  entry @pointers(%p: tile<ptr<f32>>, %q: tile<ptr<i32>>, %i: tile<i32>) {
    // CHECK: %reshape = reshape %arg0 : tile<ptr<f32>> -> tile<1xptr<f32>>
    %r = reshape %p : tile<ptr<f32>> -> tile<1xptr<f32>>
    // CHECK: %bcast = broadcast %reshape : tile<1xptr<f32>> -> tile<16xptr<f32>>
    %ps = broadcast %r : tile<1xptr<f32>> -> tile<16xptr<f32>>
    // CHECK: %0 = iota : tile<16xi64>
    %o = iota : tile<16xi64>
    // CHECK: %1 = offset %bcast, %0 : tile<16xptr<f32>>, tile<16xi64> -> tile<16xptr<f32>>
    %a = offset %ps, %o : tile<16xptr<f32>>, tile<16xi64> -> tile<16xptr<f32>>
    // CHECK: %true = constant <i1: true> : tile<16xi1>
    %m = constant <i1: true> : tile<16xi1>
    // CHECK: %cst_0_f32 = constant <f32: 0.000000e+00> : tile<16xf32>
    %z = constant <f32: 0.0> : tile<16xf32>
    // CHECK: %2 = make_token : token
    %t = make_token : token
    // CHECK: %result, %result_token = load_ptr_tko weak %1 : tile<16xptr<f32>> -> tile<16xf32>, token
    %0, %t0 = load_ptr_tko weak %a : tile<16xptr<f32>> -> tile<16xf32>, token
    // CHECK: %result_0, %result_token_1 = load_ptr_tko relaxed device %1, %true token=%2 : tile<16xptr<f32>>, tile<16xi1> -> tile<16xf32>, token
    %1, %t1 = load_ptr_tko relaxed device %a, %m token=%t : tile<16xptr<f32>>, tile<16xi1> -> tile<16xf32>, token
    // CHECK: %result_2, %result_token_3 = load_ptr_tko acquire sys %1, %true, %cst_0_f32 token=%result_token optimization_hints = <sm_100 = {latency = 3}> : tile<16xptr<f32>>, tile<16xi1>, tile<16xf32> -> tile<16xf32>, token
    %2, %t2 = load_ptr_tko acquire sys %a, %m, %z token=%t0 optimization_hints = <sm_100 = {latency = 3}> : tile<16xptr<f32>>, tile<16xi1>, tile<16xf32> -> tile<16xf32>, token
    // CHECK: %3 = store_ptr_tko weak %1, %result : tile<16xptr<f32>>, tile<16xf32> -> token
    %t3 = store_ptr_tko weak %a, %0 : tile<16xptr<f32>>, tile<16xf32> -> token
    // CHECK: %4 = store_ptr_tko release tl_blk %1, %result, %true token=%3 optimization_hints = <default = {latency = 1}, sm_90 = {}> : tile<16xptr<f32>>, tile<16xf32>, tile<16xi1> -> token
    %t4 = store_ptr_tko release tl_blk %a, %0, %m token=%t3 optimization_hints = <default = {latency = 1}, sm_90 = {}> : tile<16xptr<f32>>, tile<16xf32>, tile<16xi1> -> token
    // CHECK: %5 = join_tokens %result_token_1, %result_token_3, %4 : token
    %j = join_tokens %t1, %t2, %t4 : token
    // CHECK: %result_4, %result_token_5 = atomic_cas_tko acq_rel device %arg1, %arg2, %arg2 : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
    %3, %t5 = atomic_cas_tko acq_rel device %q, %i, %i : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
    // CHECK: %result_6, %result_token_7 = atomic_cas_tko relaxed sys %1, %cst_0_f32, %cst_0_f32, %true token=%5 : tile<16xptr<f32>>, tile<16xf32>, tile<16xi1> -> tile<16xf32>, token
    %4, %t6 = atomic_cas_tko relaxed sys %a, %z, %z, %m token=%j : tile<16xptr<f32>>, tile<16xf32>, tile<16xi1> -> tile<16xf32>, token
    // CHECK: %result_8, %result_token_9 = atomic_rmw_tko release tl_blk %arg1, add, %arg2 : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
    %5, %t7 = atomic_rmw_tko release tl_blk %q, add, %i : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
    // CHECK: %result_10, %result_token_11 = atomic_rmw_tko acquire device %1, addf, %cst_0_f32, %true token=%5 : tile<16xptr<f32>>, tile<16xf32>, tile<16xi1> -> tile<16xf32>, token
    %6, %t8 = atomic_rmw_tko acquire device %a, addf, %z, %m token=%j : tile<16xptr<f32>>, tile<16xf32>, tile<16xi1> -> tile<16xf32>, token
    // CHECK: %result_12, %result_token_13 = atomic_rmw_tko relaxed device %arg1, xchg, %arg2 {note = 1 : i32} : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
    %7, %t9 = atomic_rmw_tko relaxed device %q, xchg, %i {note = 1 : i32} : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
    // CHECK: %6 = get_global @counter : tile<ptr<i32>>
    %8 = get_global @counter : tile<ptr<i32>>
    // CHECK: %7 = alloca num_elem = 64, alignment = 128 : tile<ptr<f16>>
    %9 = alloca num_elem = 64, alignment = 128 : tile<ptr<f16>>
    // CHECK: %8 = alloca num_elem = 0, alignment = 1 global : tile<ptr<i1>>
    %10 = alloca num_elem = 0, alignment = 1 global : tile<ptr<i1>>
    // CHECK: return
    return
  }
}
