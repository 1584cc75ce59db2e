// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileaa-plan-dots{compute-capability=sm_100 dynamic-persistent=false},convert-tileaa-to-tileas{compute-capability=sm_100},tileas-assign-dot-layouts{compute-capability=sm_100},tileas-assign-load-store-layouts{compute-capability=sm_100},tileas-remove-layout-conversions,tileas-materialize-async)' | FileCheck %s
// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileaa-plan-dots{compute-capability=sm_100 dynamic-persistent=false},convert-tileaa-to-tileas{compute-capability=sm_100},tileas-assign-dot-layouts{compute-capability=sm_100},tileas-assign-load-store-layouts{compute-capability=sm_100},tileas-remove-layout-conversions,tileas-materialize-async,tileas-specialize-agents,tileas-optimize-alloc-tensor,tileas-check-synchronization)' | FileCheck %s --check-prefix=AGENTS
// Accumulators in tensor memory are stages of a pipeline that the completion of dots fills.

// CHECK-LABEL: nv_tileaa.func @loop(
// CHECK: %[[A:.*]] = nv_tileas.alloc_tensor : <128x64xf16, {{.*}}, stages = [[S:[0-9]+]], align = 1024>
// CHECK: %[[B:.*]] = nv_tileas.alloc_tensor : <64x128xf16, {{.*}}, stages = [[S]], align = 1024>
// CHECK: %[[P:.*]] = nv_tileas.async.pipeline.create_pipeline %{{.*}} phases [full = 1, empty = 1] : {{.*}} -> <[[S]]>
// CHECK: %[[FIRST:.*]] = nv_tileas.async.pipeline.create_iterator %[[P]]
// CHECK: %[[Q:.*]] = nv_tileas.async.pipeline.create_pipeline %{{.*}} phases [full = 1, empty = 8] : {{.*}} -> <1>
// CHECK: %[[J:.*]] = nv_tileas.async.pipeline.create_iterator %[[Q]]
// CHECK: nv_tileas.tmem_allocate
// CHECK-NEXT: nv_tileas.barrier
// CHECK-NEXT: %[[ALL:.*]] = nv_tileas.alloc_tensor : <128x128xf32, space = tensor>
// CHECK: nv_tileas.async.elect of matrix {
// CHECK-NEXT: nv_tileas.async.pipeline.producer_acquire %[[Q]][%[[J]]] : <1>
// CHECK-NEXT: nv_tileas.tmem_fence after
// CHECK-NEXT: }
// CHECK: %[[STAGE:.*]] = nv_tileas.async.pipeline.stage %[[J]]
// CHECK-NEXT: %[[ACC:.*]] = nv_tileas.memdesc_slot %[[ALL]][%[[STAGE]]]
// CHECK-NEXT: %[[NONE:.*]] = arith.cmpi sle, %{{.*}}, %[[ZERO:.*]] : i32
// CHECK-NEXT: scf.for %[[K:.*]] = %[[ZERO]] to {{.*}} iter_args(%[[IT:.*]] = %[[FIRST]])
// CHECK-NEXT: %[[MORE:.*]] = arith.cmpi ne, %[[K]], %[[ZERO]]
// CHECK-NEXT: nv_tileas.async.elect {
// CHECK: nv_tileas.async.elect of matrix {
// CHECK-NEXT: nv_tileas.async.pipeline.consumer_wait %[[P]][%[[IT]]]
// CHECK-NEXT: %[[U:.*]] = nv_tileas.async.pipeline.stage %[[IT]]
// CHECK-NEXT: %[[UA:.*]] = nv_tileas.memdesc_slot %[[A]][%[[U]]]
// CHECK-NEXT: %[[UB:.*]] = nv_tileas.memdesc_slot %[[B]][%[[U]]]
// CHECK-NEXT: nv_tileas.async.dot %[[UA]], %[[UB]], %[[ACC]] accumulate %[[MORE]] by <tensor, [128, 128, 16]>
// CHECK-NEXT: nv_tileas.async.pipeline.consumer_release %[[P]][%[[IT]]] dots
// CHECK-NEXT: }
// CHECK-NEXT: %[[NEXT:.*]] = nv_tileas.async.pipeline.inc_iter %[[IT]] of %[[P]]
// CHECK-NEXT: scf.yield %[[NEXT]]
// CHECK: nv_tileas.async.elect of matrix {
// CHECK-NEXT: nv_tileas.async.pipeline.producer_commit %[[Q]][%[[J]]] dots
// CHECK-NEXT: }
// CHECK-NEXT: nv_tileas.async.pipeline.consumer_wait %[[Q]][%[[J]]]
// CHECK-NEXT: nv_tileas.tmem_fence after
// CHECK-NEXT: scf.if %[[NONE]] {
// CHECK: nv_tileas.tmem_store %{{.*}}, %[[ACC]]
// CHECK: %[[SUM:.*]] = nv_tileas.tmem_load %[[ACC]]
// CHECK-NEXT: nv_tileas.tmem_fence{{$}}
// CHECK-NEXT: nv_tileas.async.pipeline.consumer_release %[[Q]][%[[J]]] : <1>
// CHECK: nv_tileas.tiled_store <weak> %[[SUM]]
// CHECK-NEXT: nv_tileas.tmem_free

