// Operations whose shapes do not match.
//
// RUN: tileiras-opt %s --cuda-tile-testing-ops --allow-unregistered-dialect \
// RUN:   --split-input-file --verify-diagnostics

cuda_tile.module @m {
  testing$func @f(%x: tile<i32>) {
    // expected-error @below {{expects result type to be 1-d tile}}
    %0 = iota : tile<i32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<i32>) {
    // expected-error @below {{the number of elements 512 exceeds the maximum value of element type 'i8'}}
    %0 = iota : tile<512xi8>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<1xf32>) {
    // expected-error @below {{requires the same element type for all operands and results}}
    %0 = broadcast %x : tile<1xf32> -> tile<4xi32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<1xf32>) {
    // expected-error @below {{failed to verify that all of {source, result} have same rank}}
    %0 = broadcast %x : tile<1xf32> -> tile<4x4xf32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<4x4xf32>) {
    // expected-error @below {{expects the shape of source tile to be compatible with that of the result tile, but got: 4, 4 and 2, 4}}
    %0 = broadcast %x : tile<4x4xf32> -> tile<2x4xf32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<4xf32>) {
    // expected-error @below {{expected source tile and result tile to have the same number of elements}}
    %0 = reshape %x : tile<4xf32> -> tile<8xf32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<2x4xf32>) {
    // expected-error @below {{failed to verify that all of {source, result} have the same element type}}
    %0 = permute %x [1, 0] : tile<2x4xf32> -> tile<4x2xi32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<4xf32>) {
    // expected-error @below {{expects at least rank 2, but got: 1}}
    %0 = permute %x [0] : tile<4xf32> -> tile<4xf32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<2x4xf32>) {
    // expected-error @below {{expect permutation size (3) to equal the rank of the source (2)}}
    %0 = permute %x [0, 1, 2] : tile<2x4xf32> -> tile<4x2xf32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<2x4x8xf32>) {
    // expected-error @below {{expect permutation size (2) to equal the rank of the source (3)}}
    %0 = permute %x [0, 1] : tile<2x4x8xf32> -> tile<4x2x8xf32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<2x4xf32>) {
    // expected-error @below {{permutation element at index 1 (100) is out of bound [0, 2)}}
    %0 = permute %x [0, 100] : tile<2x4xf32> -> tile<4x2xf32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<2x4xf32>) {
    // expected-error @below {{permutation element at index 0 (-1) is out of bound [0, 2)}}
    %0 = permute %x [-1, 0] : tile<2x4xf32> -> tile<4x2xf32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<2x4xf32>) {
    // expected-error @below {{expect permutation elements to be unique}}
    %0 = permute %x [1, 1] : tile<2x4xf32> -> tile<4x2xf32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<1x2xf32>) {
    // expected-error @below {{result shape invalid at index 0, expected: 2, but got: 1}}
    %0 = permute %x [1, 0] : tile<1x2xf32> -> tile<1x2xf32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<2x4xf32>) {
    // expected-error @below {{expect dim to be [0, 2), but got: -1}}
    %0 = cat %x, %x dim = -1 : tile<2x4xf32>, tile<2x4xf32> -> tile<2x8xf32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<2x4xf32>) {
    // expected-error @below {{expect dim to be [0, 2), but got: 10}}
    %0 = cat %x, %x dim = 10 : tile<2x4xf32>, tile<2x4xf32> -> tile<2x8xf32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<2x4xf32>) {
    // expected-error @below {{expect dim to be [0, 2), but got: 2}}
    %0 = cat %x, %x dim = 2 : tile<2x4xf32>, tile<2x4xf32> -> tile<2x8xf32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<2x2xf32>) {
    // expected-error @below {{invalid concat at position 1, expected: 4 but got: 16}}
    %0 = cat %x, %x dim = 1 : tile<2x2xf32>, tile<2x2xf32> -> tile<2x16xf32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<2x2xf32>) {
    // expected-error @below {{expect lhs and result shapes to match at non-concat position 0, expected: 2 but got: 4}}
    %0 = cat %x, %x dim = 1 : tile<2x2xf32>, tile<2x2xf32> -> tile<4x4xf32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<2x2xf32>, %y: tile<4x2xf32>) {
    // expected-error @below {{expect lhs and rhs shapes to match at non-concat position 0, expected: 2 but got: 4}}
    %0 = cat %x, %y dim = 1 : tile<2x2xf32>, tile<4x2xf32> -> tile<2x4xf32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<2x2xf32>) {
    // expected-error @below {{failed to verify that all of {lhs, rhs, result} have same rank}}
    %0 = cat %x, %x dim = 0 : tile<2x2xf32>, tile<2x2xf32> -> tile<4xf32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<2x2xf32>) {
    // expected-error @below {{failed to verify that all of {lhs, rhs, result} have the same element type}}
    %0 = cat %x, %x dim = 0 : tile<2x2xf32>, tile<2x2xf32> -> tile<4x2xi32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<8xf32>, %i: tile<i32>) {
    // expected-error @below {{source and result element type do not match}}
    %0 = extract %x[%i] : tile<8xf32> -> tile<4xi32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<8xf32>, %i: tile<i32>) {
    // expected-error @below {{expected 1 indices, but got 2}}
    %0 = extract %x[%i, %i] : tile<8xf32> -> tile<4xf32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<8x8xf32>, %i: tile<i32>) {
    // expected-error @below {{expected 2 indices, but got 1}}
    %0 = extract %x[%i] : tile<8x8xf32> -> tile<4x4xf32>
  }
}

// -----

cuda_tile.module @m {
  // expected-note @below {{prior use here}}
  testing$func @f(%x: tile<8xf32>, %idx: tile<2xi32>) {
    // expected-error @below {{use of value '%idx' expects different type than prior uses: '!cuda_tile.tile<i32>' vs '!cuda_tile.tile<2xi32>'}}
    %0 = extract %x[%idx] : tile<8xf32> -> tile<4xf32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<8x4xf32>, %i: tile<i32>) {
    // expected-error @below {{source dimension 1 size (4) must be evenly divisible by result dimension 1 size (8)}}
    %0 = extract %x[%i, %i] : tile<8x4xf32> -> tile<4x8xf32>
  }
}
