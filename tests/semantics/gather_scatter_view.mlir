// Rows chosen one by one; the other index counts elements. Columns that stick out are padding.
// grid: 1 1 1
// buffer: f32 0.0 1.0 2.0 3.0 4.0 5.0 6.0 7.0 8.0 9.0 10.0 11.0 12.0 13.0 14.0 15.0 16.0 17.0 18.0 19.0
// buffer: f32 0.0*8 -> 17.0 18.0 1.0 2.0 17.0 18.0 9.0 10.0
// buffer: f32 9.0*8 -> 19.0 0.0 3.0 0.0 19.0 0.0 11.0 0.0
// buffer: f32 7.0*20 -> 7.0 7.0 7.0 7.0 1.0 7.0 7.0 0.0 11.0 7.0 7.0 10.0 7.0 7.0 7.0 7.0 7.0 7.0 7.0 7.0
cuda_tile.module @m {
  entry @gather_scatter_view(%p0: tile<ptr<f32>>, %p1: tile<ptr<f32>>, %p2: tile<ptr<f32>>, %p3: tile<ptr<f32>>) {
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %three = constant <i32: 3> : tile<i32>
    %rows = constant <i64: [4, 0, 4, 2]> : tile<4xi64>
    %t = make_tensor_view %p0, shape = [5, 4], strides = [4, 1] : tensor_view<5x4xf32, strides=[4,1]>
    %v = make_gather_scatter_view %t : gather_scatter_view<tile=(4x2), padding_value = zero, tensor_view<5x4xf32, strides=[4,1]>, sparse_dim=0>
    %a, %a_k = load_view_tko weak %v[%rows, %one] : gather_scatter_view<tile=(4x2), padding_value = zero, tensor_view<5x4xf32, strides=[4,1]>, sparse_dim=0>, tile<4xi64>, tile<i32> -> tile<4x2xf32>, token
    %a_ot = make_tensor_view %p1, shape = [4, 2], strides = [2, 1] : tensor_view<4x2xf32, strides=[2,1]>
    %a_ov = make_partition_view %a_ot : partition_view<tile=(4x2), tensor_view<4x2xf32, strides=[2,1]>>
    %a_ok = store_view_tko weak %a, %a_ov[%zero, %zero] : tile<4x2xf32>, partition_view<tile=(4x2), tensor_view<4x2xf32, strides=[2,1]>>, tile<i32> -> token
    %b, %b_k = load_view_tko weak %v[%rows, %three] : gather_scatter_view<tile=(4x2), padding_value = zero, tensor_view<5x4xf32, strides=[4,1]>, sparse_dim=0>, tile<4xi64>, tile<i32> -> tile<4x2xf32>, token
    %b_ot = make_tensor_view %p2, shape = [4, 2], strides = [2, 1] : tensor_view<4x2xf32, strides=[2,1]>
    %b_ov = make_partition_view %b_ot : partition_view<tile=(4x2), tensor_view<4x2xf32, strides=[2,1]>>
    %b_ok = store_view_tko weak %b, %b_ov[%zero, %zero] : tile<4x2xf32>, partition_view<tile=(4x2), tensor_view<4x2xf32, strides=[2,1]>>, tile<i32> -> token
    %columns = constant <i32: [3, 0]> : tile<2xi32>
    %u = make_tensor_view %p3, shape = [5, 4], strides = [4, 1] : tensor_view<5x4xf32, strides=[4,1]>
    %w = make_gather_scatter_view %u : gather_scatter_view<tile=(2x2), tensor_view<5x4xf32, strides=[4,1]>, sparse_dim=1>
    %c = constant <f32: [[0.0, 1.0], [10.0, 11.0]]> : tile<2x2xf32>
    %c_k = store_view_tko weak %c, %w[%one, %columns] : tile<2x2xf32>, gather_scatter_view<tile=(2x2), tensor_view<5x4xf32, strides=[4,1]>, sparse_dim=1>, tile<i32>, tile<2xi32> -> token
    return
  }
}
