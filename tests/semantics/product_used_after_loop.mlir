// A product whose sum is used after a loop of others that take turns with its ring: it must not keep its stage.
// grid: 1 1 1
// scalar: i32 7
// buffer: f16 1.0*65536
// buffer: f16 2.0*65536
// buffer: f32 -1.0*4096 -> 2048.0*4096
cuda_tile.module @m {
  entry @product_used_after_loop(%n: tile<i32>, %a0: tile<ptr<f16>>, %b0: tile<ptr<f16>>, %r0: tile<ptr<f32>>) {
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %nothing = constant <f32: 0.0> : tile<64x64xf32>
    %aa = assume div_by<16>, %a0 : tile<ptr<f16>>
    %ba = assume div_by<16>, %b0 : tile<ptr<f16>>
    %r1 = assume div_by<16>, %r0 : tile<ptr<f32>>
    %rt = make_tensor_view %r1, shape = [64, 64], strides = [64, 1] : tensor_view<64x64xf32, strides=[64,1]>
    %rv = make_partition_view %rt : partition_view<tile=(64x64), tensor_view<64x64xf32, strides=[64,1]>>
    %av = make_tensor_view %aa, shape = [64, 1024], strides = [1024, 1] : tensor_view<64x1024xf16, strides=[1024,1]>
    %bv = make_tensor_view %ba, shape = [1024, 64], strides = [64, 1] : tensor_view<1024x64xf16, strides=[64,1]>
    %at = make_partition_view %av : partition_view<tile=(64x128), tensor_view<64x1024xf16, strides=[1024,1]>>
    %bt = make_partition_view %bv : partition_view<tile=(128x64), tensor_view<1024x64xf16, strides=[64,1]>>
    %l0, %s0 = load_view_tko weak %at[%zero, %n] : partition_view<tile=(64x128), tensor_view<64x1024xf16, strides=[1024,1]>>, tile<i32> -> tile<64x128xf16>, token
    %m0, %u0 = load_view_tko weak %bt[%n, %zero] : partition_view<tile=(128x64), tensor_view<1024x64xf16, strides=[64,1]>>, tile<i32> -> tile<128x64xf16>, token
    %d0 = mmaf %l0, %m0, %nothing : tile<64x128xf16>, tile<128x64xf16>, tile<64x64xf32>
    %x = for %k in (%zero to %n, step %one) : tile<i32> iter_values(%p = %nothing) -> (tile<64x64xf32>) {
      %li, %si = load_view_tko weak %at[%zero, %k] : partition_view<tile=(64x128), tensor_view<64x1024xf16, strides=[1024,1]>>, tile<i32> -> tile<64x128xf16>, token
      %mi, %ui = load_view_tko weak %bt[%k, %zero] : partition_view<tile=(128x64), tensor_view<1024x64xf16, strides=[64,1]>>, tile<i32> -> tile<128x64xf16>, token
      %di = mmaf %li, %mi, %p : tile<64x128xf16>, tile<128x64xf16>, tile<64x64xf32>
      continue %di : tile<64x64xf32>
    }
    %y = addf %x, %d0 : tile<64x64xf32>
    %w = store_view_tko weak %y, %rv[%zero, %zero] : tile<64x64xf32>, partition_view<tile=(64x64), tensor_view<64x64xf32, strides=[64,1]>>, tile<i32> -> token
    return
  }
}
