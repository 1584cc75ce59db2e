// RUN: tileiras-opt %s --pass-pipeline='builtin.module(convert-tileaa-to-tileas)' | FileCheck %s

// The layout of a reduction's result follows from the operand; a conversion changes it to the default layout.
// CHECK-LABEL: nv_tileaa.func @rows(
// CHECK: %[[R:.*]]:2 = nv_tileas.reduce %{{.*}}, %{{.*}} dim 1 identities [0 : i32, 1 : i32]
// CHECK-SAME: tensor<32x16xi32, #nv_tileas.layout<register = [1, 2], lane = [4, 8, 16, 32, 64], warp = [128, 256]>>
// CHECK-SAME: -> tensor<32xi32, [[L:#nv_tileas.layout<register = .., lane = .0, 0, 1, 2, 4., warp = .8, 16.>]]>
// CHECK: ^bb0(%[[A:.*]]: i32, %[[B:.*]]: i32, %[[C:.*]]: i32, %[[D:.*]]: i32):
// CHECK: %[[S:.*]] = arith.addi %[[A]], %[[B]] : i32
// CHECK: nv_tileas.yield %[[S]], %[[D]] : i32, i32
// CHECK: nv_tileas.convert_layout %[[R]]#0 : tensor<32xi32, [[L]]> -> tensor<32xi32, #nv_tileas.layout<register = [], lane = [1, 2, 4, 8, 16], warp = [0, 0]>>
// CHECK: nv_tileas.convert_layout %[[R]]#1
nv_tileaa.func @rows() {
  %r = nv_tileaa.make_range : tensor<512xi32>
  %v = nv_tileaa.view %r : tensor<512xi32> -> tensor<32x16xi32>
  %a:2 = nv_tileaa.reduce %v, %v dim 1 identities [0 : i32, 1 : i32] : tensor<32x16xi32>, tensor<32x16xi32> -> tensor<32xi32>, tensor<32xi32> {
  ^bb0(%p: i32, %q: i32, %s: i32, %t: i32):
    %u = arith.addi %p, %q : i32
    nv_tileaa.yield %u, %t : i32, i32
  }
  %b = arith.addi %a#0, %a#1 : tensor<32xi32>
  nv_tileaa.return
}

// A reduction of a rank-1 tensor leaves a scalar. A scan does not change the layout.
// CHECK-LABEL: nv_tileaa.func @one(
// CHECK: nv_tileas.reduce %{{.*}} dim 0 identities [0 : i32] : {{.*}} -> i32 {
// CHECK: nv_tileas.scan %[[V:.*]] dim 0 reverse identities [0 : i32] : tensor<512xi32, [[L:#nv_tileas.layout<.*>]]> -> tensor<512xi32, [[L]]> {
// CHECK: nv_tileas.yield
nv_tileaa.func @one() {
  %r = nv_tileaa.make_range : tensor<512xi32>
  %a = nv_tileaa.reduce %r dim 0 identities [0 : i32] : tensor<512xi32> -> i32 {
  ^bb0(%p: i32, %q: i32):
    nv_tileaa.yield %p : i32
  }
  %b = nv_tileaa.scan %r dim 0 reverse identities [0 : i32] : tensor<512xi32> -> tensor<512xi32> {
  ^bb0(%p: i32, %q: i32):
    nv_tileaa.yield %q : i32
  }
  nv_tileaa.return
}
