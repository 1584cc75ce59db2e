// RUN: tileiras-opt %s --pass-pipeline='builtin.module(convert-tileaa-to-tileas{num-warps=4},tileas-assign-dot-layouts{compute-capability=sm_80},tileas-assign-load-store-layouts,tileas-remove-layout-conversions,tileas-unspecialized-pipeline{compute-capability=sm_80 unspecialized-pipeline-num-stages=3})' | FileCheck %s
!view = !nv_tileaa.tiled_view<tile = [64, 64], memref<?x256xf16, strides = [256, 1]>, padding = zero>
!out = !nv_tileaa.tiled_view<tile = [64, 64], memref<64x64xf32, strides = [64, 1]>>

// Ops that are ordered after copies come after the copies have arrived: an iteration starts with the wait for its
// copies. The token is replaced by the token that the load was ordered after.
// CHECK-LABEL: nv_tileaa.func @ordered_behind(
// CHECK: %[[NONE:.*]] = nv_tileaa.create_mem_token
// CHECK: nv_tileas.async.tiled_load
// CHECK: nv_tileas.async.tiled_load
// CHECK: scf.for
// CHECK: nv_tileas.async.wait
// CHECK-NEXT: nv_tileas.barrier
// CHECK: nv_tileas.async.tiled_load
// CHECK: nv_tileas.async.tiled_load
// CHECK-NOT: nv_tileas.tiled_load
// CHECK: %[[OWN:.*]] = nv_tileaa.create_mem_token
// CHECK: nv_tileaa.join_mem_token %{{.*}}, %[[NONE]], %[[OWN]]
// CHECK: nv_tileas.async.wait %{{.*}} pending 0
// CHECK: nv_tileas.tiled_store
nv_tileaa.func @ordered_behind(%p0: !nv_tileaa.ptr<f16>, %n: i32, %m0: i32, %o0: !nv_tileaa.ptr<f32>) {
  %o1 = nv_tileaa.assume #cuda_tile.div_by<16>, %o0 : !nv_tileaa.ptr<f32>
  %o2 = nv_tileaa.make_memref %o1, shape = [], strides = [] : <f32> -> <64x64xf32, strides = [64, 1]>
  %o = nv_tileaa.make_tiled_view %o2 : <64x64xf32, strides = [64, 1]> -> !out
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f16>
  %m = nv_tileaa.make_memref %p, shape = [%m0 : i32], strides = [] : <f16> -> <?x256xf16, strides = [256, 1]>
  %v = nv_tileaa.make_tiled_view %m : <?x256xf16, strides = [256, 1]> -> !view
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %none = nv_tileaa.create_mem_token
  %sum, %seen = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero, %t = %none) -> (tensor<64x64xf32>, !nv_tileaa.mem_token) : i32 {
    %a, %t1 = nv_tileaa.tiled_load <weak> %v[%c0, %k] token %none : !view[i32, i32] -> tensor<64x64xf16>
    %b, %t2 = nv_tileaa.tiled_load <weak> %v[%k, %c0] : !view[i32, i32] -> tensor<64x64xf16>
    %j = nv_tileaa.join_mem_token %t, %t1, %t2
    %d = nv_tileaa.dot %a, %b, %acc : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
    scf.yield %d, %j : tensor<64x64xf32>, !nv_tileaa.mem_token
  }
  %done = nv_tileaa.tiled_store <weak> %sum, %o[%c0, %c0] token %seen : tensor<64x64xf32>, !out[i32, i32]
  nv_tileaa.return
}
