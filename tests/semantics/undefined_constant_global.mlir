// A write to a constant.
// grid: 1 1 1
// error: 'store_ptr_tko' in tile block (0, 0, 0): write to @c, which is constant
cuda_tile.module @m {
  global constant @c <i32: 5> : tile<1xi32>
  entry @undefined_constant_global() {
    %g = get_global @c : tile<ptr<i32>>
    %one = constant <i32: 1> : tile<i32>
    %k = store_ptr_tko weak %g, %one : tile<ptr<i32>>, tile<i32> -> token
    return
  }
}
