// Arithmetic, comparisons and elementary functions. Printed once in the custom form and once via the generic form.
//
// RUN: tileiras-opt %s | tileiras-opt | FileCheck %s --strict-whitespace
// RUN: tileiras-opt %s -mlir-print-op-generic | tileiras-opt | FileCheck %s --strict-whitespace

// CHECK: cuda_tile.module @arithmetic {
cuda_tile.module @arithmetic {
  // CHECK: entry @floats(%arg0: tile<f32>) {
  entry @floats(%x: tile<f32>) {
    // CHECK: %cst_1_f16 = constant <f16: 1.000000e+00> : tile<2x4xf16>
    %h = constant <f16: 1.0> : tile<2x4xf16>
    // CHECK: %cst_1_bf16 = constant <bf16: 1.000000e+00> : tile<2x4xbf16>
    %b = constant <bf16: 1.0> : tile<2x4xbf16>
    // CHECK: %cst_f32 = constant <f32: 1.500000e+00> : tile<2x4xf32>
    %a = constant <f32: 1.5> : tile<2x4xf32>
    // CHECK: %cst_1_f64 = constant <f64: 1.000000e+00> : tile<f64>
    %d = constant <f64: 1.0> : tile<f64>
    // CHECK: %0 = absf %cst_f32 : tile<2x4xf32>
    %0 = absf %a : tile<2x4xf32>
    // CHECK: %1 = negf %cst_1_f16 : tile<2x4xf16>
    %1 = negf %h : tile<2x4xf16>
    // CHECK: %2 = ceil %cst_1_bf16 : tile<2x4xbf16>
    %2 = ceil %b : tile<2x4xbf16>
    // CHECK: %3 = floor %cst_1_f64 : tile<f64>
    %3 = floor %d : tile<f64>
    // CHECK: %4 = addf %cst_f32, %cst_f32  : tile<2x4xf32>
    %4 = addf %a, %a : tile<2x4xf32>
    // CHECK: %5 = addf %cst_f32, %cst_f32 rounding<zero> flush_to_zero : tile<2x4xf32>
    %5 = addf %a, %a rounding<zero> flush_to_zero : tile<2x4xf32>
    // CHECK: %6 = subf %cst_1_f16, %cst_1_f16 rounding<negative_inf> : tile<2x4xf16>
    %6 = subf %h, %h rounding<negative_inf> : tile<2x4xf16>
    // CHECK: %7 = mulf %cst_1_f64, %cst_1_f64 rounding<positive_inf> : tile<f64>
    %7 = mulf %d, %d rounding<positive_inf> : tile<f64>
    // CHECK: %8 = mulf %cst_f32, %cst_f32  flush_to_zero : tile<2x4xf32>
    %8 = mulf %a, %a rounding<nearest_even> flush_to_zero : tile<2x4xf32>
    // CHECK: %9 = fma %cst_f32, %cst_f32, %cst_f32 rounding<zero> flush_to_zero : tile<2x4xf32>
    %9 = fma %a, %a, %a rounding<zero> flush_to_zero : tile<2x4xf32>
    // CHECK: %10 = fma %cst_1_bf16, %cst_1_bf16, %cst_1_bf16  : tile<2x4xbf16>
    %10 = fma %b, %b, %b : tile<2x4xbf16>
    // CHECK: %11 = divf %cst_f32, %cst_f32 rounding<approx> flush_to_zero : tile<2x4xf32>
    %11 = divf %a, %a rounding<approx> flush_to_zero : tile<2x4xf32>
    // CHECK: %12 = divf %cst_f32, %cst_f32 rounding<full> : tile<2x4xf32>
    %12 = divf %a, %a rounding<full> : tile<2x4xf32>
    // CHECK: %13 = divf %cst_1_f16, %cst_1_f16  : tile<2x4xf16>
    %13 = divf %h, %h : tile<2x4xf16>
    // CHECK: %14 = maxf %cst_f32, %cst_f32 flush_to_zero propagate_nan : tile<2x4xf32>
    %14 = maxf %a, %a propagate_nan flush_to_zero : tile<2x4xf32>
    // CHECK: %15 = maxf %cst_f32, %cst_f32 : tile<2x4xf32>
    %15 = maxf %a, %a : tile<2x4xf32>
    // CHECK: %16 = minf %cst_f32, %cst_f32 flush_to_zero : tile<2x4xf32>
    %16 = minf %a, %a flush_to_zero : tile<2x4xf32>
    // CHECK: %17 = minf %cst_1_f64, %cst_1_f64 propagate_nan : tile<f64>
    %17 = minf %d, %d propagate_nan : tile<f64>
    // CHECK: %18 = remf %cst_f32, %cst_f32 : tile<2x4xf32>
    %18 = remf %a, %a : tile<2x4xf32>
    // CHECK: %19 = cmpf less_than ordered %cst_f32, %cst_f32 : tile<2x4xf32> -> tile<2x4xi1>
    %19 = cmpf less_than ordered %a, %a : tile<2x4xf32> -> tile<2x4xi1>
    // CHECK: %20 = cmpf not_equal unordered %cst_1_f64, %cst_1_f64 : tile<f64> -> tile<i1>
    %20 = cmpf not_equal unordered %d, %d : tile<f64> -> tile<i1>
    // CHECK: %21 = select %19, %cst_f32, %0 : tile<2x4xi1>, tile<2x4xf32>
    %21 = select %19, %a, %0 : tile<2x4xi1>, tile<2x4xf32>
    // CHECK: return
    return
  }

  // CHECK: entry @integers(%arg0: tile<i32>) {
  entry @integers(%n: tile<i32>) {
    // CHECK: %cst_3_i8 = constant <i8: 3> : tile<4xi8>
    %a = constant <i8: 3> : tile<4xi8>
    // CHECK: %true = constant <i1: true> : tile<4xi1>
    %b = constant <i1: true> : tile<4xi1>
    // CHECK: %cst_9_i64 = constant <i64: 9> : tile<i64>
    %l = constant <i64: 9> : tile<i64>
    // CHECK: %0 = absi %cst_3_i8 : tile<4xi8>
    %0 = absi %a : tile<4xi8>
    // CHECK: %1 = negi %cst_3_i8 : tile<4xi8>
    %1 = negi %a : tile<4xi8>
    // CHECK: %2 = negi %cst_3_i8 overflow<no_signed_wrap> : tile<4xi8>
    %2 = negi %a overflow<no_signed_wrap> : tile<4xi8>
    // CHECK: %3 = negi %cst_3_i8 overflow<no_wrap> : tile<4xi8>
    %3 = negi %a overflow<no_wrap> : tile<4xi8>
    // CHECK: %4 = addi %cst_3_i8, %cst_3_i8 : tile<4xi8>
    %4 = addi %a, %a : tile<4xi8>
    // CHECK: %5 = addi %arg0, %arg0 overflow<no_wrap> : tile<i32>
    %5 = addi %n, %n overflow<no_wrap> : tile<i32>
    // CHECK: %6 = subi %arg0, %arg0 overflow<no_signed_wrap> : tile<i32>
    %6 = subi %n, %n overflow<no_signed_wrap> : tile<i32>
    // CHECK: %7 = muli %arg0, %arg0 overflow<no_unsigned_wrap> : tile<i32>
    %7 = muli %n, %n overflow<no_unsigned_wrap> : tile<i32>
    // CHECK: %8 = mulhii %cst_9_i64, %cst_9_i64 : tile<i64>
    %8 = mulhii %l, %l : tile<i64>
    // CHECK: %9 = divi %arg0, %arg0 signed : tile<i32>
    %9 = divi %n, %n signed : tile<i32>
    // CHECK: %10 = divi %arg0, %arg0 signed rounding<negative_inf> : tile<i32>
    %10 = divi %n, %n signed rounding<negative_inf> : tile<i32>
    // CHECK: %11 = divi %arg0, %arg0 unsigned rounding<positive_inf> : tile<i32>
    %11 = divi %n, %n unsigned rounding<positive_inf> : tile<i32>
    // CHECK: %12 = divi %arg0, %arg0 unsigned : tile<i32>
    %12 = divi %n, %n unsigned rounding<zero> : tile<i32>
    // CHECK: %13 = remi %arg0, %arg0 signed : tile<i32>
    %13 = remi %n, %n signed : tile<i32>
    // CHECK: %14 = remi %arg0, %arg0 unsigned : tile<i32>
    %14 = remi %n, %n unsigned : tile<i32>
    // CHECK: %15 = maxi %arg0, %arg0 signed : tile<i32>
    %15 = maxi %n, %n signed : tile<i32>
    // CHECK: %16 = mini %arg0, %arg0 unsigned : tile<i32>
    %16 = mini %n, %n unsigned : tile<i32>
    // CHECK: %17 = shli %arg0, %arg0 : tile<i32>
    %17 = shli %n, %n overflow<none> : tile<i32>
    // CHECK: %18 = shli %arg0, %arg0 overflow<no_wrap> : tile<i32>
    %18 = shli %n, %n overflow<no_wrap> : tile<i32>
    // CHECK: %19 = shri %arg0, %arg0 signed : tile<i32>
    %19 = shri %n, %n signed : tile<i32>
    // CHECK: %20 = andi %true, %true : tile<4xi1>
    %20 = andi %b, %b : tile<4xi1>
    // CHECK: %21 = ori %true, %true : tile<4xi1>
    %21 = ori %b, %b : tile<4xi1>
    // CHECK: %22 = xori %true, %true : tile<4xi1>
    %22 = xori %b, %b : tile<4xi1>
    // CHECK: %23 = cmpi equal %arg0, %arg0, signed : tile<i32> -> tile<i1>
    %23 = cmpi equal %n, %n, signed : tile<i32> -> tile<i1>
    // CHECK: %24 = cmpi greater_than_or_equal %arg0, %arg0, unsigned : tile<i32> -> tile<i1>
    %24 = cmpi greater_than_or_equal %n, %n, unsigned : tile<i32> -> tile<i1>
    // CHECK: %25 = addi %arg0, %arg0 {note = "kept"} : tile<i32>
    %25 = addi %n, %n {note = "kept"} : tile<i32>
    // CHECK: return
    return
  }

  // CHECK: entry @functions(%arg0: tile<f32>, %arg1: tile<f64>) {
  entry @functions(%x: tile<f32>, %d: tile<f64>) {
    // CHECK: %0 = exp %arg0  : tile<f32>
    %0 = exp %x : tile<f32>
    // CHECK: %1 = exp %arg0 rounding<approx> : tile<f32>
    %1 = exp %x rounding<approx> : tile<f32>
    // CHECK: %2 = exp %arg1  : tile<f64>
    %2 = exp %d rounding<full> : tile<f64>
    // CHECK: %3 = exp2 %arg0 flush_to_zero : tile<f32>
    %3 = exp2 %x flush_to_zero : tile<f32>
    // CHECK: %4 = exp2 %arg1 : tile<f64>
    %4 = exp2 %d : tile<f64>
    // CHECK: %5 = log %arg0 : tile<f32>
    %5 = log %x : tile<f32>
    // CHECK: %6 = log2 %arg0 : tile<f32>
    %6 = log2 %x : tile<f32>
    // CHECK: %7 = sqrt %arg0  : tile<f32>
    %7 = sqrt %x : tile<f32>
    // CHECK: %8 = sqrt %arg0 rounding<approx> flush_to_zero : tile<f32>
    %8 = sqrt %x rounding<approx> flush_to_zero : tile<f32>
    // CHECK: %9 = sqrt %arg1 rounding<zero> : tile<f64>
    %9 = sqrt %d rounding<zero> : tile<f64>
    // CHECK: %10 = rsqrt %arg0 flush_to_zero : tile<f32>
    %10 = rsqrt %x flush_to_zero : tile<f32>
    // CHECK: %11 = rsqrt %arg0 : tile<f32>
    %11 = rsqrt %x : tile<f32>
    // CHECK: %12 = sin %arg0 : tile<f32>
    %12 = sin %x : tile<f32>
    // CHECK: %13 = cos %arg0 : tile<f32>
    %13 = cos %x : tile<f32>
    // CHECK: %14 = tan %arg0 : tile<f32>
    %14 = tan %x : tile<f32>
    // CHECK: %15 = sinh %arg0 : tile<f32>
    %15 = sinh %x : tile<f32>
    // CHECK: %16 = cosh %arg0 : tile<f32>
    %16 = cosh %x : tile<f32>
    // CHECK: %17 = tanh %arg0  : tile<f32>
    %17 = tanh %x : tile<f32>
    // CHECK: %18 = tanh %arg0 rounding<approx> : tile<f32>
    %18 = tanh %x rounding<approx> : tile<f32>
    // CHECK: %19 = fpowf %arg0, %arg0 : tile<f32>
    %19 = fpowf %x, %x : tile<f32>
    // CHECK: %20 = atan2 %arg0, %arg0 : tile<f32>
    %20 = atan2 %x, %x : tile<f32>
    // CHECK: return
    return
  }
}
