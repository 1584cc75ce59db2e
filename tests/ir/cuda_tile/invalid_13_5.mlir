// Invalid uses of the operations of version 13.5 and of pointer attributes.
//
// RUN: tileiras-opt %s --cuda-tile-testing-ops --allow-unregistered-dialect \
// RUN:   --split-input-file --verify-diagnostics

cuda_tile.module @m {
  testing$func @f(%v: partition_view<tile=(4x8), tensor_view<64x64xf32, strides=[64,1]>>, %x: tile<4x8xf32>, %i: tile<i32>) {
    // expected-error @below {{expected a multicast pointer, but got none}}
    %a, %t = multimem_load_reduce_view_tko weak %v[%i, %i] : partition_view<tile=(4x8), tensor_view<64x64xf32, strides=[64,1]>>, tile<i32> -> tile<4x8xf32>, token
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%v: partition_view<tile=(4x8), tensor_view<64x64xf32, strides=[64,1], <none>>>, %x: tile<4x8xf32>, %i: tile<i32>) {
    // expected-error @below {{expected a multicast pointer, but got none}}
    %a, %t = multimem_load_reduce_view_tko weak %v[%i, %i] : partition_view<tile=(4x8), tensor_view<64x64xf32, strides=[64,1], <none>>>, tile<i32> -> tile<4x8xf32>, token
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%v: partition_view<tile=(4x8), tensor_view<64x64xf32, strides=[64,1], <unicast>>>, %x: tile<4x8xf32>, %i: tile<i32>) {
    // expected-error @below {{expected a multicast pointer, but got unicast}}
    %a, %t = multimem_load_reduce_view_tko weak %v[%i, %i] : partition_view<tile=(4x8), tensor_view<64x64xf32, strides=[64,1], <unicast>>>, tile<i32> -> tile<4x8xf32>, token
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%v: partition_view<tile=(4x8), tensor_view<64x64xf32, strides=[64,1], <multicast>>>, %x: tile<4x8xf32>, %i: tile<i32>) {
    // expected-error @below {{specifies weak memory ordering semantics, but then provides "sys" scope}}
    %a, %t = multimem_load_reduce_view_tko weak sys %v[%i, %i] : partition_view<tile=(4x8), tensor_view<64x64xf32, strides=[64,1], <multicast>>>, tile<i32> -> tile<4x8xf32>, token
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%v: partition_view<tile=(4x8), tensor_view<64x64xf32, strides=[64,1], <multicast>>>, %x: tile<4x8xf32>, %i: tile<i32>) {
    // expected-error @below {{memory scope is required for relaxed load}}
    %a, %t = multimem_load_reduce_view_tko relaxed %v[%i, %i] : partition_view<tile=(4x8), tensor_view<64x64xf32, strides=[64,1], <multicast>>>, tile<i32> -> tile<4x8xf32>, token
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%v: partition_view<tile=(4x8), tensor_view<64x64xf32, strides=[64,1], <multicast>>>, %x: tile<4x8xf32>, %i: tile<i32>) {
    // expected-error @below {{expect one of: weak, relaxed, or acquire, but got: release}}
    %a, %t = multimem_load_reduce_view_tko release sys %v[%i, %i] : partition_view<tile=(4x8), tensor_view<64x64xf32, strides=[64,1], <multicast>>>, tile<i32> -> tile<4x8xf32>, token
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%v: partition_view<tile=(4x8), tensor_view<64x64xi16, strides=[64,1], <multicast>>>, %x: tile<4x8xi16>, %i: tile<i32>) {
    // expected-error @below {{multimem requires 32- or 64-bit integer/index element types; got 16 bits}}
    %a, %t = multimem_load_reduce_view_tko weak %v[%i, %i] : partition_view<tile=(4x8), tensor_view<64x64xi16, strides=[64,1], <multicast>>>, tile<i32> -> tile<4x8xi16>, token
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%v: partition_view<tile=(4x8), tensor_view<64x64xtf32, strides=[64,1], <multicast>>>, %x: tile<4x8xtf32>, %i: tile<i32>) {
    // expected-error @below {{multimem supports only f16, bf16, f32, and f64 floating-point element types}}
    %a, %t = multimem_load_reduce_view_tko weak %v[%i, %i] : partition_view<tile=(4x8), tensor_view<64x64xtf32, strides=[64,1], <multicast>>>, tile<i32> -> tile<4x8xtf32>, token
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%v: partition_view<tile=(4x8), tensor_view<64x64xf32, strides=[64,1], <multicast>>>, %x: tile<4x8xf32>, %i: tile<i32>) {
    // expected-error @below {{min/max supports f16 and bf16 float types only; got 'f32'}}
    %a, %t = multimem_load_reduce_view_tko weak %v[%i, %i] attributes {reduction = #cuda_tile.multimem_reduction_kind<max>} : partition_view<tile=(4x8), tensor_view<64x64xf32, strides=[64,1], <multicast>>>, tile<i32> -> tile<4x8xf32>, token
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%v: partition_view<tile=(4x8), tensor_view<64x64xf16, strides=[64,1], <multicast>>>, %x: tile<4x8xf16>, %i: tile<i32>) {
    // expected-error @below {{and/or/xor/umin/umax reductions require integer element types}}
    %a, %t = multimem_load_reduce_view_tko weak %v[%i, %i] attributes {reduction = #cuda_tile.multimem_reduction_kind<umin>} : partition_view<tile=(4x8), tensor_view<64x64xf16, strides=[64,1], <multicast>>>, tile<i32> -> tile<4x8xf16>, token
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%v: partition_view<tile=(4x8), tensor_view<64x64xf32, strides=[64,1], <multicast>>>, %x: tile<4x8xf32>, %i: tile<i32>) {
    // expected-error @below {{inbounds size (1) must match the number of index dimensions (2)}}
    %a, %t = multimem_load_reduce_view_tko weak %v[%i, %i] inbounds = [true] : partition_view<tile=(4x8), tensor_view<64x64xf32, strides=[64,1], <multicast>>>, tile<i32> -> tile<4x8xf32>, token
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%v: partition_view<tile=(4x8), tensor_view<64x64xf32, strides=[64,1], <unicast>>>, %x: tile<4x8xf32>, %i: tile<i32>) {
    // expected-error @below {{expected a multicast pointer, but got unicast}}
    %t = multimem_reduce_view_tko relaxed sys %v, %x[%i, %i] : partition_view<tile=(4x8), tensor_view<64x64xf32, strides=[64,1], <unicast>>>, tile<4x8xf32>, tile<i32> -> token
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%v: partition_view<tile=(4x8), tensor_view<64x64xf32, strides=[64,1], <multicast>>>, %x: tile<4x8xf32>, %i: tile<i32>) {
    // expected-error @below {{memory ordering semantics must be one of: relaxed, release}}
    %t = multimem_reduce_view_tko acquire sys %v, %x[%i, %i] : partition_view<tile=(4x8), tensor_view<64x64xf32, strides=[64,1], <multicast>>>, tile<4x8xf32>, tile<i32> -> token
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%v: partition_view<tile=(4x8), tensor_view<64x64xf16, strides=[64,1], <multicast>>>, %x: tile<4x8xf16>, %i: tile<i32>) {
    // expected-error @below {{supports only add for floating-point element types}}
    %t = multimem_reduce_view_tko relaxed sys %v, %x[%i, %i] attributes {reduction = #cuda_tile.multimem_reduction_kind<min>} : partition_view<tile=(4x8), tensor_view<64x64xf16, strides=[64,1], <multicast>>>, tile<4x8xf16>, tile<i32> -> token
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%v: partition_view<tile=(4x8), tensor_view<64x64xf32, strides=[64,1], <multicast>>>, %x: tile<4x8xf32>, %i: tile<i32>) {
    // expected-error @below {{and/or/xor/umin/umax reductions require integer element types}}
    %t = multimem_reduce_view_tko relaxed sys %v, %x[%i, %i] attributes {reduction = #cuda_tile.multimem_reduction_kind<xor>} : partition_view<tile=(4x8), tensor_view<64x64xf32, strides=[64,1], <multicast>>>, tile<4x8xf32>, tile<i32> -> token
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%v: partition_view<tile=(4x8), tensor_view<64x64xi8, strides=[64,1], <multicast>>>, %x: tile<4x8xi8>, %i: tile<i32>) {
    // expected-error @below {{multimem requires 32- or 64-bit integer/index element types; got 8 bits}}
    %t = multimem_reduce_view_tko relaxed sys %v, %x[%i, %i] : partition_view<tile=(4x8), tensor_view<64x64xi8, strides=[64,1], <multicast>>>, tile<4x8xi8>, tile<i32> -> token
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%v: partition_view<tile=(4x8), tensor_view<64x64xf32, strides=[64,1]>>, %x: tile<4x8xf32>, %i: tile<i32>) {
    // expected-error @below {{expected a multicast pointer, but got none}}
    %t = multimem_store_view_tko weak %v, %x[%i, %i] : partition_view<tile=(4x8), tensor_view<64x64xf32, strides=[64,1]>>, tile<4x8xf32>, tile<i32> -> token
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%v: partition_view<tile=(4x8), tensor_view<64x64xf32, strides=[64,1], <multicast>>>, %x: tile<4x8xf32>, %i: tile<i32>) {
    // expected-error @below {{expect one of: weak, relaxed, or release, but got: acquire}}
    %t = multimem_store_view_tko acquire sys %v, %x[%i, %i] : partition_view<tile=(4x8), tensor_view<64x64xf32, strides=[64,1], <multicast>>>, tile<4x8xf32>, tile<i32> -> token
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%v: partition_view<tile=(4x8), tensor_view<64x64xf32, strides=[64,1], <multicast>>>, %x: tile<4x8xf32>, %i: tile<i32>) {
    // expected-error @below {{memory scope is required for release store}}
    %t = multimem_store_view_tko release %v, %x[%i, %i] : partition_view<tile=(4x8), tensor_view<64x64xf32, strides=[64,1], <multicast>>>, tile<4x8xf32>, tile<i32> -> token
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%v: partition_view<tile=(4x8), tensor_view<64x64xf32, strides=[64,1], <multicast>>>, %x: tile<4x8xf32>, %i: tile<i32>) {
    // expected-error @below {{multicast ptr_attr is not allowed}}
    %a, %t = load_view_tko weak %v[%i, %i] : partition_view<tile=(4x8), tensor_view<64x64xf32, strides=[64,1], <multicast>>>, tile<i32> -> tile<4x8xf32>, token
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%v: partition_view<tile=(4x8), tensor_view<64x64xf32, strides=[64,1], <multicast>>>, %x: tile<4x8xf32>, %i: tile<i32>) {
    // expected-error @below {{multicast ptr_attr is not allowed}}
    %t = store_view_tko weak %x, %v[%i, %i] : tile<4x8xf32>, partition_view<tile=(4x8), tensor_view<64x64xf32, strides=[64,1], <multicast>>>, tile<i32> -> token
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%v: partition_view<tile=(4x8), tensor_view<64x64xf32, strides=[64,1], <multicast>>>, %x: tile<4x8xf32>, %i: tile<i32>) {
    // expected-error @below {{multicast ptr_attr is not allowed}}
    %t = atomic_red_view_tko relaxed device %v[%i, %i], addf, %x : tile<4x8xf32>, partition_view<tile=(4x8), tensor_view<64x64xf32, strides=[64,1], <multicast>>>, tile<i32> -> token
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%v: partition_view<tile=(4x8), tensor_view<64x64xf32, strides=[64,1]>>, %x: tile<4x8xf32>, %i: tile<i32>) {
    // expected-error @below {{inbounds size (3) must match the number of index dimensions (2)}}
    %t = atomic_red_view_tko relaxed device %v[%i, %i], addf, %x inbounds = [true, true, true] : tile<4x8xf32>, partition_view<tile=(4x8), tensor_view<64x64xf32, strides=[64,1]>>, tile<i32> -> token
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%p: tile<ptr<f32, <none>>>) {
    // expected-error @below {{tensor_view must preserve ptr_attr from base pointer (#cuda_tile.ptr_attr<none>)}}
    %v = make_tensor_view %p, shape = [64], strides = [1] : tile<ptr<f32, <none>>> -> tensor_view<64xf32, strides=[1]>
  }
}

// -----

cuda_tile.module @m {
  testing$func @f(%p: tile<ptr<f32>>) {
    // expected-error @below {{pointer base without ptr_attr cannot produce tensor_view with ptr_attr}}
    %v = make_tensor_view %p, shape = [64], strides = [1] : tensor_view<64xf32, strides=[1], <unicast>>
  }
}
