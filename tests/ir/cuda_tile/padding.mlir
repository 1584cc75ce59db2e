// A padding value without a mask, which bytecode can express. In the text, it is the operand that has the type of the
// result.
//
// RUN: tileiras-opt %s | tileiras-opt | FileCheck %s
// RUN: tileiras-opt %s -mlir-print-op-generic | FileCheck %s --check-prefix=GENERIC
// RUN: tileiras-translate --mlir-to-tileirbc %s | tileiras-translate --tileirbc-to-mlir | FileCheck %s

cuda_tile.module @kernels {
  // CHECK: entry @k
  entry @k(%p: tile<ptr<f32>>, %q: tile<ptr<i1>>, %x: tile<f32>, %m: tile<i1>) {
    // CHECK: load_ptr_tko weak %arg0, %arg2 : tile<ptr<f32>>, tile<f32> -> tile<f32>, token
    // GENERIC: load_ptr_tko{{.*}} <{memory_ordering_semantics = 0 : i32, operandSegmentSizes = array<i32: 1, 0, 1, 0>}>
    %0, %t0 = load_ptr_tko weak %p, %x : tile<ptr<f32>>, tile<f32> -> tile<f32>, token
    // CHECK: load_ptr_tko weak %arg0, %arg3, %arg2 : tile<ptr<f32>>, tile<i1>, tile<f32> -> tile<f32>, token
    // GENERIC: load_ptr_tko{{.*}} <{memory_ordering_semantics = 0 : i32, operandSegmentSizes = array<i32: 1, 1, 1, 0>}>
    %1, %t1 = load_ptr_tko weak %p, %m, %x : tile<ptr<f32>>, tile<i1>, tile<f32> -> tile<f32>, token
    // For i1, the operand could be either; it is taken as the mask.
    // CHECK: load_ptr_tko weak %arg1, %arg3 token=%result_token_1 : tile<ptr<i1>>, tile<i1> -> tile<i1>, token
    // GENERIC: load_ptr_tko{{.*}} <{memory_ordering_semantics = 0 : i32, operandSegmentSizes = array<i32: 1, 1, 0, 1>}>
    %2, %t2 = load_ptr_tko weak %q, %m token=%t1 : tile<ptr<i1>>, tile<i1> -> tile<i1>, token
    return
  }
}
