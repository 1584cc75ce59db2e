// Views and access through them. Printed once in the custom form and once via the generic form.
//
// RUN: tileiras-opt %s | tileiras-opt | FileCheck %s --strict-whitespace
// RUN: tileiras-opt %s -mlir-print-op-generic | tileiras-opt | FileCheck %s --strict-whitespace

// CHECK: cuda_tile.module @views {
cuda_tile.module @views {
  // CHECK: entry @make(%arg0: tile<ptr<f32>>, %arg1: tile<i32>, %arg2: tile<i64>) {
  entry @make(%p: tile<ptr<f32>>, %n: tile<i32>, %l: tile<i64>) {
    // CHECK: %tview = make_tensor_view %arg0, shape = [64, 64], strides = [64, 1] : tensor_view<64x64xf32, strides=[64,1]>
    %0 = make_tensor_view %p, shape = [64, 64], strides = [64, 1] : tensor_view<64x64xf32, strides=[64,1]>
    // CHECK: %tview_0 = make_tensor_view %arg0, shape = [%arg1, 64], strides = [%arg1, 1] : tile<i32> -> tensor_view<?x64xf32, strides=[?,1]>
    %1 = make_tensor_view %p, shape = [%n, 64], strides = [%n, 1] : tile<i32> -> tensor_view<?x64xf32, strides=[?,1]>
    // CHECK: %tview_1 = make_tensor_view %arg0, shape = [%arg2], strides = [1] : tile<i64> -> tensor_view<?xf32, strides=[1]>
    %2 = make_tensor_view %p, shape = [%l], strides = [1] : tile<i64> -> tensor_view<?xf32, strides=[1]>
    // CHECK: %tview_2 = make_tensor_view %arg0, shape = [], strides = [] : tensor_view<f32>
    %3 = make_tensor_view %p, shape = [], strides = [] : tensor_view<f32>
    // CHECK: %pview = make_partition_view %tview : partition_view<tile=(4x8), tensor_view<64x64xf32, strides=[64,1]>>
    %4 = make_partition_view %0 : partition_view<tile=(4x8), tensor_view<64x64xf32, strides=[64,1]>>
    // CHECK: %pview_3 = make_partition_view %tview_0 : partition_view<tile=(4x8), padding_value = nan, tensor_view<?x64xf32, strides=[?,1]>, dim_map=[1, 0]>
    %5 = make_partition_view %1 : partition_view<tile=(4x8), padding_value = nan, tensor_view<?x64xf32, strides=[?,1]>, dim_map=[1, 0]>
    // CHECK: %sview = make_strided_view %tview : strided_view<tile=(4x8), traversal_strides=[3,5], padding_value = zero, tensor_view<64x64xf32, strides=[64,1]>, dim_map=[1, 0]>
    %6 = make_strided_view %0 : strided_view<tile=(4x8), traversal_strides=[3,5], padding_value = zero, tensor_view<64x64xf32, strides=[64,1]>, dim_map=[1, 0]>
    // CHECK: %gsview = make_gather_scatter_view %tview : gather_scatter_view<tile=(4x8), padding_value = neg_inf, tensor_view<64x64xf32, strides=[64,1]>, sparse_dim=0>
    %7 = make_gather_scatter_view %0 : gather_scatter_view<tile=(4x8), padding_value = neg_inf, tensor_view<64x64xf32, strides=[64,1]>, sparse_dim=0>
    // CHECK: %gsview_4 = make_gather_scatter_view %tview : gather_scatter_view<tile=(4x8), tensor_view<64x64xf32, strides=[64,1]>, sparse_dim=1>
    %8 = make_gather_scatter_view %0 : gather_scatter_view<tile=(4x8), tensor_view<64x64xf32, strides=[64,1]>, sparse_dim=1>
    // CHECK: %0:2 = get_tensor_shape %tview_0 : tensor_view<?x64xf32, strides=[?,1]> -> tile<i32>
    %9:2 = get_tensor_shape %1 : tensor_view<?x64xf32, strides=[?,1]> -> tile<i32>
    // CHECK: %1:2 = get_index_space_shape %pview_3 : partition_view<tile=(4x8), padding_value = nan, tensor_view<?x64xf32, strides=[?,1]>, dim_map=[1, 0]> -> tile<i64>
    %10:2 = get_index_space_shape %5 : partition_view<tile=(4x8), padding_value = nan, tensor_view<?x64xf32, strides=[?,1]>, dim_map=[1, 0]> -> tile<i64>
    // CHECK: return
    return
  }
  // CHECK: entry @access(%arg0: tile<ptr<f32>>, %arg1: tile<i32>) {
  entry @access(%p: tile<ptr<f32>>, %i: tile<i32>) {
    // CHECK: %tview = make_tensor_view %arg0, shape = [64, 64], strides = [64, 1] : tensor_view<64x64xf32, strides=[64,1]>
    %tv = make_tensor_view %p, shape = [64, 64], strides = [64, 1] : tensor_view<64x64xf32, strides=[64,1]>
    // CHECK: %pview = make_partition_view %tview : partition_view<tile=(4x8), tensor_view<64x64xf32, strides=[64,1]>>
    %v = make_partition_view %tv : partition_view<tile=(4x8), tensor_view<64x64xf32, strides=[64,1]>>
    // CHECK: %gsview = make_gather_scatter_view %tview : gather_scatter_view<tile=(4x8), tensor_view<64x64xf32, strides=[64,1]>, sparse_dim=0>
    %g = make_gather_scatter_view %tv : gather_scatter_view<tile=(4x8), tensor_view<64x64xf32, strides=[64,1]>, sparse_dim=0>
    // CHECK: %0 = iota : tile<4xi16>
    %rows = iota : tile<4xi16>
    // CHECK: %tile, %result_token = load_view_tko weak %pview[%arg1, %arg1] : partition_view<tile=(4x8), tensor_view<64x64xf32, strides=[64,1]>>, tile<i32> -> tile<4x8xf32>, token
    %0, %t0 = load_view_tko weak %v[%i, %i] : partition_view<tile=(4x8), tensor_view<64x64xf32, strides=[64,1]>>, tile<i32> -> tile<4x8xf32>, token
    // CHECK: %tile_0, %result_token_1 = load_view_tko relaxed tl_blk %pview[%arg1, %arg1] token = %result_token optimization_hints = <sm_100 = {allow_tma = true, latency = 4}> : partition_view<tile=(4x8), tensor_view<64x64xf32, strides=[64,1]>>, tile<i32> -> tile<4x8xf32>, token
    %1, %t1 = load_view_tko relaxed tl_blk %v[%i, %i] token = %t0 optimization_hints = <sm_100 = {allow_tma = true, latency = 4}> : partition_view<tile=(4x8), tensor_view<64x64xf32, strides=[64,1]>>, tile<i32>, tile<i32> -> tile<4x8xf32>, token
    // CHECK: %tile_2, %result_token_3 = load_view_tko acquire device %gsview[%0, %arg1] attributes {note = "kept"} : gather_scatter_view<tile=(4x8), tensor_view<64x64xf32, strides=[64,1]>, sparse_dim=0>, tile<4xi16>, tile<i32> -> tile<4x8xf32>, token
    %2, %t2 = load_view_tko acquire device %g[%rows, %i] attributes {note = "kept"} : gather_scatter_view<tile=(4x8), tensor_view<64x64xf32, strides=[64,1]>, sparse_dim=0>, tile<4xi16>, tile<i32> -> tile<4x8xf32>, token
    // CHECK: %1 = store_view_tko weak %tile, %pview[%arg1, %arg1] : tile<4x8xf32>, partition_view<tile=(4x8), tensor_view<64x64xf32, strides=[64,1]>>, tile<i32> -> token
    %t3 = store_view_tko weak %0, %v[%i, %i] : tile<4x8xf32>, partition_view<tile=(4x8), tensor_view<64x64xf32, strides=[64,1]>>, tile<i32> -> token
    // CHECK: %2 = store_view_tko release sys %tile_2, %gsview[%0, %arg1] token = %1 : tile<4x8xf32>, gather_scatter_view<tile=(4x8), tensor_view<64x64xf32, strides=[64,1]>, sparse_dim=0>, tile<4xi16>, tile<i32> -> token
    %t4 = store_view_tko release sys %2, %g[%rows, %i] token = %t3 : tile<4x8xf32>, gather_scatter_view<tile=(4x8), tensor_view<64x64xf32, strides=[64,1]>, sparse_dim=0>, tile<4xi16>, tile<i32> -> token
    // CHECK: %3 = atomic_red_view_tko relaxed device %pview[%arg1, %arg1], addf, %tile : tile<4x8xf32>, partition_view<tile=(4x8), tensor_view<64x64xf32, strides=[64,1]>>, tile<i32> -> token
    %t5 = atomic_red_view_tko relaxed device %v[%i, %i], addf, %0 : tile<4x8xf32>, partition_view<tile=(4x8), tensor_view<64x64xf32, strides=[64,1]>>, tile<i32> -> token
    // CHECK: %4 = atomic_red_view_tko relaxed tl_blk %pview[%arg1, %arg1], addf, %tile token = %3 attributes {note = "kept"} : tile<4x8xf32>, partition_view<tile=(4x8), tensor_view<64x64xf32, strides=[64,1]>>, tile<i32> -> token
    %t6 = atomic_red_view_tko relaxed tl_blk %v[%i, %i], addf, %0 token = %t5 attributes {note = "kept"} : tile<4x8xf32>, partition_view<tile=(4x8), tensor_view<64x64xf32, strides=[64,1]>>, tile<i32> -> token
    // CHECK: return
    return
  }
}
