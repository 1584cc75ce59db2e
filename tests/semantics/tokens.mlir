// What tokens order happens in that order: stores, loads, joins.
// grid: 1 1 1
// buffer: i32 1 2 3 4 -> 8 6 4 2
// buffer: i32 0*4 -> 1 2 3 4
// buffer: i32 0*4 -> 8 6 4 2
cuda_tile.module @m {
  entry @tokens(%p0: tile<ptr<i32>>, %p1: tile<ptr<i32>>, %p2: tile<ptr<i32>>) {
    %zero = constant <i32: 0> : tile<i32>
    %i = iota : tile<4xi32>
    %pi_1 = reshape %p0 : tile<ptr<i32>> -> tile<1xptr<i32>>
    %pi_n = broadcast %pi_1 : tile<1xptr<i32>> -> tile<4xptr<i32>>
    %pi = offset %pi_n, %i : tile<4xptr<i32>>, tile<4xi32> -> tile<4xptr<i32>>
    %r = constant <i32: [3, 2, 1, 0]> : tile<4xi32>
    %pr_1 = reshape %p0 : tile<ptr<i32>> -> tile<1xptr<i32>>
    %pr_n = broadcast %pr_1 : tile<1xptr<i32>> -> tile<4xptr<i32>>
    %pr = offset %pr_n, %r : tile<4xptr<i32>>, tile<4xi32> -> tile<4xptr<i32>>
    %t0 = make_token : token
    %a, %t1 = load_ptr_tko weak %pi token=%t0 : tile<4xptr<i32>> -> tile<4xi32>, token
    %b, %t2 = load_ptr_tko weak %pr token=%t0 : tile<4xptr<i32>> -> tile<4xi32>, token
    %t3 = join_tokens %t1, %t2 : token
    %two = constant <i32: 2> : tile<4xi32>
    %c = muli %b, %two : tile<4xi32>
    %t4 = store_ptr_tko weak %pi, %c token=%t3 : tile<4xptr<i32>>, tile<4xi32> -> token
    %t5 = join_tokens %t4, %t0, %t3 : token
    %d, %t6 = load_ptr_tko weak %pi token=%t5 : tile<4xptr<i32>> -> tile<4xi32>, token
    %a_ot = make_tensor_view %p1, shape = [4], strides = [1] : tensor_view<4xi32, strides=[1]>
    %a_ov = make_partition_view %a_ot : partition_view<tile=(4), tensor_view<4xi32, strides=[1]>>
    %a_ok = store_view_tko weak %a, %a_ov[%zero] : tile<4xi32>, partition_view<tile=(4), tensor_view<4xi32, strides=[1]>>, tile<i32> -> token
    %d_ot = make_tensor_view %p2, shape = [4], strides = [1] : tensor_view<4xi32, strides=[1]>
    %d_ov = make_partition_view %d_ot : partition_view<tile=(4), tensor_view<4xi32, strides=[1]>>
    %d_ok = store_view_tko weak %d, %d_ov[%zero] : tile<4xi32>, partition_view<tile=(4), tensor_view<4xi32, strides=[1]>>, tile<i32> -> token
    return
  }
}
