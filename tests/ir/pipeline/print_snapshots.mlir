// `emit-line-info` prints the program after the conversion of the public language and before LLVM, with the locations
// of its ops. It does not change the program: the output of the pipeline has the locations of the source.
//
// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileir{opt-level=3 emit-line-info=tileas})' --mlir-print-debuginfo -o %t.with 2>&1 | FileCheck %s
// RUN: FileCheck %s --check-prefix=WITH --input-file=%t.with
// RUN: not tileiras-opt %s --pass-pipeline='builtin.module(tileir{emit-line-info=ptx})' 2>&1 | FileCheck %s --check-prefix=BAD

// CHECK: // ----- snapshot after convert-cudatile-to-tileaa ----- //
// CHECK: nv_tileaa.func @k
// CHECK: nv_tileaa.print {{.*}} loc("{{.*}}print_snapshots.mlir":22:5)
// CHECK: // ----- snapshot after convert-tileas-to-llvm ----- //
// CHECK: llvm.func @k
// CHECK: loc({{.*}}"{{.*}}print_snapshots.mlir":22:5
// CHECK-NOT: snapshot after

// WITH: #llvm.di_file<"print_snapshots.mlir" in
// WITH-NOT: tileir-snapshot
// BAD: option 'emit-line-info': 'ptx' is not none, inputIR, tileaa, tileas or post-tileas

cuda_tile.module @m {
  entry @k(%x: tile<i32>) {
    print_tko "%d", %x : tile<i32> -> token
    return
  }
}
