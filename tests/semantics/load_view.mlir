// Partition views: each padding, and none, which leaves what sticks out open.
// grid: 1 1 1
// buffer: f32 1.0 2.0 3.0 4.0 5.0 6.0
// buffer: f32 9.0*4 -> 3.0 0.0 6.0 0.0
// buffer: f32 9.0*4 -> 3.0 -0.0 6.0 -0.0
// buffer: f32 9.0*4 -> 3.0 nan 6.0 nan
// buffer: f32 9.0*4 -> 3.0 inf 6.0 inf
// buffer: f32 9.0*4 -> 3.0 -inf 6.0 -inf
// buffer: f32 9.0*4 -> 3.0 ? 6.0 ?
cuda_tile.module @m {
  entry @load_view(%p0: tile<ptr<f32>>, %p1: tile<ptr<f32>>, %p2: tile<ptr<f32>>, %p3: tile<ptr<f32>>, %p4: tile<ptr<f32>>, %p5: tile<ptr<f32>>, %p6: tile<ptr<f32>>) {
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %a1_t = make_tensor_view %p0, shape = [2, 3], strides = [3, 1] : tensor_view<2x3xf32, strides=[3,1]>
    %a1_v = make_partition_view %a1_t : partition_view<tile=(2x2), padding_value = zero, tensor_view<2x3xf32, strides=[3,1]>>
    %a1, %a1_k = load_view_tko weak %a1_v[%zero, %one] : partition_view<tile=(2x2), padding_value = zero, tensor_view<2x3xf32, strides=[3,1]>>, tile<i32> -> tile<2x2xf32>, token
    %a1_ot = make_tensor_view %p1, shape = [2, 2], strides = [2, 1] : tensor_view<2x2xf32, strides=[2,1]>
    %a1_ov = make_partition_view %a1_ot : partition_view<tile=(2x2), tensor_view<2x2xf32, strides=[2,1]>>
    %a1_ok = store_view_tko weak %a1, %a1_ov[%zero, %zero] : tile<2x2xf32>, partition_view<tile=(2x2), tensor_view<2x2xf32, strides=[2,1]>>, tile<i32> -> token
    %a2_t = make_tensor_view %p0, shape = [2, 3], strides = [3, 1] : tensor_view<2x3xf32, strides=[3,1]>
    %a2_v = make_partition_view %a2_t : partition_view<tile=(2x2), padding_value = neg_zero, tensor_view<2x3xf32, strides=[3,1]>>
    %a2, %a2_k = load_view_tko weak %a2_v[%zero, %one] : partition_view<tile=(2x2), padding_value = neg_zero, tensor_view<2x3xf32, strides=[3,1]>>, tile<i32> -> tile<2x2xf32>, token
    %a2_ot = make_tensor_view %p2, shape = [2, 2], strides = [2, 1] : tensor_view<2x2xf32, strides=[2,1]>
    %a2_ov = make_partition_view %a2_ot : partition_view<tile=(2x2), tensor_view<2x2xf32, strides=[2,1]>>
    %a2_ok = store_view_tko weak %a2, %a2_ov[%zero, %zero] : tile<2x2xf32>, partition_view<tile=(2x2), tensor_view<2x2xf32, strides=[2,1]>>, tile<i32> -> token
    %a3_t = make_tensor_view %p0, shape = [2, 3], strides = [3, 1] : tensor_view<2x3xf32, strides=[3,1]>
    %a3_v = make_partition_view %a3_t : partition_view<tile=(2x2), padding_value = nan, tensor_view<2x3xf32, strides=[3,1]>>
    %a3, %a3_k = load_view_tko weak %a3_v[%zero, %one] : partition_view<tile=(2x2), padding_value = nan, tensor_view<2x3xf32, strides=[3,1]>>, tile<i32> -> tile<2x2xf32>, token
    %a3_ot = make_tensor_view %p3, shape = [2, 2], strides = [2, 1] : tensor_view<2x2xf32, strides=[2,1]>
    %a3_ov = make_partition_view %a3_ot : partition_view<tile=(2x2), tensor_view<2x2xf32, strides=[2,1]>>
    %a3_ok = store_view_tko weak %a3, %a3_ov[%zero, %zero] : tile<2x2xf32>, partition_view<tile=(2x2), tensor_view<2x2xf32, strides=[2,1]>>, tile<i32> -> token
    %a4_t = make_tensor_view %p0, shape = [2, 3], strides = [3, 1] : tensor_view<2x3xf32, strides=[3,1]>
    %a4_v = make_partition_view %a4_t : partition_view<tile=(2x2), padding_value = pos_inf, tensor_view<2x3xf32, strides=[3,1]>>
    %a4, %a4_k = load_view_tko weak %a4_v[%zero, %one] : partition_view<tile=(2x2), padding_value = pos_inf, tensor_view<2x3xf32, strides=[3,1]>>, tile<i32> -> tile<2x2xf32>, token
    %a4_ot = make_tensor_view %p4, shape = [2, 2], strides = [2, 1] : tensor_view<2x2xf32, strides=[2,1]>
    %a4_ov = make_partition_view %a4_ot : partition_view<tile=(2x2), tensor_view<2x2xf32, strides=[2,1]>>
    %a4_ok = store_view_tko weak %a4, %a4_ov[%zero, %zero] : tile<2x2xf32>, partition_view<tile=(2x2), tensor_view<2x2xf32, strides=[2,1]>>, tile<i32> -> token
    %a5_t = make_tensor_view %p0, shape = [2, 3], strides = [3, 1] : tensor_view<2x3xf32, strides=[3,1]>
    %a5_v = make_partition_view %a5_t : partition_view<tile=(2x2), padding_value = neg_inf, tensor_view<2x3xf32, strides=[3,1]>>
    %a5, %a5_k = load_view_tko weak %a5_v[%zero, %one] : partition_view<tile=(2x2), padding_value = neg_inf, tensor_view<2x3xf32, strides=[3,1]>>, tile<i32> -> tile<2x2xf32>, token
    %a5_ot = make_tensor_view %p5, shape = [2, 2], strides = [2, 1] : tensor_view<2x2xf32, strides=[2,1]>
    %a5_ov = make_partition_view %a5_ot : partition_view<tile=(2x2), tensor_view<2x2xf32, strides=[2,1]>>
    %a5_ok = store_view_tko weak %a5, %a5_ov[%zero, %zero] : tile<2x2xf32>, partition_view<tile=(2x2), tensor_view<2x2xf32, strides=[2,1]>>, tile<i32> -> token
    %u_t = make_tensor_view %p0, shape = [2, 3], strides = [3, 1] : tensor_view<2x3xf32, strides=[3,1]>
    %u_v = make_partition_view %u_t : partition_view<tile=(2x2), tensor_view<2x3xf32, strides=[3,1]>>
    %u, %u_k = load_view_tko weak %u_v[%zero, %one] : partition_view<tile=(2x2), tensor_view<2x3xf32, strides=[3,1]>>, tile<i32> -> tile<2x2xf32>, token
    %u_ot = make_tensor_view %p6, shape = [2, 2], strides = [2, 1] : tensor_view<2x2xf32, strides=[2,1]>
    %u_ov = make_partition_view %u_ot : partition_view<tile=(2x2), tensor_view<2x2xf32, strides=[2,1]>>
    %u_ok = store_view_tko weak %u, %u_ov[%zero, %zero] : tile<2x2xf32>, partition_view<tile=(2x2), tensor_view<2x2xf32, strides=[2,1]>>, tile<i32> -> token
    return
  }
}
