// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileaa-plan-dots{compute-capability=sm_90},tileaa-outline-producers,convert-tileaa-to-tileas{compute-capability=sm_90},tileas-assign-dot-layouts{compute-capability=sm_90},tileas-assign-load-store-layouts{compute-capability=sm_90},tileas-remove-layout-conversions,tileas-materialize-async,tileas-specialize-agents,tileas-prefetch-tiles)' | FileCheck %s
// Producer loads are in flight one iteration ahead. The last iteration loads its own tile again; a loop without
// iterations loads nothing.

// CHECK-LABEL: nv_tileaa.func @scaled(
// CHECK: }, {
// CHECK: %[[ANY:[a-z0-9_]+]] = arith.cmpi slt, %[[LOWER:[a-z0-9_]+]], %[[UPPER:[a-z0-9_]+]] : i32
// CHECK: %[[FIRST:[a-z0-9_]+]] = scf.if %[[ANY]] -> (tensor<128x64xi8, {{.*}}>) {
// CHECK: %[[X:[a-z0-9_]+]], %{{.*}} = nv_tileas.tiled_load {{.*}}, %[[LOWER]]]
// CHECK-NEXT: scf.yield %[[X]]
// CHECK: } else {
// CHECK: %[[ZERO:[a-z0-9_]+]] = nv_tileas.splat %{{.*}} : i8
// CHECK-NEXT: scf.yield %[[ZERO]]
// CHECK: scf.for %[[K:[a-z0-9_]+]] = %[[LOWER]] to %[[UPPER]] step %[[STEP:[a-z0-9_]+]] iter_args(%{{.*}} = %{{.*}}, %[[NOW:[a-z0-9_]+]] = %[[FIRST]])
// CHECK-NEXT: %[[LEFT:[a-z0-9_]+]] = arith.subi %[[UPPER]], %[[K]]
// CHECK-NEXT: %[[MORE:[a-z0-9_]+]] = arith.cmpi ugt, %[[LEFT]], %[[STEP]]
// CHECK-NEXT: %[[SUM:[a-z0-9_]+]] = arith.addi %[[K]], %[[STEP]]
// CHECK-NEXT: %[[NEXT:[a-z0-9_]+]] = arith.select %[[MORE]], %[[SUM]], %[[K]]
// CHECK: %[[LATER:[a-z0-9_]+]], %{{.*}} = nv_tileas.tiled_load {{.*}}, %[[NEXT]]]
// CHECK: nv_tileas.async.elect
// CHECK-NOT: tiled_load <weak>
// CHECK: arith.sitofp %[[NOW]]
// CHECK: producer_commit
// CHECK: scf.yield %{{.*}}, %[[LATER]]
!view = !nv_tileaa.tiled_view<tile = [64, 128], memref<?x256xf16, strides = [256, 1]>, padding = zero>
!bytes = !nv_tileaa.tiled_view<tile = [128, 64], memref<?x256xi8, strides = [256, 1]>, padding = zero>
!scales = !nv_tileaa.tiled_view<tile = [128, 1], memref<?x4xf32, strides = [4, 1]>, padding = zero>
nv_tileaa.func @scaled(%p0: !nv_tileaa.ptr<f16>, %q0: !nv_tileaa.ptr<i8>, %r: !nv_tileaa.ptr<f32>, %n: i32, %x: i32) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f16>
  %q = nv_tileaa.assume #cuda_tile.div_by<8>, %q0 : !nv_tileaa.ptr<i8>
  %m = nv_tileaa.make_memref %p, shape = [%n : i32], strides = [] : <f16> -> <?x256xf16, strides = [256, 1]>
  %v = nv_tileaa.make_tiled_view %m : <?x256xf16, strides = [256, 1]> -> !view
  %m1 = nv_tileaa.make_memref %q, shape = [%n : i32], strides = [] : <i8> -> <?x256xi8, strides = [256, 1]>
  %w = nv_tileaa.make_tiled_view %m1 : <?x256xi8, strides = [256, 1]> -> !bytes
  %m2 = nv_tileaa.make_memref %r, shape = [%n : i32], strides = [] : <f32> -> <?x4xf32, strides = [4, 1]>
  %s = nv_tileaa.make_tiled_view %m2 : <?x4xf32, strides = [4, 1]> -> !scales
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  // One scale per row for the whole loop.
  %column, %t0 = nv_tileaa.tiled_load <weak> %s[%x, %c0] : !scales[i32, i32] -> tensor<128x1xf32>
  %all = nv_tileaa.broadcast %column : tensor<128x1xf32> -> tensor<128x64xf32>
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<128x128xf32>) : i32 {
    %narrow, %t1 = nv_tileaa.tiled_load <weak> %w[%x, %k] : !bytes[i32, i32] -> tensor<128x64xi8>
    %wide = arith.sitofp %narrow : tensor<128x64xi8> to tensor<128x64xf32>
    %scaled = arith.mulf %wide, %all : tensor<128x64xf32>
    %a = arith.truncf %scaled : tensor<128x64xf32> to tensor<128x64xf16>
    %b, %t2 = nv_tileaa.tiled_load <weak> %v[%k, %c0] : !view[i32, i32] -> tensor<64x128xf16>
    %d = nv_tileaa.dot %a, %b, %acc : tensor<128x64xf16>, tensor<64x128xf16>, tensor<128x128xf32>
    scf.yield %d : tensor<128x128xf32>
  }
  %o = nv_tileaa.make_memref %r, shape = [%n : i32], strides = [] : <f32> -> <?x128xf32, strides = [128, 1]>
  %u = nv_tileaa.make_tiled_view %o : <?x128xf32, strides = [128, 1]> -> <tile = [128, 128], memref<?x128xf32, strides = [128, 1]>>
  %t3 = nv_tileaa.tiled_store <weak> %sum, %u[%x, %c0] : tensor<128x128xf32>, <tile = [128, 128], memref<?x128xf32, strides = [128, 1]>>[i32, i32]
  nv_tileaa.return
}
