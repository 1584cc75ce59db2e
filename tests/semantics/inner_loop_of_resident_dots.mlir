// An inner loop of dots runs in each iteration as often as the iteration's number says, so that its accumulator is
// zero in the first one: 2 * 64 * 3 in three iterations, and 64 in each of 0 + 1 + 2 inner and 3 last dots.
// grid: 1 1 1
// scalar: i32 3
// buffer: f16 1.0*65536
// buffer: f16 2.0*65536
// buffer: f32 -1.0*4096 -> 768.0*4096
cuda_tile.module @m {
  entry @inner_loop_of_resident_dots(%n: tile<i32>, %p: tile<ptr<f16>>, %q: tile<ptr<f16>>, %o: tile<ptr<f32>>) {
    %a1 = assume div_by<16>, %p : tile<ptr<f16>>
    %t1 = make_tensor_view %a1, shape = [64, 1024], strides = [1024, 1] : tensor_view<64x1024xf16, strides=[1024,1]>
    %w1 = make_partition_view %t1 : partition_view<tile=(64x64), tensor_view<64x1024xf16, strides=[1024,1]>>
    %a2 = assume div_by<16>, %q : tile<ptr<f16>>
    %t2 = make_tensor_view %a2, shape = [1024, 64], strides = [64, 1] : tensor_view<1024x64xf16, strides=[64,1]>
    %w2 = make_partition_view %t2 : partition_view<tile=(64x64), tensor_view<1024x64xf16, strides=[64,1]>>
    %t3 = make_tensor_view %o, shape = [64, 64], strides = [64, 1] : tensor_view<64x64xf32, strides=[64,1]>
    %w3 = make_partition_view %t3 : partition_view<tile=(64x64), tensor_view<64x64xf32, strides=[64,1]>>
    %c0 = constant <i32: 0> : tile<i32>
    %z = constant <f32: 0.0> : tile<64x64xf32>
    %c1 = constant <i32: 1> : tile<i32>
    %ones = constant <f16: 1.0> : tile<64x64xf16>
    %r = for %i in (%c0 to %n, step %c1) : tile<i32> iter_values(%s = %z) -> (tile<64x64xf32>) {
      %x, %tx = load_view_tko weak %w1[%c0, %i] : partition_view<tile=(64x64), tensor_view<64x1024xf16, strides=[1024,1]>>, tile<i32> -> tile<64x64xf16>, token
      %y, %ty = load_view_tko weak %w2[%i, %c0] : partition_view<tile=(64x64), tensor_view<1024x64xf16, strides=[64,1]>>, tile<i32> -> tile<64x64xf16>, token
      %first = mmaf %x, %y, %s : tile<64x64xf16>, tile<64x64xf16>, tile<64x64xf32>
      %inner = for %j in (%c0 to %i, step %c1) : tile<i32> iter_values(%d = %first) -> (tile<64x64xf32>) {
        %e = mmaf %ones, %ones, %d : tile<64x64xf16>, tile<64x64xf16>, tile<64x64xf32>
        continue %e : tile<64x64xf32>
      }
      %last = mmaf %ones, %ones, %inner : tile<64x64xf16>, tile<64x64xf16>, tile<64x64xf32>
      continue %last : tile<64x64xf32>
    }
    %u = store_view_tko weak %r, %w3[%c0, %c0] : tile<64x64xf32>, partition_view<tile=(64x64), tensor_view<64x64xf32, strides=[64,1]>>, tile<i32> -> token
    return
  }
}
