// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileaa-plan-dots{compute-capability=sm_90},convert-tileaa-to-tileas{compute-capability=sm_90},tileas-assign-dot-layouts{compute-capability=sm_90},tileas-assign-load-store-layouts{compute-capability=sm_90},tileas-remove-layout-conversions,tileas-pipeline-dots,tileas-materialize-async)' | FileCheck %s
!view = !nv_tileaa.tiled_view<tile = [64, 64], memref<?x256xf16, strides = [256, 1]>, padding = zero>

// A loop-invariant operand is stored once, in a layout that dots read. Both dots of an iteration are in flight
// together: the first is waited for while the second is in flight, and the second after everything else has been
// computed. ptxas keeps this order because the release in between depends on it.
// CHECK-LABEL: nv_tileaa.func @chain(
// CHECK: %[[RING:.*]] = nv_tileas.alloc_tensor : <64x64xf16, {{.*}}, stages =
// CHECK: %[[P:.*]] = nv_tileas.async.pipeline.create_pipeline
// CHECK: %[[HELD:.*]] = nv_tileas.alloc_tensor : <64x64xf16, {{.*}}, align = 1024>
// CHECK-NOT: create_pipeline
// CHECK: %[[Q:.*]], %{{.*}} = nv_tileas.tiled_load
// CHECK: nv_tileas.barrier {nv_tileas.reuse}
// CHECK-NEXT: nv_tileas.local_store %[[Q]], %[[HELD]]
// CHECK-NEXT: nv_tileas.async.fence
// CHECK-NEXT: nv_tileas.barrier
// CHECK: scf.if
// CHECK: nv_tileas.async.dot %[[HELD]], %{{.*}}, %{{.*}} by <warpgroup,
// CHECK: scf.for {{.*}} iter_args(%[[KEPT:.*]] = %{{.*}}, %[[W:.*]] = %{{.*}}, %[[IT:.*]] = %{{.*}})
// CHECK: %[[S:.*]] = nv_tileas.async.dot %[[HELD]],
// CHECK: %[[NEXT:.*]] = nv_tileas.async.pipeline.inc_iter %[[IT]]
// CHECK: %[[O:.*]] = nv_tileas.async.dot %[[W]], %{{.*}}, %[[KEPT]] by <warpgroup,{{.*}} : tensor<64x64xf16,
// CHECK: %[[SCORES:.*]] = nv_tileas.async.dot_wait %[[S]] pending 1
// CHECK: %[[MORE:.*]] = arith.addf %[[SCORES]],
// CHECK: nv_tileas.async.pipeline.consumer_release %[[P]][%[[IT]]] after %[[MORE]] :
// CHECK-NEXT: nv_tileas.async.dot_wait %[[O]] pending 0
// CHECK-NEXT: nv_tileas.async.pipeline.consumer_release %[[P]][%[[NEXT]]] :
// CHECK-NOT: nv_tileas.dot
nv_tileaa.func @chain(%p0: !nv_tileaa.ptr<f16>, %n: i32, %m0: i32) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f16>
  %m = nv_tileaa.make_memref %p, shape = [%m0 : i32], strides = [] : <f16> -> <?x256xf16, strides = [256, 1]>
  %v = nv_tileaa.make_tiled_view %m : <?x256xf16, strides = [256, 1]> -> !view
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %half = arith.constant dense<0.5> : tensor<64x64xf32>
  %q, %t0 = nv_tileaa.tiled_load <weak> %v[%c1, %c0] : !view[i32, i32] -> tensor<64x64xf16>
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i32 {
    %b, %t1 = nv_tileaa.tiled_load <weak> %v[%c0, %k] : !view[i32, i32] -> tensor<64x64xf16>
    %s = nv_tileaa.dot %q, %b, %zero : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
    %more = arith.addf %s, %half : tensor<64x64xf32>
    %w = arith.truncf %more : tensor<64x64xf32> to tensor<64x64xf16>
    %c, %t2 = nv_tileaa.tiled_load <weak> %v[%k, %c0] : !view[i32, i32] -> tensor<64x64xf16>
    %kept = arith.mulf %acc, %half : tensor<64x64xf32>
    %d = nv_tileaa.dot %w, %c, %kept : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  %o = nv_tileaa.make_memref %p0, shape = [], strides = [] : <f16> -> <64x64xf16, strides = [64, 1]>
  %x = nv_tileaa.make_tiled_view %o : <64x64xf16, strides = [64, 1]> -> <tile = [64, 64], memref<64x64xf16, strides = [64, 1]>>
  %narrow = arith.truncf %sum : tensor<64x64xf32> to tensor<64x64xf16>
  %t3 = nv_tileaa.tiled_store <weak> %narrow, %x[%c0, %c0] : tensor<64x64xf16>, <tile = [64, 64], memref<64x64xf16, strides = [64, 1]>>[i32, i32]
  nv_tileaa.return
}
