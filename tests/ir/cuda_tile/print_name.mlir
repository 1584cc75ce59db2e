// RUN: tileiras-opt %s | FileCheck %s

// The op name from the specification is accepted too.
cuda_tile.module @m {
  entry @k(%x: tile<i32>) {
    // CHECK: %{{.*}} = print_tko "%d\0A", %{{.*}} : tile<i32> -> token
    %0 = print "%d\0A", %x : tile<i32> -> token
    return
  }
}
