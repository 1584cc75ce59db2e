// An assumption that does not hold.
// grid: 1 1 1
// buffer: i32 8 9
// error: 'assume' in tile block (0, 0, 0): undefined behavior: element 1 is 0x9
cuda_tile.module @m {
  entry @undefined_div_by(%p0: tile<ptr<i32>>) {
    %zero = constant <i32: 0> : tile<i32>
    %x_t = make_tensor_view %p0, shape = [2], strides = [1] : tensor_view<2xi32, strides=[1]>
    %x_v = make_partition_view %x_t : partition_view<tile=(2), tensor_view<2xi32, strides=[1]>>
    %x, %x_k = load_view_tko weak %x_v[%zero] : partition_view<tile=(2), tensor_view<2xi32, strides=[1]>>, tile<i32> -> tile<2xi32>, token
    %q = assume div_by<8>, %x : tile<2xi32>
    return
  }
}
