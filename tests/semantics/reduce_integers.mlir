// Every integer combination, along either dimension.
// grid: 1 1 1
// buffer: i32 -5 2 -4 3 -3 4 -2 5 -1 6 0 7 1 -5 2 -4 3 -3 4 -2 5 -1 6 0 7 1 -5 2 -4 3 -3 4
// buffer: i32 0*8 -> 4 6 -5 10 -1 1 3 5
// buffer: i32 0*4 -> 0 6 12 5
// buffer: i32 0*8 -> 105 -36 0 -84 60 60 72 0
// buffer: i32 0*4 -> 14400 0 0 -10080
// buffer: i32 0*8 -> 7 6 4 7 5 4 6 5
// buffer: i32 0*4 -> 5 7 6 7
// buffer: i32 0*8 -> -5 -3 -5 -2 -4 -5 -3 -4
// buffer: i32 0*4 -> -5 -5 -3 -5
// buffer: i32 0*8 -> 3 0 0 2 0 0 0 0
// buffer: i32 0*4 -> 0 0 0 0
// buffer: i32 0*8 -> -1 -1 -1 -1 -3 -1 -1 -3
// buffer: i32 0*4 -> -1 -1 -1 -1
// buffer: i32 0*8 -> 0 -8 3 -8 5 3 7 -3
// buffer: i32 0*4 -> 4 -6 -8 -7
// buffer: i32 0*8 -> -1 -3 -4 -2 -3 -1 -2 -4
// buffer: i32 0*4 -> -2 -1 -1 -3
cuda_tile.module @m {
  entry @reduce_integers(%p0: tile<ptr<i32>>, %p1: tile<ptr<i32>>, %p2: tile<ptr<i32>>, %p3: tile<ptr<i32>>, %p4: tile<ptr<i32>>, %p5: tile<ptr<i32>>, %p6: tile<ptr<i32>>, %p7: tile<ptr<i32>>, %p8: tile<ptr<i32>>, %p9: tile<ptr<i32>>, %p10: tile<ptr<i32>>, %p11: tile<ptr<i32>>, %p12: tile<ptr<i32>>, %p13: tile<ptr<i32>>, %p14: tile<ptr<i32>>, %p15: tile<ptr<i32>>, %p16: tile<ptr<i32>>) {
    %zero = constant <i32: 0> : tile<i32>
    %x_t = make_tensor_view %p0, shape = [4, 8], strides = [8, 1] : tensor_view<4x8xi32, strides=[8,1]>
    %x_v = make_partition_view %x_t : partition_view<tile=(4x8), tensor_view<4x8xi32, strides=[8,1]>>
    %x, %x_k = load_view_tko weak %x_v[%zero, %zero] : partition_view<tile=(4x8), tensor_view<4x8xi32, strides=[8,1]>>, tile<i32> -> tile<4x8xi32>, token
    %r1 = reduce %x dim=0 identities=[0 : i32] : tile<4x8xi32> -> tile<8xi32>
    (%a1: tile<i32>, %b1: tile<i32>) {
      %c1 = addi %a1, %b1 : tile<i32>
      yield %c1 : tile<i32>
    }
    %r1_ot = make_tensor_view %p1, shape = [8], strides = [1] : tensor_view<8xi32, strides=[1]>
    %r1_ov = make_partition_view %r1_ot : partition_view<tile=(8), tensor_view<8xi32, strides=[1]>>
    %r1_ok = store_view_tko weak %r1, %r1_ov[%zero] : tile<8xi32>, partition_view<tile=(8), tensor_view<8xi32, strides=[1]>>, tile<i32> -> token
    %r2 = reduce %x dim=1 identities=[0 : i32] : tile<4x8xi32> -> tile<4xi32>
    (%a2: tile<i32>, %b2: tile<i32>) {
      %c2 = addi %a2, %b2 : tile<i32>
      yield %c2 : tile<i32>
    }
    %r2_ot = make_tensor_view %p2, shape = [4], strides = [1] : tensor_view<4xi32, strides=[1]>
    %r2_ov = make_partition_view %r2_ot : partition_view<tile=(4), tensor_view<4xi32, strides=[1]>>
    %r2_ok = store_view_tko weak %r2, %r2_ov[%zero] : tile<4xi32>, partition_view<tile=(4), tensor_view<4xi32, strides=[1]>>, tile<i32> -> token
    %r3 = reduce %x dim=0 identities=[1 : i32] : tile<4x8xi32> -> tile<8xi32>
    (%a3: tile<i32>, %b3: tile<i32>) {
      %c3 = muli %a3, %b3 : tile<i32>
      yield %c3 : tile<i32>
    }
    %r3_ot = make_tensor_view %p3, shape = [8], strides = [1] : tensor_view<8xi32, strides=[1]>
    %r3_ov = make_partition_view %r3_ot : partition_view<tile=(8), tensor_view<8xi32, strides=[1]>>
    %r3_ok = store_view_tko weak %r3, %r3_ov[%zero] : tile<8xi32>, partition_view<tile=(8), tensor_view<8xi32, strides=[1]>>, tile<i32> -> token
    %r4 = reduce %x dim=1 identities=[1 : i32] : tile<4x8xi32> -> tile<4xi32>
    (%a4: tile<i32>, %b4: tile<i32>) {
      %c4 = muli %a4, %b4 : tile<i32>
      yield %c4 : tile<i32>
    }
    %r4_ot = make_tensor_view %p4, shape = [4], strides = [1] : tensor_view<4xi32, strides=[1]>
    %r4_ov = make_partition_view %r4_ot : partition_view<tile=(4), tensor_view<4xi32, strides=[1]>>
    %r4_ok = store_view_tko weak %r4, %r4_ov[%zero] : tile<4xi32>, partition_view<tile=(4), tensor_view<4xi32, strides=[1]>>, tile<i32> -> token
    %r5 = reduce %x dim=0 identities=[-2147483648 : i32] : tile<4x8xi32> -> tile<8xi32>
    (%a5: tile<i32>, %b5: tile<i32>) {
      %c5 = maxi %a5, %b5 signed : tile<i32>
      yield %c5 : tile<i32>
    }
    %r5_ot = make_tensor_view %p5, shape = [8], strides = [1] : tensor_view<8xi32, strides=[1]>
    %r5_ov = make_partition_view %r5_ot : partition_view<tile=(8), tensor_view<8xi32, strides=[1]>>
    %r5_ok = store_view_tko weak %r5, %r5_ov[%zero] : tile<8xi32>, partition_view<tile=(8), tensor_view<8xi32, strides=[1]>>, tile<i32> -> token
    %r6 = reduce %x dim=1 identities=[-2147483648 : i32] : tile<4x8xi32> -> tile<4xi32>
    (%a6: tile<i32>, %b6: tile<i32>) {
      %c6 = maxi %a6, %b6 signed : tile<i32>
      yield %c6 : tile<i32>
    }
    %r6_ot = make_tensor_view %p6, shape = [4], strides = [1] : tensor_view<4xi32, strides=[1]>
    %r6_ov = make_partition_view %r6_ot : partition_view<tile=(4), tensor_view<4xi32, strides=[1]>>
    %r6_ok = store_view_tko weak %r6, %r6_ov[%zero] : tile<4xi32>, partition_view<tile=(4), tensor_view<4xi32, strides=[1]>>, tile<i32> -> token
    %r7 = reduce %x dim=0 identities=[2147483647 : i32] : tile<4x8xi32> -> tile<8xi32>
    (%a7: tile<i32>, %b7: tile<i32>) {
      %c7 = mini %a7, %b7 signed : tile<i32>
      yield %c7 : tile<i32>
    }
    %r7_ot = make_tensor_view %p7, shape = [8], strides = [1] : tensor_view<8xi32, strides=[1]>
    %r7_ov = make_partition_view %r7_ot : partition_view<tile=(8), tensor_view<8xi32, strides=[1]>>
    %r7_ok = store_view_tko weak %r7, %r7_ov[%zero] : tile<8xi32>, partition_view<tile=(8), tensor_view<8xi32, strides=[1]>>, tile<i32> -> token
    %r8 = reduce %x dim=1 identities=[2147483647 : i32] : tile<4x8xi32> -> tile<4xi32>
    (%a8: tile<i32>, %b8: tile<i32>) {
      %c8 = mini %a8, %b8 signed : tile<i32>
      yield %c8 : tile<i32>
    }
    %r8_ot = make_tensor_view %p8, shape = [4], strides = [1] : tensor_view<4xi32, strides=[1]>
    %r8_ov = make_partition_view %r8_ot : partition_view<tile=(4), tensor_view<4xi32, strides=[1]>>
    %r8_ok = store_view_tko weak %r8, %r8_ov[%zero] : tile<4xi32>, partition_view<tile=(4), tensor_view<4xi32, strides=[1]>>, tile<i32> -> token
    %r9 = reduce %x dim=0 identities=[-1 : i32] : tile<4x8xi32> -> tile<8xi32>
    (%a9: tile<i32>, %b9: tile<i32>) {
      %c9 = andi %a9, %b9 : tile<i32>
      yield %c9 : tile<i32>
    }
    %r9_ot = make_tensor_view %p9, shape = [8], strides = [1] : tensor_view<8xi32, strides=[1]>
    %r9_ov = make_partition_view %r9_ot : partition_view<tile=(8), tensor_view<8xi32, strides=[1]>>
    %r9_ok = store_view_tko weak %r9, %r9_ov[%zero] : tile<8xi32>, partition_view<tile=(8), tensor_view<8xi32, strides=[1]>>, tile<i32> -> token
    %r10 = reduce %x dim=1 identities=[-1 : i32] : tile<4x8xi32> -> tile<4xi32>
    (%a10: tile<i32>, %b10: tile<i32>) {
      %c10 = andi %a10, %b10 : tile<i32>
      yield %c10 : tile<i32>
    }
    %r10_ot = make_tensor_view %p10, shape = [4], strides = [1] : tensor_view<4xi32, strides=[1]>
    %r10_ov = make_partition_view %r10_ot : partition_view<tile=(4), tensor_view<4xi32, strides=[1]>>
    %r10_ok = store_view_tko weak %r10, %r10_ov[%zero] : tile<4xi32>, partition_view<tile=(4), tensor_view<4xi32, strides=[1]>>, tile<i32> -> token
    %r11 = reduce %x dim=0 identities=[0 : i32] : tile<4x8xi32> -> tile<8xi32>
    (%a11: tile<i32>, %b11: tile<i32>) {
      %c11 = ori %a11, %b11 : tile<i32>
      yield %c11 : tile<i32>
    }
    %r11_ot = make_tensor_view %p11, shape = [8], strides = [1] : tensor_view<8xi32, strides=[1]>
    %r11_ov = make_partition_view %r11_ot : partition_view<tile=(8), tensor_view<8xi32, strides=[1]>>
    %r11_ok = store_view_tko weak %r11, %r11_ov[%zero] : tile<8xi32>, partition_view<tile=(8), tensor_view<8xi32, strides=[1]>>, tile<i32> -> token
    %r12 = reduce %x dim=1 identities=[0 : i32] : tile<4x8xi32> -> tile<4xi32>
    (%a12: tile<i32>, %b12: tile<i32>) {
      %c12 = ori %a12, %b12 : tile<i32>
      yield %c12 : tile<i32>
    }
    %r12_ot = make_tensor_view %p12, shape = [4], strides = [1] : tensor_view<4xi32, strides=[1]>
    %r12_ov = make_partition_view %r12_ot : partition_view<tile=(4), tensor_view<4xi32, strides=[1]>>
    %r12_ok = store_view_tko weak %r12, %r12_ov[%zero] : tile<4xi32>, partition_view<tile=(4), tensor_view<4xi32, strides=[1]>>, tile<i32> -> token
    %r13 = reduce %x dim=0 identities=[0 : i32] : tile<4x8xi32> -> tile<8xi32>
    (%a13: tile<i32>, %b13: tile<i32>) {
      %c13 = xori %a13, %b13 : tile<i32>
      yield %c13 : tile<i32>
    }
    %r13_ot = make_tensor_view %p13, shape = [8], strides = [1] : tensor_view<8xi32, strides=[1]>
    %r13_ov = make_partition_view %r13_ot : partition_view<tile=(8), tensor_view<8xi32, strides=[1]>>
    %r13_ok = store_view_tko weak %r13, %r13_ov[%zero] : tile<8xi32>, partition_view<tile=(8), tensor_view<8xi32, strides=[1]>>, tile<i32> -> token
    %r14 = reduce %x dim=1 identities=[0 : i32] : tile<4x8xi32> -> tile<4xi32>
    (%a14: tile<i32>, %b14: tile<i32>) {
      %c14 = xori %a14, %b14 : tile<i32>
      yield %c14 : tile<i32>
    }
    %r14_ot = make_tensor_view %p14, shape = [4], strides = [1] : tensor_view<4xi32, strides=[1]>
    %r14_ov = make_partition_view %r14_ot : partition_view<tile=(4), tensor_view<4xi32, strides=[1]>>
    %r14_ok = store_view_tko weak %r14, %r14_ov[%zero] : tile<4xi32>, partition_view<tile=(4), tensor_view<4xi32, strides=[1]>>, tile<i32> -> token
    %r15 = reduce %x dim=0 identities=[0 : i32] : tile<4x8xi32> -> tile<8xi32>
    (%a15: tile<i32>, %b15: tile<i32>) {
      %c15 = maxi %a15, %b15 unsigned : tile<i32>
      yield %c15 : tile<i32>
    }
    %r15_ot = make_tensor_view %p15, shape = [8], strides = [1] : tensor_view<8xi32, strides=[1]>
    %r15_ov = make_partition_view %r15_ot : partition_view<tile=(8), tensor_view<8xi32, strides=[1]>>
    %r15_ok = store_view_tko weak %r15, %r15_ov[%zero] : tile<8xi32>, partition_view<tile=(8), tensor_view<8xi32, strides=[1]>>, tile<i32> -> token
    %r16 = reduce %x dim=1 identities=[0 : i32] : tile<4x8xi32> -> tile<4xi32>
    (%a16: tile<i32>, %b16: tile<i32>) {
      %c16 = maxi %a16, %b16 unsigned : tile<i32>
      yield %c16 : tile<i32>
    }
    %r16_ot = make_tensor_view %p16, shape = [4], strides = [1] : tensor_view<4xi32, strides=[1]>
    %r16_ov = make_partition_view %r16_ot : partition_view<tile=(4), tensor_view<4xi32, strides=[1]>>
    %r16_ok = store_view_tko weak %r16, %r16_ov[%zero] : tile<4xi32>, partition_view<tile=(4), tensor_view<4xi32, strides=[1]>>, tile<i32> -> token
    return
  }
}
