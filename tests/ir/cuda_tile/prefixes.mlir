// Inside an operation of the dialect, the dialect prefix of types and operations is optional when parsing and omitted
// when printing. Outside, and in the generic form, only the outermost prefix is printed.
//
// RUN: tileiras-opt %s | FileCheck %s
// RUN: tileiras-opt %s -mlir-print-op-generic | FileCheck %s --check-prefix=GENERIC

// CHECK: entry @prefixes(%arg0: tile<ptr<f32>>, %arg1: tile<i1>, %arg2: token) {
// GENERIC: function_type = (!cuda_tile.tile<ptr<f32>>, !cuda_tile.tile<i1>, !cuda_tile.token) -> ()
cuda_tile.module @m {
  cuda_tile.entry @prefixes(%p: !cuda_tile.tile<!cuda_tile.ptr<f32>>, %c: tile<i1>, %t: token) {
    // CHECK: load_ptr_tko weak %arg0 token=%arg2 : tile<ptr<f32>> -> tile<f32>, token
    %0, %t0 = cuda_tile.load_ptr_tko weak %p token=%t : !cuda_tile.tile<ptr<f32>> -> !cuda_tile.tile<f32>, !cuda_tile.token
    // CHECK: make_tensor_view %arg0, shape = [8], strides = [1] : tensor_view<8xf32, strides=[1]>
    // GENERIC: -> !cuda_tile.tensor_view<8xf32, strides=[1]>
    %tv = make_tensor_view %p, shape = [8], strides = [1] : !cuda_tile.tensor_view<8xf32, strides=[1]>
    // CHECK: make_partition_view %{{.*}} : partition_view<tile=(8), tensor_view<8xf32, strides=[1]>>
    // GENERIC: -> !cuda_tile.partition_view<tile=(8), tensor_view<8xf32, strides=[1]>>
    %v = make_partition_view %tv : !cuda_tile.partition_view<tile=(8), !cuda_tile.tensor_view<8xf32, strides=[1]>>
    // CHECK: if %{{.*}} -> (tile<f32>)
    %1 = cuda_tile.if %c -> (!cuda_tile.tile<f32>) {
      cuda_tile.yield %0 : !cuda_tile.tile<f32>
    } else {
      yield %0 : tile<f32>
    }
    cuda_tile.return
  }
}
