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
    // expected-error @+1 {{tensor has no layout}}
    %a = arith.constant dense<1> : tensor<32xi32>
    %b = arith.addi %a, %a : tensor<32xi32>
    nv_tileaa.return
  }
}

// -----

#pair = #nv_tileas.layout<register = [], lane = [1, 0, 0, 0, 0], warp = [0, 0]>
gpu.module @kernels {
  nv_tileaa.func @dense() attributes {numWarps = 4 : i64} {
    // expected-error @+1 {{constant tensors with different elements have no lowering to LLVM}}
    %c = arith.constant dense<[1, 2]> : tensor<2xi32, #pair>
    nv_tileaa.return
  }
}
