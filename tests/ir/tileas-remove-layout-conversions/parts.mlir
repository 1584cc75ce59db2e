// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileas-remove-layout-conversions)' | FileCheck %s

#l = #nv_tileas.layout<register = [], lane = [1, 2, 4, 8, 16], warp = []>
#d = #nv_tileas.layout<register = [1], lane = [2, 4, 8, 16, 32], warp = []>
#h = #nv_tileas.layout<register = [], lane = [1, 2, 4, 8, 0], warp = []>
// Every lane keeps a part of its elements: the lane bit that selected the slice holds replicas. When two slices are
// concatenated again, that lane bit selects the half, and the store gets its own layout: no conversion is left.
// CHECK-LABEL: nv_tileaa.func @butterfly(
// CHECK-NOT: convert_layout
// CHECK: nv_tileas.extract_slice {{.*}} -> tensor<16x1xf32, #nv_tileas.layout<register = [], lane = [0, 1, 2, 4, 8], warp = []>>
// CHECK: nv_tileas.extract_slice {{.*}} -> tensor<16x1xf32, #nv_tileas.layout<register = [], lane = [0, 1, 2, 4, 8], warp = []>>
// CHECK: nv_tileas.cat {{.*}} -> tensor<16x2xf32, #nv_tileas.layout<register = [], lane = [1, 2, 4, 8, 16], warp = []>>
// CHECK-NOT: convert_layout
// CHECK: nv_tileaa.return
nv_tileaa.func @butterfly(%p: tensor<16x2x!nv_tileaa.ptr<f32>, #l>, %c0: i32, %c1: i32) attributes {numWarps = 1 : i64} {
  %x, %t = nv_tileas.load <weak> %p vector 1 : tensor<16x2x!nv_tileaa.ptr<f32>, #l> -> tensor<16x2xf32, #l>
  %a = nv_tileas.extract_slice %x[%c0, %c0] : tensor<16x2xf32, #l> -> tensor<16x1xf32, #h>
  %b = nv_tileas.extract_slice %x[%c0, %c1] : tensor<16x2xf32, #l> -> tensor<16x1xf32, #h>
  %s = arith.addf %a, %b : tensor<16x1xf32, #h>
  %d = arith.subf %a, %b : tensor<16x1xf32, #h>
  %sc = nv_tileas.convert_layout %s : tensor<16x1xf32, #h> -> tensor<16x1xf32, #l>
  %dc = nv_tileas.convert_layout %d : tensor<16x1xf32, #h> -> tensor<16x1xf32, #l>
  %y = nv_tileas.cat %sc, %dc, 1 : tensor<16x1xf32, #l> -> tensor<16x2xf32, #d>
  %z = nv_tileas.convert_layout %y : tensor<16x2xf32, #d> -> tensor<16x2xf32, #l>
  %u = nv_tileas.store <weak> %p, %z vector 1 : tensor<16x2x!nv_tileaa.ptr<f32>, #l>, tensor<16x2xf32, #l>
  nv_tileaa.return
}
#w = #nv_tileas.layout<register = [], lane = [1, 2, 4, 8, 16], warp = []>
#b = #nv_tileas.layout<register = [1, 2], lane = [4, 8, 16, 32, 64], warp = []>
#o = #nv_tileas.layout<register = [64, 32], lane = [1, 2, 4, 8, 16], warp = []>
// The bytes of an element stay in its thread, and when four adjacent bytes are packed again, the layout is that of
// the load.
// CHECK-LABEL: nv_tileaa.func @bytes(
// CHECK-NOT: convert_layout
// CHECK: nv_tileas.pack {{.*}} -> tensor<128xi8, #nv_tileas.layout<register = [1, 2], lane = [4, 8, 16, 32, 64], warp = []>>
// CHECK: nv_tileas.unpack {{.*}} -> tensor<32xf32, #nv_tileas.layout<register = [], lane = [1, 2, 4, 8, 16], warp = []>>
// CHECK-NOT: convert_layout
// CHECK: nv_tileaa.return
nv_tileaa.func @bytes(%p: tensor<32x!nv_tileaa.ptr<i32>, #w>, %q: tensor<32x!nv_tileaa.ptr<f32>, #w>) attributes {numWarps = 1 : i64} {
  %x, %t = nv_tileas.load <weak> %p vector 1 : tensor<32x!nv_tileaa.ptr<i32>, #w> -> tensor<32xi32, #w>
  %y = nv_tileas.pack %x : tensor<32xi32, #w> -> tensor<128xi8, #b>
  %c = nv_tileas.convert_layout %y : tensor<128xi8, #b> -> tensor<128xi8, #o>
  %n = arith.addi %c, %c : tensor<128xi8, #o>
  %d = nv_tileas.convert_layout %n : tensor<128xi8, #o> -> tensor<128xi8, #b>
  %z = nv_tileas.unpack %d : tensor<128xi8, #b> -> tensor<32xf32, #w>
  %u = nv_tileas.store <weak> %q, %z vector 1 : tensor<32x!nv_tileaa.ptr<f32>, #w>, tensor<32xf32, #w>
  nv_tileaa.return
}
// A layout that splits the parts of an element between threads cannot be the result of unpack, so a conversion comes
// after it.
// CHECK-LABEL: nv_tileaa.func @scattered(
// CHECK: nv_tileas.unpack {{.*}} -> tensor<64xi4, #nv_tileas.layout<register = [1], lane = [2, 4, 8, 16, 32], warp = []>>
// CHECK-NEXT: nv_tileas.convert_layout
// CHECK-NEXT: arith.extui
nv_tileaa.func @scattered(%b: tensor<32xi8, #w>, %p: tensor<64x!nv_tileaa.ptr<i32>, #nv_tileas.layout<register = [32], lane = [1, 2, 4, 8, 16], warp = []>>) attributes {numWarps = 1 : i64} {
  %x = nv_tileas.unpack %b : tensor<32xi8, #w> -> tensor<64xi4, #d>
  %y = arith.extui %x : tensor<64xi4, #d> to tensor<64xi32, #d>
  %z = nv_tileas.convert_layout %y : tensor<64xi32, #d> -> tensor<64xi32, #nv_tileas.layout<register = [32], lane = [1, 2, 4, 8, 16], warp = []>>
  %u = nv_tileas.store <weak> %p, %z vector 1 : tensor<64x!nv_tileaa.ptr<i32>, #nv_tileas.layout<register = [32], lane = [1, 2, 4, 8, 16], warp = []>>, tensor<64xi32, #nv_tileas.layout<register = [32], lane = [1, 2, 4, 8, 16], warp = []>>
  nv_tileaa.return
}
