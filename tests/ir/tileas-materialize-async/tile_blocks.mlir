// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileaa-plan-dots{compute-capability=sm_100},tileas-dynamic-persistent,convert-tileaa-to-tileas{compute-capability=sm_100},tileas-assign-dot-layouts{compute-capability=sm_100},tileas-assign-load-store-layouts{compute-capability=sm_100},tileas-remove-layout-conversions,tileas-materialize-async)' | FileCheck %s
// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileaa-plan-dots{compute-capability=sm_100},tileas-dynamic-persistent,convert-tileaa-to-tileas{compute-capability=sm_100},tileas-assign-dot-layouts{compute-capability=sm_100},tileas-assign-load-store-layouts{compute-capability=sm_100},tileas-remove-layout-conversions,tileas-materialize-async,tileas-specialize-agents,tileas-optimize-alloc-tensor,tileas-check-synchronization)' | FileCheck %s --check-prefix=AGENTS
// The producer asks for the next tile block after its last load, and all three agents read the answer.

// CHECK-LABEL: nv_tileaa.func @loop(
// CHECK: %[[SLOTS:.*]] = nv_tileas.alloc_tensor : <4xi32, stages = 2>
// CHECK: %[[C:.*]] = nv_tileas.async.pipeline.create_pipeline %{{.*}} phases [full = 1, empty = 3] : {{.*}} -> <2>
// CHECK: nv_tileas.tmem_allocate
// CHECK: scf.while ({{.*}}, %[[IT:[a-z0-9]*]] = %
// CHECK: nv_tileas.tiled_store
// CHECK: nv_tileas.async.elect {
// CHECK-NEXT: %[[T:.*]] = nv_tileas.async.pipeline.producer_acquire %[[C]][%[[J:.*]]] bytes 16 : <2>
// CHECK-NEXT: %[[S:.*]] = nv_tileas.async.pipeline.stage %[[J]]
// CHECK-NEXT: %[[SLOT:.*]] = nv_tileas.memdesc_slot %[[SLOTS]][%[[S]]]
// CHECK-NEXT: nv_tileas.async.cancel_tile_block into %[[SLOT]] arrive %[[T]]
// CHECK-NEXT: }
// CHECK: %[[U:.*]] = nv_tileas.async.pipeline.stage %[[J]]
// CHECK-NEXT: %[[ANSWER:.*]] = nv_tileas.memdesc_slot %[[SLOTS]][%[[U]]]
// CHECK-NEXT: %{{.*}}, %{{.*}}, %{{.*}}, %[[MORE:.*]] = nv_tileas.async.next_tile_block from %[[ANSWER]] at %[[C]][%[[J]]]
// CHECK-NEXT: %{{.*}} = nv_tileas.async.pipeline.inc_iter %[[J]] of %[[C]]
// CHECK-NEXT: scf.condition(%[[MORE]])

// AGENTS: agent_switch agents [<"consumers", warps = 8>, <"producer", warps = 1>, <"matrix", warps = 1>] {
// AGENTS: nv_tileas.tmem_load
// AGENTS: nv_tileas.async.next_tile_block
// AGENTS: }, {
// AGENTS: async.tiled_tma_load
// AGENTS: nv_tileas.async.cancel_tile_block
// AGENTS: nv_tileas.async.next_tile_block
// AGENTS: }, {
// AGENTS: nv_tileas.async.dot
// AGENTS: nv_tileas.async.next_tile_block
!rows = !nv_tileaa.tiled_view<tile = [128, 64], memref<?x256xf16, strides = [256, 1]>, padding = zero>
!columns = !nv_tileaa.tiled_view<tile = [64, 128], memref<?x256xf16, strides = [256, 1]>, padding = zero>
nv_tileaa.func @loop(%p0: !nv_tileaa.ptr<f16>, %q: !nv_tileaa.ptr<f32>, %n: i32, %m0: i32) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f16>
  %m = nv_tileaa.make_memref %p, shape = [%m0 : i32], strides = [] : <f16> -> <?x256xf16, strides = [256, 1]>
  %v = nv_tileaa.make_tiled_view %m : <?x256xf16, strides = [256, 1]> -> !rows
  %w = nv_tileaa.make_tiled_view %m : <?x256xf16, strides = [256, 1]> -> !columns
  %x0, %y0, %z0 = nv_tileaa.get_program_id
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<128x128xf32>) : i32 {
    %a, %t1 = nv_tileaa.tiled_load <weak> %v[%x0, %k] : !rows[i32, i32] -> tensor<128x64xf16>
    %b, %t2 = nv_tileaa.tiled_load <weak> %w[%k, %c0] : !columns[i32, i32] -> tensor<64x128xf16>
    %d = nv_tileaa.dot %a, %b, %acc : tensor<128x64xf16>, tensor<64x128xf16>, tensor<128x128xf32>
    scf.yield %d : tensor<128x128xf32>
  }
  %o = nv_tileaa.make_memref %q, shape = [], strides = [] : <f32> -> <128x128xf32, strides = [128, 1]>
  %x = nv_tileaa.make_tiled_view %o : <128x128xf32, strides = [128, 1]> -> <tile = [128, 128], memref<128x128xf32, strides = [128, 1]>>
  %t3 = nv_tileaa.tiled_store <weak> %sum, %x[%x0, %c0] : tensor<128x128xf32>, <tile = [128, 128], memref<128x128xf32, strides = [128, 1]>>[i32, i32]
  nv_tileaa.return
}
