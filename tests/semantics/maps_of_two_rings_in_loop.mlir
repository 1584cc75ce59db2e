// Views that a loop makes, for products of two shapes in a loop inside of it: each shape has a ring, and maps of both
// stand in front of one loop.
// grid: 1 1 1
// scalar: i32 3
// buffer: f16 1.0*32768
// buffer: f16 2.0*32768
// buffer: f32 -1.0*8192 -> 768.0*8192
// buffer: f32 -1.0*4096 -> 384.0*4096
cuda_tile.module @m {
  entry @maps_of_two_rings_in_loop(%n: tile<i32>, %a0: tile<ptr<f16>>, %b0: tile<ptr<f16>>, %r0: tile<ptr<f32>>, %s0: tile<ptr<f32>>) {
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %two = constant <i32: 2> : tile<i32>
    %rows = constant <i32: 64> : tile<i32>
    %columns = constant <i32: 256> : tile<i32>
    %each = constant <i32: 16384> : tile<i32>
    %nothing = constant <f32: 0.0> : tile<64x64xf32>
    %nothing2 = constant <f32: 0.0> : tile<64x32xf32>
    %r1 = assume div_by<16>, %r0 : tile<ptr<f32>>
    %s1 = assume div_by<16>, %s0 : tile<ptr<f32>>
    %rt = make_tensor_view %r1, shape = [128, 64], strides = [64, 1] : tensor_view<128x64xf32, strides=[64,1]>
    %st = make_tensor_view %s1, shape = [128, 32], strides = [32, 1] : tensor_view<128x32xf32, strides=[32,1]>
    %rv = make_partition_view %rt : partition_view<tile=(64x64), tensor_view<128x64xf32, strides=[64,1]>>
    %sv = make_partition_view %st : partition_view<tile=(64x32), tensor_view<128x32xf32, strides=[32,1]>>
    for %g in (%zero to %two, step %one) : tile<i32> {
      %at = muli %g, %each : tile<i32>
      %ap = offset %a0, %at : tile<ptr<f16>>, tile<i32> -> tile<ptr<f16>>
      %bp = offset %b0, %at : tile<ptr<f16>>, tile<i32> -> tile<ptr<f16>>
      %aa = assume div_by<16>, %ap : tile<ptr<f16>>
      %ba = assume div_by<16>, %bp : tile<ptr<f16>>
      %av = make_tensor_view %aa, shape = [64, 256], strides = [256, 1] : tensor_view<64x256xf16, strides=[256,1]>
      %bv = make_tensor_view %ba, shape = [256, 64], strides = [64, 1] : tensor_view<256x64xf16, strides=[64,1]>
      %at1 = make_partition_view %av : partition_view<tile=(64x64), tensor_view<64x256xf16, strides=[256,1]>>
      %bt1 = make_partition_view %bv : partition_view<tile=(64x64), tensor_view<256x64xf16, strides=[64,1]>>
      %at2 = make_partition_view %av : partition_view<tile=(64x32), tensor_view<64x256xf16, strides=[256,1]>>
      %bt2 = make_partition_view %bv : partition_view<tile=(32x32), tensor_view<256x64xf16, strides=[64,1]>>
      %x:2 = for %k in (%zero to %n, step %one) : tile<i32> iter_values(%p = %nothing, %q = %nothing2) -> (tile<64x64xf32>, tile<64x32xf32>) {
        %l1, %t1 = load_view_tko weak %at1[%zero, %k] : partition_view<tile=(64x64), tensor_view<64x256xf16, strides=[256,1]>>, tile<i32> -> tile<64x64xf16>, token
        %m1, %t2 = load_view_tko weak %bt1[%k, %zero] : partition_view<tile=(64x64), tensor_view<256x64xf16, strides=[64,1]>>, tile<i32> -> tile<64x64xf16>, token
        %l2, %t3 = load_view_tko weak %at2[%zero, %k] : partition_view<tile=(64x32), tensor_view<64x256xf16, strides=[256,1]>>, tile<i32> -> tile<64x32xf16>, token
        %m2, %t4 = load_view_tko weak %bt2[%k, %zero] : partition_view<tile=(32x32), tensor_view<256x64xf16, strides=[64,1]>>, tile<i32> -> tile<32x32xf16>, token
        %d1 = mmaf %l1, %m1, %p : tile<64x64xf16>, tile<64x64xf16>, tile<64x64xf32>
        %d2 = mmaf %l2, %m2, %q : tile<64x32xf16>, tile<32x32xf16>, tile<64x32xf32>
        continue %d1, %d2 : tile<64x64xf32>, tile<64x32xf32>
      }
      %e1 = constant <f32: 2.0> : tile<64x64xf32>
      %e2 = constant <f32: 2.0> : tile<64x32xf32>
      %y1 = mulf %x#0, %e1 : tile<64x64xf32>
      %y2 = mulf %x#1, %e2 : tile<64x32xf32>
      %w1 = store_view_tko weak %y1, %rv[%g, %zero] : tile<64x64xf32>, partition_view<tile=(64x64), tensor_view<128x64xf32, strides=[64,1]>>, tile<i32> -> token
      %w2 = store_view_tko weak %y2, %sv[%g, %zero] : tile<64x32xf32>, partition_view<tile=(64x32), tensor_view<128x32xf32, strides=[32,1]>>, tile<i32> -> token
    }
    return
  }
}
