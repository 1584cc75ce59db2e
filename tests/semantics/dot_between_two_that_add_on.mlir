// Two dots of a loop add to one sum, and a third one between them adds constants to another. The last of the two is in
// flight at the end of an iteration, so that the stage of the first cannot be released after its result.
// grid: 1 1 1
// scalar: i32 4
// buffer: f16 1.0*1024
// buffer: f16 2.0*256
// buffer: f16 0.0*1024 -> 256.0*1024
cuda_tile.module @m {
  entry @dot_between_two_that_add_on(%n: tile<i32>, %p: tile<ptr<f16>>, %q: tile<ptr<f16>>, %o: tile<ptr<f16>>) {
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %none = constant <f32: 0.0> : tile<64x16xf32>
    %ta = make_tensor_view %p, shape = [64, 16], strides = [16, 1] : tensor_view<64x16xf16, strides=[16,1]>
    %va = make_partition_view %ta : partition_view<tile=(64x16), tensor_view<64x16xf16, strides=[16,1]>>
    %tb = make_tensor_view %q, shape = [16, 16], strides = [16, 1] : tensor_view<16x16xf16, strides=[16,1]>
    %vb = make_partition_view %tb : partition_view<tile=(16x16), tensor_view<16x16xf16, strides=[16,1]>>
    %to = make_tensor_view %o, shape = [64, 16], strides = [16, 1] : tensor_view<64x16xf16, strides=[16,1]>
    %vo = make_partition_view %to : partition_view<tile=(64x16), tensor_view<64x16xf16, strides=[16,1]>>
    %sums, %others = for %k in (%zero to %n, step %one) : tile<i32> iter_values(%sum = %none, %other = %none)
        -> (tile<64x16xf32>, tile<64x16xf32>) {
      %a, %t0 = load_view_tko weak %va[%zero, %zero] : partition_view<tile=(64x16), tensor_view<64x16xf16, strides=[16,1]>>, tile<i32> -> tile<64x16xf16>, token
      %b, %t1 = load_view_tko weak %vb[%zero, %zero] : partition_view<tile=(16x16), tensor_view<16x16xf16, strides=[16,1]>>, tile<i32> -> tile<16x16xf16>, token
      %first = mmaf %a, %b, %sum : tile<64x16xf16>, tile<16x16xf16>, tile<64x16xf32>
      %l = constant <f16: 0.0> : tile<64x16xf16>
      %r = constant <f16: 0.0> : tile<16x16xf16>
      %between = mmaf %l, %r, %other : tile<64x16xf16>, tile<16x16xf16>, tile<64x16xf32>
      %c, %t2 = load_view_tko weak %va[%zero, %zero] : partition_view<tile=(64x16), tensor_view<64x16xf16, strides=[16,1]>>, tile<i32> -> tile<64x16xf16>, token
      %d, %t3 = load_view_tko weak %vb[%zero, %zero] : partition_view<tile=(16x16), tensor_view<16x16xf16, strides=[16,1]>>, tile<i32> -> tile<16x16xf16>, token
      %last = mmaf %c, %d, %first : tile<64x16xf16>, tile<16x16xf16>, tile<64x16xf32>
      continue %last, %between : tile<64x16xf32>, tile<64x16xf32>
    }
    %h = ftof %sums : tile<64x16xf32> -> tile<64x16xf16>
    %t4 = store_view_tko weak %h, %vo[%zero, %zero] : tile<64x16xf16>, partition_view<tile=(64x16), tensor_view<64x16xf16, strides=[16,1]>>, tile<i32> -> token
    return
  }
}
