// Conversions between element types that do not exist.
//
// RUN: tileiras-opt %s --cuda-tile-testing-ops --allow-unregistered-dialect \
// RUN:   --split-input-file --verify-diagnostics

cuda_tile.module @m {
  testing$func @f(%x: tile<2xi32>) {
    // expected-error @below {{op failed to verify that all of {source, result} have same shape}}
    %0 = bitcast %x : tile<2xi32> -> tile<4xi32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<i32>) {
    // expected-error @below {{op types must be equal width}}
    %0 = bitcast %x : tile<i32> -> tile<i64>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<i32>) {
    // expected-error @below {{operand #0 must be tile of i64 values, but got '!cuda_tile.tile<i32>'}}
    %0 = int_to_ptr %x : tile<i32> -> tile<ptr<f32>>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%p: tile<ptr<f32>>) {
    // expected-error @below {{result #0 must be tile of i64 values, but got '!cuda_tile.tile<i32>'}}
    %0 = ptr_to_int %p : tile<ptr<f32>> -> tile<i32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<i32>) {
    // expected-error @below {{extending to smaller or identical integer}}
    %0 = exti %x signed : tile<i32> -> tile<i16>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<i32>) {
    // expected-error @below {{truncating to larger or identical integer}}
    %0 = trunci %x : tile<i32> -> tile<i32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<2xi32>) {
    // expected-error @below {{failed to verify that all of {from, to} have same shape}}
    %0 = exti %x signed : tile<2xi32> -> tile<4xi64>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<i32>) {
    // expected-error @below {{expected signedness to be one of: {'signed', 'unsigned'}}}
    %0 = exti %x foo : tile<i32> -> tile<i64>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<f32>) {
    // expected-error @below {{converting tiles must not be a no-op}}
    %0 = ftof %x : tile<f32> -> tile<f32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<2xf32>) {
    // expected-error @below {{op result #0 must be tile of f16 or bf16 or f32 or f64 or tf32 or f8E4M3FN or f8E5M2 or f8E8M0FNU or f4E2M1FN or fnv8E5M3FNU values, but got '!cuda_tile.tile<2xi32>'}}
    %0 = ftof %x : tile<2xf32> -> tile<2xi32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<2xi16>) {
    // expected-error @below {{op operand #0 must be tile of f16 or bf16 or f32 or f64 or tf32 or f8E4M3FN or f8E5M2 or f8E8M0FNU or f4E2M1FN or fnv8E5M3FNU values, but got '!cuda_tile.tile<2xi16>'}}
    %0 = ftof %x : tile<2xi16> -> tile<2xf32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<i32>) {
    // expected-error @below {{expected rounding mode to be one of: 'nearest_even', 'zero', 'negative_inf', 'positive_inf', got: 'foo'}}
    %0 = itof %x signed rounding<foo> : tile<i32> -> tile<f16>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<i32>) {
    // expected-error @below {{expected rounding mode to be one of: 'nearest_even', 'zero', 'negative_inf', 'positive_inf', got: 'nearest_int_to_positive_inf'}}
    %0 = itof %x signed rounding<nearest_int_to_positive_inf> : tile<i32> -> tile<f16>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<i32>) {
    // expected-error @below {{invalid rounding mode specified. Only 'nearest_even' is supported}}
    %0 = itof %x signed rounding<zero> : tile<i32> -> tile<f16>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<f32>) {
    // expected-error @below {{invalid rounding mode specified for conversion to f8E8M0FNU. Only 'zero' and 'positive_inf' are supported}}
    %0 = ftof %x : tile<f32> -> tile<f8E8M0FNU>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<i32>) {
    // expected-error @below {{op invalid rounding mode specified. Only 'nearest_even' is supported}}
    %0 = itof %x signed rounding<zero> : tile<i32> -> tile<f32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<i32>) {
    // expected-error @below {{op integer to f8E8M0FNU conversion is not supported, please first convert to another float type}}
    %0 = itof %x signed : tile<i32> -> tile<f8E8M0FNU>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<2xf16>) {
    // expected-error @below {{operand #0 must be tile of i1 or i8 or i16 or i32 or i64 values, but got '!cuda_tile.tile<2xf16>'}}
    %0 = itof %x signed : tile<2xf16> -> tile<2xf32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<f32>) {
    // expected-error @below {{'cuda_tile.itof' op operand #0 must be tile of i1 or i8 or i16 or i32 or i64 values}}
    %0 = itof %x signed : tile<f32> -> tile<f16>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<f32>) {
    // expected-error @below {{'cuda_tile.ftoi' op result #0 must be tile of i1 or i8 or i16 or i32 or i64 values}}
    %0 = ftoi %x signed : tile<f32> -> tile<f16>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<f32>) {
    // expected-error @below {{expected rounding mode to be one of: 'nearest_int_to_zero', got: 'foo'}}
    %0 = ftoi %x signed rounding<foo> : tile<f32> -> tile<i32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<f32>) {
    // expected-error @below {{expected rounding mode to be one of: 'nearest_int_to_zero', got: 'nearest_even'}}
    %0 = ftoi %x signed rounding<nearest_even> : tile<f32> -> tile<i32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<f32>) {
    // expected-error @below {{op invalid rounding mode specified. Only 'nearest_int_to_zero' is supported}}
    %0 = "cuda_tile.ftoi"(%x) <{signedness = #cuda_tile.signedness<signed>, rounding_mode = #cuda_tile.rounding<zero>}> : (!cuda_tile.tile<f32>) -> !cuda_tile.tile<i32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<16xf32>) {
    // expected-error @below {{op failed to verify that all of {source, result} have same rank}}
    %0 = pack %x : tile<16xf32> -> tile<8x8xi8>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<4x4xf32>) {
    // expected-error @below {{op expects source and result to be rank-1 tiles}}
    %0 = pack %x : tile<4x4xf32> -> tile<8x8xi8>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<16xf32>) {
    // expected-error @below {{op expects source and result to have the same size in bytes, but got source tile size 64 bytes and result tile size 32 bytes}}
    %0 = pack %x : tile<16xf32> -> tile<32xi8>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<64xi8>) {
    // expected-error @below {{op expects source and result to have the same size in bytes, but got source tile size 64 bytes and result tile size 128 bytes}}
    %0 = unpack %x : tile<64xi8> -> tile<32xf32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<16xf8E4M3FN>) {
    // expected-error @below {{op expects source and result to have different element type widths}}
    %0 = pack %x : tile<16xf8E4M3FN> -> tile<16xi8>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<4xi1>) {
    // expected-error @below {{expects source and result to be byte aligned}}
    %0 = pack %x : tile<4xi1> -> tile<1xi8>
  }
}
