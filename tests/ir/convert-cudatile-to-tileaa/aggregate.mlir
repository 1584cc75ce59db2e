// RUN: tileiras-opt %s --pass-pipeline='builtin.module(convert-cudatile-to-tileaa)' | tileiras-opt | FileCheck %s

// CHECK-LABEL: nv_tileaa.func @products(
cuda_tile.module @m {
  entry @products() {
    %a = constant <f16: 1.0> : tile<16x32xf16>
    %b = constant <f16: 1.0> : tile<32x8xf16>
    %c = constant <f32: 0.0> : tile<16x8xf32>
    // CHECK: nv_tileaa.dot %{{.*}}, %{{.*}}, %{{.*}} : tensor<16x32xf16>, tensor<32x8xf16>, tensor<16x8xf32>
    %0 = mmaf %a, %b, %c : tile<16x32xf16>, tile<32x8xf16>, tile<16x8xf32>
    // CHECK: nv_tileaa.dot %{{.*}}, %{{.*}}, %{{.*}} fast_acc : tensor<16x32xf8E4M3FN>
    %d = ftof %a : tile<16x32xf16> -> tile<16x32xf8E4M3FN>
    %e = ftof %b : tile<32x8xf16> -> tile<32x8xf8E4M3FN>
    %1 = mmaf %d, %e, %c fast_acc : tile<16x32xf8E4M3FN>, tile<32x8xf8E4M3FN>, tile<16x8xf32>
    // CHECK: nv_tileaa.dot %{{.*}}, %{{.*}}, %{{.*}} rhs_unsigned : tensor<2x4x4xi8>, tensor<2x4x4xi8>, tensor<2x4x4xi32>
    %f = constant <i8: 1> : tile<2x4x4xi8>
    %g = constant <i32: 1> : tile<2x4x4xi32>
    %2 = mmai %f, %f, %g signed unsigned : tile<2x4x4xi8>, tile<2x4x4xi8>, tile<2x4x4xi32>
    // CHECK: nv_tileaa.dot_scaled %{{.*}} scale %{{.*}}, %{{.*}} scale %{{.*}}, %{{.*}} : tensor<16x32xf8E4M3FN>, tensor<16x1xf8E8M0FNU>, tensor<32x8xf8E4M3FN>, tensor<1x8xf8E8M0FNU>, tensor<16x8xf32>
    %s = constant <f8E8M0FNU: 1.0> : tile<16x1xf8E8M0FNU>
    %t = constant <f8E8M0FNU: 1.0> : tile<1x8xf8E8M0FNU>
    %3 = mmaf_scaled %d, %e, %c, %s, %t : tile<16x32xf8E4M3FN>, tile<32x8xf8E4M3FN>, tile<16x8xf32>, tile<16x1xf8E8M0FNU>, tile<1x8xf8E8M0FNU>
    return
  }
}

// CHECK-LABEL: nv_tileaa.func @reductions(
cuda_tile.module @m1 {
  entry @reductions() {
    %a = constant <f32: 1.0> : tile<4x8xf32>
    // CHECK: %[[R:.*]] = nv_tileaa.reduce %{{.*}} dim 1 identities [0.000000e+00 : f32] : tensor<4x8xf32> -> tensor<4xf32> {
    // CHECK-NEXT: ^bb0(%[[X:.*]]: f32, %[[Y:.*]]: f32):
    // CHECK-NEXT: %[[S:.*]] = arith.addf %[[X]], %[[Y]] : f32
    // CHECK-NEXT: nv_tileaa.yield %[[S]] : f32
    %r = reduce %a dim=1 identities=[0.0 : f32] : tile<4x8xf32> -> tile<4xf32> (%x: tile<f32>, %y: tile<f32>) {
      %s = addf %x, %y : tile<f32>
      yield %s : tile<f32>
    }
    // CHECK: nv_tileaa.reduce %[[R]] dim 0 identities [{{.*}} : f32] : tensor<4xf32> -> f32
    %q = reduce %r dim=0 identities=[0xFF800000 : f32] : tile<4xf32> -> tile<f32> (%x: tile<f32>, %y: tile<f32>) {
      %s = maxf %x, %y : tile<f32>
      yield %s : tile<f32>
    }
    // Identities get the type of the operand.
    // CHECK: nv_tileaa.reduce %{{.*}}, %{{.*}} dim 0 identities [1.000000e+00 : f16, 0 : i32] : tensor<4xf16>, tensor<4xi32> -> f16, i32 {
    // CHECK-NEXT: ^bb0(%{{.*}}: f16, %{{.*}}: f16, %{{.*}}: i32, %{{.*}}: i32):
    %h = constant <f16: 1.0> : tile<4xf16>
    %i = iota : tile<4xi32>
    %v:2 = reduce %h, %i dim=0 identities=[1.0 : bf16, 0 : i32] : tile<4xf16>, tile<4xi32> -> tile<f16>, tile<i32> (%x: tile<f16>, %y: tile<f16>, %j: tile<i32>, %k: tile<i32>) {
      %s = mulf %x, %y : tile<f16>
      %t = addi %j, %k : tile<i32>
      yield %s, %t : tile<f16>, tile<i32>
    }
    // CHECK: nv_tileaa.scan %{{.*}} dim 1 reverse identities [0.000000e+00 : f32] : tensor<4x8xf32> -> tensor<4x8xf32>
    %w = scan %a dim=1 reverse=true identities=[0.0 : f32] : tile<4x8xf32> -> tile<4x8xf32> (%x: tile<f32>, %y: tile<f32>) {
      %s = addf %x, %y : tile<f32>
      yield %s : tile<f32>
    }
    return
  }
}
