// A reduction takes the bytes of shared memory that a ring takes after it.
// grid: 1 1 1
// scalar: i32 4
// buffer: f32 3.0*4096
// buffer: f16 1.0*16384
// buffer: f32 -1.0*4096 -> 262.0*4096
cuda_tile.module @m {
  entry @ring_after_reduction(%n: tile<i32>, %x0: tile<ptr<f32>>, %a0: tile<ptr<f16>>, %r0: tile<ptr<f32>>) {
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %x1 = assume div_by<16>, %x0 : tile<ptr<f32>>
    %a1 = assume div_by<16>, %a0 : tile<ptr<f16>>
    %r1 = assume div_by<16>, %r0 : tile<ptr<f32>>
    %xt = make_tensor_view %x1, shape = [64, 64], strides = [64, 1] : tensor_view<64x64xf32, strides=[64,1]>
    %at = make_tensor_view %a1, shape = [64, 256], strides = [256, 1] : tensor_view<64x256xf16, strides=[256,1]>
    %bt = make_tensor_view %a1, shape = [256, 64], strides = [64, 1] : tensor_view<256x64xf16, strides=[64,1]>
    %rt = make_tensor_view %r1, shape = [64, 64], strides = [64, 1] : tensor_view<64x64xf32, strides=[64,1]>
    %xv = make_partition_view %xt : partition_view<tile=(64x64), tensor_view<64x64xf32, strides=[64,1]>>
    %av = make_partition_view %at : partition_view<tile=(64x64), tensor_view<64x256xf16, strides=[256,1]>>
    %bv = make_partition_view %bt : partition_view<tile=(64x64), tensor_view<256x64xf16, strides=[64,1]>>
    %rv = make_partition_view %rt : partition_view<tile=(64x64), tensor_view<64x64xf32, strides=[64,1]>>
    %x, %t0 = load_view_tko weak %xv[%zero, %zero] : partition_view<tile=(64x64), tensor_view<64x64xf32, strides=[64,1]>>, tile<i32> -> tile<64x64xf32>, token
    %most = reduce %x dim=1 identities=[0xFF800000 : f32] : tile<64x64xf32> -> tile<64xf32>
    (%p: tile<f32>, %q: tile<f32>) {
      %m = maxf %p, %q : tile<f32>
      yield %m : tile<f32>
    }
    %column = reshape %most : tile<64xf32> -> tile<64x1xf32>
    %all = broadcast %column : tile<64x1xf32> -> tile<64x64xf32>
    %first = addf %x, %all : tile<64x64xf32>
    %sum = for %k in (%zero to %n, step %one) : tile<i32> iter_values(%acc = %first) -> (tile<64x64xf32>) {
      %l, %t1 = load_view_tko weak %av[%zero, %k] : partition_view<tile=(64x64), tensor_view<64x256xf16, strides=[256,1]>>, tile<i32> -> tile<64x64xf16>, token
      %b, %t2 = load_view_tko weak %bv[%k, %zero] : partition_view<tile=(64x64), tensor_view<256x64xf16, strides=[64,1]>>, tile<i32> -> tile<64x64xf16>, token
      %d = mmaf %l, %b, %acc : tile<64x64xf16>, tile<64x64xf16>, tile<64x64xf32>
      continue %d : tile<64x64xf32>
    }
    %w = store_view_tko weak %sum, %rv[%zero, %zero] : tile<64x64xf32>, partition_view<tile=(64x64), tensor_view<64x64xf32, strides=[64,1]>>, tile<i32> -> token
    return
  }
}
