// Indices are numbers of slices, not of elements; known ones and unknown ones.
// grid: 1 1 1
// buffer: i32 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31
// scalar: i32 1
// scalar: i32 3
// buffer: i32 0*4 -> 22 23 30 31
// buffer: i32 0*8 -> 8 9 10 11 12 13 14 15
cuda_tile.module @m {
  entry @extract(%p0: tile<ptr<i32>>, %p1: tile<i32>, %p2: tile<i32>, %p3: tile<ptr<i32>>, %p4: tile<ptr<i32>>) {
    %zero = constant <i32: 0> : tile<i32>
    %x_t = make_tensor_view %p0, shape = [4, 8], strides = [8, 1] : tensor_view<4x8xi32, strides=[8,1]>
    %x_v = make_partition_view %x_t : partition_view<tile=(4x8), tensor_view<4x8xi32, strides=[8,1]>>
    %x, %x_k = load_view_tko weak %x_v[%zero, %zero] : partition_view<tile=(4x8), tensor_view<4x8xi32, strides=[8,1]>>, tile<i32> -> tile<4x8xi32>, token
    %a = extract %x[%p1, %p2] : tile<4x8xi32> -> tile<2x2xi32>
    %one = constant <i32: 1> : tile<i32>
    %b = extract %x[%one, %zero] : tile<4x8xi32> -> tile<1x8xi32>
    %a_ot = make_tensor_view %p3, shape = [2, 2], strides = [2, 1] : tensor_view<2x2xi32, strides=[2,1]>
    %a_ov = make_partition_view %a_ot : partition_view<tile=(2x2), tensor_view<2x2xi32, strides=[2,1]>>
    %a_ok = store_view_tko weak %a, %a_ov[%zero, %zero] : tile<2x2xi32>, partition_view<tile=(2x2), tensor_view<2x2xi32, strides=[2,1]>>, tile<i32> -> token
    %b_ot = make_tensor_view %p4, shape = [1, 8], strides = [8, 1] : tensor_view<1x8xi32, strides=[8,1]>
    %b_ov = make_partition_view %b_ot : partition_view<tile=(1x8), tensor_view<1x8xi32, strides=[8,1]>>
    %b_ok = store_view_tko weak %b, %b_ov[%zero, %zero] : tile<1x8xi32>, partition_view<tile=(1x8), tensor_view<1x8xi32, strides=[8,1]>>, tile<i32> -> token
    return
  }
}
