// RUN: not tileiras-opt %s --pass-pipeline='builtin.module(convert-tileaa-to-tileas{num-warps=3})' 2>&1 | FileCheck %s --check-prefix=WARPS
// RUN: not tileiras-opt %s --pass-pipeline='builtin.module(convert-tileaa-to-tileas)' 2>&1 | FileCheck %s

// WARPS: error: num-warps must be a power of two from 1 to 32, got 3
// CHECK: [[#@LINE+3]]:{{[0-9]+}}: error: 'nv_tileaa.cat' has no conversion to nv_tileas
nv_tileaa.func @cat(%n: i32) {
  %r = nv_tileaa.make_range : tensor<16xi32>
  %c = nv_tileaa.cat %r, %r, 0 : tensor<16xi32>, tensor<16xi32> -> tensor<32xi32>
  nv_tileaa.return
}
