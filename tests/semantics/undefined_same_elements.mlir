// An assumption that does not hold.
// grid: 1 1 1
// buffer: i32 8 8 8 9
// error: 'assume' in tile block (0, 0, 0): undefined behavior: element 3 is 0x9
cuda_tile.module @m {
  entry @undefined_same_elements(%p0: tile<ptr<i32>>) {
    %zero = constant <i32: 0> : tile<i32>
    %x_t = make_tensor_view %p0, shape = [4], strides = [1] : tensor_view<4xi32, strides=[1]>
    %x_v = make_partition_view %x_t : partition_view<tile=(4), tensor_view<4xi32, strides=[1]>>
    %x, %x_k = load_view_tko weak %x_v[%zero] : partition_view<tile=(4), tensor_view<4xi32, strides=[1]>>, tile<i32> -> tile<4xi32>, token
    %q = assume same_elements<[2]>, %x : tile<4xi32>
    return
  }
}
