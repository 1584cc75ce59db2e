// RUN: tileiras-opt %s --pass-pipeline='builtin.module(convert-tileaa-to-tileas,tileas-assign-load-store-layouts)' | FileCheck %s

// Vector width and layout of accesses through tensors of pointers, with four warps.

// CHECK-LABEL: nv_tileaa.func @contiguous(
// CHECK: nv_tileas.load {{.*}} vector 4 : {{.*}} -> tensor<1024xf32, #nv_tileas.layout<register = [1, 2, 512],
nv_tileaa.func @contiguous(%p0: !nv_tileaa.ptr<f32>) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f32>
  %r = nv_tileaa.make_range : tensor<1024xi32>
  %b = nv_tileaa.splat %p : !nv_tileaa.ptr<f32> -> tensor<1024x!nv_tileaa.ptr<f32>>
  %a = nv_tileaa.addptr %b, %r : tensor<1024x!nv_tileaa.ptr<f32>>, tensor<1024xi32>
  %x, %t1 = nv_tileaa.load <weak> %a : tensor<1024x!nv_tileaa.ptr<f32>> -> tensor<1024xf32>
  nv_tileaa.return
}
// A mask that may change at any element.
// CHECK-LABEL: nv_tileaa.func @any_mask(
// CHECK-DAG: %[[P:.*]] = nv_tileas.convert_layout %{{.*}} : {{.*}} -> tensor<1024x!nv_tileaa.ptr<f32>, #nv_tileas.layout<register = [128,
// CHECK-DAG: %[[K:.*]] = nv_tileas.convert_layout %{{.*}} : {{.*}} -> tensor<1024xi1, #nv_tileas.layout<register = [128,
// CHECK: %[[X:.*]], %{{.*}} = nv_tileas.load <weak> %[[P]] mask %[[K]] : {{.*}} vector 1 :
// CHECK: nv_tileas.convert_layout %[[X]]
nv_tileaa.func @any_mask(%p0: !nv_tileaa.ptr<f32>, %n: i32) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f32>
  %r = nv_tileaa.make_range : tensor<1024xi32>
  %b = nv_tileaa.splat %p : !nv_tileaa.ptr<f32> -> tensor<1024x!nv_tileaa.ptr<f32>>
  %a = nv_tileaa.addptr %b, %r : tensor<1024x!nv_tileaa.ptr<f32>>, tensor<1024xi32>
  %l = nv_tileaa.splat %n : i32 -> tensor<1024xi32>
  %k = arith.cmpi slt, %r, %l : tensor<1024xi32>
  %x, %t1 = nv_tileaa.load <weak> %a mask %k : tensor<1024xi1> : tensor<1024x!nv_tileaa.ptr<f32>> -> tensor<1024xf32>
  nv_tileaa.return
}
// A mask that changes only at multiples of two.
// CHECK-LABEL: nv_tileaa.func @even_mask(
// CHECK: nv_tileas.store {{.*}} vector 2 :
nv_tileaa.func @even_mask(%p0: !nv_tileaa.ptr<f32>, %n0: i32) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f32>
  %n = nv_tileaa.assume #cuda_tile.div_by<2>, %n0 : i32
  %r = nv_tileaa.make_range : tensor<1024xi32>
  %b = nv_tileaa.splat %p : !nv_tileaa.ptr<f32> -> tensor<1024x!nv_tileaa.ptr<f32>>
  %a = nv_tileaa.addptr %b, %r : tensor<1024x!nv_tileaa.ptr<f32>>, tensor<1024xi32>
  %l = nv_tileaa.splat %n : i32 -> tensor<1024xi32>
  %k = arith.cmpi slt, %r, %l : tensor<1024xi32>
  %f = arith.constant dense<1.0> : tensor<1024xf32>
  %t1 = nv_tileaa.store <weak> %a, %f mask %k : tensor<1024xi1> : tensor<1024x!nv_tileaa.ptr<f32>>, tensor<1024xf32>
  nv_tileaa.return
}
// One mask value for all elements.
// CHECK-LABEL: nv_tileaa.func @uniform_mask(
// CHECK: nv_tileas.load {{.*}} vector 4 :
nv_tileaa.func @uniform_mask(%p0: !nv_tileaa.ptr<f32>, %c: i1) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f32>
  %r = nv_tileaa.make_range : tensor<1024xi32>
  %b = nv_tileaa.splat %p : !nv_tileaa.ptr<f32> -> tensor<1024x!nv_tileaa.ptr<f32>>
  %a = nv_tileaa.addptr %b, %r : tensor<1024x!nv_tileaa.ptr<f32>>, tensor<1024xi32>
  %k = nv_tileaa.splat %c : i1 -> tensor<1024xi1>
  %x, %t1 = nv_tileaa.load <weak> %a mask %k : tensor<1024xi1> : tensor<1024x!nv_tileaa.ptr<f32>> -> tensor<1024xf32>
  nv_tileaa.return
}
// CHECK-LABEL: nv_tileaa.func @unaligned(
// CHECK: nv_tileas.load {{.*}} vector 1 :
nv_tileaa.func @unaligned(%p: !nv_tileaa.ptr<f32>) {
  %r = nv_tileaa.make_range : tensor<1024xi32>
  %b = nv_tileaa.splat %p : !nv_tileaa.ptr<f32> -> tensor<1024x!nv_tileaa.ptr<f32>>
  %a = nv_tileaa.addptr %b, %r : tensor<1024x!nv_tileaa.ptr<f32>>, tensor<1024xi32>
  %x, %t1 = nv_tileaa.load <weak> %a : tensor<1024x!nv_tileaa.ptr<f32>> -> tensor<1024xf32>
  nv_tileaa.return
}
// Every third element.
// CHECK-LABEL: nv_tileaa.func @gather(
// CHECK: nv_tileas.load {{.*}} vector 1 :
nv_tileaa.func @gather(%p0: !nv_tileaa.ptr<f32>) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f32>
  %r = nv_tileaa.make_range : tensor<1024xi32>
  %c3 = arith.constant dense<3> : tensor<1024xi32>
  %s = arith.muli %r, %c3 : tensor<1024xi32>
  %b = nv_tileaa.splat %p : !nv_tileaa.ptr<f32> -> tensor<1024x!nv_tileaa.ptr<f32>>
  %a = nv_tileaa.addptr %b, %s : tensor<1024x!nv_tileaa.ptr<f32>>, tensor<1024xi32>
  %x, %t1 = nv_tileaa.load <weak> %a : tensor<1024x!nv_tileaa.ptr<f32>> -> tensor<1024xf32>
  nv_tileaa.return
}
// Addresses are contiguous along the first dimension, so `along` is 0, and the registers are also along a column,
// with steps of 32.
// CHECK-LABEL: nv_tileaa.func @columns(
// CHECK: nv_tileas.load {{.*}} vector 8 : {{.*}} -> tensor<64x32xf16, #nv_tileas.layout<register = [32, 64, 128, 16], lane = [256, 512, 1024, 1, 2], warp = [4, 8]>>
nv_tileaa.func @columns(%p0: !nv_tileaa.ptr<f16>) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f16>
  %r = nv_tileaa.make_range : tensor<64xi32>
  %q = nv_tileaa.make_range : tensor<32xi32>
  %c64 = arith.constant dense<64> : tensor<32xi32>
  %s = arith.muli %q, %c64 : tensor<32xi32>
  %r1 = nv_tileaa.view %r : tensor<64xi32> -> tensor<64x1xi32>
  %s1 = nv_tileaa.view %s : tensor<32xi32> -> tensor<1x32xi32>
  %r2 = nv_tileaa.broadcast %r1 : tensor<64x1xi32> -> tensor<64x32xi32>
  %s2 = nv_tileaa.broadcast %s1 : tensor<1x32xi32> -> tensor<64x32xi32>
  %o = arith.addi %r2, %s2 : tensor<64x32xi32>
  %b = nv_tileaa.splat %p : !nv_tileaa.ptr<f16> -> tensor<64x32x!nv_tileaa.ptr<f16>>
  %a = nv_tileaa.addptr %b, %o : tensor<64x32x!nv_tileaa.ptr<f16>>, tensor<64x32xi32>
  %x, %t1 = nv_tileaa.load <weak> %a : tensor<64x32x!nv_tileaa.ptr<f16>> -> tensor<64x32xf16>
  nv_tileaa.return
}
