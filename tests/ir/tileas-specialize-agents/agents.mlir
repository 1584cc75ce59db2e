// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileaa-plan-dots{compute-capability=sm_90},convert-tileaa-to-tileas{compute-capability=sm_90},tileas-assign-dot-layouts{compute-capability=sm_90},tileas-assign-load-store-layouts{compute-capability=sm_90},tileas-remove-layout-conversions,tileas-materialize-async,tileas-specialize-agents)' | FileCheck %s
!view = !nv_tileaa.tiled_view<tile = [64, 64], memref<?x256xf16, strides = [256, 1]>, padding = zero>

// The producer has the loops and the copies, but nothing of the accumulators; the consumer has the rest. Storage,
// pipelines and the barrier after them are shared.
// CHECK-LABEL: nv_tileaa.func @tiles(
// CHECK-SAME: numWarps = 8 : i64, {{.*}}nv_tileas.max_registers = 240 : i64
// CHECK: %[[P:.*]] = nv_tileas.async.pipeline.create_pipeline
// CHECK-NEXT: %[[FIRST:.*]] = nv_tileas.async.pipeline.create_iterator %[[P]]
// CHECK: nv_tileas.barrier
// CHECK-NEXT: nv_tileas.async.pipeline.agent_switch agents [<"consumers", warps = 4, registers = 240>, <"producer", warps = 4, registers = 40>] {
// CHECK-NOT: make_tiled_tma_desc
// CHECK-NOT: nv_tileas.async.elect
// CHECK-NOT: producer_acquire
// CHECK: scf.for {{.*}} iter_args(%[[TILE:.*]] = %[[FIRST]])
// CHECK: scf.for {{.*}} %[[TILE]]
// CHECK: consumer_wait
// CHECK: nv_tileas.async.dot
// CHECK: consumer_release
// CHECK: nv_tileas.tiled_store
// CHECK: }, {
// CHECK-COUNT-1: nv_tileas.make_tiled_tma_desc
// CHECK: nv_tileas.async.elect {
// CHECK-NOT: tensor<
// CHECK-NOT: consumer_
// CHECK: %[[ALL:.*]] = scf.for %[[I:.*]] = %arg4 to {{.*}} iter_args(%[[TILE:.*]] = %[[FIRST]]) -> (!nv_tileas.pipeline_iterator)
// CHECK: %[[INNER:.*]] = scf.for %[[K:.*]] = {{.*}} iter_args(%[[IT:.*]] = %[[TILE]]) -> (!nv_tileas.pipeline_iterator)
// CHECK-NEXT: nv_tileas.async.pipeline.producer_acquire %[[P]][%[[IT]]] bytes 16384
// CHECK: nv_tileas.async.tiled_tma_load {{.*}}[%[[I]], %[[K]]]
// CHECK: nv_tileas.async.tiled_tma_load {{.*}}[%[[K]], %[[I]]]
// CHECK: %[[NEXT:.*]] = nv_tileas.async.pipeline.inc_iter %[[IT]] of %[[P]]
// CHECK-NEXT: scf.yield %[[NEXT]]
// CHECK: scf.yield %[[INNER]]
// CHECK-NOT: nv_tileas.tiled_store
nv_tileaa.func @tiles(%p0: !nv_tileaa.ptr<f16>, %q: !nv_tileaa.ptr<f32>, %n: i32, %m0: i32, %x: i32) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f16>
  %m = nv_tileaa.make_memref %p, shape = [%m0 : i32], strides = [] : <f16> -> <?x256xf16, strides = [256, 1]>
  %v = nv_tileaa.make_tiled_view %m : <?x256xf16, strides = [256, 1]> -> !view
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  scf.for %i = %x to %n step %c1 : i32 {
    %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i32 {
      %a, %t1 = nv_tileaa.tiled_load <weak> %v[%i, %k] : !view[i32, i32] -> tensor<64x64xf16>
      %b, %t2 = nv_tileaa.tiled_load <weak> %v[%k, %i] : !view[i32, i32] -> tensor<64x64xf16>
      %d = nv_tileaa.dot %a, %b, %acc : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
      scf.yield %d : tensor<64x64xf32>
    }
    %o = nv_tileaa.make_memref %q, shape = [%n : i32], strides = [] : <f32> -> <?x64xf32, strides = [64, 1]>
    %w = nv_tileaa.make_tiled_view %o : <?x64xf32, strides = [64, 1]> -> <tile = [64, 64], memref<?x64xf32, strides = [64, 1]>>
    %t3 = nv_tileaa.tiled_store <weak> %sum, %w[%i, %c0] : tensor<64x64xf32>, <tile = [64, 64], memref<?x64xf32, strides = [64, 1]>>[i32, i32]
  }
  nv_tileaa.return
}

// A kernel without dots has no agents.
// CHECK-LABEL: nv_tileaa.func @none(
// CHECK-NOT: agent_switch
nv_tileaa.func @none() {
  nv_tileaa.return
}

// If the loads wait for previous grids, both agents do: the producer's thread waits before it copies.
// CHECK-LABEL: nv_tileaa.func @dependent(
// CHECK: agent_switch
// CHECK: %[[T:.*]] = nv_tileaa.wait_for_grids token
// CHECK: scf.for
// CHECK: nv_tileaa.launch_dependents token
// CHECK: }, {
// CHECK: make_tiled_tma_desc
// CHECK: nv_tileas.async.elect {
// CHECK: nv_tileaa.wait_for_grids
// CHECK-NOT: token
// CHECK: scf.for
// CHECK: tiled_tma_load
// CHECK-NOT: launch_dependents
nv_tileaa.func @dependent(%p0: !nv_tileaa.ptr<f16>, %q: !nv_tileaa.ptr<f32>, %n: i32, %m0: i32, %x: i32) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f16>
  %m = nv_tileaa.make_memref %p, shape = [%m0 : i32], strides = [] : <f16> -> <?x256xf16, strides = [256, 1]>
  %v = nv_tileaa.make_tiled_view %m : <?x256xf16, strides = [256, 1]> -> !view
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %none = nv_tileaa.create_mem_token
  %t0 = nv_tileaa.wait_for_grids token %none
  %sum, %seen = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero, %t = %none) -> (tensor<64x64xf32>, !nv_tileaa.mem_token) : i32 {
    %a, %t1 = nv_tileaa.tiled_load <weak> %v[%x, %k] token %t0 : !view[i32, i32] -> tensor<64x64xf16>
    %b, %t2 = nv_tileaa.tiled_load <weak> %v[%k, %x] token %t0 : !view[i32, i32] -> tensor<64x64xf16>
    %j = nv_tileaa.join_mem_token %t, %t1, %t2
    %d = nv_tileaa.dot %a, %b, %acc : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
    scf.yield %d, %j : tensor<64x64xf32>, !nv_tileaa.mem_token
  }
  %t4 = nv_tileaa.launch_dependents token %seen
  %o = nv_tileaa.make_memref %q, shape = [%n : i32], strides = [] : <f32> -> <?x64xf32, strides = [64, 1]>
  %w = nv_tileaa.make_tiled_view %o : <?x64xf32, strides = [64, 1]> -> <tile = [64, 64], memref<?x64xf32, strides = [64, 1]>>
  %t3 = nv_tileaa.tiled_store <weak> %sum, %w[%x, %c0] token %t4 : tensor<64x64xf32>, <tile = [64, 64], memref<?x64xf32, strides = [64, 1]>>[i32, i32]
  nv_tileaa.return
}
