// RUN: tileiras-opt %s --canonicalize | FileCheck %s

// A batch dimension of 1 is removed from dots, and the views that this needs are moved out of loops and branches.

// CHECK-LABEL: @views
func.func @views(%a: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<2x16xf32>, tensor<1x8xf32>) {
  // CHECK: %[[ONES:.*]] = arith.constant dense<1.000000e+00> : tensor<1x8xf32>
  // CHECK: %[[V:.*]] = nv_tileaa.view %arg0 : tensor<4x8xf32> -> tensor<2x16xf32>
  %flat = nv_tileaa.view %a : tensor<4x8xf32> -> tensor<32xf32>
  %back = nv_tileaa.view %flat : tensor<32xf32> -> tensor<4x8xf32>
  %other = nv_tileaa.view %flat : tensor<32xf32> -> tensor<2x16xf32>
  %one = arith.constant dense<1.0> : tensor<8xf32>
  %ones = nv_tileaa.view %one : tensor<8xf32> -> tensor<1x8xf32>
  // CHECK: return %arg0, %[[V]], %[[ONES]]
  return %back, %other, %ones : tensor<4x8xf32>, tensor<2x16xf32>, tensor<1x8xf32>
}

// CHECK-LABEL: @unit_batch
func.func @unit_batch(%a: tensor<1x16x32xi8>, %b: tensor<32x8xi8>, %c: tensor<1x16x8xi32>) -> tensor<1x16x8xi32> {
  // CHECK-DAG: %[[A:.*]] = nv_tileaa.view %arg0 : tensor<1x16x32xi8> -> tensor<16x32xi8>
  // CHECK-DAG: %[[C:.*]] = nv_tileaa.view %arg2 : tensor<1x16x8xi32> -> tensor<16x8xi32>
  // CHECK: %[[D:.*]] = nv_tileaa.dot %[[A]], %arg1, %[[C]] lhs_unsigned : tensor<16x32xi8>, tensor<32x8xi8>, tensor<16x8xi32>
  // CHECK: %[[R:.*]] = nv_tileaa.view %[[D]] : tensor<16x8xi32> -> tensor<1x16x8xi32>
  // CHECK: return %[[R]]
  %batch = nv_tileaa.view %b : tensor<32x8xi8> -> tensor<1x32x8xi8>
  %d = nv_tileaa.dot %a, %batch, %c lhs_unsigned : tensor<1x16x32xi8>, tensor<1x32x8xi8>, tensor<1x16x8xi32>
  return %d : tensor<1x16x8xi32>
}

// CHECK-LABEL: @scales
func.func @scales(%a: tensor<1x16x64xf8E4M3FN>, %b: tensor<1x64x8xf8E4M3FN>, %c: tensor<1x16x8xf32>,
    %x: tensor<1x16x2xf8E8M0FNU>, %y: tensor<1x2x8xf8E8M0FNU>) -> tensor<1x16x8xf32> {
  // CHECK: nv_tileaa.dot_scaled {{.*}} : tensor<16x64xf8E4M3FN>, tensor<16x2xf8E8M0FNU>, tensor<64x8xf8E4M3FN>, tensor<2x8xf8E8M0FNU>, tensor<16x8xf32>
  %d = nv_tileaa.dot_scaled %a scale %x, %b scale %y, %c : tensor<1x16x64xf8E4M3FN>, tensor<1x16x2xf8E8M0FNU>, tensor<1x64x8xf8E4M3FN>, tensor<1x2x8xf8E8M0FNU>, tensor<1x16x8xf32>
  return %d : tensor<1x16x8xf32>
}

// Larger batch dimensions are kept.
// CHECK-LABEL: @two
func.func @two(%a: tensor<2x16x32xf16>, %b: tensor<2x32x8xf16>, %c: tensor<2x16x8xf32>) -> tensor<2x16x8xf32> {
  // CHECK-NEXT: nv_tileaa.dot
  // CHECK-NEXT: return
  %d = nv_tileaa.dot %a, %b, %c : tensor<2x16x32xf16>, tensor<2x32x8xf16>, tensor<2x16x8xf32>
  return %d : tensor<2x16x8xf32>
}

