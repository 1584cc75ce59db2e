// Assumptions, prints and assertions.
//
// RUN: tileiras-opt %s --cuda-tile-testing-ops --allow-unregistered-dialect \
// RUN:   --split-input-file --verify-diagnostics

cuda_tile.module @m {
  testing$func @f(%x: tile<16xi32>, %s: tile<i32>, %b: tile<16xi8>, %f: tile<16xf32>, %v: tensor_view<8xf32, strides=[1]>) {
    // expected-error @below {{'cuda_tile.div_by' is valid only for tile of integer/pointer or tensor_view values}}
    %0 = assume div_by<16>, %f : tile<16xf32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<16xi32>, %s: tile<i32>, %b: tile<16xi8>, %f: tile<16xf32>, %v: tensor_view<8xf32, strides=[1]>) {
    // expected-error @below {{'cuda_tile.div_by' divisor is too large}}
    %0 = assume div_by<9223372036854775808>, %x : tile<16xi32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<16xi32>, %s: tile<i32>, %b: tile<16xi8>, %f: tile<16xf32>, %v: tensor_view<8xf32, strides=[1]>) {
    // expected-error @below {{'cuda_tile.div_by' 'every'/'along' cannot be used if the constrained value is a 0D tile}}
    %0 = assume div_by<16, every 1 along 0>, %s : tile<i32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<16xi32>, %s: tile<i32>, %b: tile<16xi8>, %f: tile<16xf32>, %v: tensor_view<8xf32, strides=[1]>) {
    // expected-error @below {{'cuda_tile.div_by' 'every'/'along' cannot be used if the constrained value is a tensor_view}}
    %0 = assume div_by<16, every 1 along 0>, %v : tensor_view<8xf32, strides=[1]>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<16xi32>, %s: tile<i32>, %b: tile<16xi8>, %f: tile<16xf32>, %v: tensor_view<8xf32, strides=[1]>) {
    // expected-error @below {{expected 'cuda_tile.div_by' every_dim to be within 0 and the size of the respective dimension (16)}}
    %0 = assume div_by<16, every 32 along 0>, %x : tile<16xi32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<16xi32>, %s: tile<i32>, %b: tile<16xi8>, %f: tile<16xf32>, %v: tensor_view<8xf32, strides=[1]>) {
    // expected-error @below {{'cuda_tile.div_by' every_dim (1) must be >= 0 and < tile rank (1)}}
    %0 = assume div_by<16, every 1 along 1>, %x : tile<16xi32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<16xi32>, %s: tile<i32>, %b: tile<16xi8>, %f: tile<16xf32>, %v: tensor_view<8xf32, strides=[1]>) {
    // expected-error @below {{'cuda_tile.div_by' divisor must be a power of 2}}
    %0 = assume div_by<3>, %x : tile<16xi32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<16xi32>, %s: tile<i32>, %b: tile<16xi8>, %f: tile<16xf32>, %v: tensor_view<8xf32, strides=[1]>) {
    // expected-error @below {{expected number of values in 'cuda_tile.same_elements' (1) to match rank of constrained tile (0)}}
    %0 = assume same_elements<[1]>, %s : tile<i32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<16xi32>, %s: tile<i32>, %b: tile<16xi8>, %f: tile<16xf32>, %v: tensor_view<8xf32, strides=[1]>) {
    // expected-error @below {{'cuda_tile.same_elements' is valid only for tile of integer/pointer values}}
    %0 = assume same_elements<[1]>, %f : tile<16xf32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<16xi32>, %s: tile<i32>, %b: tile<16xi8>, %f: tile<16xf32>, %v: tensor_view<8xf32, strides=[1]>) {
    // expected-error @below {{expected 'cuda_tile.same_elements' value 0 to be within 0 and the size of the respective dimension (16)}}
    %0 = assume same_elements<[32]>, %x : tile<16xi32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<16xi32>, %s: tile<i32>, %b: tile<16xi8>, %f: tile<16xf32>, %v: tensor_view<8xf32, strides=[1]>) {
    // expected-error @below {{'cuda_tile.bounded' is valid only for tile of integer values}}
    %0 = assume bounded<0, 1>, %f : tile<16xf32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<16xi32>, %s: tile<i32>, %b: tile<16xi8>, %f: tile<16xf32>, %v: tensor_view<8xf32, strides=[1]>) {
    // expected-error @below {{'cuda_tile.bounded' expects upper bound to be within [-128, 127]}}
    %0 = assume bounded<0, 128>, %b : tile<16xi8>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<16xi32>, %s: tile<i32>, %b: tile<16xi8>, %f: tile<16xf32>, %v: tensor_view<8xf32, strides=[1]>) {
    // expected-error @below {{'cuda_tile.bounded' expects lower bound to be within [-128, 127]}}
    %0 = assume bounded<-129, 0>, %b : tile<16xi8>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<16xi32>, %s: tile<i32>, %b: tile<16xi8>, %f: tile<16xf32>, %v: tensor_view<8xf32, strides=[1]>) {
    // expected-error @below {{'cuda_tile.bounded' expects lower bound to be less than or equal to upper bound}}
    %0 = assume bounded<3, 2>, %b : tile<16xi8>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<16xi32>, %s: tile<i32>, %b: tile<16xi8>, %f: tile<16xf32>, %v: tensor_view<8xf32, strides=[1]>) {
    // expected-error @below {{expected assume predicate to be one of: 'div_by', 'same_elements', 'bounded', got: 'unit'}}
    %0 = assume unit, %x : tile<16xi32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<16xi32>, %s: tile<i32>, %b: tile<16xi8>, %f: tile<16xf32>, %v: tensor_view<8xf32, strides=[1]>) {
    // expected-error @below {{expected assume predicate attribute}}
    %0 = assume 5 : i32, %x : tile<16xi32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<16xi32>, %s: tile<i32>, %b: tile<16xi8>, %f: tile<16xf32>, %v: tensor_view<8xf32, strides=[1]>) {
    // expected-error @below {{incorrect number of operands: expected 1, found 0}}
    %t = print_tko "hello %i" -> token
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<16xi32>, %s: tile<i32>, %b: tile<16xi8>, %f: tile<16xf32>, %v: tensor_view<8xf32, strides=[1]>) {
    // expected-error @below {{incorrect number of operands: expected 2, found 1}}
    %t = print_tko "%i %i", %x : tile<16xi32> -> token
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<16xi32>, %s: tile<i32>, %b: tile<16xi8>, %f: tile<16xf32>, %v: tensor_view<8xf32, strides=[1]>) {
    // expected-error @below {{found unterminated format expression}}
    %t = print_tko "%i %l", %x : tile<16xi32> -> token
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<16xi32>, %s: tile<i32>, %b: tile<16xi8>, %f: tile<16xf32>, %v: tensor_view<8xf32, strides=[1]>) {
    // expected-error @below {{expected SSA operand}}
    %t = print_tko "%i", : tile<16xi32> -> token
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<16xi32>, %s: tile<i32>, %b: tile<16xi8>, %f: tile<16xf32>, %v: tensor_view<8xf32, strides=[1]>) {
    // expected-error @below {{expected attribute value}}
    %t = print_tko , %x : tile<16xi32> -> token
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<f32>) {
    // expected-error @below {{op operand #0 must be tile of i1 values}}
    assert %x, "m" : tile<f32>
  }
}
