// Indices are numbers of slices, not of elements; known ones and unknown ones. What is not replaced stays.
// grid: 1 1 1
// buffer: i32 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31
// buffer: i32 100 101 102 103
// scalar: i32 1
// scalar: i32 3
// buffer: i32 0*32 -> 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 100 101 24 25 26 27 28 29 102 103
// buffer: i32 0*32 -> 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 100 101 102 103 20 21 22 23 24 25 26 27 28 29 30 31
// buffer: i32 0*4 -> 100 101 102 103
cuda_tile.module @m {
  entry @insert(%p0: tile<ptr<i32>>, %p1: tile<ptr<i32>>, %p2: tile<i32>, %p3: tile<i32>, %p4: tile<ptr<i32>>, %p5: tile<ptr<i32>>, %p6: tile<ptr<i32>>) {
    %zero = constant <i32: 0> : tile<i32>
    %two = constant <i32: 2> : tile<i32>
    %x_t = make_tensor_view %p0, shape = [4, 8], strides = [8, 1] : tensor_view<4x8xi32, strides=[8,1]>
    %x_v = make_partition_view %x_t : partition_view<tile=(4x8), tensor_view<4x8xi32, strides=[8,1]>>
    %x, %x_k = load_view_tko weak %x_v[%zero, %zero] : partition_view<tile=(4x8), tensor_view<4x8xi32, strides=[8,1]>>, tile<i32> -> tile<4x8xi32>, token
    %s_t = make_tensor_view %p1, shape = [2, 2], strides = [2, 1] : tensor_view<2x2xi32, strides=[2,1]>
    %s_v = make_partition_view %s_t : partition_view<tile=(2x2), tensor_view<2x2xi32, strides=[2,1]>>
    %s, %s_k = load_view_tko weak %s_v[%zero, %zero] : partition_view<tile=(2x2), tensor_view<2x2xi32, strides=[2,1]>>, tile<i32> -> tile<2x2xi32>, token
    %a = insert %s, %x[%p2, %p3] : tile<2x2xi32>, tile<4x8xi32>
    %a_ot = make_tensor_view %p4, shape = [4, 8], strides = [8, 1] : tensor_view<4x8xi32, strides=[8,1]>
    %a_ov = make_partition_view %a_ot : partition_view<tile=(4x8), tensor_view<4x8xi32, strides=[8,1]>>
    %a_ok = store_view_tko weak %a, %a_ov[%zero, %zero] : tile<4x8xi32>, partition_view<tile=(4x8), tensor_view<4x8xi32, strides=[8,1]>>, tile<i32> -> token
    %line = reshape %s : tile<2x2xi32> -> tile<1x4xi32>
    %b = insert %line, %x[%two, %zero] : tile<1x4xi32>, tile<4x8xi32>
    %b_ot = make_tensor_view %p5, shape = [4, 8], strides = [8, 1] : tensor_view<4x8xi32, strides=[8,1]>
    %b_ov = make_partition_view %b_ot : partition_view<tile=(4x8), tensor_view<4x8xi32, strides=[8,1]>>
    %b_ok = store_view_tko weak %b, %b_ov[%zero, %zero] : tile<4x8xi32>, partition_view<tile=(4x8), tensor_view<4x8xi32, strides=[8,1]>>, tile<i32> -> token
    %nothing = constant <i32: 7> : tile<2x2xi32>
    %c = insert %s, %nothing[%zero, %zero] : tile<2x2xi32>, tile<2x2xi32>
    %c_ot = make_tensor_view %p6, shape = [2, 2], strides = [2, 1] : tensor_view<2x2xi32, strides=[2,1]>
    %c_ov = make_partition_view %c_ot : partition_view<tile=(2x2), tensor_view<2x2xi32, strides=[2,1]>>
    %c_ok = store_view_tko weak %c, %c_ov[%zero, %zero] : tile<2x2xi32>, partition_view<tile=(2x2), tensor_view<2x2xi32, strides=[2,1]>>, tile<i32> -> token
    return
  }
}
