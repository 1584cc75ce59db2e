// A product whose left operand a loop carries in registers: these are written when the iteration ends.
// grid: 1 1 1
// buffer: f16 0x0000*2048
// scalar: i32 3
// scalar: i32 0
// buffer: f16 0x0000*128
// buffer: bf16 1.0*1024 -> 0.0*1024
cuda_tile.module @fuzz {
  entry @carried_left_operand(%v37: tile<ptr<f16>>, %v55: tile<i32>, %v62: tile<i32>, %v77: tile<ptr<f16>>, %v117: tile<ptr<bf16>>) {
    %v9 = constant <i32: 0> : tile<i32>
    %v10 = constant <f32: 0x00000000> : tile<64x16xf32>
    %v23 = make_token : token
    %v26 = constant <f16: 0x0000> : tile<64x64xf16>
    %v31 = constant <f16: 0x0000> : tile<64x16xf16>
    %v33 = mmaf %v26, %v31, %v10 : tile<64x64xf16>, tile<64x16xf16>, tile<64x16xf32>
    %v38 = assume div_by<16>, %v37 : tile<ptr<f16>>
    %v53 = constant <f32: 0x00000000> : tile<64x16xf32>
    %v54 = constant <i32: 1> : tile<i32>
    %v56 = constant <i32: 0> : tile<i32>
    %v80 = constant <i32: 0> : tile<i32>
    %v81 = make_tensor_view %v77, shape = [16, 256], strides = [%v80, 1] : tile<i32> -> tensor_view<16x256xf16, strides=[?,1]>
    %v82 = make_partition_view %v81 : partition_view<tile=(64x16), padding_value = zero, tensor_view<16x256xf16, strides=[?,1]>, dim_map=[1, 0]>
    %v89 = constant <i32: 0> : tile<i32>
    %v90 = make_tensor_view %v38, shape = [2, 16, 64], strides = [1024, %v89, 1] : tile<i32> -> tensor_view<2x16x64xf16, strides=[1024,?,1]>
    %v101 = make_partition_view %v90 : partition_view<tile=(1x16x16), padding_value = zero, tensor_view<2x16x64xf16, strides=[1024,?,1]>>
    %v112, %v113, %v114 = for %v57 in (%v56 to %v55, step %v54) : tile<i32> iter_values(%v58 = %v33, %v59 = %v53, %v60 = %v23) -> (tile<64x16xf32>, tile<64x16xf32>, token) {
      %v61 = constant <i32: 1> : tile<i32>
      %v63 = constant <i32: 0> : tile<i32>
      %v72, %v73, %v74 = for %v64 in (%v63 to %v62, step %v61) : tile<i32> iter_values(%v65 = %v58, %v66 = %v59, %v67 = %v60) -> (tile<64x16xf32>, tile<64x16xf32>, token) {
        continue %v65, %v66, %v67 : tile<64x16xf32>, tile<64x16xf32>, token
      }
      %v76 = constant <f32: 0x00000000> : tile<64x16xf32>
      %v83 = constant <i32: 1> : tile<i32>
      %v85 = constant <i32: 0> : tile<i32>
      %v86, %v87 = load_view_tko weak %v82[%v83, %v85] : partition_view<tile=(64x16), padding_value = zero, tensor_view<16x256xf16, strides=[?,1]>, dim_map=[1, 0]>, tile<i32>, tile<i32> -> tile<64x16xf16>, token
      %v98 = constant <f16: 0x0000> : tile<16x16xf16>
      %v99 = mmaf %v86, %v98, %v76 : tile<64x16xf16>, tile<16x16xf16>, tile<64x16xf32>
      %v100 = ftof %v99 : tile<64x16xf32> -> tile<64x16xf16>
      %v102 = constant <i32: 1> : tile<i32>
      %v104 = constant <i32: 0> : tile<i32>
      %v106 = constant <i32: 3> : tile<i32>
      %v108, %v109 = load_view_tko weak %v101[%v102, %v104, %v106] : partition_view<tile=(1x16x16), padding_value = zero, tensor_view<2x16x64xf16, strides=[1024,?,1]>>, tile<i32>, tile<i32>, tile<i32> -> tile<1x16x16xf16>, token
      %v110 = reshape %v108 : tile<1x16x16xf16> -> tile<16x16xf16>
      %v111 = mmaf %v100, %v110, %v72 : tile<64x16xf16>, tile<16x16xf16>, tile<64x16xf32>
      continue %v111, %v73, %v74 : tile<64x16xf32>, tile<64x16xf32>, token
    }
    %v116 = ftof %v112 : tile<64x16xf32> -> tile<64x16xbf16>
    %v119 = make_tensor_view %v117, shape = [128, 16], strides = [16, 1] : tensor_view<128x16xbf16, strides=[16,1]>
    %v120 = make_partition_view %v119 : partition_view<tile=(64x16), tensor_view<128x16xbf16, strides=[16,1]>>
    %v121 = constant <i32: 0> : tile<i32>
    %v122 = store_view_tko weak %v116, %v120[%v9, %v121] : tile<64x16xbf16>, partition_view<tile=(64x16), tensor_view<128x16xbf16, strides=[16,1]>>, tile<i32>, tile<i32> -> token
    return
  }
}
