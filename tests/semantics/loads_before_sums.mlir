// Loads of more tiles than a thread has registers, which are used in another order, with a store in between.
// grid: 1 1 1
// buffer: f32 0.0*4096 1.0*4096 2.0*4096 3.0*4096 4.0*4096 5.0*4096 6.0*4096 7.0*4096 8.0*4096 9.0*4096 10.0*4096 11.0*4096 12.0*4096 13.0*4096 14.0*4096 15.0*4096 16.0*4096 17.0*4096 18.0*4096 19.0*4096
// buffer: f32 -1.0*8192 -> 308.0*4096 1945.0*4096
cuda_tile.module @m {
  entry @loads_before_sums(%x: tile<ptr<f32>>, %y: tile<ptr<f32>>) {
    %xa = assume div_by<16>, %x : tile<ptr<f32>>
    %ya = assume div_by<16>, %y : tile<ptr<f32>>
    %v = make_tensor_view %xa, shape = [81920], strides = [1] : tensor_view<81920xf32, strides=[1]>
    %w = make_tensor_view %ya, shape = [8192], strides = [1] : tensor_view<8192xf32, strides=[1]>
    %p = make_partition_view %v : partition_view<tile=(4096), tensor_view<81920xf32, strides=[1]>>
    %o = make_partition_view %w : partition_view<tile=(4096), tensor_view<8192xf32, strides=[1]>>
    %first, %by, %bz = get_tile_block_id : tile<i32>
    %s0 = constant <f32: 0.0> : tile<4096xf32>
    %c0 = constant <i32: 0> : tile<i32>
    %i0 = addi %first, %c0 : tile<i32>
    %a0, %t0 = load_view_tko weak %p[%i0] : partition_view<tile=(4096), tensor_view<81920xf32, strides=[1]>>, tile<i32> -> tile<4096xf32>, token
    %c1 = constant <i32: 1> : tile<i32>
    %i1 = addi %first, %c1 : tile<i32>
    %a1, %t1 = load_view_tko weak %p[%i1] : partition_view<tile=(4096), tensor_view<81920xf32, strides=[1]>>, tile<i32> -> tile<4096xf32>, token
    %c2 = constant <i32: 2> : tile<i32>
    %i2 = addi %first, %c2 : tile<i32>
    %a2, %t2 = load_view_tko weak %p[%i2] : partition_view<tile=(4096), tensor_view<81920xf32, strides=[1]>>, tile<i32> -> tile<4096xf32>, token
    %c3 = constant <i32: 3> : tile<i32>
    %i3 = addi %first, %c3 : tile<i32>
    %a3, %t3 = load_view_tko weak %p[%i3] : partition_view<tile=(4096), tensor_view<81920xf32, strides=[1]>>, tile<i32> -> tile<4096xf32>, token
    %c4 = constant <i32: 4> : tile<i32>
    %i4 = addi %first, %c4 : tile<i32>
    %a4, %t4 = load_view_tko weak %p[%i4] : partition_view<tile=(4096), tensor_view<81920xf32, strides=[1]>>, tile<i32> -> tile<4096xf32>, token
    %c5 = constant <i32: 5> : tile<i32>
    %i5 = addi %first, %c5 : tile<i32>
    %a5, %t5 = load_view_tko weak %p[%i5] : partition_view<tile=(4096), tensor_view<81920xf32, strides=[1]>>, tile<i32> -> tile<4096xf32>, token
    %c6 = constant <i32: 6> : tile<i32>
    %i6 = addi %first, %c6 : tile<i32>
    %a6, %t6 = load_view_tko weak %p[%i6] : partition_view<tile=(4096), tensor_view<81920xf32, strides=[1]>>, tile<i32> -> tile<4096xf32>, token
    %c7 = constant <i32: 7> : tile<i32>
    %i7 = addi %first, %c7 : tile<i32>
    %a7, %t7 = load_view_tko weak %p[%i7] : partition_view<tile=(4096), tensor_view<81920xf32, strides=[1]>>, tile<i32> -> tile<4096xf32>, token
    %c8 = constant <i32: 8> : tile<i32>
    %i8 = addi %first, %c8 : tile<i32>
    %a8, %t8 = load_view_tko weak %p[%i8] : partition_view<tile=(4096), tensor_view<81920xf32, strides=[1]>>, tile<i32> -> tile<4096xf32>, token
    %c9 = constant <i32: 9> : tile<i32>
    %i9 = addi %first, %c9 : tile<i32>
    %a9, %t9 = load_view_tko weak %p[%i9] : partition_view<tile=(4096), tensor_view<81920xf32, strides=[1]>>, tile<i32> -> tile<4096xf32>, token
    %c10 = constant <i32: 10> : tile<i32>
    %i10 = addi %first, %c10 : tile<i32>
    %a10, %t10 = load_view_tko weak %p[%i10] : partition_view<tile=(4096), tensor_view<81920xf32, strides=[1]>>, tile<i32> -> tile<4096xf32>, token
    %c11 = constant <i32: 11> : tile<i32>
    %i11 = addi %first, %c11 : tile<i32>
    %a11, %t11 = load_view_tko weak %p[%i11] : partition_view<tile=(4096), tensor_view<81920xf32, strides=[1]>>, tile<i32> -> tile<4096xf32>, token
    %c12 = constant <i32: 12> : tile<i32>
    %i12 = addi %first, %c12 : tile<i32>
    %a12, %t12 = load_view_tko weak %p[%i12] : partition_view<tile=(4096), tensor_view<81920xf32, strides=[1]>>, tile<i32> -> tile<4096xf32>, token
    %c13 = constant <i32: 13> : tile<i32>
    %i13 = addi %first, %c13 : tile<i32>
    %a13, %t13 = load_view_tko weak %p[%i13] : partition_view<tile=(4096), tensor_view<81920xf32, strides=[1]>>, tile<i32> -> tile<4096xf32>, token
    %c14 = constant <i32: 14> : tile<i32>
    %i14 = addi %first, %c14 : tile<i32>
    %a14, %t14 = load_view_tko weak %p[%i14] : partition_view<tile=(4096), tensor_view<81920xf32, strides=[1]>>, tile<i32> -> tile<4096xf32>, token
    %c15 = constant <i32: 15> : tile<i32>
    %i15 = addi %first, %c15 : tile<i32>
    %a15, %t15 = load_view_tko weak %p[%i15] : partition_view<tile=(4096), tensor_view<81920xf32, strides=[1]>>, tile<i32> -> tile<4096xf32>, token
    %c16 = constant <i32: 16> : tile<i32>
    %i16 = addi %first, %c16 : tile<i32>
    %a16, %t16 = load_view_tko weak %p[%i16] : partition_view<tile=(4096), tensor_view<81920xf32, strides=[1]>>, tile<i32> -> tile<4096xf32>, token
    %c17 = constant <i32: 17> : tile<i32>
    %i17 = addi %first, %c17 : tile<i32>
    %a17, %t17 = load_view_tko weak %p[%i17] : partition_view<tile=(4096), tensor_view<81920xf32, strides=[1]>>, tile<i32> -> tile<4096xf32>, token
    %c18 = constant <i32: 18> : tile<i32>
    %i18 = addi %first, %c18 : tile<i32>
    %a18, %t18 = load_view_tko weak %p[%i18] : partition_view<tile=(4096), tensor_view<81920xf32, strides=[1]>>, tile<i32> -> tile<4096xf32>, token
    %c19 = constant <i32: 19> : tile<i32>
    %i19 = addi %first, %c19 : tile<i32>
    %a19, %t19 = load_view_tko weak %p[%i19] : partition_view<tile=(4096), tensor_view<81920xf32, strides=[1]>>, tile<i32> -> tile<4096xf32>, token
    %k0 = constant <f32: 1.0> : tile<4096xf32>
    %m0 = mulf %a19, %k0 : tile<4096xf32>
    %s1 = addf %s0, %m0 : tile<4096xf32>
    %k1 = constant <f32: 2.0> : tile<4096xf32>
    %m1 = mulf %a17, %k1 : tile<4096xf32>
    %s2 = addf %s1, %m1 : tile<4096xf32>
    %k2 = constant <f32: 3.0> : tile<4096xf32>
    %m2 = mulf %a15, %k2 : tile<4096xf32>
    %s3 = addf %s2, %m2 : tile<4096xf32>
    %k3 = constant <f32: 4.0> : tile<4096xf32>
    %m3 = mulf %a13, %k3 : tile<4096xf32>
    %s4 = addf %s3, %m3 : tile<4096xf32>
    %k4 = constant <f32: 5.0> : tile<4096xf32>
    %m4 = mulf %a11, %k4 : tile<4096xf32>
    %s5 = addf %s4, %m4 : tile<4096xf32>
    %k5 = constant <f32: 6.0> : tile<4096xf32>
    %m5 = mulf %a9, %k5 : tile<4096xf32>
    %s6 = addf %s5, %m5 : tile<4096xf32>
    %k6 = constant <f32: 7.0> : tile<4096xf32>
    %m6 = mulf %a7, %k6 : tile<4096xf32>
    %s7 = addf %s6, %m6 : tile<4096xf32>
    %w1 = store_view_tko weak %s7, %o[%first] : tile<4096xf32>, partition_view<tile=(4096), tensor_view<8192xf32, strides=[1]>>, tile<i32> -> token
    %k7 = constant <f32: 8.0> : tile<4096xf32>
    %m7 = mulf %a5, %k7 : tile<4096xf32>
    %s8 = addf %s7, %m7 : tile<4096xf32>
    %k8 = constant <f32: 9.0> : tile<4096xf32>
    %m8 = mulf %a3, %k8 : tile<4096xf32>
    %s9 = addf %s8, %m8 : tile<4096xf32>
    %k9 = constant <f32: 10.0> : tile<4096xf32>
    %m9 = mulf %a1, %k9 : tile<4096xf32>
    %s10 = addf %s9, %m9 : tile<4096xf32>
    %k10 = constant <f32: 11.0> : tile<4096xf32>
    %m10 = mulf %a0, %k10 : tile<4096xf32>
    %s11 = addf %s10, %m10 : tile<4096xf32>
    %k11 = constant <f32: 12.0> : tile<4096xf32>
    %m11 = mulf %a2, %k11 : tile<4096xf32>
    %s12 = addf %s11, %m11 : tile<4096xf32>
    %k12 = constant <f32: 13.0> : tile<4096xf32>
    %m12 = mulf %a4, %k12 : tile<4096xf32>
    %s13 = addf %s12, %m12 : tile<4096xf32>
    %k13 = constant <f32: 14.0> : tile<4096xf32>
    %m13 = mulf %a6, %k13 : tile<4096xf32>
    %s14 = addf %s13, %m13 : tile<4096xf32>
    %k14 = constant <f32: 15.0> : tile<4096xf32>
    %m14 = mulf %a8, %k14 : tile<4096xf32>
    %s15 = addf %s14, %m14 : tile<4096xf32>
    %k15 = constant <f32: 16.0> : tile<4096xf32>
    %m15 = mulf %a10, %k15 : tile<4096xf32>
    %s16 = addf %s15, %m15 : tile<4096xf32>
    %k16 = constant <f32: 17.0> : tile<4096xf32>
    %m16 = mulf %a12, %k16 : tile<4096xf32>
    %s17 = addf %s16, %m16 : tile<4096xf32>
    %k17 = constant <f32: 18.0> : tile<4096xf32>
    %m17 = mulf %a14, %k17 : tile<4096xf32>
    %s18 = addf %s17, %m17 : tile<4096xf32>
    %k18 = constant <f32: 19.0> : tile<4096xf32>
    %m18 = mulf %a16, %k18 : tile<4096xf32>
    %s19 = addf %s18, %m18 : tile<4096xf32>
    %k19 = constant <f32: 20.0> : tile<4096xf32>
    %m19 = mulf %a18, %k19 : tile<4096xf32>
    %s20 = addf %s19, %m19 : tile<4096xf32>
    %w2 = store_view_tko weak %s20, %o[%c1] : tile<4096xf32>, partition_view<tile=(4096), tensor_view<8192xf32, strides=[1]>>, tile<i32> -> token
    return
  }
}
