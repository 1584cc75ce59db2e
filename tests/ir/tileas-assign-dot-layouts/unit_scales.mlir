// RUN: tileiras-opt %s --pass-pipeline='builtin.module(convert-tileaa-to-tileas{num-warps=4},tileas-assign-dot-layouts{compute-capability=sm_120})' | FileCheck %s --check-prefixes=CHECK,SCALED
// RUN: tileiras-opt %s --pass-pipeline='builtin.module(convert-tileaa-to-tileas{num-warps=4},tileas-assign-dot-layouts{compute-capability=sm_120 unit-scales=false})' | FileCheck %s --check-prefixes=CHECK,PLAIN
// RUN: tileiras-opt %s --pass-pipeline='builtin.module(convert-tileaa-to-tileas{num-warps=4},tileas-assign-dot-layouts{compute-capability=sm_89})' | FileCheck %s --check-prefixes=CHECK,PLAIN
// RUN: tileiras-opt %s --remarks --pass-pipeline='builtin.module(convert-tileaa-to-tileas{num-warps=4},tileas-assign-dot-layouts{compute-capability=sm_121})' 2>&1 | FileCheck %s --check-prefix=REMARK
// 8-bit floats with f32 accumulators use the instruction with block scales, all of them one.
// REMARK-COUNT-2: UnitScales: 8-bit floats use the instruction with block scales, all of them one
// REMARK-NOT: UnitScales

// CHECK-LABEL: nv_tileaa.func @e4m3(
// SCALED: nv_tileas.dot {{.*}} by <block_scale, [16, 8, 32]> : tensor<64x64xf8E4M3FN,
// PLAIN: nv_tileas.dot {{.*}} by <sync, [16, 8, 32]> : tensor<64x64xf8E4M3FN,
nv_tileaa.func @e4m3() {
  %a = arith.constant dense<1.0> : tensor<64x64xf8E4M3FN>
  %c = arith.constant dense<0.0> : tensor<64x64xf32>
  %0 = nv_tileaa.dot %a, %a, %c : tensor<64x64xf8E4M3FN>, tensor<64x64xf8E4M3FN>, tensor<64x64xf32>
  nv_tileaa.return
}

// CHECK-LABEL: nv_tileaa.func @e5m2(
// SCALED: nv_tileas.dot {{.*}} by <block_scale, [16, 8, 32]> : tensor<64x64xf8E5M2,
// PLAIN: nv_tileas.dot {{.*}} by <sync, [16, 8, 32]> : tensor<64x64xf8E5M2,
nv_tileaa.func @e5m2() {
  %a = arith.constant dense<1.0> : tensor<64x64xf8E5M2>
  %c = arith.constant dense<0.0> : tensor<64x64xf32>
  %0 = nv_tileaa.dot %a, %a, %c : tensor<64x64xf8E5M2>, tensor<64x64xf8E5M2>, tensor<64x64xf32>
  nv_tileaa.return
}

// The instruction accumulates in f32 only.
// CHECK-LABEL: nv_tileaa.func @f16(
// CHECK: nv_tileas.dot {{.*}} by <sync, [16, 8, 32]>
nv_tileaa.func @f16() {
  %a = arith.constant dense<1.0> : tensor<64x64xf8E4M3FN>
  %c = arith.constant dense<0.0> : tensor<64x64xf16>
  %0 = nv_tileaa.dot %a, %a, %c : tensor<64x64xf8E4M3FN>, tensor<64x64xf8E4M3FN>, tensor<64x64xf16>
  nv_tileaa.return
}

// Nor does it have a shallow form.
// CHECK-LABEL: nv_tileaa.func @shallow(
// CHECK: nv_tileas.dot {{.*}} by <sync,
nv_tileaa.func @shallow() {
  %a = arith.constant dense<1.0> : tensor<64x16xf8E4M3FN>
  %b = arith.constant dense<1.0> : tensor<16x64xf8E4M3FN>
  %c = arith.constant dense<0.0> : tensor<64x64xf32>
  %0 = nv_tileaa.dot %a, %b, %c : tensor<64x16xf8E4M3FN>, tensor<16x64xf8E4M3FN>, tensor<64x64xf32>
  nv_tileaa.return
}
