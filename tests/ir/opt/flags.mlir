// The most used flags of mlir-opt, next to our own.
//
// RUN: tileiras-opt %s --split-input-file | FileCheck %s --check-prefix=SPLIT
// RUN: not tileiras-opt %s 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: tileiras-opt %s --split-input-file --mlir-print-op-generic | FileCheck %s --check-prefix=GENERIC
// RUN: tileiras-opt %s --split-input-file --pass-pipeline='builtin.module(cuda_tile.module(cuda_tile.entry(cse)))' | FileCheck %s --check-prefix=CSE
// RUN: tileiras-opt %s --split-input-file --cse --mlir-print-ir-after-all 2>&1 | FileCheck %s --check-prefix=AFTER
// RUN: tileiras-opt %s --split-input-file --cse --mlir-timing -o /dev/null 2>&1 | FileCheck %s --check-prefix=TIMING
// RUN: tileiras-opt --list-passes | FileCheck %s --check-prefix=PASSES
// RUN: tileiras-opt --help | FileCheck %s --check-prefix=HELP
// RUN: tileiras-opt --version | FileCheck %s --check-prefix=VERSION

// SPLIT: cuda_tile.module @m {
// SPLIT: // -----
// SPLIT: cuda_tile.module @m {
// TWICE: error: redefinition of symbol named 'm'
// GENERIC: "cuda_tile.addi"(%arg0, %arg0) <{overflow = #cuda_tile.overflow<none>}> : (!cuda_tile.tile<i32>, !cuda_tile.tile<i32>) -> !cuda_tile.tile<i32>
// CSE: addi
// CSE-NOT: addi
// CSE: // -----
// AFTER: IR Dump After CSE (cse)
// TIMING: Execution time report
// TIMING: CSE
// PASSES-DAG: convert-cudatile-to-tileaa
// PASSES-DAG: fuse-fma
// PASSES-DAG: loop-split
// PASSES-DAG: synthesize-debug-info-scopes
// HELP-DAG: --Werr-hints
// HELP-DAG: --Wunsupported-hints
// HELP-DAG: --cuda-tile-testing-ops
// HELP-DAG: --loop-split
// HELP-DAG: --split-threshold=
// VERSION: tileiras {{[0-9.]+}} (revision
cuda_tile.module @m {
  entry @k(%x: tile<i32>) {
    %y = addi %x, %x : tile<i32>
    %z = addi %x, %x : tile<i32>
    print_tko "%d %d", %y, %z : tile<i32>, tile<i32> -> token
    return
  }
}
// -----
cuda_tile.module @m {
}
