// One after the other, along either dimension.
// grid: 1 1 1
// buffer: i32 1 2 3 4
// buffer: i32 5 6 7 8
// buffer: i32 0*8 -> 1 2 3 4 5 6 7 8
// buffer: i32 0*8 -> 1 2 5 6 3 4 7 8
cuda_tile.module @m {
  entry @cat(%p0: tile<ptr<i32>>, %p1: tile<ptr<i32>>, %p2: tile<ptr<i32>>, %p3: tile<ptr<i32>>) {
    %zero = constant <i32: 0> : tile<i32>
    %x_t = make_tensor_view %p0, shape = [2, 2], strides = [2, 1] : tensor_view<2x2xi32, strides=[2,1]>
    %x_v = make_partition_view %x_t : partition_view<tile=(2x2), tensor_view<2x2xi32, strides=[2,1]>>
    %x, %x_k = load_view_tko weak %x_v[%zero, %zero] : partition_view<tile=(2x2), tensor_view<2x2xi32, strides=[2,1]>>, tile<i32> -> tile<2x2xi32>, token
    %y_t = make_tensor_view %p1, shape = [2, 2], strides = [2, 1] : tensor_view<2x2xi32, strides=[2,1]>
    %y_v = make_partition_view %y_t : partition_view<tile=(2x2), tensor_view<2x2xi32, strides=[2,1]>>
    %y, %y_k = load_view_tko weak %y_v[%zero, %zero] : partition_view<tile=(2x2), tensor_view<2x2xi32, strides=[2,1]>>, tile<i32> -> tile<2x2xi32>, token
    %a = cat %x, %y dim = 0 : tile<2x2xi32>, tile<2x2xi32> -> tile<4x2xi32>
    %b = cat %x, %y dim = 1 : tile<2x2xi32>, tile<2x2xi32> -> tile<2x4xi32>
    %a_ot = make_tensor_view %p2, shape = [4, 2], strides = [2, 1] : tensor_view<4x2xi32, strides=[2,1]>
    %a_ov = make_partition_view %a_ot : partition_view<tile=(4x2), tensor_view<4x2xi32, strides=[2,1]>>
    %a_ok = store_view_tko weak %a, %a_ov[%zero, %zero] : tile<4x2xi32>, partition_view<tile=(4x2), tensor_view<4x2xi32, strides=[2,1]>>, tile<i32> -> token
    %b_ot = make_tensor_view %p3, shape = [2, 4], strides = [4, 1] : tensor_view<2x4xi32, strides=[4,1]>
    %b_ov = make_partition_view %b_ot : partition_view<tile=(2x4), tensor_view<2x4xi32, strides=[4,1]>>
    %b_ok = store_view_tko weak %b, %b_ov[%zero, %zero] : tile<2x4xi32>, partition_view<tile=(2x4), tensor_view<2x4xi32, strides=[4,1]>>, tile<i32> -> token
    return
  }
}
