// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileaa-plan-dots{compute-capability=sm_90},convert-tileaa-to-tileas{compute-capability=sm_90},tileas-assign-dot-layouts{compute-capability=sm_90},tileas-assign-load-store-layouts{compute-capability=sm_90},tileas-remove-layout-conversions,tileas-materialize-async)' --split-input-file | FileCheck %s
!view = !nv_tileaa.tiled_view<tile = [64, 64], memref<?x256xf16, strides = [256, 1]>, padding = zero>

// Dots that use the same left tile share a stage, which has the tile once. Both are in flight while the next ones
// start.
// CHECK-LABEL: nv_tileaa.func @two_sums(
// CHECK: %[[A:.*]] = nv_tileas.alloc_tensor : <64x64xf16, {{.*}}, stages = [[S:[0-9]+]], align = 1024>
// CHECK: %[[B:.*]] = nv_tileas.alloc_tensor : <64x64xf16, {{.*}}, stages = [[S]], align = 1024>
// CHECK: %[[C:.*]] = nv_tileas.alloc_tensor : <64x64xf16, {{.*}}, stages = [[S]], align = 1024>
// CHECK: %[[P:.*]] = nv_tileas.async.pipeline.create_pipeline %{{.*}} phases [full = 1, empty = 4] : {{.*}} -> <[[S]]>
// CHECK-NOT: create_pipeline
// CHECK: %[[R:.*]]:5 = scf.for {{.*}} iter_args(%[[X:.*]] = %{{.*}}, %[[Y:.*]] = %{{.*}}, %[[IT:.*]] = %{{.*}}, %[[LAST:.*]] = %{{.*}}, %[[STARTED:.*]] = %{{.*}})
// CHECK: producer_acquire %[[P]][%[[IT]]] bytes 24576
// CHECK-COUNT-3: nv_tileas.async.tiled_tma_load
// CHECK-NOT: nv_tileas.async.tiled_tma_load
// CHECK: nv_tileas.async.pipeline.consumer_wait %[[P]][%[[IT]]]
// CHECK-NEXT: %[[U:.*]] = nv_tileas.async.pipeline.stage %[[IT]]
// CHECK-NEXT: %[[UA:.*]] = nv_tileas.memdesc_slot %[[A]][%[[U]]]
// CHECK-NEXT: %[[UB:.*]] = nv_tileas.memdesc_slot %[[B]][%[[U]]]
// CHECK-NEXT: %[[UC:.*]] = nv_tileas.memdesc_slot %[[C]][%[[U]]]
// CHECK-NEXT: %[[D:.*]] = nv_tileas.async.dot %[[UA]], %[[UB]], %[[X]] by <warpgroup,
// CHECK-NEXT: %[[T:.*]] = nv_tileas.memdesc_permute %[[UC]] [1, 0]
// CHECK-NEXT: %[[E:.*]] = nv_tileas.async.dot %[[UA]], %[[T]], %[[Y]] by <warpgroup,
// CHECK-NEXT: nv_tileas.async.dot_wait pending 2
// CHECK-NEXT: nv_tileas.async.pipeline.consumer_release %[[P]][%[[LAST]]] if %[[STARTED]]
// CHECK: scf.yield %[[D]], %[[E]],
// CHECK: nv_tileas.async.dot_wait %[[R]]#0, %[[R]]#1 pending 0
// CHECK-NEXT: nv_tileas.async.pipeline.consumer_release %[[P]][%[[R]]#3] if %[[R]]#4
// CHECK-NOT: consumer_release
nv_tileaa.func @two_sums(%p0: !nv_tileaa.ptr<f16>, %q: !nv_tileaa.ptr<f32>, %n: i32, %m0: i32) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f16>
  %m = nv_tileaa.make_memref %p, shape = [%m0 : i32], strides = [] : <f16> -> <?x256xf16, strides = [256, 1]>
  %v = nv_tileaa.make_tiled_view %m : <?x256xf16, strides = [256, 1]> -> !view
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sums:2 = scf.for %k = %c0 to %n step %c1 iter_args(%x = %zero, %y = %zero) -> (tensor<64x64xf32>, tensor<64x64xf32>) : i32 {
    %a, %t1 = nv_tileaa.tiled_load <weak> %v[%c0, %k] : !view[i32, i32] -> tensor<64x64xf16>
    %b, %t2 = nv_tileaa.tiled_load <weak> %v[%k, %c0] : !view[i32, i32] -> tensor<64x64xf16>
    %d = nv_tileaa.dot %a, %b, %x : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
    // The tile index is computed from ops after the first dot.
    %next = arith.addi %k, %c1 : i32
    %c, %t3 = nv_tileaa.tiled_load <weak> %v[%c1, %next] : !view[i32, i32] -> tensor<64x64xf16>
    %ct = nv_tileaa.permute %c [1, 0] : tensor<64x64xf16> -> tensor<64x64xf16>
    %e = nv_tileaa.dot %a, %ct, %y : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
    scf.yield %d, %e : tensor<64x64xf32>, tensor<64x64xf32>
  }
  %both = arith.addf %sums#0, %sums#1 : tensor<64x64xf32>
  %o = nv_tileaa.make_memref %q, shape = [], strides = [] : <f32> -> <64x64xf32, strides = [64, 1]>
  %w = nv_tileaa.make_tiled_view %o : <64x64xf32, strides = [64, 1]> -> <tile = [64, 64], memref<64x64xf32, strides = [64, 1]>>
  %t4 = nv_tileaa.tiled_store <weak> %both, %w[%c0, %c0] : tensor<64x64xf32>, <tile = [64, 64], memref<64x64xf32, strides = [64, 1]>>[i32, i32]
  nv_tileaa.return
}
// -----
!view = !nv_tileaa.tiled_view<tile = [64, 64], memref<?x256xf16, strides = [256, 1]>, padding = zero>

