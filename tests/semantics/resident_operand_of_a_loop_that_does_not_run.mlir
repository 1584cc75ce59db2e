// TMA loads the left operand before the loop, which has no iterations: no dot waits for the copy, which is still in
// flight when the result is stored.
// grid: 1 1 1
// scalar: i32 0
// buffer: f16 1.0*2048
// buffer: f16 2.0*256
// buffer: f16 1.0*2048
// buffer: f32 -1.0*16384 -> 0.0*16384
// scalar: i32 128
cuda_tile.module @m {
  entry @resident_operand_of_a_loop_that_does_not_run(%n: tile<i32>, %p: tile<ptr<f16>>, %q: tile<ptr<f16>>,
                                                      %r: tile<ptr<f16>>, %o: tile<ptr<f32>>,
                                                      %rows: tile<i32>) {
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %a = assume div_by<16>, %p : tile<ptr<f16>>
    %ta = make_tensor_view %a, shape = [128, 16], strides = [16, 1] : tensor_view<128x16xf16, strides=[16,1]>
    %va = make_partition_view %ta : partition_view<tile=(128x16), tensor_view<128x16xf16, strides=[16,1]>>
    %b = assume div_by<16>, %q : tile<ptr<f16>>
    %tb = make_tensor_view %b, shape = [16, 16], strides = [16, 1] : tensor_view<16x16xf16, strides=[16,1]>
    %vb = make_partition_view %tb : partition_view<tile=(16x16), tensor_view<16x16xf16, strides=[16,1]>>
    %c = assume div_by<16>, %r : tile<ptr<f16>>
    %tc = make_tensor_view %c, shape = [16, 128], strides = [128, 1] : tensor_view<16x128xf16, strides=[128,1]>
    %vc = make_partition_view %tc : partition_view<tile=(16x128), tensor_view<16x128xf16, strides=[128,1]>>
    %to = make_tensor_view %o, shape = [%rows, 128], strides = [128, 1] : tile<i32> -> tensor_view<?x128xf32, strides=[128,1]>
    %vo = make_partition_view %to : partition_view<tile=(128x128), tensor_view<?x128xf32, strides=[128,1]>>
    %s0 = constant <f32: 0.0> : tile<128x16xf32>
    %o0 = constant <f32: 0.0> : tile<128x128xf32>
    %x, %k0 = load_view_tko weak %va[%zero, %zero] : partition_view<tile=(128x16), tensor_view<128x16xf16, strides=[16,1]>>, tile<i32> -> tile<128x16xf16>, token
    %sum = for %k in (%zero to %n, step %one) : tile<i32> iter_values(%acc = %o0) -> (tile<128x128xf32>) {
      %y, %k1 = load_view_tko weak %vb[%k, %zero] : partition_view<tile=(16x16), tensor_view<16x16xf16, strides=[16,1]>>, tile<i32> -> tile<16x16xf16>, token
      %s = mmaf %x, %y, %s0 : tile<128x16xf16>, tile<16x16xf16>, tile<128x16xf32>
      %w = ftof %s : tile<128x16xf32> -> tile<128x16xf16>
      %z, %k2 = load_view_tko weak %vc[%k, %zero] : partition_view<tile=(16x128), tensor_view<16x128xf16, strides=[128,1]>>, tile<i32> -> tile<16x128xf16>, token
      %next = mmaf %w, %z, %o0 : tile<128x16xf16>, tile<16x128xf16>, tile<128x128xf32>
      continue %next : tile<128x128xf32>
    }
    %st = store_view_tko weak %sum, %vo[%zero, %zero] : tile<128x128xf32>, partition_view<tile=(128x128), tensor_view<?x128xf32, strides=[128,1]>>, tile<i32> -> token
    return
  }
}
