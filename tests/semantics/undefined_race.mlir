// A load that nothing orders after the store.
// grid: 1 1 1
// buffer: i32 1
// error: 'load_ptr_tko' in tile block (0, 0, 0): undefined behavior: data race: no token orders this read after an earlier access
cuda_tile.module @m {
  entry @undefined_race(%p0: tile<ptr<i32>>) {
    %two = constant <i32: 2> : tile<i32>
    %t = store_ptr_tko weak %p0, %two : tile<ptr<i32>>, tile<i32> -> token
    %a, %k = load_ptr_tko weak %p0 : tile<ptr<i32>> -> tile<i32>, token
    return
  }
}
