// Errors of the parser and the verifier for arithmetic and comparisons.
//
// RUN: tileiras-opt %s --cuda-tile-testing-ops --allow-unregistered-dialect \
// RUN:   --split-input-file --verify-diagnostics

cuda_tile.module @m {
  testing$func @f(%x: tile<4xf32>) {
    // expected-error @below {{'cuda_tile.addi' op operand #0 must be tile of i1 or i8 or i16 or i32 or i64 values}}
    %0 = addi %x, %x : tile<4xf32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<4xf32>) {
    // expected-error @below {{'cuda_tile.andi' op operand #0 must be tile of i1 or i8 or i16 or i32 or i64 values}}
    %0 = andi %x, %x : tile<4xf32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<4xf32>) {
    // expected-error @below {{'cuda_tile.divi' op operand #0 must be tile of i1 or i8 or i16 or i32 or i64 values}}
    %0 = divi %x, %x signed : tile<4xf32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<4xf32>) {
    // expected-error @below {{'cuda_tile.maxi' op operand #0 must be tile of i1 or i8 or i16 or i32 or i64 values}}
    %0 = maxi %x, %x signed : tile<4xf32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<4xf32>) {
    // expected-error @below {{'cuda_tile.mini' op operand #0 must be tile of i1 or i8 or i16 or i32 or i64 values}}
    %0 = mini %x, %x signed : tile<4xf32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<4xf32>) {
    // expected-error @below {{'cuda_tile.mulhii' op operand #0 must be tile of i1 or i8 or i16 or i32 or i64 values}}
    %0 = mulhii %x, %x : tile<4xf32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<4xf32>) {
    // expected-error @below {{'cuda_tile.remi' op operand #0 must be tile of i1 or i8 or i16 or i32 or i64 values}}
    %0 = remi %x, %x signed : tile<4xf32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<4xf32>) {
    // expected-error @below {{'cuda_tile.shli' op operand #0 must be tile of i1 or i8 or i16 or i32 or i64 values}}
    %0 = shli %x, %x : tile<4xf32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<4xf32>) {
    // expected-error @below {{'cuda_tile.shri' op operand #0 must be tile of i1 or i8 or i16 or i32 or i64 values}}
    %0 = shri %x, %x signed : tile<4xf32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<4xf32>) {
    // expected-error @below {{'cuda_tile.subi' op operand #0 must be tile of i1 or i8 or i16 or i32 or i64 values}}
    %0 = subi %x, %x : tile<4xf32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<4xf32>) {
    // expected-error @below {{'cuda_tile.xori' op operand #0 must be tile of i1 or i8 or i16 or i32 or i64 values}}
    %0 = xori %x, %x : tile<4xf32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<4xf32>) {
    // expected-error @below {{cuda_tile.ori' op operand #0 must be tile of i1 or i8 or i16 or i32 or i64 values}}
    %0 = ori %x, %x : tile<4xf32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<2xf16>) {
    // expected-error @below {{op operand #0 must be tile of i1 or i8 or i16 or i32 or i64 values, but got '!cuda_tile.tile<2xf16>'}}
    %0 = negi %x : tile<2xf16>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<4x4xf32>) {
    // expected-error @below {{op operand #0 must be tile of i1 or i8 or i16 or i32 or i64 values, but got '!cuda_tile.tile<4x4xf32>'}}
    %0 = absi %x : tile<4x4xf32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<2x4x8xf8E5M2>) {
    // expected-error @below {{'cuda_tile.absf' op operand #0 must be tile of f16 or bf16 or f32 or f64 values, but got '!cuda_tile.tile<2x4x8xf8E5M2>'}}
    %0 = absf %x : tile<2x4x8xf8E5M2>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<2x4x8xi32>) {
    // expected-error @below {{'cuda_tile.absf' op operand #0 must be tile of f16 or bf16 or f32 or f64 values, but got '!cuda_tile.tile<2x4x8xi32>'}}
    %0 = absf %x : tile<2x4x8xi32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<4x4xi16>) {
    // expected-error @below {{'cuda_tile.absf' op operand #0 must be tile of f16 or bf16 or f32 or f64 values, but got '!cuda_tile.tile<4x4xi16>'}}
    %0 = absf %x : tile<4x4xi16>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<4x4xtf32>) {
    // expected-error @below {{'cuda_tile.absf' op operand #0 must be tile of f16 or bf16 or f32 or f64 values, but got '!cuda_tile.tile<4x4xtf32>'}}
    %0 = absf %x : tile<4x4xtf32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<2x4x8xf8E5M2>) {
    // expected-error @below {{'cuda_tile.addf' op operand #0 must be tile of f16 or bf16 or f32 or f64 values, but got '!cuda_tile.tile<2x4x8xf8E5M2>'}}
    %0 = addf %x, %x : tile<2x4x8xf8E5M2>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<2x4x8xi32>) {
    // expected-error @below {{'cuda_tile.addf' op operand #0 must be tile of f16 or bf16 or f32 or f64 values, but got '!cuda_tile.tile<2x4x8xi32>'}}
    %0 = addf %x, %x : tile<2x4x8xi32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<2x4x8xf8E5M2>) {
    // expected-error @below {{'cuda_tile.subf' op operand #0 must be tile of f16 or bf16 or f32 or f64 values, but got '!cuda_tile.tile<2x4x8xf8E5M2>'}}
    %0 = subf %x, %x : tile<2x4x8xf8E5M2>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<2x4x8xi32>) {
    // expected-error @below {{'cuda_tile.subf' op operand #0 must be tile of f16 or bf16 or f32 or f64 values, but got '!cuda_tile.tile<2x4x8xi32>'}}
    %0 = subf %x, %x : tile<2x4x8xi32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<2x4x8xf8E5M2>) {
    // expected-error @below {{'cuda_tile.mulf' op operand #0 must be tile of f16 or bf16 or f32 or f64 values, but got '!cuda_tile.tile<2x4x8xf8E5M2>'}}
    %0 = mulf %x, %x : tile<2x4x8xf8E5M2>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<2x4x8xi32>) {
    // expected-error @below {{'cuda_tile.mulf' op operand #0 must be tile of f16 or bf16 or f32 or f64 values, but got '!cuda_tile.tile<2x4x8xi32>'}}
    %0 = mulf %x, %x : tile<2x4x8xi32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<2x4x8xf8E5M2>) {
    // expected-error @below {{'cuda_tile.divf' op operand #0 must be tile of f16 or bf16 or f32 or f64 values, but got '!cuda_tile.tile<2x4x8xf8E5M2>'}}
    %0 = divf %x, %x : tile<2x4x8xf8E5M2>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<2x4x8xi32>) {
    // expected-error @below {{'cuda_tile.divf' op operand #0 must be tile of f16 or bf16 or f32 or f64 values, but got '!cuda_tile.tile<2x4x8xi32>'}}
    %0 = divf %x, %x : tile<2x4x8xi32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<2x4x8xf8E5M2>) {
    // expected-error @below {{'cuda_tile.fma' op operand #0 must be tile of f16 or bf16 or f32 or f64 values, but got '!cuda_tile.tile<2x4x8xf8E5M2>'}}
    %0 = fma %x, %x, %x : tile<2x4x8xf8E5M2>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<2x4x8xi32>) {
    // expected-error @below {{'cuda_tile.fma' op operand #0 must be tile of f16 or bf16 or f32 or f64 values, but got '!cuda_tile.tile<2x4x8xi32>'}}
    %0 = fma %x, %x, %x : tile<2x4x8xi32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<2x4x8xf8E5M2>) {
    // expected-error @below {{'cuda_tile.remf' op operand #0 must be tile of f16 or bf16 or f32 or f64 values, but got '!cuda_tile.tile<2x4x8xf8E5M2>'}}
    %0 = remf %x, %x : tile<2x4x8xf8E5M2>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<2x4x8xi32>) {
    // expected-error @below {{'cuda_tile.remf' op operand #0 must be tile of f16 or bf16 or f32 or f64 values, but got '!cuda_tile.tile<2x4x8xi32>'}}
    %0 = remf %x, %x : tile<2x4x8xi32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<4xi16>) {
    // expected-error @below {{'cuda_tile.remf' op operand #0 must be tile of f16 or bf16 or f32 or f64 values, but got '!cuda_tile.tile<4xi16>'}}
    %0 = remf %x, %x : tile<4xi16>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<2x4x8xi1>) {
    // expected-error @below {{'cuda_tile.negf' op operand #0 must be tile of f16 or bf16 or f32 or f64 values, but got '!cuda_tile.tile<2x4x8xi1>'}}
    %0 = negf %x : tile<2x4x8xi1>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<2x4x8xi32>) {
    // expected-error @below {{'cuda_tile.negf' op operand #0 must be tile of f16 or bf16 or f32 or f64 values, but got '!cuda_tile.tile<2x4x8xi32>'}}
    %0 = negf %x : tile<2x4x8xi32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<2xi32>) {
    // expected-error @below {{'cuda_tile.negf' op operand #0 must be tile of f16 or bf16 or f32 or f64 values, but got '!cuda_tile.tile<2xi32>'}}
    %0 = negf %x : tile<2xi32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<2x4x8xi32>) {
    // expected-error @below {{must be tile of f16 or bf16 or f32 or f64 values, but got '!cuda_tile.tile<2x4x8xi32>'}}
    %0 = maxf %x, %x : tile<2x4x8xi32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<2x4x8xi32>) {
    // expected-error @below {{#0 must be tile of f16 or bf16 or f32 or f64 values, but got '!cuda_tile.tile<2x4x8xi32>'}}
    %0 = minf %x, %x : tile<2x4x8xi32>
  }
}

