// C = A * B for row-major matrices of f16, with 128x128 tiles of C. The pages docs/dialects/*/RATIONALE.md show it at
// each level.
cuda_tile.module @product {
  entry @multiply(%a: tile<ptr<f16>>, %b: tile<ptr<f16>>, %c: tile<ptr<f16>>) {
    %pa = assume div_by<16>, %a : tile<ptr<f16>>
    %pb = assume div_by<16>, %b : tile<ptr<f16>>
    %pc = assume div_by<16>, %c : tile<ptr<f16>>
    %ma = make_tensor_view %pa, shape = [1024, 512], strides = [512, 1] : tensor_view<1024x512xf16, strides=[512,1]>
    %mb = make_tensor_view %pb, shape = [512, 1024], strides = [1024, 1] : tensor_view<512x1024xf16, strides=[1024,1]>
    %mc = make_tensor_view %pc, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xf16, strides=[1024,1]>
    %ta = make_partition_view %ma : partition_view<tile=(128x64), tensor_view<1024x512xf16, strides=[512,1]>>
    %tb = make_partition_view %mb : partition_view<tile=(64x128), tensor_view<512x1024xf16, strides=[1024,1]>>
    %tc = make_partition_view %mc : partition_view<tile=(128x128), tensor_view<1024x1024xf16, strides=[1024,1]>>
    %i, %j, %z = get_tile_block_id : tile<i32>
    %first = constant <i32: 0> : tile<i32>
    %count = constant <i32: 8> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %zero = constant <f32: 0.0> : tile<128x128xf32>
    %total = for %k in (%first to %count, step %one) : tile<i32> iter_values(%sum = %zero) -> (tile<128x128xf32>) {
      %x, %xr = load_view_tko weak %ta[%i, %k] : partition_view<tile=(128x64), tensor_view<1024x512xf16, strides=[512,1]>>, tile<i32> -> tile<128x64xf16>, token
      %y, %yr = load_view_tko weak %tb[%k, %j] : partition_view<tile=(64x128), tensor_view<512x1024xf16, strides=[1024,1]>>, tile<i32> -> tile<64x128xf16>, token
      %more = mmaf %x, %y, %sum : tile<128x64xf16>, tile<64x128xf16>, tile<128x128xf32>
      continue %more : tile<128x128xf32>
    }
    %rounded = ftof %total : tile<128x128xf32> -> tile<128x128xf16>
    %done = store_view_tko weak %rounded, %tc[%i, %j] : tile<128x128xf16>, partition_view<tile=(128x128), tensor_view<1024x1024xf16, strides=[1024,1]>>, tile<i32> -> token
    return
  }
}
