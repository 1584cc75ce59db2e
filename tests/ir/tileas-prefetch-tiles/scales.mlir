// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileaa-plan-dots{compute-capability=sm_90},convert-tileaa-to-tileas{compute-capability=sm_90},tileas-assign-dot-layouts{compute-capability=sm_90},tileas-assign-load-store-layouts{compute-capability=sm_90},tileas-remove-layout-conversions,tileas-materialize-async,tileas-specialize-agents,tileas-prefetch-tiles)' | FileCheck %s
// Consumers load the scales of the next iteration after the last op that reads their registers. A load with a large result
// stays where it is.
!view = !nv_tileaa.tiled_view<tile = [64, 64], memref<?x256xf16, strides = [256, 1]>, padding = zero>
!scales = !nv_tileaa.tiled_view<tile = [1, 64], memref<?x64xf32, strides = [64, 1]>, padding = zero>
!large = !nv_tileaa.tiled_view<tile = [64, 64], memref<?x64xf32, strides = [64, 1]>, padding = zero>

// CHECK-LABEL: nv_tileaa.func @scales(
// CHECK: agent_switch agents [<"consumers"
// CHECK: %[[FIRST:[a-z0-9_]+]] = scf.if %{{.*}} -> (tensor<1x64xf32, {{.*}}>) {
// CHECK: nv_tileas.tiled_load {{.*}} -> tensor<1x64xf32
// CHECK: scf.for %[[K:[a-z0-9_]+]] = {{.*}} %[[NOW:[a-z0-9_]+]] = %[[FIRST]]) -> (
// CHECK: nv_tileas.async.pipeline.consumer_wait
// CHECK-NOT: tiled_load
// CHECK: nv_tileas.view %[[NOW]]
// CHECK: arith.mulf
// CHECK-NEXT: %[[LEFT:[a-z0-9_]+]] = arith.subi %{{.*}}, %[[K]]
// CHECK: %[[LATER:[a-z0-9_]+]], %{{.*}} = nv_tileas.tiled_load {{.*}} -> tensor<1x64xf32
// CHECK: nv_tileas.tiled_load {{.*}} -> tensor<64x64xf32
// CHECK: scf.yield {{.*}}%[[LATER]]
nv_tileaa.func @scales(%p0: !nv_tileaa.ptr<f16>, %q: !nv_tileaa.ptr<f32>, %r: !nv_tileaa.ptr<f32>, %n: i32, %m0: i32) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f16>
  %m = nv_tileaa.make_memref %p, shape = [%m0 : i32], strides = [] : <f16> -> <?x256xf16, strides = [256, 1]>
  %v = nv_tileaa.make_tiled_view %m : <?x256xf16, strides = [256, 1]> -> !view
  %s = nv_tileaa.make_memref %q, shape = [%m0 : i32], strides = [] : <f32> -> <?x64xf32, strides = [64, 1]>
  %w = nv_tileaa.make_tiled_view %s : <?x64xf32, strides = [64, 1]> -> !scales
  %u = nv_tileaa.make_tiled_view %s : <?x64xf32, strides = [64, 1]> -> !large
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i32 {
    %a, %t1 = nv_tileaa.tiled_load <weak> %v[%c0, %k] : !view[i32, i32] -> tensor<64x64xf16>
    %b, %t2 = nv_tileaa.tiled_load <weak> %v[%k, %c0] : !view[i32, i32] -> tensor<64x64xf16>
    %d = nv_tileaa.dot %a, %b, %zero : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
    %of, %t3 = nv_tileaa.tiled_load <weak> %w[%k, %c0] : !scales[i32, i32] -> tensor<1x64xf32>
    %column = nv_tileaa.view %of : tensor<1x64xf32> -> tensor<64x1xf32>
    %all = nv_tileaa.broadcast %column : tensor<64x1xf32> -> tensor<64x64xf32>
    %scaled = arith.mulf %d, %all : tensor<64x64xf32>
    %more, %t4 = nv_tileaa.tiled_load <weak> %u[%k, %c0] : !large[i32, i32] -> tensor<64x64xf32>
    %both = arith.addf %scaled, %more : tensor<64x64xf32>
    %next = arith.addf %acc, %both : tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }
  %o = nv_tileaa.make_memref %r, shape = [], strides = [] : <f32> -> <64x64xf32, strides = [64, 1]>
  %x = nv_tileaa.make_tiled_view %o : <64x64xf32, strides = [64, 1]> -> <tile = [64, 64], memref<64x64xf32, strides = [64, 1]>>
  %t5 = nv_tileaa.tiled_store <weak> %sum, %x[%c0, %c0] : tensor<64x64xf32>, <tile = [64, 64], memref<64x64xf32, strides = [64, 1]>>[i32, i32]
  nv_tileaa.return
}

