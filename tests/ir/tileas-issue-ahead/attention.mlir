// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileaa-plan-dots{compute-capability=sm_100},convert-tileaa-to-tileas{compute-capability=sm_100},tileas-assign-dot-layouts{compute-capability=sm_100},tileas-assign-load-store-layouts{compute-capability=sm_100},tileas-remove-layout-conversions,tileas-materialize-async,tileas-specialize-agents,tileas-issue-ahead)' | FileCheck %s
// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileaa-plan-dots{compute-capability=sm_100},convert-tileaa-to-tileas{compute-capability=sm_100},tileas-assign-dot-layouts{compute-capability=sm_100},tileas-assign-load-store-layouts{compute-capability=sm_100},tileas-remove-layout-conversions,tileas-materialize-async,tileas-specialize-agents,tileas-issue-ahead,tileas-materialize-convert-layout{compute-capability=sm_100},tileas-order-memory,tileas-optimize-alloc-tensor,tileas-check-synchronization)' -o /dev/null
// Dots of the next scores are issued before the dots of the results.

// CHECK-LABEL: nv_tileaa.func @attention(
// CHECK: %[[RING:.*]] = nv_tileas.async.pipeline.create_pipeline %{{.*}} phases [full = 1, empty = 1] : {{.*}} -> <8>
// The queries, the scores, the results, and the weights, whose memory is empty after the dots that read them.
// CHECK: nv_tileas.async.pipeline.create_pipeline %{{.*}} phases [full = 1, empty = 1] : {{.*}} -> <1>
// CHECK: %[[SCORES:.*]] = nv_tileas.async.pipeline.create_pipeline %{{.*}} phases [full = 1, empty = 4] : {{.*}} -> <1>
// CHECK: %[[SUMS:.*]] = nv_tileas.async.pipeline.create_pipeline %{{.*}} phases [full = 1, empty = 4] : {{.*}} -> <1>
// CHECK: %[[WEIGHTS:.*]] = nv_tileas.async.pipeline.create_pipeline %{{.*}} phases [full = 4, empty = 1] : {{.*}} -> <1>
// CHECK: %[[S:.*]] = nv_tileas.alloc_tensor : <128x64xf32, space = tensor>
// CHECK: %[[O:.*]] = nv_tileas.alloc_tensor : <128x64xf32, space = tensor>
// CHECK: %[[P:.*]] = nv_tileas.alloc_tensor : <128x64xf16, space = tensor>
// Consumers scale the results after the dots of the previous iteration have released the weights.
// CHECK: nv_tileas.async.pipeline.consumer_wait %[[SCORES]]
// CHECK: nv_tileas.async.pipeline.consumer_release %[[SCORES]]
// CHECK: nv_tileas.async.pipeline.producer_acquire %[[WEIGHTS]]
// CHECK-NEXT: nv_tileas.tmem_fence after
// CHECK-NEXT: nv_tileas.tmem_scale
// CHECK: nv_tileas.async.pipeline.producer_commit %[[WEIGHTS]]{{.*}} tensor
// CHECK: nv_tileas.async.tiled_tma_load
// The thread that issues dots: the scores of the first iteration, the next scores, and the results of this iteration.
// CHECK: scf.for %[[I:.*]] = %[[ZERO:.*]] to %[[END:.*]] step %[[ONE:.*]] iter_args(%[[J:.*]] = %{{.*}}, %[[W:.*]] = %{{.*}}, %[[IT:.*]] = %{{.*}})
// CHECK-NEXT: %[[FIRST:.*]] = arith.cmpi eq, %[[I]], %[[ZERO]]
// CHECK-NEXT: scf.if %[[FIRST]] {
// CHECK: nv_tileas.async.pipeline.producer_acquire %[[SCORES]][%[[J]]]
// CHECK: nv_tileas.async.pipeline.consumer_wait %[[RING]][%[[IT]]]
// CHECK: nv_tileas.async.dot
// CHECK: nv_tileas.async.pipeline.producer_commit %[[SCORES]][%[[J]]] dots
// CHECK: %[[REST:.*]] = arith.subi %[[END]], %[[I]]
// CHECK-NEXT: %[[MORE:.*]] = arith.cmpi ugt, %[[REST]], %[[ONE]]
// CHECK: %[[AFTER:.*]] = nv_tileas.async.pipeline.inc_iter %[[IT]] of %[[RING]]
// CHECK: %[[NEXT_J:.*]] = nv_tileas.async.pipeline.inc_iter %[[J]] of %[[SCORES]]
// CHECK: %[[NEXT_IT:.*]] = nv_tileas.async.pipeline.inc_iter %[[AFTER]] of %[[RING]]
// CHECK: scf.if %[[MORE]] {
// CHECK: nv_tileas.async.pipeline.producer_acquire %[[SCORES]][%[[NEXT_J]]]
// CHECK: nv_tileas.async.pipeline.consumer_wait %[[RING]][%[[NEXT_IT]]]
// CHECK: nv_tileas.async.dot
// CHECK: nv_tileas.async.pipeline.producer_commit %[[SCORES]][%[[NEXT_J]]] dots
// CHECK: %[[V:.*]] = nv_tileas.async.pipeline.inc_iter %[[IT]] of %[[RING]]
// CHECK: nv_tileas.async.pipeline.consumer_wait %[[RING]][%[[V]]]
// CHECK: nv_tileas.async.pipeline.consumer_wait %[[WEIGHTS]][%[[W]]]
// CHECK: nv_tileas.async.dot
// CHECK: nv_tileas.async.pipeline.consumer_release %[[WEIGHTS]][%[[W]]] dots
// CHECK: scf.yield
!q = !nv_tileaa.tiled_view<tile = [128, 64], memref<?x64xf16, strides = [64, 1]>, padding = zero>
!k = !nv_tileaa.tiled_view<tile = [64, 64], memref<?x64xf16, strides = [64, 1]>, padding = zero>
!o = !nv_tileaa.tiled_view<tile = [128, 64], memref<128x64xf32, strides = [64, 1]>>
nv_tileaa.func @attention(%p0: !nv_tileaa.ptr<f16>, %r: !nv_tileaa.ptr<f32>, %n: i32, %m0: i32) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f16>
  %m = nv_tileaa.make_memref %p, shape = [%m0 : i32], strides = [] : <f16> -> <?x64xf16, strides = [64, 1]>
  %vq = nv_tileaa.make_tiled_view %m : <?x64xf16, strides = [64, 1]> -> !q
  %vk = nv_tileaa.make_tiled_view %m : <?x64xf16, strides = [64, 1]> -> !k
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<128x64xf32>
  %low = arith.constant dense<-1.0e30> : tensor<128x1xf32>
  %q, %t0 = nv_tileaa.tiled_load <weak> %vq[%c0, %c0] : !q[i32, i32] -> tensor<128x64xf16>
  %sum:2 = scf.for %i = %c0 to %n step %c1 iter_args(%top = %low, %acc = %zero) -> (tensor<128x1xf32>, tensor<128x64xf32>) : i32 {
    %k, %t1 = nv_tileaa.tiled_load <weak> %vk[%i, %c0] : !k[i32, i32] -> tensor<64x64xf16>
    %s = nv_tileaa.dot %q, %k, %zero : tensor<128x64xf16>, tensor<64x64xf16>, tensor<128x64xf32>
    %most = nv_tileaa.reduce %s dim 1 identities [0xFF800000 : f32] : tensor<128x64xf32> -> tensor<128xf32> {
    ^bb0(%a: f32, %b: f32):
      %y = arith.maximumf %a, %b : f32
      nv_tileaa.yield %y : f32
    }
    %column = nv_tileaa.view %most : tensor<128xf32> -> tensor<128x1xf32>
    %next = arith.maximumf %top, %column : tensor<128x1xf32>
    %all = nv_tileaa.broadcast %next : tensor<128x1xf32> -> tensor<128x64xf32>
    %below = arith.subf %s, %all : tensor<128x64xf32>
    %e = math.exp2 %below : tensor<128x64xf32>
    %grown = arith.subf %top, %next : tensor<128x1xf32>
    %shrink = math.exp2 %grown : tensor<128x1xf32>
    %w = arith.truncf %e : tensor<128x64xf32> to tensor<128x64xf16>
    %v, %t2 = nv_tileaa.tiled_load <weak> %vk[%i, %c1] : !k[i32, i32] -> tensor<64x64xf16>
    %spread = nv_tileaa.broadcast %shrink : tensor<128x1xf32> -> tensor<128x64xf32>
    %kept = arith.mulf %acc, %spread : tensor<128x64xf32>
    %d = nv_tileaa.dot %w, %v, %kept : tensor<128x64xf16>, tensor<64x64xf16>, tensor<128x64xf32>
    scf.yield %next, %d : tensor<128x1xf32>, tensor<128x64xf32>
  }
  %to = nv_tileaa.make_memref %r, shape = [], strides = [] : <f32> -> <128x64xf32, strides = [64, 1]>
  %x = nv_tileaa.make_tiled_view %to : <128x64xf32, strides = [64, 1]> -> !o
  %t3 = nv_tileaa.tiled_store <weak> %sum#1, %x[%c0, %c0] : tensor<128x64xf32>, !o[i32, i32]
  nv_tileaa.return
}