// -----

cuda_tile.module @m {
  // expected-note @below {{prior use here}}
  testing$func @f(%arg0: tile<4xi32>, %arg1: tile<4xi64>) {
    // expected-error @below {{use of value '%arg1' expects different type than prior uses}}
    %0 = addi %arg0, %arg1 : tile<4xi32>
  }
}

// -----

cuda_tile.module @m {
  // expected-note @below {{prior use here}}
  testing$func @f(%arg0: tile<4xi32>, %arg1: tile<4xi64>) {
    // expected-error @below {{use of value '%arg0' expects different type than prior uses}}
    %0 = addi %arg0, %arg1 : tile<4xi64>
  }
}

// -----

cuda_tile.module @m {
  // expected-note @below {{prior use here}}
  testing$func @f(%arg0: tile<f32>, %arg2: tile<f64>) {
    // expected-error @below {{use of value '%arg2' expects different type than prior uses}}
    %0 = fma %arg0, %arg0, %arg2 : tile<f32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<f32>) {
    // expected-error @below {{custom op 'cuda_tile.fma' expected rounding mode to be one of: 'nearest_even', 'zero', 'negative_inf', 'positive_inf', got: 'invalid_mode'}}
    %0 = fma %x, %x, %x rounding<invalid_mode> : tile<f32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<f32>) {
    // expected-error @below {{custom op 'cuda_tile.fma' expected rounding mode to be one of: 'nearest_even', 'zero', 'negative_inf', 'positive_inf', got: 'approx'}}
    %0 = fma %x, %x, %x rounding<approx> : tile<f32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<f32>) {
    // expected-error @below {{custom op 'cuda_tile.fma' expected rounding mode to be one of: 'nearest_even', 'zero', 'negative_inf', 'positive_inf', got: 'full'}}
    %0 = fma %x, %x, %x rounding<full> : tile<f32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<f32>) {
    // expected-error @below {{custom op 'cuda_tile.mulf' expected rounding mode to be one of: 'nearest_even', 'zero', 'negative_inf', 'positive_inf', got: 'invalid_mode'}}
    %0 = mulf %x, %x rounding<invalid_mode> : tile<f32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<f32>) {
    // expected-error @below {{custom op 'cuda_tile.mulf' expected rounding mode to be one of: 'nearest_even', 'zero', 'negative_inf', 'positive_inf', got: 'approx'}}
    %0 = mulf %x, %x rounding<approx> : tile<f32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<f32>) {
    // expected-error @below {{custom op 'cuda_tile.mulf' expected rounding mode to be one of: 'nearest_even', 'zero', 'negative_inf', 'positive_inf', got: 'full'}}
    %0 = mulf %x, %x rounding<full> : tile<f32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<f32>) {
    // expected-error @below {{custom op 'cuda_tile.subf' expected rounding mode to be one of: 'nearest_even', 'zero', 'negative_inf', 'positive_inf', got: 'invalid_mode'}}
    %0 = subf %x, %x rounding<invalid_mode> : tile<f32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<f32>) {
    // expected-error @below {{custom op 'cuda_tile.subf' expected rounding mode to be one of: 'nearest_even', 'zero', 'negative_inf', 'positive_inf', got: 'approx'}}
    %0 = subf %x, %x rounding<approx> : tile<f32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<f32>) {
    // expected-error @below {{custom op 'cuda_tile.subf' expected rounding mode to be one of: 'nearest_even', 'zero', 'negative_inf', 'positive_inf', got: 'full'}}
    %0 = subf %x, %x rounding<full> : tile<f32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<f32>) {
    // expected-error @below {{expected rounding mode to be one of: 'nearest_even', 'zero', 'negative_inf', 'positive_inf', got: 'approx'}}
    %0 = addf %x, %x rounding<approx> : tile<f32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<f32>) {
    // expected-error @below {{expected rounding mode to be one of: 'nearest_even', 'zero', 'negative_inf', 'positive_inf', got: 'full'}}
    %0 = addf %x, %x rounding<full> : tile<f32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<f32>) {
    // expected-error @below {{expected '>'}}
    %0 = addf %x, %x rounding<zero zero> : tile<f32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<f32>) {
    // expected-error @below {{attribute 'rounding_mode' failed to satisfy constraint: rounding or approximation of a numeric operation}}
    %0 = addf %x, %x {rounding_mode = 5 : i32} : tile<f32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<f32>) {
    // expected-error @below {{expected valid keyword}}
    // expected-error @below {{expected rounding mode to be one of: 'nearest_even', 'zero', 'negative_inf', 'positive_inf', got: ''}}
    %0 = addf %x, %x rounding<> : tile<f32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<f32>) {
    // expected-error @below {{expected rounding mode to be one of: 'nearest_even', 'zero', 'negative_inf', 'positive_inf', 'approx', 'full'}}
    %0 = divf %x, %x rounding<nearly> : tile<f32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<f32>) {
    // expected-error @below {{rounding mode to be one of: 'nearest_even', 'zero', 'negative_inf', 'positive_inf', 'approx'}}
    %0 = sqrt %x rounding<nearly> : tile<f32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<f32>) {
    // expected-error @below {{custom op 'cuda_tile.tanh' expected rounding mode to be one of: 'approx', 'full'}}
    %0 = tanh %x rounding<nearly> : tile<f32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<f32>) {
    // expected-error @below {{op invalid rounding mode specified, expect one of [nearest_even, zero, negative_inf, positive_inf]}}
    %0 = "cuda_tile.addf"(%x, %x) <{rounding_mode = #cuda_tile.rounding<approx>}> : (!cuda_tile.tile<f32>, !cuda_tile.tile<f32>) -> !cuda_tile.tile<f32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<f32>) {
    // expected-error @below {{op invalid rounding mode specified, expect one of [nearest_even, zero, negative_inf, positive_inf]}}
    %0 = "cuda_tile.subf"(%x, %x) <{rounding_mode = #cuda_tile.rounding<approx>}> : (!cuda_tile.tile<f32>, !cuda_tile.tile<f32>) -> !cuda_tile.tile<f32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<f32>) {
    // expected-error @below {{op invalid rounding mode specified, expect one of [nearest_even, zero, negative_inf, positive_inf]}}
    %0 = "cuda_tile.mulf"(%x, %x) <{rounding_mode = #cuda_tile.rounding<approx>}> : (!cuda_tile.tile<f32>, !cuda_tile.tile<f32>) -> !cuda_tile.tile<f32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<f32>) {
    // expected-error @below {{op invalid rounding mode specified, expect one of [nearest_even, zero, negative_inf, positive_inf]}}
    %0 = "cuda_tile.fma"(%x, %x, %x) <{rounding_mode = #cuda_tile.rounding<approx>}> : (!cuda_tile.tile<f32>, !cuda_tile.tile<f32>, !cuda_tile.tile<f32>) -> !cuda_tile.tile<f32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<f32>) {
    // expected-error @below {{op invalid rounding mode specified, expect one of [nearest_even, zero, negative_inf, positive_inf, approx, full]}}
    %0 = "cuda_tile.divf"(%x, %x) <{rounding_mode = #cuda_tile.rounding<nearest_int_to_zero>}> : (!cuda_tile.tile<f32>, !cuda_tile.tile<f32>) -> !cuda_tile.tile<f32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<f32>) {
    // expected-error @below {{op invalid rounding mode specified, expect one of [nearest_even, zero, negative_inf, positive_inf, approx]}}
    %0 = "cuda_tile.sqrt"(%x) <{rounding_mode = #cuda_tile.rounding<full>}> : (!cuda_tile.tile<f32>) -> !cuda_tile.tile<f32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<f32>) {
    // expected-error @below {{'cuda_tile.tanh' op invalid rounding mode specified, expect one of [approx, full]}}
    %0 = "cuda_tile.tanh"(%x) <{rounding_mode = #cuda_tile.rounding<zero>}> : (!cuda_tile.tile<f32>) -> !cuda_tile.tile<f32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<f32>) {
    // expected-error @below {{'cuda_tile.exp' op invalid rounding mode specified, expect one of [approx, full]}}
    %0 = "cuda_tile.exp"(%x) <{rounding_mode = #cuda_tile.rounding<zero>}> : (!cuda_tile.tile<f32>) -> !cuda_tile.tile<f32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<i32>) {
    // expected-error @below {{op invalid rounding mode specified, expect one of [zero, negative_inf, positive_inf]}}
    %0 = "cuda_tile.divi"(%x, %x) <{signedness = #cuda_tile.signedness<signed>, rounding = #cuda_tile.rounding<approx>}> : (!cuda_tile.tile<i32>, !cuda_tile.tile<i32>) -> !cuda_tile.tile<i32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<f32>) {
    // expected-error @below {{'cuda_tile.addf' op requires attribute 'rounding_mode'}}
    %0 = "cuda_tile.addf"(%x, %x) <{}> : (!cuda_tile.tile<f32>, !cuda_tile.tile<f32>) -> !cuda_tile.tile<f32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<f16>) {
    // expected-error @below {{flush_to_zero modifier only supported for f32 data type, but got: 'f16'}}
    %0 = addf %x, %x flush_to_zero : tile<f16>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<bf16>) {
    // expected-error @below {{flush_to_zero modifier only supported for f32 data type, but got: 'bf16'}}
    %0 = addf %x, %x flush_to_zero : tile<bf16>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<f64>) {
    // expected-error @below {{flush_to_zero modifier only supported for f32 data type, but got: 'f64'}}
    %0 = addf %x, %x flush_to_zero : tile<f64>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<f16>) {
    // expected-error @below {{flush_to_zero modifier only supported for f32 data type, but got: 'f16'}}
    %0 = mulf %x, %x flush_to_zero : tile<f16>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<f16>) {
    // expected-error @below {{flush_to_zero modifier only supported for f32 data type, but got: 'f16'}}
    %0 = fma %x, %x, %x flush_to_zero : tile<f16>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<f16>) {
    // expected-error @below {{flush_to_zero modifier only supported for f32 data type, but got: 'f16'}}
    %0 = subf %x, %x flush_to_zero : tile<f16>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<f16>) {
    // expected-error @below {{flush_to_zero modifier only supported for f32 data type, but got: 'f16'}}
    %0 = divf %x, %x flush_to_zero : tile<f16>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<f16>) {
    // expected-error @below {{flush_to_zero modifier only supported for f32 data type, but got: 'f16'}}
    %0 = maxf %x, %x flush_to_zero : tile<f16>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<f16>) {
    // expected-error @below {{flush_to_zero modifier only supported for f32 data type, but got: 'f16'}}
    %0 = minf %x, %x flush_to_zero : tile<f16>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<f16>) {
    // expected-error @below {{flush_to_zero modifier only supported for f32 data type, but got: 'f16'}}
    %0 = rsqrt %x flush_to_zero : tile<f16>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<f16>) {
    // expected-error @below {{flush_to_zero modifier only supported for f32 data type, but got: 'f16'}}
    %0 = sqrt %x flush_to_zero : tile<f16>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<f16>) {
    // expected-error @below {{'cuda_tile.exp2' op flush_to_zero modifier only supported for f32 data type, but got: 'f16'}}
    %0 = exp2 %x flush_to_zero : tile<f16>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<f16>) {
    // expected-error @below {{approx modifier only supported for f32 data type, but got: 'f16'}}
    %0 = divf %x, %x rounding<approx> : tile<f16>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<f64>) {
    // expected-error @below {{approx modifier only supported for f32 data type, but got: 'f64'}}
    %0 = divf %x, %x rounding<approx> : tile<f64>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<bf16>) {
    // expected-error @below {{approx modifier only supported for f32 data type, but got: 'bf16'}}
    %0 = sqrt %x rounding<approx> : tile<bf16>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<bf16>) {
    // expected-error @below {{approx modifier only supported for f32 data type, but got: 'bf16'}}
    %0 = exp %x rounding<approx> : tile<bf16>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<f64>) {
    // expected-error @below {{approx modifier only supported for f32 data type, but got: 'f64'}}
    %0 = tanh %x rounding<approx> : tile<f64>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<f16>) {
    // expected-error @below {{full modifier only supported for f32 data type, but got: 'f16'}}
    %0 = divf %x, %x rounding<full> : tile<f16>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<f64>) {
    // expected-error @below {{full modifier only supported for f32 data type, but got: 'f64'}}
    %0 = divf %x, %x rounding<full> : tile<f64>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<i32>) {
    // expected-error @below {{'cuda_tile.negi' op 'no_unsigned_wrap' overflow flag is not supported}}
    %0 = negi %x overflow<no_unsigned_wrap> : tile<i32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<i32>) {
    // expected-error @below {{rounding mode 'negative_inf' is not allowed with 'unsigned' flag}}
    %0 = divi %x, %x unsigned rounding<negative_inf> : tile<i32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<i32>) {
    // expected-error @below {{expected valid keyword}}
    // expected-error @below {{expected signedness to be one of: {'signed', 'unsigned'}}}
    %0 = divi %x, %x : tile<i32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<i32>) {
    // expected-error @below {{expected ':'}}
    %0 = maxf %x, %x foo : tile<i32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<f32>) {
    // expected-error @below {{expected ','}}
    %0 = remf %x : tile<f32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<i32>) {
    // expected-error @below {{'cuda_tile.cmpi' expected 'comparison_predicate' to be one of: {'equal', 'not_equal', 'less_than', 'less_than_or_equal', 'greater_than', 'greater_than_or_equal'}}}
    %0 = cmpi foo %x, %x, signed : tile<i32> -> tile<i1>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<i32>) {
    // expected-error @below {{custom op 'cuda_tile.cmpi' expected valid keyword}}
    // expected-error @below {{custom op 'cuda_tile.cmpi' expected 'comparison_predicate' to be one of: {'equal', 'not_equal', 'less_than', 'less_than_or_equal', 'greater_than', 'greater_than_or_equal'}}}
    %0 = cmpi %x, %x, signed : tile<i32> -> tile<i1>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<i32>) {
    // expected-error @below {{'cuda_tile.cmpi' expected signedness to be one of: {'signed', 'unsigned'}}}
    %0 = cmpi equal %x, %x, foo : tile<i32> -> tile<i1>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<f32>) {
    // expected-error @below {{'cuda_tile.cmpi' op operand #0 must be tile of i1 or i8 or i16 or i32 or i64 values, but got '!cuda_tile.tile<f32>'}}
    %0 = cmpi equal %x, %x, signed : tile<f32> -> tile<i1>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<2xi32>) {
    // expected-error @below {{'cuda_tile.cmpi' op failed to verify that Result type has i1 element type and same shape as operands}}
    %0 = cmpi equal %x, %x, signed : tile<2xi32> -> tile<i1>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<i32>) {
    // expected-error @below {{'cuda_tile.cmpi' op result #0 must be tile of i1 values, but got '!cuda_tile.tile<i16>'}}
    %0 = cmpi equal %x, %x, signed : tile<i32> -> tile<i16>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<i32>, %y: tile<i64>) {
    // expected-error @below {{'cuda_tile.cmpi' op failed to verify that all of {lhs, rhs} have same type}}
    %0 = "cuda_tile.cmpi"(%x, %y) <{comparison_predicate = #cuda_tile.comparison_predicate<equal>, signedness = #cuda_tile.signedness<signed>}> : (!cuda_tile.tile<i32>, !cuda_tile.tile<i64>) -> !cuda_tile.tile<i1>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<f32>, %y: tile<f64>) {
    // expected-error @below {{'cuda_tile.cmpf' op failed to verify that all of {lhs, rhs} have same type}}
    %0 = "cuda_tile.cmpf"(%x, %y) <{comparison_predicate = #cuda_tile.comparison_predicate<equal>, comparison_ordering = #cuda_tile.comparison_ordering<ordered>}> : (!cuda_tile.tile<f32>, !cuda_tile.tile<f64>) -> !cuda_tile.tile<i1>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<f32>) {
    // expected-error @below {{'cuda_tile.cmpf' expected 'comparison_predicate' to be one of: {'equal', 'not_equal', 'less_than', 'less_than_or_equal', 'greater_than', 'greater_than_or_equal'}}}
    %0 = cmpf foo ordered %x, %x : tile<f32> -> tile<i1>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<f32>) {
    // expected-error @below {{'cuda_tile.cmpf' expected 'comparison_ordering' to be one of: {'ordered', 'unordered'}}}
    %0 = cmpf equal foo %x, %x : tile<f32> -> tile<i1>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<f32>) {
    // expected-error @below {{expected valid keyword}}
    // expected-error @below {{'cuda_tile.cmpf' expected 'comparison_ordering' to be one of: {'ordered', 'unordered'}}
    %0 = cmpf equal %x, %x : tile<f32> -> tile<i1>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<i32>) {
    // expected-error @below {{'cuda_tile.cmpf' op operand #0 must be tile of f16 or bf16 or f32 or f64 values, but got '!cuda_tile.tile<i32>'}}
    %0 = cmpf equal ordered %x, %x : tile<i32> -> tile<i1>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<2xf32>) {
    // expected-error @below {{'cuda_tile.cmpf' op failed to verify that Result type has i1 element type and same shape as operands}}
    %0 = cmpf equal ordered %x, %x : tile<2xf32> -> tile<4xi1>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<f32>) {
    // expected-error @below {{'cuda_tile.cmpf' op result #0 must be tile of i1 values, but got '!cuda_tile.tile<f16>'}}
    %0 = cmpf equal ordered %x, %x : tile<f32> -> tile<f16>
  }
}

// -----

cuda_tile.module @m {
  // expected-note @below {{prior use here}}
  testing$func @f(%a: tile<1x2xf32>, %b: tile<1x2xf64>) {
    // expected-error @below {{use of value '%b' expects different type than prior uses: '!cuda_tile.tile<1x2xf32>' vs '!cuda_tile.tile<1x2xf64>'}}
    %0 = cmpf equal ordered %b, %a : tile<1x2xf32> -> tile<1x2xi1>
  }
}

// -----

cuda_tile.module @m {
  // expected-note @below {{prior use here}}
  testing$func @f(%a: tile<1x2xf32>, %b: tile<2x2xf32>) {
    // expected-error @below {{use of value '%b' expects different type than prior uses: '!cuda_tile.tile<1x2xf32>' vs '!cuda_tile.tile<2x2xf32>'}}
    %0 = cmpf equal ordered %a, %b : tile<1x2xf32> -> tile<1x2xi1>
  }
}

// -----

cuda_tile.module @m {
  // expected-note @below {{prior use here}}
  testing$func @f(%arg0: tile<2x4x8xi64>, %c: tile<2x4x8xi1>) {
    // expected-error @below {{use of value '%arg0' expects different type than prior uses: '!cuda_tile.tile<2x4x8xi32>' vs '!cuda_tile.tile<2x4x8xi64>'}}
    %0 = select %c, %arg0, %arg0 : tile<2x4x8xi1>, tile<2x4x8xi32>
  }
}

// -----

cuda_tile.module @m {
  // expected-note @below {{prior use here}}
  testing$func @f(%arg0: tile<2x4x8xi32>, %c: tile<2x4x8xi1>) {
    // expected-error @below {{use of value '%arg0' expects different type than prior uses: '!cuda_tile.tile<2x4x8xi64>' vs '!cuda_tile.tile<2x4x8xi32>'}}
    %0 = select %c, %arg0, %arg0 : tile<2x4x8xi1>, tile<2x4x8xi64>
  }
}

// -----

cuda_tile.module @m {
  // expected-note @below {{prior use here}}
  testing$func @f(%x: tile<2x4x8xi32>, %arg1: tile<2x4x8xi64>, %c: tile<2x4x8xi1>) {
    // expected-error @below {{use of value '%arg1' expects different type than prior uses: '!cuda_tile.tile<2x4x8xi32>' vs '!cuda_tile.tile<2x4x8xi64>'}}
    %0 = select %c, %x, %arg1 : tile<2x4x8xi1>, tile<2x4x8xi32>
  }
}

// -----

cuda_tile.module @m {
  // expected-note @below {{prior use here}}
  testing$func @f(%t: tile<f32>, %falseval: tile<f64>, %c: tile<i1>) {
    // expected-error @below {{use of value '%falseval' expects different type than prior uses}}
    %0 = select %c, %t, %falseval : tile<i1>, tile<f32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<i32>) {
    // expected-error @below {{'cuda_tile.select' op operand #0 must be tile of i1 values}}
    %0 = select %x, %x, %x : tile<i32>, tile<i32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<2xi32>, %c: tile<i1>) {
    // expected-error @below {{'cuda_tile.select' op failed to verify that all of {cond, val_if_true, val_if_false, result} have same shape}}
    %0 = select %c, %x, %x : tile<i1>, tile<2xi32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<2xi32>, %c: tile<2xi1>) {
    // expected-error @below {{custom op 'cuda_tile.select' expected valid keyword}}
    %0 = select %c, %x, %x : 5, tile<2xi32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<2xf4E2M1FN>, %c: tile<2xi1>) {
    // expected-error @below {{cannot operate on sub-byte type F4E2M1FN}}
    %0 = select %c, %x, %x : tile<2xi1>, tile<2xf4E2M1FN>
  }
}
