// Conversions between element types. Printed once in the custom form and once via the generic form.
//
// RUN: tileiras-opt %s | tileiras-opt | FileCheck %s --strict-whitespace
// RUN: tileiras-opt %s -mlir-print-op-generic | tileiras-opt | FileCheck %s --strict-whitespace

// CHECK: cuda_tile.module @conversions {
cuda_tile.module @conversions {
  // CHECK: entry @numbers(%arg0: tile<i32>, %arg1: tile<f32>) {
  entry @numbers(%i: tile<i32>, %x: tile<f32>) {
    // CHECK: %cst_-1_i8 = constant <i8: -1> : tile<8xi8>
    %q = constant <i8: -1> : tile<8xi8>
    // CHECK: %cst_1_f8E8M0FNU = constant <f8E8M0FNU: 1.000000e+00> : tile<4xf8E8M0FNU>
    %e = constant <f8E8M0FNU: 1.0> : tile<4xf8E8M0FNU>
    // CHECK: %cst_f4E2M1FN = constant <f4E2M1FN: 1.500000e+00> : tile<4xf4E2M1FN>
    %4 = constant <f4E2M1FN: 1.5> : tile<4xf4E2M1FN>
    // CHECK: %cst_1_f32 = constant <f32: 1.000000e+00> : tile<4xf32>
    %a = constant <f32: 1.0> : tile<4xf32>
    // CHECK: %0 = exti %arg0 signed : tile<i32> -> tile<i64>
    %0 = exti %i signed : tile<i32> -> tile<i64>
    // CHECK: %1 = exti %cst_-1_i8 unsigned : tile<8xi8> -> tile<8xi16>
    %1 = exti %q unsigned : tile<8xi8> -> tile<8xi16>
    // CHECK: %2 = trunci %arg0 : tile<i32> -> tile<i8>
    %2 = trunci %i : tile<i32> -> tile<i8>
    // CHECK: %3 = trunci %arg0 overflow<no_signed_wrap> : tile<i32> -> tile<i4>
    %3 = trunci %i overflow<no_signed_wrap> : tile<i32> -> tile<i4>
    // CHECK: %4 = exti %3 unsigned : tile<i4> -> tile<i16>
    %5 = exti %3 unsigned : tile<i4> -> tile<i16>
    // CHECK: %5 = ftof %arg1  : tile<f32> -> tile<f16>
    %6 = ftof %x : tile<f32> -> tile<f16>
    // CHECK: %6 = ftof %cst_1_f32 rounding<zero> : tile<4xf32> -> tile<4xf8E8M0FNU>
    %7 = ftof %a rounding<zero> : tile<4xf32> -> tile<4xf8E8M0FNU>
    // CHECK: %7 = ftof %cst_1_f32 rounding<positive_inf> : tile<4xf32> -> tile<4xf8E8M0FNU>
    %8 = ftof %a rounding<positive_inf> : tile<4xf32> -> tile<4xf8E8M0FNU>
    // CHECK: %8 = ftof %cst_1_f8E8M0FNU  : tile<4xf8E8M0FNU> -> tile<4xtf32>
    %9 = ftof %e : tile<4xf8E8M0FNU> -> tile<4xtf32>
    // CHECK: %9 = ftof %cst_f4E2M1FN  : tile<4xf4E2M1FN> -> tile<4xf8E4M3FN>
    %10 = ftof %4 : tile<4xf4E2M1FN> -> tile<4xf8E4M3FN>
    // CHECK: %10 = ftoi %arg1 signed  : tile<f32> -> tile<i32>
    %11 = ftoi %x signed : tile<f32> -> tile<i32>
    // CHECK: %11 = ftoi %arg1 unsigned  : tile<f32> -> tile<i1>
    %12 = ftoi %x unsigned rounding<nearest_int_to_zero> : tile<f32> -> tile<i1>
    // CHECK: %12 = itof %arg0 signed  : tile<i32> -> tile<f32>
    %13 = itof %i signed : tile<i32> -> tile<f32>
    // CHECK: %13 = itof %cst_-1_i8 unsigned  : tile<8xi8> -> tile<8xf8E5M2>
    %14 = itof %q unsigned rounding<nearest_even> : tile<8xi8> -> tile<8xf8E5M2>
    // CHECK: %14 = bitcast %arg1 : tile<f32> -> tile<i32>
    %15 = bitcast %x : tile<f32> -> tile<i32>
    // CHECK: return
    return
  }

  // CHECK: entry @addresses(%arg0: tile<ptr<f32>>) {
  entry @addresses(%p: tile<ptr<f32>>) {
    // CHECK: %0 = ptr_to_int %arg0 : tile<ptr<f32>> -> tile<i64>
    %0 = ptr_to_int %p : tile<ptr<f32>> -> tile<i64>
    // CHECK: %1 = int_to_ptr %0 : tile<i64> -> tile<ptr<i8>>
    %1 = int_to_ptr %0 : tile<i64> -> tile<ptr<i8>>
    // CHECK: %2 = ptr_to_ptr %1 : tile<ptr<i8>> -> tile<ptr<f64>>
    %2 = ptr_to_ptr %1 : tile<ptr<i8>> -> tile<ptr<f64>>
    // CHECK: return
    return
  }

  // CHECK: entry @bytes() {
  entry @bytes() {
    // CHECK: %cst_1_f32 = constant <f32: 1.000000e+00> : tile<16xf32>
    %f = constant <f32: 1.0> : tile<16xf32>
    // CHECK: %true = constant <i1: true> : tile<64xi1>
    %b = constant <i1: true> : tile<64xi1>
    // CHECK: %cst_1_tf32 = constant <tf32: 1.000000e+00> : tile<16xtf32>
    %t = constant <tf32: 1.0> : tile<16xtf32>
    // CHECK: %cst_1_f4E2M1FN = constant <f4E2M1FN: 1.000000e+00> : tile<16xf4E2M1FN>
    %4 = constant <f4E2M1FN: 1.0> : tile<16xf4E2M1FN>
    // CHECK: %0 = pack %cst_1_f32 : tile<16xf32> -> tile<64xi8>
    %0 = pack %f : tile<16xf32> -> tile<64xi8>
    // CHECK: %1 = pack %true : tile<64xi1> -> tile<8xi8>
    %1 = pack %b : tile<64xi1> -> tile<8xi8>
    // CHECK: %2 = pack %cst_1_tf32 : tile<16xtf32> -> tile<64xi8>
    %2 = pack %t : tile<16xtf32> -> tile<64xi8>
    // CHECK: %3 = pack %cst_1_f4E2M1FN : tile<16xf4E2M1FN> -> tile<8xi8>
    %3 = pack %4 : tile<16xf4E2M1FN> -> tile<8xi8>
    // CHECK: %4 = unpack %1 : tile<8xi8> -> tile<16xi4>
    %5 = unpack %1 : tile<8xi8> -> tile<16xi4>
    // CHECK: %5 = unpack %0 : tile<64xi8> -> tile<32xbf16>
    %6 = unpack %0 : tile<64xi8> -> tile<32xbf16>
    // CHECK: return
    return
  }
}
