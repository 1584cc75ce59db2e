// Every pass of this compiler with its anchor, options and statistics, followed by MLIR's list, which also has the
// upstream passes.
//
// RUN: tileiras-opt --list-passes | FileCheck %s

// CHECK: Passes of this compiler:
// CHECK: --convert-tileaa-to-tileas: convert nv_tileaa to nv_tileas with default layouts
// CHECK-NEXT: runs on builtin.module
// CHECK-NEXT: option num-warps=0: warps per CTA
// CHECK-NEXT: option compute-capability=sm_100: target, sm_NN
// CHECK: --loop-split:
// CHECK-NEXT: runs on any operation
// CHECK-NEXT: option split-threshold=1:
// CHECK-NEXT: statistic num-split: loops split
// CHECK: --tileir-emit-host-wrapper:
// CHECK-NEXT: runs on builtin.module
// CHECK-NEXT: option host-triple=:
// CHECK-NEXT: option dump-host=:
// CHECK-NEXT: statistic num-wrappers:
// CHECK: --canonicalize {{ *}}-   Canonicalize operations
