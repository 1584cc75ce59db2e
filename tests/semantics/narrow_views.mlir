// Tensors of four-bit numbers: element 2k is in the low half of byte k.
// grid: 1 1 1
// buffer: e2m1 0.5 1.0 1.5 2.0 3.0 4.0 6.0 -0.5
// buffer: f32 0.0*4 -> 3.0 4.0 6.0 -0.5
// buffer: e2m1 0.0*8 -> 0.0*4 3.0 4.0 6.0 -0.5
cuda_tile.module @m {
  entry @narrow_views(%p0: tile<ptr<f4E2M1FN>>, %p1: tile<ptr<f32>>, %p2: tile<ptr<f4E2M1FN>>) {
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %t = make_tensor_view %p0, shape = [8], strides = [1] : tensor_view<8xf4E2M1FN, strides=[1]>
    %v = make_partition_view %t : partition_view<tile=(4), tensor_view<8xf4E2M1FN, strides=[1]>>
    %x, %x_k = load_view_tko weak %v[%one] : partition_view<tile=(4), tensor_view<8xf4E2M1FN, strides=[1]>>, tile<i32> -> tile<4xf4E2M1FN>, token
    %a = ftof %x : tile<4xf4E2M1FN> -> tile<4xf32>
    %a_ot = make_tensor_view %p1, shape = [4], strides = [1] : tensor_view<4xf32, strides=[1]>
    %a_ov = make_partition_view %a_ot : partition_view<tile=(4), tensor_view<4xf32, strides=[1]>>
    %a_ok = store_view_tko weak %a, %a_ov[%zero] : tile<4xf32>, partition_view<tile=(4), tensor_view<4xf32, strides=[1]>>, tile<i32> -> token
    %u = make_tensor_view %p2, shape = [8], strides = [1] : tensor_view<8xf4E2M1FN, strides=[1]>
    %w = make_partition_view %u : partition_view<tile=(4), tensor_view<8xf4E2M1FN, strides=[1]>>
    %b_k = store_view_tko weak %x, %w[%one] : tile<4xf4E2M1FN>, partition_view<tile=(4), tensor_view<8xf4E2M1FN, strides=[1]>>, tile<i32> -> token
    return
  }
}
