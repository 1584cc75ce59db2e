// RUN: not tileiras-opt %s --split-input-file --pass-pipeline='builtin.module(convert-cudatile-to-tileaa)' 2>&1 | FileCheck %s

// CHECK: error: type tensor<4xf32> has no conversion to nv_tileaa
cuda_tile.module @m {
  entry @argument(%x: tensor<4xf32>) {
    return
  }
}

// -----

// CHECK: error: 'arith.constant' op has no conversion to nv_tileaa
cuda_tile.module @m {
  entry @foreign() {
    %0 = "arith.constant"() <{value = 1 : i32}> : () -> i32
    return
  }
}
