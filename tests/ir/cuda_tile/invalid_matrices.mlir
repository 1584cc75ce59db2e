// Shapes and element types of matrix products.
//
// RUN: tileiras-opt %s --cuda-tile-testing-ops --allow-unregistered-dialect \
// RUN:   --split-input-file --verify-diagnostics

cuda_tile.module @m {
  testing$func @f(%a: tile<2x2xf16>, %b: tile<2x2xf32>, %c: tile<2x2xf32>) {
    // expected-error @below {{op failed to verify that all of {lhs, rhs} have the same element type}}
    %0 = mmaf %a, %b, %c : tile<2x2xf16>, tile<2x2xf32>, tile<2x2xf32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%a: tile<4x16xf16>, %b: tile<8x16xf16>, %c: tile<4x16xf32>) {
    // expected-error @below {{dim 1 of lhs (16) and dim 0 of rhs (8) must match, but got lhs shape (4, 16) and rhs shape (8, 16)}}
    %0 = mmaf %a, %b, %c : tile<4x16xf16>, tile<8x16xf16>, tile<4x16xf32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%a: tile<16x8xf16>, %b: tile<8x16xf16>, %c: tile<4x16xf32>) {
    // expected-error @below {{dim 0 of lhs (16) and dim 0 of acc (4) must match, but got lhs shape (16, 8) and acc shape (4, 16)}}
    %0 = mmaf %a, %b, %c : tile<16x8xf16>, tile<8x16xf16>, tile<4x16xf32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%a: tile<4x8xf16>, %b: tile<8x16xf16>, %c: tile<4x32xf32>) {
    // expected-error @below {{dim 1 of rhs (16) and dim 1 of acc (32) must match, but got rhs shape (8, 16) and acc shape (4, 32)}}
    %0 = mmaf %a, %b, %c : tile<4x8xf16>, tile<8x16xf16>, tile<4x32xf32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%a: tile<2x2xf16>, %b: tile<2x2x2xf16>, %c: tile<2x2xf32>) {
    // expected-error @below {{op failed to verify that all of {lhs, rhs, acc} have same rank}}
    %0 = mmaf %a, %b, %c : tile<2x2xf16>, tile<2x2x2xf16>, tile<2x2xf32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%a: tile<2x4x8xf16>, %b: tile<2x8x16xf16>, %c: tile<4x4x16xf32>) {
    // expected-error @below {{dim 0 of lhs (2) and dim 0 of acc (4) must match, but got lhs shape (2, 4, 8) and acc shape (4, 4, 16)}}
    %0 = mmaf %a, %b, %c : tile<2x4x8xf16>, tile<2x8x16xf16>, tile<4x4x16xf32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%a: tile<2x4x8xf16>, %b: tile<4x8x16xf16>, %c: tile<2x4x16xf32>) {
    // expected-error @below {{dim 0 of lhs (2) and dim 0 of rhs (4) must match, but got lhs shape (2, 4, 8) and rhs shape (4, 8, 16)}}
    %0 = mmaf %a, %b, %c : tile<2x4x8xf16>, tile<4x8x16xf16>, tile<2x4x16xf32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%a: tile<4xf16>, %b: tile<4xf16>, %c: tile<4xf32>) {
    // expected-error @below {{expects operands of rank 2 or 3, but got: 1}}
    %0 = mmaf %a, %b, %c : tile<4xf16>, tile<4xf16>, tile<4xf32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%a: tile<2x2xi8>, %b: tile<2x2xi8>, %c: tile<2x2xf32>) {
    // expected-error @below {{op operand #0 must be mmaf operand tile type of f16 or bf16 or f32 or f64 or tf32 or f8E4M3FN or f8E5M2 values, but got '!cuda_tile.tile<2x2xi8>'}}
    %0 = mmaf %a, %b, %c : tile<2x2xi8>, tile<2x2xi8>, tile<2x2xf32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%a: tile<2x2xf4E2M1FN>, %b: tile<2x2xf4E2M1FN>, %c: tile<2x2xf32>) {
    // expected-error @below {{op operand #0 must be mmaf operand tile type of}}
    %0 = mmaf %a, %b, %c : tile<2x2xf4E2M1FN>, tile<2x2xf4E2M1FN>, tile<2x2xf32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%a: tile<2x2xf16>, %b: tile<2x2xf16>, %c: tile<2x2xbf16>) {
    // expected-error @below {{op operand #2 must be mmaf acc/result tile type of f16 or f32 or f64 values, but got '!cuda_tile.tile<2x2xbf16>'}}
    %0 = mmaf %a, %b, %c : tile<2x2xf16>, tile<2x2xf16>, tile<2x2xbf16>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%a: tile<2x2xf16>, %b: tile<2x2xf16>, %c: tile<2x2xf8E4M3FN>) {
    // expected-error @below {{op operand #2 must be mmaf acc/result tile type of f16 or f32 or f64 values, but got '!cuda_tile.tile<2x2xf8E4M3FN>'}}
    %0 = mmaf %a, %b, %c : tile<2x2xf16>, tile<2x2xf16>, tile<2x2xf8E4M3FN>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%a: tile<2x2xf16>, %b: tile<2x2xf16>, %c: tile<2x2xtf32>) {
    // expected-error @below {{op operand #2 must be mmaf acc/result tile type of f16 or f32 or f64 values, but got '!cuda_tile.tile<2x2xtf32>'}}
    %0 = mmaf %a, %b, %c : tile<2x2xf16>, tile<2x2xf16>, tile<2x2xtf32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%a: tile<2x2xbf16>, %b: tile<2x2xbf16>, %c: tile<2x2xf16>) {
    // expected-error @below {{op unsupported combination of element types. Input type 'bf16' expects accumulator/result type to be one of {'f32'}, but got 'f16'}}
    %0 = mmaf %a, %b, %c : tile<2x2xbf16>, tile<2x2xbf16>, tile<2x2xf16>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%a: tile<2x2xf16>, %b: tile<2x2xf16>, %c: tile<2x2xf64>) {
    // expected-error @below {{op unsupported combination of element types. Input type 'f16' expects accumulator/result type to be one of {'f16', 'f32'}, but got 'f64'}}
    %0 = mmaf %a, %b, %c : tile<2x2xf16>, tile<2x2xf16>, tile<2x2xf64>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%a: tile<2x2xf32>, %b: tile<2x2xf32>, %c: tile<2x2xf64>) {
    // expected-error @below {{op unsupported combination of element types. Input type 'f32' expects accumulator/result type to be one of {'f32'}, but got 'f64'}}
    %0 = mmaf %a, %b, %c : tile<2x2xf32>, tile<2x2xf32>, tile<2x2xf64>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%a: tile<2x2xf8E4M3FN>, %b: tile<2x2xf8E4M3FN>, %c: tile<2x2xf64>) {
    // expected-error @below {{op unsupported combination of element types. Input type 'f8E4M3FN' expects accumulator/result type to be one of {'f16', 'f32'}, but got 'f64'}}
    %0 = mmaf %a, %b, %c : tile<2x2xf8E4M3FN>, tile<2x2xf8E4M3FN>, tile<2x2xf64>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%a: tile<2x2xtf32>, %b: tile<2x2xtf32>, %c: tile<2x2xf16>) {
    // expected-error @below {{op unsupported combination of element types. Input type 'tf32' expects accumulator/result type to be one of {'f32'}, but got 'f16'}}
    %0 = mmaf %a, %b, %c : tile<2x2xtf32>, tile<2x2xtf32>, tile<2x2xf16>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%a: tile<2x2xf32>, %b: tile<2x2xf32>, %c: tile<2x2xi32>) {
    // expected-error @below {{op operand #0 must be mmai operand tile type of i8 values, but got '!cuda_tile.tile<2x2xf32>'}}
    %0 = mmai %a, %b, %c signed signed : tile<2x2xf32>, tile<2x2xf32>, tile<2x2xi32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%a: tile<2x2xi16>, %b: tile<2x2xi16>, %c: tile<2x2xi32>) {
    // expected-error @below {{op operand #0 must be mmai operand tile type of i8 values, but got '!cuda_tile.tile<2x2xi16>'}}
    %0 = mmai %a, %b, %c signed signed : tile<2x2xi16>, tile<2x2xi16>, tile<2x2xi32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%a: tile<2x2xi32>, %b: tile<2x2xi32>, %c: tile<2x2xi32>) {
    // expected-error @below {{op operand #0 must be mmai operand tile type of i8 values, but got '!cuda_tile.tile<2x2xi32>'}}
    %0 = mmai %a, %b, %c signed signed : tile<2x2xi32>, tile<2x2xi32>, tile<2x2xi32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%a: tile<2x2xi64>, %b: tile<2x2xi64>, %c: tile<2x2xi32>) {
    // expected-error @below {{op operand #0 must be mmai operand tile type of i8 values, but got '!cuda_tile.tile<2x2xi64>'}}
    %0 = mmai %a, %b, %c signed signed : tile<2x2xi64>, tile<2x2xi64>, tile<2x2xi32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%a: tile<128x128xf8E5M2>, %b: tile<128x128xf8E5M2>, %c: tile<128x128xf32>, %d: tile<128x4xf8E4M3FN>, %e: tile<4x128xf8E4M3FN>) {
    // expected-error @below {{op unsupported combination of element types. Scale type 'f8E4M3FN' expects lhs and rhs element types to be 'f4E2M1FN', but got 'f8E5M2'}}
    %0 = mmaf_scaled %a, %b, %c, %d, %e : tile<128x128xf8E5M2>, tile<128x128xf8E5M2>, tile<128x128xf32>, tile<128x4xf8E4M3FN>, tile<4x128xf8E4M3FN>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%a: tile<128x128xf8E4M3FN>, %b: tile<128x128xf8E4M3FN>, %c: tile<128x128xf16>, %d: tile<128x4xf8E8M0FNU>, %e: tile<4x128xf8E8M0FNU>) {
    // expected-error @below {{op operand #2 must be mmaf_scaled result tile type of f32 values, but got '!cuda_tile.tile<128x128xf16>'}}
    %0 = mmaf_scaled %a, %b, %c, %d, %e : tile<128x128xf8E4M3FN>, tile<128x128xf8E4M3FN>, tile<128x128xf16>, tile<128x4xf8E8M0FNU>, tile<4x128xf8E8M0FNU>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%a: tile<128x128xf8E4M3FN>, %b: tile<128x128xf8E4M3FN>, %c: tile<128x128xf32>, %d: tile<128x4xf8E8M0FNU>, %e: tile<4x128xf8E4M3FN>) {
    // expected-error @below {{op failed to verify that all of {lhs_scale, rhs_scale} have the same element type}}
    %0 = mmaf_scaled %a, %b, %c, %d, %e : tile<128x128xf8E4M3FN>, tile<128x128xf8E4M3FN>, tile<128x128xf32>, tile<128x4xf8E8M0FNU>, tile<4x128xf8E4M3FN>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%a: tile<128x128xf8E4M3FN>, %b: tile<128x128xf8E4M3FN>, %c: tile<128x128xf32>, %d: tile<64x4xf8E8M0FNU>, %e: tile<4x128xf8E8M0FNU>) {
    // expected-error @below {{shape error: dim 0 of lhs (128) and dim 0 of lhs_scale (64) must match}}
    %0 = mmaf_scaled %a, %b, %c, %d, %e : tile<128x128xf8E4M3FN>, tile<128x128xf8E4M3FN>, tile<128x128xf32>, tile<64x4xf8E8M0FNU>, tile<4x128xf8E8M0FNU>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%a: tile<128x128xf8E4M3FN>, %b: tile<128x128xf8E4M3FN>, %c: tile<128x128xf32>, %d: tile<128x4xf8E8M0FNU>, %e: tile<4x64xf8E8M0FNU>) {
    // expected-error @below {{shape error: dim 1 of rhs (128) and dim 1 of rhs_scale (64) must match}}
    %0 = mmaf_scaled %a, %b, %c, %d, %e : tile<128x128xf8E4M3FN>, tile<128x128xf8E4M3FN>, tile<128x128xf32>, tile<128x4xf8E8M0FNU>, tile<4x64xf8E8M0FNU>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%a: tile<4x128x128xf8E4M3FN>, %b: tile<4x128x128xf8E4M3FN>, %c: tile<4x128x128xf32>, %d: tile<2x128x4xf8E8M0FNU>, %e: tile<4x4x128xf8E8M0FNU>) {
    // expected-error @below {{shape error: dim 0 of lhs (4) and dim 0 of lhs_scale (2) must match}}
    %0 = mmaf_scaled %a, %b, %c, %d, %e : tile<4x128x128xf8E4M3FN>, tile<4x128x128xf8E4M3FN>, tile<4x128x128xf32>, tile<2x128x4xf8E8M0FNU>, tile<4x4x128xf8E8M0FNU>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%a: tile<128x128xf16>, %b: tile<128x128xf16>, %c: tile<128x128xf32>, %d: tile<128x4xf8E8M0FNU>, %e: tile<4x128xf8E8M0FNU>) {
    // expected-error @below {{op operand #0 must be mmaf_scaled operand tile type of f8E4M3FN or f8E5M2 or f4E2M1FN values, but got '!cuda_tile.tile<128x128xf16>'}}
    %0 = mmaf_scaled %a, %b, %c, %d, %e : tile<128x128xf16>, tile<128x128xf16>, tile<128x128xf32>, tile<128x4xf8E8M0FNU>, tile<4x128xf8E8M0FNU>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%a: tile<128x128xf8E4M3FN>, %b: tile<128x128xf8E4M3FN>, %c: tile<128x128xf32>, %d: tile<128x4xf32>, %e: tile<4x128xf32>) {
    // expected-error @below {{op operand #3 must be mmaf_scaled scale tile type of f8E4M3FN or f8E8M0FNU or fnv8E5M3FNU values, but got '!cuda_tile.tile<128x4xf32>'}}
    %0 = mmaf_scaled %a, %b, %c, %d, %e : tile<128x128xf8E4M3FN>, tile<128x128xf8E4M3FN>, tile<128x128xf32>, tile<128x4xf32>, tile<4x128xf32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%a: tile<128x128xf8E4M3FN>, %b: tile<128x128xf8E4M3FN>, %c: tile<128x128xf32>, %d: tile<128x8xf8E8M0FNU>, %e: tile<4x128xf8E8M0FNU>) {
    // expected-error @below {{shape error: dim 1 of lhs_scale (8) and dim 0 of rhs_scale (4) must match, but got lhs_scale shape (128, 8) and rhs_scale shape (4, 128)}}
    %0 = mmaf_scaled %a, %b, %c, %d, %e : tile<128x128xf8E4M3FN>, tile<128x128xf8E4M3FN>, tile<128x128xf32>, tile<128x8xf8E8M0FNU>, tile<4x128xf8E8M0FNU>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%a: tile<128x128xf8E4M3FN>, %b: tile<128x128xf8E4M3FN>, %c: tile<128x128xf32>, %d: tile<128x8xf8E8M0FNU>, %e: tile<8x128xf8E8M0FNU>) {
    // expected-error @below {{shape error: f8 element type requires block scale factor of lhs_scale and rhs_scale to be 32, but got 16}}
    %0 = mmaf_scaled %a, %b, %c, %d, %e : tile<128x128xf8E4M3FN>, tile<128x128xf8E4M3FN>, tile<128x128xf32>, tile<128x8xf8E8M0FNU>, tile<8x128xf8E8M0FNU>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%a: tile<128x128xf4E2M1FN>, %b: tile<128x128xf4E2M1FN>, %c: tile<128x128xf32>, %d: tile<128x16xf8E8M0FNU>, %e: tile<16x128xf8E8M0FNU>) {
    // expected-error @below {{shape error: f4E2M1FN element type with f8E8M0FNU scales requires block scale factor of lhs_scale and rhs_scale to be 16 or 32, but got 8}}
    %0 = mmaf_scaled %a, %b, %c, %d, %e : tile<128x128xf4E2M1FN>, tile<128x128xf4E2M1FN>, tile<128x128xf32>, tile<128x16xf8E8M0FNU>, tile<16x128xf8E8M0FNU>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%a: tile<128x128xf4E2M1FN>, %b: tile<128x128xf4E2M1FN>, %c: tile<128x128xf32>, %d: tile<128x16xf8E4M3FN>, %e: tile<16x128xf8E4M3FN>) {
    // expected-error @below {{shape error: f4E2M1FN element type with f8E4M3FN scales requires block scale factor of lhs_scale and rhs_scale to be 16, but got 8}}
    %0 = mmaf_scaled %a, %b, %c, %d, %e : tile<128x128xf4E2M1FN>, tile<128x128xf4E2M1FN>, tile<128x128xf32>, tile<128x16xf8E4M3FN>, tile<16x128xf8E4M3FN>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%a: tile<16x16xf8E4M3FN>, %b: tile<16x16xf8E4M3FN>, %c: tile<16x16xf32>, %d: tile<16x32xf8E8M0FNU>, %e: tile<32x16xf8E8M0FNU>) {
    // expected-error @below {{shape error: dim 1 of lhs (16) must be evenly divisible by dim 1 of lhs_scale (32)}}
    %0 = mmaf_scaled %a, %b, %c, %d, %e : tile<16x16xf8E4M3FN>, tile<16x16xf8E4M3FN>, tile<16x16xf32>, tile<16x32xf8E8M0FNU>, tile<32x16xf8E8M0FNU>
  }
}