// AGENTS: nv_tileas.tmem_allocate %{{.*}} columns 128
// AGENTS: nv_tileas.alloc_tensor offset 0 : <128x128xf32, space = tensor>
// AGENTS: agent_switch agents [<"consumers", warps = 8>, <"producer", warps = 1>, <"matrix", warps = 1>] {
// AGENTS-NOT: async.dot
// AGENTS: nv_tileas.tmem_load
// AGENTS: }, {
// AGENTS: async.tiled_tma_load
// AGENTS: }, {
// AGENTS-NEXT: nv_tileas.async.elect {
// AGENTS: nv_tileas.async.dot
// AGENTS: nv_tileas.async.pipeline.producer_commit %{{.*}} dots
// AGENTS: nv_tileas.tmem_free columns 128
!rows = !nv_tileaa.tiled_view<tile = [128, 64], memref<?x256xf16, strides = [256, 1]>, padding = zero>
!columns = !nv_tileaa.tiled_view<tile = [64, 128], memref<?x256xf16, strides = [256, 1]>, padding = zero>
nv_tileaa.func @loop(%p0: !nv_tileaa.ptr<f16>, %q: !nv_tileaa.ptr<f32>, %n: i32, %m0: i32) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f16>
  %m = nv_tileaa.make_memref %p, shape = [%m0 : i32], strides = [] : <f16> -> <?x256xf16, strides = [256, 1]>
  %v = nv_tileaa.make_tiled_view %m : <?x256xf16, strides = [256, 1]> -> !rows
  %w = nv_tileaa.make_tiled_view %m : <?x256xf16, strides = [256, 1]> -> !columns
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<128x128xf32>) : i32 {
    %a, %t1 = nv_tileaa.tiled_load <weak> %v[%c0, %k] : !rows[i32, i32] -> tensor<128x64xf16>
    %b, %t2 = nv_tileaa.tiled_load <weak> %w[%k, %c0] : !columns[i32, i32] -> tensor<64x128xf16>
    %d = nv_tileaa.dot %a, %b, %acc : tensor<128x64xf16>, tensor<64x128xf16>, tensor<128x128xf32>
    scf.yield %d : tensor<128x128xf32>
  }
  %o = nv_tileaa.make_memref %q, shape = [], strides = [] : <f32> -> <128x128xf32, strides = [128, 1]>
  %x = nv_tileaa.make_tiled_view %o : <128x128xf32, strides = [128, 1]> -> <tile = [128, 128], memref<128x128xf32, strides = [128, 1]>>
  %t3 = nv_tileaa.tiled_store <weak> %sum, %x[%c0, %c0] : tensor<128x128xf32>, <tile = [128, 128], memref<128x128xf32, strides = [128, 1]>>[i32, i32]
  nv_tileaa.return
}
