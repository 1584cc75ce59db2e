// RUN: tileiras-opt %s --pass-pipeline='builtin.module(convert-tileaa-to-tileas,tileas-assign-load-store-layouts{compute-capability=sm_90},tileas-remove-layout-conversions)' | FileCheck %s

// An update takes the layout of its operand: nothing is converted, and vectors are as wide as the layout and the
// target allow.
// CHECK-LABEL: nv_tileaa.func @update(
// CHECK: nv_tileas.tiled_load {{.*}} vector 4 {{.*}} -> tensor<1024xf32, #nv_tileas.layout<register = [1, 2, 512], lane = [4, 8, 16, 32, 64], warp = [128, 256]>>
// CHECK-NOT: convert_layout
// CHECK: nv_tileas.tiled_atomic_rmw {{.*}} vector 4 bounds <none>
nv_tileaa.func @update(%p: !nv_tileaa.ptr<f32>, %i: i32) {
  %a = nv_tileaa.assume #cuda_tile.div_by<16>, %p : !nv_tileaa.ptr<f32>
  %m = nv_tileaa.make_memref %a, shape = [], strides = [] : <f32> -> <4096xf32, strides = [1]>
  %v = nv_tileaa.make_tiled_view %m : <4096xf32, strides = [1]> -> <tile = [1024], memref<4096xf32, strides = [1]>>
  %x, %t = nv_tileaa.tiled_load <weak> %v[%i] : <tile = [1024], memref<4096xf32, strides = [1]>>[i32] -> tensor<1024xf32>
  %t1 = nv_tileaa.tiled_atomic_rmw <addf> <relaxed> <device> %x, %v[%i] token %t : tensor<1024xf32>, <tile = [1024], memref<4096xf32, strides = [1]>>[i32]
  nv_tileaa.return
}
// Old values keep the layout of the update through their distribution.
// CHECK-LABEL: nv_tileaa.func @old(
// CHECK-NOT: convert_layout
// CHECK: %[[O:.*]], %{{.*}} = nv_tileas.atomic_rmw <add> {{.*}} vector 1 :
// CHECK: %[[R:.*]] = nv_tileas.replicate %[[O]]
// CHECK: nv_tileas.store <weak> %{{.*}}, %[[R]]
// CHECK-NOT: convert_layout
// CHECK: nv_tileaa.return
nv_tileaa.func @old(%p: !nv_tileaa.ptr<i32>, %q: !nv_tileaa.ptr<i32>, %x: i32) {
  %b = nv_tileaa.splat %p : !nv_tileaa.ptr<i32> -> tensor<64x!nv_tileaa.ptr<i32>>
  %c = nv_tileaa.splat %q : !nv_tileaa.ptr<i32> -> tensor<64x!nv_tileaa.ptr<i32>>
  %r = nv_tileaa.make_range : tensor<64xi32>
  %pp = nv_tileaa.addptr %b, %r : tensor<64x!nv_tileaa.ptr<i32>>, tensor<64xi32>
  %qq = nv_tileaa.addptr %c, %r : tensor<64x!nv_tileaa.ptr<i32>>, tensor<64xi32>
  %s = nv_tileaa.splat %x : i32 -> tensor<64xi32>
  %o, %t = nv_tileaa.atomic_rmw <add> <relaxed> <device> %pp, %s : tensor<64x!nv_tileaa.ptr<i32>>, tensor<64xi32>
  %t1 = nv_tileaa.store <weak> %qq, %o : tensor<64x!nv_tileaa.ptr<i32>>, tensor<64xi32>
  nv_tileaa.return
}
// A tile that is loaded by rows and stored as a whole keeps its layout. The row indices take it too, and are
// recomputed if that is cheap.
// CHECK-LABEL: nv_tileaa.func @rows(
// CHECK: %[[R:.*]] = nv_tileas.make_range : tensor<16xi32, #nv_tileas.layout<register = [0, 0, 0], lane = [0, 0, 0, 1, 2], warp = [4, 8]>>
// CHECK-NOT: convert_layout
// CHECK: %[[X:.*]], %{{.*}} = nv_tileas.tiled_load {{.*}}[%[[R]], %{{.*}}] {{.*}} -> tensor<16x64xf16, #nv_tileas.layout<register = [1, 2, 4], lane = [8, 16, 32, 64, 128], warp = [256, 512]>>
// CHECK-NOT: convert_layout
// CHECK: nv_tileas.tiled_store <weak> %[[X]],
nv_tileaa.func @rows(%p: !nv_tileaa.ptr<f16>, %i: i32) {
  %a = nv_tileaa.assume #cuda_tile.div_by<16>, %p : !nv_tileaa.ptr<f16>
  %j = nv_tileaa.assume #cuda_tile.div_by<8>, %i : i32
  %m = nv_tileaa.make_memref %a, shape = [], strides = [] : <f16> -> <64x128xf16, strides = [128, 1]>
  %v = nv_tileaa.make_tiled_view %m : <64x128xf16, strides = [128, 1]> -> <tile = [16, 64], memref<64x128xf16, strides = [128, 1]>, steps = [1, 1], sparse_dim = 0>
  %w = nv_tileaa.make_tiled_view %m : <64x128xf16, strides = [128, 1]> -> <tile = [16, 64], memref<64x128xf16, strides = [128, 1]>>
  %r = nv_tileaa.make_range : tensor<16xi32>
  %x, %t = nv_tileaa.tiled_load <weak> %v[%r, %j] : <tile = [16, 64], memref<64x128xf16, strides = [128, 1]>, steps = [1, 1], sparse_dim = 0>[tensor<16xi32>, i32] -> tensor<16x64xf16>
  %t1 = nv_tileaa.tiled_store <weak> %x, %w[%i, %i] token %t : tensor<16x64xf16>, <tile = [16, 64], memref<64x128xf16, strides = [128, 1]>>[i32, i32]
  nv_tileaa.return
}
// Row indices are loaded in the layout of the rows: replicas cost no extra sectors.
// CHECK-LABEL: nv_tileaa.func @scatter(
// CHECK: %[[I:.*]], %{{.*}} = nv_tileas.load {{.*}} -> tensor<16xi32, #nv_tileas.layout<register = [0, 0, 0], lane = [0, 0, 0, 1, 2], warp = [4, 8]>>
// CHECK-NOT: convert_layout
// CHECK: nv_tileas.tiled_store <weak> %{{.*}}, %{{.*}}[%[[I]], %{{.*}}]
nv_tileaa.func @scatter(%p: !nv_tileaa.ptr<f16>, %q: !nv_tileaa.ptr<i32>, %i: i32, %x: f16) {
  %a = nv_tileaa.assume #cuda_tile.div_by<16>, %p : !nv_tileaa.ptr<f16>
  %j = nv_tileaa.assume #cuda_tile.div_by<8>, %i : i32
  %m = nv_tileaa.make_memref %a, shape = [], strides = [] : <f16> -> <64x128xf16, strides = [128, 1]>
  %v = nv_tileaa.make_tiled_view %m : <64x128xf16, strides = [128, 1]> -> <tile = [16, 64], memref<64x128xf16, strides = [128, 1]>, steps = [1, 1], sparse_dim = 0>
  %b = nv_tileaa.splat %q : !nv_tileaa.ptr<i32> -> tensor<16x!nv_tileaa.ptr<i32>>
  %r = nv_tileaa.make_range : tensor<16xi32>
  %qq = nv_tileaa.addptr %b, %r : tensor<16x!nv_tileaa.ptr<i32>>, tensor<16xi32>
  %n, %t = nv_tileaa.load <weak> %qq : tensor<16x!nv_tileaa.ptr<i32>> -> tensor<16xi32>
  %s = nv_tileaa.splat %x : f16 -> tensor<16x64xf16>
  %t1 = nv_tileaa.tiled_store <weak> %s, %v[%n, %j] : tensor<16x64xf16>, <tile = [16, 64], memref<64x128xf16, strides = [128, 1]>, steps = [1, 1], sparse_dim = 0>[tensor<16xi32>, i32]
  nv_tileaa.return
}
