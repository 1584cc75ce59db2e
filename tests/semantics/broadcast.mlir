// Repetition along dimensions of extent one: rows, columns, one element.
// grid: 1 1 1
// buffer: f32 1.0 2.0
// buffer: f32 0.0*8 -> 1.0 1.0 1.0 1.0 2.0 2.0 2.0 2.0
// buffer: f32 0.0*8 -> 1.0 2.0 1.0 2.0 1.0 2.0 1.0 2.0
// buffer: i8 0*8 -> 7*8
cuda_tile.module @m {
  entry @broadcast(%p0: tile<ptr<f32>>, %p1: tile<ptr<f32>>, %p2: tile<ptr<f32>>, %p3: tile<ptr<i8>>) {
    %zero = constant <i32: 0> : tile<i32>
    %x_t = make_tensor_view %p0, shape = [2], strides = [1] : tensor_view<2xf32, strides=[1]>
    %x_v = make_partition_view %x_t : partition_view<tile=(2), tensor_view<2xf32, strides=[1]>>
    %x, %x_k = load_view_tko weak %x_v[%zero] : partition_view<tile=(2), tensor_view<2xf32, strides=[1]>>, tile<i32> -> tile<2xf32>, token
    %column = reshape %x : tile<2xf32> -> tile<2x1xf32>
    %a = broadcast %column : tile<2x1xf32> -> tile<2x4xf32>
    %row = reshape %x : tile<2xf32> -> tile<1x2xf32>
    %b = broadcast %row : tile<1x2xf32> -> tile<4x2xf32>
    %one = constant <i8: 7> : tile<1x1x1xi8>
    %c = broadcast %one : tile<1x1x1xi8> -> tile<2x2x2xi8>
    %a_ot = make_tensor_view %p1, shape = [2, 4], strides = [4, 1] : tensor_view<2x4xf32, strides=[4,1]>
    %a_ov = make_partition_view %a_ot : partition_view<tile=(2x4), tensor_view<2x4xf32, strides=[4,1]>>
    %a_ok = store_view_tko weak %a, %a_ov[%zero, %zero] : tile<2x4xf32>, partition_view<tile=(2x4), tensor_view<2x4xf32, strides=[4,1]>>, tile<i32> -> token
    %b_ot = make_tensor_view %p2, shape = [4, 2], strides = [2, 1] : tensor_view<4x2xf32, strides=[2,1]>
    %b_ov = make_partition_view %b_ot : partition_view<tile=(4x2), tensor_view<4x2xf32, strides=[2,1]>>
    %b_ok = store_view_tko weak %b, %b_ov[%zero, %zero] : tile<4x2xf32>, partition_view<tile=(4x2), tensor_view<4x2xf32, strides=[2,1]>>, tile<i32> -> token
    %c_ot = make_tensor_view %p3, shape = [2, 2, 2], strides = [4, 2, 1] : tensor_view<2x2x2xi8, strides=[4,2,1]>
    %c_ov = make_partition_view %c_ot : partition_view<tile=(2x2x2), tensor_view<2x2x2xi8, strides=[4,2,1]>>
    %c_ok = store_view_tko weak %c, %c_ov[%zero, %zero, %zero] : tile<2x2x2xi8>, partition_view<tile=(2x2x2), tensor_view<2x2x2xi8, strides=[4,2,1]>>, tile<i32> -> token
    return
  }
}
