// The position of each tile block, and the extents.
// grid: 2 3 2
// buffer: i32 0*36 -> 0 0 0 1 0 0 0 1 0 1 1 0 0 2 0 1 2 0 0 0 1 1 0 1 0 1 1 1 1 1 0 2 1 1 2 1
// buffer: i32 0*3 -> 2 3 2
cuda_tile.module @m {
  entry @grid(%p0: tile<ptr<i32>>, %p1: tile<ptr<i32>>) {
    %x, %y, %z = get_tile_block_id : tile<i32>
    %gx, %gy, %gz = get_num_tile_blocks : tile<i32>
    %a = muli %z, %gy : tile<i32>
    %b = addi %a, %y : tile<i32>
    %c = muli %b, %gx : tile<i32>
    %d = addi %c, %x : tile<i32>
    %three = constant <i32: 3> : tile<i32>
    %e = muli %d, %three : tile<i32>
    %p = offset %p0, %e : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %o0 = constant <i32: 0> : tile<i32>
    %q0 = offset %p, %o0 : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %k0 = store_ptr_tko weak %q0, %x : tile<ptr<i32>>, tile<i32> -> token
    %o1 = constant <i32: 1> : tile<i32>
    %q1 = offset %p, %o1 : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %k1 = store_ptr_tko weak %q1, %y : tile<ptr<i32>>, tile<i32> -> token
    %o2 = constant <i32: 2> : tile<i32>
    %q2 = offset %p, %o2 : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %k2 = store_ptr_tko weak %q2, %z : tile<ptr<i32>>, tile<i32> -> token
    %zero = constant <i32: 0> : tile<i32>
    %first = cmpi equal %d, %zero, signed : tile<i32> -> tile<i1>
    if %first {
      %go0 = constant <i32: 0> : tile<i32>
      %gq0 = offset %p1, %go0 : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
      %gk0 = store_ptr_tko weak %gq0, %gx : tile<ptr<i32>>, tile<i32> -> token
      %go1 = constant <i32: 1> : tile<i32>
      %gq1 = offset %p1, %go1 : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
      %gk1 = store_ptr_tko weak %gq1, %gy : tile<ptr<i32>>, tile<i32> -> token
      %go2 = constant <i32: 2> : tile<i32>
      %gq2 = offset %p1, %go2 : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
      %gk2 = store_ptr_tko weak %gq2, %gz : tile<ptr<i32>>, tile<i32> -> token
    }
    return
  }
}
