// Variables of the module, with initial values: constant, private, aligned, written to.
// grid: 1 1 1
// buffer: i32 0*4 -> 10 20 30 40
// buffer: f16 0.0*2 -> 1.5*2
// buffer: i32 0 -> 5
// buffer: i1 0*2 -> 1 0
cuda_tile.module @m {
  global constant @table alignment = 128 <i32: [10, 20, 30, 40]> : tile<4xi32>
  global private constant @halves <f16: 1.5> : tile<2xf16>
  global @variable <i32: 3> : tile<1xi32>
  global constant @flags <i1: [true, false]> : tile<2xi1>
  entry @global(%p0: tile<ptr<i32>>, %p1: tile<ptr<f16>>, %p2: tile<ptr<i32>>, %p3: tile<ptr<i1>>) {
    %zero = constant <i32: 0> : tile<i32>
    %g = get_global @table : tile<ptr<i32>>
    %i = iota : tile<4xi32>
    %pi_1 = reshape %g : tile<ptr<i32>> -> tile<1xptr<i32>>
    %pi_n = broadcast %pi_1 : tile<1xptr<i32>> -> tile<4xptr<i32>>
    %pi = offset %pi_n, %i : tile<4xptr<i32>>, tile<4xi32> -> tile<4xptr<i32>>
    %a, %a_k = load_ptr_tko weak %pi : tile<4xptr<i32>> -> tile<4xi32>, token
    %a_ot = make_tensor_view %p0, shape = [4], strides = [1] : tensor_view<4xi32, strides=[1]>
    %a_ov = make_partition_view %a_ot : partition_view<tile=(4), tensor_view<4xi32, strides=[1]>>
    %a_ok = store_view_tko weak %a, %a_ov[%zero] : tile<4xi32>, partition_view<tile=(4), tensor_view<4xi32, strides=[1]>>, tile<i32> -> token
    %h = get_global @halves : tile<ptr<f16>>
    %j = iota : tile<2xi32>
    %pj_1 = reshape %h : tile<ptr<f16>> -> tile<1xptr<f16>>
    %pj_n = broadcast %pj_1 : tile<1xptr<f16>> -> tile<2xptr<f16>>
    %pj = offset %pj_n, %j : tile<2xptr<f16>>, tile<2xi32> -> tile<2xptr<f16>>
    %b, %b_k = load_ptr_tko weak %pj : tile<2xptr<f16>> -> tile<2xf16>, token
    %b_ot = make_tensor_view %p1, shape = [2], strides = [1] : tensor_view<2xf16, strides=[1]>
    %b_ov = make_partition_view %b_ot : partition_view<tile=(2), tensor_view<2xf16, strides=[1]>>
    %b_ok = store_view_tko weak %b, %b_ov[%zero] : tile<2xf16>, partition_view<tile=(2), tensor_view<2xf16, strides=[1]>>, tile<i32> -> token
    %v = get_global @variable : tile<ptr<i32>>
    %two = constant <i32: 2> : tile<i32>
    %c, %c_k = atomic_rmw_tko relaxed device %v, add, %two : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
    %d, %d_k = load_ptr_tko relaxed device %v token=%c_k : tile<ptr<i32>> -> tile<i32>, token
    %d_s = store_ptr_tko weak %p2, %d : tile<ptr<i32>>, tile<i32> -> token
    %f = get_global @flags : tile<ptr<i1>>
    %pk_1 = reshape %f : tile<ptr<i1>> -> tile<1xptr<i1>>
    %pk_n = broadcast %pk_1 : tile<1xptr<i1>> -> tile<2xptr<i1>>
    %pk = offset %pk_n, %j : tile<2xptr<i1>>, tile<2xi32> -> tile<2xptr<i1>>
    %e, %e_k = load_ptr_tko weak %pk : tile<2xptr<i1>> -> tile<2xi1>, token
    %e_ot = make_tensor_view %p3, shape = [2], strides = [1] : tensor_view<2xi1, strides=[1]>
    %e_ov = make_partition_view %e_ot : partition_view<tile=(2), tensor_view<2xi1, strides=[1]>>
    %e_ok = store_view_tko weak %e, %e_ov[%zero] : tile<2xi1>, partition_view<tile=(2), tensor_view<2xi1, strides=[1]>>, tile<i32> -> token
    return
  }
}
