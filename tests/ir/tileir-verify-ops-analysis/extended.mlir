// RUN: tileiras-opt %s --split-input-file --pass-pipeline='builtin.module(tileir-verify-ops-analysis{compute-capability=sm_86 extended-smem=true})' --verify-diagnostics

// The shared memory that ptxas accepts if it is told to.
gpu.module @m {
  llvm.mlir.global internal @a() {addr_space = 3 : i32} : !llvm.array<101376 x i8>
}
// -----
gpu.module @m {
  // expected-error @below {{tiles take 101377 bytes of shared memory, but a block has only 101376 on sm_86}}
  llvm.mlir.global internal @a() {addr_space = 3 : i32} : !llvm.array<101377 x i8>
}
