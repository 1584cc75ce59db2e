// Counts bytes: each tile block has 1024 of 4096 values, and a row of 256 counts.
cuda_tile.module @kernels {
  entry @count(%values: tile<ptr<i32>>, %counts: tile<ptr<i32>>) {
    %view = make_tensor_view %values, shape = [4096], strides = [1]
        : tile<ptr<i32>> -> tensor_view<4096xi32, strides=[1]>
    %parts = make_partition_view %view : partition_view<tile=(1024), tensor_view<4096xi32, strides=[1]>>
    %table = make_tensor_view %counts, shape = [4, 256], strides = [256, 1]
        : tile<ptr<i32>> -> tensor_view<4x256xi32, strides=[256,1]>
    %rows = make_partition_view %table : partition_view<tile=(1x256), tensor_view<4x256xi32, strides=[256,1]>>
    %block, %y, %z = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %v, %loaded = load_view_tko weak %parts[%block]
        : partition_view<tile=(1024), tensor_view<4096xi32, strides=[1]>>, tile<i32> -> tile<1024xi32>, token
    %unused = constant <i32: 0> : tile<256xi32>
    %row = preview$call @histogram(%v, %unused)
        : (!cuda_tile.tile<1024xi32>, !cuda_tile.tile<256xi32>) -> !cuda_tile.tile<256xi32>
    %matrix = reshape %row : tile<256xi32> -> tile<1x256xi32>
    %stored = store_view_tko weak %matrix, %rows[%block, %zero]
        : tile<1x256xi32>, partition_view<tile=(1x256), tensor_view<4x256xi32, strides=[256,1]>>, tile<i32> -> token
    return
  }
}
