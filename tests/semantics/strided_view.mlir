// Tiles that overlap, and tiles with gaps between them.
// grid: 1 1 1
// buffer: i32 0 1 2 3 4 5 6 7 8 9
// buffer: i32 0*4 -> 3 4 5 6
// buffer: i32 0*4 -> 9 0 0 0
// buffer: i32 7*10 -> 7*8 1 2
// buffer: i64 0 -> 4
cuda_tile.module @m {
  entry @strided_view(%p0: tile<ptr<i32>>, %p1: tile<ptr<i32>>, %p2: tile<ptr<i32>>, %p3: tile<ptr<i32>>, %p4: tile<ptr<i64>>) {
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %two = constant <i32: 2> : tile<i32>
    %three = constant <i32: 3> : tile<i32>
    %t = make_tensor_view %p0, shape = [10], strides = [1] : tensor_view<10xi32, strides=[1]>
    %v = make_strided_view %t : strided_view<tile=(4), traversal_strides=[3], padding_value = zero, tensor_view<10xi32, strides=[1]>>
    %a, %a_k = load_view_tko weak %v[%one] : strided_view<tile=(4), traversal_strides=[3], padding_value = zero, tensor_view<10xi32, strides=[1]>>, tile<i32> -> tile<4xi32>, token
    %a_ot = make_tensor_view %p1, shape = [4], strides = [1] : tensor_view<4xi32, strides=[1]>
    %a_ov = make_partition_view %a_ot : partition_view<tile=(4), tensor_view<4xi32, strides=[1]>>
    %a_ok = store_view_tko weak %a, %a_ov[%zero] : tile<4xi32>, partition_view<tile=(4), tensor_view<4xi32, strides=[1]>>, tile<i32> -> token
    %b, %b_k = load_view_tko weak %v[%three] : strided_view<tile=(4), traversal_strides=[3], padding_value = zero, tensor_view<10xi32, strides=[1]>>, tile<i32> -> tile<4xi32>, token
    %b_ot = make_tensor_view %p2, shape = [4], strides = [1] : tensor_view<4xi32, strides=[1]>
    %b_ov = make_partition_view %b_ot : partition_view<tile=(4), tensor_view<4xi32, strides=[1]>>
    %b_ok = store_view_tko weak %b, %b_ov[%zero] : tile<4xi32>, partition_view<tile=(4), tensor_view<4xi32, strides=[1]>>, tile<i32> -> token
    %u = make_tensor_view %p3, shape = [10], strides = [1] : tensor_view<10xi32, strides=[1]>
    %g = make_strided_view %u : strided_view<tile=(2), traversal_strides=[4], tensor_view<10xi32, strides=[1]>>
    %c = constant <i32: [1, 2]> : tile<2xi32>
    %c_k = store_view_tko weak %c, %g[%two] : tile<2xi32>, strided_view<tile=(2), traversal_strides=[4], tensor_view<10xi32, strides=[1]>>, tile<i32> -> token
    %n = get_index_space_shape %v : strided_view<tile=(4), traversal_strides=[3], padding_value = zero, tensor_view<10xi32, strides=[1]>> -> tile<i64>
    %n_k = store_ptr_tko weak %p4, %n : tile<ptr<i64>>, tile<i64> -> token
    return
  }
}
