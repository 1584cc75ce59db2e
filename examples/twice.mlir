cuda_tile.module @kernels {
  entry @twice(%x: tile<ptr<f32>>) {
    %p = assume div_by<16>, %x : tile<ptr<f32>>
    %v = make_tensor_view %p, shape = [4096], strides = [1] : tensor_view<4096xf32, strides=[1]>
    %tiles = make_partition_view %v : partition_view<tile=(512), tensor_view<4096xf32, strides=[1]>>
    %i, %j, %k = get_tile_block_id : tile<i32>
    %a, %read = load_view_tko weak %tiles[%i] : partition_view<tile=(512), tensor_view<4096xf32, strides=[1]>>, tile<i32> -> tile<512xf32>, token
    %b = addf %a, %a : tile<512xf32>
    %done = store_view_tko weak %b, %tiles[%i] : tile<512xf32>, partition_view<tile=(512), tensor_view<4096xf32, strides=[1]>>, tile<i32> -> token
    return
  }
}
