// RUN: tileiras-opt %s --pass-pipeline='builtin.module(convert-cudatile-to-tileaa)' | tileiras-opt | FileCheck %s

// CHECK-LABEL: nv_tileaa.func @partition(
// CHECK-SAME: %[[P:.*]]: !nv_tileaa.ptr<f32>, %[[N:.*]]: i32, %[[S:.*]]: i32)
cuda_tile.module @m {
  entry @partition(%p: tile<ptr<f32>>, %n: tile<i32>, %s: tile<i32>) {
    // CHECK: %[[A:.*]] = nv_tileaa.assume #cuda_tile.div_by<16>, %[[P]] : !nv_tileaa.ptr<f32>
    %a = assume div_by<16>, %p : tile<ptr<f32>>
    // CHECK: %[[M:.*]] = nv_tileaa.make_memref %[[A]], shape = [%[[N]] : i32], strides = [%[[S]] : i32] : <f32> -> <?x64xf32, strides = [?, 1]>
    %t = make_tensor_view %a, shape = [%n, 64], strides = [%s, 1] : tile<i32> -> tensor_view<?x64xf32, strides=[?,1]>
    // CHECK: nv_tileaa.dim %[[M]], 0 : {{.*}} -> i64
    // CHECK: nv_tileaa.dim %[[M]], 1 : {{.*}} -> i64
    %d:2 = get_tensor_shape %t : tensor_view<?x64xf32, strides=[?,1]> -> tile<i64>
    // CHECK: %[[V:.*]] = nv_tileaa.make_tiled_view %[[M]] : {{.*}} -> <tile = [16, 32], memref<?x64xf32, strides = [?, 1]>, dim_map = [1, 0], padding = nan>
    %v = make_partition_view %t : partition_view<tile=(16x32), padding_value = nan, tensor_view<?x64xf32, strides=[?,1]>, dim_map=[1, 0]>
    // CHECK: nv_tileaa.num_tiles %[[V]], 0 : {{.*}} -> i32
    // CHECK: nv_tileaa.num_tiles %[[V]], 1 : {{.*}} -> i32
    %i:2 = get_index_space_shape %v : partition_view<tile=(16x32), padding_value = nan, tensor_view<?x64xf32, strides=[?,1]>, dim_map=[1, 0]> -> tile<i32>
    // CHECK: %[[X:.*]], %[[Y:.*]], %{{.*}} = nv_tileaa.get_program_id
    %x, %y, %z = get_tile_block_id : tile<i32>
    // CHECK: nv_tileaa.get_num_programs
    %gx, %gy, %gz = get_num_tile_blocks : tile<i32>
    // CHECK: %[[L:.*]], %[[T:.*]] = nv_tileaa.tiled_load <weak> %[[V]][%[[X]], %[[Y]]] hints {default = {allow_tma = true}} : {{.*}}[i32, i32] -> tensor<16x32xf32>
    %l, %t0 = load_view_tko weak %v[%x, %y] optimization_hints = <default = {allow_tma = true}> : partition_view<tile=(16x32), padding_value = nan, tensor_view<?x64xf32, strides=[?,1]>, dim_map=[1, 0]>, tile<i32> -> tile<16x32xf32>, token
    // CHECK: nv_tileaa.tiled_store <release> scope <device> %[[L]], %[[V]][%[[X]], %[[Y]]] token %[[T]] : tensor<16x32xf32>, {{.*}}[i32, i32]
    %t1 = store_view_tko release device %l, %v[%x, %y] token = %t0 : tile<16x32xf32>, partition_view<tile=(16x32), padding_value = nan, tensor_view<?x64xf32, strides=[?,1]>, dim_map=[1, 0]>, tile<i32> -> token
    return
  }
}

// CHECK-LABEL: nv_tileaa.func @other_views(
cuda_tile.module @m1 {
  entry @other_views(%p: tile<ptr<i32>>, %x: tile<i32>) {
    %t = make_tensor_view %p, shape = [128, 64], strides = [64, 1] : tensor_view<128x64xi32, strides=[64,1]>
    // CHECK: %[[S:.*]] = nv_tileaa.make_tiled_view {{.*}}<tile = [4, 8], memref<128x64xi32, strides = [64, 1]>, steps = [3, 5], padding = zero>
    %s = make_strided_view %t : strided_view<tile=(4x8), traversal_strides=[3,5], padding_value = zero, tensor_view<128x64xi32, strides=[64,1]>>
    // CHECK: nv_tileaa.tiled_load <weak> %[[S]][%arg1, %arg1]
    %0, %t0 = load_view_tko weak %s[%x, %x] : strided_view<tile=(4x8), traversal_strides=[3,5], padding_value = zero, tensor_view<128x64xi32, strides=[64,1]>>, tile<i32> -> tile<4x8xi32>, token
    // CHECK: %[[G:.*]] = nv_tileaa.make_tiled_view {{.*}}<tile = [4, 8], memref<128x64xi32, strides = [64, 1]>, steps = [1, 1], sparse_dim = 0>
    %g = make_gather_scatter_view %t : gather_scatter_view<tile=(4x8), tensor_view<128x64xi32, strides=[64,1]>, sparse_dim=0>
    %i = iota : tile<4xi64>
    // CHECK: nv_tileaa.tiled_load <weak> %[[G]][%{{.*}}, %arg1] {{.*}}[tensor<4xi64>, i32]
    %1, %t1 = load_view_tko weak %g[%i, %x] : gather_scatter_view<tile=(4x8), tensor_view<128x64xi32, strides=[64,1]>, sparse_dim=0>, tile<4xi64>, tile<i32> -> tile<4x8xi32>, token
    // CHECK: %[[V:.*]] = nv_tileaa.make_tiled_view
    %v = make_partition_view %t : partition_view<tile=(4x8), tensor_view<128x64xi32, strides=[64,1]>>
    // CHECK: nv_tileaa.tiled_atomic_rmw <add> <relaxed> <device> %{{.*}}, %[[V]][%arg1, %arg1] token %{{.*}} : tensor<4x8xi32>, {{.*}}[i32, i32]
    %t2 = atomic_red_view_tko relaxed device %v[%x, %x], add, %1 token = %t1 : tile<4x8xi32>, partition_view<tile=(4x8), tensor_view<128x64xi32, strides=[64,1]>>, tile<i32> -> token
    return
  }
}
