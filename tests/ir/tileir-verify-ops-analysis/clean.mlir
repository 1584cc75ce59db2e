// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileir-verify-ops-analysis{compute-capability=sm_90})' | FileCheck %s
// RUN: not tileiras-opt %s --pass-pipeline='builtin.module(tileir-verify-ops-analysis{compute-capability=sm_75})' 2>&1 | FileCheck %s --check-prefix=TARGET

// A limit of one target may not apply to another; functions that are not kernels can have any parameters.
// CHECK: llvm.func @k
// TARGET: error: unknown target 'sm_75'
gpu.module @m {
  llvm.mlir.global internal @a() {addr_space = 3 : i32} : !llvm.array<200000 x i8>
  llvm.func @k(%x: !llvm.array<512 x i64>, %p: !llvm.ptr<1>) attributes {nvvm.kernel, nv_tileas.num_warps = 32 : i64} {
    nvvm.barrier0
    llvm.return
  }
  llvm.func @f(%x: !llvm.array<9999 x i64>) {
    llvm.return
  }
}
