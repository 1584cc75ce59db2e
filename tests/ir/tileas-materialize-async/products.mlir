// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileaa-plan-dots{compute-capability=sm_90},convert-tileaa-to-tileas{compute-capability=sm_90},tileas-assign-dot-layouts{compute-capability=sm_90},tileas-assign-load-store-layouts{compute-capability=sm_90},tileas-remove-layout-conversions,tileas-materialize-async)' | FileCheck %s
!view = !nv_tileaa.tiled_view<tile = [64, 64], memref<?x256xf16, strides = [256, 1]>, padding = zero>

// One dot is in flight while the next one starts; its stage is released when it is complete.
// CHECK-LABEL: nv_tileaa.func @carried(
// CHECK: %[[A:.*]] = nv_tileas.alloc_tensor : <64x64xf16, {{.*}}, stages = [[S:[0-9]+]], align = 1024>
// CHECK: %[[B:.*]] = nv_tileas.alloc_tensor : <64x64xf16, {{.*}}, stages = [[S]], align = 1024>
// CHECK: %[[P:.*]] = nv_tileas.async.pipeline.create_pipeline %{{.*}} phases [full = 1, empty = 4] : {{.*}} -> <[[S]]>
// CHECK: %[[FIRST:.*]] = nv_tileas.async.pipeline.create_iterator %[[P]]
// CHECK: nv_tileas.barrier
// CHECK-DAG: nv_tileas.make_tiled_tma_desc
// CHECK-DAG: %[[NEVER:.*]] = arith.constant false
// CHECK: %[[R:.*]]:4 = scf.for {{.*}} iter_args(%[[ACC:.*]] = %{{.*}}, %[[IT:.*]] = %[[FIRST]], %[[LAST:.*]] = %[[FIRST]], %[[STARTED:.*]] = %[[NEVER]])
// CHECK-NEXT: nv_tileas.async.elect {
// CHECK-NEXT: %[[T:.*]] = nv_tileas.async.pipeline.producer_acquire %[[P]][%[[IT]]] bytes 16384
// CHECK-NEXT: %[[F:.*]] = nv_tileas.async.pipeline.stage %[[IT]]
// CHECK-NEXT: %[[FA:.*]] = nv_tileas.memdesc_slot %[[A]][%[[F]]]
// CHECK-NEXT: %[[FB:.*]] = nv_tileas.memdesc_slot %[[B]][%[[F]]]
// CHECK-NEXT: nv_tileas.async.tiled_tma_load {{.*}} into %[[FA]] arrive %[[T]]
// CHECK-NEXT: nv_tileas.async.tiled_tma_load {{.*}} into %[[FB]] arrive %[[T]]
// CHECK-NEXT: }
// CHECK-NEXT: nv_tileas.async.pipeline.consumer_wait %[[P]][%[[IT]]]
// CHECK-NEXT: %[[U:.*]] = nv_tileas.async.pipeline.stage %[[IT]]
// CHECK-NEXT: %[[UA:.*]] = nv_tileas.memdesc_slot %[[A]][%[[U]]]
// CHECK-NEXT: %[[UB:.*]] = nv_tileas.memdesc_slot %[[B]][%[[U]]]
// CHECK-NEXT: %[[D:.*]] = nv_tileas.async.dot %[[UA]], %[[UB]], %[[ACC]] by <warpgroup,
// CHECK-NEXT: nv_tileas.async.dot_wait pending 1
// CHECK-NEXT: nv_tileas.async.pipeline.consumer_release %[[P]][%[[LAST]]] if %[[STARTED]]
// CHECK-NEXT: %[[NEXT:.*]] = nv_tileas.async.pipeline.inc_iter %[[IT]] of %[[P]]
// CHECK-NEXT: %[[ALWAYS:.*]] = arith.constant true
// CHECK-NEXT: scf.yield %[[D]], %[[NEXT]], %[[IT]], %[[ALWAYS]]
// CHECK: nv_tileas.async.dot_wait %[[R]]#0 pending 0
// CHECK-NEXT: nv_tileas.async.pipeline.consumer_release %[[P]][%[[R]]#2] if %[[R]]#3
// CHECK-NOT: nv_tileas.dot
nv_tileaa.func @carried(%p0: !nv_tileaa.ptr<f16>, %q: !nv_tileaa.ptr<f32>, %n: i32, %m0: i32) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f16>
  %m = nv_tileaa.make_memref %p, shape = [%m0 : i32], strides = [] : <f16> -> <?x256xf16, strides = [256, 1]>
  %v = nv_tileaa.make_tiled_view %m : <?x256xf16, strides = [256, 1]> -> !view
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i32 {
    %a, %t1 = nv_tileaa.tiled_load <weak> %v[%c0, %k] : !view[i32, i32] -> tensor<64x64xf16>
    %b, %t2 = nv_tileaa.tiled_load <weak> %v[%k, %c0] : !view[i32, i32] -> tensor<64x64xf16>
    %d = nv_tileaa.dot %a, %b, %acc : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  %o = nv_tileaa.make_memref %q, shape = [], strides = [] : <f32> -> <64x64xf32, strides = [64, 1]>
  %w = nv_tileaa.make_tiled_view %o : <64x64xf32, strides = [64, 1]> -> <tile = [64, 64], memref<64x64xf32, strides = [64, 1]>>
  %t3 = nv_tileaa.tiled_store <weak> %sum, %w[%c0, %c0] : tensor<64x64xf32>, <tile = [64, 64], memref<64x64xf32, strides = [64, 1]>>[i32, i32]
  nv_tileaa.return
}

