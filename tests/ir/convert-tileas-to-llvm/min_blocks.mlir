// RUN: tileiras-opt %s --pass-pipeline='builtin.module(convert-tileas-to-llvm{compute-capability=sm_90})' | FileCheck %s

// Several blocks per multiprocessor are requested if their threads fit into the 2048 of this target.
gpu.module @kernels {
  // CHECK: llvm.func @fits()
  // CHECK-SAME: nv_tileas.min_blocks = 16 : i64
  nv_tileaa.func @fits() attributes {numWarps = 4 : i64, hints = {sm_90 = {min_ctas_per_sm = 16 : i64}}} {
    nv_tileaa.return
  }
  // CHECK: llvm.func @by_default()
  // CHECK-SAME: nv_tileas.min_blocks = 2 : i64
  nv_tileaa.func @by_default() attributes {numWarps = 4 : i64, hints = {default = {min_ctas_per_sm = 2 : i64}, sm_80 = {min_ctas_per_sm = 3 : i64}}} {
    nv_tileaa.return
  }
  // CHECK: llvm.func @too_many()
  // CHECK-NOT: nv_tileas.min_blocks
  nv_tileaa.func @too_many() attributes {numWarps = 4 : i64, hints = {sm_90 = {min_ctas_per_sm = 17 : i64}}} {
    nv_tileaa.return
  }
  // Zero requests nothing.
  // CHECK: llvm.func @none()
  nv_tileaa.func @none() attributes {numWarps = 4 : i64, hints = {sm_90 = {min_ctas_per_sm = 0 : i64}}} {
    nv_tileaa.return
  }
}

// Two tensors of 128 registers do not fit the 128 registers that each of 512 threads can have. ptxas would spill almost
// all of them to fit four blocks. One such tensor fits 256 threads.
#wide = #nv_tileas.layout<register = [1, 2, 4, 8, 16, 32, 64], lane = [128, 256, 512, 1024, 2048], warp = [4096, 8192, 16384, 32768]>
#half = #nv_tileas.layout<register = [1, 2, 4, 8, 16, 32, 64], lane = [128, 256, 512, 1024, 2048], warp = [4096, 8192, 16384]>
gpu.module @registers {
  // CHECK: llvm.func @exceeded(
  // CHECK-SAME: nv_tileas.min_blocks = 1 : i64
  nv_tileaa.func @exceeded(%p: f32, %q: f32) attributes {numWarps = 16 : i64} {
    %x = nv_tileas.splat %p : f32 -> tensor<65536xf32, #wide>
    %y = nv_tileaa.fp <exp> %x : tensor<65536xf32, #wide>
    %z = nv_tileaa.fp <tanh> %x : tensor<65536xf32, #wide>
    %0 = nv_tileaa.fp <add> %y, %z : tensor<65536xf32, #wide>
    nv_tileaa.return
  }
  // CHECK: llvm.func @enough(
  // CHECK-NOT: nv_tileas.min_blocks
  nv_tileaa.func @enough(%p: f32) attributes {numWarps = 8 : i64} {
    %x = nv_tileas.splat %p : f32 -> tensor<32768xf32, #half>
    %y = nv_tileaa.fp <exp> %x : tensor<32768xf32, #half>
    nv_tileaa.return
  }
}
