// Tile blocks that write to the same place.
// grid: 2 1 1
// buffer: i32 1
// error: 'store_ptr_tko' in tile block (1, 0, 0): undefined behavior: data race: no token orders this write after an earlier access
cuda_tile.module @m {
  entry @undefined_race_of_blocks(%p0: tile<ptr<i32>>) {
    %x, %y, %z = get_tile_block_id : tile<i32>
    %t = store_ptr_tko weak %p0, %x : tile<ptr<i32>>, tile<i32> -> token
    return
  }
}
