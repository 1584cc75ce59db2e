// RUN: tileiras-opt --with-aliases %s --pass-pipeline='builtin.module(tileir{opt-level=3 snapshot-lines=tileaa snapshot-file=%t.aa.mlir})' --mlir-print-debuginfo | FileCheck %s --check-prefix=AA
// RUN: FileCheck %s --check-prefix=AA-FILE --input-file=%t.aa.mlir
// RUN: tileiras-opt --with-aliases %s --pass-pipeline='builtin.module(tileir{opt-level=3 snapshot-lines=tileas snapshot-file=%t.as.mlir})' --mlir-print-debuginfo | FileCheck %s --check-prefix=AS
// RUN: FileCheck %s --check-prefix=AS-FILE --input-file=%t.as.mlir
// RUN: tileiras-opt --with-aliases %s --pass-pipeline='builtin.module(tileir{opt-level=3 snapshot-lines=post-tileas snapshot-file=%t.post.mlir})' --mlir-print-debuginfo | FileCheck %s --check-prefix=POST
// RUN: FileCheck %s --check-prefix=POST-FILE --input-file=%t.post.mlir
// RUN: tileiras-opt --with-aliases %s --pass-pipeline='builtin.module(tileir{opt-level=3 snapshot-lines=inputIR snapshot-file=%t.in.mlir})' --mlir-print-debuginfo | FileCheck %s --check-prefix=IN
// RUN: FileCheck %s --check-prefix=IN-FILE --input-file=%t.in.mlir
// RUN: not tileiras-opt --with-aliases %s --pass-pipeline='builtin.module(tileir{snapshot-lines=ptx})' 2>&1 | FileCheck %s --check-prefix=BAD

// The file contains the program at this stage, and the scopes and locations of the kernel refer to this file.
// AA-DAG: #llvm.di_subprogram<{{.*}}file = #di_file{{.*}}
// AA-DAG: #llvm.di_file<"{{.*}}.aa.mlir" in
// AA-DAG: emissionKind = DebugDirectivesOnly
// AA-FILE: nv_tileaa.func @k
// AS-DAG: #llvm.di_file<"{{.*}}.as.mlir" in
// AS-DAG: emissionKind = DebugDirectivesOnly
// AS-FILE: nv_tileas.print
// POST-DAG: #llvm.di_file<"{{.*}}.post.mlir" in
// POST-DAG: emissionKind = DebugDirectivesOnly
// POST-FILE: llvm.func @k
// IN-DAG: #llvm.di_file<"{{.*}}.in.mlir" in
// IN-FILE: cuda_tile.module @m
// BAD: option 'snapshot-lines': 'ptx' is not none, inputIR, tileaa, tileas or post-tileas
cuda_tile.module @m {
  entry @k(%x: tile<i32>) {
    print_tko "%d", %x : tile<i32> -> token
    return
  }
}
