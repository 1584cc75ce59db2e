// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileaa-plan-dots{compute-capability=sm_90},convert-tileaa-to-tileas{compute-capability=sm_90},tileas-assign-dot-layouts{compute-capability=sm_90},tileas-assign-load-store-layouts{compute-capability=sm_90},tileas-remove-layout-conversions,tileas-materialize-async,tileas-specialize-agents)' | FileCheck %s
// Converter warps are a separate agent, with the loops around the conversion and none of the copies.

// CHECK: attributes {numWarps = 16 : i64, {{.*}}nv_tileas.max_registers = 128 : i64
// CHECK: nv_tileas.async.pipeline.agent_switch agents [<"consumers", warps = 8, registers = 216>, <"producer", warps = 4, registers = 40>, <"converter", warps = 4, registers = 40>] {
// CHECK: consumer_wait {{.*}} at converted :
// CHECK-NOT: local_transpose
// CHECK: nv_tileas.promoted_dot
// CHECK: }, {
// CHECK-NOT: consumer_wait
// CHECK: nv_tileas.async.tiled_tma_load
// CHECK: }, {
// CHECK-NOT: nv_tileas.async.elect
// CHECK: scf.for %{{.*}} = %{{.*}} to %arg1 step
// CHECK-NEXT: consumer_wait %{{.*}}[%[[I:.*]]] :
// CHECK: nv_tileas.local_transpose
// CHECK-NEXT: producer_commit %{{.*}}[%[[I]]] at converted :
// CHECK-NEXT: nv_tileas.async.pipeline.inc_iter %[[I]] of
// CHECK-NOT: tiled_tma_load
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
