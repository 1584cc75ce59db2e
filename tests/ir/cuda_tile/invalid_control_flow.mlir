// Branches, loops and their terminators.
//
// RUN: tileiras-opt %s --cuda-tile-testing-ops --allow-unregistered-dialect \
// RUN:   --split-input-file --verify-diagnostics

cuda_tile.module @m {
  // expected-error @below {{expects parent op to be one of 'cuda_tile.for, cuda_tile.if, cuda_tile.loop'}}
  continue
}

// -----

cuda_tile.module @m {
  // expected-error @below {{expects parent op to be one of 'cuda_tile.if, cuda_tile.loop'}}
  break
}

// -----

cuda_tile.module @m {
  // expected-note @below {{see unexpected ancestor operation}}
  testing$func @f(%c: tile<i1>, %n: tile<i32>, %l: tile<i64>, %v: tensor_view<8xf32, strides=[1]>, %w: partition_view<tile=(8), tensor_view<8xf32, strides=[1]>>) {
    if %c {
     // expected-error @below {{op can only be nested within a ancestor chain of 'cuda_tile.for', 'cuda_tile.loop', 'cuda_tile.if' operations}}
     continue
    }
  }
}

// -----

cuda_tile.module @m {
  // expected-note @below {{see unexpected ancestor operation}}
  testing$func @f(%c: tile<i1>, %n: tile<i32>, %l: tile<i64>, %v: tensor_view<8xf32, strides=[1]>, %w: partition_view<tile=(8), tensor_view<8xf32, strides=[1]>>) {
    if %c {
     // expected-error @below {{op can only be nested within a ancestor chain of 'cuda_tile.loop', 'cuda_tile.if' operations}}
     break
    }
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%c: tile<i1>, %n: tile<i32>, %l: tile<i64>, %v: tensor_view<8xf32, strides=[1]>, %w: partition_view<tile=(8), tensor_view<8xf32, strides=[1]>>) {
    // expected-note @below {{see unexpected ancestor operation}}
    for %i in (%n to %n, step %n) : tile<i32> {
      if %c {
       // expected-error @below {{op can only be nested within a ancestor chain of 'cuda_tile.loop', 'cuda_tile.if' operations}}
       break
      }
    }
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%c: tile<i1>, %n: tile<i32>, %l: tile<i64>, %v: tensor_view<8xf32, strides=[1]>, %w: partition_view<tile=(8), tensor_view<8xf32, strides=[1]>>) {
    // expected-note @below {{see unexpected ancestor operation}}
    loop {
      if %c {
       // expected-error @below {{op can only be nested within a ancestor chain of 'cuda_tile.entry', 'cuda_tile.if' operations}}
       return
      }
    }
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%c: tile<i1>, %n: tile<i32>, %l: tile<i64>, %v: tensor_view<8xf32, strides=[1]>, %w: partition_view<tile=(8), tensor_view<8xf32, strides=[1]>>) {
    for %i in (%n to %n, step %n) : tile<i32> {
     // expected-error @below {{`for` is missing a valid terminator. `continue` op should have operand types that match the parent loop return types: (), but found: ('!cuda_tile.tile<i32>')}}
     continue %n : tile<i32>
    }
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%c: tile<i1>, %n: tile<i32>, %l: tile<i64>, %v: tensor_view<8xf32, strides=[1]>, %w: partition_view<tile=(8), tensor_view<8xf32, strides=[1]>>) {
    loop iter_values(%x = %n) : tile<i32> {
     // expected-error @below {{`loop` is missing a valid terminator. `continue` op should have operand types that match the parent loop iter_values: ('!cuda_tile.tile<i32>'), but found: ()}}
     continue
    }
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%c: tile<i1>, %n: tile<i32>, %l: tile<i64>, %v: tensor_view<8xf32, strides=[1]>, %w: partition_view<tile=(8), tensor_view<8xf32, strides=[1]>>) {
    loop {
     // expected-error @below {{operand types must correspond to the parent loop result types}}
     break %n : tile<i32>
    }
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%c: tile<i32>) {
    // expected-error @below {{operand #0 must be 0D tile of i1 values, but got '!cuda_tile.tile<i32>'}}
    "cuda_tile.if"(%c) ({
      yield
    }, {
    }) : (!cuda_tile.tile<i32>) -> ()
  }
}

// -----

