// Invalid uses of the operations and modes of version 13.4.
//
// RUN: tileiras-opt %s --cuda-tile-testing-ops --allow-unregistered-dialect \
// RUN:   --split-input-file --verify-diagnostics

cuda_tile.module @m {
  testing$func @f(%s: tile<2x2xf32>, %d: tile<4x8xf32>, %i: tile<i32>) {
    // expected-error @below {{expected 2 indices, but got 1}}
    %0 = insert %s, %d[%i] : tile<2x2xf32>, tile<4x8xf32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%s: tile<2xf32>, %d: tile<4x8xf32>, %i: tile<i32>) {
    // expected-error @below {{source and result must have the same rank}}
    %0 = insert %s, %d[%i] : tile<2xf32>, tile<4x8xf32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%s: tile<2x2xf16>, %d: tile<4x8xf32>, %i: tile<i32>) {
    // expected-error @below {{source and result element type do not match}}
    %0 = insert %s, %d[%i, %i] : tile<2x2xf16>, tile<4x8xf32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%s: tile<8x2xf32>, %d: tile<4x8xf32>, %i: tile<i32>) {
    // expected-error @below {{result dimension 0 size (4) must be evenly divisible by source dimension 0 size (8)}}
    %0 = insert %s, %d[%i, %i] : tile<8x2xf32>, tile<4x8xf32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%s: tile<2x2xf32>, %d: tile<4x8xf32>, %i: tile<i32>) {
    // expected-error @below {{failed to verify that all of {destination, result} have same type}}
    %0 = "cuda_tile.insert"(%s, %d, %i, %i) : (!cuda_tile.tile<2x2xf32>, !cuda_tile.tile<4x8xf32>, !cuda_tile.tile<i32>, !cuda_tile.tile<i32>) -> !cuda_tile.tile<4x16xf32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<4xf32>, %n: tile<4xi64>) {
    // expected-error @below {{operand #1 must be tile of i1 or i8 or i16 or i32 values, but got '!cuda_tile.tile<4xi64>'}}
    %0 = fpowi %x, %n : tile<4xf32>, tile<4xi64>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<4xf32>, %n: tile<8xi32>) {
    // expected-error @below {{failed to verify that all of {source, exponent} have same shape}}
    %0 = fpowi %x, %n : tile<4xf32>, tile<8xi32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%v: partition_view<tile=(8x8), tensor_view<64x64xf32, strides=[64,1]>>, %i: tile<i32>) {
    // expected-error @below {{inbounds size (1) must match the number of index dimensions (2)}}
    %x, %t = load_view_tko weak %v[%i, %i] inbounds = [true] : partition_view<tile=(8x8), tensor_view<64x64xf32, strides=[64,1]>>, tile<i32> -> tile<8x8xf32>, token
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%v: partition_view<tile=(8x8), tensor_view<64x64xf32, strides=[64,1]>>, %i: tile<i32>, %x: tile<8x8xf32>) {
    // expected-error @below {{inbounds size (0) must match the number of index dimensions (2)}}
    %t = store_view_tko weak %x, %v[%i, %i] inbounds = [] : tile<8x8xf32>, partition_view<tile=(8x8), tensor_view<64x64xf32, strides=[64,1]>>, tile<i32> -> token
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<f64>) {
    // expected-error @below {{invalid rounding mode specified for conversion from f64 to f32. Only 'nearest_even', 'zero', 'negative_inf', and 'positive_inf' are supported}}
    %0 = ftof %x rounding<nearest_away> : tile<f64> -> tile<f32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<f32>) {
    // expected-error @below {{invalid rounding mode specified for conversion from f32 to tf32. Only 'nearest_even', 'zero', and 'nearest_away' are supported}}
    %0 = ftof %x rounding<negative_inf> : tile<f32> -> tile<tf32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<f64>) {
    // expected-error @below {{invalid rounding mode specified. Only 'nearest_even' and 'zero' are supported for narrowing conversions to standard types}}
    %0 = ftof %x rounding<nearest_away> : tile<f64> -> tile<tf32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<f16>) {
    // expected-error @below {{invalid rounding mode specified. Only 'nearest_even' and 'zero' are supported for narrowing conversions to standard types}}
    %0 = ftof %x rounding<positive_inf> : tile<f16> -> tile<bf16>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<f8E8M0FNU>) {
    // expected-error @below {{invalid rounding mode specified. Only 'nearest_even' and 'zero' are supported for narrowing conversions to standard types}}
    %0 = ftof %x rounding<negative_inf> : tile<f8E8M0FNU> -> tile<f32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<f32>) {
    // expected-error @below {{invalid rounding mode specified for conversion to low-precision type. Only 'nearest_even' is supported}}
    %0 = ftof %x rounding<zero> : tile<f32> -> tile<f8E4M3FN>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<f32>) {
    // expected-error @below {{invalid rounding mode specified for conversion to f8E8M0FNU. Only 'zero' and 'positive_inf' are supported}}
    %0 = ftof %x rounding<nearest_away> : tile<f32> -> tile<f8E8M0FNU>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<f16>) {
    // expected-error @below {{invalid rounding mode specified for widening conversion. Only IEEE float rounding modes are supported: 'nearest_even', 'zero', 'negative_inf', 'positive_inf', 'nearest_away'}}
    %0 = "cuda_tile.ftof"(%x) {rounding_mode = #cuda_tile.rounding<approx>} : (!cuda_tile.tile<f16>) -> !cuda_tile.tile<f32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<f32>) {
    // expected-error @below {{expected rounding mode to be one of: 'nearest_even', 'zero', 'negative_inf', 'positive_inf', got: 'nearest_away'}}
    %0 = addf %x, %x rounding<nearest_away> : tile<f32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<i32>) {
    // expected-error @below {{expected rounding mode to be one of: 'nearest_even', 'zero', 'negative_inf', 'positive_inf', got: 'nearest_away'}}
    %0 = itof %x signed rounding<nearest_away> : tile<i32> -> tile<f32>
  }
}

// -----

cuda_tile.module @m {
  entry @two_tokens() {
    %t = make_token : token
    // expected-error @below {{operand group starting at #0 requires 0 or 1 element, but found 2}}
    %0 = "cuda_tile.gdc_wait_tko"(%t, %t) : (!cuda_tile.token, !cuda_tile.token) -> !cuda_tile.token
  }
}

// -----

cuda_tile.module @m {
  entry @below_zero() {
    // expected-error @below {{fnv8E5M3FNU has no numbers below zero}}
    %0 = constant <fnv8E5M3FNU: -1.0> : tile<fnv8E5M3FNU>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<fnv8E5M3FNU>) {
    // expected-error @below {{operand #0 must be tile of f16 or bf16 or f32 or f64 values, but got '!cuda_tile.tile<fnv8E5M3FNU>'}}
    %0 = addf %x, %x : tile<fnv8E5M3FNU>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<fnv8E5M3FNU>) {
    // expected-error @below {{'cuda_tile.ftof' op invalid rounding mode specified. Only 'nearest_even' and 'zero' are supported for narrowing conversions to standard types}}
    %0 = ftof %x rounding<positive_inf> : tile<fnv8E5M3FNU> -> tile<f16>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<f32>) {
    // expected-error @below {{'cuda_tile.ftof' op invalid rounding mode specified for conversion to low-precision type. Only 'nearest_even' is supported}}
    %0 = ftof %x rounding<zero> : tile<f32> -> tile<fnv8E5M3FNU>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%l: tile<16x64xf8E4M3FN>, %r: tile<64x16xf8E4M3FN>, %a: tile<16x16xf32>, %s: tile<16x2xfnv8E5M3FNU>, %t: tile<2x16xfnv8E5M3FNU>) {
    // expected-error @below {{'cuda_tile.mmaf_scaled' op unsupported combination of element types. Scale type 'fnv8E5M3FNU' expects lhs and rhs element types to be 'f4E2M1FN', but got 'f8E4M3FN'}}
    %0 = mmaf_scaled %l, %r, %a, %s, %t : tile<16x64xf8E4M3FN>, tile<64x16xf8E4M3FN>, tile<16x16xf32>, tile<16x2xfnv8E5M3FNU>, tile<2x16xfnv8E5M3FNU>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%l: tile<16x64xf4E2M1FN>, %r: tile<64x16xf4E2M1FN>, %a: tile<16x16xf32>, %s: tile<16x1xfnv8E5M3FNU>, %t: tile<1x16xfnv8E5M3FNU>) {
    // expected-error @below {{'cuda_tile.mmaf_scaled' op shape error: f4E2M1FN element type with fnv8E5M3FNU scales requires block scale factor of lhs_scale and rhs_scale to be 16 or 32, but got 64}}
    %0 = mmaf_scaled %l, %r, %a, %s, %t : tile<16x64xf4E2M1FN>, tile<64x16xf4E2M1FN>, tile<16x16xf32>, tile<16x1xfnv8E5M3FNU>, tile<1x16xfnv8E5M3FNU>
  }
}

// -----

cuda_tile.module @m {
  // expected-error @below {{'cuda_tile.global' op a value of '!cuda_tile.tile<2xi16>' does not hold elements of '!cuda_tile.fnv8E5M3FNU'}}
  "cuda_tile.global"() <{alignment = 0 : i64, sym_name = "g", element_type = !cuda_tile.fnv8E5M3FNU, value = dense<1> : !cuda_tile.tile<2xi16>}> : () -> ()
}

// -----

cuda_tile.module @m {
  entry @k() {
    // expected-error @below {{failed to verify that all of {value, result} have same type}}
    %0 = "cuda_tile.constant"() <{value = dense<1> : !cuda_tile.tile<i16>}> : () -> !cuda_tile.tile<fnv8E5M3FNU>
  }
}
