// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileaa-plan-dots{compute-capability=sm_90},convert-tileaa-to-tileas{compute-capability=sm_90},tileas-assign-dot-layouts{compute-capability=sm_90},tileas-assign-load-store-layouts{compute-capability=sm_90},tileas-remove-layout-conversions,tileas-materialize-async)' | FileCheck %s
// Converter warps transpose the right operand between the copies and the dot. With exact accumulators, the consumers
// have no dot in flight behind which the transposition could be hidden. The consumers wait only for the converter.

// CHECK: nv_tileas.dot_plan = {{.*}}<"converter", warps = 4, registers = 40>
// CHECK: %[[P:.*]] = nv_tileas.async.pipeline.create_pipeline %{{.*}} phases [full = 1, empty = 8, converted = 4] :
// CHECK: scf.for
// CHECK: nv_tileas.async.elect {
// CHECK: producer_acquire %[[P]][%[[I:.*]]] bytes 24576
// CHECK: nv_tileas.async.pipeline.produce_one warps 4 fast 0 of converter {
// CHECK-NEXT: consumer_wait %[[P]][%[[I]]] :
// CHECK: %[[B:.*]] = nv_tileas.memdesc_slot %{{.*}} : <128x128xf8E4M3FN,
// CHECK-NEXT: %[[T:.*]] = nv_tileas.memdesc_reinterpret %[[B]] :
// CHECK-NEXT: nv_tileas.local_transpose %[[B]], %[[T]] :
// CHECK-NEXT: producer_commit %[[P]][%[[I]]] at converted :
// CHECK-NEXT: nv_tileas.yield
// CHECK: consumer_wait %[[P]][%[[I]]] at converted :
// CHECK: %[[A:.*]] = nv_tileas.memdesc_slot %{{.*}} : <64x128xf8E4M3FN,
// CHECK: %[[R:.*]] = nv_tileas.memdesc_reinterpret %{{.*}} : <128x128xf8E4M3FN,
// CHECK-NEXT: nv_tileas.promoted_dot %[[A]], %[[R]],
// CHECK-NEXT: consumer_release %[[P]][%[[I]]] :
!left = !nv_tileaa.tiled_view<tile = [64, 128], memref<?x256xf8E4M3FN, strides = [256, 1]>, padding = zero>
!right = !nv_tileaa.tiled_view<tile = [128, 128], memref<?x256xf8E4M3FN, strides = [256, 1]>, padding = zero>
nv_tileaa.func @turned(%p0: !nv_tileaa.ptr<f8E4M3FN>, %n: i32, %m0: i32) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f8E4M3FN>
  %m = nv_tileaa.make_memref %p, shape = [%m0 : i32], strides = [] : <f8E4M3FN> -> <?x256xf8E4M3FN, strides = [256, 1]>
  %v = nv_tileaa.make_tiled_view %m : <?x256xf8E4M3FN, strides = [256, 1]> -> !left
  %w = nv_tileaa.make_tiled_view %m : <?x256xf8E4M3FN, strides = [256, 1]> -> !right
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<64x128xf32>
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x128xf32>) : i32 {
    %a, %t1 = nv_tileaa.tiled_load <weak> %v[%c0, %k] : !left[i32, i32] -> tensor<64x128xf8E4M3FN>
    %b, %t2 = nv_tileaa.tiled_load <weak> %w[%k, %c0] : !right[i32, i32] -> tensor<128x128xf8E4M3FN>
    %d = nv_tileaa.dot %a, %b, %acc : tensor<64x128xf8E4M3FN>, tensor<128x128xf8E4M3FN>, tensor<64x128xf32>
    scf.yield %d : tensor<64x128xf32>
  }
  nv_tileaa.return
}
