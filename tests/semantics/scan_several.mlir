// Pairs (a, b) for h[t] = a[t] * h[t - 1] + b[t]: the first argument of each pair is what came before.
// grid: 1 1 1
// buffer: i32 2 3 1 2 1 5 2 1
// buffer: i32 1 1 2 0 7 1 1 3
// buffer: i32 0*8 -> 1 4 6 12 19 96 193 196
cuda_tile.module @m {
  entry @scan_several(%p0: tile<ptr<i32>>, %p1: tile<ptr<i32>>, %p2: tile<ptr<i32>>) {
    %zero = constant <i32: 0> : tile<i32>
    %a_t = make_tensor_view %p0, shape = [8], strides = [1] : tensor_view<8xi32, strides=[1]>
    %a_v = make_partition_view %a_t : partition_view<tile=(8), tensor_view<8xi32, strides=[1]>>
    %a, %a_k = load_view_tko weak %a_v[%zero] : partition_view<tile=(8), tensor_view<8xi32, strides=[1]>>, tile<i32> -> tile<8xi32>, token
    %b_t = make_tensor_view %p1, shape = [8], strides = [1] : tensor_view<8xi32, strides=[1]>
    %b_v = make_partition_view %b_t : partition_view<tile=(8), tensor_view<8xi32, strides=[1]>>
    %b, %b_k = load_view_tko weak %b_v[%zero] : partition_view<tile=(8), tensor_view<8xi32, strides=[1]>>, tile<i32> -> tile<8xi32>, token
    %m, %h = scan %a, %b dim=0 reverse=false identities=[1 : i32, 0 : i32] : tile<8xi32>, tile<8xi32> -> tile<8xi32>, tile<8xi32>
    (%a1: tile<i32>, %a2: tile<i32>, %b1: tile<i32>, %b2: tile<i32>) {
      %c = muli %a1, %a2 : tile<i32>
      %d = muli %b1, %a2 : tile<i32>
      %e = addi %d, %b2 : tile<i32>
      yield %c, %e : tile<i32>, tile<i32>
    }
    %h_ot = make_tensor_view %p2, shape = [8], strides = [1] : tensor_view<8xi32, strides=[1]>
    %h_ov = make_partition_view %h_ot : partition_view<tile=(8), tensor_view<8xi32, strides=[1]>>
    %h_ok = store_view_tko weak %h, %h_ov[%zero] : tile<8xi32>, partition_view<tile=(8), tensor_view<8xi32, strides=[1]>>, tile<i32> -> token
    return
  }
}
