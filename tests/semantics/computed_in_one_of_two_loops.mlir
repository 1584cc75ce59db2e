// The warps that negate a tile for the second loop have no work in the first one: 3 * 128 - 4 * 128.
// grid: 1 1 1
// scalar: i32 3
// scalar: i32 7
// buffer: f16 1.0*65536
// buffer: f16 2.0*65536
// buffer: f32 0.0*4096 -> -128.0*4096
cuda_tile.module @m {
  entry @computed_in_one_of_two_loops(%n: tile<i32>, %m: tile<i32>, %p: tile<ptr<f16>>, %q: tile<ptr<f16>>, %o: tile<ptr<f32>>) {
    %a1 = assume div_by<16>, %p : tile<ptr<f16>>
    %t1 = make_tensor_view %a1, shape = [64, 1024], strides = [1024, 1] : tensor_view<64x1024xf16, strides=[1024,1]>
    %w1 = make_partition_view %t1 : partition_view<tile=(64x64), tensor_view<64x1024xf16, strides=[1024,1]>>
    %a2 = assume div_by<16>, %q : tile<ptr<f16>>
    %t2 = make_tensor_view %a2, shape = [1024, 64], strides = [64, 1] : tensor_view<1024x64xf16, strides=[64,1]>
    %w2 = make_partition_view %t2 : partition_view<tile=(64x64), tensor_view<1024x64xf16, strides=[64,1]>>
    %t3 = make_tensor_view %o, shape = [64, 64], strides = [64, 1] : tensor_view<64x64xf32, strides=[64,1]>
    %w3 = make_partition_view %t3 : partition_view<tile=(64x64), tensor_view<64x64xf32, strides=[64,1]>>
    %c0 = constant <i32: 0> : tile<i32>
    %c1 = constant <i32: 1> : tile<i32>
    %c2 = constant <i32: 2> : tile<i32>
    %z = constant <f32: 0.0> : tile<64x64xf32>
    %first = for %i in (%c0 to %n, step %c1) : tile<i32> iter_values(%s = %z) -> (tile<64x64xf32>) {
      %x, %tx = load_view_tko weak %w1[%c0, %i] : partition_view<tile=(64x64), tensor_view<64x1024xf16, strides=[1024,1]>>, tile<i32> -> tile<64x64xf16>, token
      %y, %ty = load_view_tko weak %w2[%i, %c0] : partition_view<tile=(64x64), tensor_view<1024x64xf16, strides=[64,1]>>, tile<i32> -> tile<64x64xf16>, token
      %d = mmaf %x, %y, %s : tile<64x64xf16>, tile<64x64xf16>, tile<64x64xf32>
      continue %d : tile<64x64xf32>
    }
    %second = for %i in (%c0 to %m, step %c2) : tile<i32> iter_values(%s = %first) -> (tile<64x64xf32>) {
      %x, %tx = load_view_tko weak %w1[%c0, %i] : partition_view<tile=(64x64), tensor_view<64x1024xf16, strides=[1024,1]>>, tile<i32> -> tile<64x64xf16>, token
      %v = negf %x : tile<64x64xf16>
      %y, %ty = load_view_tko weak %w2[%i, %c0] : partition_view<tile=(64x64), tensor_view<1024x64xf16, strides=[64,1]>>, tile<i32> -> tile<64x64xf16>, token
      %d = mmaf %v, %y, %s : tile<64x64xf16>, tile<64x64xf16>, tile<64x64xf32>
      continue %d : tile<64x64xf32>
    }
    %u = store_view_tko weak %second, %w3[%c0, %c0] : tile<64x64xf32>, partition_view<tile=(64x64), tensor_view<64x64xf32, strides=[64,1]>>, tile<i32> -> token
    return
  }
}
