// Conditions that a kernel computes, as signed and unsigned numbers: LLVM 21 makes 1 of a signed one in bf16.
// grid: 1 1 1
// buffer: i1 0 1 0 1
// buffer: bf16 0x0000 0x0000 0x0000 0x0000 -> 0xbf80 0x0000 0x0000 0xbf80
// buffer: bf16 0x0000 0x0000 0x0000 0x0000 -> 0x3f80 0x0000 0x0000 0x3f80
// buffer: f16 0x0000 0x0000 0x0000 0x0000 -> 0xbc00 0x0000 0x0000 0xbc00
cuda_tile.module @m {
  entry @kernel(%conditions: tile<ptr<i1>>, %signed: tile<ptr<bf16>>, %unsigned: tile<ptr<bf16>>, %half: tile<ptr<f16>>) {
    %lane = iota : tile<4xi32>
    %c0 = reshape %conditions : tile<ptr<i1>> -> tile<1xptr<i1>>
    %c1 = broadcast %c0 : tile<1xptr<i1>> -> tile<4xptr<i1>>
    %c2 = offset %c1, %lane : tile<4xptr<i1>>, tile<4xi32> -> tile<4xptr<i1>>
    %c, %t0 = load_ptr_tko weak %c2 : tile<4xptr<i1>> -> tile<4xi1>, token
    %k = constant <i1: [true, true, false, false]> : tile<4xi1>
    %d = subi %k, %c : tile<4xi1>
    %s = itof %d signed : tile<4xi1> -> tile<4xbf16>
    %u = itof %d unsigned : tile<4xi1> -> tile<4xbf16>
    %h = itof %d signed : tile<4xi1> -> tile<4xf16>
    %s0 = reshape %signed : tile<ptr<bf16>> -> tile<1xptr<bf16>>
    %s1 = broadcast %s0 : tile<1xptr<bf16>> -> tile<4xptr<bf16>>
    %s2 = offset %s1, %lane : tile<4xptr<bf16>>, tile<4xi32> -> tile<4xptr<bf16>>
    %t1 = store_ptr_tko weak %s2, %s : tile<4xptr<bf16>>, tile<4xbf16> -> token
    %u0 = reshape %unsigned : tile<ptr<bf16>> -> tile<1xptr<bf16>>
    %u1 = broadcast %u0 : tile<1xptr<bf16>> -> tile<4xptr<bf16>>
    %u2 = offset %u1, %lane : tile<4xptr<bf16>>, tile<4xi32> -> tile<4xptr<bf16>>
    %t2 = store_ptr_tko weak %u2, %u : tile<4xptr<bf16>>, tile<4xbf16> -> token
    %h0 = reshape %half : tile<ptr<f16>> -> tile<1xptr<f16>>
    %h1 = broadcast %h0 : tile<1xptr<f16>> -> tile<4xptr<f16>>
    %h2 = offset %h1, %lane : tile<4xptr<f16>>, tile<4xi32> -> tile<4xptr<f16>>
    %t3 = store_ptr_tko weak %h2, %h : tile<4xptr<f16>>, tile<4xf16> -> token
    return
  }
}
