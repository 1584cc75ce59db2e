// Stores of tiles of which a part lies outside; strides other than one.
// grid: 1 1 1
// buffer: i16 9*8 -> 1 9 2 9 3 9 9 9
// buffer: i8 9*6 -> 9 9 1 9 9 3
// buffer: f64 0.0*2 -> 5.0 5.0
cuda_tile.module @m {
  entry @store_view(%p0: tile<ptr<i16>>, %p1: tile<ptr<i8>>, %p2: tile<ptr<f64>>) {
    %zero = constant <i32: 0> : tile<i32>
    %t = make_tensor_view %p0, shape = [3], strides = [2] : tensor_view<3xi16, strides=[2]>
    %v = make_partition_view %t : partition_view<tile=(4), tensor_view<3xi16, strides=[2]>>
    %a = constant <i16: [1, 2, 3, 4]> : tile<4xi16>
    %a_k = store_view_tko weak %a, %v[%zero] : tile<4xi16>, partition_view<tile=(4), tensor_view<3xi16, strides=[2]>>, tile<i32> -> token
    %one = constant <i32: 1> : tile<i32>
    %u = make_tensor_view %p1, shape = [2, 3], strides = [3, 1] : tensor_view<2x3xi8, strides=[3,1]>
    %w = make_partition_view %u : partition_view<tile=(2x2), tensor_view<2x3xi8, strides=[3,1]>>
    %b = constant <i8: [[1, 2], [3, 4]]> : tile<2x2xi8>
    %b_k = store_view_tko relaxed device %b, %w[%zero, %one] : tile<2x2xi8>, partition_view<tile=(2x2), tensor_view<2x3xi8, strides=[3,1]>>, tile<i32> -> token
    %c = constant <f64: 5.0> : tile<2xf64>
    %c_ot = make_tensor_view %p2, shape = [2], strides = [1] : tensor_view<2xf64, strides=[1]>
    %c_ov = make_partition_view %c_ot : partition_view<tile=(2), tensor_view<2xf64, strides=[1]>>
    %c_ok = store_view_tko release sys %c, %c_ov[%zero] : tile<2xf64>, partition_view<tile=(2), tensor_view<2xf64, strides=[1]>>, tile<i32> -> token
    return
  }
}
