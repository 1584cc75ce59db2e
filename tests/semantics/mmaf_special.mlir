// Infinities, NaN and subnormal numbers in a product.
// grid: 1 1 1
// buffer: f16 1.0 0.0 inf 0.0 nan 1.0 0x0001 0.0
// buffer: f16 1.0 2.0 3.0 4.0
// buffer: f32 0.0*8
// buffer: f32 9.0*8 -> 1.0 2.0 inf~0 inf~0 nan nan 0x33800000 0x34000000
cuda_tile.module @m {
  entry @mmaf_special(%p0: tile<ptr<f16>>, %p1: tile<ptr<f16>>, %p2: tile<ptr<f32>>, %p3: tile<ptr<f32>>) {
    %zero = constant <i32: 0> : tile<i32>
    %a_t = make_tensor_view %p0, shape = [4, 2], strides = [2, 1] : tensor_view<4x2xf16, strides=[2,1]>
    %a_v = make_partition_view %a_t : partition_view<tile=(4x2), tensor_view<4x2xf16, strides=[2,1]>>
    %a, %a_k = load_view_tko weak %a_v[%zero, %zero] : partition_view<tile=(4x2), tensor_view<4x2xf16, strides=[2,1]>>, tile<i32> -> tile<4x2xf16>, token
    %b_t = make_tensor_view %p1, shape = [2, 2], strides = [2, 1] : tensor_view<2x2xf16, strides=[2,1]>
    %b_v = make_partition_view %b_t : partition_view<tile=(2x2), tensor_view<2x2xf16, strides=[2,1]>>
    %b, %b_k = load_view_tko weak %b_v[%zero, %zero] : partition_view<tile=(2x2), tensor_view<2x2xf16, strides=[2,1]>>, tile<i32> -> tile<2x2xf16>, token
    %c_t = make_tensor_view %p2, shape = [4, 2], strides = [2, 1] : tensor_view<4x2xf32, strides=[2,1]>
    %c_v = make_partition_view %c_t : partition_view<tile=(4x2), tensor_view<4x2xf32, strides=[2,1]>>
    %c, %c_k = load_view_tko weak %c_v[%zero, %zero] : partition_view<tile=(4x2), tensor_view<4x2xf32, strides=[2,1]>>, tile<i32> -> tile<4x2xf32>, token
    %d = mmaf %a, %b, %c : tile<4x2xf16>, tile<2x2xf16>, tile<4x2xf32>
    %d_ot = make_tensor_view %p3, shape = [4, 2], strides = [2, 1] : tensor_view<4x2xf32, strides=[2,1]>
    %d_ov = make_partition_view %d_ot : partition_view<tile=(4x2), tensor_view<4x2xf32, strides=[2,1]>>
    %d_ok = store_view_tko weak %d, %d_ov[%zero, %zero] : tile<4x2xf32>, partition_view<tile=(4x2), tensor_view<4x2xf32, strides=[2,1]>>, tile<i32> -> token
    return
  }
}
