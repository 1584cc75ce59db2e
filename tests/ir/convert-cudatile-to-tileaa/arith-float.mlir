// RUN: tileiras-opt %s --pass-pipeline='builtin.module(convert-cudatile-to-tileaa)' | tileiras-opt | FileCheck %s

// CHECK-LABEL: nv_tileaa.func @arith(
// CHECK-SAME: %[[S:.*]]: f32, %[[D:.*]]: f64)
cuda_tile.module @m {
  entry @arith(%s: tile<f32>, %d: tile<f64>) {
    %r = reshape %s : tile<f32> -> tile<1xf32>
    %a = broadcast %r : tile<1xf32> -> tile<8xf32>
    // CHECK: %[[A:.*]] = nv_tileaa.splat %[[S]] : f32 -> tensor<8xf32>
    // CHECK: arith.addf %[[A]], %[[A]] : tensor<8xf32>
    %0 = addf %a, %a : tile<8xf32>
    // CHECK: arith.addf %[[S]], %[[S]] : f32
    %1 = addf %s, %s : tile<f32>
    // CHECK: nv_tileaa.fp <sub> %[[A]], %[[A]] rounding <zero> : tensor<8xf32>
    %2 = subf %a, %a rounding<zero> : tile<8xf32>
    // CHECK: nv_tileaa.fp <mul> %[[S]], %[[S]] ftz : f32
    %3 = mulf %s, %s flush_to_zero : tile<f32>
    // CHECK: arith.mulf %[[D]], %[[D]] : f64
    %4 = mulf %d, %d : tile<f64>
    // CHECK: arith.divf
    %5 = divf %s, %s : tile<f32>
    // CHECK: nv_tileaa.fp <div> {{.*}} rounding <approx> ftz : f32
    %6 = divf %s, %s rounding<approx> flush_to_zero : tile<f32>
    // CHECK: nv_tileaa.fp <div> {{.*}} rounding <full> : f32
    %7 = divf %s, %s rounding<full> : tile<f32>
    // CHECK: math.fma %[[S]], %[[S]], %[[S]] : f32
    %8 = fma %s, %s, %s : tile<f32>
    // CHECK: nv_tileaa.fp <fma> {{.*}} rounding <positive_inf> : f32
    %9 = fma %s, %s, %s rounding<positive_inf> : tile<f32>
    // CHECK: math.sqrt
    %10 = sqrt %s : tile<f32>
    // CHECK: nv_tileaa.fp <sqrt> %{{.*}} rounding <approx> : f32
    %11 = sqrt %s rounding<approx> : tile<f32>
    // CHECK: math.rsqrt
    %12 = rsqrt %s : tile<f32>
    // CHECK: nv_tileaa.fp <rsqrt> %{{.*}} ftz : f32
    %13 = rsqrt %s flush_to_zero : tile<f32>
    // CHECK: math.exp2
    %14 = exp2 %s : tile<f32>
    // CHECK: nv_tileaa.fp <exp2> %{{.*}} ftz : f32
    %15 = exp2 %s flush_to_zero : tile<f32>
    // CHECK: math.exp %
    %16 = exp %s : tile<f32>
    // CHECK: nv_tileaa.fp <exp> %{{.*}} rounding <approx> : f32
    %17 = exp %s rounding<approx> : tile<f32>
    // CHECK: math.tanh
    %18 = tanh %s : tile<f32>
    // CHECK: nv_tileaa.fp <tanh> %{{.*}} rounding <approx> : f32
    %19 = tanh %s rounding<approx> : tile<f32>
    return
  }
}

