// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileaa-plan-dots{compute-capability=sm_120},convert-tileaa-to-tileas{compute-capability=sm_120},tileas-assign-dot-layouts{compute-capability=sm_120},tileas-assign-load-store-layouts{compute-capability=sm_120},tileas-remove-layout-conversions,tileas-materialize-async)' | FileCheck %s
// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileaa-plan-dots{compute-capability=sm_120},convert-tileaa-to-tileas{compute-capability=sm_120},tileas-assign-dot-layouts{compute-capability=sm_120},tileas-assign-load-store-layouts{compute-capability=sm_120},tileas-remove-layout-conversions,tileas-materialize-async,tileas-specialize-agents,tileas-optimize-alloc-tensor,tileas-check-synchronization)' | FileCheck %s --check-prefix=AGENTS
// Warps of the consumers read fragments of a stage, multiply them, and release the stage.

// CHECK-LABEL: nv_tileaa.func @loop(
// CHECK: %[[A:.*]] = nv_tileas.alloc_tensor : <128x64xf16, {{.*}}, stages = 3, align = 1024>
// CHECK: %[[B:.*]] = nv_tileas.alloc_tensor : <64x128xf16, {{.*}}, stages = 3, align = 1024>
// CHECK: %[[P:.*]] = nv_tileas.async.pipeline.create_pipeline %{{.*}} phases [full = 1, empty = 8] : {{.*}} -> <3>
// CHECK: scf.for {{.*}} iter_args(%[[ACC:.*]] = %{{.*}}, %[[IT:.*]] = %{{.*}})
// CHECK-NEXT: nv_tileas.async.elect {
// CHECK: producer_acquire %[[P]][%[[IT]]] bytes 32768
// CHECK: nv_tileas.async.pipeline.consumer_wait %[[P]][%[[IT]]]
// CHECK-NEXT: %[[S:.*]] = nv_tileas.async.pipeline.stage %[[IT]]
// CHECK-NEXT: %[[SA:.*]] = nv_tileas.memdesc_slot %[[A]][%[[S]]]
// CHECK-NEXT: %[[SB:.*]] = nv_tileas.memdesc_slot %[[B]][%[[S]]]
// CHECK-NEXT: %[[X:.*]] = nv_tileas.local_load %[[SA]]
// CHECK-NEXT: %[[Y:.*]] = nv_tileas.local_load %[[SB]]
// CHECK-NEXT: %[[D:.*]] = nv_tileas.dot %[[X]], %[[Y]], %[[ACC]] by <sync, [16, 8, 16]>
// CHECK-NEXT: nv_tileas.async.pipeline.consumer_release %[[P]][%[[IT]]]
// CHECK-NEXT: %[[NEXT:.*]] = nv_tileas.async.pipeline.inc_iter %[[IT]] of %[[P]]
// CHECK-NEXT: scf.yield %[[D]], %[[NEXT]]

// AGENTS: agent_switch agents [<"consumers", warps = 8>, <"producer", warps = 1>] {
// AGENTS-NOT: nv_tileas.barrier
// AGENTS: nv_tileas.async.pipeline.consumer_wait
// AGENTS-NOT: nv_tileas.barrier
// AGENTS: nv_tileas.async.pipeline.consumer_release
// AGENTS: nv_tileas.async.elect {
// AGENTS: nv_tileas.async.tiled_tma_load
!rows_loop = !nv_tileaa.tiled_view<tile = [128, 64], memref<?x256xf16, strides = [256, 1]>, padding = zero>
!columns_loop = !nv_tileaa.tiled_view<tile = [64, 128], memref<?x256xf16, strides = [256, 1]>, padding = zero>
nv_tileaa.func @loop(%p0: !nv_tileaa.ptr<f16>, %q: !nv_tileaa.ptr<f32>, %n: i32, %m0: i32) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f16>
  %m = nv_tileaa.make_memref %p, shape = [%m0 : i32], strides = [] : <f16> -> <?x256xf16, strides = [256, 1]>
  %v = nv_tileaa.make_tiled_view %m : <?x256xf16, strides = [256, 1]> -> !rows_loop
  %w = nv_tileaa.make_tiled_view %m : <?x256xf16, strides = [256, 1]> -> !columns_loop
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<128x128xf32>) : i32 {
    %a, %t1 = nv_tileaa.tiled_load <weak> %v[%c0, %k] : !rows_loop[i32, i32] -> tensor<128x64xf16>
    %b, %t2 = nv_tileaa.tiled_load <weak> %w[%k, %c0] : !columns_loop[i32, i32] -> tensor<64x128xf16>
    %d = nv_tileaa.dot %a, %b, %acc : tensor<128x64xf16>, tensor<64x128xf16>, tensor<128x128xf32>
    scf.yield %d : tensor<128x128xf32>
  }
  %o = nv_tileaa.make_memref %q, shape = [], strides = [] : <f32> -> <128x128xf32, strides = [128, 1]>
  %x = nv_tileaa.make_tiled_view %o : <128x128xf32, strides = [128, 1]> -> <tile = [128, 128], memref<128x128xf32, strides = [128, 1]>>
  %t3 = nv_tileaa.tiled_store <weak> %sum, %x[%c0, %c0] : tensor<128x128xf32>, <tile = [128, 128], memref<128x128xf32, strides = [128, 1]>>[i32, i32]
  nv_tileaa.return
}

