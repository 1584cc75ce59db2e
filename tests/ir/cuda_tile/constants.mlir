// Literals of constants and globals. Printed once in the custom form and once via the generic form.
//
// RUN: tileiras-opt %s | tileiras-opt | FileCheck %s --strict-whitespace
// RUN: tileiras-opt %s -mlir-print-op-generic | tileiras-opt | FileCheck %s --strict-whitespace

// CHECK: cuda_tile.module @constants {
cuda_tile.module @constants {
  // CHECK: global  @data <f32: [1.000000e+00, -2.500000e+00]> : tile<2xf32>
  global @data <f32: [1.0, -2.5]> : tile<2xf32>
  // CHECK: global private  constant @table alignment = 128 <i64: 7> : tile<64xi64>
  global private constant @table alignment = 128 <i64: 7> : tile<64xi64>
  // CHECK: global  @bits {note = "kept"} <i1: [true, false]> : tile<2xi1>
  global public @bits {note = "kept"} <i1: [true, false]> : tile<2xi1>
  // CHECK: entry @integers() {
  entry @integers() {
    // CHECK: %true = constant <i1: true> : tile<i1>
    %0 = constant <i1: true> : tile<i1>
    // CHECK: %false = constant <i1: false> : tile<4xi1>
    %1 = constant <i1: false> : tile<4xi1>
    // CHECK: %cst_i1 = constant <i1: [true, false, true, true]> : tile<4xi1>
    %2 = constant <i1: [-1, 0, 1, true]> : tile<4xi1>
    // CHECK: %cst_i8 = constant <i8: [-128, -1]> : tile<2xi8>
    %3 = constant <i8: [-128, 255]> : tile<2xi8>
    // CHECK: %cst_i16 = constant <i16: [-32768, -1]> : tile<2xi16>
    %4 = constant <i16: [-32768, 65535]> : tile<2xi16>
    // CHECK: %cst_i32 = constant <i32: {{\[\[}}16, -1], [-1, 0{{\]\]}}> : tile<2x2xi32>
    %5 = constant <i32: [[0x10, -1], [4294967295, 0]]> : tile<2x2xi32>
    // CHECK: %cst_9223372036854775807_i64 = constant <i64: 9223372036854775807> : tile<i64>
    %6 = constant <i64: 9223372036854775807> : tile<i64>
    // CHECK: %cst_7_i32 = constant <i32: 7> : tile<8xi32> {note = "kept"}
    %7 = constant <i32: 7> : tile<8xi32> {note = "kept"}
    // CHECK: return
    return
  }
  // CHECK: entry @floats() {
  entry @floats() {
    // CHECK: %cst_1_f16 = constant <f16: 1.000000e+00> : tile<f16>
    %0 = constant <f16: 1.0> : tile<f16>
    // CHECK: %cst_bf16 = constant <bf16: 0x7F80> : tile<4xbf16>
    %1 = constant <bf16: 0x7F80> : tile<4xbf16>
    // CHECK: %cst_NaN_f32 = constant <f32: 0x7FC00000> : tile<f32>
    %2 = constant <f32: 0x7FC00000> : tile<f32>
    // CHECK: %cst_f32 = constant <f32: [1.000000e+00, -2.500000e+03, 0xFF800000, 1.000000e-01]> : tile<4xf32>
    %3 = constant <f32: [1.0, -2.5e3, 0xFF800000, 0.1]> : tile<4xf32>
    // CHECK: %cst_1_tf32 = constant <tf32: 1.000000e+00> : tile<tf32>
    %4 = constant <tf32: 1.0> : tile<tf32>
    // CHECK: %cst_f64 = constant <f64: {{\[\[}}1.000000e+00, 2.000000e+00{{\]\]}}> : tile<1x2xf64>
    %5 = constant <f64: [[1.0, 2.0]]> : tile<1x2xf64>
    // CHECK: %cst_448_f8E4M3FN = constant <f8E4M3FN: 4.480000e+02> : tile<f8E4M3FN>
    %6 = constant <f8E4M3FN: 448.0> : tile<f8E4M3FN>
    // CHECK: %cst_f8E5M2 = constant <f8E5M2: 0x7C> : tile<f8E5M2>
    %7 = constant <f8E5M2: 0x7C> : tile<f8E5M2>
    // CHECK: %cst_2_f8E8M0FNU = constant <f8E8M0FNU: 2.000000e+00> : tile<f8E8M0FNU>
    %8 = constant <f8E8M0FNU: 2.0> : tile<f8E8M0FNU>
    // CHECK: %cst_6_f4E2M1FN = constant <f4E2M1FN: 6.000000e+00> : tile<2xf4E2M1FN>
    %9 = constant <f4E2M1FN: 6.0> : tile<2xf4E2M1FN>
    // CHECK: %cst_f32_0 = constant <f32: -1.500000e+00> : tile<f32>
    %10 = constant <f32: -1.5> : tile<f32>
    // CHECK: %cst_16_f32 = constant <f32: 1.600000e+01> : tile<f32>
    %11 = constant <f32: 16.0> : tile<f32>
    // CHECK: return
    return
  }
}
