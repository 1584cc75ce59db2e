// Pairs of f32 that are rounded to f16 on their way through shared memory: where a register holds two floats, LLVM 21 stores them
// as they were.
// grid: 1 1 1
// buffer: f16 0x0000
// buffer: f16 0x0000*256 -> 0x3e2c~1*256
cuda_tile.module @m {
  entry @kernel(%in: tile<ptr<f16>>, %out: tile<ptr<f16>>) {
    %zero = constant <i32: 0> : tile<i32>
    %a = reshape %in : tile<ptr<f16>> -> tile<1x1x1xptr<f16>>
    %b = broadcast %a : tile<1x1x1xptr<f16>> -> tile<16x16x1xptr<f16>>
    %no = constant <i1: false> : tile<16x16x1xi1>
    %one = constant <f16: 0x3c00> : tile<16x16x1xf16>
    %x, %t = load_ptr_tko weak %b, %no, %one : tile<16x16x1xptr<f16>>, tile<16x16x1xi1>, tile<16x16x1xf16> -> tile<16x16x1xf16>, token
    %y = cosh %x : tile<16x16x1xf16>
    %sixteen = constant <i32: 16> : tile<i32>
    %view = make_tensor_view %out, shape = [%sixteen, 1, 16], strides = [%sixteen, 16, 1] : tile<i32> -> tensor_view<?x1x16xf16, strides=[?,16,1]>
    %tiles = make_partition_view %view : partition_view<tile=(16x16x1), tensor_view<?x1x16xf16, strides=[?,16,1]>, dim_map=[2, 0, 1]>
    %u = store_view_tko weak %y, %tiles[%zero, %zero, %zero] : tile<16x16x1xf16>, partition_view<tile=(16x16x1), tensor_view<?x1x16xf16, strides=[?,16,1]>, dim_map=[2, 0, 1]>, tile<i32>, tile<i32>, tile<i32> -> token
    return
  }
}
