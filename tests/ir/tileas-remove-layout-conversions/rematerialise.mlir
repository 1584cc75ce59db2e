// RUN: tileiras-opt %s --pass-pipeline='builtin.module(convert-tileaa-to-tileas,tileas-assign-load-store-layouts,tileas-remove-layout-conversions)' | FileCheck %s

// One range is used by accesses in two layouts: it is computed twice, which is cheaper than a conversion.
// CHECK-LABEL: nv_tileaa.func @two_layouts(
// CHECK-NOT: convert_layout
// CHECK: nv_tileas.make_range : tensor<1024xi32, #nv_tileas.layout<register = [1, 2, 512],
// CHECK: nv_tileas.store {{.*}} vector 4
// CHECK: nv_tileas.make_range : tensor<1024xi32, #nv_tileas.layout<register = [128, 256, 512],
// CHECK: nv_tileas.store {{.*}} vector 1
nv_tileaa.func @two_layouts(%p0: !nv_tileaa.ptr<f32>, %q: !nv_tileaa.ptr<f16>) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f32>
  %r = nv_tileaa.make_range : tensor<1024xi32>
  %b = nv_tileaa.splat %p : !nv_tileaa.ptr<f32> -> tensor<1024x!nv_tileaa.ptr<f32>>
  %a = nv_tileaa.addptr %b, %r : tensor<1024x!nv_tileaa.ptr<f32>>, tensor<1024xi32>
  %one = arith.constant dense<1.0> : tensor<1024xf32>
  %t1 = nv_tileaa.store <weak> %a, %one : tensor<1024x!nv_tileaa.ptr<f32>>, tensor<1024xf32>
  %c = nv_tileaa.splat %q : !nv_tileaa.ptr<f16> -> tensor<1024x!nv_tileaa.ptr<f16>>
  %d = nv_tileaa.addptr %c, %r : tensor<1024x!nv_tileaa.ptr<f16>>, tensor<1024xi32>
  %two = arith.constant dense<2.0> : tensor<1024xf16>
  %t2 = nv_tileaa.store <weak> %d, %two : tensor<1024x!nv_tileaa.ptr<f16>>, tensor<1024xf16>
  nv_tileaa.return
}
// Rows and columns of an outer sum: ranges have the layouts that the broadcasts need, with each element in one
// register.
// CHECK-LABEL: nv_tileaa.func @outer(
// CHECK-NOT: convert_layout
// CHECK: nv_tileas.make_range : tensor<32xi32, #nv_tileas.layout<register = [16], lane = [0, 0, 0, 1, 2], warp = [4, 8]>>
// CHECK: nv_tileas.make_range : tensor<32xi32, #nv_tileas.layout<register = [1, 2], lane = [4, 8, 16, 0, 0], warp = [0, 0]>>
// CHECK: nv_tileas.store {{.*}} vector 4 along 1
// CHECK-NOT: make_range
nv_tileaa.func @outer(%p0: !nv_tileaa.ptr<i32>) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<i32>
  %r = nv_tileaa.make_range : tensor<32xi32>
  %r1 = nv_tileaa.view %r : tensor<32xi32> -> tensor<32x1xi32>
  %s1 = nv_tileaa.view %r : tensor<32xi32> -> tensor<1x32xi32>
  %c32 = arith.constant dense<32> : tensor<32x1xi32>
  %m = arith.muli %r1, %c32 : tensor<32x1xi32>
  %r2 = nv_tileaa.broadcast %m : tensor<32x1xi32> -> tensor<32x32xi32>
  %s2 = nv_tileaa.broadcast %s1 : tensor<1x32xi32> -> tensor<32x32xi32>
  %o = arith.addi %r2, %s2 : tensor<32x32xi32>
  %b = nv_tileaa.splat %p : !nv_tileaa.ptr<i32> -> tensor<32x32x!nv_tileaa.ptr<i32>>
  %a = nv_tileaa.addptr %b, %o : tensor<32x32x!nv_tileaa.ptr<i32>>, tensor<32x32xi32>
  %t1 = nv_tileaa.store <weak> %a, %o : tensor<32x32x!nv_tileaa.ptr<i32>>, tensor<32x32xi32>
  nv_tileaa.return
}