// Only the dialect's own op prefers numbers over NaN and orders the zeros.
// CHECK-LABEL: nv_tileaa.func @max_min(
cuda_tile.module @m1 {
  entry @max_min(%a: tile<f32>, %b: tile<f32>) {
    // CHECK: nv_tileaa.fp <max> %arg0, %arg1 : f32
    %0 = maxf %a, %b : tile<f32>
    // CHECK: nv_tileaa.fp <min> %arg0, %arg1 ftz : f32
    %1 = minf %a, %b flush_to_zero : tile<f32>
    // CHECK: arith.maximumf %arg0, %arg1 : f32
    %2 = maxf %a, %b propagate_nan : tile<f32>
    // CHECK: arith.minimumf %arg0, %arg1 : f32
    %3 = minf %a, %b propagate_nan : tile<f32>
    // CHECK: nv_tileaa.fp <max_nan> %arg0, %arg1 ftz : f32
    %4 = maxf %a, %b flush_to_zero propagate_nan : tile<f32>
    // CHECK: nv_tileaa.fp <min_nan> %arg0, %arg1 ftz : f32
    %5 = minf %a, %b flush_to_zero propagate_nan : tile<f32>
    return
  }
}

// CHECK-LABEL: nv_tileaa.func @functions(
cuda_tile.module @m2 {
  entry @functions(%a: tile<f32>, %b: tile<f32>) {
    // CHECK: math.absf
    %0 = absf %a : tile<f32>
    // CHECK: arith.negf
    %1 = negf %a : tile<f32>
    // CHECK: math.ceil
    %2 = ceil %a : tile<f32>
    // CHECK: math.floor
    %3 = floor %a : tile<f32>
    // CHECK: math.log %
    %4 = log %a : tile<f32>
    // CHECK: math.log2
    %5 = log2 %a : tile<f32>
    // CHECK: math.sin %
    %6 = sin %a : tile<f32>
    // CHECK: math.cos %
    %7 = cos %a : tile<f32>
    // CHECK: math.tan %
    %8 = tan %a : tile<f32>
    // CHECK: math.sinh
    %9 = sinh %a : tile<f32>
    // CHECK: math.cosh
    %10 = cosh %a : tile<f32>
    // CHECK: math.powf %arg0, %arg1 : f32
    %11 = pow %a, %b : tile<f32>
    // CHECK: %[[Y:.*]] = nv_tileaa.fp <max> %arg1, %arg1 : f32
    // CHECK: math.atan2 %arg0, %[[Y]] : f32
    %12 = atan2 %a, %b : tile<f32>
    // CHECK: arith.remf %arg0, %arg1 : f32
    %13 = remf %a, %b : tile<f32>
    return
  }
}

// CHECK-LABEL: nv_tileaa.func @compare(
cuda_tile.module @m3 {
  entry @compare(%a: tile<f32>, %b: tile<f32>) {
    // CHECK: arith.cmpf oeq
    %0 = cmpf equal ordered %a, %b : tile<f32> -> tile<i1>
    // CHECK: arith.cmpf ueq
    %1 = cmpf equal unordered %a, %b : tile<f32> -> tile<i1>
    // CHECK: arith.cmpf one
    %2 = cmpf not_equal ordered %a, %b : tile<f32> -> tile<i1>
    // CHECK: arith.cmpf une
    %3 = cmpf not_equal unordered %a, %b : tile<f32> -> tile<i1>
    // CHECK: arith.cmpf olt
    %4 = cmpf less_than ordered %a, %b : tile<f32> -> tile<i1>
    // CHECK: arith.cmpf ult
    %5 = cmpf less_than unordered %a, %b : tile<f32> -> tile<i1>
    // CHECK: arith.cmpf ole
    %6 = cmpf less_than_or_equal ordered %a, %b : tile<f32> -> tile<i1>
    // CHECK: arith.cmpf ule
    %7 = cmpf less_than_or_equal unordered %a, %b : tile<f32> -> tile<i1>
    // CHECK: arith.cmpf ogt
    %8 = cmpf greater_than ordered %a, %b : tile<f32> -> tile<i1>
    // CHECK: arith.cmpf ugt
    %9 = cmpf greater_than unordered %a, %b : tile<f32> -> tile<i1>
    // CHECK: arith.cmpf oge
    %10 = cmpf greater_than_or_equal ordered %a, %b : tile<f32> -> tile<i1>
    // CHECK: arith.cmpf uge
    %11 = cmpf greater_than_or_equal unordered %a, %b : tile<f32> -> tile<i1>
    return
  }
}
