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
