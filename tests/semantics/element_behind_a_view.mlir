// An element that is taken out of a tile, and lies behind the end of the view: it is filled up, and nothing is read
// there. Beside a product, where such elements may be loaded one by one.
// grid: 1 1 1
// buffer: i64 1 2 3 4 5 6 7 8 9 10 11 12 13
// scalar: i32 13
// buffer: i64 -1 -1 -> 13 0
// buffer: f32 5.0*256 -> -16.0*256
cuda_tile.module @m {
  entry @element_behind_a_view(%in: tile<ptr<i64>>, %n: tile<i32>, %out: tile<ptr<i64>>, %sums: tile<ptr<f32>>) {
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %last = constant <i32: 12> : tile<i32>
    %behind = constant <i32: 13> : tile<i32>
    %view = make_tensor_view %in, shape = [%n], strides = [1] : tile<i32> -> tensor_view<?xi64, strides=[1]>
    %tiles = make_partition_view %view : partition_view<tile=(16), padding_value = zero, tensor_view<?xi64, strides=[1]>>
    %tile, %t = load_view_tko weak %tiles[%zero] : partition_view<tile=(16), padding_value = zero, tensor_view<?xi64, strides=[1]>>, tile<i32> -> tile<16xi64>, token
    %a = extract %tile[%last] : tile<16xi64> -> tile<1xi64>
    %b = extract %tile[%behind] : tile<16xi64> -> tile<1xi64>
    %to = make_tensor_view %out, shape = [2], strides = [1] : tensor_view<2xi64, strides=[1]>
    %each = make_partition_view %to : partition_view<tile=(1), tensor_view<2xi64, strides=[1]>>
    %s = store_view_tko weak %a, %each[%zero] : tile<1xi64>, partition_view<tile=(1), tensor_view<2xi64, strides=[1]>>, tile<i32> -> token
    %r = store_view_tko weak %b, %each[%one] : tile<1xi64>, partition_view<tile=(1), tensor_view<2xi64, strides=[1]>>, tile<i32> -> token
    %x = constant <bf16: 1.0> : tile<16x16xbf16>
    %y = constant <bf16: -1.0> : tile<16x16xbf16>
    %none = constant <f32: 0.0> : tile<16x16xf32>
    %p = mmaf %x, %y, %none : tile<16x16xbf16>, tile<16x16xbf16>, tile<16x16xf32>
    %matrix = make_tensor_view %sums, shape = [16, 16], strides = [16, 1] : tensor_view<16x16xf32, strides=[16,1]>
    %whole = make_partition_view %matrix : partition_view<tile=(16x16), tensor_view<16x16xf32, strides=[16,1]>>
    %u = store_view_tko weak %p, %whole[%zero, %zero] : tile<16x16xf32>, partition_view<tile=(16x16), tensor_view<16x16xf32, strides=[16,1]>>, tile<i32>, tile<i32> -> token
    return
  }
}
