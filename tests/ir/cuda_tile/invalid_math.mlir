// Elementary functions work on f16, bf16, f32 and f64 only.
//
// RUN: tileiras-opt %s --cuda-tile-testing-ops --allow-unregistered-dialect \
// RUN:   --split-input-file --verify-diagnostics

cuda_tile.module @m {
  testing$func @f(%x: tile<2x4x8xf8E5M2>) {
    // expected-error @below {{'cuda_tile.ceil' op operand #0 must be tile of f16 or bf16 or f32 or f64 values, but got '!cuda_tile.tile<2x4x8xf8E5M2>'}}
    %0 = ceil %x : tile<2x4x8xf8E5M2>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<2x4x8xi32>) {
    // expected-error @below {{'cuda_tile.ceil' op operand #0 must be tile of f16 or bf16 or f32 or f64 values, but got '!cuda_tile.tile<2x4x8xi32>'}}
    %0 = ceil %x : tile<2x4x8xi32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<i16>) {
    // expected-error @below {{'cuda_tile.ceil' op operand #0 must be tile of f16 or bf16 or f32 or f64 values, but got '!cuda_tile.tile<i16>'}}
    %0 = ceil %x : tile<i16>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<2x4x8xf8E5M2>) {
    // expected-error @below {{'cuda_tile.cos' op operand #0 must be tile of f16 or bf16 or f32 or f64 values, but got '!cuda_tile.tile<2x4x8xf8E5M2>'}}
    %0 = cos %x : tile<2x4x8xf8E5M2>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<2x4x8xi32>) {
    // expected-error @below {{'cuda_tile.cos' op operand #0 must be tile of f16 or bf16 or f32 or f64 values, but got '!cuda_tile.tile<2x4x8xi32>'}}
    %0 = cos %x : tile<2x4x8xi32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<2x4x8xf8E5M2>) {
    // expected-error @below {{'cuda_tile.cosh' op operand #0 must be tile of f16 or bf16 or f32 or f64 values, but got '!cuda_tile.tile<2x4x8xf8E5M2>'}}
    %0 = cosh %x : tile<2x4x8xf8E5M2>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<2x4x8xi32>) {
    // expected-error @below {{'cuda_tile.cosh' op operand #0 must be tile of f16 or bf16 or f32 or f64 values, but got '!cuda_tile.tile<2x4x8xi32>'}}
    %0 = cosh %x : tile<2x4x8xi32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<2x4x8xi32>) {
    // expected-error @below {{'cuda_tile.exp' op operand #0 must be tile of f16 or bf16 or f32 or f64 values, but got '!cuda_tile.tile<2x4x8xi32>'}}
    %0 = exp %x : tile<2x4x8xi32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<i16>) {
    // expected-error @below {{'cuda_tile.exp' op operand #0 must be tile of f16 or bf16 or f32 or f64 values, but got '!cuda_tile.tile<i16>'}}
    %0 = exp %x : tile<i16>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<2x4x8xf8E5M2>) {
    // expected-error @below {{'cuda_tile.exp2' op operand #0 must be tile of f16 or bf16 or f32 or f64 values, but got '!cuda_tile.tile<2x4x8xf8E5M2>'}}
    %0 = exp2 %x : tile<2x4x8xf8E5M2>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<2x4x8xi32>) {
    // expected-error @below {{'cuda_tile.exp2' op operand #0 must be tile of f16 or bf16 or f32 or f64 values, but got '!cuda_tile.tile<2x4x8xi32>'}}
    %0 = exp2 %x : tile<2x4x8xi32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<i8>) {
    // expected-error @below {{'cuda_tile.exp2' op operand #0 must be tile of f16 or bf16 or f32 or f64 values, but got '!cuda_tile.tile<i8>'}}
    %0 = exp2 %x : tile<i8>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<2x4x8xf8E5M2>) {
    // expected-error @below {{'cuda_tile.floor' op operand #0 must be tile of f16 or bf16 or f32 or f64 values, but got '!cuda_tile.tile<2x4x8xf8E5M2>'}}
    %0 = floor %x : tile<2x4x8xf8E5M2>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<2x4x8xi32>) {
    // expected-error @below {{'cuda_tile.floor' op operand #0 must be tile of f16 or bf16 or f32 or f64 values, but got '!cuda_tile.tile<2x4x8xi32>'}}
    %0 = floor %x : tile<2x4x8xi32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<2x4x8xf8E5M2>) {
    // expected-error @below {{'cuda_tile.log' op operand #0 must be tile of f16 or bf16 or f32 or f64 values, but got '!cuda_tile.tile<2x4x8xf8E5M2>'}}
    %0 = log %x : tile<2x4x8xf8E5M2>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<2x4x8xi32>) {
    // expected-error @below {{'cuda_tile.log' op operand #0 must be tile of f16 or bf16 or f32 or f64 values, but got '!cuda_tile.tile<2x4x8xi32>'}}
    %0 = log %x : tile<2x4x8xi32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<i32>) {
    // expected-error @below {{'cuda_tile.log' op operand #0 must be tile of f16 or bf16 or f32 or f64 values, but got '!cuda_tile.tile<i32>'}}
    %0 = log %x : tile<i32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<2x4x8xf8E5M2>) {
    // expected-error @below {{'cuda_tile.log2' op operand #0 must be tile of f16 or bf16 or f32 or f64 values, but got '!cuda_tile.tile<2x4x8xf8E5M2>'}}
    %0 = log2 %x : tile<2x4x8xf8E5M2>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<2x4x8xi32>) {
    // expected-error @below {{'cuda_tile.log2' op operand #0 must be tile of f16 or bf16 or f32 or f64 values, but got '!cuda_tile.tile<2x4x8xi32>'}}
    %0 = log2 %x : tile<2x4x8xi32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<i32>) {
    // expected-error @below {{'cuda_tile.log2' op operand #0 must be tile of f16 or bf16 or f32 or f64 values, but got '!cuda_tile.tile<i32>'}}
    %0 = log2 %x : tile<i32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<2x4x8xf8E5M2>) {
    // expected-error @below {{'cuda_tile.rsqrt' op operand #0 must be tile of f16 or bf16 or f32 or f64 values, but got '!cuda_tile.tile<2x4x8xf8E5M2>'}}
    %0 = rsqrt %x : tile<2x4x8xf8E5M2>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<2x4x8xi32>) {
    // expected-error @below {{'cuda_tile.rsqrt' op operand #0 must be tile of f16 or bf16 or f32 or f64 values, but got '!cuda_tile.tile<2x4x8xi32>'}}
    %0 = rsqrt %x : tile<2x4x8xi32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<4xi16>) {
    // expected-error @below {{'cuda_tile.rsqrt' op operand #0 must be tile of f16 or bf16 or f32 or f64 values, but got '!cuda_tile.tile<4xi16>'}}
    %0 = rsqrt %x : tile<4xi16>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<2x4x8xf8E5M2>) {
    // expected-error @below {{'cuda_tile.sin' op operand #0 must be tile of f16 or bf16 or f32 or f64 values, but got '!cuda_tile.tile<2x4x8xf8E5M2>'}}
    %0 = sin %x : tile<2x4x8xf8E5M2>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<2x4x8xi32>) {
    // expected-error @below {{'cuda_tile.sin' op operand #0 must be tile of f16 or bf16 or f32 or f64 values, but got '!cuda_tile.tile<2x4x8xi32>'}}
    %0 = sin %x : tile<2x4x8xi32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<2x4x8xf8E5M2>) {
    // expected-error @below {{'cuda_tile.sinh' op operand #0 must be tile of f16 or bf16 or f32 or f64 values, but got '!cuda_tile.tile<2x4x8xf8E5M2>'}}
    %0 = sinh %x : tile<2x4x8xf8E5M2>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<2x4x8xi32>) {
    // expected-error @below {{'cuda_tile.sinh' op operand #0 must be tile of f16 or bf16 or f32 or f64 values, but got '!cuda_tile.tile<2x4x8xi32>'}}
    %0 = sinh %x : tile<2x4x8xi32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<2x4x8xf8E5M2>) {
    // expected-error @below {{'cuda_tile.sqrt' op operand #0 must be tile of f16 or bf16 or f32 or f64 values, but got '!cuda_tile.tile<2x4x8xf8E5M2>'}}
    %0 = sqrt %x : tile<2x4x8xf8E5M2>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<2x4x8xi32>) {
    // expected-error @below {{'cuda_tile.sqrt' op operand #0 must be tile of f16 or bf16 or f32 or f64 values, but got '!cuda_tile.tile<2x4x8xi32>'}}
    %0 = sqrt %x : tile<2x4x8xi32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<4xi16>) {
    // expected-error @below {{'cuda_tile.sqrt' op operand #0 must be tile of f16 or bf16 or f32 or f64 values, but got '!cuda_tile.tile<4xi16>'}}
    %0 = sqrt %x : tile<4xi16>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<2x4x8xf8E5M2>) {
    // expected-error @below {{'cuda_tile.tan' op operand #0 must be tile of f16 or bf16 or f32 or f64 values, but got '!cuda_tile.tile<2x4x8xf8E5M2>'}}
    %0 = tan %x : tile<2x4x8xf8E5M2>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<2x4x8xi32>) {
    // expected-error @below {{'cuda_tile.tan' op operand #0 must be tile of f16 or bf16 or f32 or f64 values, but got '!cuda_tile.tile<2x4x8xi32>'}}
    %0 = tan %x : tile<2x4x8xi32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<2x4x8xf8E5M2>) {
    // expected-error @below {{'cuda_tile.tanh' op operand #0 must be tile of f16 or bf16 or f32 or f64 values, but got '!cuda_tile.tile<2x4x8xf8E5M2>'}}
    %0 = tanh %x : tile<2x4x8xf8E5M2>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<2x4x8xi32>) {
    // expected-error @below {{'cuda_tile.tanh' op operand #0 must be tile of f16 or bf16 or f32 or f64 values, but got '!cuda_tile.tile<2x4x8xi32>'}}
    %0 = tanh %x : tile<2x4x8xi32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<2x4x8xf8E5M2>) {
    // expected-error @below {{'cuda_tile.fpowf' op operand #0 must be tile of f16 or bf16 or f32 or f64 values, but got '!cuda_tile.tile<2x4x8xf8E5M2>'}}
    %0 = pow %x, %x : tile<2x4x8xf8E5M2>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<2x4x8xi32>) {
    // expected-error @below {{'cuda_tile.fpowf' op operand #0 must be tile of f16 or bf16 or f32 or f64 values, but got '!cuda_tile.tile<2x4x8xi32>'}}
    %0 = pow %x, %x : tile<2x4x8xi32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<2xi32>) {
    // expected-error @below {{'cuda_tile.fpowf' op operand #0 must be tile of f16 or bf16 or f32 or f64 values, but got '!cuda_tile.tile<2xi32>'}}
    %0 = pow %x, %x : tile<2xi32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<2xi32>) {
    // expected-error @below {{'cuda_tile.atan2' op operand #0 must be tile of f16 or bf16 or f32 or f64 values, but got '!cuda_tile.tile<2xi32>'}}
    %0 = atan2 %x, %x : tile<2xi32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<2xtf32>) {
    // expected-error @below {{'cuda_tile.atan2' op operand #0 must be tile of f16 or bf16 or f32 or f64 values, but got '!cuda_tile.tile<2xtf32>'}}
    %0 = atan2 %x, %x : tile<2xtf32>
  }
}
