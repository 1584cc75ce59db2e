// Sorts rows of 32 numbers: each tile block has four of 16 rows.
cuda_tile.module @kernels {
  entry @sort(%data: tile<ptr<i32>>) {
    %view = make_tensor_view %data, shape = [16, 32], strides = [32, 1]
        : tile<ptr<i32>> -> tensor_view<16x32xi32, strides=[32,1]>
    %rows = make_partition_view %view : partition_view<tile=(4x32), tensor_view<16x32xi32, strides=[32,1]>>
    %block, %y, %z = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %keys, %loaded = load_view_tko weak %rows[%block, %zero]
        : partition_view<tile=(4x32), tensor_view<16x32xi32, strides=[32,1]>>, tile<i32> -> tile<4x32xi32>, token
    %sorted = preview$call @sort_rows(%keys) : (!cuda_tile.tile<4x32xi32>) -> !cuda_tile.tile<4x32xi32>
    %stored = store_view_tko weak %sorted, %rows[%block, %zero] token=%loaded
        : tile<4x32xi32>, partition_view<tile=(4x32), tensor_view<16x32xi32, strides=[32,1]>>, tile<i32> -> token
    return
  }
}
