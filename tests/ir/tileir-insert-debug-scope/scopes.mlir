// RUN: tileiras-opt --with-aliases %s --pass-pipeline='builtin.module(tileir-insert-debug-scope)' --mlir-print-debuginfo | FileCheck %s
// RUN: tileiras-opt --with-aliases %s --pass-pipeline='builtin.module(tileir-insert-debug-scope{emission-kind=Full})' --mlir-print-debuginfo | FileCheck %s --check-prefix=FULL
// RUN: tileiras-opt --with-aliases %s --pass-pipeline='builtin.module(tileir-insert-debug-scope,tileir-insert-debug-scope{emission-kind=Full})' --mlir-print-debuginfo | FileCheck %s --check-prefix=TWICE
// RUN: not tileiras-opt --with-aliases %s --pass-pipeline='builtin.module(tileir-insert-debug-scope{emission-kind=some})' 2>&1 | FileCheck %s --check-prefix=KIND

// Kernels at both levels get their own subprogram, in the producer's unit or in one for the module; ops without a
// location get that of their kernel. The name in the source has priority. Declarations and host functions have no
// source.
gpu.module @kernels {
  nv_tileaa.func @tiles(%x: i32) {
    %y = arith.addi %x, %x : i32 loc("a/k.py":7:3)
    %z = arith.addi %y, %x : i32 loc(unknown)
    nv_tileaa.return loc("a/k.py":8:3)
  } loc(#tiles)
  llvm.func @threads() {
    llvm.return loc(unknown)
  } loc("b.py":20:1)
  llvm.func @declared() loc("b.py":30:1)
}
llvm.func @host() {
  llvm.return
} loc("c.c":1:1)
#file = #cuda_tile.di_file<"k.py" in "a">
#unit = #cuda_tile.di_compile_unit<file = #file>
#function = #cuda_tile.di_subprogram<file = #file, line = 5, name = "source_name", linkageName = "tiles", compileUnit = #unit>
#tiles = loc(#cuda_tile.di_loc<loc("a/k.py":5:1) in #function>)

// CHECK-DAG: arith.addi %{{.*}}, %{{.*}} : i32 loc(#[[OWN:loc[0-9]*]])
// CHECK-DAG: arith.addi %{{.*}}, %arg0 : i32 loc(#[[HEAD:loc[0-9]*]])
// CHECK-DAG: #[[OWN]] = loc("a/k.py":7:3)
// CHECK-DAG: #[[HEAD]] = loc("a/k.py":5:1)
// CHECK-DAG: #[[THREADS:loc[0-9]*]] = loc("b.py":20:1)
// CHECK-DAG: #[[K:di_file[0-9]*]] = #llvm.di_file<"k.py" in "a">
// CHECK-DAG: #[[UNIT_A:di_compile_unit[0-9]*]] = #llvm.di_compile_unit<{{.*}}file = #[[K]], producer = "tileiras", isOptimized = true, emissionKind = None, nameTableKind = None>
// CHECK-DAG: #[[UNIT:di_compile_unit[0-9]*]] = #llvm.di_compile_unit<{{.*}}file = #{{.*}}, producer = "tileiras", isOptimized = true, emissionKind = None, nameTableKind = None>
// CHECK-DAG: #[[A:di_subprogram[0-9]*]] = #llvm.di_subprogram<{{.*}}compileUnit = #[[UNIT_A]],{{.*}}name = "source_name", linkageName = "tiles",{{.*}}line = 5
// CHECK-DAG: #[[B:di_subprogram[0-9]*]] = #llvm.di_subprogram<{{.*}}compileUnit = #[[UNIT]],{{.*}}name = "threads", linkageName = "threads",{{.*}}line = 20
// CHECK-DAG: loc(fused<#[[A]]>[#[[HEAD]]])
// CHECK-DAG: loc(fused<#[[B]]>[#[[THREADS]]])
// CHECK-NOT: name = "declared"
// CHECK-NOT: name = "host"
// FULL: isOptimized = false, emissionKind = Full
// FULL: subprogramFlags = Definition,
// TWICE-NOT: emissionKind = Full
// KIND: error: unknown emission-kind 'some'; the kinds are None, LineTablesOnly, DebugDirectivesOnly, Full
