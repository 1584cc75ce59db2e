// Views, view accesses, atomic updates and queries.
//
// RUN: tileiras-opt %s --cuda-tile-testing-ops --allow-unregistered-dialect \
// RUN:   --split-input-file --verify-diagnostics

cuda_tile.module @m {
  testing$func @f(%p: tile<ptr<f32>>, %n: tile<i32>) {
    // expected-error @below {{expected shape declaration to contain 2 elements due to tensor_view type, but 0 were provided}}
    %0 = make_tensor_view %p, shape = [], strides = [32, 1] : tensor_view<32x32xf32, strides=[32,1]>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%p: tile<ptr<f32>>, %n: tile<i32>) {
    // expected-error @below {{expected stride declaration to contain 2 elements due to tensor_view type, but 0 were provided}}
    %0 = make_tensor_view %p, shape = [32, 32], strides = [] : tensor_view<32x32xf32, strides=[32,1]>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%p: tile<ptr<f32>>, %n: tile<i32>) {
    // expected-error @below {{input shape dimension 1 does not match tensor_view type (expected 32, got 64)}}
    %0 = make_tensor_view %p, shape = [32, 64], strides = [32, 1] : tensor_view<32x32xf32, strides=[32,1]>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%p: tile<ptr<f32>>, %n: tile<i32>) {
    // expected-error @below {{input stride dimension 0 does not match tensor_view type (expected 32, got 64)}}
    %0 = make_tensor_view %p, shape = [32, 32], strides = [64, 1] : tensor_view<32x32xf32, strides=[32,1]>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%p: tile<ptr<f32>>, %n: tile<i32>) {
    // expected-error @below {{input shape dimension 2 does not match tensor_view type (expected 32, got dynamic)}}
    %0 = make_tensor_view %p, shape = [2, 2, %n], strides = [1, 1, 1] : tile<i32> -> tensor_view<2x2x32xf32, strides=[1,1,1]>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%p: tile<ptr<f32>>, %n: tile<i32>) {
    // expected-error @below {{input shape dimension 1 does not match tensor_view type (expected dynamic, got 32)}}
    %0 = make_tensor_view %p, shape = [32, 32], strides = [1, 32] : tensor_view<32x?xf32, strides=[1,32]>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%p: tile<ptr<f32>>, %n: tile<i32>) {
    // expected-error @below {{input stride dimension 1 does not match tensor_view type (expected 32, got dynamic)}}
    %0 = make_tensor_view %p, shape = [32, 32], strides = [1, %n] : tile<i32> -> tensor_view<32x32xf32, strides=[1,32]>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%p: tile<ptr<f32>>, %n: tile<i32>) {
    // expected-error @below {{input stride dimension 1 does not match tensor_view type (expected dynamic, got 32)}}
    %0 = make_tensor_view %p, shape = [32, 32], strides = [1, 32] : tensor_view<32x32xf32, strides=[1,?]>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%p: tile<ptr<f32>>, %n: tile<i32>) {
    // expected-error @below {{expected either integer or SSA value}}
    %0 = make_tensor_view %p, shape = [foo], strides = [1] : tensor_view<32xf32, strides=[1]>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%p: tile<ptr<f32>>, %n: tile<i32>) {
    // expected-error @below {{expected either integer or SSA value}}
    %0 = make_tensor_view %p, shape = [32], strides = [foo] : tensor_view<32xf32, strides=[1]>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%p: tile<ptr<f32>>, %n: tile<i32>) {
    // expected-error @below {{expected tensor_view, got '!cuda_tile.tile<f32>'}}
    %0 = make_tensor_view %p, shape = [32], strides = [1] : tile<f32>
  }
}

// -----

