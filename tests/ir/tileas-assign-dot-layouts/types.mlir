// RUN: tileiras-opt %s --pass-pipeline='builtin.module(convert-tileaa-to-tileas{num-warps=4},tileas-assign-dot-layouts{compute-capability=sm_80})' | FileCheck %s --check-prefixes=CHECK,SM80
// RUN: tileiras-opt %s --pass-pipeline='builtin.module(convert-tileaa-to-tileas{num-warps=4},tileas-assign-dot-layouts{compute-capability=sm_89})' | FileCheck %s --check-prefixes=CHECK,SM89
// RUN: not tileiras-opt %s --pass-pipeline='builtin.module(convert-tileaa-to-tileas{num-warps=4},tileas-assign-dot-layouts{compute-capability=sm_75})' 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// The types, the depth and the target determine the instruction.
// UNKNOWN: unknown target 'sm_75'

// CHECK-LABEL: nv_tileaa.func @f16(
// CHECK: nv_tileas.dot {{.*}} by <sync, [16, 8, 16]> : tensor<64x64xf16,
nv_tileaa.func @f16() {
  %a = arith.constant dense<1.0> : tensor<64x64xf16>
  %c = arith.constant dense<0.0> : tensor<64x64xf32>
  %0 = nv_tileaa.dot %a, %a, %c : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
  nv_tileaa.return
}

// A depth of eight or less: the shallower form.
// CHECK-LABEL: nv_tileaa.func @shallow(
// CHECK: nv_tileas.dot {{.*}} by <sync, [16, 8, 8]> : tensor<64x4xbf16,
nv_tileaa.func @shallow() {
  %a = arith.constant dense<1.0> : tensor<64x4xbf16>
  %b = arith.constant dense<1.0> : tensor<4x64xbf16>
  %c = arith.constant dense<0.0> : tensor<64x64xf32>
  %0 = nv_tileaa.dot %a, %b, %c : tensor<64x4xbf16>, tensor<4x64xbf16>, tensor<64x64xf32>
  nv_tileaa.return
}

// CHECK-LABEL: nv_tileaa.func @tf32(
// CHECK: nv_tileas.dot {{.*}} by <sync, [16, 8, 8]> : tensor<64x64xtf32,
nv_tileaa.func @tf32() {
  %a = arith.constant dense<1.0> : tensor<64x64xtf32>
  %c = arith.constant dense<0.0> : tensor<64x64xf32>
  %0 = nv_tileaa.dot %a, %a, %c : tensor<64x64xtf32>, tensor<64x64xtf32>, tensor<64x64xf32>
  nv_tileaa.return
}

// All bits of f32 are significant, which tensor cores do not support.
// CHECK-LABEL: nv_tileaa.func @f32(
// CHECK: nv_tileas.dot {{.*}} by <fma> : tensor<64x64xf32,
nv_tileaa.func @f32() {
  %a = arith.constant dense<1.0> : tensor<64x64xf32>
  %0 = nv_tileaa.dot %a, %a, %a : tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>
  nv_tileaa.return
}

// CHECK-LABEL: nv_tileaa.func @f64(
// CHECK: nv_tileas.dot {{.*}} by <sync, [8, 8, 4]> : tensor<64x64xf64,
nv_tileaa.func @f64() {
  %a = arith.constant dense<1.0> : tensor<64x64xf64>
  %0 = nv_tileaa.dot %a, %a, %a : tensor<64x64xf64>, tensor<64x64xf64>, tensor<64x64xf64>
  nv_tileaa.return
}

// CHECK-LABEL: nv_tileaa.func @i8(
// CHECK: nv_tileas.dot {{.*}} by <sync, [16, 8, 32]> rhs_unsigned : tensor<64x64xi8,
nv_tileaa.func @i8() {
  %a = arith.constant dense<1> : tensor<64x64xi8>
  %c = arith.constant dense<0> : tensor<64x64xi32>
  %0 = nv_tileaa.dot %a, %a, %c rhs_unsigned : tensor<64x64xi8>, tensor<64x64xi8>, tensor<64x64xi32>
  nv_tileaa.return
}

// If no instruction multiplies 8-bit floats, they are widened without loss.
// CHECK-LABEL: nv_tileaa.func @f8(
// SM80-COUNT-2: nv_tileaa.fp_cast {{.*}} : tensor<64x64xf8E5M2, {{.*}} -> tensor<64x64xf16,
// SM80: nv_tileas.dot {{.*}} by <sync, [16, 8, 16]> : tensor<64x64xf16,
// SM89-NOT: fp_cast
// SM89: nv_tileas.dot {{.*}} by <sync, [16, 8, 32]> : tensor<64x64xf8E5M2,
nv_tileaa.func @f8() {
  %a = arith.constant dense<1.0> : tensor<64x64xf8E5M2>
  %c = arith.constant dense<0.0> : tensor<64x64xf32>
  %0 = nv_tileaa.dot %a, %a, %c : tensor<64x64xf8E5M2>, tensor<64x64xf8E5M2>, tensor<64x64xf32>
  nv_tileaa.return
}

// An instruction is not deeper than the block of a scale.
// CHECK-LABEL: nv_tileaa.func @scaled(
// CHECK-COUNT-2: nv_tileaa.fp_cast {{.*}} : tensor<64x64xf4E2M1FN, {{.*}} -> tensor<64x64xf16,
// CHECK: nv_tileas.block_scaled_mma {{.*}} by <sync, [16, 8, 16]> : tensor<64x64xf16,
nv_tileaa.func @scaled() {
  %a = arith.constant dense<1.0> : tensor<64x64xf4E2M1FN>
  %s = arith.constant dense<1.0> : tensor<64x4xf8E4M3FN>
  %t = arith.constant dense<1.0> : tensor<4x64xf8E4M3FN>
  %c = arith.constant dense<0.0> : tensor<64x64xf32>
  %0 = nv_tileaa.dot_scaled %a scale %s, %a scale %t, %c : tensor<64x64xf4E2M1FN>, tensor<64x4xf8E4M3FN>, tensor<64x64xf4E2M1FN>, tensor<4x64xf8E4M3FN>, tensor<64x64xf32>
  nv_tileaa.return
}
