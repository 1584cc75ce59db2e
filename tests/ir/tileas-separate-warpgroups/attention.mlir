// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileaa-plan-dots{compute-capability=sm_100},convert-tileaa-to-tileas{compute-capability=sm_100},tileas-assign-dot-layouts{compute-capability=sm_100},tileas-assign-load-store-layouts{compute-capability=sm_100},tileas-remove-layout-conversions,tileas-materialize-async,tileas-specialize-agents,tileas-separate-warpgroups)' | FileCheck %s
// Two warpgroups of consumers, each with 128 rows of scores and results: each has barriers of its own.

// CHECK-LABEL: nv_tileaa.func @over_scores(
// Keys, queries and values have barriers that both warpgroups share.
// CHECK: %[[KEYS:.*]] = nv_tileas.async.pipeline.create_pipeline %{{.*}} phases [full = 1, empty = 1] : {{.*}} -> <4>
// CHECK: nv_tileas.async.pipeline.create_pipeline %{{.*}} phases [full = 1, empty = 1] : {{.*}} -> <1>
// CHECK: %[[VALUES:.*]] = nv_tileas.async.pipeline.create_pipeline %{{.*}} phases [full = 1, empty = 1] : {{.*}} -> <4>
// CHECK: %[[SCORES:.*]] = nv_tileas.async.pipeline.create_pipeline %{{.*}} phases [full = 1, empty = 4] warpgroups 2 : <4xi64, {{.*}}> -> <1>
// CHECK: %[[SUMS:.*]] = nv_tileas.async.pipeline.create_pipeline %{{.*}} phases [full = 1, empty = 4] warpgroups 2 : <4xi64, {{.*}}> -> <1>
// CHECK: %[[WEIGHTS:.*]] = nv_tileas.async.pipeline.create_pipeline %{{.*}} phases [full = 4] warpgroups 2 : <2xi64, {{.*}}> -> <1>
// Consumers mean their own barriers, and do not meet before they replace scores by weights. The weights of a warpgroup
// take columns of its own scores.
// CHECK: agent_switch
// CHECK: scf.for
// CHECK: nv_tileas.async.pipeline.consumer_wait %[[SCORES]][%{{[a-z0-9_]+}}] : <1>
// CHECK-NOT: nv_tileas.barrier
// CHECK: nv_tileas.tmem_store {{.*}}, <256x128xf16, #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64, 0, 16384, 128, {{.*}}]>, space = tensor>
// CHECK: nv_tileas.async.pipeline.producer_commit %[[WEIGHTS]][%{{[a-z0-9_]+}}] tensor : <1>
// CHECK: nv_tileas.async.tiled_tma_load
// The thread that issues dots names the warpgroup, and divides its dots by rows.
// CHECK: nv_tileas.async.pipeline.producer_acquire %[[SUMS]]{{.*}} warpgroup 0
// CHECK-NEXT: nv_tileas.async.pipeline.producer_acquire %[[SUMS]]{{.*}} warpgroup 1
// CHECK: scf.for
// CHECK: nv_tileas.async.pipeline.producer_acquire %[[SCORES]]{{.*}} warpgroup 0
// CHECK-NEXT: nv_tileas.async.pipeline.producer_acquire %[[SCORES]]{{.*}} warpgroup 1
// CHECK: nv_tileas.async.pipeline.consumer_wait %[[KEYS]]
// CHECK: nv_tileas.async.dot {{.*}} row_block 0 by <tensor, [128, 128, 16]>
// CHECK-NEXT: nv_tileas.async.dot {{.*}} row_block 1 by <tensor, [128, 128, 16]>
// CHECK-NEXT: nv_tileas.async.pipeline.consumer_release %[[KEYS]]{{.*}} dots
// CHECK: nv_tileas.async.pipeline.producer_commit %[[SCORES]]{{.*}} dots warpgroup 0
// CHECK-NEXT: nv_tileas.async.pipeline.producer_commit %[[SCORES]]{{.*}} dots warpgroup 1
// CHECK: nv_tileas.async.pipeline.consumer_wait %[[VALUES]]
// CHECK: nv_tileas.async.pipeline.consumer_wait %[[WEIGHTS]]{{.*}} warpgroup 0
// CHECK-NEXT: nv_tileas.async.pipeline.consumer_wait %[[WEIGHTS]]{{.*}} warpgroup 1
// CHECK: nv_tileas.async.dot {{.*}} row_block 0 by <tensor, [128, 128, 16]>
// CHECK-NEXT: nv_tileas.async.dot {{.*}} row_block 1 by <tensor, [128, 128, 16]>
// CHECK: nv_tileas.async.pipeline.producer_commit %[[SUMS]]{{.*}} dots warpgroup 0
// CHECK-NEXT: nv_tileas.async.pipeline.producer_commit %[[SUMS]]{{.*}} dots warpgroup 1
nv_tileaa.func @over_scores(%p0: !nv_tileaa.ptr<f16>, %q0: !nv_tileaa.ptr<f16>, %r: !nv_tileaa.ptr<f32>, %n: i32, %m0: i32) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f16>
  %u = nv_tileaa.assume #cuda_tile.div_by<16>, %q0 : !nv_tileaa.ptr<f16>
  %m = nv_tileaa.make_memref %p, shape = [%m0 : i32], strides = [] : <f16> -> <?x64xf16, strides = [64, 1]>
  %mv = nv_tileaa.make_memref %u, shape = [%m0 : i32], strides = [] : <f16> -> <?x128xf16, strides = [128, 1]>
  %vq = nv_tileaa.make_tiled_view %m : <?x64xf16, strides = [64, 1]> -> <tile = [256, 64], memref<?x64xf16, strides = [64, 1]>, padding = zero>
  %vk = nv_tileaa.make_tiled_view %m : <?x64xf16, strides = [64, 1]> -> <tile = [64, 128], memref<?x64xf16, strides = [64, 1]>, padding = zero, dim_map = [1, 0]>
  %vv = nv_tileaa.make_tiled_view %mv : <?x128xf16, strides = [128, 1]> -> <tile = [128, 128], memref<?x128xf16, strides = [128, 1]>, padding = zero>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %none = arith.constant dense<0.0> : tensor<256x128xf32>
  %zero = arith.constant dense<0.0> : tensor<256x128xf32>
  %low = arith.constant dense<-1.0e30> : tensor<256x1xf32>
  %q, %t0 = nv_tileaa.tiled_load <weak> %vq[%c0, %c0] : <tile = [256, 64], memref<?x64xf16, strides = [64, 1]>, padding = zero>[i32, i32] -> tensor<256x64xf16>
  %sum:2 = scf.for %i = %c0 to %n step %c1 iter_args(%top = %low, %acc = %zero) -> (tensor<256x1xf32>, tensor<256x128xf32>) : i32 {
    %k, %t1 = nv_tileaa.tiled_load <weak> %vk[%c0, %i] : <tile = [64, 128], memref<?x64xf16, strides = [64, 1]>, padding = zero, dim_map = [1, 0]>[i32, i32] -> tensor<64x128xf16>
    %s = nv_tileaa.dot %q, %k, %none : tensor<256x64xf16>, tensor<64x128xf16>, tensor<256x128xf32>
    %most = nv_tileaa.reduce %s dim 1 identities [0xFF800000 : f32] : tensor<256x128xf32> -> tensor<256xf32> {
    ^bb0(%a: f32, %b: f32):
      %y = arith.maximumf %a, %b : f32
      nv_tileaa.yield %y : f32
    }
    %column = nv_tileaa.view %most : tensor<256xf32> -> tensor<256x1xf32>
    %next = arith.maximumf %top, %column : tensor<256x1xf32>
    %all = nv_tileaa.broadcast %next : tensor<256x1xf32> -> tensor<256x128xf32>
    %below = arith.subf %s, %all : tensor<256x128xf32>
    %e = math.exp2 %below : tensor<256x128xf32>
    %grown = arith.subf %top, %next : tensor<256x1xf32>
    %shrink = math.exp2 %grown : tensor<256x1xf32>
    %w = arith.truncf %e : tensor<256x128xf32> to tensor<256x128xf16>
    %v, %t2 = nv_tileaa.tiled_load <weak> %vv[%i, %c0] : <tile = [128, 128], memref<?x128xf16, strides = [128, 1]>, padding = zero>[i32, i32] -> tensor<128x128xf16>
    %spread = nv_tileaa.broadcast %shrink : tensor<256x1xf32> -> tensor<256x128xf32>
    %kept = arith.mulf %acc, %spread : tensor<256x128xf32>
    %d = nv_tileaa.dot %w, %v, %kept : tensor<256x128xf16>, tensor<128x128xf16>, tensor<256x128xf32>
    scf.yield %next, %d : tensor<256x1xf32>, tensor<256x128xf32>
  }
  %o = nv_tileaa.make_memref %r, shape = [], strides = [] : <f32> -> <256x128xf32, strides = [128, 1]>
  %x = nv_tileaa.make_tiled_view %o : <256x128xf32, strides = [128, 1]> -> <tile = [256, 128], memref<256x128xf32, strides = [128, 1]>>
  %t3 = nv_tileaa.tiled_store <weak> %sum#1, %x[%c0, %c0] : tensor<256x128xf32>, <tile = [256, 128], memref<256x128xf32, strides = [128, 1]>>[i32, i32]
  nv_tileaa.return
}

