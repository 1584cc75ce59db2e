// Like f16_dots_in_sequence, with several blocks of rows for each warpgroup.
// grid: 1 1 1
// buffer: f16 1.0*16384
// buffer: f16 0.0*8192 -> 3.0*8192
cuda_tile.module @m {
  entry @f16_dots_in_sequence_blocks(%p0: tile<ptr<f16>>, %p1: tile<ptr<f16>>) {
    %zero = constant <f16: 0.0> : tile<256x32xf16>
    %c0 = constant <i32: 0> : tile<i32>
    %c1 = constant <i32: 1> : tile<i32>
    %c3 = constant <i32: 3> : tile<i32>
    %tv = make_tensor_view %p0, shape = [256, 64], strides = [64, 1] : tensor_view<256x64xf16, strides=[64,1]>
    %pv = make_partition_view %tv : partition_view<tile=(256x64), tensor_view<256x64xf16, strides=[64,1]>>
    %b = constant <f16: 0.015625> : tile<64x32xf16>
    %mean = constant <f16: 0.03125> : tile<32x32xf16>
    %r = for %i in (%c0 to %c3, step %c1) : tile<i32> iter_values(%acc = %zero) -> (tile<256x32xf16>) {
      %a, %t = load_view_tko weak %pv[%c0, %c0] : partition_view<tile=(256x64), tensor_view<256x64xf16, strides=[64,1]>>, tile<i32>, tile<i32> -> tile<256x64xf16>, token
      %x = mmaf %a, %b, %acc : tile<256x64xf16>, tile<64x32xf16>, tile<256x32xf16>
      %y = mmaf %x, %mean, %zero : tile<256x32xf16>, tile<32x32xf16>, tile<256x32xf16>
      continue %y : tile<256x32xf16>
    }
    %ov = make_tensor_view %p1, shape = [256, 32], strides = [32, 1] : tensor_view<256x32xf16, strides=[32,1]>
    %op = make_partition_view %ov : partition_view<tile=(256x32), tensor_view<256x32xf16, strides=[32,1]>>
    %s = store_view_tko weak %r, %op[%c0, %c0] : tile<256x32xf16>, partition_view<tile=(256x32), tensor_view<256x32xf16, strides=[32,1]>>, tile<i32>, tile<i32> -> token
    return
  }
}
