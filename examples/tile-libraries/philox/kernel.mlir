// Writes 2048 random words: each tile block has 128 counters and 512 words.
cuda_tile.module @kernels {
  entry @random(%key: tile<ptr<i32>>, %words: tile<ptr<i32>>) {
    %keyView = make_tensor_view %key, shape = [2], strides = [1] : tile<ptr<i32>> -> tensor_view<2xi32, strides=[1]>
    %keys = make_partition_view %keyView : partition_view<tile=(2), tensor_view<2xi32, strides=[1]>>
    %view = make_tensor_view %words, shape = [2048], strides = [1]
        : tile<ptr<i32>> -> tensor_view<2048xi32, strides=[1]>
    %parts = make_partition_view %view : partition_view<tile=(512), tensor_view<2048xi32, strides=[1]>>
    %block, %y, %z = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %k, %loaded = load_view_tko weak %keys[%zero]
        : partition_view<tile=(2), tensor_view<2xi32, strides=[1]>>, tile<i32> -> tile<2xi32>, token
    %count = constant <i32: 128> : tile<i32>
    %first = muli %block, %count : tile<i32>
    %one = reshape %first : tile<i32> -> tile<1xi32>
    %all = broadcast %one : tile<1xi32> -> tile<128xi32>
    %thread = iota : tile<128xi32>
    %counter = addi %all, %thread : tile<128xi32>
    %unused = constant <i32: 0> : tile<512xi32>
    %random = preview$call @philox(%counter, %k, %unused)
        : (!cuda_tile.tile<128xi32>, !cuda_tile.tile<2xi32>, !cuda_tile.tile<512xi32>) -> !cuda_tile.tile<512xi32>
    %stored = store_view_tko weak %random, %parts[%block]
        : tile<512xi32>, partition_view<tile=(512), tensor_view<2048xi32, strides=[1]>>, tile<i32> -> token
    return
  }
}
