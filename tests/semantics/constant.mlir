// Constants: nested lists, splats, bits, scalars, every type that memory holds.
// grid: 1 1 1
// buffer: f32 0.0*4 -> 1.0 -2.5 nan inf
// buffer: i8 0*4 -> -128 127 -1 0
// buffer: i1 0*4 -> 1 0 1 1
// buffer: i64 0*2 -> -9223372036854775808 9223372036854775807
// buffer: f16 0.0*4 -> 0.5*4
// buffer: bf16 0.0*2 -> 1.0 -1.0
// buffer: e4m3 0x00*2 -> 0x38 0x7e
// buffer: e5m2 0x00*2 -> 0x3c 0x7b
// buffer: tf32 0x0*2 -> 0x1fc00 0x20000
// buffer: f64 0.0*4 -> 1.0 2.0 3.0 4.0
// buffer: e8m0 0x00*2 -> 0x7f 0x80
// buffer: i16 0*2 -> -1 258
cuda_tile.module @m {
  entry @constant(%p0: tile<ptr<f32>>, %p1: tile<ptr<i8>>, %p2: tile<ptr<i1>>, %p3: tile<ptr<i64>>, %p4: tile<ptr<f16>>, %p5: tile<ptr<bf16>>, %p6: tile<ptr<f8E4M3FN>>, %p7: tile<ptr<f8E5M2>>, %p8: tile<ptr<tf32>>, %p9: tile<ptr<f64>>, %p10: tile<ptr<f8E8M0FNU>>, %p11: tile<ptr<i16>>) {
    %zero = constant <i32: 0> : tile<i32>
    %a = constant <f32: [1.0, -2.5, 0x7FC00000, 0x7F800000]> : tile<4xf32>
    %b = constant <i8: [-128, 127, 255, 0]> : tile<4xi8>
    %c = constant <i1: [true, false, true, 1]> : tile<4xi1>
    %d = constant <i64: [-9223372036854775808, 9223372036854775807]> : tile<2xi64>
    %e = constant <f16: 0.5> : tile<4xf16>
    %f = constant <bf16: [1.0, -1.0]> : tile<2xbf16>
    %g = constant <f8E4M3FN: [1.0, 448.0]> : tile<2xf8E4M3FN>
    %h = constant <f8E5M2: [1.0, 57344.0]> : tile<2xf8E5M2>
    %i = constant <tf32: [1.0, 2.0]> : tile<2xtf32>
    %j = constant <f64: [[1.0, 2.0], [3.0, 4.0]]> : tile<2x2xf64>
    %k = constant <f8E8M0FNU: [1.0, 2.0]> : tile<2xf8E8M0FNU>
    %l = constant <i16: [65535, 258]> : tile<2xi16>
    %a_ot = make_tensor_view %p0, shape = [4], strides = [1] : tensor_view<4xf32, strides=[1]>
    %a_ov = make_partition_view %a_ot : partition_view<tile=(4), tensor_view<4xf32, strides=[1]>>
    %a_ok = store_view_tko weak %a, %a_ov[%zero] : tile<4xf32>, partition_view<tile=(4), tensor_view<4xf32, strides=[1]>>, tile<i32> -> token
    %b_ot = make_tensor_view %p1, shape = [4], strides = [1] : tensor_view<4xi8, strides=[1]>
    %b_ov = make_partition_view %b_ot : partition_view<tile=(4), tensor_view<4xi8, strides=[1]>>
    %b_ok = store_view_tko weak %b, %b_ov[%zero] : tile<4xi8>, partition_view<tile=(4), tensor_view<4xi8, strides=[1]>>, tile<i32> -> token
    %c_ot = make_tensor_view %p2, shape = [4], strides = [1] : tensor_view<4xi1, strides=[1]>
    %c_ov = make_partition_view %c_ot : partition_view<tile=(4), tensor_view<4xi1, strides=[1]>>
    %c_ok = store_view_tko weak %c, %c_ov[%zero] : tile<4xi1>, partition_view<tile=(4), tensor_view<4xi1, strides=[1]>>, tile<i32> -> token
    %d_ot = make_tensor_view %p3, shape = [2], strides = [1] : tensor_view<2xi64, strides=[1]>
    %d_ov = make_partition_view %d_ot : partition_view<tile=(2), tensor_view<2xi64, strides=[1]>>
    %d_ok = store_view_tko weak %d, %d_ov[%zero] : tile<2xi64>, partition_view<tile=(2), tensor_view<2xi64, strides=[1]>>, tile<i32> -> token
    %e_ot = make_tensor_view %p4, shape = [4], strides = [1] : tensor_view<4xf16, strides=[1]>
    %e_ov = make_partition_view %e_ot : partition_view<tile=(4), tensor_view<4xf16, strides=[1]>>
    %e_ok = store_view_tko weak %e, %e_ov[%zero] : tile<4xf16>, partition_view<tile=(4), tensor_view<4xf16, strides=[1]>>, tile<i32> -> token
    %f_ot = make_tensor_view %p5, shape = [2], strides = [1] : tensor_view<2xbf16, strides=[1]>
    %f_ov = make_partition_view %f_ot : partition_view<tile=(2), tensor_view<2xbf16, strides=[1]>>
    %f_ok = store_view_tko weak %f, %f_ov[%zero] : tile<2xbf16>, partition_view<tile=(2), tensor_view<2xbf16, strides=[1]>>, tile<i32> -> token
    %g_ot = make_tensor_view %p6, shape = [2], strides = [1] : tensor_view<2xf8E4M3FN, strides=[1]>
    %g_ov = make_partition_view %g_ot : partition_view<tile=(2), tensor_view<2xf8E4M3FN, strides=[1]>>
    %g_ok = store_view_tko weak %g, %g_ov[%zero] : tile<2xf8E4M3FN>, partition_view<tile=(2), tensor_view<2xf8E4M3FN, strides=[1]>>, tile<i32> -> token
    %h_ot = make_tensor_view %p7, shape = [2], strides = [1] : tensor_view<2xf8E5M2, strides=[1]>
    %h_ov = make_partition_view %h_ot : partition_view<tile=(2), tensor_view<2xf8E5M2, strides=[1]>>
    %h_ok = store_view_tko weak %h, %h_ov[%zero] : tile<2xf8E5M2>, partition_view<tile=(2), tensor_view<2xf8E5M2, strides=[1]>>, tile<i32> -> token
    %i_ot = make_tensor_view %p8, shape = [2], strides = [1] : tensor_view<2xtf32, strides=[1]>
    %i_ov = make_partition_view %i_ot : partition_view<tile=(2), tensor_view<2xtf32, strides=[1]>>
    %i_ok = store_view_tko weak %i, %i_ov[%zero] : tile<2xtf32>, partition_view<tile=(2), tensor_view<2xtf32, strides=[1]>>, tile<i32> -> token
    %j_ot = make_tensor_view %p9, shape = [2, 2], strides = [2, 1] : tensor_view<2x2xf64, strides=[2,1]>
    %j_ov = make_partition_view %j_ot : partition_view<tile=(2x2), tensor_view<2x2xf64, strides=[2,1]>>
    %j_ok = store_view_tko weak %j, %j_ov[%zero, %zero] : tile<2x2xf64>, partition_view<tile=(2x2), tensor_view<2x2xf64, strides=[2,1]>>, tile<i32> -> token
    %k_ot = make_tensor_view %p10, shape = [2], strides = [1] : tensor_view<2xf8E8M0FNU, strides=[1]>
    %k_ov = make_partition_view %k_ot : partition_view<tile=(2), tensor_view<2xf8E8M0FNU, strides=[1]>>
    %k_ok = store_view_tko weak %k, %k_ov[%zero] : tile<2xf8E8M0FNU>, partition_view<tile=(2), tensor_view<2xf8E8M0FNU, strides=[1]>>, tile<i32> -> token
    %l_ot = make_tensor_view %p11, shape = [2], strides = [1] : tensor_view<2xi16, strides=[1]>
    %l_ov = make_partition_view %l_ot : partition_view<tile=(2), tensor_view<2xi16, strides=[1]>>
    %l_ok = store_view_tko weak %l, %l_ov[%zero] : tile<2xi16>, partition_view<tile=(2), tensor_view<2xi16, strides=[1]>>, tile<i32> -> token
    return
  }
}
