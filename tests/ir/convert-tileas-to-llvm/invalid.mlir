// RUN: tileiras-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(convert-tileas-to-llvm)'
gpu.module @kernels {
  // expected-error @+1 {{function has no numWarps; run convert-tileaa-to-tileas first}}
  nv_tileaa.func @no_warps() {
    nv_tileaa.return
  }
}

// -----

gpu.module @kernels {
  nv_tileaa.func @unknown(%c: i1) attributes {numWarps = 4 : i64} {
    // expected-error @+1 {{'nv_tileaa.assert' has no lowering to LLVM}}
    nv_tileaa.assert %c, "no" : i1
    nv_tileaa.return
  }
}

// -----

gpu.module @kernels {
  nv_tileaa.func @no_layout(%c: i32) attributes {numWarps = 4 : i64} {
    %a = arith.constant dense<1> : tensor<32xi32>
    // expected-error @+1 {{tensor has no layout}}
    %b = arith.addi %a, %a : tensor<32xi32>
    nv_tileaa.return
  }
}
