// RUN: tileiras-opt %s --split-input-file --pass-pipeline='builtin.module(tileir-gpu-module-prepare)' --verify-diagnostics | FileCheck %s

gpu.module @m {
  // CHECK: llvm.func @plain() attributes {nvvm.kernel, nvvm.reqntid = array<i32: 128, 1, 1>}
  llvm.func @plain() attributes {nvvm.kernel, nv_tileas.num_warps = 4 : i64} {
    llvm.return
  }
  // CHECK: llvm.func @product() attributes {nvvm.kernel, nvvm.minctasm = 1 : i32, nvvm.reqntid = array<i32: 256, 1, 1>}
  llvm.func @product() attributes {nvvm.kernel, nv_tileas.multiplies, nv_tileas.num_warps = 8 : i64} {
    llvm.return
  }
  // The program asks for several blocks per multiprocessor, unless a plan has assigned the registers.
  // CHECK: llvm.func @wish() attributes {nvvm.kernel, nvvm.minctasm = 3 : i32, nvvm.reqntid = array<i32: 128, 1, 1>}
  llvm.func @wish() attributes {nvvm.kernel, nv_tileas.min_blocks = 3 : i64, nv_tileas.multiplies, nv_tileas.num_warps = 4 : i64} {
    llvm.return
  }
  // CHECK: llvm.func @planned() attributes {nvvm.kernel, nvvm.maxnreg = 168 : i32, nvvm.reqntid = array<i32: 384, 1, 1>}
  llvm.func @planned() attributes {nvvm.kernel, nv_tileas.max_registers = 168 : i64, nv_tileas.min_blocks = 3 : i64, nv_tileas.multiplies, nv_tileas.num_warps = 12 : i64} {
    llvm.return
  }
  // Launches count tile blocks, each of which is a cluster.
  // CHECK: llvm.func @shared() attributes {nvvm.cluster_dim = array<i32: 2, 1, 1>, nvvm.kernel, nvvm.reqntid = array<i32: 128, 1, 1>, passthrough = ["nvvm.blocksareclusters"]}
  llvm.func @shared() attributes {nvvm.kernel, nv_tileas.num_ctas = 2 : i64, nv_tileas.num_warps = 4 : i64} {
    llvm.return
  }
  // Existing NVVM attributes of a kernel are kept.
  // CHECK: llvm.func @own() attributes {nvvm.kernel, nvvm.reqntid = array<i32: 32, 2, 1>}
  llvm.func @own() attributes {nvvm.kernel, nvvm.reqntid = array<i32: 32, 2, 1>} {
    llvm.return
  }
  // CHECK: llvm.func internal @helper()
  llvm.func @helper() {
    llvm.return
  }
  // CHECK: llvm.func @declared()
  llvm.func @declared()
}
// Host functions do not belong in a GPU module.
// CHECK: llvm.func @host()
llvm.func @host() {
  llvm.return
}
// -----
gpu.module @m {
  // expected-error @below {{the kernel has neither 'nv_tileas.num_warps' nor 'nvvm.reqntid', so its block size is unknown}}
  llvm.func @unknown() attributes {nvvm.kernel} {
    llvm.return
  }
}
