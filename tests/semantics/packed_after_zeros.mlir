// Bytes of floats that a mask leaves, packed after bytes of zeros: words that targets without 8-bit floats put together
// before a loop and store in it.
// grid: 1 1 1
// scalar: i32 4
// buffer: f32 0x00000000*768 -> 0x3b3d0000~193.70313*8 0x3b3a0000~190.65625*8 0x3b370000~187.60938*8 0x3b340000~184.5625*8 0x3b310000~181.51563*8 0x3b2e0000~178.46875*8 0x3b2b0000~175.42188*8 0x3b280000~172.375*8 0x3b250000~169.32813*8 0x3b220000~166.28125*8 0x3b1f0000~163.23438*8 0x3b1c0000~160.1875*8 0x3b190000~157.14063*8 0x3b160000~154.09375*8 0x3b130000~151.04688*8 0x3b100000~148*8 0x3b0d0000~144.95313*8 0x3b0a0000~141.90625*8 0x3b070000~138.85938*8 0x3b040000~135.8125*8 0x3b010000~132.76563*8 0x3afc0000~258.4375*8 0x3af60000~252.34375*8 0x3af00000~246.25*8 0x3aea0000~240.15625*8 0x3ae40000~234.0625*8 0x3ade0000~227.96875*8 0x3ad80000~221.875*8 0x3ad20000~215.78125*8 0x3acc0000~209.6875*8 0x3ac60000~203.59375*8 0x3ac00000~197.5*8 0x3aba0000~190.65625*8 0x3ab40000~184.5625*8 0x3aae0000~178.46875*8 0x3aa80000~172.375*8 0x3aa20000~166.28125*8 0x3a9c0000~160.1875*8 0x3a960000~154.09375*8 0x3a900000~148*8 0x3a8a0000~141.90625*8 0x3a840000~135.8125*8 0x3a7c0000~258.4375*8 0x3a700000~246.25*8 0x3a640000~234.0625*8 0x3a580000~221.875*8 0x3a4c0000~209.6875*8 0x3a400000~197.5*8 0x3a340000~184.5625*8 0x3a280000~172.375*8 0x3a1c0000~160.1875*8 0x3a100000~148*8 0x3a040000~135.8125*8 0x39f00000~246.25*8 0x39d80000~221.875*8 0x39c00000~197.5*8 0x39a80000~172.375*8 0x39900000~148*8 0x39700000~246.25*8 0x39400000~197.5*8 0x39100000~148*8 0x38c00000~197.5*8 0x38400000~197.5*8 0x00000001*8 0x00000000*256
// scalar: i64 8
cuda_tile.module @m {
  entry @packed_after_zeros(%v35: tile<i32>, %v96: tile<ptr<f32>>, %v99: tile<i64>) {
    %v0 = constant <i32: 0> : tile<i32>
    %v16 = constant <f32: 0x00000001> : tile<64x64xf32>
    %v34 = constant <i32: 1> : tile<i32>
    %v36 = constant <i32: 1> : tile<i32>
    %v95 = for %v37 in (%v36 to %v35, step %v34) : tile<i32> iter_values(%v38 = %v16) -> (tile<64x64xf32>) {
      %v45 = constant <f32: 0x00000000> : tile<64x64xf32>
      %v46 = constant <i32: 1> : tile<i32>
      %v47 = constant <i32: 4> : tile<i32>
      %v48 = constant <i32: 1> : tile<i32>
      %v61, %v62 = for %v49 in (%v48 to %v47, step %v46) : tile<i32> iter_values(%v50 = %v38, %v51 = %v45) -> (tile<64x64xf32>, tile<64x64xf32>) {
        %v52 = iota : tile<64xi32>
        %v53 = reshape %v52 : tile<64xi32> -> tile<64x1xi32>
        %v54 = broadcast %v53 : tile<64x1xi32> -> tile<64x64xi32>
        %v55 = iota : tile<64xi32>
        %v56 = reshape %v55 : tile<64xi32> -> tile<1x64xi32>
        %v57 = broadcast %v56 : tile<1x64xi32> -> tile<64x64xi32>
        %v58 = cmpi greater_than_or_equal %v54, %v57, signed : tile<64x64xi32> -> tile<64x64xi1>
        %v59 = constant <f32: 0x3F800000> : tile<64x64xf32>
        %v60 = select %v58, %v51, %v59 : tile<64x64xi1>, tile<64x64xf32>
        continue %v50, %v60 : tile<64x64xf32>, tile<64x64xf32>
      }
      %v67 = ftof %v62 : tile<64x64xf32> -> tile<64x64xf8E5M2>
      %v75 = constant <f8E5M2: 0x01> : tile<64x64xf8E5M2>
      %v78 = mmaf %v67, %v75, %v61 : tile<64x64xf8E5M2>, tile<64x64xf8E5M2>, tile<64x64xf32>
      continue %v78 : tile<64x64xf32>
    }
    %v97 = constant <i32: 0> : tile<i32>
    %v98 = constant <i64: 8> : tile<i64>
    %v100 = constant <i64: 1> : tile<i64>
    %v101 = make_tensor_view %v96, shape = [96, %v98], strides = [%v99, %v100] : tile<i64> -> tensor_view<96x?xf32, strides=[?,?]>
    %v102 = make_partition_view %v101 : partition_view<tile=(64x64), tensor_view<96x?xf32, strides=[?,?]>>
    %v103 = store_view_tko weak %v95, %v102[%v0, %v97] : tile<64x64xf32>, partition_view<tile=(64x64), tensor_view<96x?xf32, strides=[?,?]>>, tile<i32>, tile<i32> -> token
    return
  }
}