// Outside a loop, the dot is waited for before its use. The right operand is read as its transpose.
// CHECK-LABEL: nv_tileaa.func @once(
// CHECK: nv_tileas.async.pipeline.consumer_wait %[[P:.*]][%[[IT:.*]]]
// CHECK: %[[TURNED:.*]] = nv_tileas.memdesc_permute %{{.*}} [1, 0]
// CHECK: %[[D:.*]] = nv_tileas.async.dot %{{.*}}, %[[TURNED]], %{{.*}} by <warpgroup,
// CHECK: nv_tileas.async.dot_wait %[[D]] pending 0
// CHECK-NEXT: nv_tileas.async.pipeline.consumer_release %[[P]][%[[IT]]] :
// CHECK-NOT: tiled_load
nv_tileaa.func @once(%p0: !nv_tileaa.ptr<f16>, %q: !nv_tileaa.ptr<f32>, %n: i32, %m0: i32) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f16>
  %m = nv_tileaa.make_memref %p, shape = [%m0 : i32], strides = [] : <f16> -> <?x256xf16, strides = [256, 1]>
  %v = nv_tileaa.make_tiled_view %m : <?x256xf16, strides = [256, 1]> -> !view
  %c0 = arith.constant 0 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %a, %t1 = nv_tileaa.tiled_load <weak> %v[%c0, %n] : !view[i32, i32] -> tensor<64x64xf16>
  %b, %t2 = nv_tileaa.tiled_load <weak> %v[%n, %c0] : !view[i32, i32] -> tensor<64x64xf16>
  %bt = nv_tileaa.permute %b [1, 0] : tensor<64x64xf16> -> tensor<64x64xf16>
  %d = nv_tileaa.dot %a, %bt, %zero : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
  %o = nv_tileaa.make_memref %q, shape = [], strides = [] : <f32> -> <64x64xf32, strides = [64, 1]>
  %w = nv_tileaa.make_tiled_view %o : <64x64xf32, strides = [64, 1]> -> <tile = [64, 64], memref<64x64xf32, strides = [64, 1]>>
  %t3 = nv_tileaa.tiled_store <weak> %d, %w[%c0, %c0] : tensor<64x64xf32>, <tile = [64, 64], memref<64x64xf32, strides = [64, 1]>>[i32, i32]
  nv_tileaa.return
}

// A loop in a branch: the iterator is a result of both branches.
// CHECK-LABEL: nv_tileaa.func @branch(
// CHECK: %[[FIRST:.*]] = nv_tileas.async.pipeline.create_iterator
// CHECK: scf.if %arg4 -> ({{.*}}, !nv_tileas.pipeline_iterator) {
// CHECK: %[[R:.*]]:4 = scf.for {{.*}} %{{.*}} = %[[FIRST]]
// CHECK: nv_tileas.async.dot {{.*}}
// CHECK: %[[SUM:.*]] = nv_tileas.async.dot_wait %[[R]]#0 pending 0
// CHECK-NEXT: nv_tileas.async.pipeline.consumer_release
// CHECK-NEXT: scf.yield %[[SUM]], %[[R]]#1
// CHECK: } else {
// CHECK-NEXT: scf.yield %{{.*}}, %[[FIRST]]
nv_tileaa.func @branch(%p0: !nv_tileaa.ptr<f16>, %q: !nv_tileaa.ptr<f32>, %n: i32, %m0: i32, %c: i1) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f16>
  %m = nv_tileaa.make_memref %p, shape = [%m0 : i32], strides = [] : <f16> -> <?x256xf16, strides = [256, 1]>
  %v = nv_tileaa.make_tiled_view %m : <?x256xf16, strides = [256, 1]> -> !view
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %all = scf.if %c -> (tensor<64x64xf32>) {
    %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i32 {
      %a, %t1 = nv_tileaa.tiled_load <weak> %v[%c0, %k] : !view[i32, i32] -> tensor<64x64xf16>
      %b, %t2 = nv_tileaa.tiled_load <weak> %v[%k, %c0] : !view[i32, i32] -> tensor<64x64xf16>
      %d = nv_tileaa.dot %a, %b, %acc : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
      scf.yield %d : tensor<64x64xf32>
    }
    scf.yield %sum : tensor<64x64xf32>
  } else {
    scf.yield %zero : tensor<64x64xf32>
  }
  %o = nv_tileaa.make_memref %q, shape = [], strides = [] : <f32> -> <64x64xf32, strides = [64, 1]>
  %w = nv_tileaa.make_tiled_view %o : <64x64xf32, strides = [64, 1]> -> <tile = [64, 64], memref<64x64xf32, strides = [64, 1]>>
  %t3 = nv_tileaa.tiled_store <weak> %all, %w[%c0, %c0] : tensor<64x64xf32>, <tile = [64, 64], memref<64x64xf32, strides = [64, 1]>>[i32, i32]
  nv_tileaa.return
}
