// A loop that would not move.
// grid: 1 1 1
// scalar: i32 0
// error: 'for' in tile block (0, 0, 0): undefined behavior: the step of a loop is not positive
cuda_tile.module @m {
  entry @undefined_step(%p0: tile<i32>) {
    %zero = constant <i32: 0> : tile<i32>
    %n = constant <i32: 5> : tile<i32>
    for %i in (%zero to %n, step %p0) : tile<i32> {
    }
    return
  }
}
