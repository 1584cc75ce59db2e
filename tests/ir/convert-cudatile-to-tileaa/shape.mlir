// RUN: tileiras-opt %s --pass-pipeline='builtin.module(convert-cudatile-to-tileaa)' | tileiras-opt | FileCheck %s

// CHECK-LABEL: nv_tileaa.func @constants(
cuda_tile.module @m {
  entry @constants() {
    // CHECK: arith.constant 7 : i32
    %0 = constant <i32: 7> : tile<i32>
    // CHECK: arith.constant dense<7> : tensor<4xi32>
    %1 = constant <i32: 7> : tile<4xi32>
    // CHECK: arith.constant dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf16>
    %2 = constant <f16: [1.0, 2.0]> : tile<2xf16>
    // CHECK: arith.constant true
    %3 = constant <i1: 1> : tile<i1>
    // CHECK: arith.constant dense<true> : tensor<2x2xi1>
    %4 = constant <i1: true> : tile<2x2xi1>
    // CHECK: nv_tileaa.make_range : tensor<16xi64>
    %5 = iota : tile<16xi64>
    return
  }
}

// CHECK-LABEL: nv_tileaa.func @splats(
cuda_tile.module @m1 {
  entry @splats(%s: tile<i32>) {
    // CHECK: nv_tileaa.splat %arg0 : i32 -> tensor<1x1xi32>
    %0 = reshape %s : tile<i32> -> tile<1x1xi32>
    // CHECK: %[[B:.*]] = nv_tileaa.splat %arg0 : i32 -> tensor<4x8xi32>
    %1 = broadcast %0 : tile<1x1xi32> -> tile<4x8xi32>
    // CHECK: %[[C:.*]] = nv_tileaa.splat %arg0 : i32 -> tensor<32xi32>
    %2 = reshape %1 : tile<4x8xi32> -> tile<32xi32>
    // CHECK: arith.addi %[[C]], %[[C]] : tensor<32xi32>
    %3 = addi %2, %2 : tile<32xi32>
    // CHECK: arith.addi %arg0, %arg0 : i32
    %4 = reshape %0 : tile<1x1xi32> -> tile<i32>
    %5 = addi %4, %4 : tile<i32>
    // CHECK: arith.constant dense<3> : tensor<1xi32>
    %6 = constant <i32: 3> : tile<1xi32>
    // CHECK: arith.constant dense<3> : tensor<8xi32>
    %7 = broadcast %6 : tile<1xi32> -> tile<8xi32>
    return
  }
}

// CHECK-LABEL: nv_tileaa.func @shapes(
cuda_tile.module @m2 {
  entry @shapes(%i: tile<i32>) {
    // CHECK: %[[R:.*]] = nv_tileaa.make_range : tensor<16xi32>
    %r = iota : tile<16xi32>
    // CHECK: %[[V:.*]] = nv_tileaa.view %[[R]] : tensor<16xi32> -> tensor<1x16xi32>
    %0 = reshape %r : tile<16xi32> -> tile<1x16xi32>
    // CHECK: %[[B:.*]] = nv_tileaa.broadcast %[[V]] : tensor<1x16xi32> -> tensor<4x16xi32>
    %1 = broadcast %0 : tile<1x16xi32> -> tile<4x16xi32>
    // CHECK: nv_tileaa.permute %[[B]] [1, 0] : tensor<4x16xi32> -> tensor<16x4xi32>
    %2 = permute %1 [1, 0] : tile<4x16xi32> -> tile<16x4xi32>
    // CHECK: nv_tileaa.cat %[[B]], %[[B]], 1 : tensor<4x16xi32>, tensor<4x16xi32> -> tensor<4x32xi32>
    %3 = cat %1, %1 dim = 1 : tile<4x16xi32>, tile<4x16xi32> -> tile<4x32xi32>
    // CHECK: %[[X:.*]] = nv_tileaa.extract_slice %[[R]][%arg0] : tensor<16xi32> -> tensor<1xi32>
    %4 = extract %r[%i] : tile<16xi32> -> tile<1xi32>
    // CHECK: nv_tileaa.unsplat %[[X]] : tensor<1xi32> -> i32
    %5 = reshape %4 : tile<1xi32> -> tile<i32>
    // CHECK: %[[Y:.*]] = nv_tileaa.unsplat %[[X]] : tensor<1xi32> -> i32
    // CHECK: nv_tileaa.splat %[[Y]] : i32 -> tensor<8xi32>
    %6 = broadcast %4 : tile<1xi32> -> tile<8xi32>
    return
  }
}
