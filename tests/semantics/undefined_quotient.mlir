// A quotient that the type does not hold.
// grid: 1 1 1
// buffer: i8 -128
// error: 'divi' in tile block (0, 0, 0): undefined behavior: the quotient of the lowest integer and -1
cuda_tile.module @m {
  entry @undefined_quotient(%p0: tile<ptr<i8>>) {
    %a, %k = load_ptr_tko weak %p0 : tile<ptr<i8>> -> tile<i8>, token
    %s = constant <i8: -1> : tile<i8>
    %q = divi %a, %s signed : tile<i8>
    return
  }
}
