// RUN: not tileiras-opt %s --pass-pipeline='builtin.module(convert-tileaa-to-tileas{num-warps=3})' 2>&1 | FileCheck %s

// CHECK: error: num-warps must be a power of two from 1 to 32, got 3
nv_tileaa.func @empty() {
  nv_tileaa.return
}
