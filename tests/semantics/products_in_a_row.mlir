// More products in a row than their ring has stages, whose sums are used after the last of them, the youngest first.
// grid: 1 1 1
// scalar: i32 2
// buffer: f16 1.0*65536
// buffer: f16 2.0*65536
// buffer: f32 -1.0*4096 -> 4096.0*4096
cuda_tile.module @m {
  entry @products_in_a_row(%n: tile<i32>, %p: tile<ptr<f16>>, %q: tile<ptr<f16>>, %o: tile<ptr<f32>>) {
    %al1 = assume div_by<16>, %p : tile<ptr<f16>>
    %t1 = make_tensor_view %al1, shape = [64, 1024], strides = [1024, 1] : tensor_view<64x1024xf16, strides=[1024,1]>
    %w1 = make_partition_view %t1 : partition_view<tile=(64x256), tensor_view<64x1024xf16, strides=[1024,1]>>
    %al2 = assume div_by<16>, %q : tile<ptr<f16>>
    %t2 = make_tensor_view %al2, shape = [1024, 64], strides = [64, 1] : tensor_view<1024x64xf16, strides=[64,1]>
    %w2 = make_partition_view %t2 : partition_view<tile=(256x64), tensor_view<1024x64xf16, strides=[64,1]>>
    %t3 = make_tensor_view %o, shape = [64, 64], strides = [64, 1] : tensor_view<64x64xf32, strides=[64,1]>
    %w3 = make_partition_view %t3 : partition_view<tile=(64x64), tensor_view<64x64xf32, strides=[64,1]>>
    %c0 = constant <i32: 0> : tile<i32>
    %z = constant <f32: 0.0> : tile<64x64xf32>
    %c1 = constant <i32: 1> : tile<i32>
    %c2 = constant <i32: 2> : tile<i32>
    %c3 = constant <i32: 3> : tile<i32>
    %r = for %i in (%c0 to %n, step %c1) : tile<i32> iter_values(%c = %z) -> (tile<64x64xf32>) {
      %x0, %tx0 = load_view_tko weak %w1[%c0, %c0] : partition_view<tile=(64x256), tensor_view<64x1024xf16, strides=[1024,1]>>, tile<i32> -> tile<64x256xf16>, token
      %y0, %ty0 = load_view_tko weak %w2[%c0, %c0] : partition_view<tile=(256x64), tensor_view<1024x64xf16, strides=[64,1]>>, tile<i32> -> tile<256x64xf16>, token
      %s0 = mmaf %x0, %y0, %z : tile<64x256xf16>, tile<256x64xf16>, tile<64x64xf32>
      %x1, %tx1 = load_view_tko weak %w1[%c0, %c1] : partition_view<tile=(64x256), tensor_view<64x1024xf16, strides=[1024,1]>>, tile<i32> -> tile<64x256xf16>, token
      %y1, %ty1 = load_view_tko weak %w2[%c1, %c0] : partition_view<tile=(256x64), tensor_view<1024x64xf16, strides=[64,1]>>, tile<i32> -> tile<256x64xf16>, token
      %s1 = mmaf %x1, %y1, %z : tile<64x256xf16>, tile<256x64xf16>, tile<64x64xf32>
      %x2, %tx2 = load_view_tko weak %w1[%c0, %c2] : partition_view<tile=(64x256), tensor_view<64x1024xf16, strides=[1024,1]>>, tile<i32> -> tile<64x256xf16>, token
      %y2, %ty2 = load_view_tko weak %w2[%c2, %c0] : partition_view<tile=(256x64), tensor_view<1024x64xf16, strides=[64,1]>>, tile<i32> -> tile<256x64xf16>, token
      %s2 = mmaf %x2, %y2, %z : tile<64x256xf16>, tile<256x64xf16>, tile<64x64xf32>
      %x3, %tx3 = load_view_tko weak %w1[%c0, %c3] : partition_view<tile=(64x256), tensor_view<64x1024xf16, strides=[1024,1]>>, tile<i32> -> tile<64x256xf16>, token
      %y3, %ty3 = load_view_tko weak %w2[%c3, %c0] : partition_view<tile=(256x64), tensor_view<1024x64xf16, strides=[64,1]>>, tile<i32> -> tile<256x64xf16>, token
      %s3 = mmaf %x3, %y3, %z : tile<64x256xf16>, tile<256x64xf16>, tile<64x64xf32>
      %a3 = addf %c, %s3 : tile<64x64xf32>
      %a2 = addf %a3, %s2 : tile<64x64xf32>
      %a1 = addf %a2, %s1 : tile<64x64xf32>
      %a0 = addf %a1, %s0 : tile<64x64xf32>
      continue %a0 : tile<64x64xf32>
    }
    %u = store_view_tko weak %r, %w3[%c0, %c0] : tile<64x64xf32>, partition_view<tile=(64x64), tensor_view<64x64xf32, strides=[64,1]>>, tile<i32> -> token
    return
  }
}
