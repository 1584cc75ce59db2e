// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileaa-plan-dots{compute-capability=sm_90},tileaa-outline-producers,convert-tileaa-to-tileas{compute-capability=sm_90},tileas-assign-dot-layouts{compute-capability=sm_90},tileas-assign-load-store-layouts{compute-capability=sm_90},tileas-remove-layout-conversions,tileas-materialize-async)' | FileCheck %s --check-prefix=ASYNC
// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileaa-plan-dots{compute-capability=sm_90},tileaa-outline-producers,convert-tileaa-to-tileas{compute-capability=sm_90},tileas-assign-dot-layouts{compute-capability=sm_90},tileas-assign-load-store-layouts{compute-capability=sm_90},tileas-remove-layout-conversions,tileas-materialize-async,tileas-specialize-agents)' | FileCheck %s
// The left view's stride is unknown. One test selects copies or loads for the whole producer. The map is created
// after the test, and the consumers do not depend on the outcome.

// ASYNC-LABEL: nv_tileaa.func @tested(
// ASYNC: %[[READY:.*]] = nv_tileas.tma_ready
// ASYNC: scf.for
// ASYNC: scf.if %[[READY]] {
// ASYNC: produce_one
// ASYNC: producer_acquire {{.*}} bytes 32768
// ASYNC-COUNT-2: async.tiled_tma_load
// ASYNC: producer_commit
// ASYNC: } else {
// ASYNC: produce_one
// ASYNC: producer_acquire {{.*}} bytes 16384
// ASYNC-COUNT-1: async.tiled_tma_load
// ASYNC: tiled_load
// ASYNC: producer_commit
// ASYNC: consumer_wait

// CHECK-LABEL: nv_tileaa.func @tested(
// CHECK: create_pipeline {{.*}} phases [full = {{5|9}}, empty = 8] :
// CHECK: agent_switch
// CHECK-NOT: scf.if
// CHECK: consumer_wait
// CHECK: }, {
// CHECK: %[[READY:.*]] = nv_tileas.tma_ready
// CHECK-NOT: make_tiled_tma_desc
// CHECK: scf.if %[[READY]] {
// CHECK-COUNT-2: make_tiled_tma_desc
// CHECK: scf.for
// CHECK-NOT: scf.if
// CHECK-COUNT-2: async.tiled_tma_load
// CHECK-NOT: tiled_load
// CHECK: } else {
// CHECK-COUNT-1: make_tiled_tma_desc
// CHECK-NOT: make_tiled_tma_desc
// CHECK: scf.for
// CHECK-NOT: scf.if
// CHECK-COUNT-1: async.tiled_tma_load
// CHECK: nv_tileas.tiled_load
// CHECK: local_store
!left = !nv_tileaa.tiled_view<tile = [128, 64], memref<?x256xf16, strides = [?, 1]>, padding = zero>
!view = !nv_tileaa.tiled_view<tile = [64, 128], memref<?x256xf16, strides = [256, 1]>, padding = zero>
nv_tileaa.func @tested(%p0: !nv_tileaa.ptr<f16>, %r: !nv_tileaa.ptr<f32>, %n: i32, %x: i32) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f16>
  %m = nv_tileaa.make_memref %p, shape = [%n : i32], strides = [%n : i32] : <f16> -> <?x256xf16, strides = [?, 1]>
  %v = nv_tileaa.make_tiled_view %m : <?x256xf16, strides = [?, 1]> -> !left
  %m1 = nv_tileaa.make_memref %p, shape = [%n : i32], strides = [] : <f16> -> <?x256xf16, strides = [256, 1]>
  %w = nv_tileaa.make_tiled_view %m1 : <?x256xf16, strides = [256, 1]> -> !view
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<128x128xf32>) : i32 {
    %a, %t1 = nv_tileaa.tiled_load <weak> %v[%x, %k] : !left[i32, i32] -> tensor<128x64xf16>
    %b, %t2 = nv_tileaa.tiled_load <weak> %w[%k, %c0] : !view[i32, i32] -> tensor<64x128xf16>
    %d = nv_tileaa.dot %a, %b, %acc : tensor<128x64xf16>, tensor<64x128xf16>, tensor<128x128xf32>
    scf.yield %d : tensor<128x128xf32>
  }
  %o = nv_tileaa.make_memref %r, shape = [%n : i32], strides = [] : <f32> -> <?x128xf32, strides = [128, 1]>
  %u = nv_tileaa.make_tiled_view %o : <?x128xf32, strides = [128, 1]> -> <tile = [128, 128], memref<?x128xf32, strides = [128, 1]>>
  %t3 = nv_tileaa.tiled_store <weak> %sum, %u[%x, %c0] : tensor<128x128xf32>, <tile = [128, 128], memref<?x128xf32, strides = [128, 1]>>[i32, i32]
  nv_tileaa.return
}
