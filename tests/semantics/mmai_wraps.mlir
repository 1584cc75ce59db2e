// The sum wraps around.
// grid: 1 1 1
// buffer: i8 -128*4
// buffer: i32 2147483647*4 -> -2147450881*4
cuda_tile.module @m {
  entry @mmai_wraps(%p0: tile<ptr<i8>>, %p1: tile<ptr<i32>>) {
    %zero = constant <i32: 0> : tile<i32>
    %a_t = make_tensor_view %p0, shape = [2, 2], strides = [2, 1] : tensor_view<2x2xi8, strides=[2,1]>
    %a_v = make_partition_view %a_t : partition_view<tile=(2x2), tensor_view<2x2xi8, strides=[2,1]>>
    %a, %a_k = load_view_tko weak %a_v[%zero, %zero] : partition_view<tile=(2x2), tensor_view<2x2xi8, strides=[2,1]>>, tile<i32> -> tile<2x2xi8>, token
    %c_t = make_tensor_view %p1, shape = [2, 2], strides = [2, 1] : tensor_view<2x2xi32, strides=[2,1]>
    %c_v = make_partition_view %c_t : partition_view<tile=(2x2), tensor_view<2x2xi32, strides=[2,1]>>
    %c, %c_k = load_view_tko weak %c_v[%zero, %zero] : partition_view<tile=(2x2), tensor_view<2x2xi32, strides=[2,1]>>, tile<i32> -> tile<2x2xi32>, token
    %d = mmai %a, %a, %c signed signed : tile<2x2xi8>, tile<2x2xi8>, tile<2x2xi32>
    %d_ot = make_tensor_view %p1, shape = [2, 2], strides = [2, 1] : tensor_view<2x2xi32, strides=[2,1]>
    %d_ov = make_partition_view %d_ot : partition_view<tile=(2x2), tensor_view<2x2xi32, strides=[2,1]>>
    %d_ok = store_view_tko weak %d, %d_ov[%zero, %zero] token = %c_k : tile<2x2xi32>, partition_view<tile=(2x2), tensor_view<2x2xi32, strides=[2,1]>>, tile<i32> -> token
    return
  }
}
