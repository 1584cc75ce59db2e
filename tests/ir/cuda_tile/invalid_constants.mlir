// Literals of constants.
//
// RUN: tileiras-opt %s --cuda-tile-testing-ops --allow-unregistered-dialect \
// RUN:   --split-input-file --verify-diagnostics

cuda_tile.module @m {
  testing$func @f() {
    // expected-error @below {{inferred shape of elements literal ([2, 2]) does not match type ([4, 2])}}
    %0 = constant <i32: [[1, 2], [3, 4]]> : tile<4x2xi32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f() {
    // expected-error @below {{inferred shape of elements literal ([1, 2, 2, 4]) does not match type ([2, 2, 2, 4])}}
    %0 = constant <i32: [[[[1, 2, 3, 4], [1, 2, 3, 4]], [[1, 2, 3, 4], [1, 2, 3, 4]]]]> : tile<2x2x2x4xi32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f() {
    // expected-error @below {{inferred shape of elements literal ([2, 3, 2]) does not match type ([2, 2, 2])}}
    %0 = constant <f32: [[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]]> : tile<2x2x2xf32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f() {
    // expected-error @below {{inferred shape of elements literal ([36]) does not match type ([32])}}
    %0 = constant <i32: [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]> : tile<32xi32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f() {
    // expected-error @below {{inferred shape of elements literal ([3]) does not match type ([8])}}
    %0 = constant <i32: [1, 2, 3]> : tile<8xi32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f() {
    // expected-error @below {{tensor literal is invalid; ranks are not consistent between elements}}
    %0 = constant <i32: [1, [2, 3]]> : tile<4xi32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f() {
    // expected-error @below {{tensor literal is invalid; ranks are not consistent between elements}}
    %0 = constant <i32: [[1, 2], [3]]> : tile<2x2xi32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f() {
    // expected-note @below {{add a trailing dot to make the literal a float}}
    // expected-error @below {{unexpected decimal integer literal for a floating point value}}
    %0 = constant <f32: 1> : tile<f32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f() {
    // expected-error @below {{expected integer value}}
    %0 = constant <i32: 1.0> : tile<i32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f() {
    // expected-error @below {{expected '>'}}
    %0 = constant <i32: 1 2> : tile<i32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f() {
    // expected-error @below {{expected integer value}}
    %0 = constant <i32: foo> : tile<i32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f() {
    // expected-error @below {{expected integer value}}
    %0 = constant <i32: true> : tile<i32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f() {
    // expected-error @below {{integer constant out of range for type}}
    %0 = constant <i8: 256> : tile<i8>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f() {
    // expected-error @below {{integer constant out of range for type}}
    %0 = constant <i8: -129> : tile<i8>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f() {
    // expected-error @below {{integer constant out of range for type}}
    %0 = constant <i1: 2> : tile<i1>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f() {
    // expected-error @below {{integer constant out of range for type}}
    %0 = constant <i16: 65536> : tile<i16>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f() {
    // expected-error @below {{integer constant out of range for type}}
    %0 = constant <i32: 4294967296> : tile<i32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f() {
    // expected-error @below {{integer value too large}}
    %0 = constant <i64: 9223372036854775808> : tile<i64>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f() {
    // expected-error @below {{float constant out of range for type}}
    %0 = constant <f16: 0x1FFFF> : tile<f16>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f() {
    // expected-error @below {{mismatch between the element type: 'f16' and the tile element type 'f32'}}
    %0 = constant <f16: 1.0> : tile<f32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f() {
    // expected-error @below {{'cuda_tile.constant' unknown type: pluto}}
    // expected-error @below {{expect element type to be one of i1 or i8 or i16 or i32 or i64 or f16 or bf16 or f32 or f64 or tf32 or f8E4M3FN or f8E5M2 or f8E8M0FNU or f4E2M1FN or fnv8E5M3FNU values, but got '<<NULL TYPE>>'}}
    %0 = constant <pluto: 1.0> : tile<f32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f() {
    // expected-error @below {{expect element type to be one of i1 or i8 or i16 or i32 or i64 or f16 or bf16 or f32 or f64 or tf32 or f8E4M3FN or f8E5M2 or f8E8M0FNU or f4E2M1FN or fnv8E5M3FNU values, but got 'tensor<i32>'}}
    %0 = constant <tensor<i32>: 1> : tile<i32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f() {
    // expected-error @below {{custom op 'cuda_tile.constant' result #0 must be tile of i1 or i8 or i16 or i32 or i64 or f16 or bf16 or f32 or f64 or tf32 or f8E4M3FN or f8E5M2 or f8E8M0FNU or f4E2M1FN or fnv8E5M3FNU values, but got 'tensor<f32>'}}
    %0 = constant <f32: 1.0> : tensor<f32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f() {
    // expected-error @below {{expected at least one element in a list}}
    %0 = constant <i32: []> : tile<i32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f() {
    // expected-error @below {{elements hex data size is invalid for provided type: '!cuda_tile.tile<4xi32>'}}
    %0 = constant <i32: "0x0102"> : tile<4xi32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f() {
    // expected-error @below {{expected a string of hexadecimal digits that starts with 0x}}
    %0 = constant <i32: "abc"> : tile<4xi32>
  }
}
