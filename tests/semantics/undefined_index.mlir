// An index outside of the index space, not only a tile that sticks out.
// grid: 1 1 1
// buffer: i32 1 2 3
// error: 'load_view_tko' in tile block (0, 0, 0): undefined behavior: index 2 is out of bounds: dimension 0 of the index space has size 2
cuda_tile.module @m {
  entry @undefined_index(%p0: tile<ptr<i32>>) {
    %two = constant <i32: 2> : tile<i32>
    %t = make_tensor_view %p0, shape = [3], strides = [1] : tensor_view<3xi32, strides=[1]>
    %v = make_partition_view %t : partition_view<tile=(2), padding_value = zero, tensor_view<3xi32, strides=[1]>>
    %a, %k = load_view_tko weak %v[%two] : partition_view<tile=(2), padding_value = zero, tensor_view<3xi32, strides=[1]>>, tile<i32> -> tile<2xi32>, token
    return
  }
}
