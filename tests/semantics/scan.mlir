// Inclusive prefixes, from either end, along either dimension.
// grid: 1 1 1
// buffer: i32 3 1 4 1 5 9 2 6
// buffer: i32 0*8 -> 3 4 8 9 14 23 25 31
// buffer: i32 0*8 -> 31 28 27 23 22 17 8 6
// buffer: i32 0*8 -> 3 3 4 4 5 9 9 9
// buffer: i32 0*8 -> 3 1 4 1 15 9 8 6
// buffer: i32 0*8 -> 7 4 5 1 8 13 4 6
// buffer: f32 0.0*8 -> 3.0 4.0 8.0 9.0 14.0 23.0 25.0 31.0
cuda_tile.module @m {
  entry @scan(%p0: tile<ptr<i32>>, %p1: tile<ptr<i32>>, %p2: tile<ptr<i32>>, %p3: tile<ptr<i32>>, %p4: tile<ptr<i32>>, %p5: tile<ptr<i32>>, %p6: tile<ptr<f32>>) {
    %zero = constant <i32: 0> : tile<i32>
    %x_t = make_tensor_view %p0, shape = [8], strides = [1] : tensor_view<8xi32, strides=[1]>
    %x_v = make_partition_view %x_t : partition_view<tile=(8), tensor_view<8xi32, strides=[1]>>
    %x, %x_k = load_view_tko weak %x_v[%zero] : partition_view<tile=(8), tensor_view<8xi32, strides=[1]>>, tile<i32> -> tile<8xi32>, token
    %s = scan %x dim=0 reverse=false identities=[0 : i32] : tile<8xi32> -> tile<8xi32>
    (%a0: tile<i32>, %b0: tile<i32>) {
      %c0 = addi %a0, %b0 : tile<i32>
      yield %c0 : tile<i32>
    }
    %t = scan %x dim=0 reverse=true identities=[0 : i32] : tile<8xi32> -> tile<8xi32>
    (%a1: tile<i32>, %b1: tile<i32>) {
      %c1 = addi %a1, %b1 : tile<i32>
      yield %c1 : tile<i32>
    }
    %u = scan %x dim=0 reverse=false identities=[-2147483648 : i32] : tile<8xi32> -> tile<8xi32>
    (%a2: tile<i32>, %b2: tile<i32>) {
      %c2 = maxi %a2, %b2 signed : tile<i32>
      yield %c2 : tile<i32>
    }
    %s_ot = make_tensor_view %p1, shape = [8], strides = [1] : tensor_view<8xi32, strides=[1]>
    %s_ov = make_partition_view %s_ot : partition_view<tile=(8), tensor_view<8xi32, strides=[1]>>
    %s_ok = store_view_tko weak %s, %s_ov[%zero] : tile<8xi32>, partition_view<tile=(8), tensor_view<8xi32, strides=[1]>>, tile<i32> -> token
    %t_ot = make_tensor_view %p2, shape = [8], strides = [1] : tensor_view<8xi32, strides=[1]>
    %t_ov = make_partition_view %t_ot : partition_view<tile=(8), tensor_view<8xi32, strides=[1]>>
    %t_ok = store_view_tko weak %t, %t_ov[%zero] : tile<8xi32>, partition_view<tile=(8), tensor_view<8xi32, strides=[1]>>, tile<i32> -> token
    %u_ot = make_tensor_view %p3, shape = [8], strides = [1] : tensor_view<8xi32, strides=[1]>
    %u_ov = make_partition_view %u_ot : partition_view<tile=(8), tensor_view<8xi32, strides=[1]>>
    %u_ok = store_view_tko weak %u, %u_ov[%zero] : tile<8xi32>, partition_view<tile=(8), tensor_view<8xi32, strides=[1]>>, tile<i32> -> token
    %y = reshape %x : tile<8xi32> -> tile<2x4xi32>
    %v = scan %y dim=0 reverse=false identities=[1 : i32] : tile<2x4xi32> -> tile<2x4xi32>
    (%a3: tile<i32>, %b3: tile<i32>) {
      %c3 = muli %a3, %b3 : tile<i32>
      yield %c3 : tile<i32>
    }
    %v_ot = make_tensor_view %p4, shape = [2, 4], strides = [4, 1] : tensor_view<2x4xi32, strides=[4,1]>
    %v_ov = make_partition_view %v_ot : partition_view<tile=(2x4), tensor_view<2x4xi32, strides=[4,1]>>
    %v_ok = store_view_tko weak %v, %v_ov[%zero, %zero] : tile<2x4xi32>, partition_view<tile=(2x4), tensor_view<2x4xi32, strides=[4,1]>>, tile<i32> -> token
    %w = scan %y dim=1 reverse=true identities=[0 : i32] : tile<2x4xi32> -> tile<2x4xi32>
    (%a4: tile<i32>, %b4: tile<i32>) {
      %c4 = xori %a4, %b4 : tile<i32>
      yield %c4 : tile<i32>
    }
    %w_ot = make_tensor_view %p5, shape = [2, 4], strides = [4, 1] : tensor_view<2x4xi32, strides=[4,1]>
    %w_ov = make_partition_view %w_ot : partition_view<tile=(2x4), tensor_view<2x4xi32, strides=[4,1]>>
    %w_ok = store_view_tko weak %w, %w_ov[%zero, %zero] : tile<2x4xi32>, partition_view<tile=(2x4), tensor_view<2x4xi32, strides=[4,1]>>, tile<i32> -> token
    %z = itof %x signed : tile<8xi32> -> tile<8xf32>
    %f = scan %z dim=0 reverse=false identities=[0.0 : f32] : tile<8xf32> -> tile<8xf32>
    (%a5: tile<f32>, %b5: tile<f32>) {
      %c5 = addf %a5, %b5 : tile<f32>
      yield %c5 : tile<f32>
    }
    %f_ot = make_tensor_view %p6, shape = [8], strides = [1] : tensor_view<8xf32, strides=[1]>
    %f_ov = make_partition_view %f_ot : partition_view<tile=(8), tensor_view<8xf32, strides=[1]>>
    %f_ok = store_view_tko weak %f, %f_ov[%zero] : tile<8xf32>, partition_view<tile=(8), tensor_view<8xf32, strides=[1]>>, tile<i32> -> token
    return
  }
}
