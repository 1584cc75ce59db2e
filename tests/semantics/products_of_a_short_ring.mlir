// Three products that take turns with one ring of three stages, two of them in flight when an iteration ends.
// grid: 1 1 1
// buffer: f16 0x0000*8192
// buffer: f16 1.0*4096 -> 0.0*4096
cuda_tile.module @fuzz {
  entry @products_of_a_short_ring(%v12: tile<ptr<f16>>, %v87: tile<ptr<f16>>) {
    %v10 = constant <f32: 0x00000000> : tile<64x64xf32>
    %v14 = make_tensor_view %v12, shape = [128, 64], strides = [64, 1] : tensor_view<128x64xf16, strides=[64,1]>
    %v17 = constant <f16: 0x0000> : tile<64x64xf16>
    %v21 = constant <f16: 0x0000> : tile<64x64xf16>
    %v23 = mmaf %v17, %v21, %v10 : tile<64x64xf16>, tile<64x64xf16>, tile<64x64xf32>
    %v24 = constant <f32: 0x00000000> : tile<64x64xf32>
    %v25 = constant <i32: 1> : tile<i32>
    %v26 = constant <i32: 2> : tile<i32>
    %v27 = constant <i32: 0> : tile<i32>
    %v32 = make_partition_view %v14 : partition_view<tile=(64x64), padding_value = zero, tensor_view<128x64xf16, strides=[64,1]>>
    %v54 = make_partition_view %v14 : partition_view<tile=(64x64), padding_value = zero, tensor_view<128x64xf16, strides=[64,1]>>
    %v72, %v73 = for %v28 in (%v27 to %v26, step %v25) : tile<i32> iter_values(%v29 = %v23, %v30 = %v24) -> (tile<64x64xf32>, tile<64x64xf32>) {
      %v33 = constant <i32: 0> : tile<i32>
      %v34, %v35 = load_view_tko weak %v32[%v28, %v33] : partition_view<tile=(64x64), padding_value = zero, tensor_view<128x64xf16, strides=[64,1]>>, tile<i32>, tile<i32> -> tile<64x64xf16>, token
      %v43 = constant <f16: 0x0000> : tile<64x64xf16>
      %v45 = mmaf %v34, %v43, %v30 : tile<64x64xf16>, tile<64x64xf16>, tile<64x64xf32>
      %v49 = constant <f16: 0x0001> : tile<64x64xf16>
      %v51 = mmaf %v34, %v49, %v29 : tile<64x64xf16>, tile<64x64xf16>, tile<64x64xf32>
      %v53 = constant <f16: 0x0000> : tile<64x64xf16>
      %v55 = constant <i32: 0> : tile<i32>
      %v56, %v57 = load_view_tko weak %v54[%v28, %v55] : partition_view<tile=(64x64), padding_value = zero, tensor_view<128x64xf16, strides=[64,1]>>, tile<i32>, tile<i32> -> tile<64x64xf16>, token
      %v58 = mmaf %v53, %v56, %v51 : tile<64x64xf16>, tile<64x64xf16>, tile<64x64xf32>
      continue %v58, %v45 : tile<64x64xf32>, tile<64x64xf32>
    }
    %v86 = ftof %v72 : tile<64x64xf32> -> tile<64x64xf16>
    %v101 = make_tensor_view %v87, shape = [64, 64], strides = [64, 1] : tensor_view<64x64xf16, strides=[64,1]>
    %v102 = make_partition_view %v101 : partition_view<tile=(64x64), tensor_view<64x64xf16, strides=[64,1]>>
    %v108 = store_view_tko weak %v86, %v102[%v27, %v27] : tile<64x64xf16>, partition_view<tile=(64x64), tensor_view<64x64xf16, strides=[64,1]>>, tile<i32> -> token
    return
  }
}