// A tile times itself: one copy, read in two ways.
// CHECK-LABEL: nv_tileaa.func @by_itself(
// CHECK: %[[A:.*]] = nv_tileas.alloc_tensor : <64x64xf16, {{.*}}, stages = {{[0-9]+}}, align = 1024>
// CHECK: producer_acquire {{.*}} bytes 8192
// CHECK-COUNT-1: nv_tileas.async.tiled_tma_load
// CHECK: %[[U:.*]] = nv_tileas.memdesc_slot %[[A]]
// CHECK-NEXT: %[[T:.*]] = nv_tileas.memdesc_permute %[[U]] [1, 0]
// CHECK-NEXT: nv_tileas.async.dot %[[U]], %[[T]], %{{.*}} by <warpgroup,
// CHECK: nv_tileas.async.dot_wait pending 1
nv_tileaa.func @by_itself(%p0: !nv_tileaa.ptr<f16>, %q: !nv_tileaa.ptr<f32>, %n: i32, %m0: i32) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f16>
  %m = nv_tileaa.make_memref %p, shape = [%m0 : i32], strides = [] : <f16> -> <?x256xf16, strides = [256, 1]>
  %v = nv_tileaa.make_tiled_view %m : <?x256xf16, strides = [256, 1]> -> !view
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%x = %zero) -> (tensor<64x64xf32>) : i32 {
    %a, %t1 = nv_tileaa.tiled_load <weak> %v[%c0, %k] : !view[i32, i32] -> tensor<64x64xf16>
    %at = nv_tileaa.permute %a [1, 0] : tensor<64x64xf16> -> tensor<64x64xf16>
    %d = nv_tileaa.dot %a, %at, %x : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  %o = nv_tileaa.make_memref %q, shape = [], strides = [] : <f32> -> <64x64xf32, strides = [64, 1]>
  %w = nv_tileaa.make_tiled_view %o : <64x64xf32, strides = [64, 1]> -> <tile = [64, 64], memref<64x64xf32, strides = [64, 1]>>
  %t4 = nv_tileaa.tiled_store <weak> %sum, %w[%c0, %c0] : tensor<64x64xf32>, <tile = [64, 64], memref<64x64xf32, strides = [64, 1]>>[i32, i32]
  nv_tileaa.return
}
// -----
!bytes = !nv_tileaa.tiled_view<tile = [64, 128], memref<?x256xf8E4M3FN, strides = [256, 1]>, padding = zero>

// Accumulators that are promoted outside the tensor cores are complete before the stage is released.
// CHECK-LABEL: nv_tileaa.func @promoted(
// CHECK: producer_acquire {{.*}} bytes 24576
// CHECK: nv_tileas.async.pipeline.consumer_wait %[[P:.*]][%[[IT:.*]]]
// CHECK-COUNT-2: nv_tileas.promoted_dot
// CHECK-NEXT: nv_tileas.async.pipeline.consumer_release %[[P]][%[[IT]]] :
nv_tileaa.func @promoted(%p0: !nv_tileaa.ptr<f8E4M3FN>, %q: !nv_tileaa.ptr<f32>, %n: i32, %m0: i32) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f8E4M3FN>
  %m = nv_tileaa.make_memref %p, shape = [%m0 : i32], strides = [] : <f8E4M3FN> -> <?x256xf8E4M3FN, strides = [256, 1]>
  %v = nv_tileaa.make_tiled_view %m : <?x256xf8E4M3FN, strides = [256, 1]> -> !bytes
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sums:2 = scf.for %k = %c0 to %n step %c1 iter_args(%x = %zero, %y = %zero) -> (tensor<64x64xf32>, tensor<64x64xf32>) : i32 {
    %b, %t2 = nv_tileaa.tiled_load <weak> %v[%c1, %k] : !bytes[i32, i32] -> tensor<64x128xf8E4M3FN>
    %bt = nv_tileaa.permute %b [1, 0] : tensor<64x128xf8E4M3FN> -> tensor<128x64xf8E4M3FN>
    %a, %t1 = nv_tileaa.tiled_load <weak> %v[%c0, %k] : !bytes[i32, i32] -> tensor<64x128xf8E4M3FN>
    %d = nv_tileaa.dot %a, %bt, %x : tensor<64x128xf8E4M3FN>, tensor<128x64xf8E4M3FN>, tensor<64x64xf32>
    %c, %t3 = nv_tileaa.tiled_load <weak> %v[%n, %k] : !bytes[i32, i32] -> tensor<64x128xf8E4M3FN>
    %e = nv_tileaa.dot %c, %bt, %y : tensor<64x128xf8E4M3FN>, tensor<128x64xf8E4M3FN>, tensor<64x64xf32>
    scf.yield %d, %e : tensor<64x64xf32>, tensor<64x64xf32>
  }
  %both = arith.addf %sums#0, %sums#1 : tensor<64x64xf32>
  %o = nv_tileaa.make_memref %q, shape = [], strides = [] : <f32> -> <64x64xf32, strides = [64, 1]>
  %w = nv_tileaa.make_tiled_view %o : <64x64xf32, strides = [64, 1]> -> <tile = [64, 64], memref<64x64xf32, strides = [64, 1]>>
  %t4 = nv_tileaa.tiled_store <weak> %both, %w[%c0, %c0] : tensor<64x64xf32>, <tile = [64, 64], memref<64x64xf32, strides = [64, 1]>>[i32, i32]
  nv_tileaa.return
}