cuda_tile.module @m {
  // expected-note @below {{prior use here}}
  testing$func @f(%p: tile<ptr<f32>>, %n: tile<i32>) {
    // expected-error @below {{expects different type than prior uses}}
    %0 = make_tensor_view %p, shape = [32], strides = [1] : tensor_view<32xf64, strides=[1]>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%p: tile<ptr<f32>>, %n: tile<i32>, %l: tile<i64>, %bad: tile<ptr<f64>>) {
    // expected-error @below {{expected pointer to 'f64' to build tensor_view of this type, got 'f32'}}
    %0 = "cuda_tile.make_tensor_view"(%p) <{operandSegmentSizes = array<i32: 1, 0, 0>}> : (!cuda_tile.tile<ptr<f32>>) -> !cuda_tile.tensor_view<4xf64, strides=[1]>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%p: tile<ptr<f32>>, %n: tile<i32>, %l: tile<i64>, %bad: tile<ptr<f64>>) {
    // expected-error @below {{expected 0 dynamic shape operands, got 1}}
    %0 = "cuda_tile.make_tensor_view"(%p, %n) <{operandSegmentSizes = array<i32: 1, 1, 0>}> : (!cuda_tile.tile<ptr<f32>>, !cuda_tile.tile<i32>) -> !cuda_tile.tensor_view<4xf32, strides=[1]>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%p: tile<ptr<f32>>, %n: tile<i32>, %l: tile<i64>, %bad: tile<ptr<f64>>) {
    // expected-error @below {{expected 0 dynamic stride operands, got 1}}
    %0 = "cuda_tile.make_tensor_view"(%p, %n) <{operandSegmentSizes = array<i32: 1, 0, 1>}> : (!cuda_tile.tile<ptr<f32>>, !cuda_tile.tile<i32>) -> !cuda_tile.tensor_view<4xf32, strides=[1]>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%p: tile<ptr<f32>>, %n: tile<i32>, %l: tile<i64>, %bad: tile<ptr<f64>>) {
    // expected-error @below {{expected 1 dynamic shape operands, got 0}}
    %0 = "cuda_tile.make_tensor_view"(%p) <{operandSegmentSizes = array<i32: 1, 0, 0>}> : (!cuda_tile.tile<ptr<f32>>) -> !cuda_tile.tensor_view<?xf32, strides=[1]>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%p: tile<ptr<f32>>, %n: tile<i32>, %l: tile<i64>, %bad: tile<ptr<f64>>) {
    // expected-error @below {{expected 1 dynamic stride operands, got 0}}
    %0 = "cuda_tile.make_tensor_view"(%p) <{operandSegmentSizes = array<i32: 1, 0, 0>}> : (!cuda_tile.tile<ptr<f32>>) -> !cuda_tile.tensor_view<4xf32, strides=[?]>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%p: tile<ptr<f32>>, %n: tile<i32>, %l: tile<i64>, %bad: tile<ptr<f64>>) {
    // expected-error @below {{op operand #1 must be variadic of 0D tile of i1 or i8 or i16 or i32 or i64 values, but got '!cuda_tile.tile<ptr<f64>>'}}
    %0 = "cuda_tile.make_tensor_view"(%p, %bad) <{operandSegmentSizes = array<i32: 1, 1, 0>}> : (!cuda_tile.tile<ptr<f32>>, !cuda_tile.tile<ptr<f64>>) -> !cuda_tile.tensor_view<?xf32, strides=[1]>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%p: tile<ptr<f32>>, %n: tile<i32>, %l: tile<i64>, %bad: tile<ptr<f64>>) {
    // expected-error @below {{expected all dynamic shape and stride operands to have the same type}}
    %0 = "cuda_tile.make_tensor_view"(%p, %n, %l) <{operandSegmentSizes = array<i32: 1, 1, 1>}> : (!cuda_tile.tile<ptr<f32>>, !cuda_tile.tile<i32>, !cuda_tile.tile<i64>) -> !cuda_tile.tensor_view<?xf32, strides=[?]>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%tv: tensor_view<?x4096xf64, strides=[4096,1]>) {
    // expected-error @below {{'cuda_tile.make_partition_view' expected 'partition_view' type, but got '!cuda_tile.tensor_view<?x4096xf64, strides=[4096,1]>'}}
    %0 = make_partition_view %tv : tensor_view<?x4096xf64, strides=[4096,1]>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%tv: tensor_view<32x32xf32, strides=[32,1]>) {
    // expected-error @below {{expected 'strided_view' type, but got}}
    %0 = make_strided_view %tv : tensor_view<32x32xf32, strides=[32,1]>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%tv: tensor_view<32x32xf32, strides=[32,1]>) {
    // expected-error @below {{expected 'gather_scatter_view' type, but got}}
    %0 = make_gather_scatter_view %tv : tensor_view<32x32xf32, strides=[32,1]>
  }
}

// -----

