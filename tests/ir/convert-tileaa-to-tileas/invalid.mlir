// RUN: not tileiras-opt %s --pass-pipeline='builtin.module(convert-tileaa-to-tileas{num-warps=3})' 2>&1 | FileCheck %s --check-prefix=WARPS
// RUN: not tileiras-opt %s --pass-pipeline='builtin.module(convert-tileaa-to-tileas)' 2>&1 | FileCheck %s

// WARPS: error: num-warps must be a power of two from 1 to 32, got 3
// CHECK: [[#@LINE+2]]:{{[0-9]+}}: error: 'nv_tileaa.dot_scaled' has no conversion to nv_tileas
nv_tileaa.func @scaled(%a: tensor<16x32xf8E4M3FN>, %b: tensor<32x8xf8E4M3FN>, %c: tensor<16x8xf32>, %s: tensor<16x1xf8E8M0FNU>, %t: tensor<1x8xf8E8M0FNU>) {
  %0 = nv_tileaa.dot_scaled %a scale %s, %b scale %t, %c : tensor<16x32xf8E4M3FN>, tensor<16x1xf8E8M0FNU>, tensor<32x8xf8E4M3FN>, tensor<1x8xf8E8M0FNU>, tensor<16x8xf32>
  nv_tileaa.return
}
