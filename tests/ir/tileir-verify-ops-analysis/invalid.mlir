// RUN: tileiras-opt %s --split-input-file --pass-pipeline='builtin.module(tileir-verify-ops-analysis{compute-capability=sm_80})' --verify-diagnostics

gpu.module @m {
  llvm.func @k() attributes {nvvm.kernel, nv_tileas.num_warps = 4 : i64} {
    // expected-error @below {{'nv_tileas.barrier' is left over: no pass before this one lowers it}}
    nv_tileas.barrier
    llvm.return
  }
}
// -----
gpu.module @m {
  // expected-error @below {{a block of 2048 threads is more than the 1024 of sm_80}}
  llvm.func @k() attributes {nvvm.kernel, nv_tileas.num_warps = 64 : i64} {
    llvm.return
  }
}
// -----
gpu.module @m {
  // expected-error @below {{a block of 1056 threads is more than the 1024 of sm_80}}
  llvm.func @k() attributes {nvvm.kernel, nvvm.reqntid = array<i32: 33, 32, 1>} {
    llvm.return
  }
}
// -----
gpu.module @m {
  // expected-error @below {{tiles take 49156 bytes of shared memory, and a block has 49152 on sm_80}}
  llvm.mlir.global internal @a() {addr_space = 3 : i32} : !llvm.array<49152 x i8>
  llvm.mlir.global internal @b() {addr_space = 3 : i32} : !llvm.array<2 x array<1 x i16>>
}
// -----
gpu.module @m {
  // expected-error @below {{parameters take 4104 bytes, and kernels for sm_80 have room for 4096}}
  llvm.func @k(%x: !llvm.array<512 x i64>, %p: !llvm.ptr<1>) attributes {nvvm.kernel, nv_tileas.num_warps = 4 : i64} {
    llvm.return
  }
}
