// Division by zero.
// grid: 1 1 1
// buffer: i32 0
// error: 'divi' in tile block (0, 0, 0): undefined behavior: division by zero
cuda_tile.module @m {
  entry @undefined_division(%p0: tile<ptr<i32>>) {
    %a, %k = load_ptr_tko weak %p0 : tile<ptr<i32>> -> tile<i32>, token
    %s = constant <i32: 7> : tile<i32>
    %q = divi %s, %a signed : tile<i32>
    return
  }
}
