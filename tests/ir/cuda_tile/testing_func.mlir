// The function for tests takes and returns any types. Without the option, it does not
// exist.
//
// RUN: tileiras-opt %s --cuda-tile-testing-ops | FileCheck %s
// RUN: tileiras-opt %s --cuda-tile-testing-ops -mlir-print-op-generic | tileiras-opt --cuda-tile-testing-ops | FileCheck %s
// RUN: not tileiras-opt %s 2>&1 | FileCheck %s --check-prefix=PUBLIC

// PUBLIC: custom op 'testing$func' is unknown
cuda_tile.module @m {
  // CHECK: testing$func @none() {
  // CHECK-NEXT: return
  testing$func @none() {
  }
  // CHECK: testing$func @one(%arg0: tile<4xf32>) -> tile<4xf32> {
  testing$func @one(%x: tile<4xf32>) -> tile<4xf32> {
    return %x : tile<4xf32>
  }
  // CHECK: testing$func @two(%arg0: i32 {cuda_tile.note = "kept"}, %arg1: token) -> (token, i32) {
  testing$func @two(%x: i32 {cuda_tile.note = "kept"}, %t: token loc("here")) -> (token, i32) {
    return %t, %x : token, i32
  }
}
