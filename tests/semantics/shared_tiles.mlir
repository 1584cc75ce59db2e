// Products that share tiles: three in a loop, of which the first two multiply one left tile and the last two one right
// tile, each by sums of its own, and a product of a tile with itself.
// grid: 1 1 1
// buffer: bf16 1.0*8192
// buffer: bf16 2.0*8192
// buffer: bf16 -0.5*8192
// buffer: bf16 3.0*8192
// buffer: f32 -1.0*4096 -> 256.0*4096
// buffer: f32 -1.0*4096 -> -64.0*4096
// buffer: f32 -1.0*4096 -> -192.0*4096
// buffer: f32 -1.0*4096 -> 128.0*4096
cuda_tile.module @m {
  entry @shared_tiles(%a0: tile<ptr<bf16>>, %b0: tile<ptr<bf16>>, %c0: tile<ptr<bf16>>, %d0: tile<ptr<bf16>>, %r00: tile<ptr<f32>>, %r10: tile<ptr<f32>>, %r20: tile<ptr<f32>>, %r30: tile<ptr<f32>>) {
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %two = constant <i32: 2> : tile<i32>
    %a = assume div_by<16>, %a0 : tile<ptr<bf16>>
    %at = make_tensor_view %a, shape = [64, 128], strides = [128, 1] : tensor_view<64x128xbf16, strides=[128,1]>
    %av = make_partition_view %at : partition_view<tile=(64x64), tensor_view<64x128xbf16, strides=[128,1]>>
    %b = assume div_by<16>, %b0 : tile<ptr<bf16>>
    %bt = make_tensor_view %b, shape = [128, 64], strides = [64, 1] : tensor_view<128x64xbf16, strides=[64,1]>
    %bv = make_partition_view %bt : partition_view<tile=(64x64), tensor_view<128x64xbf16, strides=[64,1]>>
    %c = assume div_by<16>, %c0 : tile<ptr<bf16>>
    %ct = make_tensor_view %c, shape = [64, 128], strides = [128, 1] : tensor_view<64x128xbf16, strides=[128,1]>
    %cv = make_partition_view %ct : partition_view<tile=(64x64), tensor_view<64x128xbf16, strides=[128,1]>>
    %d = assume div_by<16>, %d0 : tile<ptr<bf16>>
    %dt = make_tensor_view %d, shape = [64, 128], strides = [128, 1] : tensor_view<64x128xbf16, strides=[128,1]>
    %dv = make_partition_view %dt : partition_view<tile=(64x64), tensor_view<64x128xbf16, strides=[128,1]>>
    %r0 = assume div_by<16>, %r00 : tile<ptr<f32>>
    %r0t = make_tensor_view %r0, shape = [64, 64], strides = [64, 1] : tensor_view<64x64xf32, strides=[64,1]>
    %r0v = make_partition_view %r0t : partition_view<tile=(64x64), tensor_view<64x64xf32, strides=[64,1]>>
    %r1 = assume div_by<16>, %r10 : tile<ptr<f32>>
    %r1t = make_tensor_view %r1, shape = [64, 64], strides = [64, 1] : tensor_view<64x64xf32, strides=[64,1]>
    %r1v = make_partition_view %r1t : partition_view<tile=(64x64), tensor_view<64x64xf32, strides=[64,1]>>
    %r2 = assume div_by<16>, %r20 : tile<ptr<f32>>
    %r2t = make_tensor_view %r2, shape = [64, 64], strides = [64, 1] : tensor_view<64x64xf32, strides=[64,1]>
    %r2v = make_partition_view %r2t : partition_view<tile=(64x64), tensor_view<64x64xf32, strides=[64,1]>>
    %r3 = assume div_by<16>, %r30 : tile<ptr<f32>>
    %r3t = make_tensor_view %r3, shape = [64, 64], strides = [64, 1] : tensor_view<64x64xf32, strides=[64,1]>
    %r3v = make_partition_view %r3t : partition_view<tile=(64x64), tensor_view<64x64xf32, strides=[64,1]>>
    %none = constant <f32: 0.0> : tile<64x64xf32>
    %s:3 = for %k in (%zero to %two, step %one) : tile<i32> iter_values(%s0 = %none, %s1 = %none, %s2 = %none) -> (tile<64x64xf32>, tile<64x64xf32>, tile<64x64xf32>) {
      %l, %tl = load_view_tko weak %av[%zero, %k] : partition_view<tile=(64x64), tensor_view<64x128xbf16, strides=[128,1]>>, tile<i32>, tile<i32> -> tile<64x64xbf16>, token
      %r, %tr = load_view_tko weak %bv[%k, %zero] : partition_view<tile=(64x64), tensor_view<128x64xbf16, strides=[64,1]>>, tile<i32>, tile<i32> -> tile<64x64xbf16>, token
      %p0 = mmaf %l, %r, %s0 : tile<64x64xbf16>, tile<64x64xbf16>, tile<64x64xf32>
      %cc, %tcc = load_view_tko weak %cv[%zero, %k] : partition_view<tile=(64x64), tensor_view<64x128xbf16, strides=[128,1]>>, tile<i32>, tile<i32> -> tile<64x64xbf16>, token
      %q = permute %cc [1, 0] : tile<64x64xbf16> -> tile<64x64xbf16>
      %p1 = mmaf %l, %q, %s1 : tile<64x64xbf16>, tile<64x64xbf16>, tile<64x64xf32>
      %m, %tm = load_view_tko weak %dv[%zero, %k] : partition_view<tile=(64x64), tensor_view<64x128xbf16, strides=[128,1]>>, tile<i32>, tile<i32> -> tile<64x64xbf16>, token
      %p2 = mmaf %m, %q, %s2 : tile<64x64xbf16>, tile<64x64xbf16>, tile<64x64xf32>
      continue %p0, %p1, %p2 : tile<64x64xf32>, tile<64x64xf32>, tile<64x64xf32>
    }
    %g = for %k in (%zero to %two, step %one) : tile<i32> iter_values(%s3 = %none) -> (tile<64x64xf32>) {
      %x, %tx = load_view_tko weak %av[%zero, %k] : partition_view<tile=(64x64), tensor_view<64x128xbf16, strides=[128,1]>>, tile<i32>, tile<i32> -> tile<64x64xbf16>, token
      %y = permute %x [1, 0] : tile<64x64xbf16> -> tile<64x64xbf16>
      %p3 = mmaf %x, %y, %s3 : tile<64x64xbf16>, tile<64x64xbf16>, tile<64x64xf32>
      continue %p3 : tile<64x64xf32>
    }
    %u0 = store_view_tko weak %s#0, %r0v[%zero, %zero] : tile<64x64xf32>, partition_view<tile=(64x64), tensor_view<64x64xf32, strides=[64,1]>>, tile<i32>, tile<i32> -> token
    %u1 = store_view_tko weak %s#1, %r1v[%zero, %zero] : tile<64x64xf32>, partition_view<tile=(64x64), tensor_view<64x64xf32, strides=[64,1]>>, tile<i32>, tile<i32> -> token
    %u2 = store_view_tko weak %s#2, %r2v[%zero, %zero] : tile<64x64xf32>, partition_view<tile=(64x64), tensor_view<64x64xf32, strides=[64,1]>>, tile<i32>, tile<i32> -> token
    %u3 = store_view_tko weak %g, %r3v[%zero, %zero] : tile<64x64xf32>, partition_view<tile=(64x64), tensor_view<64x64xf32, strides=[64,1]>>, tile<i32>, tile<i32> -> token
    return
  }
}
