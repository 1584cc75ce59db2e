// The comparison is of bits: -0.0 is not 0.0, and a NaN equals itself. Masked lanes give what was compared with.
// grid: 1 1 1
// buffer: i32 1 2 3 4 -> 10 2 3 40
// buffer: i32 0*4 -> 1 2 3 4
// buffer: f32 0.0 0x7fc00001 -> 0.0 5.0
// buffer: f32 9.0*2 -> 0.0 0x7fc00001
// buffer: i64 -1 -> 7
// buffer: i64 0 -> -1
// buffer: i32 1 2 -> 1 20
// buffer: i32 0*2 -> 5 2
cuda_tile.module @m {
  entry @atomic_cas(%p0: tile<ptr<i32>>, %p1: tile<ptr<i32>>, %p2: tile<ptr<f32>>, %p3: tile<ptr<f32>>, %p4: tile<ptr<i64>>, %p5: tile<ptr<i64>>, %p6: tile<ptr<i32>>, %p7: tile<ptr<i32>>) {
    %zero = constant <i32: 0> : tile<i32>
    %i = iota : tile<4xi32>
    %pi_1 = reshape %p0 : tile<ptr<i32>> -> tile<1xptr<i32>>
    %pi_n = broadcast %pi_1 : tile<1xptr<i32>> -> tile<4xptr<i32>>
    %pi = offset %pi_n, %i : tile<4xptr<i32>>, tile<4xi32> -> tile<4xptr<i32>>
    %cmp = constant <i32: [1, 7, -3, 4]> : tile<4xi32>
    %val = constant <i32: [10, 20, 30, 40]> : tile<4xi32>
    %a, %a_k = atomic_cas_tko acq_rel device %pi, %cmp, %val : tile<4xptr<i32>>, tile<4xi32> -> tile<4xi32>, token
    %a_ot = make_tensor_view %p1, shape = [4], strides = [1] : tensor_view<4xi32, strides=[1]>
    %a_ov = make_partition_view %a_ot : partition_view<tile=(4), tensor_view<4xi32, strides=[1]>>
    %a_ok = store_view_tko weak %a, %a_ov[%zero] : tile<4xi32>, partition_view<tile=(4), tensor_view<4xi32, strides=[1]>>, tile<i32> -> token
    %j = iota : tile<2xi32>
    %pf_1 = reshape %p2 : tile<ptr<f32>> -> tile<1xptr<f32>>
    %pf_n = broadcast %pf_1 : tile<1xptr<f32>> -> tile<2xptr<f32>>
    %pf = offset %pf_n, %j : tile<2xptr<f32>>, tile<2xi32> -> tile<2xptr<f32>>
    %fc = constant <f32: [-0.0, 0x7FC00001]> : tile<2xf32>
    %fv = constant <f32: [4.0, 5.0]> : tile<2xf32>
    %b, %b_k = atomic_cas_tko relaxed sys %pf, %fc, %fv : tile<2xptr<f32>>, tile<2xf32> -> tile<2xf32>, token
    %b_ot = make_tensor_view %p3, shape = [2], strides = [1] : tensor_view<2xf32, strides=[1]>
    %b_ov = make_partition_view %b_ot : partition_view<tile=(2), tensor_view<2xf32, strides=[1]>>
    %b_ok = store_view_tko weak %b, %b_ov[%zero] : tile<2xf32>, partition_view<tile=(2), tensor_view<2xf32, strides=[1]>>, tile<i32> -> token
    %lc = constant <i64: -1> : tile<i64>
    %lv = constant <i64: 7> : tile<i64>
    %c, %c_k = atomic_cas_tko release device %p4, %lc, %lv : tile<ptr<i64>>, tile<i64> -> tile<i64>, token
    %c_s = store_ptr_tko weak %p5, %c : tile<ptr<i64>>, tile<i64> -> token
    %pm_1 = reshape %p6 : tile<ptr<i32>> -> tile<1xptr<i32>>
    %pm_n = broadcast %pm_1 : tile<1xptr<i32>> -> tile<2xptr<i32>>
    %pm = offset %pm_n, %j : tile<2xptr<i32>>, tile<2xi32> -> tile<2xptr<i32>>
    %mc = constant <i32: [5, 2]> : tile<2xi32>
    %mv = constant <i32: [10, 20]> : tile<2xi32>
    %m = constant <i1: [false, true]> : tile<2xi1>
    %d, %d_k = atomic_cas_tko acquire tl_blk %pm, %mc, %mv, %m : tile<2xptr<i32>>, tile<2xi32>, tile<2xi1> -> tile<2xi32>, token
    %d_ot = make_tensor_view %p7, shape = [2], strides = [1] : tensor_view<2xi32, strides=[1]>
    %d_ov = make_partition_view %d_ot : partition_view<tile=(2), tensor_view<2xi32, strides=[1]>>
    %d_ok = store_view_tko weak %d, %d_ov[%zero] : tile<2xi32>, partition_view<tile=(2), tensor_view<2xi32, strides=[1]>>, tile<i32> -> token
    return
  }
}