cuda_tile.module @m {
  // expected-note @below {{prior use here}}
  testing$func @f(%cond_1d: tile<4xi1>) {
    // expected-error @below {{use of value '%cond_1d' expects different type than prior uses: '!cuda_tile.tile<i1>' vs '!cuda_tile.tile<4xi1>}}
    if %cond_1d {
    }
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%n: tile<1xi32>) {
    // expected-error @below {{op operand #0 must be 0D tile of i1 or i8 or i16 or i32 or i64 values, but got '!cuda_tile.tile<1xi32>'}}
    for %i in (%n to %n, step %n) : tile<1xi32> {
    }
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%c: tile<i1>, %n: tile<i32>, %l: tile<i64>, %v: tensor_view<8xf32, strides=[1]>, %w: partition_view<tile=(8), tensor_view<8xf32, strides=[1]>>) {
    // expected-error @below {{expected induction variable to be same type as bounds}}
    "cuda_tile.for"(%n, %n, %n) ({
    ^bb0(%i: !cuda_tile.tile<i64>):
      "cuda_tile.continue"() : () -> ()
    }) : (!cuda_tile.tile<i32>, !cuda_tile.tile<i32>, !cuda_tile.tile<i32>) -> ()
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%n: tile<i32>, %x: tile<f32>) {
    // expected-error @below {{init value 0 and region iter_value 0 have different type: '!cuda_tile.tile<f32>' != '!cuda_tile.tile<f64>'}}
    %0 = "cuda_tile.for"(%n, %n, %n, %x) ({
    ^bb0(%i: !cuda_tile.tile<i32>, %a: !cuda_tile.tile<f64>):
      "cuda_tile.continue"(%x) : (!cuda_tile.tile<f32>) -> ()
    }) : (!cuda_tile.tile<i32>, !cuda_tile.tile<i32>, !cuda_tile.tile<i32>, !cuda_tile.tile<f32>) -> (!cuda_tile.tile<f32>)
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%n: tile<i32>, %x: tile<f32>) {
    // expected-error @below {{mismatch in number of region iterator values and loop iterator inits: 2 vs 1}}
    %0 = "cuda_tile.for"(%n, %n, %n, %x) ({
    ^bb0(%i: !cuda_tile.tile<i32>, %a: !cuda_tile.tile<f32>, %b: !cuda_tile.tile<f32>):
      "cuda_tile.continue"(%x) : (!cuda_tile.tile<f32>) -> ()
    }) : (!cuda_tile.tile<i32>, !cuda_tile.tile<i32>, !cuda_tile.tile<i32>, !cuda_tile.tile<f32>) -> (!cuda_tile.tile<f32>)
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%x: tile<f32>) {
    // expected-error @below {{mismatch in number of region iterator values and loop iterator inits: 2 vs 1}}
    "cuda_tile.loop"(%x) ({
    ^bb0(%a: !cuda_tile.tile<f32>, %b: !cuda_tile.tile<f32>):
      break
    }) : (!cuda_tile.tile<f32>) -> ()
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%n: tile<i32>, %x: tile<f32>) {
    // expected-error @below {{failed to verify that all of {initValues, resultValues} have same type}}
    %0 = "cuda_tile.for"(%n, %n, %n, %x) ({
    ^bb0(%i: !cuda_tile.tile<i32>, %a: !cuda_tile.tile<f32>):
      "cuda_tile.continue"(%a) : (!cuda_tile.tile<f32>) -> ()
    }) : (!cuda_tile.tile<i32>, !cuda_tile.tile<i32>, !cuda_tile.tile<i32>, !cuda_tile.tile<f32>) -> (!cuda_tile.tile<f64>)
  }
}

// -----

cuda_tile.module @m {
  // expected-note @below {{prior use here}}
  testing$func @f(%n: tile<i32>, %x: tile<f64>) {
    // expected-error @below {{expects different type than prior uses: '!cuda_tile.tile<f32>' vs '!cuda_tile.tile<f64>'}}
    %0 = for %i in (%n to %n, step %n) : tile<i32> iter_values(%a = %x) -> (tile<f32>) {
    }
  }
}

// -----

cuda_tile.module @m {
  // expected-note @below {{prior use here}}
  testing$func @f(%n: tile<i32>, %x: tile<f32>) {
    // expected-error @below {{expects different type than prior uses: '!cuda_tile.tile<i32>' vs '!cuda_tile.tile<f32>'}}
    %0 = addi %n, %x : tile<i32>
  }
}

// -----

