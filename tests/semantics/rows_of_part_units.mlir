// Rows that end within 16 bytes: tensor copies write such units whole, so threads have to store. Of the last two results
// it is known only when the program runs; rows of one of them are whole units.
// grid: 1 1 1
// buffer: bf16 1.0*4096
// buffer: bf16 1.0*4096
// buffer: bf16 -8.0*4096 -> 64.0*62 -8.0*2 64.0*62 -8.0*2 64.0*62 -8.0*2 64.0*62 -8.0*2 64.0*62 -8.0*2 64.0*62 -8.0*2 64.0*62 -8.0*2 64.0*62 -8.0*2 64.0*62 -8.0*2 64.0*62 -8.0*2 64.0*62 -8.0*2 64.0*62 -8.0*2 64.0*62 -8.0*2 64.0*62 -8.0*2 64.0*62 -8.0*2 64.0*62 -8.0*2 64.0*62 -8.0*2 64.0*62 -8.0*2 64.0*62 -8.0*2 64.0*62 -8.0*2 64.0*62 -8.0*2 64.0*62 -8.0*2 64.0*62 -8.0*2 64.0*62 -8.0*2 64.0*62 -8.0*2 64.0*62 -8.0*2 64.0*62 -8.0*2 64.0*62 -8.0*2 64.0*62 -8.0*2 64.0*62 -8.0*2 64.0*62 -8.0*2 64.0*62 -8.0*2 64.0*62 -8.0*2 64.0*62 -8.0*2 64.0*62 -8.0*2 64.0*62 -8.0*2 64.0*62 -8.0*2 64.0*62 -8.0*2 64.0*62 -8.0*2 64.0*62 -8.0*2 64.0*62 -8.0*2 64.0*62 -8.0*2 64.0*62 -8.0*2 64.0*62 -8.0*2 64.0*62 -8.0*2 64.0*62 -8.0*2 64.0*62 -8.0*2 64.0*62 -8.0*2 64.0*62 -8.0*2 64.0*62 -8.0*2 -8.0*896
// buffer: bf16 -8.0*4096 -> 64.0*56 -8.0*8 64.0*56 -8.0*8 64.0*56 -8.0*8 64.0*56 -8.0*8 64.0*56 -8.0*8 64.0*56 -8.0*8 64.0*56 -8.0*8 64.0*56 -8.0*8 64.0*56 -8.0*8 64.0*56 -8.0*8 64.0*56 -8.0*8 64.0*56 -8.0*8 64.0*56 -8.0*8 64.0*56 -8.0*8 64.0*56 -8.0*8 64.0*56 -8.0*8 64.0*56 -8.0*8 64.0*56 -8.0*8 64.0*56 -8.0*8 64.0*56 -8.0*8 64.0*56 -8.0*8 64.0*56 -8.0*8 64.0*56 -8.0*8 64.0*56 -8.0*8 64.0*56 -8.0*8 64.0*56 -8.0*8 64.0*56 -8.0*8 64.0*56 -8.0*8 64.0*56 -8.0*8 64.0*56 -8.0*8 64.0*56 -8.0*8 64.0*56 -8.0*8 64.0*56 -8.0*8 64.0*56 -8.0*8 64.0*56 -8.0*8 64.0*56 -8.0*8 64.0*56 -8.0*8 64.0*56 -8.0*8 64.0*56 -8.0*8 64.0*56 -8.0*8 64.0*56 -8.0*8 64.0*56 -8.0*8 64.0*56 -8.0*8 64.0*56 -8.0*8 64.0*56 -8.0*8 64.0*56 -8.0*8 64.0*56 -8.0*8 64.0*56 -8.0*8 64.0*56 -8.0*8 64.0*56 -8.0*8 -8.0*896
// scalar: i32 56
// buffer: bf16 -8.0*4096 -> 64.0*61 -8.0*3 64.0*61 -8.0*3 64.0*61 -8.0*3 64.0*61 -8.0*3 64.0*61 -8.0*3 64.0*61 -8.0*3 64.0*61 -8.0*3 64.0*61 -8.0*3 64.0*61 -8.0*3 64.0*61 -8.0*3 64.0*61 -8.0*3 64.0*61 -8.0*3 64.0*61 -8.0*3 64.0*61 -8.0*3 64.0*61 -8.0*3 64.0*61 -8.0*3 64.0*61 -8.0*3 64.0*61 -8.0*3 64.0*61 -8.0*3 64.0*61 -8.0*3 64.0*61 -8.0*3 64.0*61 -8.0*3 64.0*61 -8.0*3 64.0*61 -8.0*3 64.0*61 -8.0*3 64.0*61 -8.0*3 64.0*61 -8.0*3 64.0*61 -8.0*3 64.0*61 -8.0*3 64.0*61 -8.0*3 64.0*61 -8.0*3 64.0*61 -8.0*3 64.0*61 -8.0*3 64.0*61 -8.0*3 64.0*61 -8.0*3 64.0*61 -8.0*3 64.0*61 -8.0*3 64.0*61 -8.0*3 64.0*61 -8.0*3 64.0*61 -8.0*3 64.0*61 -8.0*3 64.0*61 -8.0*3 64.0*61 -8.0*3 64.0*61 -8.0*3 64.0*61 -8.0*3 64.0*61 -8.0*3 64.0*61 -8.0*3 64.0*61 -8.0*3 64.0*61 -8.0*3 64.0*61 -8.0*3 -8.0*896
// scalar: i32 61
cuda_tile.module @m {
  entry @rows_of_part_units(%a0: tile<ptr<bf16>>, %b0: tile<ptr<bf16>>, %x0: tile<ptr<bf16>>, %y0: tile<ptr<bf16>>, %n: tile<i32>, %z0: tile<ptr<bf16>>, %m: tile<i32>) {
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %a = assume div_by<16>, %a0 : tile<ptr<bf16>>
    %b = assume div_by<16>, %b0 : tile<ptr<bf16>>
    %x = assume div_by<16>, %x0 : tile<ptr<bf16>>
    %y = assume div_by<16>, %y0 : tile<ptr<bf16>>
    %z = assume div_by<16>, %z0 : tile<ptr<bf16>>
    %at = make_tensor_view %a, shape = [64, 64], strides = [64, 1] : tensor_view<64x64xbf16, strides=[64,1]>
    %bt = make_tensor_view %b, shape = [64, 64], strides = [64, 1] : tensor_view<64x64xbf16, strides=[64,1]>
    %xt = make_tensor_view %x, shape = [50, 62], strides = [64, 1] : tensor_view<50x62xbf16, strides=[64,1]>
    %yt = make_tensor_view %y, shape = [50, %n], strides = [64, 1] : tile<i32> -> tensor_view<50x?xbf16, strides=[64,1]>
    %zt = make_tensor_view %z, shape = [50, %m], strides = [64, 1] : tile<i32> -> tensor_view<50x?xbf16, strides=[64,1]>
    %av = make_partition_view %at : partition_view<tile=(64x64), tensor_view<64x64xbf16, strides=[64,1]>>
    %bv = make_partition_view %bt : partition_view<tile=(64x64), tensor_view<64x64xbf16, strides=[64,1]>>
    %xv = make_partition_view %xt : partition_view<tile=(64x64), tensor_view<50x62xbf16, strides=[64,1]>>
    %yv = make_partition_view %yt : partition_view<tile=(64x64), tensor_view<50x?xbf16, strides=[64,1]>>
    %zv = make_partition_view %zt : partition_view<tile=(64x64), tensor_view<50x?xbf16, strides=[64,1]>>
    %none = constant <f32: 0.0> : tile<64x64xf32>
    %sum = for %k in (%zero to %one, step %one) : tile<i32> iter_values(%acc = %none) -> (tile<64x64xf32>) {
      %l, %t1 = load_view_tko weak %av[%zero, %k] : partition_view<tile=(64x64), tensor_view<64x64xbf16, strides=[64,1]>>, tile<i32>, tile<i32> -> tile<64x64xbf16>, token
      %r, %t2 = load_view_tko weak %bv[%k, %zero] : partition_view<tile=(64x64), tensor_view<64x64xbf16, strides=[64,1]>>, tile<i32>, tile<i32> -> tile<64x64xbf16>, token
      %d = mmaf %l, %r, %acc : tile<64x64xbf16>, tile<64x64xbf16>, tile<64x64xf32>
      continue %d : tile<64x64xf32>
    }
    %v = ftof %sum : tile<64x64xf32> -> tile<64x64xbf16>
    %s1 = store_view_tko weak %v, %xv[%zero, %zero] : tile<64x64xbf16>, partition_view<tile=(64x64), tensor_view<50x62xbf16, strides=[64,1]>>, tile<i32>, tile<i32> -> token
    %s2 = store_view_tko weak %v, %yv[%zero, %zero] : tile<64x64xbf16>, partition_view<tile=(64x64), tensor_view<50x?xbf16, strides=[64,1]>>, tile<i32>, tile<i32> -> token
    %s3 = store_view_tko weak %v, %zv[%zero, %zero] : tile<64x64xbf16>, partition_view<tile=(64x64), tensor_view<50x?xbf16, strides=[64,1]>>, tile<i32>, tile<i32> -> token
    return
  }
}
