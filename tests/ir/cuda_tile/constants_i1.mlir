// Raw bytes of i1: eight elements per byte, as we print them, or one element per byte, as later versions of MLIR do.
//
// RUN: not tileiras-opt %s --split-input-file 2>&1 | FileCheck %s
// RUN: not tileiras-opt %s --split-input-file 2>&1 | FileCheck %s --check-prefix=SIZE

cuda_tile.module @m {
  entry @k() {
    // CHECK: constant <i1: [true, false, false, true, true, false, false, true, true, false, false, true, true, false, false, true]>
    %0 = constant <i1: "0x9999"> : tile<16xi1>
    // CHECK-NEXT: constant <i1: [true, false, false, true, true, false, false, true, true, false, false, true, true, false, false, true]>
    %1 = constant <i1: "0x01000001010000010100000101000001"> : tile<16xi1>
    return
  }
}
// -----
cuda_tile.module @wrong {
  entry @k() {
    // SIZE: elements hex data size is invalid for provided type: '!cuda_tile.tile<16xi1>'
    %0 = constant <i1: "0x010000"> : tile<16xi1>
    return
  }
}
