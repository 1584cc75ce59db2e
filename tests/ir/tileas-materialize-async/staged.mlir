// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileaa-plan-dots{compute-capability=sm_90},convert-tileaa-to-tileas{compute-capability=sm_90},tileas-assign-dot-layouts{compute-capability=sm_90},tileas-assign-load-store-layouts{compute-capability=sm_90},tileas-remove-layout-conversions,tileas-materialize-async)' | FileCheck %s
// One thread loads a tile of consumers to a ring of its own. They read it where they use it, and release its stage.
!view = !nv_tileaa.tiled_view<tile = [64, 64], memref<?x256xf16, strides = [256, 1]>, padding = zero>
!large = !nv_tileaa.tiled_view<tile = [64, 64], memref<?x64xf32, strides = [64, 1]>, padding = zero>

// CHECK-LABEL: nv_tileaa.func @bias(
// CHECK: %[[STAGES:[a-z0-9_]+]] = nv_tileas.alloc_tensor : <64x64xf32, {{.*}}stages = 2
// CHECK: %[[RING:[a-z0-9_]+]] = nv_tileas.async.pipeline.create_pipeline {{.*}} phases [full = 1, empty = 4] {{.*}} -> <2>
// CHECK: %[[FIRST:[a-z0-9_]+]] = nv_tileas.async.pipeline.create_iterator %[[RING]]
// CHECK: scf.for {{.*}} %[[IT:[a-z0-9_]+]] = %[[FIRST]]
// CHECK: nv_tileas.async.elect {
// CHECK-NEXT: %[[SPACE:[a-z0-9_]+]] = nv_tileas.async.pipeline.producer_acquire %[[RING]][%[[IT]]] bytes 16384
// CHECK: nv_tileas.async.tiled_tma_load {{.*}} arrive %[[SPACE]]
// CHECK: nv_tileas.async.dot
// CHECK: nv_tileas.async.pipeline.consumer_wait %[[RING]][%[[IT]]]
// CHECK: %[[TILE:[a-z0-9_]+]] = nv_tileas.local_load
// CHECK-NEXT: nv_tileas.async.pipeline.consumer_release %[[RING]][%[[IT]]]
// CHECK-NEXT: %[[NEXT:[a-z0-9_]+]] = nv_tileas.async.pipeline.inc_iter %[[IT]] of %[[RING]]
// CHECK: nv_tileas.async.dot_wait
// CHECK: arith.addf %{{.*}}, %[[TILE]]
// CHECK-NOT: nv_tileas.tiled_load
// CHECK: scf.yield {{.*}}%[[NEXT]]
nv_tileaa.func @bias(%p0: !nv_tileaa.ptr<f16>, %q0: !nv_tileaa.ptr<f32>, %r: !nv_tileaa.ptr<f32>, %n: i32, %m0: i32) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f16>
  %q = nv_tileaa.assume #cuda_tile.div_by<16>, %q0 : !nv_tileaa.ptr<f32>
  %m = nv_tileaa.make_memref %p, shape = [%m0 : i32], strides = [] : <f16> -> <?x256xf16, strides = [256, 1]>
  %v = nv_tileaa.make_tiled_view %m : <?x256xf16, strides = [256, 1]> -> !view
  %s = nv_tileaa.make_memref %q, shape = [%m0 : i32], strides = [] : <f32> -> <?x64xf32, strides = [64, 1]>
  %large = nv_tileaa.make_tiled_view %s : <?x64xf32, strides = [64, 1]> -> !large
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i32 {
    %a, %t1 = nv_tileaa.tiled_load <weak> %v[%c0, %k] : !view[i32, i32] -> tensor<64x64xf16>
    %b, %t2 = nv_tileaa.tiled_load <weak> %v[%k, %c0] : !view[i32, i32] -> tensor<64x64xf16>
    %bias, %t3 = nv_tileaa.tiled_load <weak> %large[%k, %c0] : !large[i32, i32] -> tensor<64x64xf32>
    %d = nv_tileaa.dot %a, %b, %zero : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
    %both = arith.addf %d, %bias : tensor<64x64xf32>
    %next = arith.addf %acc, %both : tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }
  %o = nv_tileaa.make_memref %r, shape = [], strides = [] : <f32> -> <64x64xf32, strides = [64, 1]>
  %x = nv_tileaa.make_tiled_view %o : <64x64xf32, strides = [64, 1]> -> <tile = [64, 64], memref<64x64xf32, strides = [64, 1]>>
  %t6 = nv_tileaa.tiled_store <weak> %sum, %x[%c0, %c0] : tensor<64x64xf32>, <tile = [64, 64], memref<64x64xf32, strides = [64, 1]>>[i32, i32]
  nv_tileaa.return
}
