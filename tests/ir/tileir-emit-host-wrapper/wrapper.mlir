// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileir-emit-host-wrapper{host-triple=aarch64-linux-gnu dump-host=%t.ll})' | FileCheck %s
// RUN: FileCheck %s --check-prefix=LL --input-file=%t.ll
// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileir-emit-host-wrapper)' | FileCheck %s --check-prefix=NATIVE
// RUN: not tileiras-opt %s --pass-pipeline='builtin.module(tileir-emit-host-wrapper{dump-host=/nowhere/at/all.ll})' 2>&1 | FileCheck %s --check-prefix=FILE

// The kernels are unchanged. Their arguments are packed with the host's types, and the blocks of the grid have the
// kernel's number of threads.
// CHECK: gpu.module @kernels
// CHECK: nv_tileaa.func @scale
// CHECK: module @kernels_host attributes {llvm.target_triple = "aarch64-linux-gnu"}
// CHECK: llvm.func @cuLaunchKernel(!llvm.ptr, i32, i32, i32, i32, i32, i32, i32, !llvm.ptr, !llvm.ptr, !llvm.ptr) -> i32
// CHECK: llvm.func @scale_launch(%[[F:.*]]: !llvm.ptr, %[[X:.*]]: i32, %[[Y:.*]]: i32, %[[Z:.*]]: i32, %[[S:.*]]: !llvm.ptr, %[[P:.*]]: i64, %[[N:.*]]: i32, %[[H:.*]]: i16) -> i32
// CHECK-DAG: %[[ONE:.*]] = llvm.mlir.constant(1 : i32)
// CHECK-DAG: %[[THREADS:.*]] = llvm.mlir.constant(256 : i32)
// CHECK-DAG: %[[NONE:.*]] = llvm.mlir.constant(0 : i32)
// CHECK-DAG: %[[THREE:.*]] = llvm.mlir.constant(3 : i32)
// CHECK: %[[LIST:.*]] = llvm.alloca %[[THREE]] x !llvm.ptr
// CHECK: llvm.store %[[P]], %[[PLACE:.*]] : i64, !llvm.ptr
// CHECK: %[[SLOT:.*]] = llvm.getelementptr %[[LIST]][0]
// CHECK: llvm.store %[[PLACE]], %[[SLOT]]
// CHECK: llvm.store %[[N]]
// CHECK: llvm.getelementptr %[[LIST]][1]
// CHECK: llvm.store %[[H]]
// CHECK: llvm.getelementptr %[[LIST]][2]
// CHECK: llvm.call @cuLaunchKernel(%[[F]], %[[X]], %[[Y]], %[[Z]], %[[THREADS]], %[[ONE]], %[[ONE]], %[[NONE]], %[[S]], %[[LIST]], %{{.*}})
// CHECK: llvm.func @none_launch(
// LL: target triple = "aarch64-linux-gnu"
// LL: define i32 @scale_launch(ptr %0, i32 %1, i32 %2, i32 %3, ptr %4, i64 %5, i32 %6, i16 %7)
// LL: call i32 @cuLaunchKernel(ptr %0, i32 %1, i32 %2, i32 %3, i32 256, i32 1, i32 1, i32 0, ptr %4, ptr %{{.*}}, ptr null)
// LL: define i32 @none_launch(ptr %0, i32 %1, i32 %2, i32 %3, ptr %4)
// NATIVE: module @kernels_host {
// FILE: error: the host wrapper cannot be written to '/nowhere/at/all.ll'
gpu.module @kernels {
  nv_tileaa.func @scale(%p: !nv_tileaa.ptr<f32>, %n: i32, %h: f16) attributes {numWarps = 8 : i64} {
    nv_tileaa.return
  }
  nv_tileaa.func @none() attributes {numWarps = 1 : i64} {
    nv_tileaa.return
  }
}
