// Numbers of formats that no C function prints.
// grid: 1 1 1
// buffer: i32 0 -> 1
// prints: 1.500000 -2.000000 0.625000 4.000000
// prints: tile [0.000008, 114688.000000]
cuda_tile.module @m {
  entry @print_narrow(%p0: tile<ptr<i32>>) {
    %t0 = make_token : token
    %a = constant <f8E4M3FN: 1.5> : tile<f8E4M3FN>
    %b = constant <f8E5M2: -2.0> : tile<f8E5M2>
    %c = constant <fnv8E5M3FNU: 0.625> : tile<fnv8E5M3FNU>
    %d = constant <f8E8M0FNU: 4.0> : tile<f8E8M0FNU>
    %t1 = print_tko "%f %f %f %f\0A", %a, %b, %c, %d token=%t0 : tile<f8E4M3FN>, tile<f8E5M2>, tile<fnv8E5M3FNU>, tile<f8E8M0FNU> -> token
    %v = constant <fnv8E5M3FNU: [0x01, 0xFE]> : tile<2xfnv8E5M3FNU>
    %t2 = print_tko "tile %f\0A", %v token=%t1 : tile<2xfnv8E5M3FNU> -> token
    %one = constant <i32: 1> : tile<i32>
    %k = store_ptr_tko weak %p0, %one token=%t2 : tile<ptr<i32>>, tile<i32> -> token
    return
  }
}