// The loop carries a loaded tile, so its terminator reads the tile. The loads of the next iteration precede it.
// CHECK-LABEL: nv_tileaa.func @carried(
// CHECK: scf.for %{{[a-z0-9_]+}} = {{.*}} %[[NOW:[a-z0-9_]+]] = %{{[a-z0-9_]+}}) -> (
// CHECK: %[[LATER:[a-z0-9_]+]], %{{.*}} = nv_tileas.tiled_load {{.*}} -> tensor<1x64xf32
// CHECK: nv_tileas.async.pipeline.consumer_wait
// CHECK: scf.yield {{.*}}%[[NOW]], {{.*}}%[[LATER]]
// CHECK-NEXT: }
nv_tileaa.func @carried(%p0: !nv_tileaa.ptr<f16>, %q: !nv_tileaa.ptr<f32>, %r: !nv_tileaa.ptr<f32>, %n: i32, %m0: i32) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f16>
  %m = nv_tileaa.make_memref %p, shape = [%m0 : i32], strides = [] : <f16> -> <?x256xf16, strides = [256, 1]>
  %v = nv_tileaa.make_tiled_view %m : <?x256xf16, strides = [256, 1]> -> !view
  %s = nv_tileaa.make_memref %q, shape = [%m0 : i32], strides = [] : <f32> -> <?x64xf32, strides = [64, 1]>
  %w = nv_tileaa.make_tiled_view %s : <?x64xf32, strides = [64, 1]> -> !scales
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %none = arith.constant dense<0.0> : tensor<1x64xf32>
  %sum:2 = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero, %last = %none) -> (tensor<64x64xf32>, tensor<1x64xf32>) : i32 {
    %a, %t1 = nv_tileaa.tiled_load <weak> %v[%c0, %k] : !view[i32, i32] -> tensor<64x64xf16>
    %b, %t2 = nv_tileaa.tiled_load <weak> %v[%k, %c0] : !view[i32, i32] -> tensor<64x64xf16>
    %of, %t3 = nv_tileaa.tiled_load <weak> %w[%k, %c0] : !scales[i32, i32] -> tensor<1x64xf32>
    %d = nv_tileaa.dot %a, %b, %acc : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
    scf.yield %d, %of : tensor<64x64xf32>, tensor<1x64xf32>
  }
  %o = nv_tileaa.make_memref %r, shape = [], strides = [] : <f32> -> <64x64xf32, strides = [64, 1]>
  %x = nv_tileaa.make_tiled_view %o : <64x64xf32, strides = [64, 1]> -> <tile = [64, 64], memref<64x64xf32, strides = [64, 1]>>
  %column = nv_tileaa.view %sum#1 : tensor<1x64xf32> -> tensor<64x1xf32>
  %all = nv_tileaa.broadcast %column : tensor<64x1xf32> -> tensor<64x64xf32>
  %both = arith.addf %sum#0, %all : tensor<64x64xf32>
  %t5 = nv_tileaa.tiled_store <weak> %both, %x[%c0, %c0] : tensor<64x64xf32>, <tile = [64, 64], memref<64x64xf32, strides = [64, 1]>>[i32, i32]
  nv_tileaa.return
}

