// Matrix products. Printed once in the custom form and once via the generic form.
//
// RUN: tileiras-opt %s | tileiras-opt | FileCheck %s --strict-whitespace
// RUN: tileiras-opt %s -mlir-print-op-generic | tileiras-opt | FileCheck %s --strict-whitespace

// CHECK: cuda_tile.module @matrices {
cuda_tile.module @matrices {
  // CHECK: entry @mma() {
  entry @mma() {
    // CHECK: %cst_1_f16 = constant <f16: 1.000000e+00> : tile<16x32xf16>
    %a = constant <f16: 1.0> : tile<16x32xf16>
    // CHECK: %cst_1_f16_0 = constant <f16: 1.000000e+00> : tile<32x8xf16>
    %b = constant <f16: 1.0> : tile<32x8xf16>
    // CHECK: %cst_0_f32 = constant <f32: 0.000000e+00> : tile<16x8xf32>
    %c = constant <f32: 0.0> : tile<16x8xf32>
    // CHECK: %0 = mmaf %cst_1_f16, %cst_1_f16_0, %cst_0_f32 : tile<16x32xf16>, tile<32x8xf16>, tile<16x8xf32>
    %0 = mmaf %a, %b, %c : tile<16x32xf16>, tile<32x8xf16>, tile<16x8xf32>
    // CHECK: %1 = mmaf %cst_1_f16, %cst_1_f16_0, %0 fast_acc : tile<16x32xf16>, tile<32x8xf16>, tile<16x8xf32>
    %1 = mmaf %a, %b, %0 fast_acc : tile<16x32xf16>, tile<32x8xf16>, tile<16x8xf32>
    // CHECK: %cst_1_f64 = constant <f64: 1.000000e+00> : tile<2x16x16xf64>
    %d = constant <f64: 1.0> : tile<2x16x16xf64>
    // CHECK: %2 = mmaf %cst_1_f64, %cst_1_f64, %cst_1_f64 : tile<2x16x16xf64>, tile<2x16x16xf64>, tile<2x16x16xf64>
    %2 = mmaf %d, %d, %d : tile<2x16x16xf64>, tile<2x16x16xf64>, tile<2x16x16xf64>
    // CHECK: %cst_1_i8 = constant <i8: 1> : tile<16x16xi8>
    %i = constant <i8: 1> : tile<16x16xi8>
    // CHECK: %cst_0_i32 = constant <i32: 0> : tile<16x16xi32>
    %j = constant <i32: 0> : tile<16x16xi32>
    // CHECK: %3 = mmai %cst_1_i8, %cst_1_i8, %cst_0_i32 signed unsigned : tile<16x16xi8>, tile<16x16xi8>, tile<16x16xi32>
    %3 = mmai %i, %i, %j signed unsigned : tile<16x16xi8>, tile<16x16xi8>, tile<16x16xi32>
    // CHECK: %cst_1_f8E4M3FN = constant <f8E4M3FN: 1.000000e+00> : tile<64x64xf8E4M3FN>
    %e = constant <f8E4M3FN: 1.0> : tile<64x64xf8E4M3FN>
    // CHECK: %cst_1_f8E8M0FNU = constant <f8E8M0FNU: 1.000000e+00> : tile<64x2xf8E8M0FNU>
    %s = constant <f8E8M0FNU: 1.0> : tile<64x2xf8E8M0FNU>
    // CHECK: %cst_1_f8E8M0FNU_1 = constant <f8E8M0FNU: 1.000000e+00> : tile<2x64xf8E8M0FNU>
    %t = constant <f8E8M0FNU: 1.0> : tile<2x64xf8E8M0FNU>
    // CHECK: %cst_0_f32_2 = constant <f32: 0.000000e+00> : tile<64x64xf32>
    %acc = constant <f32: 0.0> : tile<64x64xf32>
    // CHECK: %4 = mmaf_scaled %cst_1_f8E4M3FN, %cst_1_f8E4M3FN, %cst_0_f32_2, %cst_1_f8E8M0FNU, %cst_1_f8E8M0FNU_1 : tile<64x64xf8E4M3FN>, tile<64x64xf8E4M3FN>, tile<64x64xf32>, tile<64x2xf8E8M0FNU>, tile<2x64xf8E8M0FNU>
    %4 = mmaf_scaled %e, %e, %acc, %s, %t : tile<64x64xf8E4M3FN>, tile<64x64xf8E4M3FN>, tile<64x64xf32>, tile<64x2xf8E8M0FNU>, tile<2x64xf8E8M0FNU>
    // CHECK: return
    return
  }
}
