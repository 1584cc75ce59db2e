// A product whose operand no copy brings, in a branch that a relaxed load decides: two agents cannot both load it.
// grid: 1 1 1
// buffer: bf16 0x0000*4
// buffer: i64 0
// buffer: f16 0x0000*6688
cuda_tile.module @fuzz {
  entry @kernel(%v10: tile<ptr<bf16>>, %v23: tile<ptr<i64>>, %v74: tile<ptr<f16>>) {
    %v0 = constant <i32: 0> : tile<i32>
    %v13 = constant <i32: 0> : tile<i32>
    %v14 = make_tensor_view %v10, shape = [131, 128], strides = [%v13, 1] : tile<i32> -> tensor_view<131x128xbf16, strides=[?,1]>
    %v21 = constant <i32: 0> : tile<i32>
    %v22 = constant <f32: 0x00000000> : tile<64x64xf32>
    %v28, %v29 = load_ptr_tko relaxed sys %v23 : tile<ptr<i64>> -> tile<i64>, token
    %v30 = constant <i64: 6> : tile<i64>
    %v31 = cmpi equal %v28, %v30, signed : tile<i64> -> tile<i1>
    %v73 = if %v31 -> (tile<64x64xf32>) {
      %v32 = constant <i32: 0> : tile<i32>
      %v36 = make_partition_view %v14 : partition_view<tile=(64x64), padding_value = zero, tensor_view<131x128xbf16, strides=[?,1]>>
      %v37, %v38 = load_view_tko weak %v36[%v0, %v32] : partition_view<tile=(64x64), padding_value = zero, tensor_view<131x128xbf16, strides=[?,1]>>, tile<i32>, tile<i32> -> tile<64x64xbf16>, token
      %v49 = constant <bf16: 0x0000> : tile<64x64xbf16>
      %v50 = mmaf %v37, %v49, %v22 : tile<64x64xbf16>, tile<64x64xbf16>, tile<64x64xf32>
      yield %v50 : tile<64x64xf32>
    } else {
      yield %v22 : tile<64x64xf32>
    }
    %v76 = make_tensor_view %v74, shape = [209, 64], strides = [64, 1] : tensor_view<209x64xf16, strides=[64,1]>
    %v77 = make_partition_view %v76 : partition_view<tile=(64x64), tensor_view<209x64xf16, strides=[64,1]>>
    %v78 = ftof %v73 : tile<64x64xf32> -> tile<64x64xf16>
    %v79 = store_view_tko weak %v78, %v77[%v0, %v21] : tile<64x64xf16>, partition_view<tile=(64x64), tensor_view<209x64xf16, strides=[64,1]>>, tile<i32>, tile<i32> -> token
    return
  }
}
