// RUN: tileiras-opt %s --pass-pipeline='builtin.module(convert-tileaa-to-tileas,tileas-assign-load-store-layouts{compute-capability=sm_90})' | FileCheck %s --check-prefixes=CHECK,NEW
// RUN: tileiras-opt %s --pass-pipeline='builtin.module(convert-tileaa-to-tileas,tileas-assign-load-store-layouts{compute-capability=sm_80})' | FileCheck %s --check-prefixes=CHECK,OLD
// RUN: not tileiras-opt %s --pass-pipeline='builtin.module(convert-tileaa-to-tileas,tileas-assign-load-store-layouts{compute-capability=sm_1})' 2>&1 | FileCheck %s --check-prefix=TARGET

// TARGET: error: unknown target 'sm_1'

// An update takes as many adjacent elements as an instruction of the target supports. If that is one, adjacent lanes
// have adjacent elements.

// CHECK-LABEL: nv_tileaa.func @f32(
// NEW: nv_tileas.tiled_atomic_rmw <addf> {{.*}} vector 4 bounds <none> in_bounds [true] : tensor<1024xf32, #nv_tileas.layout<register = [1, 2, 512], lane = [4, 8, 16, 32, 64], warp = [128, 256]>>
// OLD: nv_tileas.tiled_atomic_rmw <addf> {{.*}} vector 1 bounds <none> in_bounds [true] : tensor<1024xf32, #nv_tileas.layout<register = [128, 256, 512], lane = [1, 2, 4, 8, 16], warp = [32, 64]>>
nv_tileaa.func @f32(%p: !nv_tileaa.ptr<f32>, %i: i32, %x: f32) {
  %a = nv_tileaa.assume #cuda_tile.div_by<16>, %p : !nv_tileaa.ptr<f32>
  %m = nv_tileaa.make_memref %a, shape = [], strides = [] : <f32> -> <4096xf32, strides = [1]>
  %v = nv_tileaa.make_tiled_view %m : <4096xf32, strides = [1]> -> <tile = [1024], memref<4096xf32, strides = [1]>>
  %s = nv_tileaa.splat %x : f32 -> tensor<1024xf32>
  %t = nv_tileaa.tiled_atomic_rmw <addf> <relaxed> <device> %s, %v[%i] : tensor<1024xf32>, <tile = [1024], memref<4096xf32, strides = [1]>>[i32]
  nv_tileaa.return
}
// Pairs of 16-bit elements are one word on all targets. If a vector can cross a bound, elements are checked one by
// one.
// CHECK-LABEL: nv_tileaa.func @f16(
// NEW: nv_tileas.tiled_atomic_rmw <addf> {{.*}} vector 8 bounds <split> in_bounds [false]
// OLD: nv_tileas.tiled_atomic_rmw <addf> {{.*}} vector 2 bounds <split> in_bounds [false]
nv_tileaa.func @f16(%p: !nv_tileaa.ptr<f16>, %n: i32, %i: i32, %x: f16) {
  %a = nv_tileaa.assume #cuda_tile.div_by<16>, %p : !nv_tileaa.ptr<f16>
  %m = nv_tileaa.make_memref %a, shape = [%n : i32], strides = [] : <f16> -> <?xf16, strides = [1]>
  %v = nv_tileaa.make_tiled_view %m : <?xf16, strides = [1]> -> <tile = [1024], memref<?xf16, strides = [1]>>
  %s = nv_tileaa.splat %x : f16 -> tensor<1024xf16>
  %t = nv_tileaa.tiled_atomic_rmw <addf> <relaxed> <device> %s, %v[%i] : tensor<1024xf16>, <tile = [1024], memref<?xf16, strides = [1]>>[i32]
  nv_tileaa.return
}
// Integers are updated one by one, and checked one by one without a split.
// CHECK-LABEL: nv_tileaa.func @i32(
// CHECK: nv_tileas.tiled_atomic_rmw <umax> {{.*}} vector 1 bounds <vector> in_bounds [false]
nv_tileaa.func @i32(%p: !nv_tileaa.ptr<i32>, %n: i32, %i: i32, %x: i32) {
  %a = nv_tileaa.assume #cuda_tile.div_by<16>, %p : !nv_tileaa.ptr<i32>
  %m = nv_tileaa.make_memref %a, shape = [%n : i32], strides = [] : <i32> -> <?xi32, strides = [1]>
  %v = nv_tileaa.make_tiled_view %m : <?xi32, strides = [1]> -> <tile = [1024], memref<?xi32, strides = [1]>>
  %s = nv_tileaa.splat %x : i32 -> tensor<1024xi32>
  %t = nv_tileaa.tiled_atomic_rmw <umax> <relaxed> <device> %s, %v[%i] : tensor<1024xi32>, <tile = [1024], memref<?xi32, strides = [1]>>[i32]
  nv_tileaa.return
}
// CHECK-LABEL: nv_tileaa.func @pointers(
// NEW: nv_tileas.atomic_rmw <addf> {{.*}} vector 4 :
// OLD: nv_tileas.atomic_rmw <addf> {{.*}} vector 1 :
// CHECK: nv_tileas.atomic_cas <relaxed> <device> %{{[^:]*}} : tensor<1024x!nv_tileaa.ptr<f32>, #nv_tileas.layout<register = [128, 256, 512], lane = [1, 2, 4, 8, 16], warp = [32, 64]>>
nv_tileaa.func @pointers(%p: !nv_tileaa.ptr<f32>, %x: f32) {
  %a = nv_tileaa.assume #cuda_tile.div_by<16>, %p : !nv_tileaa.ptr<f32>
  %b = nv_tileaa.splat %a : !nv_tileaa.ptr<f32> -> tensor<1024x!nv_tileaa.ptr<f32>>
  %r = nv_tileaa.make_range : tensor<1024xi32>
  %q = nv_tileaa.addptr %b, %r : tensor<1024x!nv_tileaa.ptr<f32>>, tensor<1024xi32>
  %s = nv_tileaa.splat %x : f32 -> tensor<1024xf32>
  %o, %t = nv_tileaa.atomic_rmw <addf> <relaxed> <device> %q, %s : tensor<1024x!nv_tileaa.ptr<f32>>, tensor<1024xf32>
  %c, %t1 = nv_tileaa.atomic_cas <relaxed> <device> %q, %s, %s : tensor<1024x!nv_tileaa.ptr<f32>>, tensor<1024xf32>
  nv_tileaa.return
}
// Rows can be anywhere, but vectors within a row are wide. The index of the rows has the layout of the tile.
// CHECK-LABEL: nv_tileaa.func @rows(
// CHECK: nv_tileas.tiled_load <weak> {{.*}} vector 8 bounds <vector> in_bounds [false, false] : {{.*}}[tensor<16xi32, #nv_tileas.layout<register = [0, 0, 0], lane = [0, 0, 0, 1, 2], warp = [4, 8]>>, i32] -> tensor<16x64xf16, #nv_tileas.layout<register = [1, 2, 4], lane = [8, 16, 32, 64, 128], warp = [256, 512]>>
nv_tileaa.func @rows(%p: !nv_tileaa.ptr<f16>, %i: i32) {
  %a = nv_tileaa.assume #cuda_tile.div_by<16>, %p : !nv_tileaa.ptr<f16>
  %j = nv_tileaa.assume #cuda_tile.div_by<8>, %i : i32
  %m = nv_tileaa.make_memref %a, shape = [], strides = [] : <f16> -> <64x112xf16, strides = [112, 1]>
  %v = nv_tileaa.make_tiled_view %m : <64x112xf16, strides = [112, 1]> -> <tile = [16, 64], memref<64x112xf16, strides = [112, 1]>, steps = [1, 1], sparse_dim = 0>
  %r = nv_tileaa.make_range : tensor<16xi32>
  %x, %t = nv_tileaa.tiled_load <weak> %v[%r, %j] : <tile = [16, 64], memref<64x112xf16, strides = [112, 1]>, steps = [1, 1], sparse_dim = 0>[tensor<16xi32>, i32] -> tensor<16x64xf16>
  nv_tileaa.return
}
// Elements are not adjacent along a sparse dimension.
// CHECK-LABEL: nv_tileaa.func @columns(
// CHECK: nv_tileas.tiled_load <weak> {{.*}} vector 1 bounds <vector> in_bounds [false, false]
nv_tileaa.func @columns(%p: !nv_tileaa.ptr<f16>, %i: i32) {
  %a = nv_tileaa.assume #cuda_tile.div_by<16>, %p : !nv_tileaa.ptr<f16>
  %m = nv_tileaa.make_memref %a, shape = [], strides = [] : <f16> -> <64x112xf16, strides = [112, 1]>
  %v = nv_tileaa.make_tiled_view %m : <64x112xf16, strides = [112, 1]> -> <tile = [16, 64], memref<64x112xf16, strides = [112, 1]>, steps = [1, 1], sparse_dim = 1>
  %r = nv_tileaa.make_range : tensor<64xi32>
  %x, %t = nv_tileaa.tiled_load <weak> %v[%i, %r] : <tile = [16, 64], memref<64x112xf16, strides = [112, 1]>, steps = [1, 1], sparse_dim = 1>[i32, tensor<64xi32>] -> tensor<16x64xf16>
  nv_tileaa.return
}
