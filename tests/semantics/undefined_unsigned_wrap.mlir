// A broken promise.
// grid: 1 1 1
// buffer: i32 0
// error: 'subi' in tile block (0, 0, 0): undefined behavior: the result wraps, which breaks the promise no_unsigned_wrap
cuda_tile.module @m {
  entry @undefined_unsigned_wrap(%p0: tile<ptr<i32>>) {
    %a, %k = load_ptr_tko weak %p0 : tile<ptr<i32>> -> tile<i32>, token
    %s = constant <i32: 1> : tile<i32>
    %q = subi %a, %s overflow<no_unsigned_wrap> : tile<i32>
    return
  }
}
