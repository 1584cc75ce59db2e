// A broken promise.
// grid: 1 1 1
// buffer: i32 2147483647
// error: 'addi' in tile block (0, 0, 0): undefined behavior: the result wraps, which breaks the promise no_signed_wrap
cuda_tile.module @m {
  entry @undefined_signed_wrap(%p0: tile<ptr<i32>>) {
    %a, %k = load_ptr_tko weak %p0 : tile<ptr<i32>> -> tile<i32>, token
    %s = constant <i32: 1> : tile<i32>
    %q = addi %a, %s overflow<no_signed_wrap> : tile<i32>
    return
  }
}
