// RUN: tileiras-opt %s --pass-pipeline='builtin.module(convert-cudatile-to-tileaa)' | FileCheck %s

// The public language distinguishes multicast accesses by an attribute of the pointer; here they are separate ops.
// The additions of floating-point numbers and of integers are different kinds.
cuda_tile.module @m {
  // CHECK-LABEL: nv_tileaa.func @floats(
  // CHECK-SAME: !nv_tileaa.ptr<f16>
  // CHECK: %[[X:.*]], %[[T:.*]] = nv_tileaa.multimem_load_reduce <addf> <acquire> scope <system> %[[V:.*]][%{{.*}}, %{{.*}}] in_bounds [false, true] :
  // CHECK-SAME: -> tensor<4x8xf16>
  // CHECK: %[[U:.*]] = nv_tileaa.multimem_reduce <addf> <release> <device> %[[X]], %[[V]][%{{.*}}, %{{.*}}] token %[[T]] in_bounds [true, true] : tensor<4x8xf16>,
  // CHECK: nv_tileaa.multimem_store <weak> %[[X]], %[[V]][%{{.*}}, %{{.*}}] token %[[U]] : tensor<4x8xf16>,
  // CHECK: nv_tileaa.multimem_load_reduce <min> <weak> %[[V]]
  entry @floats(%p: tile<ptr<f16, <multicast>>>, %i: tile<i32>) {
    %t = make_tensor_view %p, shape = [64, 64], strides = [64, 1] : tile<ptr<f16, <multicast>>> -> tensor_view<64x64xf16, strides=[64,1], <multicast>>
    %v = make_partition_view %t : partition_view<tile=(4x8), tensor_view<64x64xf16, strides=[64,1], <multicast>>>
    %x, %a = multimem_load_reduce_view_tko acquire sys %v[%i, %i] inbounds = [false, true] : partition_view<tile=(4x8), tensor_view<64x64xf16, strides=[64,1], <multicast>>>, tile<i32> -> tile<4x8xf16>, token
    %b = multimem_reduce_view_tko release device %v, %x[%i, %i] token = %a inbounds = [true, true] : partition_view<tile=(4x8), tensor_view<64x64xf16, strides=[64,1], <multicast>>>, tile<4x8xf16>, tile<i32>, token -> token
    %c = multimem_store_view_tko weak %v, %x[%i, %i] token = %b : partition_view<tile=(4x8), tensor_view<64x64xf16, strides=[64,1], <multicast>>>, tile<4x8xf16>, tile<i32>, token -> token
    %y, %d = multimem_load_reduce_view_tko weak %v[%i, %i] attributes {reduction = #cuda_tile.multimem_reduction_kind<min>} : partition_view<tile=(4x8), tensor_view<64x64xf16, strides=[64,1], <multicast>>>, tile<i32> -> tile<4x8xf16>, token
    return
  }
  // CHECK-LABEL: nv_tileaa.func @integers(
  // CHECK: nv_tileaa.multimem_load_reduce <add> <relaxed> scope <block>
  // CHECK: nv_tileaa.multimem_reduce <umax> <relaxed> <system>
  entry @integers(%p: tile<ptr<i32, <multicast>>>, %i: tile<i32>) {
    %t = make_tensor_view %p, shape = [64], strides = [1] : tile<ptr<i32, <multicast>>> -> tensor_view<64xi32, strides=[1], <multicast>>
    %v = make_partition_view %t : partition_view<tile=(8), tensor_view<64xi32, strides=[1], <multicast>>>
    %x, %a = multimem_load_reduce_view_tko relaxed tl_blk %v[%i] : partition_view<tile=(8), tensor_view<64xi32, strides=[1], <multicast>>>, tile<i32> -> tile<8xi32>, token
    %b = multimem_reduce_view_tko relaxed sys %v, %x[%i] attributes {reduction = #cuda_tile.multimem_reduction_kind<umax>} : partition_view<tile=(8), tensor_view<64xi32, strides=[1], <multicast>>>, tile<8xi32>, tile<i32> -> token
    return
  }
  // CHECK-LABEL: nv_tileaa.func @update_inside(
  // CHECK: nv_tileaa.tiled_atomic_rmw <add> <relaxed> <device> %{{.*}}, %{{.*}}[%{{.*}}] in_bounds [true] :
  entry @update_inside(%p: tile<ptr<i32>>, %i: tile<i32>) {
    %x = constant <i32: 1> : tile<8xi32>
    %t = make_tensor_view %p, shape = [60], strides = [1] : tensor_view<60xi32, strides=[1]>
    %v = make_partition_view %t : partition_view<tile=(8), tensor_view<60xi32, strides=[1]>>
    %a = atomic_red_view_tko relaxed device %v[%i], add, %x inbounds = [true] : tile<8xi32>, partition_view<tile=(8), tensor_view<60xi32, strides=[1]>>, tile<i32> -> token
    return
  }
}
