// RUN: tileiras-opt --with-aliases %s --pass-pipeline='builtin.module(synthesize-debug-info-scopes)' --mlir-print-debuginfo | FileCheck %s
// RUN: tileiras-opt --with-aliases %s --pass-pipeline='builtin.module(synthesize-debug-info-scopes{emission-kind=DebugDirectivesOnly})' --mlir-print-debuginfo | FileCheck %s --check-prefix=KIND

// In the LLVM dialect, host functions get a scope too.
gpu.module @m {
  llvm.func @k() {
    %0 = llvm.mlir.constant(1 : i32) : i32 loc(unknown)
    llvm.return loc("k.py":4:1)
  } loc("k.py":3:1)
}
llvm.func @host() {
  llvm.return
} loc("h.py":1:1)

// CHECK-DAG: llvm.mlir.constant(1 : i32) : i32 loc(#[[K:loc[0-9]*]])
// CHECK-DAG: #[[K]] = loc("k.py":3:1)
// CHECK-DAG: emissionKind = LineTablesOnly
// CHECK-DAG: name = "k", linkageName = "k"
// CHECK-DAG: name = "host", linkageName = "host"
// KIND: emissionKind = DebugDirectivesOnly
