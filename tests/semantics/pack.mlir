// Bits of elements, lowest first, as bytes.
// grid: 1 1 1
// buffer: i16 0x0102 0x8003
// buffer: i8 0*4 -> 0x02 0x01 0x03 0x80
// buffer: i1 1 0 0 0 0 0 0 1 1 1 0 0 0 0 0 0
// buffer: i8 0*2 -> 0x81 0x03
// buffer: f32 1.0
// buffer: i8 0*4 -> 0 0 0x80 0x3f
// buffer: i8 1 2 15 -8
// buffer: i8 0*2 -> 0x21 0x8f
// buffer: f32 1.0 -2.0 0.5 6.0
// buffer: i8 0*2 -> 0xc2 0x71
// buffer: tf32 0x1fc00
// buffer: i8 0*4 -> 0 0 0x80 0x3f
cuda_tile.module @m {
  entry @pack(%p0: tile<ptr<i16>>, %p1: tile<ptr<i8>>, %p2: tile<ptr<i1>>, %p3: tile<ptr<i8>>, %p4: tile<ptr<f32>>, %p5: tile<ptr<i8>>, %p6: tile<ptr<i8>>, %p7: tile<ptr<i8>>, %p8: tile<ptr<f32>>, %p9: tile<ptr<i8>>, %p10: tile<ptr<tf32>>, %p11: tile<ptr<i8>>) {
    %zero = constant <i32: 0> : tile<i32>
    %a_t = make_tensor_view %p0, shape = [2], strides = [1] : tensor_view<2xi16, strides=[1]>
    %a_v = make_partition_view %a_t : partition_view<tile=(2), tensor_view<2xi16, strides=[1]>>
    %a, %a_k = load_view_tko weak %a_v[%zero] : partition_view<tile=(2), tensor_view<2xi16, strides=[1]>>, tile<i32> -> tile<2xi16>, token
    %ap = pack %a : tile<2xi16> -> tile<4xi8>
    %ap_ot = make_tensor_view %p1, shape = [4], strides = [1] : tensor_view<4xi8, strides=[1]>
    %ap_ov = make_partition_view %ap_ot : partition_view<tile=(4), tensor_view<4xi8, strides=[1]>>
    %ap_ok = store_view_tko weak %ap, %ap_ov[%zero] : tile<4xi8>, partition_view<tile=(4), tensor_view<4xi8, strides=[1]>>, tile<i32> -> token
    %b_t = make_tensor_view %p2, shape = [16], strides = [1] : tensor_view<16xi1, strides=[1]>
    %b_v = make_partition_view %b_t : partition_view<tile=(16), tensor_view<16xi1, strides=[1]>>
    %b, %b_k = load_view_tko weak %b_v[%zero] : partition_view<tile=(16), tensor_view<16xi1, strides=[1]>>, tile<i32> -> tile<16xi1>, token
    %bp = pack %b : tile<16xi1> -> tile<2xi8>
    %bp_ot = make_tensor_view %p3, shape = [2], strides = [1] : tensor_view<2xi8, strides=[1]>
    %bp_ov = make_partition_view %bp_ot : partition_view<tile=(2), tensor_view<2xi8, strides=[1]>>
    %bp_ok = store_view_tko weak %bp, %bp_ov[%zero] : tile<2xi8>, partition_view<tile=(2), tensor_view<2xi8, strides=[1]>>, tile<i32> -> token
    %c_t = make_tensor_view %p4, shape = [1], strides = [1] : tensor_view<1xf32, strides=[1]>
    %c_v = make_partition_view %c_t : partition_view<tile=(1), tensor_view<1xf32, strides=[1]>>
    %c, %c_k = load_view_tko weak %c_v[%zero] : partition_view<tile=(1), tensor_view<1xf32, strides=[1]>>, tile<i32> -> tile<1xf32>, token
    %cp = pack %c : tile<1xf32> -> tile<4xi8>
    %cp_ot = make_tensor_view %p5, shape = [4], strides = [1] : tensor_view<4xi8, strides=[1]>
    %cp_ov = make_partition_view %cp_ot : partition_view<tile=(4), tensor_view<4xi8, strides=[1]>>
    %cp_ok = store_view_tko weak %cp, %cp_ov[%zero] : tile<4xi8>, partition_view<tile=(4), tensor_view<4xi8, strides=[1]>>, tile<i32> -> token
    %d_t = make_tensor_view %p6, shape = [4], strides = [1] : tensor_view<4xi8, strides=[1]>
    %d_v = make_partition_view %d_t : partition_view<tile=(4), tensor_view<4xi8, strides=[1]>>
    %d, %d_k = load_view_tko weak %d_v[%zero] : partition_view<tile=(4), tensor_view<4xi8, strides=[1]>>, tile<i32> -> tile<4xi8>, token
    %dn = trunci %d : tile<4xi8> -> tile<4xi4>
    %dp = pack %dn : tile<4xi4> -> tile<2xi8>
    %dp_ot = make_tensor_view %p7, shape = [2], strides = [1] : tensor_view<2xi8, strides=[1]>
    %dp_ov = make_partition_view %dp_ot : partition_view<tile=(2), tensor_view<2xi8, strides=[1]>>
    %dp_ok = store_view_tko weak %dp, %dp_ov[%zero] : tile<2xi8>, partition_view<tile=(2), tensor_view<2xi8, strides=[1]>>, tile<i32> -> token
    %e_t = make_tensor_view %p8, shape = [4], strides = [1] : tensor_view<4xf32, strides=[1]>
    %e_v = make_partition_view %e_t : partition_view<tile=(4), tensor_view<4xf32, strides=[1]>>
    %e, %e_k = load_view_tko weak %e_v[%zero] : partition_view<tile=(4), tensor_view<4xf32, strides=[1]>>, tile<i32> -> tile<4xf32>, token
    %en = ftof %e : tile<4xf32> -> tile<4xf4E2M1FN>
    %ep = pack %en : tile<4xf4E2M1FN> -> tile<2xi8>
    %ep_ot = make_tensor_view %p9, shape = [2], strides = [1] : tensor_view<2xi8, strides=[1]>
    %ep_ov = make_partition_view %ep_ot : partition_view<tile=(2), tensor_view<2xi8, strides=[1]>>
    %ep_ok = store_view_tko weak %ep, %ep_ov[%zero] : tile<2xi8>, partition_view<tile=(2), tensor_view<2xi8, strides=[1]>>, tile<i32> -> token
    %f_t = make_tensor_view %p10, shape = [1], strides = [1] : tensor_view<1xtf32, strides=[1]>
    %f_v = make_partition_view %f_t : partition_view<tile=(1), tensor_view<1xtf32, strides=[1]>>
    %f, %f_k = load_view_tko weak %f_v[%zero] : partition_view<tile=(1), tensor_view<1xtf32, strides=[1]>>, tile<i32> -> tile<1xtf32>, token
    %fp = pack %f : tile<1xtf32> -> tile<4xi8>
    %fp_ot = make_tensor_view %p11, shape = [4], strides = [1] : tensor_view<4xi8, strides=[1]>
    %fp_ov = make_partition_view %fp_ot : partition_view<tile=(4), tensor_view<4xi8, strides=[1]>>
    %fp_ok = store_view_tko weak %fp, %fp_ov[%zero] : tile<4xi8>, partition_view<tile=(4), tensor_view<4xi8, strides=[1]>>, tile<i32> -> token
    return
  }
}
