// Waits for other grids, leave for others to start, and a fence, which tokens lead through.
// grid: 2 1 1
// buffer: i32 1 2 3 4 -> 2 4 6 8
cuda_tile.module @m {
  entry @grids(%p0: tile<ptr<i32>>) {
    %i, %j, %k = get_tile_block_id : tile<i32>
    %t = make_tensor_view %p0, shape = [4], strides = [1] : tensor_view<4xi32, strides=[1]>
    %v = make_partition_view %t : partition_view<tile=(2), tensor_view<4xi32, strides=[1]>>
    %ready = gdc_wait_tko -> token
    %a, %read = load_view_tko weak %v[%i] token = %ready inbounds = [true] : partition_view<tile=(2), tensor_view<4xi32, strides=[1]>>, tile<i32> -> tile<2xi32>, token
    %fenced = memory_fence_alias_tko %read
    %b = addi %a, %a : tile<2xi32>
    %written = store_view_tko weak %b, %v[%i] token = %fenced inbounds = [true] : tile<2xi32>, partition_view<tile=(2), tensor_view<4xi32, strides=[1]>>, tile<i32> -> token
    %leave = gdc_launch_dependents_tko token = %written -> token
    return
  }
}
