// Scratch memory of a block, written and read in another order.
// grid: 1 1 1
// buffer: i32 1 2 3 4
// buffer: i32 0*4 -> 4 3 2 1
// buffer: f16 0.0 -> 2.5
cuda_tile.module @m {
  entry @alloca(%p0: tile<ptr<i32>>, %p1: tile<ptr<i32>>, %p2: tile<ptr<f16>>) {
    %zero = constant <i32: 0> : tile<i32>
    %x_t = make_tensor_view %p0, shape = [4], strides = [1] : tensor_view<4xi32, strides=[1]>
    %x_v = make_partition_view %x_t : partition_view<tile=(4), tensor_view<4xi32, strides=[1]>>
    %x, %x_k = load_view_tko weak %x_v[%zero] : partition_view<tile=(4), tensor_view<4xi32, strides=[1]>>, tile<i32> -> tile<4xi32>, token
    %s = alloca num_elem = 4, alignment = 16 : tile<ptr<i32>>
    %i = iota : tile<4xi32>
    %pi_1 = reshape %s : tile<ptr<i32>> -> tile<1xptr<i32>>
    %pi_n = broadcast %pi_1 : tile<1xptr<i32>> -> tile<4xptr<i32>>
    %pi = offset %pi_n, %i : tile<4xptr<i32>>, tile<4xi32> -> tile<4xptr<i32>>
    %k = store_ptr_tko weak %pi, %x : tile<4xptr<i32>>, tile<4xi32> -> token
    %r = constant <i32: [3, 2, 1, 0]> : tile<4xi32>
    %pr_1 = reshape %s : tile<ptr<i32>> -> tile<1xptr<i32>>
    %pr_n = broadcast %pr_1 : tile<1xptr<i32>> -> tile<4xptr<i32>>
    %pr = offset %pr_n, %r : tile<4xptr<i32>>, tile<4xi32> -> tile<4xptr<i32>>
    %a, %a_k = load_ptr_tko weak %pr token=%k : tile<4xptr<i32>> -> tile<4xi32>, token
    %a_ot = make_tensor_view %p1, shape = [4], strides = [1] : tensor_view<4xi32, strides=[1]>
    %a_ov = make_partition_view %a_ot : partition_view<tile=(4), tensor_view<4xi32, strides=[1]>>
    %a_ok = store_view_tko weak %a, %a_ov[%zero] : tile<4xi32>, partition_view<tile=(4), tensor_view<4xi32, strides=[1]>>, tile<i32> -> token
    %h = constant <f16: 2.5> : tile<f16>
    %g = alloca num_elem = 1, alignment = 2 global : tile<ptr<f16>>
    %g_k = store_ptr_tko weak %g, %h : tile<ptr<f16>>, tile<f16> -> token
    %b, %b_k = load_ptr_tko weak %g token=%g_k : tile<ptr<f16>> -> tile<f16>, token
    %b_s = store_ptr_tko weak %p2, %b : tile<ptr<f16>>, tile<f16> -> token
    return
  }
}
