// RUN: tileiras-opt %s --split-input-file --pass-pipeline='builtin.module(convert-tileas-to-llvm{compute-capability=sm_80})' --verify-diagnostics

// Instructions that are not implemented, and instructions that the target lacks, cause an error at the op.
#c = #nv_tileas.layout<register = [1, 64], lane = [2, 4, 8, 16, 32], warp = []>
#a = #nv_tileas.layout<register = [64, 4], lane = [1, 2, 8, 16, 32], warp = []>
#b = #nv_tileas.layout<register = [32], lane = [8, 16, 1, 2, 4], warp = []>
gpu.module @kernels {
  nv_tileaa.func @f(%i: f64) attributes {numWarps = 1 : i64} {
    %x = nv_tileas.splat %i : f64 -> tensor<16x8xf64, #a>
    %y = nv_tileas.splat %i : f64 -> tensor<8x8xf64, #b>
    %z = nv_tileas.splat %i : f64 -> tensor<16x8xf64, #c>
    // expected-error @below {{#nv_tileas.mma<sync, [16, 8, 8]> exists for these elements, but has no lowering to LLVM yet}}
    %0 = nv_tileas.dot %x, %y, %z by <sync, [16, 8, 8]> : tensor<16x8xf64, #a>, tensor<8x8xf64, #b>, tensor<16x8xf64, #c>
    nv_tileaa.return
  }
}

// -----

#c = #nv_tileas.layout<register = [1, 64], lane = [2, 4, 8, 16, 32], warp = []>
#a = #nv_tileas.layout<register = [1, 2, 256, 16], lane = [4, 8, 32, 64, 128], warp = []>
#b = #nv_tileas.layout<register = [8, 16, 128], lane = [32, 64, 1, 2, 4], warp = []>
gpu.module @kernels {
  nv_tileaa.func @f(%i: f8E4M3FN, %s: f32) attributes {numWarps = 1 : i64} {
    %x = nv_tileas.splat %i : f8E4M3FN -> tensor<16x32xf8E4M3FN, #a>
    %y = nv_tileas.splat %i : f8E4M3FN -> tensor<32x8xf8E4M3FN, #b>
    %z = nv_tileas.splat %s : f32 -> tensor<16x8xf32, #c>
    // expected-error @below {{#nv_tileas.mma<sync, [16, 8, 32]> needs fp8-mma, which sm_80 does not have}}
    %0 = nv_tileas.dot %x, %y, %z by <sync, [16, 8, 32]> : tensor<16x32xf8E4M3FN, #a>, tensor<32x8xf8E4M3FN, #b>, tensor<16x8xf32, #c>
    nv_tileaa.return
  }
}
