// A return from a branch ends the tile block.
// grid: 4 1 1
// buffer: i32 0*4 -> 1 1 0 0
cuda_tile.module @m {
  entry @return(%p0: tile<ptr<i32>>) {
    %zero = constant <i32: 0> : tile<i32>
    %x, %y, %z = get_tile_block_id : tile<i32>
    %two = constant <i32: 2> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %late = cmpi greater_than_or_equal %x, %two, signed : tile<i32> -> tile<i1>
    if %late {
      return
    }
    %q = offset %p0, %x : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %k = store_ptr_tko weak %q, %one : tile<ptr<i32>>, tile<i32> -> token
    return
  }
}