cuda_tile.module @m {
  // expected-note @below {{prior use here}}
  testing$func @f(%tv: tensor_view<64x32xf32, strides=[32,1]>) {
    // expected-error @below {{expects different type than prior uses}}
    %0 = make_partition_view %tv : partition_view<tile=(4x4), tensor_view<32x32xf32, strides=[32,1]>>
  }
}

// -----

cuda_tile.module @m {
  // expected-note @below {{prior use here}}
  testing$func @f(%tv: tensor_view<64x32xf32, strides=[32,1]>) {
    // expected-error @below {{expects different type than prior uses}}
    %0 = make_strided_view %tv : strided_view<tile=(4x4), traversal_strides=[1,1], tensor_view<32x32xf32, strides=[32,1]>>
  }
}

// -----

cuda_tile.module @m {
  // expected-note @below {{prior use here}}
  testing$func @f(%tv: tensor_view<64x32xf32, strides=[32,1]>) {
    // expected-error @below {{expects different type than prior uses}}
    %0 = make_gather_scatter_view %tv : gather_scatter_view<tile=(4x4), tensor_view<32x32xf32, strides=[32,1]>, sparse_dim=0>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%v: partition_view<tile=(1024x1024), tensor_view<32x32xf32, strides=[32,1]>>, %i: tile<i32>, %l: tile<i64>, %x: tile<1024x1024xf32>, %k: tile<8xf32>, %u: tile<32xf32>, %one: tile<1xi32>) {
    // expected-error @below {{expected tile type to be '!cuda_tile.tile<1024x1024xf32>' (based on view type), got '!cuda_tile.tile<8xf32>'}}
    %0, %t = load_view_tko weak %v[%i, %i] : partition_view<tile=(1024x1024), tensor_view<32x32xf32, strides=[32,1]>>, tile<i32> -> tile<8xf32>, token
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%v: partition_view<tile=(1024x1024), tensor_view<32x32xf32, strides=[32,1]>>, %i: tile<i32>, %l: tile<i64>, %x: tile<1024x1024xf32>, %k: tile<8xf32>, %u: tile<32xf32>, %one: tile<1xi32>) {
    // expected-error @below {{expected tile type to be '!cuda_tile.tile<1024x1024xf32>' (based on view type), got '!cuda_tile.tile<8xf32>'}}
    %t = store_view_tko weak %k, %v[%i, %i] : tile<8xf32>, partition_view<tile=(1024x1024), tensor_view<32x32xf32, strides=[32,1]>>, tile<i32> -> token
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%v: partition_view<tile=(1024x1024), tensor_view<32x32xf32, strides=[32,1]>>, %i: tile<i32>, %l: tile<i64>, %x: tile<1024x1024xf32>, %k: tile<8xf32>, %u: tile<32xf32>, %one: tile<1xi32>) {
    // expected-error @below {{expected 2 index operands (based on view type), got 1}}
    %0, %t = load_view_tko weak %v[%i] : partition_view<tile=(1024x1024), tensor_view<32x32xf32, strides=[32,1]>>, tile<i32> -> tile<1024x1024xf32>, token
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%v: partition_view<tile=(1024x1024), tensor_view<32x32xf32, strides=[32,1]>>, %i: tile<i32>, %l: tile<i64>, %x: tile<1024x1024xf32>, %k: tile<8xf32>, %u: tile<32xf32>, %one: tile<1xi32>) {
    // expected-error @below {{expected index type 1 to be the same as other index types ('!cuda_tile.tile<i32>'), got '!cuda_tile.tile<i64>'}}
    %0, %t = load_view_tko weak %v[%i, %l] : partition_view<tile=(1024x1024), tensor_view<32x32xf32, strides=[32,1]>>, tile<i32>, tile<i64> -> tile<1024x1024xf32>, token
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%v: partition_view<tile=(1024x1024), tensor_view<32x32xf32, strides=[32,1]>>, %i: tile<i32>, %l: tile<i64>, %x: tile<1024x1024xf32>, %k: tile<8xf32>, %u: tile<32xf32>, %one: tile<1xi32>) {
    // expected-error @below {{expected index type to be a scalar tile, got '!cuda_tile.tile<1xi32>'}}
    %0, %t = load_view_tko weak %v[%one, %one] : partition_view<tile=(1024x1024), tensor_view<32x32xf32, strides=[32,1]>>, tile<1xi32> -> tile<1024x1024xf32>, token
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%v: partition_view<tile=(1024x1024), tensor_view<32x32xf32, strides=[32,1]>>, %i: tile<i32>, %l: tile<i64>, %x: tile<1024x1024xf32>, %k: tile<8xf32>, %u: tile<32xf32>, %one: tile<1xi32>) {
    // expected-error @below {{expected one type for all index operands or 3 types, got 2}}
    %0, %t = load_view_tko weak %v[%i, %i, %i] : partition_view<tile=(1024x1024), tensor_view<32x32xf32, strides=[32,1]>>, tile<i32>, tile<i32> -> tile<1024x1024xf32>, token
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%v: partition_view<tile=(1024x1024), tensor_view<32x32xf32, strides=[32,1]>>, %i: tile<i32>, %l: tile<i64>, %x: tile<1024x1024xf32>, %k: tile<8xf32>, %u: tile<32xf32>, %one: tile<1xi32>) {
    // expected-error @below {{expected 2 index operands (based on view type), got 1}}
    %t = store_view_tko weak %x, %v[%i] : tile<1024x1024xf32>, partition_view<tile=(1024x1024), tensor_view<32x32xf32, strides=[32,1]>>, tile<i32> -> token
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%v: partition_view<tile=(1024x1024), tensor_view<32x32xf32, strides=[32,1]>>, %i: tile<i32>, %l: tile<i64>, %x: tile<1024x1024xf32>, %k: tile<8xf32>, %u: tile<32xf32>, %one: tile<1xi32>) {
    // expected-error @below {{expected index type 1 to be the same as other index types ('!cuda_tile.tile<i32>'), got '!cuda_tile.tile<i64>'}}
    %t = store_view_tko weak %x, %v[%i, %l] : tile<1024x1024xf32>, partition_view<tile=(1024x1024), tensor_view<32x32xf32, strides=[32,1]>>, tile<i32>, tile<i64> -> token
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%v: partition_view<tile=(1024x1024), tensor_view<32x32xf32, strides=[32,1]>>, %i: tile<i32>, %l: tile<i64>, %x: tile<1024x1024xf32>, %k: tile<8xf32>, %u: tile<32xf32>, %one: tile<1xi32>) {
    // expected-error @below {{expected index type to be a scalar tile, got '!cuda_tile.tile<1xi32>'}}
    %t = store_view_tko weak %x, %v[%one, %one] : tile<1024x1024xf32>, partition_view<tile=(1024x1024), tensor_view<32x32xf32, strides=[32,1]>>, tile<1xi32> -> token
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%v: partition_view<tile=(1024x1024), tensor_view<32x32xf32, strides=[32,1]>>, %i: tile<i32>, %l: tile<i64>, %x: tile<1024x1024xf32>, %k: tile<8xf32>, %u: tile<32xf32>, %one: tile<1xi32>) {
    // expected-error @below {{expected one type for all index operands or 3 types, got 2}}
    %t = store_view_tko weak %x, %v[%i, %i, %i] : tile<1024x1024xf32>, partition_view<tile=(1024x1024), tensor_view<32x32xf32, strides=[32,1]>>, tile<i32>, tile<i32> -> token
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%v: partition_view<tile=(8), tensor_view<32xf32, strides=[1]>>) {
    // expected-error @below {{expected 1 index operands (based on view type), got 0}}
    %0, %t = load_view_tko weak %v[] : partition_view<tile=(8), tensor_view<32xf32, strides=[1]>> -> tile<8xf32>, token
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%v: partition_view<tile=(8), tensor_view<32xf32, strides=[1]>>, %x: tile<8xf32>) {
    // expected-error @below {{expected 1 index operands (based on view type), got 0}}
    %t = store_view_tko weak %x, %v[] : tile<8xf32>, partition_view<tile=(8), tensor_view<32xf32, strides=[1]>> -> token
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%v: partition_view<tile=(1024x1024), tensor_view<32x32xf32, strides=[32,1]>>, %i: tile<i32>, %l: tile<i64>, %x: tile<1024x1024xf32>, %k: tile<8xf32>, %u: tile<32xf32>, %one: tile<1xi32>) {
    // expected-error @below {{operand #0 must be TileView instance, but got '!cuda_tile.tile<32xf32>'}}
    %0, %t = load_view_tko weak %u[%i] : tile<32xf32>, tile<i32> -> tile<32xf32>, token
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%v: partition_view<tile=(1024x1024), tensor_view<32x32xf32, strides=[32,1]>>, %i: tile<i32>, %l: tile<i64>, %x: tile<1024x1024xf32>, %k: tile<8xf32>, %u: tile<32xf32>, %one: tile<1xi32>) {
    // expected-error @below {{operand #1 must be TileView instance, but got '!cuda_tile.tile<32xf32>'}}
    %t = store_view_tko weak %u, %u[%i] : tile<32xf32>, tile<32xf32>, tile<i32> -> token
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%v: partition_view<tile=(1024x1024), tensor_view<32x32xf32, strides=[32,1]>>, %i: tile<i32>, %l: tile<i64>, %x: tile<1024x1024xf32>, %k: tile<8xf32>, %u: tile<32xf32>, %one: tile<1xi32>) {
    // expected-error @below {{expect one of: weak, relaxed, or acquire, but got: release}}
    %0, %t = load_view_tko release device %v[%i, %i] : partition_view<tile=(1024x1024), tensor_view<32x32xf32, strides=[32,1]>>, tile<i32> -> tile<1024x1024xf32>, token
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%v: partition_view<tile=(1024x1024), tensor_view<32x32xf32, strides=[32,1]>>, %i: tile<i32>, %l: tile<i64>, %x: tile<1024x1024xf32>, %k: tile<8xf32>, %u: tile<32xf32>, %one: tile<1xi32>) {
    // expected-error @below {{expect one of: weak, relaxed, or release, but got: acquire}}
    %t = store_view_tko acquire device %x, %v[%i, %i] : tile<1024x1024xf32>, partition_view<tile=(1024x1024), tensor_view<32x32xf32, strides=[32,1]>>, tile<i32> -> token
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%v: partition_view<tile=(1024x1024), tensor_view<32x32xf32, strides=[32,1]>>, %i: tile<i32>, %l: tile<i64>, %x: tile<1024x1024xf32>, %k: tile<8xf32>, %u: tile<32xf32>, %one: tile<1xi32>) {
    // expected-error @below {{invalid memory_ordering_semantics attribute specification. Got "invalid" but expect one of: weak, relaxed, acquire, release, acq_rel}}
    %t = store_view_tko invalid device %x, %v[%i, %i] : tile<1024x1024xf32>, partition_view<tile=(1024x1024), tensor_view<32x32xf32, strides=[32,1]>>, tile<i32> -> token
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%v: gather_scatter_view<tile=(4x8), tensor_view<64x64xf32, strides=[64,1]>, sparse_dim=0>, %i: tile<i32>) {
    // expected-error @below {{expected index type 0 to be a rank-1 tile of 4 elements, got '!cuda_tile.tile<i32>'}}
    %0, %t = load_view_tko weak %v[%i, %i] : gather_scatter_view<tile=(4x8), tensor_view<64x64xf32, strides=[64,1]>, sparse_dim=0>, tile<i32> -> tile<4x8xf32>, token
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%v: gather_scatter_view<tile=(2x2), tensor_view<8x8xf32, strides=[8,1]>, sparse_dim=0>, %x: tile<2x2xf32>, %i: tile<i32>, %one: tile<1xi32>) {
    // expected-error @below {{gather_scatter_view is not supported; use partition_view instead}}
    %t = atomic_red_view_tko relaxed device %v[%i, %i], addf, %x : tile<2x2xf32>, gather_scatter_view<tile=(2x2), tensor_view<8x8xf32, strides=[8,1]>, sparse_dim=0>, tile<i32> -> token
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%v: partition_view<tile=(2x2), padding_value = zero, tensor_view<8x8xf32, strides=[8,1]>>, %x: tile<2x2xf32>, %i: tile<i32>, %one: tile<1xi32>) {
    // expected-error @below {{views with padding_value are not supported for atomic reductions}}
    %t = atomic_red_view_tko relaxed device %v[%i, %i], addf, %x : tile<2x2xf32>, partition_view<tile=(2x2), padding_value = zero, tensor_view<8x8xf32, strides=[8,1]>>, tile<i32> -> token
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%v: partition_view<tile=(2x2), tensor_view<8x8xi32, strides=[8,1]>>, %x: tile<2x2xf32>, %i: tile<i32>, %one: tile<1xi32>) {
    // expected-error @below {{view element type ('i32') must match value element type ('f32')}}
    %t = atomic_red_view_tko relaxed device %v[%i, %i], addf, %x : tile<2x2xf32>, partition_view<tile=(2x2), tensor_view<8x8xi32, strides=[8,1]>>, tile<i32> -> token
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%v: partition_view<tile=(2x2), tensor_view<8x8xf32, strides=[8,1]>>, %x: tile<4x4xf32>, %i: tile<i32>, %one: tile<1xi32>) {
    // expected-error @below {{view tile shape 2, 2 must match value shape 4, 4 for element-wise atomic operations}}
    %t = atomic_red_view_tko relaxed device %v[%i, %i], addf, %x : tile<4x4xf32>, partition_view<tile=(2x2), tensor_view<8x8xf32, strides=[8,1]>>, tile<i32> -> token
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%v: partition_view<tile=(4x4), tensor_view<8x8xf32, strides=[8,1]>>, %x: tile<2x2xf32>, %i: tile<i32>, %one: tile<1xi32>) {
    // expected-error @below {{view tile shape 4, 4 must match value shape 2, 2 for element-wise atomic operations}}
    %t = atomic_red_view_tko relaxed device %v[%i, %i], addf, %x : tile<2x2xf32>, partition_view<tile=(4x4), tensor_view<8x8xf32, strides=[8,1]>>, tile<i32> -> token
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%v: partition_view<tile=(2x2), tensor_view<8x8xf32, strides=[8,1]>>, %x: tile<2x2xf32>, %i: tile<i32>, %one: tile<1xi32>) {
    // expected-error @below {{atomic_red_view_tko op cannot use xchg operation}}
    %t = atomic_red_view_tko relaxed device %v[%i, %i], xchg, %x : tile<2x2xf32>, partition_view<tile=(2x2), tensor_view<8x8xf32, strides=[8,1]>>, tile<i32> -> token
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%v: partition_view<tile=(2x2), tensor_view<8x8xf32, strides=[8,1]>>, %x: tile<2x2xf32>, %i: tile<i32>, %one: tile<1xi32>) {
    // expected-error @below {{'add' works only with integers i32 and i64}}
    %t = atomic_red_view_tko relaxed device %v[%i, %i], add, %x : tile<2x2xf32>, partition_view<tile=(2x2), tensor_view<8x8xf32, strides=[8,1]>>, tile<i32> -> token
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%v: partition_view<tile=(2x2), tensor_view<8x8xi32, strides=[8,1]>>, %x: tile<2x2xi32>, %i: tile<i32>, %one: tile<1xi32>) {
    // expected-error @below {{'addf' works only with floats f16, bf16, f32, and f64}}
    %t = atomic_red_view_tko relaxed device %v[%i, %i], addf, %x : tile<2x2xi32>, partition_view<tile=(2x2), tensor_view<8x8xi32, strides=[8,1]>>, tile<i32> -> token
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%v: partition_view<tile=(2x2), tensor_view<8x8xf32, strides=[8,1]>>, %x: tile<2x2xf32>, %i: tile<i32>, %one: tile<1xi32>) {
    // expected-error @below {{only 'relaxed' memory ordering is supported for view-based atomic reductions}}
    %t = atomic_red_view_tko acquire device %v[%i, %i], addf, %x : tile<2x2xf32>, partition_view<tile=(2x2), tensor_view<8x8xf32, strides=[8,1]>>, tile<i32> -> token
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%v: partition_view<tile=(2x2), tensor_view<8x8xf32, strides=[8,1]>>, %x: tile<2x2xf32>, %i: tile<i32>, %one: tile<1xi32>) {
    // expected-error @below {{is not supported for view-based atomic reductions; use 'tl_blk' or 'device' for TMA compatibility}}
    %t = atomic_red_view_tko relaxed sys %v[%i, %i], addf, %x : tile<2x2xf32>, partition_view<tile=(2x2), tensor_view<8x8xf32, strides=[8,1]>>, tile<i32> -> token
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%v: partition_view<tile=(2x2), tensor_view<8x8xf32, strides=[8,1]>>, %x: tile<2x2xf32>, %i: tile<i32>, %one: tile<1xi32>) {
    // expected-error @below {{expected 2 index operand(s) for view with tile rank 2, got 1}}
    %t = atomic_red_view_tko relaxed device %v[%i], addf, %x : tile<2x2xf32>, partition_view<tile=(2x2), tensor_view<8x8xf32, strides=[8,1]>>, tile<i32> -> token
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%v: partition_view<tile=(2x2), tensor_view<8x8xf32, strides=[8,1]>>, %x: tile<2x2xf32>, %i: tile<i32>, %one: tile<1xi32>) {
    // expected-error @below {{index operand 0 must be a scalar tile (rank 0), got shape 1}}
    %t = atomic_red_view_tko relaxed device %v[%one, %i], addf, %x : tile<2x2xf32>, partition_view<tile=(2x2), tensor_view<8x8xf32, strides=[8,1]>>, tile<1xi32>, tile<i32> -> token
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%v: tensor_view<32x32xf32, strides=[32,1]>) {
    // expected-error @below {{operation defines 2 results but was provided 3 to bind}}
    %0:3 = get_tensor_shape %v : tensor_view<32x32xf32, strides=[32,1]> -> tile<i32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%v: tensor_view<32x32xf32, strides=[32,1]>) {
    // expected-error @below {{operation defines 2 results but was provided 1 to bind}}
    %0:1 = get_tensor_shape %v : tensor_view<32x32xf32, strides=[32,1]> -> tile<i32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%v: tensor_view<32x32xf32, strides=[32,1]>) {
    // expected-error @below {{expected 2 results due to tensor rank, but got 3}}
    %0:3 = "cuda_tile.get_tensor_shape"(%v) : (!cuda_tile.tensor_view<32x32xf32, strides=[32,1]>) -> (!cuda_tile.tile<i32>, !cuda_tile.tile<i32>, !cuda_tile.tile<i32>)
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%p: tile<8x8xptr<i32>>) {
    // expected-error @below {{'cuda_tile.get_tensor_shape' expected tensor_view, got '!cuda_tile.tile<8x8xptr<i32>>'}}
    %0:2 = get_tensor_shape %p : tile<8x8xptr<i32>> -> tile<i32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%v: tensor_view<32x32xf32, strides=[32,1]>) {
    // expected-error @below {{'cuda_tile.get_tensor_shape' op result #0 must be variadic of 0D tile of i1 or i8 or i16 or i32 or i64 values, but got '!cuda_tile.tile<2xi32>'}}
    %0:2 = get_tensor_shape %v : tensor_view<32x32xf32, strides=[32,1]> -> tile<2xi32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%v: tensor_view<32x32xf32, strides=[32,1]>) {
    // expected-error @below {{'cuda_tile.get_tensor_shape' op result #0 must be variadic of 0D tile of i1 or i8 or i16 or i32 or i64 values, but got '!cuda_tile.tile<f32>'}}
    %0:2 = get_tensor_shape %v : tensor_view<32x32xf32, strides=[32,1]> -> tile<f32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%v: partition_view<tile=(2x2), tensor_view<8x8xf32, strides=[8,1]>>) {
    // expected-error @below {{'cuda_tile.get_index_space_shape' op expected 2 results due to view index space rank, but got 1}}
    %0 = "cuda_tile.get_index_space_shape"(%v) : (!cuda_tile.partition_view<tile=(2x2), tensor_view<8x8xf32, strides=[8,1]>>) -> !cuda_tile.tile<i32>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%v: partition_view<tile=(2x2), tensor_view<8x8xf32, strides=[8,1]>>) {
    // expected-error @below {{expected 2 results due to view index space rank, but got 3}}
    %0:3 = "cuda_tile.get_index_space_shape"(%v) : (!cuda_tile.partition_view<tile=(2x2), tensor_view<8x8xf32, strides=[8,1]>>) -> (!cuda_tile.tile<i32>, !cuda_tile.tile<i32>, !cuda_tile.tile<i32>)
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%v: tensor_view<32x32xf32, strides=[32,1]>) {
    // expected-error @below {{expected tile view, got}}
    %0:2 = get_index_space_shape %v : tensor_view<32x32xf32, strides=[32,1]> -> tile<i32>
  }
}
