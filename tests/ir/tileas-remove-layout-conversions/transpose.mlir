// RUN: tileiras-opt %s --pass-pipeline='builtin.module(convert-tileaa-to-tileas,tileas-assign-load-store-layouts,tileas-remove-layout-conversions)' | FileCheck %s
// Loads along rows and stores along columns prefer different layouts. A store takes its value without a conversion if
// it accesses at most twice as many sectors as with its own layout.

// Words of four bytes in vectors of four: half of each sector is wasted, but no conversion is needed.
// CHECK-LABEL: nv_tileaa.func @words(
// CHECK-NOT: convert_layout
// CHECK: nv_tileas.tiled_store {{.*}} vector 1
nv_tileaa.func @words(%p0: !nv_tileaa.ptr<f32>, %q0: !nv_tileaa.ptr<f32>, %i: i32, %j: i32) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f32>
  %q = nv_tileaa.assume #cuda_tile.div_by<16>, %q0 : !nv_tileaa.ptr<f32>
  %m = nv_tileaa.make_memref %p, shape = [], strides = [] : <f32> -> <128x128xf32, strides = [128, 1]>
  %n = nv_tileaa.make_memref %q, shape = [], strides = [] : <f32> -> <128x128xf32, strides = [128, 1]>
  %v = nv_tileaa.make_tiled_view %m : <128x128xf32, strides = [128, 1]> -> <tile = [32, 64], memref<128x128xf32, strides = [128, 1]>>
  %u = nv_tileaa.make_tiled_view %n : <128x128xf32, strides = [128, 1]> -> <tile = [64, 32], memref<128x128xf32, strides = [128, 1]>>
  %x, %t1 = nv_tileaa.tiled_load <weak> %v[%i, %j] : <tile = [32, 64], memref<128x128xf32, strides = [128, 1]>>[i32, i32] -> tensor<32x64xf32>
  %y = nv_tileaa.permute %x [1, 0] : tensor<32x64xf32> -> tensor<64x32xf32>
  %z = arith.negf %y : tensor<64x32xf32>
  %t2 = nv_tileaa.tiled_store <weak> %z, %u[%j, %i] : tensor<64x32xf32>, <tile = [64, 32], memref<128x128xf32, strides = [128, 1]>>[i32, i32]
  nv_tileaa.return
}
// Here it would be worse, so one conversion stays, before the store.
// CHECK-LABEL: nv_tileaa.func @halves(
// CHECK-NOT: convert_layout
// CHECK: %[[X:.*]], %{{.*}} = nv_tileas.tiled_load {{.*}} vector 8
// CHECK: nv_tileas.permute %[[X]] [1, 0]
// CHECK-COUNT-1: nv_tileas.convert_layout
// CHECK-NOT: convert_layout
// CHECK: nv_tileas.tiled_store {{.*}} vector 8
nv_tileaa.func @halves(%p0: !nv_tileaa.ptr<f16>, %q0: !nv_tileaa.ptr<f16>, %i: i32, %j: i32) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f16>
  %q = nv_tileaa.assume #cuda_tile.div_by<16>, %q0 : !nv_tileaa.ptr<f16>
  %m = nv_tileaa.make_memref %p, shape = [], strides = [] : <f16> -> <128x128xf16, strides = [128, 1]>
  %n = nv_tileaa.make_memref %q, shape = [], strides = [] : <f16> -> <128x128xf16, strides = [128, 1]>
  %v = nv_tileaa.make_tiled_view %m : <128x128xf16, strides = [128, 1]> -> <tile = [32, 64], memref<128x128xf16, strides = [128, 1]>>
  %u = nv_tileaa.make_tiled_view %n : <128x128xf16, strides = [128, 1]> -> <tile = [64, 32], memref<128x128xf16, strides = [128, 1]>>
  %x, %t1 = nv_tileaa.tiled_load <weak> %v[%i, %j] : <tile = [32, 64], memref<128x128xf16, strides = [128, 1]>>[i32, i32] -> tensor<32x64xf16>
  %y = nv_tileaa.permute %x [1, 0] : tensor<32x64xf16> -> tensor<64x32xf16>
  %z = arith.negf %y : tensor<64x32xf16>
  %t2 = nv_tileaa.tiled_store <weak> %z, %u[%j, %i] : tensor<64x32xf16>, <tile = [64, 32], memref<128x128xf16, strides = [128, 1]>>[i32, i32]
  nv_tileaa.return
}
