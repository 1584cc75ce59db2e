// RUN: tileiras-opt %s --split-input-file --pass-pipeline='builtin.module(tileir-post-nvvm-finalize)' --verify-diagnostics | FileCheck %s

// Unused symbols are removed, except those that the host may look up.
// CHECK: gpu.module @m
// CHECK-NOT: @unused
// CHECK: llvm.mlir.global internal @used
// CHECK: llvm.mlir.global external @found_by_the_host
// CHECK-NOT: @free
// CHECK: llvm.func @malloc(i64) -> !llvm.ptr
// CHECK: llvm.func @k() attributes {nvvm.kernel}
gpu.module @m {
  llvm.mlir.global internal @unused() : i32
  llvm.mlir.global internal @used() : i32
  llvm.mlir.global external @found_by_the_host() : i32
  llvm.func @free(!llvm.ptr)
  llvm.func @malloc(i64) -> !llvm.ptr
  llvm.func @__tileir_unused(f32) -> f32
  llvm.func @k() attributes {nvvm.kernel, nv_tileas.left = 1 : i64} {
    %0 = llvm.mlir.addressof @used : !llvm.ptr
    %1 = llvm.mlir.constant(8 : i64) : i64
    %2 = llvm.call @malloc(%1) : (i64) -> !llvm.ptr
    llvm.return
  }
}
// -----
gpu.module @m {
  // expected-error @below {{'elsewhere' is called but not defined}}
  llvm.func @elsewhere()
  llvm.func @k() attributes {nvvm.kernel} {
    llvm.call @elsewhere() : () -> ()
    llvm.return
  }
}
// -----
gpu.module @m {
  llvm.func @k(%x: i32) attributes {nvvm.kernel} {
    // expected-error @below {{'arith.addi' has no translation to LLVM IR}}
    %0 = arith.addi %x, %x : i32
    llvm.return
  }
}
