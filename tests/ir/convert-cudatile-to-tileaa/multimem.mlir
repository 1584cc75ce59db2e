// Multicast memory has no code.
//
// RUN: not tileiras-opt %s --pass-pipeline='builtin.module(convert-cudatile-to-tileaa)' 2>&1 | FileCheck %s
//
// CHECK: 'cuda_tile.multimem_store_view_tko' op is not supported: no target has code for multicast memory

cuda_tile.module @m {
  entry @f(%p: tile<ptr<f32, <multicast>>>, %i: tile<i32>) {
    %x = constant <f32: 1.0> : tile<8xf32>
    %t = make_tensor_view %p, shape = [64], strides = [1] : tile<ptr<f32, <multicast>>> -> tensor_view<64xf32, strides=[1], <multicast>>
    %v = make_partition_view %t : partition_view<tile=(8), tensor_view<64xf32, strides=[1], <multicast>>>
    %a = multimem_store_view_tko weak %v, %x[%i] : partition_view<tile=(8), tensor_view<64xf32, strides=[1], <multicast>>>, tile<8xf32>, tile<i32> -> token
    return
  }
}
