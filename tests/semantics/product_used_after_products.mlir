// A product whose sum is used after as many others as its ring has stages.
// grid: 1 1 1
// scalar: i32 3
// buffer: f16 1.0*65536
// buffer: f16 2.0*65536
// buffer: f32 -1.0*4096 -> 2048.0*4096
cuda_tile.module @m {
  entry @product_used_after_products(%n: tile<i32>, %a0: tile<ptr<f16>>, %b0: tile<ptr<f16>>, %r0: tile<ptr<f32>>) {
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
    %at = make_partition_view %av : partition_view<tile=(64x256), tensor_view<64x1024xf16, strides=[1024,1]>>
    %bt = make_partition_view %bv : partition_view<tile=(256x64), tensor_view<1024x64xf16, strides=[64,1]>>
    %l0, %s0 = load_view_tko weak %at[%zero, %n] : partition_view<tile=(64x256), tensor_view<64x1024xf16, strides=[1024,1]>>, tile<i32> -> tile<64x256xf16>, token
    %m0, %u0 = load_view_tko weak %bt[%n, %zero] : partition_view<tile=(256x64), tensor_view<1024x64xf16, strides=[64,1]>>, tile<i32> -> tile<256x64xf16>, token
    %d0 = mmaf %l0, %m0, %nothing : tile<64x256xf16>, tile<256x64xf16>, tile<64x64xf32>
    %c1 = constant <i32: 0> : tile<i32>
    %l1, %s1 = load_view_tko weak %at[%zero, %c1] : partition_view<tile=(64x256), tensor_view<64x1024xf16, strides=[1024,1]>>, tile<i32> -> tile<64x256xf16>, token
    %m1, %u1 = load_view_tko weak %bt[%c1, %zero] : partition_view<tile=(256x64), tensor_view<1024x64xf16, strides=[64,1]>>, tile<i32> -> tile<256x64xf16>, token
    %d1 = mmaf %l1, %m1, %nothing : tile<64x256xf16>, tile<256x64xf16>, tile<64x64xf32>
    %c2 = constant <i32: 1> : tile<i32>
    %l2, %s2 = load_view_tko weak %at[%zero, %c2] : partition_view<tile=(64x256), tensor_view<64x1024xf16, strides=[1024,1]>>, tile<i32> -> tile<64x256xf16>, token
    %m2, %u2 = load_view_tko weak %bt[%c2, %zero] : partition_view<tile=(256x64), tensor_view<1024x64xf16, strides=[64,1]>>, tile<i32> -> tile<256x64xf16>, token
    %d2 = mmaf %l2, %m2, %d1 : tile<64x256xf16>, tile<256x64xf16>, tile<64x64xf32>
    %c3 = constant <i32: 2> : tile<i32>
    %l3, %s3 = load_view_tko weak %at[%zero, %c3] : partition_view<tile=(64x256), tensor_view<64x1024xf16, strides=[1024,1]>>, tile<i32> -> tile<64x256xf16>, token
    %m3, %u3 = load_view_tko weak %bt[%c3, %zero] : partition_view<tile=(256x64), tensor_view<1024x64xf16, strides=[64,1]>>, tile<i32> -> tile<256x64xf16>, token
    %d3 = mmaf %l3, %m3, %d2 : tile<64x256xf16>, tile<256x64xf16>, tile<64x64xf32>
    %x = addf %d3, %nothing : tile<64x64xf32>
    %y = addf %x, %d0 : tile<64x64xf32>
    %w = store_view_tko weak %y, %rv[%zero, %zero] : tile<64x64xf32>, partition_view<tile=(64x64), tensor_view<64x64xf32, strides=[64,1]>>, tile<i32> -> token
    return
  }
}
