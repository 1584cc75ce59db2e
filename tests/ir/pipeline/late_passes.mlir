// The last passes find nothing to do in the programs of the corpus, because earlier passes leave nothing. Each of them
// changes a program that starts at their level.
//
// RUN: tileiras-opt %s --pass-pipeline='builtin.module(convert-to-llvm)' | FileCheck %s --check-prefix=LLVM
// RUN: tileiras-opt %s --pass-pipeline='builtin.module(convert-to-llvm,reconcile-unrealized-casts)' | FileCheck %s --check-prefix=CASTS
// RUN: tileiras-opt %s --pass-pipeline='builtin.module(convert-to-llvm,reconcile-unrealized-casts,convert-target-to-nvvm{compute-capability=sm_90},canonicalize,cse)' | FileCheck %s --check-prefix=CSE
// RUN: tileiras-opt %s --pass-pipeline='builtin.module(convert-to-llvm,reconcile-unrealized-casts,convert-target-to-nvvm{compute-capability=sm_90},canonicalize,cse,tileir-post-nvvm-finalize)' | FileCheck %s --check-prefix=FINAL

// LLVM-LABEL: llvm.func @k
// LLVM-NOT: arith
// LLVM: llvm.add
// LLVM: llvm.add
// LLVM: builtin.unrealized_conversion_cast
// CASTS-LABEL: llvm.func @k
// CASTS-NOT: unrealized_conversion_cast
// CASTS: llvm.store
// CSE: llvm.mlir.global internal @unused
// CSE-LABEL: llvm.func @k
// CSE-COUNT-1: llvm.add
// CSE-NOT: llvm.add
// FINAL-NOT: @unused
// FINAL: llvm.func @k
gpu.module @m {
  llvm.mlir.global internal @unused(0 : i32) {addr_space = 1 : i32} : i32
  llvm.func @k(%x: i32, %p: !llvm.ptr<1>) attributes {nvvm.kernel, nv_tileas.num_warps = 1 : i64} {
    %a = arith.addi %x, %x : i32
    %b = arith.addi %x, %x : i32
    %c = builtin.unrealized_conversion_cast %a : i32 to index
    %d = builtin.unrealized_conversion_cast %c : index to i32
    llvm.store volatile %d, %p : i32, !llvm.ptr<1>
    llvm.store volatile %b, %p : i32, !llvm.ptr<1>
    llvm.return
  }
}
