// An assumption that does not hold.
// grid: 1 1 1
// buffer: i32 9
// error: 'assume' in tile block (0, 0, 0): undefined behavior: element 0 is 0x9
cuda_tile.module @m {
  entry @undefined_bounded(%p0: tile<ptr<i32>>) {
    %a, %k = load_ptr_tko weak %p0 : tile<ptr<i32>> -> tile<i32>, token
    %q = assume bounded<0, 8>, %a : tile<i32>
    return
  }
}
