// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileaa-plan-dots{compute-capability=sm_100},convert-tileaa-to-tileas{compute-capability=sm_100},tileas-assign-dot-layouts{compute-capability=sm_100},tileas-assign-load-store-layouts{compute-capability=sm_100},tileas-remove-layout-conversions,tileas-materialize-async)' | FileCheck %s
// Dots that depend on each other, with accumulators and a left operand in tensor memory.

// CHECK-LABEL: nv_tileaa.func @attention(
// The ring of keys and values, the queries, the scores, the results, and the weights, which have no phase of their own
// that is empty: they take the columns of the scores.
// CHECK: %[[RING:.*]] = nv_tileas.async.pipeline.create_pipeline %{{.*}} phases [full = 1, empty = 1] : {{.*}} -> <2>
// CHECK: %[[HELD:.*]] = nv_tileas.alloc_tensor {nv_tileas.may_be_unread} : <128x128xf16,
// CHECK: %[[QUERY:.*]] = nv_tileas.async.pipeline.create_pipeline %{{.*}} phases [full = 1, empty = 1] : {{.*}} -> <1>
// CHECK: %[[Q:.*]] = nv_tileas.async.pipeline.create_iterator %[[QUERY]]
// CHECK: %[[SCORES:.*]] = nv_tileas.async.pipeline.create_pipeline %{{.*}} phases [full = 1, empty = 4] : {{.*}} -> <1>
// CHECK: %[[SUMS:.*]] = nv_tileas.async.pipeline.create_pipeline %{{.*}} phases [full = 1, empty = 4] : {{.*}} -> <1>
// CHECK: %[[R:.*]] = nv_tileas.async.pipeline.create_iterator %[[SUMS]]
// CHECK: %[[WEIGHTS:.*]] = nv_tileas.async.pipeline.create_pipeline %{{.*}} phases [full = 4] : {{.*}} -> <1>
// CHECK: nv_tileas.tmem_allocate
// The producer loads the queries, and the thread that issues dots waits for them.
// CHECK: nv_tileas.async.elect {
// CHECK-NEXT: %[[LOAD:.*]] = nv_tileas.async.pipeline.producer_acquire %[[QUERY]][%[[Q]]] bytes 32768 : <1>
// CHECK: nv_tileas.async.tiled_tma_load {{.*}} arrive %[[LOAD]]
// CHECK: nv_tileas.async.elect of matrix {
// CHECK-NEXT: nv_tileas.async.pipeline.consumer_wait %[[QUERY]][%[[Q]]] : <1>
// CHECK-NEXT: }
// CHECK: %[[STORED:.*]] = nv_tileas.memdesc_slot %[[HELD]]
// CHECK: %[[ACC:.*]] = nv_tileas.memdesc_slot
// CHECK: nv_tileas.async.pipeline.producer_acquire %[[SUMS]][%[[R]]]
// The loop carries whether there was an earlier iteration, and no accumulator.
// CHECK: %[[NEVER:.*]] = arith.constant false
// CHECK: scf.for %[[I:.*]] = %[[ZERO:.*]] to {{.*}} iter_args(%{{.*}} = %{{.*}}, %[[S:.*]] = %{{.*}}, %[[STARTED:.*]] = %[[NEVER]], %[[W:.*]] = %{{.*}}, %{{.*}} = %{{.*}}) -> (tensor<128x1xf32,
// CHECK-NEXT: %[[MORE:.*]] = arith.cmpi ne, %[[I]], %[[ZERO]]
// CHECK: %[[TILE:.*]] = nv_tileas.memdesc_slot
// CHECK: nv_tileas.async.pipeline.producer_acquire %[[SCORES]][%[[S]]]
// CHECK: nv_tileas.async.dot %[[STORED]], %{{.*}}, %[[TILE]] accumulate %false{{.*}} by <tensor, [128, 128, 16]>
// CHECK: nv_tileas.async.pipeline.producer_commit %[[SCORES]][%[[S]]] dots
// A thread reads its row, and scales its row of the results as soon as it knows the factor.
// CHECK: nv_tileas.async.pipeline.consumer_wait %[[SCORES]][%[[S]]] : <1>
// CHECK-NEXT: nv_tileas.tmem_fence after
// CHECK-NEXT: %[[ROWS:.*]] = nv_tileas.tmem_load %[[TILE]] : {{.*}} -> tensor<128x128xf32, #nv_tileas.layout<register = [1, 2, 4, 8, 16, 32, 64], lane = [128, 256, 512, 1024, 2048], warp = [4096, 8192]>>
// CHECK-NEXT: nv_tileas.tmem_fence{{$}}
// CHECK-NEXT: nv_tileas.async.pipeline.consumer_release %[[SCORES]][%[[S]]] : <1>
// CHECK: %[[FACTOR:.*]] = math.exp2 %{{.*}} : tensor<128x1xf32,
// CHECK-NEXT: nv_tileas.tmem_scale %[[ACC]] by %[[FACTOR]] if %[[STARTED]] :
// CHECK: %[[P:.*]] = arith.truncf
// CHECK-NEXT: %[[LEFT:.*]] = nv_tileas.memdesc_reinterpret %[[TILE]] : {{.*}} -> <128x128xf16, space = tensor>
// CHECK-NEXT: nv_tileas.tmem_store %[[P]], %[[LEFT]]
// CHECK-NEXT: nv_tileas.tmem_fence{{$}}
// CHECK-NEXT: nv_tileas.async.pipeline.producer_commit %[[WEIGHTS]][%[[W]]] tensor : <1>
// CHECK: nv_tileas.async.elect of matrix {
// CHECK-NEXT: nv_tileas.async.pipeline.consumer_wait %[[RING]]
// CHECK: nv_tileas.async.pipeline.consumer_wait %[[WEIGHTS]][%[[W]]]
// CHECK-NEXT: nv_tileas.tmem_fence after
// CHECK-NEXT: nv_tileas.async.dot %[[LEFT]], %{{.*}}, %[[ACC]] accumulate %[[MORE]] by <tensor, [128, 128, 16]>
// CHECK-NEXT: nv_tileas.async.pipeline.consumer_release %[[RING]]{{.*}} dots
// CHECK: %[[ALWAYS:.*]] = arith.constant true
// CHECK: scf.yield %{{.*}}, %{{.*}}, %[[ALWAYS]],
// CHECK: nv_tileas.async.pipeline.producer_commit %[[SUMS]][%[[R]]] dots
// CHECK: nv_tileas.async.pipeline.consumer_wait %[[SUMS]][%[[R]]]
// CHECK: nv_tileas.tmem_load %[[ACC]]
// CHECK: nv_tileas.async.pipeline.consumer_release %[[QUERY]][%[[Q]]] dots
// Nothing steps past the last use of a pipeline, so other storage may have the memory of the rings from here on.
// CHECK-NOT: nv_tileas.async.pipeline.inc_iter %[[Q]] of
// CHECK: nv_tileas.tiled_store
!q = !nv_tileaa.tiled_view<tile = [128, 128], memref<?x128xf16, strides = [128, 1]>, padding = zero>
!k = !nv_tileaa.tiled_view<tile = [128, 128], memref<?x128xf16, strides = [128, 1]>, padding = zero>
!o = !nv_tileaa.tiled_view<tile = [128, 128], memref<128x128xf32, strides = [128, 1]>>
nv_tileaa.func @attention(%p0: !nv_tileaa.ptr<f16>, %r: !nv_tileaa.ptr<f32>, %n: i32, %m0: i32) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f16>
  %m = nv_tileaa.make_memref %p, shape = [%m0 : i32], strides = [] : <f16> -> <?x128xf16, strides = [128, 1]>
  %vq = nv_tileaa.make_tiled_view %m : <?x128xf16, strides = [128, 1]> -> !q
  %vk = nv_tileaa.make_tiled_view %m : <?x128xf16, strides = [128, 1]> -> !k
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %low = arith.constant dense<-1.0e30> : tensor<128x1xf32>
  %q, %t0 = nv_tileaa.tiled_load <weak> %vq[%c0, %c0] : !q[i32, i32] -> tensor<128x128xf16>
  %sum:2 = scf.for %i = %c0 to %n step %c1 iter_args(%top = %low, %acc = %zero) -> (tensor<128x1xf32>, tensor<128x128xf32>) : i32 {
    %k, %t1 = nv_tileaa.tiled_load <weak> %vk[%i, %c0] : !k[i32, i32] -> tensor<128x128xf16>
    %s = nv_tileaa.dot %q, %k, %zero : tensor<128x128xf16>, tensor<128x128xf16>, tensor<128x128xf32>
    %most = nv_tileaa.reduce %s dim 1 identities [0xFF800000 : f32] : tensor<128x128xf32> -> tensor<128xf32> {
    ^bb0(%a: f32, %b: f32):
      %y = arith.maximumf %a, %b : f32
      nv_tileaa.yield %y : f32
    }
    %column = nv_tileaa.view %most : tensor<128xf32> -> tensor<128x1xf32>
    %next = arith.maximumf %top, %column : tensor<128x1xf32>
    %all = nv_tileaa.broadcast %next : tensor<128x1xf32> -> tensor<128x128xf32>
    %below = arith.subf %s, %all : tensor<128x128xf32>
    %e = math.exp2 %below : tensor<128x128xf32>
    %grown = arith.subf %top, %next : tensor<128x1xf32>
    %shrink = math.exp2 %grown : tensor<128x1xf32>
    %w = arith.truncf %e : tensor<128x128xf32> to tensor<128x128xf16>
    %v, %t2 = nv_tileaa.tiled_load <weak> %vk[%i, %c1] : !k[i32, i32] -> tensor<128x128xf16>
    %spread = nv_tileaa.broadcast %shrink : tensor<128x1xf32> -> tensor<128x128xf32>
    %kept = arith.mulf %acc, %spread : tensor<128x128xf32>
    %d = nv_tileaa.dot %w, %v, %kept : tensor<128x128xf16>, tensor<128x128xf16>, tensor<128x128xf32>
    scf.yield %next, %d : tensor<128x1xf32>, tensor<128x128xf32>
  }
  %to = nv_tileaa.make_memref %r, shape = [], strides = [] : <f32> -> <128x128xf32, strides = [128, 1]>
  %x = nv_tileaa.make_tiled_view %to : <128x128xf32, strides = [128, 1]> -> !o
  %t3 = nv_tileaa.tiled_store <weak> %sum#1, %x[%c0, %c0] : tensor<128x128xf32>, !o[i32, i32]
  nv_tileaa.return
}
