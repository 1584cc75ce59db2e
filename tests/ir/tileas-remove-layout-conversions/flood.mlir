// RUN: tileiras-opt %s --pass-pipeline='builtin.module(convert-tileaa-to-tileas,tileas-assign-load-store-layouts,tileas-remove-layout-conversions)' | FileCheck %s

// The layout of the widest access is propagated forward and backward through the program, and no conversion is left.
// CHECK-LABEL: nv_tileaa.func @elementwise(
// CHECK-NOT: convert_layout
// CHECK: %[[X:.*]], %{{.*}} = nv_tileas.tiled_load {{.*}} vector 8 {{.*}} -> tensor<1024xf16, [[L:#nv_tileas.layout<register = .1, 2, 4., lane = .8, 16, 32, 64, 128., warp = .256, 512.>]]>
// CHECK: %[[C:.*]] = arith.constant dense<1.000000e+00> : tensor<1024xf16, [[L]]>
// CHECK: %[[Y:.*]] = arith.addf %[[X]], %[[C]] : tensor<1024xf16, [[L]]>
// CHECK: nv_tileas.tiled_store <weak> %[[Y]], {{.*}} vector 8
nv_tileaa.func @elementwise(%p0: !nv_tileaa.ptr<f16>, %i: i32) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f16>
  %m = nv_tileaa.make_memref %p, shape = [], strides = [] : <f16> -> <4096xf16, strides = [1]>
  %v = nv_tileaa.make_tiled_view %m : <4096xf16, strides = [1]> -> <tile = [1024], memref<4096xf16, strides = [1]>>
  %x, %t1 = nv_tileaa.tiled_load <weak> %v[%i] : <tile = [1024], memref<4096xf16, strides = [1]>>[i32] -> tensor<1024xf16>
  %one = arith.constant dense<1.0> : tensor<1024xf16>
  %y = arith.addf %x, %one : tensor<1024xf16>
  %t2 = nv_tileaa.tiled_store <weak> %y, %v[%i] : tensor<1024xf16>, <tile = [1024], memref<4096xf16, strides = [1]>>[i32]
  nv_tileaa.return
}
// Through addresses and masks to the range that both are computed from.
// CHECK-LABEL: nv_tileaa.func @range(
// CHECK-NOT: convert_layout
// CHECK: nv_tileas.make_range : tensor<1024xi32, [[L:#nv_tileas.layout<register = .128, 256, 512., .*>]]>
// CHECK: nv_tileas.load {{.*}} vector 1 : tensor<1024x!nv_tileaa.ptr<f32>, [[L]]>
// CHECK: nv_tileas.store {{.*}} vector 1 : tensor<1024x!nv_tileaa.ptr<f32>, [[L]]>
nv_tileaa.func @range(%p0: !nv_tileaa.ptr<f32>, %n: i32) {
  %r = nv_tileaa.make_range : tensor<1024xi32>
  %l = nv_tileaa.splat %n : i32 -> tensor<1024xi32>
  %k = arith.cmpi slt, %r, %l : tensor<1024xi32>
  %b = nv_tileaa.splat %p0 : !nv_tileaa.ptr<f32> -> tensor<1024x!nv_tileaa.ptr<f32>>
  %a = nv_tileaa.addptr %b, %r : tensor<1024x!nv_tileaa.ptr<f32>>, tensor<1024xi32>
  %x, %t1 = nv_tileaa.load <weak> %a mask %k : tensor<1024xi1> : tensor<1024x!nv_tileaa.ptr<f32>> -> tensor<1024xf32>
  %t2 = nv_tileaa.store <weak> %a, %x mask %k : tensor<1024xi1> : tensor<1024x!nv_tileaa.ptr<f32>>, tensor<1024xf32>
  nv_tileaa.return
}
// Through a change of shape.
// CHECK-LABEL: nv_tileaa.func @through_shapes(
// CHECK-NOT: convert_layout
// CHECK: nv_tileas.view %{{.*}} : tensor<32x64xf16, [[L:#nv_tileas.layout<register = .1, 2, 4, 1024., .*>]]> -> tensor<2048xf16, [[L]]>
// CHECK: nv_tileas.tiled_store {{.*}} vector 8
nv_tileaa.func @through_shapes(%p0: !nv_tileaa.ptr<f16>, %i: i32, %j: i32) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f16>
  %m = nv_tileaa.make_memref %p, shape = [], strides = [] : <f16> -> <64x64xf16, strides = [64, 1]>
  %v = nv_tileaa.make_tiled_view %m : <64x64xf16, strides = [64, 1]> -> <tile = [32, 64], memref<64x64xf16, strides = [64, 1]>>
  %x, %t1 = nv_tileaa.tiled_load <weak> %v[%i, %j] : <tile = [32, 64], memref<64x64xf16, strides = [64, 1]>>[i32, i32] -> tensor<32x64xf16>
  %w = nv_tileaa.view %x : tensor<32x64xf16> -> tensor<2048xf16>
  %y = arith.negf %w : tensor<2048xf16>
  %n = nv_tileaa.make_memref %p, shape = [], strides = [] : <f16> -> <4096xf16, strides = [1]>
  %u = nv_tileaa.make_tiled_view %n : <4096xf16, strides = [1]> -> <tile = [2048], memref<4096xf16, strides = [1]>>
  %t2 = nv_tileaa.tiled_store <weak> %y, %u[%i] : tensor<2048xf16>, <tile = [2048], memref<4096xf16, strides = [1]>>[i32]
  nv_tileaa.return
}