// A left operand from before the loop passes through a stage of the same ring. The dots are not software-pipelined.
// CHECK-LABEL: nv_tileaa.func @attention(
// CHECK: %[[RING:.*]] = nv_tileas.alloc_tensor : <64x64xf16, {{.*}}, stages = [[S:[0-9]+]], align = 1024>
// CHECK: %[[P:.*]] = nv_tileas.async.pipeline.create_pipeline %{{.*}} phases [full = 1, empty = 4] : {{.*}} -> <[[S]]>
// CHECK-NOT: create_pipeline
// CHECK: producer_acquire %[[P]][%[[FIRST:.*]]] bytes 8192
// CHECK: nv_tileas.async.pipeline.consumer_wait %[[P]][%[[FIRST]]]
// CHECK: %[[Q:.*]] = nv_tileas.local_load
// CHECK-NEXT: nv_tileas.async.pipeline.consumer_release %[[P]][%[[FIRST]]]
// CHECK-NEXT: %[[SECOND:.*]] = nv_tileas.async.pipeline.inc_iter %[[FIRST]]
// CHECK-NOT: nv_tileas.tiled_load
// CHECK: scf.for {{.*}} = %[[SECOND]])
// CHECK: %[[SCORES:.*]] = nv_tileas.dot %[[Q]], %{{.*}} by <sync, [16, 8, 16]>
// CHECK-NEXT: nv_tileas.async.pipeline.consumer_release
// CHECK: nv_tileas.async.elect {
// CHECK: nv_tileas.async.pipeline.consumer_wait
// CHECK: nv_tileas.dot
// CHECK-NEXT: nv_tileas.async.pipeline.consumer_release
// CHECK: scf.yield
!square = !nv_tileaa.tiled_view<tile = [64, 64], memref<?x64xf16, strides = [64, 1]>, padding = zero>
nv_tileaa.func @attention(%p0: !nv_tileaa.ptr<f16>, %q: !nv_tileaa.ptr<f32>, %n: i32, %m0: i32) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f16>
  %m = nv_tileaa.make_memref %p, shape = [%m0 : i32], strides = [] : <f16> -> <?x64xf16, strides = [64, 1]>
  %v = nv_tileaa.make_tiled_view %m : <?x64xf16, strides = [64, 1]> -> !square
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %none = arith.constant dense<0.0> : tensor<64xf32>
  %rows, %t0 = nv_tileaa.tiled_load <weak> %v[%c0, %c0] : !square[i32, i32] -> tensor<64x64xf16>
  %all:2 = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero, %sums = %none) -> (tensor<64x64xf32>, tensor<64xf32>) : i32 {
    %a, %t1 = nv_tileaa.tiled_load <weak> %v[%k, %c0] : !square[i32, i32] -> tensor<64x64xf16>
    %s = nv_tileaa.dot %rows, %a, %zero : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
    %w = arith.truncf %s : tensor<64x64xf32> to tensor<64x64xf16>
    %b, %t2 = nv_tileaa.tiled_load <weak> %v[%k, %c0] : !square[i32, i32] -> tensor<64x64xf16>
    %d = nv_tileaa.dot %w, %b, %acc : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
    %r = nv_tileaa.reduce %s dim 1 identities [0.0 : f32] : tensor<64x64xf32> -> tensor<64xf32> {
    ^bb0(%x0: f32, %x1: f32):
      %x = arith.addf %x0, %x1 : f32
      nv_tileaa.yield %x : f32
    }
    %next = arith.addf %sums, %r : tensor<64xf32>
    scf.yield %d, %next : tensor<64x64xf32>, tensor<64xf32>
  }
  %o = nv_tileaa.make_memref %q, shape = [], strides = [] : <f32> -> <64x64xf32, strides = [64, 1]>
  %x = nv_tileaa.make_tiled_view %o : <64x64xf32, strides = [64, 1]> -> <tile = [64, 64], memref<64x64xf32, strides = [64, 1]>>
  %f = nv_tileaa.view %all#1 : tensor<64xf32> -> tensor<64x1xf32>
  %g = nv_tileaa.broadcast %f : tensor<64x1xf32> -> tensor<64x64xf32>
  %h = arith.addf %all#0, %g : tensor<64x64xf32>
  %t3 = nv_tileaa.tiled_store <weak> %h, %x[%c0, %c0] : tensor<64x64xf32>, <tile = [64, 64], memref<64x64xf32, strides = [64, 1]>>[i32, i32]
  nv_tileaa.return
}
