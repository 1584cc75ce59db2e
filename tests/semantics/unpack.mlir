// Bytes as elements of another width.
// grid: 1 1 1
// buffer: i8 0x02 0x01 0x03 0x80
// buffer: i16 0*2 -> 0x0102 0x8003
// buffer: i32 0 -> 0x80030102
// buffer: i1 0*32 -> 0 1 0*6 1 0*7 1 1 0*6 0*7 1
// buffer: i8 0*8 -> 2 0 1 0 3 0 0 -8
// buffer: f32 0.0*8 -> 1.0 0.0 0.5 0.0 1.5 0.0 0.0 -0.0
cuda_tile.module @m {
  entry @unpack(%p0: tile<ptr<i8>>, %p1: tile<ptr<i16>>, %p2: tile<ptr<i32>>, %p3: tile<ptr<i1>>, %p4: tile<ptr<i8>>, %p5: tile<ptr<f32>>) {
    %zero = constant <i32: 0> : tile<i32>
    %x_t = make_tensor_view %p0, shape = [4], strides = [1] : tensor_view<4xi8, strides=[1]>
    %x_v = make_partition_view %x_t : partition_view<tile=(4), tensor_view<4xi8, strides=[1]>>
    %x, %x_k = load_view_tko weak %x_v[%zero] : partition_view<tile=(4), tensor_view<4xi8, strides=[1]>>, tile<i32> -> tile<4xi8>, token
    %a = unpack %x : tile<4xi8> -> tile<2xi16>
    %b = unpack %x : tile<4xi8> -> tile<1xi32>
    %c = unpack %x : tile<4xi8> -> tile<32xi1>
    %dn = unpack %x : tile<4xi8> -> tile<8xi4>
    %d = exti %dn signed : tile<8xi4> -> tile<8xi8>
    %en = unpack %x : tile<4xi8> -> tile<8xf4E2M1FN>
    %e = ftof %en : tile<8xf4E2M1FN> -> tile<8xf32>
    %a_ot = make_tensor_view %p1, shape = [2], strides = [1] : tensor_view<2xi16, strides=[1]>
    %a_ov = make_partition_view %a_ot : partition_view<tile=(2), tensor_view<2xi16, strides=[1]>>
    %a_ok = store_view_tko weak %a, %a_ov[%zero] : tile<2xi16>, partition_view<tile=(2), tensor_view<2xi16, strides=[1]>>, tile<i32> -> token
    %b_ot = make_tensor_view %p2, shape = [1], strides = [1] : tensor_view<1xi32, strides=[1]>
    %b_ov = make_partition_view %b_ot : partition_view<tile=(1), tensor_view<1xi32, strides=[1]>>
    %b_ok = store_view_tko weak %b, %b_ov[%zero] : tile<1xi32>, partition_view<tile=(1), tensor_view<1xi32, strides=[1]>>, tile<i32> -> token
    %c_ot = make_tensor_view %p3, shape = [32], strides = [1] : tensor_view<32xi1, strides=[1]>
    %c_ov = make_partition_view %c_ot : partition_view<tile=(32), tensor_view<32xi1, strides=[1]>>
    %c_ok = store_view_tko weak %c, %c_ov[%zero] : tile<32xi1>, partition_view<tile=(32), tensor_view<32xi1, strides=[1]>>, tile<i32> -> token
    %d_ot = make_tensor_view %p4, shape = [8], strides = [1] : tensor_view<8xi8, strides=[1]>
    %d_ov = make_partition_view %d_ot : partition_view<tile=(8), tensor_view<8xi8, strides=[1]>>
    %d_ok = store_view_tko weak %d, %d_ov[%zero] : tile<8xi8>, partition_view<tile=(8), tensor_view<8xi8, strides=[1]>>, tile<i32> -> token
    %e_ot = make_tensor_view %p5, shape = [8], strides = [1] : tensor_view<8xf32, strides=[1]>
    %e_ov = make_partition_view %e_ot : partition_view<tile=(8), tensor_view<8xf32, strides=[1]>>
    %e_ok = store_view_tko weak %e, %e_ov[%zero] : tile<8xf32>, partition_view<tile=(8), tensor_view<8xf32, strides=[1]>>, tile<i32> -> token
    return
  }
}
