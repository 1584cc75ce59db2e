// Floats of eight bits of many elements a thread: all within the range in most warps, and some beyond it in the last.
// grid: 1 1 1
// buffer: f32 1.0*1000 -2.0*1000 448.0 464.0 464.5 -464.0 -465.0 1.0e9 -1.0e30 nan inf -inf 57344.0 61439.0 61440.0 -61439.0 -61440.0 3.0*33
// buffer: f32 0.0*2048 -> 1.0*1000 -2.0*1000 448.0 448.0 nan -448.0 nan nan nan nan nan nan nan nan nan nan nan 3.0*33
// buffer: f32 0.0*2048 -> 1.0*1000 -2.0*1000 448.0 448.0 448.0 -448.0 -448.0 inf -inf nan inf -inf 57344.0 57344.0 inf -57344.0 -inf 3.0*33
cuda_tile.module @m {
  entry @eight_bits(%p0: tile<ptr<f32>>, %p1: tile<ptr<f32>>, %p2: tile<ptr<f32>>) {
    %zero = constant <i32: 0> : tile<i32>
    %x_t = make_tensor_view %p0, shape = [2048], strides = [1] : tensor_view<2048xf32, strides=[1]>
    %x_v = make_partition_view %x_t : partition_view<tile=(2048), tensor_view<2048xf32, strides=[1]>>
    %x, %x_k = load_view_tko weak %x_v[%zero] : partition_view<tile=(2048), tensor_view<2048xf32, strides=[1]>>, tile<i32> -> tile<2048xf32>, token
    %na = ftof %x : tile<2048xf32> -> tile<2048xf8E4M3FN>
    %a = ftof %na : tile<2048xf8E4M3FN> -> tile<2048xf32>
    %a_ot = make_tensor_view %p1, shape = [2048], strides = [1] : tensor_view<2048xf32, strides=[1]>
    %a_ov = make_partition_view %a_ot : partition_view<tile=(2048), tensor_view<2048xf32, strides=[1]>>
    %a_ok = store_view_tko weak %a, %a_ov[%zero] : tile<2048xf32>, partition_view<tile=(2048), tensor_view<2048xf32, strides=[1]>>, tile<i32> -> token
    %nb = ftof %x : tile<2048xf32> -> tile<2048xf8E5M2>
    %b = ftof %nb : tile<2048xf8E5M2> -> tile<2048xf32>
    %b_ot = make_tensor_view %p2, shape = [2048], strides = [1] : tensor_view<2048xf32, strides=[1]>
    %b_ov = make_partition_view %b_ot : partition_view<tile=(2048), tensor_view<2048xf32, strides=[1]>>
    %b_ok = store_view_tko weak %b, %b_ov[%zero] : tile<2048xf32>, partition_view<tile=(2048), tensor_view<2048xf32, strides=[1]>>, tile<i32> -> token
    return
  }
}
