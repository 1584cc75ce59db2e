// RUN: tileiras-opt %s --pass-pipeline='builtin.module(convert-tileaa-to-tileas,tileas-assign-load-store-layouts)' | FileCheck %s

// What assumptions mean for accesses, and when they are ignored.

// An assumption on a kernel parameter is used.
// CHECK-LABEL: nv_tileaa.func @argument(
// CHECK: tiled_load {{.*}} vector 4 bounds
nv_tileaa.func @argument(%p0: !nv_tileaa.ptr<f32>, %n: i32, %s0: i32, %i: i32) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f32>
  %s = nv_tileaa.assume #cuda_tile.div_by<4>, %s0 : i32
  %m = nv_tileaa.make_memref %p, shape = [%n : i32], strides = [%s : i32] : <f32> -> <?x1024xf32, strides = [?, 1]>
  %v = nv_tileaa.make_tiled_view %m : <?x1024xf32, strides = [?, 1]> -> <tile = [2, 1024], memref<?x1024xf32, strides = [?, 1]>>
  %x, %t1 = nv_tileaa.tiled_load <weak> %v[%i, %i] : <tile = [2, 1024], memref<?x1024xf32, strides = [?, 1]>>[i32, i32] -> tensor<2x1024xf32>
  nv_tileaa.return
}
// A false assumption on a constant is ignored.
// CHECK-LABEL: nv_tileaa.func @constant(
// CHECK: tiled_load {{.*}} vector 1 bounds
nv_tileaa.func @constant(%p0: !nv_tileaa.ptr<f32>, %n: i32, %i: i32) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f32>
  %c = arith.constant 1025 : i32
  %c0 = nv_tileaa.assume #cuda_tile.bounded<0, ?>, %c : i32
  %s = nv_tileaa.assume #cuda_tile.div_by<4>, %c0 : i32
  %m = nv_tileaa.make_memref %p, shape = [%n : i32], strides = [%s : i32] : <f32> -> <?x1024xf32, strides = [?, 1]>
  %v = nv_tileaa.make_tiled_view %m : <?x1024xf32, strides = [?, 1]> -> <tile = [2, 1024], memref<?x1024xf32, strides = [?, 1]>>
  %x, %t1 = nv_tileaa.tiled_load <weak> %v[%i, %i] : <tile = [2, 1024], memref<?x1024xf32, strides = [?, 1]>>[i32, i32] -> tensor<2x1024xf32>
  nv_tileaa.return
}
// Pointers at constant offsets: 4 is a multiple of 4, but 4 and 5 are not both.
// CHECK-LABEL: nv_tileaa.func @offsets(
// CHECK: nv_tileas.load {{.*}} vector 4
// CHECK: nv_tileas.load {{.*}} vector 1
nv_tileaa.func @offsets(%p0: !nv_tileaa.ptr<f32>) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f32>
  %ps = nv_tileaa.splat %p : !nv_tileaa.ptr<f32> -> tensor<8x!nv_tileaa.ptr<f32>>
  %right = arith.constant dense<[8, 9, 10, 11, 4, 5, 6, 7]> : tensor<8xi32>
  %wrong = arith.constant dense<[8, 9, 10, 11, 5, 6, 7, 8]> : tensor<8xi32>
  %a = nv_tileaa.assume #cuda_tile.div_by<4, every 4 along 0>, %right : tensor<8xi32>
  %b = nv_tileaa.assume #cuda_tile.div_by<4, every 4 along 0>, %wrong : tensor<8xi32>
  %pa = nv_tileaa.addptr %ps, %a : tensor<8x!nv_tileaa.ptr<f32>>, tensor<8xi32>
  %pb = nv_tileaa.addptr %ps, %b : tensor<8x!nv_tileaa.ptr<f32>>, tensor<8xi32>
  %x, %t1 = nv_tileaa.load <weak> %pa : tensor<8x!nv_tileaa.ptr<f32>> -> tensor<8xf32>
  %y, %t2 = nv_tileaa.load <weak> %pb : tensor<8x!nv_tileaa.ptr<f32>> -> tensor<8xf32>
  nv_tileaa.return
}
