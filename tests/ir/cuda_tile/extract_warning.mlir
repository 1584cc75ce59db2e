// A constant index of a slice that does not exist is undefined behavior if the operation is reached, so there is a
// warning.
//
// RUN: tileiras-opt %s --verify-diagnostics
// RUN: tileiras-opt %s --canonicalize --verify-diagnostics

cuda_tile.module @m {
  entry @k(%x: tile<i32>) {
    %0 = reshape %x : tile<i32> -> tile<1xi32>
    %1 = broadcast %0 : tile<1xi32> -> tile<8xi32>
    %i = constant <i32: 4> : tile<i32>
    // expected-warning @below {{slice index 4 is out of bounds for dimension 0 with 4 slices}}
    %2 = extract %1[%i] : tile<8xi32> -> tile<2xi32>
    %t = print_tko "%d", %2 : tile<2xi32> -> token
  }
}
