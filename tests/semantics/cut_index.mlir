// An index that is cut to a byte after a constant was added, where the sum and the byte are wanted elsewhere too: the
// sums 124 to 131 are the bytes 124 to 127 and -128 to -125.
// grid: 1 1 1
// buffer: i8 1 2 3 4 0*248 5 6 7 8
// buffer: i8 0*8 -> 5 6 7 8 1 2 3 4
// buffer: i8 0*8 -> 124 125 126 127 -128 -127 -126 -125
// buffer: i32 0*8 -> 124 125 126 127 128 129 130 131
cuda_tile.module @m {
  entry @cut_index(%p: tile<ptr<i8>>, %q: tile<ptr<i8>>, %bytes: tile<ptr<i8>>, %sums: tile<ptr<i32>>) {
    %i = iota : tile<8xi32>
    %c = constant <i32: 124> : tile<8xi32>
    %s = addi %i, %c : tile<8xi32>
    %n = trunci %s : tile<8xi32> -> tile<8xi8>
    %half = constant <i32: 128> : tile<i32>
    %m = offset %p, %half : tile<ptr<i8>>, tile<i32> -> tile<ptr<i8>>
    %m1 = reshape %m : tile<ptr<i8>> -> tile<1xptr<i8>>
    %mt = broadcast %m1 : tile<1xptr<i8>> -> tile<8xptr<i8>>
    %at = offset %mt, %n : tile<8xptr<i8>>, tile<8xi8> -> tile<8xptr<i8>>
    %v, %vt = load_ptr_tko weak %at : tile<8xptr<i8>> -> tile<8xi8>, token
    %q1 = reshape %q : tile<ptr<i8>> -> tile<1xptr<i8>>
    %qt = broadcast %q1 : tile<1xptr<i8>> -> tile<8xptr<i8>>
    %qa = offset %qt, %i : tile<8xptr<i8>>, tile<8xi32> -> tile<8xptr<i8>>
    %qs = store_ptr_tko weak %qa, %v : tile<8xptr<i8>>, tile<8xi8> -> token
    %b1 = reshape %bytes : tile<ptr<i8>> -> tile<1xptr<i8>>
    %bt = broadcast %b1 : tile<1xptr<i8>> -> tile<8xptr<i8>>
    %ba = offset %bt, %i : tile<8xptr<i8>>, tile<8xi32> -> tile<8xptr<i8>>
    %bs = store_ptr_tko weak %ba, %n : tile<8xptr<i8>>, tile<8xi8> -> token
    %w1 = reshape %sums : tile<ptr<i32>> -> tile<1xptr<i32>>
    %wt = broadcast %w1 : tile<1xptr<i32>> -> tile<8xptr<i32>>
    %wa = offset %wt, %i : tile<8xptr<i32>>, tile<8xi32> -> tile<8xptr<i32>>
    %ws = store_ptr_tko weak %wa, %s : tile<8xptr<i32>>, tile<8xi32> -> token
    return
  }
}