cuda_tile.module @m {
  // expected-note @below {{prior use here}}
  testing$func @f(%init1: tile<i32>) {
    // expected-error @below {{use of value '%init1' expects different type than prior uses: '!cuda_tile.tile<f32>' vs '!cuda_tile.tile<i32>'}}
    loop iter_values(%a = %init1) : tile<f32> {
    }
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%n: tile<i32>) {
    // expected-error @below {{found different number of iter_values and types}}
    loop iter_values(%a = %n) : tile<i32>, tile<i32> {
    }
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%c: tile<i1>, %n: tile<i32>, %l: tile<i64>, %v: tensor_view<8xf32, strides=[1]>, %w: partition_view<tile=(8), tensor_view<8xf32, strides=[1]>>) {
    // expected-error @below {{loop-carried value 0 is a tensor_view, which is not supported}}
    %0 = for %i in (%n to %n, step %n) : tile<i32> iter_values(%a = %v) -> (tensor_view<8xf32, strides=[1]>) {
      continue %a : tensor_view<8xf32, strides=[1]>
    }
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%c: tile<i1>, %n: tile<i32>, %l: tile<i64>, %v: tensor_view<8xf32, strides=[1]>, %w: partition_view<tile=(8), tensor_view<8xf32, strides=[1]>>) {
    // expected-error @below {{loop-carried value 0 is a tile view, which is not supported}}
    %0 = for %i in (%n to %n, step %n) : tile<i32> iter_values(%a = %w) -> (partition_view<tile=(8), tensor_view<8xf32, strides=[1]>>) {
      continue %a : partition_view<tile=(8), tensor_view<8xf32, strides=[1]>>
    }
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%c: tile<i1>, %n: tile<i32>, %l: tile<i64>, %v: tensor_view<8xf32, strides=[1]>, %w: partition_view<tile=(8), tensor_view<8xf32, strides=[1]>>) {
    // expected-error @below {{op loop-carried value 0 is a tensor_view, which is not supported}}
    loop iter_values(%a = %v) : tensor_view<8xf32, strides=[1]> {
      break
    }
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%c: tile<i1>, %n: tile<i32>, %l: tile<i64>, %v: tensor_view<8xf32, strides=[1]>, %w: partition_view<tile=(8), tensor_view<8xf32, strides=[1]>>) {
    // expected-error @below {{op loop-carried value 0 is a tile view, which is not supported}}
    loop iter_values(%a = %w) : partition_view<tile=(8), tensor_view<8xf32, strides=[1]>> {
      break
    }
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%c: tile<i1>, %n: tile<i32>, %l: tile<i64>, %v: tensor_view<8xf32, strides=[1]>, %w: partition_view<tile=(8), tensor_view<8xf32, strides=[1]>>) {
    // expected-error @below {{op result type 0 is a tensor_view, which is not supported}}
    %0 = loop : tensor_view<8xf32, strides=[1]> {
      break %v : tensor_view<8xf32, strides=[1]>
    }
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%c: tile<i1>, %n: tile<i32>, %l: tile<i64>, %v: tensor_view<8xf32, strides=[1]>, %w: partition_view<tile=(8), tensor_view<8xf32, strides=[1]>>) {
    // expected-error @below {{op result type 0 is a tile view, which is not supported}}
    %0 = loop : partition_view<tile=(8), tensor_view<8xf32, strides=[1]>> {
      break %w : partition_view<tile=(8), tensor_view<8xf32, strides=[1]>>
    }
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%c: tile<i1>, %n: tile<i32>, %l: tile<i64>, %v: tensor_view<8xf32, strides=[1]>, %w: partition_view<tile=(8), tensor_view<8xf32, strides=[1]>>) {
    // expected-error @below {{result type 0 is a tensor_view, which is not supported}}
    %0 = if %c -> (tensor_view<8xf32, strides=[1]>) {
      yield %v : tensor_view<8xf32, strides=[1]>
    } else {
      yield %v : tensor_view<8xf32, strides=[1]>
    }
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%c: tile<i1>, %n: tile<i32>, %l: tile<i64>, %v: tensor_view<8xf32, strides=[1]>, %w: partition_view<tile=(8), tensor_view<8xf32, strides=[1]>>) {
    // expected-error @below {{result type 0 is a tile view, which is not supported}}
    %0 = if %c -> (partition_view<tile=(8), tensor_view<8xf32, strides=[1]>>) {
      yield %w : partition_view<tile=(8), tensor_view<8xf32, strides=[1]>>
    } else {
      yield %w : partition_view<tile=(8), tensor_view<8xf32, strides=[1]>>
    }
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%c: tile<i1>, %n: tile<i32>, %l: tile<i64>, %v: tensor_view<8xf32, strides=[1]>, %w: partition_view<tile=(8), tensor_view<8xf32, strides=[1]>>) {
    // expected-error @below {{op has non-empty return type, must define else branch}}
    %0 = if %c -> (tile<i32>) {
      yield %n : tile<i32>
    }
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%c: tile<i1>, %n: tile<i32>, %l: tile<i64>, %v: tensor_view<8xf32, strides=[1]>, %w: partition_view<tile=(8), tensor_view<8xf32, strides=[1]>>) {
    // expected-error @below {{op has return type of '!cuda_tile.tile<i32>' but else branch does not yield anything}}
    %0 = if %c -> (tile<i32>) {
      yield %n : tile<i32>
    } else {
    }
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%c: tile<i1>, %n: tile<i32>, %l: tile<i64>, %v: tensor_view<8xf32, strides=[1]>, %w: partition_view<tile=(8), tensor_view<8xf32, strides=[1]>>) {
    // expected-error @below {{op does not return a value, but then branch yields '!cuda_tile.tile<i32>'}}
    if %c {
      yield %n : tile<i32>
    }
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%c: tile<i1>, %n: tile<i32>, %l: tile<i64>, %v: tensor_view<8xf32, strides=[1]>, %w: partition_view<tile=(8), tensor_view<8xf32, strides=[1]>>) {
    // expected-error @below {{op does not return a value, but else branch yields '!cuda_tile.tile<i32>'}}
    if %c {
    } else {
      yield %n : tile<i32>
    }
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%c: tile<i1>, %x: tile<4xi64>) {
    // expected-error @below {{op does not return a value, but else branch yields '!cuda_tile.tile<4xi64>'}}
    if %c {
    } else {
      yield %x : tile<4xi64>
    }
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%c: tile<i1>, %n: tile<i32>, %l: tile<i64>, %v: tensor_view<8xf32, strides=[1]>, %w: partition_view<tile=(8), tensor_view<8xf32, strides=[1]>>) {
    // expected-error @below {{op type does not match yield type, then branch yields '!cuda_tile.tile<i32>' but op result type is '!cuda_tile.tile<i64>'}}
    %0 = if %c -> (tile<i64>) {
      yield %n : tile<i32>
    } else {
      yield %l : tile<i64>
    }
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%c: tile<i1>, %n: tile<i32>, %l: tile<i64>, %v: tensor_view<8xf32, strides=[1]>, %w: partition_view<tile=(8), tensor_view<8xf32, strides=[1]>>) {
    // expected-error @below {{op type does not match yield type, else branch yields '!cuda_tile.tile<i32>' but op result type is '!cuda_tile.tile<i64>'}}
    %0 = if %c -> (tile<i64>) {
      yield %l : tile<i64>
    } else {
      yield %n : tile<i32>
    }
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%c: tile<i1>, %x: tile<4xi64>) {
    // expected-error @below {{op type does not match yield type, else branch yields '!cuda_tile.tile<i1>' but op result type is '!cuda_tile.tile<4xi64>'}}
    %0 = if %c -> (tile<4xi64>) {
      yield %x : tile<4xi64>
    } else {
      yield %c : tile<i1>
    }
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%c: tile<i1>, %n: tile<i32>, %l: tile<i64>, %v: tensor_view<8xf32, strides=[1]>, %w: partition_view<tile=(8), tensor_view<8xf32, strides=[1]>>) {
    // expected-error @below {{cannot name an operation with no results}}
    %0 = if %c {
    }
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%c: tile<i1>, %n: tile<i32>, %l: tile<i64>, %v: tensor_view<8xf32, strides=[1]>, %w: partition_view<tile=(8), tensor_view<8xf32, strides=[1]>>) {
    if %c {
      %a = constant <i32: 1> : tile<i32>
    }
    // expected-error @below {{use of undeclared SSA value name}}
    %0 = addi %a, %n : tile<i32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%n: tile<i32>) {
    // expected-error @below {{op expects region #0 to have 0 or 1 blocks}}
    "cuda_tile.loop"() ({
    ^bb0:
      break
    ^bb1:
      break
    }) : () -> ()
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%n: tile<i32>) {
    // expected-error @below {{failed to verify constraint: region with 1 blocks}}
    "cuda_tile.loop"() ({
    }) : () -> ()
  }
}

// -----

cuda_tile.module @m {
  testing$func @f() {
    // expected-error @below {{op result #0 must be 0D tile of i32 values, but got '!cuda_tile.tile<1xi32>'}}
    %0:3 = get_tile_block_id : tile<1xi32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f() {
    // expected-error @below {{op result #0 must be 0D tile of i32 values, but got '!cuda_tile.tile<i64>'}}
    %0:3 = get_num_tile_blocks : tile<i64>
  }
}
