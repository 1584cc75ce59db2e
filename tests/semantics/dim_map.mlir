// A view whose tiles walk columns first; extents and strides known at run time only; queries.
// grid: 1 1 1
// buffer: f16 0.0 1.0 2.0 3.0 4.0 5.0 6.0 7.0 8.0 9.0 10.0 11.0 12.0 13.0 14.0
// scalar: i32 3
// scalar: i32 5
// buffer: f16 9.0*8 -> 0.0 5.0 10.0 0.0 1.0 6.0 11.0 0.0
// buffer: f16 9.0*8 -> 4.0 9.0 14.0 0.0 0.0 0.0 0.0 0.0
// buffer: i32 0*4 -> 3 5 3 1
cuda_tile.module @m {
  entry @dim_map(%p0: tile<ptr<f16>>, %p1: tile<i32>, %p2: tile<i32>, %p3: tile<ptr<f16>>, %p4: tile<ptr<f16>>, %p5: tile<ptr<i32>>) {
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i64: 1> : tile<i64>
    %two = constant <i32: 2> : tile<i32>
    %t = make_tensor_view %p0, shape = [%p1, %p2], strides = [%p2, 1] : tile<i32> -> tensor_view<?x?xf16, strides=[?,1]>
    %v = make_partition_view %t : partition_view<tile=(2x4), padding_value = zero, tensor_view<?x?xf16, strides=[?,1]>, dim_map=[1, 0]>
    %a, %a_k = load_view_tko weak %v[%zero, %zero] : partition_view<tile=(2x4), padding_value = zero, tensor_view<?x?xf16, strides=[?,1]>, dim_map=[1, 0]>, tile<i32> -> tile<2x4xf16>, token
    %a_ot = make_tensor_view %p3, shape = [2, 4], strides = [4, 1] : tensor_view<2x4xf16, strides=[4,1]>
    %a_ov = make_partition_view %a_ot : partition_view<tile=(2x4), tensor_view<2x4xf16, strides=[4,1]>>
    %a_ok = store_view_tko weak %a, %a_ov[%zero, %zero] : tile<2x4xf16>, partition_view<tile=(2x4), tensor_view<2x4xf16, strides=[4,1]>>, tile<i32> -> token
    %b, %b_k = load_view_tko acquire device %v[%two, %zero] : partition_view<tile=(2x4), padding_value = zero, tensor_view<?x?xf16, strides=[?,1]>, dim_map=[1, 0]>, tile<i32> -> tile<2x4xf16>, token
    %b_ot = make_tensor_view %p4, shape = [2, 4], strides = [4, 1] : tensor_view<2x4xf16, strides=[4,1]>
    %b_ov = make_partition_view %b_ot : partition_view<tile=(2x4), tensor_view<2x4xf16, strides=[4,1]>>
    %b_ok = store_view_tko weak %b, %b_ov[%zero, %zero] : tile<2x4xf16>, partition_view<tile=(2x4), tensor_view<2x4xf16, strides=[4,1]>>, tile<i32> -> token
    %h, %w = get_tensor_shape %t : tensor_view<?x?xf16, strides=[?,1]> -> tile<i32>
    %m, %n = get_index_space_shape %v : partition_view<tile=(2x4), padding_value = zero, tensor_view<?x?xf16, strides=[?,1]>, dim_map=[1, 0]> -> tile<i32>
    %o0 = constant <i32: 0> : tile<i32>
    %q0 = offset %p5, %o0 : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %s0 = store_ptr_tko weak %q0, %h : tile<ptr<i32>>, tile<i32> -> token
    %o1 = constant <i32: 1> : tile<i32>
    %q1 = offset %p5, %o1 : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %s1 = store_ptr_tko weak %q1, %w : tile<ptr<i32>>, tile<i32> -> token
    %o2 = constant <i32: 2> : tile<i32>
    %q2 = offset %p5, %o2 : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %s2 = store_ptr_tko weak %q2, %m : tile<ptr<i32>>, tile<i32> -> token
    %o3 = constant <i32: 3> : tile<i32>
    %q3 = offset %p5, %o3 : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %s3 = store_ptr_tko weak %q3, %n : tile<ptr<i32>>, tile<i32> -> token
    return
  }
}
