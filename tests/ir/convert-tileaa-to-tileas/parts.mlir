// RUN: tileiras-opt %s --pass-pipeline='builtin.module(convert-tileaa-to-tileas)' | FileCheck %s

// The operands of a concatenation have the default layout of the result without the bit that selects the half. A
// slice has its own default layout.
// CHECK-LABEL: nv_tileaa.func @parts(
// CHECK: %[[S:.*]] = nv_tileas.extract_slice %{{.*}}[%arg0, %{{.*}}] : tensor<32x32xi32, {{.*}}> -> tensor<16x32xi32, #nv_tileas.layout<register = [1, 2], lane = [4, 8, 16, 32, 64], warp = [128, 256]>>
// CHECK: nv_tileas.cat %[[S]], %[[S]], 1 : tensor<16x32xi32, #nv_tileas.layout<register = [1, 2], lane = [4, 8, 16, 32, 64], warp = [128, 256]>> -> tensor<16x64xi32, #nv_tileas.layout<register = [1, 2, 32], lane = [4, 8, 16, 64, 128], warp = [256, 512]>>
nv_tileaa.func @parts(%i: i32) {
  %r = nv_tileaa.make_range : tensor<1024xi32>
  %a = nv_tileaa.view %r : tensor<1024xi32> -> tensor<32x32xi32>
  %c0 = arith.constant 0 : i32
  %s = nv_tileaa.extract_slice %a[%i, %c0] : tensor<32x32xi32> -> tensor<16x32xi32>
  %t = nv_tileaa.cat %s, %s, 1 : tensor<16x32xi32>, tensor<16x32xi32> -> tensor<16x64xi32>
  nv_tileaa.return
}
// The side with fewer elements has its default layout. The layout of the other side follows from it, and a conversion
// brings that side to its default layout.
// CHECK-LABEL: nv_tileaa.func @bytes(
// CHECK: %[[P:.*]] = nv_tileas.pack %{{.*}} : tensor<256xi32, #nv_tileas.layout<register = [1], lane = [2, 4, 8, 16, 32], warp = [64, 128]>> -> tensor<1024xi8, [[B:#nv_tileas.layout<register = .1, 2, 4., lane = .8, 16, 32, 64, 128., warp = .256, 512.>]]>
// CHECK: %[[C:.*]] = nv_tileas.convert_layout %[[P]] : tensor<1024xi8, [[B]]> -> tensor<1024xi8, [[D:#nv_tileas.layout<register = .1, 2, 512., lane = .4, 8, 16, 32, 64., warp = .128, 256.>]]>
// CHECK: nv_tileas.unpack %[[C]] : tensor<1024xi8, [[D]]> -> tensor<2048xi4, #nv_tileas.layout<register = [1, 2, 4, 1024], lane = [8, 16, 32, 64, 128], warp = [256, 512]>>
nv_tileaa.func @bytes() {
  %r = nv_tileaa.make_range : tensor<256xi32>
  %p = nv_tileaa.pack %r : tensor<256xi32> -> tensor<1024xi8>
  %u = nv_tileaa.unpack %p : tensor<1024xi8> -> tensor<2048xi4>
  nv_tileaa.return
}
