// RUN: tileiras-opt %s --pass-pipeline='builtin.module(convert-cudatile-to-tileaa)' | tileiras-opt | FileCheck %s

// CHECK-LABEL: gpu.module @m {
// CHECK-NEXT: nv_tileaa.global constant @table = dense<[1, 2, 3, 4]> : tensor<4xi32>
// CHECK-NEXT: nv_tileaa.global @scratch alignment = 128 = dense<0.000000e+00> : tensor<8xf32> {sym_visibility = "private"}
cuda_tile.module @m {
  global constant @table <i32: [1, 2, 3, 4]> : tile<4xi32>
  global private @scratch alignment = 128 <f32: 0.0> : tile<8xf32>

  // CHECK-LABEL: nv_tileaa.func @pointers(
  // CHECK-SAME: %[[P:.*]]: !nv_tileaa.ptr<f32>, %[[N:.*]]: i64)
  entry @pointers(%p: tile<ptr<f32>>, %n: tile<i64>) {
    // CHECK: nv_tileaa.get_global @table : <i32>
    %g = get_global @table : tile<ptr<i32>>
    // CHECK: nv_tileaa.alloca 64 align 128 global : <f16>
    %a = alloca num_elem = 64, alignment = 128 global : tile<ptr<f16>>
    %r = reshape %p : tile<ptr<f32>> -> tile<1xptr<f32>>
    // CHECK: %[[B:.*]] = nv_tileaa.splat %[[P]] : !nv_tileaa.ptr<f32> -> tensor<16x!nv_tileaa.ptr<f32>>
    %b = broadcast %r : tile<1xptr<f32>> -> tile<16xptr<f32>>
    %i = iota : tile<16xi32>
    // CHECK: %[[Q:.*]] = nv_tileaa.addptr %[[B]], %{{.*}} : tensor<16x!nv_tileaa.ptr<f32>>, tensor<16xi32>
    %q = offset %b, %i : tile<16xptr<f32>>, tile<16xi32> -> tile<16xptr<f32>>
    %m = constant <i1: true> : tile<16xi1>
    %z = constant <f32: 0.0> : tile<16xf32>
    // CHECK: %[[T:.*]] = nv_tileaa.create_mem_token
    %t = make_token : token
    // CHECK: %[[V:.*]], %[[T1:.*]] = nv_tileaa.load <weak> %[[Q]] : tensor<16x!nv_tileaa.ptr<f32>> -> tensor<16xf32>
    %v, %t1 = load_ptr_tko weak %q : tile<16xptr<f32>> -> tile<16xf32>, token
    // CHECK: nv_tileaa.load <acquire> scope <device> %[[Q]] mask %[[M:.*]] : tensor<16xi1> other %[[Z:.*]] : tensor<16xf32> token %[[T]] hints {sm_90 = {latency = 2 : i32}} : tensor<16x!nv_tileaa.ptr<f32>> -> tensor<16xf32>
    %w, %t2 = load_ptr_tko acquire device %q, %m, %z token=%t optimization_hints = <sm_90 = {latency = 2 : i32}> : tile<16xptr<f32>>, tile<16xi1>, tile<16xf32> -> tile<16xf32>, token
    // CHECK: %[[J:.*]] = nv_tileaa.join_mem_token %[[T1]], %{{.*}}
    %j = join_tokens %t1, %t2 : token
    // CHECK: nv_tileaa.store <weak> %[[Q]], %[[V]] token %[[J]] : tensor<16x!nv_tileaa.ptr<f32>>, tensor<16xf32>
    %t3 = store_ptr_tko weak %q, %v token=%j : tile<16xptr<f32>>, tile<16xf32> -> token
    // CHECK: nv_tileaa.store <release> scope <system> %[[Q]], %[[V]] mask %[[M]] : tensor<16xi1> : tensor<16x!nv_tileaa.ptr<f32>>, tensor<16xf32>
    %t4 = store_ptr_tko release sys %q, %v, %m : tile<16xptr<f32>>, tile<16xf32>, tile<16xi1> -> token
    // CHECK: nv_tileaa.load <relaxed> scope <block> %[[P]] : !nv_tileaa.ptr<f32> -> f32
    %s, %t5 = load_ptr_tko relaxed tl_blk %p : tile<ptr<f32>> -> tile<f32>, token
    return
  }

  // CHECK-LABEL: nv_tileaa.func @atomics(
  entry @atomics(%p: tile<ptr<i32>>, %f: tile<ptr<f32>>, %v: tile<i32>, %x: tile<f32>, %m: tile<i1>) {
    // CHECK: nv_tileaa.atomic_rmw <umax> <relaxed> <device> %arg0, %arg2 : !nv_tileaa.ptr<i32>, i32
    %0, %t0 = atomic_rmw_tko relaxed device %p, umax, %v : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
    // CHECK: nv_tileaa.atomic_rmw <addf> <acq_rel> <system> %arg1, %arg3 mask %arg4 : i1 token %{{.*}} : !nv_tileaa.ptr<f32>, f32
    %1, %t1 = atomic_rmw_tko acq_rel sys %f, addf, %x, %m token=%t0 : tile<ptr<f32>>, tile<f32>, tile<i1> -> tile<f32>, token
    // CHECK: nv_tileaa.atomic_cas <acquire> <block> %arg0, %arg2, %{{.*}} token %{{.*}} : !nv_tileaa.ptr<i32>, i32
    %2, %t2 = atomic_cas_tko acquire tl_blk %p, %v, %0 token=%t1 : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
    return
  }

  // CHECK-LABEL: nv_tileaa.func @help(
  entry @help(%n: tile<i32>) {
    %z = constant <i32: 0> : tile<i32>
    // CHECK: nv_tileaa.assert %{{.*}}, "positive" : i1
    %c = cmpi greater_than %n, %z, signed : tile<i32> -> tile<i1>
    assert %c, "positive" : tile<i1>
    // CHECK: nv_tileaa.assume #cuda_tile.bounded<0, ?>, %arg0 : i32
    %a = assume bounded<0, ?>, %n : tile<i32>
    // CHECK: nv_tileaa.print "%d\0A", %{{.*}} : i32
    %t = print_tko "%d\n", %a : tile<i32> -> token
    // CHECK: nv_tileaa.print "done" token %{{.*}}
    %u = print_tko "done" token=%t -> token
    return
  }
}
