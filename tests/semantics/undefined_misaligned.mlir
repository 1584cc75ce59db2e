// An address that is no multiple of the size.
// grid: 1 1 1
// buffer: i32 1 2
// error: 'store_ptr_tko' in tile block (0, 0, 0): access of 4 bytes at 0x10000000001, which is not a multiple
cuda_tile.module @m {
  entry @undefined_misaligned(%p0: tile<ptr<i32>>) {
    %one = constant <i32: 1> : tile<i32>
    %b = ptr_to_ptr %p0 : tile<ptr<i32>> -> tile<ptr<i8>>
    %c = offset %b, %one : tile<ptr<i8>>, tile<i32> -> tile<ptr<i8>>
    %d = ptr_to_ptr %c : tile<ptr<i8>> -> tile<ptr<i32>>
    %k = store_ptr_tko weak %d, %one : tile<ptr<i32>>, tile<i32> -> token
    return
  }
}
