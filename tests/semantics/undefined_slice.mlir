// A slice that the tile has not.
// grid: 1 1 1
// scalar: i32 2
// error: 'extract' in tile block (0, 0, 0): undefined behavior: slice 2 is out of bounds: dimension 0 has 2 slices
cuda_tile.module @m {
  entry @undefined_slice(%p0: tile<i32>) {
    %i = iota : tile<4xi32>
    %a = extract %i[%p0] : tile<4xi32> -> tile<2xi32>
    return
  }
}