// CHECK-LABEL: @loop
// CHECK-SAME: (%[[A:.*]]: tensor<16x32xf16>, %[[B:.*]]: tensor<32x8xf16>, %[[N:.*]]: index)
func.func @loop(%a: tensor<16x32xf16>, %b: tensor<32x8xf16>, %n: index) -> (index, tensor<1x16x8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %init = arith.constant dense<0.0> : tensor<1x16x8xf32>
  // CHECK: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : tensor<16x8xf32>
  // CHECK: %[[L:.*]]:2 = scf.for %{{.*}} = %{{.*}} to %{{.*}} step %{{.*}} iter_args(%[[J:.*]] = %{{.*}}, %[[ACC:.*]] = %[[ZERO]]) -> (index, tensor<16x8xf32>) {
  // CHECK-NEXT: %[[NEXT:.*]] = arith.muli %[[J]], %[[N]]
  // CHECK-NEXT: %[[D:.*]] = nv_tileaa.dot %[[A]], %[[B]], %[[ACC]]
  // CHECK-NEXT: scf.yield %[[NEXT]], %[[D]]
  // CHECK-NEXT: } {kept}
  // CHECK: %[[R:.*]] = nv_tileaa.view %[[L]]#1 : tensor<16x8xf32> -> tensor<1x16x8xf32>
  // CHECK: return %[[L]]#0, %[[R]]
  %j, %sum = scf.for %i = %c0 to %n step %c1 iter_args(%j = %n, %acc = %init) -> (index, tensor<1x16x8xf32>) {
    %k = arith.muli %j, %n : index
    %l = nv_tileaa.view %a : tensor<16x32xf16> -> tensor<1x16x32xf16>
    %r = nv_tileaa.view %b : tensor<32x8xf16> -> tensor<1x32x8xf16>
    %d = nv_tileaa.dot %l, %r, %acc : tensor<1x16x32xf16>, tensor<1x32x8xf16>, tensor<1x16x8xf32>
    scf.yield %k, %d : index, tensor<1x16x8xf32>
  } {kept}
  return %j, %sum : index, tensor<1x16x8xf32>
}

// A dot in a branch of the loop.
// CHECK-LABEL: @branch
// CHECK-SAME: (%[[A:.*]]: tensor<16x32xf16>, %[[B:.*]]: tensor<32x8xf16>, %[[N:.*]]: index, %[[IF:.*]]: i1)
func.func @branch(%a: tensor<16x32xf16>, %b: tensor<32x8xf16>, %n: index, %if: i1) -> tensor<1x16x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %init = arith.constant dense<0.0> : tensor<1x16x8xf32>
  // CHECK: scf.for {{.*}} iter_args(%[[ACC:.*]] = %{{.*}}) -> (tensor<16x8xf32>) {
  // CHECK-NEXT: %[[S:.*]] = scf.if %[[IF]] -> (tensor<16x8xf32>) {
  // CHECK-NEXT: %[[D:.*]] = nv_tileaa.dot %[[A]], %[[B]], %[[ACC]]
  // CHECK-NEXT: scf.yield %[[D]]
  // CHECK-NEXT: } else {
  // CHECK-NEXT: scf.yield %[[ACC]]
  // CHECK-NEXT: }
  // CHECK-NEXT: scf.yield %[[S]]
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %init) -> (tensor<1x16x8xf32>) {
    %s = scf.if %if -> (tensor<1x16x8xf32>) {
      %l = nv_tileaa.view %a : tensor<16x32xf16> -> tensor<1x16x32xf16>
      %r = nv_tileaa.view %b : tensor<32x8xf16> -> tensor<1x32x8xf16>
      %d = nv_tileaa.dot %l, %r, %acc : tensor<1x16x32xf16>, tensor<1x32x8xf16>, tensor<1x16x8xf32>
      scf.yield %d : tensor<1x16x8xf32>
    } else {
      scf.yield %acc : tensor<1x16x8xf32>
    }
    scf.yield %s : tensor<1x16x8xf32>
  }
  return %sum : tensor<1x16x8xf32>
}

// Views that do more than add dimensions of 1 are not moved.
// CHECK-LABEL: @other_shapes
func.func @other_shapes(%n: index, %init: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // CHECK: scf.for {{.*}} -> (tensor<4x8xf32>)
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %init) -> (tensor<4x8xf32>) {
    %flat = nv_tileaa.view %acc : tensor<4x8xf32> -> tensor<32xf32>
    %next = arith.addf %flat, %flat : tensor<32xf32>
    %back = nv_tileaa.view %next : tensor<32xf32> -> tensor<4x8xf32>
    scf.yield %back : tensor<4x8xf32>
  }
  return %sum : tensor<4x8xf32>
}
