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
  // What a kernel says in NVVM's terms stays.
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
// The host's functions are none of a GPU module's.
// CHECK: llvm.func @host()
llvm.func @host() {
  llvm.return
}
// -----
gpu.module @m {
  // expected-error @below {{the kernel does not say how many warps its blocks have}}
  llvm.func @unknown() attributes {nvvm.kernel} {
    llvm.return
  }
}
