// RUN: tileiras-opt %s --split-input-file --verify-diagnostics

cuda_tile.module @m {
  entry @k(%x: tile<i32>) {
    // expected-error @below {{op rounding mode 'negative_inf' is not allowed with 'unsigned' flag}}
    %y = divi %x, %x unsigned rounding<negative_inf> : tile<i32>
    return
  }
}
