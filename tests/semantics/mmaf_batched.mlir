// Two products at once; fast_acc allows for less precision, which these numbers do not need.
// grid: 1 1 1
// buffer: f16 3.0 0.0 3.0 3.0 0.0 0.0 3.0 -1.0 1.0 2.0 0.0 3.0 -2.0 2.0 0.0 3.0 0.0 -1.0 -3.0 -3.0 2.0 -2.0 2.0 -1.0 -1.0 1.0 0.0 2.0 0.0 -3.0 3.0 3.0 0.0 -3.0 0.0 1.0 -2.0 -3.0 -2.0 3.0 2.0 0.0 0.0 -2.0 2.0 -2.0 -2.0 1.0 -3.0 2.0 -1.0 -1.0 1.0 0.0 3.0 3.0 3.0 -2.0 0.0 2.0 0.0 1.0 -2.0 -3.0
// buffer: f16 1.0 -2.0 2.0 -2.0 3.0 -2.0 -3.0 -1.0 1.0 -3.0 -3.0 -1.0 -1.0 3.0 3.0 -2.0 -3.0 -1.0 2.0 2.0 -2.0 -2.0 -3.0 2.0 -2.0 1.0 0.0 -1.0 3.0 3.0 -2.0 -3.0 -2.0 3.0 -2.0 1.0 0.0 -2.0 3.0 0.0 1.0 3.0 0.0 -2.0 1.0 -3.0 3.0 0.0 -2.0 -2.0 -3.0 2.0 -2.0 -2.0 -2.0 1.0 1.0 2.0 -2.0 1.0 -1.0 -3.0 3.0 3.0
// buffer: f32 3.0 1.0 -1.0 -3.0 -1.0 1.0 -1.0 -2.0 2.0 1.0 0.0 0.0 3.0 1.0 1.0 2.0 1.0 -2.0 -2.0 1.0 1.0 -3.0 3.0 0.0 2.0 0.0 -1.0 -2.0 0.0 2.0 1.0 0.0
// buffer: f32 0.0*32 -> -3.0 -5.0 7.0 -18.0 14.0 11.0 -12.0 -21.0 -10.0 4.0 15.0 11.0 12.0 25.0 5.0 -19.0 7.0 -2.0 17.0 1.0 -8.0 2.0 -2.0 5.0 4.0 -18.0 8.0 11.0 -5.0 12.0 -12.0 -7.0
cuda_tile.module @m {
  entry @mmaf_batched(%p0: tile<ptr<f16>>, %p1: tile<ptr<f16>>, %p2: tile<ptr<f32>>, %p3: tile<ptr<f32>>) {
    %zero = constant <i32: 0> : tile<i32>
    %a_t = make_tensor_view %p0, shape = [2, 4, 8], strides = [32, 8, 1] : tensor_view<2x4x8xf16, strides=[32,8,1]>
    %a_v = make_partition_view %a_t : partition_view<tile=(2x4x8), tensor_view<2x4x8xf16, strides=[32,8,1]>>
    %a, %a_k = load_view_tko weak %a_v[%zero, %zero, %zero] : partition_view<tile=(2x4x8), tensor_view<2x4x8xf16, strides=[32,8,1]>>, tile<i32> -> tile<2x4x8xf16>, token
    %b_t = make_tensor_view %p1, shape = [2, 8, 4], strides = [32, 4, 1] : tensor_view<2x8x4xf16, strides=[32,4,1]>
    %b_v = make_partition_view %b_t : partition_view<tile=(2x8x4), tensor_view<2x8x4xf16, strides=[32,4,1]>>
    %b, %b_k = load_view_tko weak %b_v[%zero, %zero, %zero] : partition_view<tile=(2x8x4), tensor_view<2x8x4xf16, strides=[32,4,1]>>, tile<i32> -> tile<2x8x4xf16>, token
    %c_t = make_tensor_view %p2, shape = [2, 4, 4], strides = [16, 4, 1] : tensor_view<2x4x4xf32, strides=[16,4,1]>
    %c_v = make_partition_view %c_t : partition_view<tile=(2x4x4), tensor_view<2x4x4xf32, strides=[16,4,1]>>
    %c, %c_k = load_view_tko weak %c_v[%zero, %zero, %zero] : partition_view<tile=(2x4x4), tensor_view<2x4x4xf32, strides=[16,4,1]>>, tile<i32> -> tile<2x4x4xf32>, token
    %d = mmaf %a, %b, %c fast_acc : tile<2x4x8xf16>, tile<2x8x4xf16>, tile<2x4x4xf32>
    %d_ot = make_tensor_view %p3, shape = [2, 4, 4], strides = [16, 4, 1] : tensor_view<2x4x4xf32, strides=[16,4,1]>
    %d_ov = make_partition_view %d_ot : partition_view<tile=(2x4x4), tensor_view<2x4x4xf32, strides=[16,4,1]>>
    %d_ok = store_view_tko weak %d, %d_ov[%zero, %zero, %zero] : tile<2x4x4xf32>, partition_view<tile=(2x4x4), tensor_view<2x4x4xf32, strides=[16,4,1]>>, tile<i32> -> token
    return
  }
}
