// A slice that the tile has not.
// grid: 1 1 1
// scalar: i32 2
// error: 'extract' in tile block (0, 0, 0): undefined behaviour: slice 2 of 2 along dimension 0
cuda_tile.module @m {
  entry @undefined_slice(%p0: tile<i32>) {
    %i = iota : tile<4xi32>
    %a = extract %i[%p0] : tile<4xi32> -> tile<2xi32>
    return
  }
}
