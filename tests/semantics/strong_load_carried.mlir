// A relaxed load whose tile a loop carries in another layout: only the owners of its elements load, so that all holders must have it before
// the layout changes.
// grid: 1 1 1
// buffer: bf16 0x0000*4
// scalar: i32 0
// buffer: i32 0*32
// scalar: i32 0
// scalar: i64 0
// buffer: i1 0*25 -1 0*6
// scalar: i64 0
// scalar: i32 1
// buffer: i1 0*32 -> 0*25 -1 0*6
// buffer: i1 0*8
cuda_tile.module @m {
  entry @kernel(%v129: tile<ptr<bf16>>, %v131: tile<i32>, %v132: tile<ptr<i32>>, %v140: tile<i32>, %v266: tile<i64>, %v308: tile<ptr<i1>>, %v309: tile<i64>, %v311: tile<i32>, %v367: tile<ptr<i1>>, %v400: tile<ptr<i1>>) {
    %v128 = constant <bf16: 0xC080> : tile<32x32xbf16>
    %v133 = iota : tile<32xi32>
    %v134 = reshape %v132 : tile<ptr<i32>> -> tile<1xptr<i32>>
    %v135 = broadcast %v134 : tile<1xptr<i32>> -> tile<32xptr<i32>>
    %v136 = exti %v133 signed : tile<32xi32> -> tile<32xi64>
    %v137 = offset %v135, %v136 : tile<32xptr<i32>>, tile<32xi64> -> tile<32xptr<i32>>
    %v138, %v139 = load_ptr_tko weak %v137 : tile<32xptr<i32>> -> tile<32xi32>, token
    %v141 = make_tensor_view %v129, shape = [3, 128], strides = [128, %v140] : tile<i32> -> tensor_view<3x128xbf16, strides=[128,?]>
    %v142 = make_gather_scatter_view %v141 : gather_scatter_view<tile=(32x32), padding_value = zero, tensor_view<3x128xbf16, strides=[128,?]>, sparse_dim=0>
    %v143, %v144 = load_view_tko weak %v142[%v138, %v131] : gather_scatter_view<tile=(32x32), padding_value = zero, tensor_view<3x128xbf16, strides=[128,?]>, sparse_dim=0>, tile<32xi32>, tile<i32> -> tile<32x32xbf16>, token
    %v147 = constant <f32: 0x00000000> : tile<32x32xf32>
    %v148 = mmaf %v128, %v143, %v147 : tile<32x32xbf16>, tile<32x32xbf16>, tile<32x32xf32>
    %v177 = constant <f32: 0x00000000> : tile<32x32xf32>
    %v179 = cmpf less_than unordered %v148, %v177 : tile<32x32xf32> -> tile<32x32xi1>
    %v185 = constant <i1: false> : tile<32xi1>
    %v267 = constant <i64: 1> : tile<i64>
    %v268 = constant <i64: 2> : tile<i64>
    %v331 = for %v269 in (%v266 to %v267, step %v268) : tile<i64> iter_values(%v270 = %v185) -> (tile<32xi1>) {
      %v296 = constant <i1: true> : tile<i1>
      if %v296 {
        %v310 = constant <i32: 64> : tile<i32>
        %v312 = make_tensor_view %v308, shape = [%v310], strides = [%v311] : tile<i32> -> tensor_view<?xi1, strides=[?]>
        %v313 = make_partition_view %v312 : partition_view<tile=(32), padding_value = zero, tensor_view<?xi1, strides=[?]>>
        %v314, %v315 = load_view_tko relaxed tl_blk %v313[%v309] : partition_view<tile=(32), padding_value = zero, tensor_view<?xi1, strides=[?]>>, tile<i64> -> tile<32xi1>, token
        continue %v314 : tile<32xi1>
      }
      continue %v270 : tile<32xi1>
    }
    %v368 = iota : tile<32xi32>
    %v374 = reshape %v367 : tile<ptr<i1>> -> tile<1xptr<i1>>
    %v375 = broadcast %v374 : tile<1xptr<i1>> -> tile<32xptr<i1>>
    %v376 = offset %v375, %v368 : tile<32xptr<i1>>, tile<32xi32> -> tile<32xptr<i1>>
    %v377 = store_ptr_tko weak %v376, %v331 : tile<32xptr<i1>>, tile<32xi1> -> token
    %v414 = reshape %v400 : tile<ptr<i1>> -> tile<1x1xptr<i1>>
    %v415 = broadcast %v414 : tile<1x1xptr<i1>> -> tile<32x32xptr<i1>>
    %v420 = constant <i1: false> : tile<32x32xi1>
    %v421 = store_ptr_tko weak %v415, %v179, %v420 : tile<32x32xptr<i1>>, tile<32x32xi1>, tile<32x32xi1> -> token
    return
  }
}
