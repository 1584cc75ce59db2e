// A NaN of the product of an infinity that is only a partial product, and zero: other orders give zero.
// grid: 1 1 1
// buffer: f16 0x0000*28 0xc800 0x0000*127 0xc500 0x0000*127 0x4500 0x0000*127 0xc800 0x0000*127 0x4400 0x0000*127 0xc500 0x0000*127 0xc800 0x0000*99
// buffer: f16 0x0000*16 -> 0x0000~34.6*12 ? 0x0000~34.6*3
cuda_tile.module @m {
  entry @reduce_products(%v99: tile<ptr<f16>>, %v137: tile<ptr<f16>>) {
    %v100 = constant <i32: 0> : tile<i32>
    %v101 = constant <i32: 1> : tile<i32>
    %v102 = constant <i64: 7> : tile<i64>
    %v103 = constant <i64: 128> : tile<i64>
    %v104 = make_tensor_view %v99, shape = [%v102, 128], strides = [%v103, 1] : tile<i64> -> tensor_view<?x128xf16, strides=[?,1]>
    %v105 = make_partition_view %v104 : partition_view<tile=(16x16), padding_value = zero, tensor_view<?x128xf16, strides=[?,1]>>
    %v106, %v107 = load_view_tko weak %v105[%v100, %v101] : partition_view<tile=(16x16), padding_value = zero, tensor_view<?x128xf16, strides=[?,1]>>, tile<i32>, tile<i32> -> tile<16x16xf16>, token
    %v111 = reduce %v106 dim=0 identities=[0x3C00 : f16] : tile<16x16xf16> -> tile<16xf16>
    (%v108: tile<f16>, %v109: tile<f16>) {
      %v110 = mulf %v109, %v108 : tile<f16>
      yield %v110 : tile<f16>
    }
    %v138 = iota : tile<16xi32>
    %v144 = reshape %v137 : tile<ptr<f16>> -> tile<1xptr<f16>>
    %v145 = broadcast %v144 : tile<1xptr<f16>> -> tile<16xptr<f16>>
    %v146 = offset %v145, %v138 : tile<16xptr<f16>>, tile<16xi32> -> tile<16xptr<f16>>
    %v151 = store_ptr_tko weak %v146, %v111 : tile<16xptr<f16>>, tile<16xf16> -> token
    return
  }
}
