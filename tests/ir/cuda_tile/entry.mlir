// Implicit terminators, argument attributes, and arguments of other dialects.
//
// RUN: tileiras-opt %s | FileCheck %s

// CHECK: cuda_tile.module @m {
cuda_tile.module @m {
  // CHECK-NEXT: entry @empty() {
  // CHECK-NEXT:   return
  // CHECK-NEXT: }
  entry @empty() {
  }
  // CHECK-NEXT: entry @arguments(%arg0: tile<i32> {cuda_tile.note = "kept"}, %arg1: tensor<4xf32>) {
  // CHECK-NEXT:   return
  // CHECK-NEXT: } {note = "kept"}
  entry @arguments(%x: tile<i32> {cuda_tile.note = "kept"}, %y: tensor<4xf32> loc("here")) optimization_hints=<> {
  } {note = "kept"}
}
