// RUN: tileiras-opt %s --split-input-file --pass-pipeline='builtin.module(tileir-verify-ops-analysis{compute-capability=sm_80})' --verify-diagnostics

gpu.module @m {
  llvm.func @k() attributes {nvvm.kernel, nv_tileas.num_warps = 4 : i64} {
    // expected-error @below {{'nv_tileas.barrier' was not lowered by any earlier pass}}
    nv_tileas.barrier
    llvm.return
  }
}
// -----
gpu.module @m {
  // expected-error @below {{a block of 2048 threads exceeds the limit of 1024 on sm_80}}
  llvm.func @k() attributes {nvvm.kernel, nv_tileas.num_warps = 64 : i64} {
    llvm.return
  }
}
// -----
gpu.module @m {
  // expected-error @below {{a block of 1056 threads exceeds the limit of 1024 on sm_80}}
  llvm.func @k() attributes {nvvm.kernel, nvvm.reqntid = array<i32: 33, 32, 1>} {
    llvm.return
  }
}
// -----
gpu.module @m {
  // expected-error @below {{tiles take 49156 bytes of shared memory, but a block has only 49152 on sm_80}}
  llvm.mlir.global internal @a() {addr_space = 3 : i32} : !llvm.array<49152 x i8>
  llvm.mlir.global internal @b() {addr_space = 3 : i32} : !llvm.array<2 x array<1 x i16>>
}
// -----
gpu.module @m {
  // expected-error @below {{parameters take 4104 bytes, but kernels for sm_80 can take at most 4096}}
  llvm.func @k(%x: !llvm.array<512 x i64>, %p: !llvm.ptr<1>) attributes {nvvm.kernel, nv_tileas.num_warps = 4 : i64} {
    llvm.return
  }
}
