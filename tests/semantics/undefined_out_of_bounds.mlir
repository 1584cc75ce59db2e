// An access behind the end of a buffer.
// grid: 1 1 1
// buffer: i32 1 2
// error: 'load_ptr_tko' in tile block (0, 0, 0): access of 4 bytes at 0x10000000008, which is outside all allocations (byte 8 of parameter 0, which has 8)
cuda_tile.module @m {
  entry @undefined_out_of_bounds(%p0: tile<ptr<i32>>) {
    %two = constant <i32: 2> : tile<i32>
    %p = offset %p0, %two : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %a, %k = load_ptr_tko weak %p : tile<ptr<i32>> -> tile<i32>, token
    return
  }
}
