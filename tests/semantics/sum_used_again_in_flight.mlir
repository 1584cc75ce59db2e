// A sum that is scaled before the next product adds to it, and read again after that: a product in flight needs its
// registers.
// grid: 1 1 1
// scalar: i32 4
// buffer: f16 1.0*65536
// buffer: f16 2.0*65536
// buffer: f32 -1.0*8192 -> 240.0*64 544.0*64 240.0*64 544.0*64 240.0*64 544.0*64 240.0*64 544.0*64 240.0*64 544.0*64 240.0*64 544.0*64 240.0*64 544.0*64 240.0*64 544.0*64 240.0*64 544.0*64 240.0*64 544.0*64 240.0*64 544.0*64 240.0*64 544.0*64 240.0*64 544.0*64 240.0*64 544.0*64 240.0*64 544.0*64 240.0*64 544.0*64 240.0*64 544.0*64 240.0*64 544.0*64 240.0*64 544.0*64 240.0*64 544.0*64 240.0*64 544.0*64 240.0*64 544.0*64 240.0*64 544.0*64 240.0*64 544.0*64 240.0*64 544.0*64 240.0*64 544.0*64 240.0*64 544.0*64 240.0*64 544.0*64 240.0*64 544.0*64 240.0*64 544.0*64 240.0*64 544.0*64 240.0*64 544.0*64 240.0*64 544.0*64 240.0*64 544.0*64 240.0*64 544.0*64 240.0*64 544.0*64 240.0*64 544.0*64 240.0*64 544.0*64 240.0*64 544.0*64 240.0*64 544.0*64 240.0*64 544.0*64 240.0*64 544.0*64 240.0*64 544.0*64 240.0*64 544.0*64 240.0*64 544.0*64 240.0*64 544.0*64 240.0*64 544.0*64 240.0*64 544.0*64 240.0*64 544.0*64 240.0*64 544.0*64 240.0*64 544.0*64 240.0*64 544.0*64 240.0*64 544.0*64 240.0*64 544.0*64 240.0*64 544.0*64 240.0*64 544.0*64 240.0*64 544.0*64 240.0*64 544.0*64 240.0*64 544.0*64 240.0*64 544.0*64 240.0*64 544.0*64 240.0*64 544.0*64 240.0*64 544.0*64 240.0*64 544.0*64
cuda_tile.module @m {
  entry @sum_used_again_in_flight(%n: tile<i32>, %p: tile<ptr<f16>>, %q: tile<ptr<f16>>, %o: tile<ptr<f32>>) {
    %a1 = assume div_by<16>, %p : tile<ptr<f16>>
    %t1 = make_tensor_view %a1, shape = [64, 1024], strides = [1024, 1] : tensor_view<64x1024xf16, strides=[1024,1]>
    %w1 = make_partition_view %t1 : partition_view<tile=(64x64), tensor_view<64x1024xf16, strides=[1024,1]>>
    %a2 = assume div_by<16>, %q : tile<ptr<f16>>
    %t2 = make_tensor_view %a2, shape = [1024, 64], strides = [64, 1] : tensor_view<1024x64xf16, strides=[64,1]>
    %w2 = make_partition_view %t2 : partition_view<tile=(64x64), tensor_view<1024x64xf16, strides=[64,1]>>
    %t3 = make_tensor_view %o, shape = [64, 128], strides = [128, 1] : tensor_view<64x128xf32, strides=[128,1]>
    %w3 = make_partition_view %t3 : partition_view<tile=(64x64), tensor_view<64x128xf32, strides=[128,1]>>
    %c0 = constant <i32: 0> : tile<i32>
    %z = constant <f32: 0.0> : tile<64x64xf32>
    %c1 = constant <i32: 1> : tile<i32>
    %half = constant <f32: 0.5> : tile<64x64xf32>
    %r:2 = for %i in (%c0 to %n, step %c1) : tile<i32> iter_values(%s = %z, %t = %z) -> (tile<64x64xf32>, tile<64x64xf32>) {
      %x, %tx = load_view_tko weak %w1[%c0, %i] : partition_view<tile=(64x64), tensor_view<64x1024xf16, strides=[1024,1]>>, tile<i32> -> tile<64x64xf16>, token
      %yy, %ty = load_view_tko weak %w2[%i, %c0] : partition_view<tile=(64x64), tensor_view<1024x64xf16, strides=[64,1]>>, tile<i32> -> tile<64x64xf16>, token
      %m = mulf %s, %half : tile<64x64xf32>
      %y = addf %t, %s : tile<64x64xf32>
      %p1 = mmaf %x, %yy, %m : tile<64x64xf16>, tile<64x64xf16>, tile<64x64xf32>
      continue %p1, %y : tile<64x64xf32>, tile<64x64xf32>
    }
    %u0 = store_view_tko weak %r#0, %w3[%c0, %c0] : tile<64x64xf32>, partition_view<tile=(64x64), tensor_view<64x128xf32, strides=[128,1]>>, tile<i32> -> token
    %u1 = store_view_tko weak %r#1, %w3[%c0, %c1] : tile<64x64xf32>, partition_view<tile=(64x64), tensor_view<64x128xf32, strides=[128,1]>>, tile<i32> -> token
    return
  }
}
