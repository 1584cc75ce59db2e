// The same elements in row-major order; to and from rank zero.
// grid: 1 1 1
// buffer: i32 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15
// buffer: i32 0*16 -> 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15
// buffer: i32 9
// buffer: i32 0 -> 9
cuda_tile.module @m {
  entry @reshape(%p0: tile<ptr<i32>>, %p1: tile<ptr<i32>>, %p2: tile<ptr<i32>>, %p3: tile<ptr<i32>>) {
    %zero = constant <i32: 0> : tile<i32>
    %x_t = make_tensor_view %p0, shape = [16], strides = [1] : tensor_view<16xi32, strides=[1]>
    %x_v = make_partition_view %x_t : partition_view<tile=(16), tensor_view<16xi32, strides=[1]>>
    %x, %x_k = load_view_tko weak %x_v[%zero] : partition_view<tile=(16), tensor_view<16xi32, strides=[1]>>, tile<i32> -> tile<16xi32>, token
    %a = reshape %x : tile<16xi32> -> tile<2x4x2xi32>
    %b = reshape %a : tile<2x4x2xi32> -> tile<8x2xi32>
    %s, %s_k = load_ptr_tko weak %p2 : tile<ptr<i32>> -> tile<i32>, token
    %c = reshape %s : tile<i32> -> tile<1x1xi32>
    %d = reshape %c : tile<1x1xi32> -> tile<i32>
    %d_k = store_ptr_tko weak %p3, %d : tile<ptr<i32>>, tile<i32> -> token
    %b_ot = make_tensor_view %p1, shape = [8, 2], strides = [2, 1] : tensor_view<8x2xi32, strides=[2,1]>
    %b_ov = make_partition_view %b_ot : partition_view<tile=(8x2), tensor_view<8x2xi32, strides=[2,1]>>
    %b_ok = store_view_tko weak %b, %b_ov[%zero, %zero] : tile<8x2xi32>, partition_view<tile=(8x2), tensor_view<8x2xi32, strides=[2,1]>>, tile<i32> -> token
    return
  }
}
