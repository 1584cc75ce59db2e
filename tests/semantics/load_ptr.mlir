// Gathers: all orders; masked lanes give the padding and are not read, even where nothing is.
// grid: 1 1 1
// buffer: f16 1.0 2.0 3.0 4.0
// buffer: f16 0.0*4 -> 4.0 3.0 2.0 1.0
// buffer: f16 0.0*8 -> 1.0 2.0 3.0 4.0 -7.0*4
// buffer: f16 0.0*4 -> 1.0 1.0 4.0 4.0
// buffer: i1 1 0
// buffer: i8 0*2 -> 1 0
cuda_tile.module @m {
  entry @load_ptr(%p0: tile<ptr<f16>>, %p1: tile<ptr<f16>>, %p2: tile<ptr<f16>>, %p3: tile<ptr<f16>>, %p4: tile<ptr<i1>>, %p5: tile<ptr<i8>>) {
    %zero = constant <i32: 0> : tile<i32>
    %r = constant <i32: [3, 2, 1, 0]> : tile<4xi32>
    %pr_1 = reshape %p0 : tile<ptr<f16>> -> tile<1xptr<f16>>
    %pr_n = broadcast %pr_1 : tile<1xptr<f16>> -> tile<4xptr<f16>>
    %pr = offset %pr_n, %r : tile<4xptr<f16>>, tile<4xi32> -> tile<4xptr<f16>>
    %a, %a_k = load_ptr_tko relaxed device %pr : tile<4xptr<f16>> -> tile<4xf16>, token
    %a_ot = make_tensor_view %p1, shape = [4], strides = [1] : tensor_view<4xf16, strides=[1]>
    %a_ov = make_partition_view %a_ot : partition_view<tile=(4), tensor_view<4xf16, strides=[1]>>
    %a_ok = store_view_tko weak %a, %a_ov[%zero] : tile<4xf16>, partition_view<tile=(4), tensor_view<4xf16, strides=[1]>>, tile<i32> -> token
    %i = iota : tile<8xi32>
    %pi_1 = reshape %p0 : tile<ptr<f16>> -> tile<1xptr<f16>>
    %pi_n = broadcast %pi_1 : tile<1xptr<f16>> -> tile<8xptr<f16>>
    %pi = offset %pi_n, %i : tile<8xptr<f16>>, tile<8xi32> -> tile<8xptr<f16>>
    %four = constant <i32: 4> : tile<8xi32>
    %mask = cmpi less_than %i, %four, signed : tile<8xi32> -> tile<8xi1>
    %pad = constant <f16: -7.0> : tile<8xf16>
    %b, %b_k = load_ptr_tko weak %pi, %mask, %pad : tile<8xptr<f16>>, tile<8xi1>, tile<8xf16> -> tile<8xf16>, token
    %b_ot = make_tensor_view %p2, shape = [8], strides = [1] : tensor_view<8xf16, strides=[1]>
    %b_ov = make_partition_view %b_ot : partition_view<tile=(8), tensor_view<8xf16, strides=[1]>>
    %b_ok = store_view_tko weak %b, %b_ov[%zero] : tile<8xf16>, partition_view<tile=(8), tensor_view<8xf16, strides=[1]>>, tile<i32> -> token
    %d = constant <i32: [0, 0, 3, 3]> : tile<4xi32>
    %pd_1 = reshape %p0 : tile<ptr<f16>> -> tile<1xptr<f16>>
    %pd_n = broadcast %pd_1 : tile<1xptr<f16>> -> tile<4xptr<f16>>
    %pd = offset %pd_n, %d : tile<4xptr<f16>>, tile<4xi32> -> tile<4xptr<f16>>
    %c, %c_k = load_ptr_tko acquire sys %pd : tile<4xptr<f16>> -> tile<4xf16>, token
    %c_ot = make_tensor_view %p3, shape = [4], strides = [1] : tensor_view<4xf16, strides=[1]>
    %c_ov = make_partition_view %c_ot : partition_view<tile=(4), tensor_view<4xf16, strides=[1]>>
    %c_ok = store_view_tko weak %c, %c_ov[%zero] : tile<4xf16>, partition_view<tile=(4), tensor_view<4xf16, strides=[1]>>, tile<i32> -> token
    %e_t = make_tensor_view %p4, shape = [2], strides = [1] : tensor_view<2xi1, strides=[1]>
    %e_v = make_partition_view %e_t : partition_view<tile=(2), tensor_view<2xi1, strides=[1]>>
    %e, %e_k = load_view_tko weak %e_v[%zero] : partition_view<tile=(2), tensor_view<2xi1, strides=[1]>>, tile<i32> -> tile<2xi1>, token
    %e8 = exti %e unsigned : tile<2xi1> -> tile<2xi8>
    %e8_ot = make_tensor_view %p5, shape = [2], strides = [1] : tensor_view<2xi8, strides=[1]>
    %e8_ov = make_partition_view %e8_ot : partition_view<tile=(2), tensor_view<2xi8, strides=[1]>>
    %e8_ok = store_view_tko weak %e8, %e8_ov[%zero] : tile<2xi8>, partition_view<tile=(2), tensor_view<2xi8, strides=[1]>>, tile<i32> -> token
    return
  }
}
