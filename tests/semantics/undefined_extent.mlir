// An extent that its type does not hold.
// grid: 1 1 1
// buffer: i8 0*300
// error: 'get_tensor_shape' in tile block (0, 0, 0): undefined behavior: the extent 300 does not fit i8
cuda_tile.module @m {
  entry @undefined_extent(%p0: tile<ptr<i8>>) {
    %t = make_tensor_view %p0, shape = [300], strides = [1] : tensor_view<300xi8, strides=[1]>
    %n = get_tensor_shape %t : tensor_view<300xi8, strides=[1]> -> tile<i8>
    return
  }
}
