// A tile of conditions in a loop whose products warpgroups do: the producer does not meet the others there.
// grid: 1 1 1
// buffer: f16 1.0*131072
// buffer: f16 2.0*131072
// buffer: f32 -1.0*4096 -> 4096.0*4096
// scalar: i32 64
cuda_tile.module @m {
  entry @assert_beside_products(%a0: tile<ptr<f16>>, %b0: tile<ptr<f16>>, %r0: tile<ptr<f32>>, %n: tile<i32>) {
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %trips = constant <i32: 32> : tile<i32>
    %a = assume div_by<16>, %a0 : tile<ptr<f16>>
    %b = assume div_by<16>, %b0 : tile<ptr<f16>>
    %r = assume div_by<16>, %r0 : tile<ptr<f32>>
    %at = make_tensor_view %a, shape = [64, 2048], strides = [2048, 1] : tensor_view<64x2048xf16, strides=[2048,1]>
    %bt = make_tensor_view %b, shape = [2048, 64], strides = [64, 1] : tensor_view<2048x64xf16, strides=[64,1]>
    %rt = make_tensor_view %r, shape = [64, 64], strides = [64, 1] : tensor_view<64x64xf32, strides=[64,1]>
    %av = make_partition_view %at : partition_view<tile=(64x64), tensor_view<64x2048xf16, strides=[2048,1]>>
    %bv = make_partition_view %bt : partition_view<tile=(64x64), tensor_view<2048x64xf16, strides=[64,1]>>
    %rv = make_partition_view %rt : partition_view<tile=(64x64), tensor_view<64x64xf32, strides=[64,1]>>
    %none = constant <f32: 0.0> : tile<64x64xf32>
    %rows = iota : tile<64xi32>
    %sum = for %k in (%zero to %trips, step %one) : tile<i32> iter_values(%acc = %none) -> (tile<64x64xf32>) {
      %l, %t1 = load_view_tko weak %av[%zero, %k] : partition_view<tile=(64x64), tensor_view<64x2048xf16, strides=[2048,1]>>, tile<i32>, tile<i32> -> tile<64x64xf16>, token
      %m, %t2 = load_view_tko weak %bv[%k, %zero] : partition_view<tile=(64x64), tensor_view<2048x64xf16, strides=[64,1]>>, tile<i32>, tile<i32> -> tile<64x64xf16>, token
      %d = mmaf %l, %m, %acc : tile<64x64xf16>, tile<64x64xf16>, tile<64x64xf32>
      %nk = addi %n, %k : tile<i32>
      %n1 = reshape %nk : tile<i32> -> tile<1xi32>
      %most = broadcast %n1 : tile<1xi32> -> tile<64xi32>
      %less = cmpi less_than %rows, %most, signed : tile<64xi32> -> tile<64xi1>
      assert %less, "rows end" : tile<64xi1>
      continue %d : tile<64x64xf32>
    }
    %s = store_view_tko weak %sum, %rv[%zero, %zero] : tile<64x64xf32>, partition_view<tile=(64x64), tensor_view<64x64xf32, strides=[64,1]>>, tile<i32>, tile<i32> -> token
    return
  }
}
