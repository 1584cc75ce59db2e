// RUN: tileiras-opt %s --pass-pipeline='builtin.module(convert-tileaa-to-tileas,tileas-assign-load-store-layouts)' | FileCheck %s

// Vector width, bounds and layout of view accesses, with four warps.

// A static extent that is a multiple of the tile, and an aligned base: 16 bytes at once, without a check.
// CHECK-LABEL: nv_tileaa.func @whole(
// CHECK: tiled_load {{.*}} vector 4 bounds <none> in_bounds [true] : {{.*}} -> tensor<1024xf32, #nv_tileas.layout<register = [1, 2, 512], lane = [4, 8, 16, 32, 64], warp = [128, 256]>>
nv_tileaa.func @whole(%p0: !nv_tileaa.ptr<f32>, %i: i32) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f32>
  %m = nv_tileaa.make_memref %p, shape = [], strides = [] : <f32> -> <4096xf32, strides = [1]>
  %v = nv_tileaa.make_tiled_view %m : <4096xf32, strides = [1]> -> <tile = [1024], memref<4096xf32, strides = [1]>>
  %x, %t1 = nv_tileaa.tiled_load <weak> %v[%i] : <tile = [1024], memref<4096xf32, strides = [1]>>[i32] -> tensor<1024xf32>
  nv_tileaa.return
}
// An extent that is a multiple of the vector: a vector is entirely in bounds or entirely out of bounds.
// CHECK-LABEL: nv_tileaa.func @div16(
// CHECK: tiled_load {{.*}} vector 4 bounds <vector> in_bounds [false] :
nv_tileaa.func @div16(%p0: !nv_tileaa.ptr<f32>, %n0: i32, %i: i32) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f32>
  %n = nv_tileaa.assume #cuda_tile.div_by<16>, %n0 : i32
  %m = nv_tileaa.make_memref %p, shape = [%n : i32], strides = [] : <f32> -> <?xf32, strides = [1]>
  %v = nv_tileaa.make_tiled_view %m : <?xf32, strides = [1]> -> <tile = [1024], memref<?xf32, strides = [1]>>
  %x, %t1 = nv_tileaa.tiled_load <weak> %v[%i] : <tile = [1024], memref<?xf32, strides = [1]>>[i32] -> tensor<1024xf32>
  nv_tileaa.return
}
// Any extent: whole tiles use vectors, and the last one uses single elements.
// CHECK-LABEL: nv_tileaa.func @ragged(
// CHECK: tiled_load {{.*}} vector 4 bounds <split> in_bounds [false] :
nv_tileaa.func @ragged(%p0: !nv_tileaa.ptr<f32>, %n: i32, %i: i32) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f32>
  %m = nv_tileaa.make_memref %p, shape = [%n : i32], strides = [] : <f32> -> <?xf32, strides = [1]>
  %v = nv_tileaa.make_tiled_view %m : <?xf32, strides = [1]> -> <tile = [1024], memref<?xf32, strides = [1]>>
  %x, %t1 = nv_tileaa.tiled_load <weak> %v[%i] : <tile = [1024], memref<?xf32, strides = [1]>>[i32] -> tensor<1024xf32>
  nv_tileaa.return
}
// An unaligned base: adjacent lanes have single adjacent elements, and an exact check for each.
// CHECK-LABEL: nv_tileaa.func @unaligned(
// CHECK: tiled_load {{.*}} vector 1 bounds <vector> in_bounds [false] : {{.*}} -> tensor<1024xf32, #nv_tileas.layout<register = [128, 256, 512], lane = [1, 2, 4, 8, 16], warp = [32, 64]>>
// CHECK: nv_tileas.convert_layout
nv_tileaa.func @unaligned(%p: !nv_tileaa.ptr<f32>, %n: i32, %i: i32) {
  %m = nv_tileaa.make_memref %p, shape = [%n : i32], strides = [] : <f32> -> <?xf32, strides = [1]>
  %v = nv_tileaa.make_tiled_view %m : <?xf32, strides = [1]> -> <tile = [1024], memref<?xf32, strides = [1]>>
  %x, %t1 = nv_tileaa.tiled_load <weak> %v[%i] : <tile = [1024], memref<?xf32, strides = [1]>>[i32] -> tensor<1024xf32>
  nv_tileaa.return
}
// Without a unit stride there are no vectors.
// CHECK-LABEL: nv_tileaa.func @strided(
// CHECK: tiled_load {{.*}} vector 1 bounds <vector> in_bounds [false] :
nv_tileaa.func @strided(%p0: !nv_tileaa.ptr<f32>, %n: i32, %s: i32, %i: i32) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f32>
  %m = nv_tileaa.make_memref %p, shape = [%n : i32], strides = [%s : i32] : <f32> -> <?xf32, strides = [?]>
  %v = nv_tileaa.make_tiled_view %m : <?xf32, strides = [?]> -> <tile = [1024], memref<?xf32, strides = [?]>>
  %x, %t1 = nv_tileaa.tiled_load <weak> %v[%i] : <tile = [1024], memref<?xf32, strides = [?]>>[i32] -> tensor<1024xf32>
  nv_tileaa.return
}
// Rows start at multiples of two elements: vectors of two.
// CHECK-LABEL: nv_tileaa.func @odd_rows(
// CHECK: tiled_load {{.*}} vector 2 bounds <none> in_bounds [true, true] : {{.*}} -> tensor<32x64xf32, #nv_tileas.layout<register = [1, 32, 512, 1024], lane = [2, 4, 8, 16, 64], warp = [128, 256]>>
nv_tileaa.func @odd_rows(%p0: !nv_tileaa.ptr<f32>, %s0: i32, %i: i32, %j: i32) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f32>
  %s = nv_tileaa.assume #cuda_tile.div_by<2>, %s0 : i32
  %m = nv_tileaa.make_memref %p, shape = [], strides = [%s : i32] : <f32> -> <128x64xf32, strides = [?, 1]>
  %v = nv_tileaa.make_tiled_view %m : <128x64xf32, strides = [?, 1]> -> <tile = [32, 64], memref<128x64xf32, strides = [?, 1]>>
  %x, %t1 = nv_tileaa.tiled_load <weak> %v[%i, %j] : <tile = [32, 64], memref<128x64xf32, strides = [?, 1]>>[i32, i32] -> tensor<32x64xf32>
  nv_tileaa.return
}
// The first dimension of the tile is contiguous in memory: vectors are along it, and basis 64 is one step.
// CHECK-LABEL: nv_tileaa.func @dim_map(
// CHECK: tiled_load {{.*}} vector 8 bounds <none> in_bounds [true, true] : {{.*}} -> tensor<32x64xf16, #nv_tileas.layout<register = [64, 128, 256, 32], lane = [512, 1024, 1, 2, 4], warp = [8, 16]>>
nv_tileaa.func @dim_map(%p0: !nv_tileaa.ptr<f16>, %i: i32, %j: i32) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f16>
  %m = nv_tileaa.make_memref %p, shape = [], strides = [] : <f16> -> <128x64xf16, strides = [64, 1]>
  %v = nv_tileaa.make_tiled_view %m : <128x64xf16, strides = [64, 1]> -> <tile = [32, 64], memref<128x64xf16, strides = [64, 1]>, dim_map = [1, 0]>
  %x, %t1 = nv_tileaa.tiled_load <weak> %v[%i, %j] : <tile = [32, 64], memref<128x64xf16, strides = [64, 1]>, dim_map = [1, 0]>[i32, i32] -> tensor<32x64xf16>
  nv_tileaa.return
}
// Tiles start every two elements: starts are even, and the last tiles cross the edge.
// CHECK-LABEL: nv_tileaa.func @overlapping(
// CHECK: tiled_load {{.*}} vector 2 bounds <vector> in_bounds [false] :
nv_tileaa.func @overlapping(%p0: !nv_tileaa.ptr<f32>, %i: i32) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f32>
  %m = nv_tileaa.make_memref %p, shape = [], strides = [] : <f32> -> <4096xf32, strides = [1]>
  %v = nv_tileaa.make_tiled_view %m : <4096xf32, strides = [1]> -> <tile = [1024], memref<4096xf32, strides = [1]>, steps = [2]>
  %x, %t1 = nv_tileaa.tiled_load <weak> %v[%i] : <tile = [1024], memref<4096xf32, strides = [1]>, steps = [2]>[i32] -> tensor<1024xf32>
  nv_tileaa.return
}
// Rows may end early, but columns do not: each vector along columns needs one check.
// CHECK-LABEL: nv_tileaa.func @one_ragged_dimension(
// CHECK: tiled_load {{.*}} vector 4 bounds <vector> in_bounds [false, true] :
// CHECK: tiled_store {{.*}} vector 4 bounds <vector> in_bounds [false, true] :
nv_tileaa.func @one_ragged_dimension(%p0: !nv_tileaa.ptr<f32>, %n: i32, %i: i32, %j: i32) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f32>
  %m = nv_tileaa.make_memref %p, shape = [%n : i32], strides = [] : <f32> -> <?x64xf32, strides = [64, 1]>
  %v = nv_tileaa.make_tiled_view %m : <?x64xf32, strides = [64, 1]> -> <tile = [32, 64], memref<?x64xf32, strides = [64, 1]>>
  %x, %t1 = nv_tileaa.tiled_load <weak> %v[%i, %j] : <tile = [32, 64], memref<?x64xf32, strides = [64, 1]>>[i32, i32] -> tensor<32x64xf32>
  %t2 = nv_tileaa.tiled_store <weak> %x, %v[%i, %j] : tensor<32x64xf32>, <tile = [32, 64], memref<?x64xf32, strides = [64, 1]>>[i32, i32]
  nv_tileaa.return
}
// The stride of a dimension with one element is ignored.
// CHECK-LABEL: nv_tileaa.func @one_row(
// CHECK: tiled_load {{.*}} vector 4 bounds
nv_tileaa.func @one_row(%p0: !nv_tileaa.ptr<f32>, %s: i32, %i: i32) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f32>
  %m = nv_tileaa.make_memref %p, shape = [], strides = [%s : i32] : <f32> -> <1x1024xf32, strides = [?, 1]>
  %v = nv_tileaa.make_tiled_view %m : <1x1024xf32, strides = [?, 1]> -> <tile = [1, 1024], memref<1x1024xf32, strides = [?, 1]>>
  %x, %t1 = nv_tileaa.tiled_load <weak> %v[%i, %i] : <tile = [1, 1024], memref<1x1024xf32, strides = [?, 1]>>[i32, i32] -> tensor<1x1024xf32>
  nv_tileaa.return
}
