// The low 13 bits of what becomes a tf32 mean nothing.
// grid: 1 1 1
// buffer: f64 0x0000000000000000 -> 0x3820200000000000
cuda_tile.module @m {
  entry @unpack_tf32(%v347: tile<ptr<f64>>) {
    %v217 = constant <i8: 1> : tile<32xi8>
    %v218 = unpack %v217 : tile<32xi8> -> tile<8xtf32>
    %v252 = ftof %v218 : tile<8xtf32> -> tile<8xf64>
    %v360 = reshape %v347 : tile<ptr<f64>> -> tile<1xptr<f64>>
    %v361 = broadcast %v360 : tile<1xptr<f64>> -> tile<8xptr<f64>>
    %v364 = store_ptr_tko weak %v361, %v252 : tile<8xptr<f64>>, tile<8xf64> -> token
    return
  }
}