// What is computed from the current scales alone runs before the wait, and the loads follow it.
// CHECK-LABEL: nv_tileaa.func @early(
// CHECK: scf.for %[[K:[a-z0-9_]+]] = {{.*}} %[[NOW:[a-z0-9_]+]] = %{{.*}}) -> (
// CHECK-NEXT: %[[COLUMN:[a-z0-9_]+]] = nv_tileas.view %[[NOW]]
// CHECK-NEXT: %[[SQUARE:[a-z0-9_]+]] = arith.mulf %[[COLUMN]], %[[COLUMN]]
// CHECK-NEXT: arith.subi %{{.*}}, %[[K]]
// CHECK: %[[LATER:[a-z0-9_]+]], %{{.*}} = nv_tileas.tiled_load {{.*}} -> tensor<1x64xf32
// CHECK: nv_tileas.async.pipeline.consumer_wait
// CHECK: %[[ALL:[a-z0-9_]+]] = nv_tileas.broadcast %[[SQUARE]]
// CHECK: arith.mulf %{{.*}}, %[[ALL]]
// CHECK: scf.yield {{.*}}%[[LATER]]
nv_tileaa.func @early(%p0: !nv_tileaa.ptr<f16>, %q: !nv_tileaa.ptr<f32>, %r: !nv_tileaa.ptr<f32>, %n: i32, %m0: i32) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f16>
  %m = nv_tileaa.make_memref %p, shape = [%m0 : i32], strides = [] : <f16> -> <?x256xf16, strides = [256, 1]>
  %v = nv_tileaa.make_tiled_view %m : <?x256xf16, strides = [256, 1]> -> !view
  %s = nv_tileaa.make_memref %q, shape = [%m0 : i32], strides = [] : <f32> -> <?x64xf32, strides = [64, 1]>
  %w = nv_tileaa.make_tiled_view %s : <?x64xf32, strides = [64, 1]> -> !scales
  %u = nv_tileaa.make_tiled_view %s : <?x64xf32, strides = [64, 1]> -> !large
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i32 {
    %a, %t1 = nv_tileaa.tiled_load <weak> %v[%c0, %k] : !view[i32, i32] -> tensor<64x64xf16>
    %b, %t2 = nv_tileaa.tiled_load <weak> %v[%k, %c0] : !view[i32, i32] -> tensor<64x64xf16>
    %d = nv_tileaa.dot %a, %b, %zero : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
    %of, %t3 = nv_tileaa.tiled_load <weak> %w[%k, %c0] : !scales[i32, i32] -> tensor<1x64xf32>
    %column = nv_tileaa.view %of : tensor<1x64xf32> -> tensor<64x1xf32>
    %square = arith.mulf %column, %column : tensor<64x1xf32>
    %all = nv_tileaa.broadcast %square : tensor<64x1xf32> -> tensor<64x64xf32>
    %scaled = arith.mulf %d, %all : tensor<64x64xf32>
    %more, %t4 = nv_tileaa.tiled_load <weak> %u[%k, %c0] : !large[i32, i32] -> tensor<64x64xf32>
    %both = arith.addf %scaled, %more : tensor<64x64xf32>
    %next = arith.addf %acc, %both : tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }
  %o = nv_tileaa.make_memref %r, shape = [], strides = [] : <f32> -> <64x64xf32, strides = [64, 1]>
  %x = nv_tileaa.make_tiled_view %o : <64x64xf32, strides = [64, 1]> -> <tile = [64, 64], memref<64x64xf32, strides = [64, 1]>>
  %t5 = nv_tileaa.tiled_store <weak> %sum, %x[%c0, %c0] : tensor<64x64xf32>, <tile = [64, 64], memref<64x64xf32, strides = [64, 1]>>[i32, i32]
  nv_tileaa.return
}
