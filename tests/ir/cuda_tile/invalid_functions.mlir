// Functions and modules.
//
// RUN: tileiras-opt %s --cuda-tile-testing-ops --allow-unregistered-dialect \
// RUN:   --split-input-file --verify-diagnostics

cuda_tile.module @m {
  testing$func @kernel() -> tile<i32> {
  // expected-error @below {{op has 0 operands, but enclosing function (@kernel) returns 1}}
  return
  }
}

// -----

cuda_tile.module @m {
  testing$func @kernel(%x: tile<2xf32>) -> tile<2xi16> {
  // expected-error @below {{type of return operand 0 ('!cuda_tile.tile<2xf32>') doesn't match function result type ('!cuda_tile.tile<2xi16>') in function @kernel}}
  return %x : tile<2xf32>
  }
}

// -----

cuda_tile.module @m {
  // expected-error @below {{expected valid '@'-identifier for symbol name}}
  entry kernel() {
  }
}

// -----

cuda_tile.module @m {
  // expected-error @below {{entry op must not return values}}
  entry @kernel(%x: tile<i32>) -> tile<i32> {
    return %x : tile<i32>
  }
}

// -----

cuda_tile.module @m {
  // expected-error @below {{entry op must have scalar types (rank 0 !cuda_tile.tile)}}
  entry @kernel(%x: tile<4xi32>) {
  }
}

// -----

// expected-error @below {{only ops from the 'cuda_tile' dialect are allowed}}
cuda_tile.module @m {
// expected-remark @below {{this op is from another dialect}}
  "test.op"() : () -> ()
}