// The warpgroups store the queries together, so all of them share barriers.
// CHECK-LABEL: nv_tileaa.func @computed_queries(
// CHECK: phases [full = 8, empty = 1]
// CHECK-NOT: warpgroups
// CHECK-NOT: row_block
// CHECK: nv_tileaa.return
nv_tileaa.func @computed_queries(%p0: !nv_tileaa.ptr<f16>, %q0: !nv_tileaa.ptr<f16>, %r: !nv_tileaa.ptr<f32>, %n: i32, %m0: i32) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f16>
  %u = nv_tileaa.assume #cuda_tile.div_by<16>, %q0 : !nv_tileaa.ptr<f16>
  %m = nv_tileaa.make_memref %p, shape = [%m0 : i32], strides = [] : <f16> -> <?x64xf16, strides = [64, 1]>
  %mv = nv_tileaa.make_memref %u, shape = [%m0 : i32], strides = [] : <f16> -> <?x128xf16, strides = [128, 1]>
  %vq = nv_tileaa.make_tiled_view %m : <?x64xf16, strides = [64, 1]> -> <tile = [256, 64], memref<?x64xf16, strides = [64, 1]>, padding = zero>
  %vk = nv_tileaa.make_tiled_view %m : <?x64xf16, strides = [64, 1]> -> <tile = [64, 128], memref<?x64xf16, strides = [64, 1]>, padding = zero, dim_map = [1, 0]>
  %vv = nv_tileaa.make_tiled_view %mv : <?x128xf16, strides = [128, 1]> -> <tile = [128, 128], memref<?x128xf16, strides = [128, 1]>, padding = zero>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %none = arith.constant dense<0.0> : tensor<256x128xf32>
  %zero = arith.constant dense<0.0> : tensor<256x128xf32>
  %low = arith.constant dense<-1.0e30> : tensor<256x1xf32>
  %q, %t0 = nv_tileaa.tiled_load <weak> %vq[%c0, %c0] : <tile = [256, 64], memref<?x64xf16, strides = [64, 1]>, padding = zero>[i32, i32] -> tensor<256x64xf16>
  %negative = arith.negf %q : tensor<256x64xf16>
  %sum:2 = scf.for %i = %c0 to %n step %c1 iter_args(%top = %low, %acc = %zero) -> (tensor<256x1xf32>, tensor<256x128xf32>) : i32 {
    %k, %t1 = nv_tileaa.tiled_load <weak> %vk[%c0, %i] : <tile = [64, 128], memref<?x64xf16, strides = [64, 1]>, padding = zero, dim_map = [1, 0]>[i32, i32] -> tensor<64x128xf16>
    %s = nv_tileaa.dot %negative, %k, %none : tensor<256x64xf16>, tensor<64x128xf16>, tensor<256x128xf32>
    %most = nv_tileaa.reduce %s dim 1 identities [0xFF800000 : f32] : tensor<256x128xf32> -> tensor<256xf32> {
    ^bb0(%a: f32, %b: f32):
      %y = arith.maximumf %a, %b : f32
      nv_tileaa.yield %y : f32
    }
    %column = nv_tileaa.view %most : tensor<256xf32> -> tensor<256x1xf32>
    %next = arith.maximumf %top, %column : tensor<256x1xf32>
    %all = nv_tileaa.broadcast %next : tensor<256x1xf32> -> tensor<256x128xf32>
    %below = arith.subf %s, %all : tensor<256x128xf32>
    %e = math.exp2 %below : tensor<256x128xf32>
    %grown = arith.subf %top, %next : tensor<256x1xf32>
    %shrink = math.exp2 %grown : tensor<256x1xf32>
    %w = arith.truncf %e : tensor<256x128xf32> to tensor<256x128xf16>
    %v, %t2 = nv_tileaa.tiled_load <weak> %vv[%i, %c0] : <tile = [128, 128], memref<?x128xf16, strides = [128, 1]>, padding = zero>[i32, i32] -> tensor<128x128xf16>
    %spread = nv_tileaa.broadcast %shrink : tensor<256x1xf32> -> tensor<256x128xf32>
    %kept = arith.mulf %acc, %spread : tensor<256x128xf32>
    %d = nv_tileaa.dot %w, %v, %kept : tensor<256x128xf16>, tensor<128x128xf16>, tensor<256x128xf32>
    scf.yield %next, %d : tensor<256x1xf32>, tensor<256x128xf32>
  }
  %o = nv_tileaa.make_memref %r, shape = [], strides = [] : <f32> -> <256x128xf32, strides = [128, 1]>
  %x = nv_tileaa.make_tiled_view %o : <256x128xf32, strides = [128, 1]> -> <tile = [256, 128], memref<256x128xf32, strides = [128, 1]>>
  %t3 = nv_tileaa.tiled_store <weak> %sum#1, %x[%c0, %c0] : tensor<256x128xf32>, <tile = [256, 128], memref<256x128xf32, strides = [128, 1]>>[i32, i32]
  nv_tileaa.return
}
