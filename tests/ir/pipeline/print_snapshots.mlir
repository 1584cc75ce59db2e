// `emit-line-info` prints the program at one of four points, with the locations of its ops. It does not change the
// program: the output of the pipeline has the locations of the source.
//
// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileir{opt-level=3 emit-line-info=inputIR})' -o %t 2>&1 | FileCheck %s --check-prefixes=CHECK,INPUT
// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileir{opt-level=3 emit-line-info=tileaa})' -o %t 2>&1 | FileCheck %s --check-prefixes=CHECK,AA
// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileir{opt-level=3 emit-line-info=tileas})' -o %t 2>&1 | FileCheck %s --check-prefixes=CHECK,AS
// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileir{opt-level=3 emit-line-info=post-tileas})' --mlir-print-debuginfo -o %t.with 2>&1 | FileCheck %s --check-prefixes=CHECK,POST
// RUN: FileCheck %s --check-prefix=WITH --input-file=%t.with
// RUN: not tileiras-opt %s --pass-pipeline='builtin.module(tileir{emit-line-info=ptx})' 2>&1 | FileCheck %s --check-prefix=BAD

// INPUT: // ----- snapshot inputIR ----- //
// INPUT: entry @k
// AA: // ----- snapshot tileaa ----- //
// AA: nv_tileaa.func @k
// AA: nv_tileaa.print
// AS: // ----- snapshot tileas ----- //
// AS: nv_tileaa.func @k{{.*}}numWarps =
// POST: // ----- snapshot post-tileas ----- //
// POST: llvm.func @k
// CHECK: loc({{.*}}"{{.*}}print_snapshots.mlir":29:5
// CHECK-NOT: ----- snapshot

// WITH: #llvm.di_file<"print_snapshots.mlir" in
// WITH-NOT: tileir-snapshot
// BAD: option 'emit-line-info': 'ptx' is not none, inputIR, tileaa, tileas or post-tileas

cuda_tile.module @m {
  entry @k(%x: tile<i32>) {
    print_tko "%d", %x : tile<i32> -> token
    return
  }
}
