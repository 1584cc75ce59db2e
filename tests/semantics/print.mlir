// Text, numbers of several types, tiles, a percent sign; each tile block on its own.
// grid: 2 1 1
// buffer: i32 0*2 -> 1 1
// prints: block 0
// prints: block 1
// prints: 1.500000 -0.25 -5 100%
// prints: tile [0, 1, 2, 3]
// prints: plain
cuda_tile.module @m {
  entry @print(%p0: tile<ptr<i32>>) {
    %zero = constant <i32: 0> : tile<i32>
    %x, %y, %z = get_tile_block_id : tile<i32>
    %t0 = make_token : token
    %t1 = print_tko "block %d\0A", %x token=%t0 : tile<i32> -> token
    %f = constant <f32: 1.5> : tile<f32>
    %h = constant <f16: -0.25> : tile<f16>
    %l = constant <i64: -5> : tile<i64>
    %first = cmpi equal %x, %zero, signed : tile<i32> -> tile<i1>
    if %first {
      %t2 = print_tko "%f %.2f %lld 100%%\0A", %f, %h, %l token=%t1 : tile<f32>, tile<f16>, tile<i64> -> token
      %v = iota : tile<4xi32>
      %t3 = print_tko "tile %d\0A", %v token=%t2 : tile<4xi32> -> token
      %t4 = print_tko "plain\0A" token=%t3 -> token
    }
    %one = constant <i32: 1> : tile<i32>
    %q = offset %p0, %x : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %k = store_ptr_tko weak %q, %one token=%t1 : tile<ptr<i32>>, tile<i32> -> token
    return
  }
}
