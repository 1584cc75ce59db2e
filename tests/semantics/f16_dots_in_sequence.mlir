// An f16 accumulator is the left operand of the next dot, which a loop carries. The left operand and the accumulators
// of an instruction are in different registers, and no accumulator in flight is copied.
// grid: 1 1 1
// buffer: f16 1.0*4096
// buffer: f16 0.0*2048 -> 3.0*2048
cuda_tile.module @m {
  entry @f16_dots_in_sequence(%p0: tile<ptr<f16>>, %p1: tile<ptr<f16>>) {
    %zero = constant <f16: 0.0> : tile<64x32xf16>
    %c0 = constant <i32: 0> : tile<i32>
    %c1 = constant <i32: 1> : tile<i32>
    %c3 = constant <i32: 3> : tile<i32>
    %tv = make_tensor_view %p0, shape = [64, 64], strides = [64, 1] : tensor_view<64x64xf16, strides=[64,1]>
    %pv = make_partition_view %tv : partition_view<tile=(64x64), tensor_view<64x64xf16, strides=[64,1]>>
    %b = constant <f16: 0.015625> : tile<64x32xf16>
    %mean = constant <f16: 0.03125> : tile<32x32xf16>
    %r = for %i in (%c0 to %c3, step %c1) : tile<i32> iter_values(%acc = %zero) -> (tile<64x32xf16>) {
      %a, %t = load_view_tko weak %pv[%c0, %c0] : partition_view<tile=(64x64), tensor_view<64x64xf16, strides=[64,1]>>, tile<i32>, tile<i32> -> tile<64x64xf16>, token
      %x = mmaf %a, %b, %acc : tile<64x64xf16>, tile<64x32xf16>, tile<64x32xf16>
      %y = mmaf %x, %mean, %zero : tile<64x32xf16>, tile<32x32xf16>, tile<64x32xf16>
      continue %y : tile<64x32xf16>
    }
    %ov = make_tensor_view %p1, shape = [64, 32], strides = [32, 1] : tensor_view<64x32xf16, strides=[32,1]>
    %op = make_partition_view %ov : partition_view<tile=(64x32), tensor_view<64x32xf16, strides=[32,1]>>
    %s = store_view_tko weak %r, %op[%c0, %c0] : tile<64x32xf16>, partition_view<tile=(64x32), tensor_view<64x32xf16, strides=[32,1]>>, tile<i32>, tile<i32> -> token
    return
  }
}
