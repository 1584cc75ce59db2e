// Additions of versions 13.4 and 13.5 for pointers, and the multicast memory operations.
//
// RUN: tileiras-opt %s | tileiras-opt | FileCheck %s
// RUN: tileiras-translate --mlir-to-tileirbc --bytecode-version=13.5 %s | tileiras-translate --tileirbc-to-mlir | FileCheck %s
// RUN: not tileiras-translate --mlir-to-tileirbc --bytecode-version=13.4 %s 2>&1 | FileCheck %s --check-prefix=OLD
//
// OLD: operation 'cuda_tile.multimem_load_reduce_view_tko' is not available in bytecode version 13.4

cuda_tile.module @m {
  // CHECK-LABEL: entry @none(
  // CHECK-SAME: tile<ptr<f16, <none>>>
  entry @none(%p: tile<ptr<f16, <none>>>, %n: tile<i32>) {
    // CHECK: shape = [64], strides = [1] : tile<ptr<f16, <none>>> -> tensor_view<64xf16, strides=[1], #cuda_tile.ptr_attr<none>>
    %a = make_tensor_view %p, shape = [64], strides = [1] : tile<ptr<f16, #cuda_tile.ptr_attr<none>>> -> tensor_view<64xf16, strides=[1], <none>>
    // CHECK: : tile<ptr<f16, <none>>>, tile<i32> -> tensor_view<?xf16, strides=[1], #cuda_tile.ptr_attr<none>>
    %b = make_tensor_view %p, shape = [%n], strides = [1] : tile<ptr<f16, <none>>>, tile<i32> -> tensor_view<?xf16, strides=[1], <none>>
    // CHECK: -> tensor_view<f16, #cuda_tile.ptr_attr<none>>
    %c = make_tensor_view %p, shape = [], strides = [] : tile<ptr<f16, <none>>> -> tensor_view<f16, #cuda_tile.ptr_attr<none>>
    return
  }

  // CHECK-LABEL: entry @multicast(
  entry @multicast(%p: tile<ptr<f16, <multicast>>>, %i: tile<i32>) {
    %t = make_tensor_view %p, shape = [64, 64], strides = [64, 1] : tile<ptr<f16, <multicast>>> -> tensor_view<64x64xf16, strides=[64,1], <multicast>>
    %v = make_partition_view %t : partition_view<tile=(4x8), tensor_view<64x64xf16, strides=[64,1], #cuda_tile.ptr_attr<multicast>>>
    // CHECK: %[[A:.*]], %[[T:.*]] = multimem_load_reduce_view_tko weak %{{.*}}[%{{.*}}, %{{.*}}] inbounds = [false, true] : partition_view<{{.*}}>, tile<i32> -> tile<4x8xf16>, token
    %a, %ta = multimem_load_reduce_view_tko weak %v[%i, %i] inbounds = [false, true]
      : partition_view<tile=(4x8), tensor_view<64x64xf16, strides=[64,1], <multicast>>>, tile<i32> -> tile<4x8xf16>, token
    // CHECK: %[[B:.*]] = multimem_reduce_view_tko relaxed sys %{{.*}}, %[[A]][%{{.*}}, %{{.*}}] token = %[[T]] : partition_view<{{.*}}>, tile<4x8xf16>, tile<i32>, token -> token
    %b = multimem_reduce_view_tko relaxed sys %v, %a[%i, %i] token = %ta
      : partition_view<tile=(4x8), tensor_view<64x64xf16, strides=[64,1], <multicast>>>, tile<4x8xf16>, tile<i32>, token -> token
    // CHECK: %[[C:.*]] = multimem_store_view_tko release device %{{.*}}, %[[A]][%{{.*}}, %{{.*}}] token = %[[B]] inbounds = [true, false] : {{.*}}, token -> token
    %c = multimem_store_view_tko release device %v, %a[%i, %i] token = %b inbounds = [true, false]
      : partition_view<tile=(4x8), tensor_view<64x64xf16, strides=[64,1], <multicast>>>, tile<4x8xf16>, tile<i32>, tile<i32>, token -> token
    // CHECK: multimem_load_reduce_view_tko acquire sys %{{.*}} token = %[[C]] attributes {reduction = #cuda_tile.multimem_reduction_kind<min>} :
    %d, %td = multimem_load_reduce_view_tko acquire sys %v[%i, %i] token = %c attributes {reduction = #cuda_tile.multimem_reduction_kind<min>}
      : partition_view<tile=(4x8), tensor_view<64x64xf16, strides=[64,1], <multicast>>>, tile<i32>, token -> tile<4x8xf16>, token
    return
  }

  // CHECK-LABEL: entry @inbounds(
  entry @inbounds(%p: tile<ptr<f16>>, %i: tile<i32>) {
    %x = constant <f16: 1.0> : tile<4x8xf16>
    %t = make_tensor_view %p, shape = [64, 64], strides = [64, 1] : tensor_view<64x64xf16, strides=[64,1]>
    %v = make_partition_view %t : partition_view<tile=(4x8), tensor_view<64x64xf16, strides=[64,1]>>
    // CHECK: atomic_red_view_tko relaxed device %{{.*}}, addf, %{{.*}} inbounds = [false, true] : tile<4x8xf16>, partition_view
    %a = atomic_red_view_tko relaxed device %v[%i, %i], addf, %x inbounds = [false, true]
      : tile<4x8xf16>, partition_view<tile=(4x8), tensor_view<64x64xf16, strides=[64,1]>>, tile<i32> -> token
    return
  }
}
