// Bytes of halves that move between lanes: LLVM could not select the vector that it made of them.
// grid: 1 1 1
// buffer: f16 0x0000*4
// scalar: i16 0
cuda_tile.module @m {
  entry @pack_halves(%v31: tile<ptr<f16>>, %v183: tile<i16>) {
    %v39 = reshape %v31 : tile<ptr<f16>> -> tile<1xptr<f16>>
    %v40 = broadcast %v39 : tile<1xptr<f16>> -> tile<4xptr<f16>>
    %v43, %v44 = load_ptr_tko weak %v40 : tile<4xptr<f16>> -> tile<4xf16>, token
    %v182 = constant <i16: 2> : tile<i16>
    %v184 = constant <i16: 2> : tile<i16>
    for unsigned %v185 in (%v182 to %v183, step %v184) : tile<i16> {
      %v252 = pack %v43 : tile<4xf16> -> tile<8xi8>
      %v253 = unpack %v252 : tile<8xi8> -> tile<1xi64>
      continue
    }
    return
  }
}
