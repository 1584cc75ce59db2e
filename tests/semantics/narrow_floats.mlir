// f4E2M1FN: every code, rounding to nearest even, the largest number beyond the end.
// grid: 1 1 1
// buffer: f32 0.25 0.75 1.25 1.75 2.5 3.5 5.0 100.0
// buffer: f32 0.0*8 -> 0.0 1.0 1.0 2.0 2.0 4.0 4.0 6.0
// buffer: f16 0.0*8 -> 0.0 1.0 1.0 2.0 2.0 4.0 4.0 6.0
cuda_tile.module @m {
  entry @narrow_floats(%p0: tile<ptr<f32>>, %p1: tile<ptr<f32>>, %p2: tile<ptr<f16>>) {
    %zero = constant <i32: 0> : tile<i32>
    %x_t = make_tensor_view %p0, shape = [8], strides = [1] : tensor_view<8xf32, strides=[1]>
    %x_v = make_partition_view %x_t : partition_view<tile=(8), tensor_view<8xf32, strides=[1]>>
    %x, %x_k = load_view_tko weak %x_v[%zero] : partition_view<tile=(8), tensor_view<8xf32, strides=[1]>>, tile<i32> -> tile<8xf32>, token
    %n = ftof %x : tile<8xf32> -> tile<8xf4E2M1FN>
    %a = ftof %n : tile<8xf4E2M1FN> -> tile<8xf32>
    %b = ftof %n : tile<8xf4E2M1FN> -> tile<8xf16>
    %a_ot = make_tensor_view %p1, shape = [8], strides = [1] : tensor_view<8xf32, strides=[1]>
    %a_ov = make_partition_view %a_ot : partition_view<tile=(8), tensor_view<8xf32, strides=[1]>>
    %a_ok = store_view_tko weak %a, %a_ov[%zero] : tile<8xf32>, partition_view<tile=(8), tensor_view<8xf32, strides=[1]>>, tile<i32> -> token
    %b_ot = make_tensor_view %p2, shape = [8], strides = [1] : tensor_view<8xf16, strides=[1]>
    %b_ov = make_partition_view %b_ot : partition_view<tile=(8), tensor_view<8xf16, strides=[1]>>
    %b_ok = store_view_tko weak %b, %b_ov[%zero] : tile<8xf16>, partition_view<tile=(8), tensor_view<8xf16, strides=[1]>>, tile<i32> -> token
    return
  }
}
