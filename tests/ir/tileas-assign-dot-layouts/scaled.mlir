// RUN: tileiras-opt %s --pass-pipeline='builtin.module(convert-tileaa-to-tileas{num-warps=1},tileas-assign-dot-layouts{compute-capability=sm_120})' | FileCheck %s --check-prefixes=CHECK,NATIVE
// RUN: tileiras-opt %s --pass-pipeline='builtin.module(convert-tileaa-to-tileas{num-warps=1},tileas-assign-dot-layouts{compute-capability=sm_90})' | FileCheck %s --check-prefixes=CHECK,SUMS
// RUN: tileiras-opt %s --remarks --pass-pipeline='builtin.module(convert-tileaa-to-tileas{num-warps=1},tileas-assign-dot-layouts{compute-capability=sm_90})' 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: tileiras-opt %s --remarks --pass-pipeline='builtin.module(convert-tileaa-to-tileas{num-warps=1},tileas-assign-dot-layouts{compute-capability=sm_120})' 2>&1 | FileCheck %s --check-prefix=NONE
// REMARK-COUNT-2: ScalesInRegisters: the target has no `mma` with block scales: the scales are applied in registers to each block's sum
// NONE-NOT: ScalesInRegisters

// The scales of row g are in lane 4g, those of row g + 8 in lane 4g + 1, and those of column g in lane 4g. Scales
// along K are contiguous. A word of the deeper instruction has eight 4-bit elements.

// CHECK-LABEL: nv_tileaa.func @bytes(
// NATIVE: nv_tileas.block_scaled_mma {{.*}} by <block_scale, [16, 8, 32]> : tensor<32x64xf8E4M3FN, {{.*}}>, tensor<32x2xf8E8M0FNU, #nv_tileas.layout<register = [1], lane = [16, 32, 2, 4, 8], warp = []>>, tensor<64x8xf8E4M3FN, {{.*}}>, tensor<2x8xf8E8M0FNU, #nv_tileas.layout<register = [8], lane = [0, 0, 1, 2, 4], warp = []>>
// SUMS: nv_tileas.block_scaled_mma {{.*}} by <sync, [16, 8, 32]> : tensor<32x64xf8E4M3FN,
nv_tileaa.func @bytes() {
  %a = arith.constant dense<1.0> : tensor<32x64xf8E4M3FN>
  %b = arith.constant dense<1.0> : tensor<64x8xf8E4M3FN>
  %s = arith.constant dense<1.0> : tensor<32x2xf8E8M0FNU>
  %t = arith.constant dense<1.0> : tensor<2x8xf8E8M0FNU>
  %c = arith.constant dense<0.0> : tensor<32x8xf32>
  %0 = nv_tileaa.dot_scaled %a scale %s, %b scale %t, %c : tensor<32x64xf8E4M3FN>, tensor<32x2xf8E8M0FNU>, tensor<64x8xf8E4M3FN>, tensor<2x8xf8E8M0FNU>, tensor<32x8xf32>
  nv_tileaa.return
}

// CHECK-LABEL: nv_tileaa.func @nibbles(
// NATIVE-NOT: fp_cast
// NATIVE: nv_tileas.block_scaled_mma {{.*}} by <block_scale, [16, 8, 64]> : tensor<16x64xf4E2M1FN, #nv_tileas.layout<register = [1, 2, 4, 512, 32], lane = [8, 16, 64, 128, 256], warp = []>>, {{.*}}, tensor<64x8xf4E2M1FN, #nv_tileas.layout<register = [8, 16, 32, 256], lane = [64, 128, 1, 2, 4], warp = []>>,
// SUMS-COUNT-2: nv_tileaa.fp_cast
// SUMS: nv_tileas.block_scaled_mma {{.*}} by <sync, [16, 8, 16]> : tensor<16x64xf16,
nv_tileaa.func @nibbles() {
  %a = arith.constant dense<1.0> : tensor<16x64xf4E2M1FN>
  %b = arith.constant dense<1.0> : tensor<64x8xf4E2M1FN>
  %s = arith.constant dense<1.0> : tensor<16x4xf8E4M3FN>
  %t = arith.constant dense<1.0> : tensor<4x8xf8E4M3FN>
  %c = arith.constant dense<0.0> : tensor<16x8xf32>
  %0 = nv_tileaa.dot_scaled %a scale %s, %b scale %t, %c : tensor<16x64xf4E2M1FN>, tensor<16x4xf8E4M3FN>, tensor<64x8xf4E2M1FN>, tensor<4x8xf8E4M3FN>, tensor<16x8xf32>
  nv_tileaa.return
}
