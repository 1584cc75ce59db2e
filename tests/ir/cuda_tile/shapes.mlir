// Creation and shape of tiles. Printed once in the custom form and once via the generic form.
//
// RUN: tileiras-opt %s | tileiras-opt | FileCheck %s --strict-whitespace
// RUN: tileiras-opt %s -mlir-print-op-generic | tileiras-opt | FileCheck %s --strict-whitespace

// CHECK: cuda_tile.module @shapes {
cuda_tile.module @shapes {
  // CHECK: entry @shapes(%arg0: tile<i32>, %arg1: tile<f32>) {
  entry @shapes(%i: tile<i32>, %x: tile<f32>) {
    // CHECK: %0 = iota : tile<128xi32>
    %0 = iota : tile<128xi32>
    // CHECK: %1 = iota : tile<2xi1>
    %1 = iota : tile<2xi1>
    // CHECK: %reshape = reshape %arg1 : tile<f32> -> tile<1x1xf32>
    %2 = reshape %x : tile<f32> -> tile<1x1xf32>
    // CHECK: %bcast = broadcast %reshape : tile<1x1xf32> -> tile<4x8xf32>
    %3 = broadcast %2 : tile<1x1xf32> -> tile<4x8xf32>
    // CHECK: %reshape_0 = reshape %bcast : tile<4x8xf32> -> tile<2x16xf32>
    %4 = reshape %3 : tile<4x8xf32> -> tile<2x16xf32>
    // CHECK: %2 = permute %bcast [1, 0] : tile<4x8xf32> -> tile<8x4xf32>
    %5 = permute %3 [1, 0] : tile<4x8xf32> -> tile<8x4xf32>
    // CHECK: %3 = cat %bcast, %bcast dim = 1 : tile<4x8xf32>, tile<4x8xf32> -> tile<4x16xf32>
    %6 = cat %3, %3 dim = 1 : tile<4x8xf32>, tile<4x8xf32> -> tile<4x16xf32>
    // CHECK: %4 = extract %bcast[%arg0, %arg0] : tile<4x8xf32> -> tile<2x8xf32>
    %7 = extract %3[%i, %i] : tile<4x8xf32> -> tile<2x8xf32>
    // CHECK: %5 = extract %arg1[] : tile<f32> -> tile<f32>
    %8 = extract %x[] : tile<f32> -> tile<f32>
    // CHECK: return
    return
  }
}
