// Dimension i of the result is dimension permutation[i] of the source.
// grid: 1 1 1
// buffer: i32 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15
// buffer: i32 0*16 -> 0 2 4 6 8 10 12 14 1 3 5 7 9 11 13 15
// buffer: f16 0.0 1.0 2.0 3.0 4.0 5.0 6.0 7.0 8.0 9.0 10.0 11.0 12.0 13.0 14.0 15.0 16.0 17.0 18.0 19.0 20.0 21.0 22.0 23.0 24.0 25.0 26.0 27.0 28.0 29.0 30.0 31.0
// buffer: f16 0.0*32 -> 0.0 8.0 16.0 24.0 1.0 9.0 17.0 25.0 2.0 10.0 18.0 26.0 3.0 11.0 19.0 27.0 4.0 12.0 20.0 28.0 5.0 13.0 21.0 29.0 6.0 14.0 22.0 30.0 7.0 15.0 23.0 31.0
cuda_tile.module @m {
  entry @permute(%p0: tile<ptr<i32>>, %p1: tile<ptr<i32>>, %p2: tile<ptr<f16>>, %p3: tile<ptr<f16>>) {
    %zero = constant <i32: 0> : tile<i32>
    %x_t = make_tensor_view %p0, shape = [2, 4, 2], strides = [8, 2, 1] : tensor_view<2x4x2xi32, strides=[8,2,1]>
    %x_v = make_partition_view %x_t : partition_view<tile=(2x4x2), tensor_view<2x4x2xi32, strides=[8,2,1]>>
    %x, %x_k = load_view_tko weak %x_v[%zero, %zero, %zero] : partition_view<tile=(2x4x2), tensor_view<2x4x2xi32, strides=[8,2,1]>>, tile<i32> -> tile<2x4x2xi32>, token
    %a = permute %x [2, 0, 1] : tile<2x4x2xi32> -> tile<2x2x4xi32>
    %a_ot = make_tensor_view %p1, shape = [2, 2, 4], strides = [8, 4, 1] : tensor_view<2x2x4xi32, strides=[8,4,1]>
    %a_ov = make_partition_view %a_ot : partition_view<tile=(2x2x4), tensor_view<2x2x4xi32, strides=[8,4,1]>>
    %a_ok = store_view_tko weak %a, %a_ov[%zero, %zero, %zero] : tile<2x2x4xi32>, partition_view<tile=(2x2x4), tensor_view<2x2x4xi32, strides=[8,4,1]>>, tile<i32> -> token
    %y_t = make_tensor_view %p2, shape = [4, 8], strides = [8, 1] : tensor_view<4x8xf16, strides=[8,1]>
    %y_v = make_partition_view %y_t : partition_view<tile=(4x8), tensor_view<4x8xf16, strides=[8,1]>>
    %y, %y_k = load_view_tko weak %y_v[%zero, %zero] : partition_view<tile=(4x8), tensor_view<4x8xf16, strides=[8,1]>>, tile<i32> -> tile<4x8xf16>, token
    %b = permute %y [1, 0] : tile<4x8xf16> -> tile<8x4xf16>
    %b_ot = make_tensor_view %p3, shape = [8, 4], strides = [4, 1] : tensor_view<8x4xf16, strides=[4,1]>
    %b_ov = make_partition_view %b_ot : partition_view<tile=(8x4), tensor_view<8x4xf16, strides=[4,1]>>
    %b_ok = store_view_tko weak %b, %b_ov[%zero, %zero] : tile<8x4xf16>, partition_view<tile=(8x4), tensor_view<8x4xf16, strides=[4,1]>>, tile<i32> -> token
    return
  }
}
