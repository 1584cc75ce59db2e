// Scatters: all orders; masked lanes write nothing.
// grid: 1 1 1
// buffer: i32 1 2 3 4
// buffer: i32 0*4 -> 4 3 2 1
// buffer: i32 9*4 -> 1 9 3 9
// buffer: i32 0*4 -> 1 2 3 4
// buffer: i1 0*4 -> 0 1 0 1
// buffer: f64 0.0 -> -2.5
cuda_tile.module @m {
  entry @store_ptr(%p0: tile<ptr<i32>>, %p1: tile<ptr<i32>>, %p2: tile<ptr<i32>>, %p3: tile<ptr<i32>>, %p4: tile<ptr<i1>>, %p5: tile<ptr<f64>>) {
    %zero = constant <i32: 0> : tile<i32>
    %x_t = make_tensor_view %p0, shape = [4], strides = [1] : tensor_view<4xi32, strides=[1]>
    %x_v = make_partition_view %x_t : partition_view<tile=(4), tensor_view<4xi32, strides=[1]>>
    %x, %x_k = load_view_tko weak %x_v[%zero] : partition_view<tile=(4), tensor_view<4xi32, strides=[1]>>, tile<i32> -> tile<4xi32>, token
    %r = constant <i32: [3, 2, 1, 0]> : tile<4xi32>
    %pr_1 = reshape %p1 : tile<ptr<i32>> -> tile<1xptr<i32>>
    %pr_n = broadcast %pr_1 : tile<1xptr<i32>> -> tile<4xptr<i32>>
    %pr = offset %pr_n, %r : tile<4xptr<i32>>, tile<4xi32> -> tile<4xptr<i32>>
    %k1 = store_ptr_tko weak %pr, %x : tile<4xptr<i32>>, tile<4xi32> -> token
    %i = iota : tile<4xi32>
    %pi_1 = reshape %p2 : tile<ptr<i32>> -> tile<1xptr<i32>>
    %pi_n = broadcast %pi_1 : tile<1xptr<i32>> -> tile<4xptr<i32>>
    %pi = offset %pi_n, %i : tile<4xptr<i32>>, tile<4xi32> -> tile<4xptr<i32>>
    %m = constant <i1: [true, false, true, false]> : tile<4xi1>
    %k2 = store_ptr_tko relaxed device %pi, %x, %m : tile<4xptr<i32>>, tile<4xi32>, tile<4xi1> -> token
    %pj_1 = reshape %p3 : tile<ptr<i32>> -> tile<1xptr<i32>>
    %pj_n = broadcast %pj_1 : tile<1xptr<i32>> -> tile<4xptr<i32>>
    %pj = offset %pj_n, %i : tile<4xptr<i32>>, tile<4xi32> -> tile<4xptr<i32>>
    %k3 = store_ptr_tko release sys %pj, %x : tile<4xptr<i32>>, tile<4xi32> -> token
    %one = constant <i32: 1> : tile<4xi32>
    %zz = constant <i32: 0> : tile<4xi32>
    %even = andi %x, %one : tile<4xi32>
    %odd = cmpi equal %even, %zz, signed : tile<4xi32> -> tile<4xi1>
    %pb_1 = reshape %p4 : tile<ptr<i1>> -> tile<1xptr<i1>>
    %pb_n = broadcast %pb_1 : tile<1xptr<i1>> -> tile<4xptr<i1>>
    %pb = offset %pb_n, %i : tile<4xptr<i1>>, tile<4xi32> -> tile<4xptr<i1>>
    %k4 = store_ptr_tko weak %pb, %odd : tile<4xptr<i1>>, tile<4xi1> -> token
    %s = constant <f64: -2.5> : tile<f64>
    %k5 = store_ptr_tko weak %p5, %s : tile<ptr<f64>>, tile<f64> -> token
    return
  }
}
