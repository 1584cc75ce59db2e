// Every op that moves elements, on f64.
// grid: 1 1 1
// buffer: f64 0x0000000000000000 0x8000000000000000 0x7ff0000000000000 0xfff0000000000000 0x0000000000000001 0x7fefffffffffffff 0x3ff0000000000000 0x800fffffffffffff
// buffer: f64 0x0000000000000000 0x0000000000000000 0x0000000000000000 0x0000000000000000 -> 0xfff0000000000000 0x0000000000000001 0x7fefffffffffffff 0x3ff0000000000000
// buffer: f64 0x0000000000000000 0x0000000000000000 0x0000000000000000 0x0000000000000000 0x0000000000000000 0x0000000000000000 0x0000000000000000 0x0000000000000000 -> 0x3ff0000000000000 0x800fffffffffffff 0x7ff0000000000000 0xfff0000000000000 0x3ff0000000000000 0x800fffffffffffff 0x3ff0000000000000 0x800fffffffffffff
// buffer: f64 0x0000000000000000 0x0000000000000000 0x0000000000000000 0x0000000000000000 0x0000000000000000 0x0000000000000000 0x0000000000000000 0x0000000000000000 -> 0x0000000000000000 0x0000000000000001 0x8000000000000000 0x7fefffffffffffff 0x7ff0000000000000 0x3ff0000000000000 0xfff0000000000000 0x800fffffffffffff
// buffer: f64 0x0000000000000000 0x0000000000000000 0x0000000000000000 0x0000000000000000 0x0000000000000000 0x0000000000000000 0x0000000000000000 0x0000000000000000 -> 0x0000000000000000 0x8000000000000000 0x7ff0000000000000 0xfff0000000000000 0x0000000000000001 0x7fefffffffffffff 0x3ff0000000000000 0x800fffffffffffff
// buffer: f64 0x0000000000000000 0x0000000000000000 -> 0x0000000000000001 0x7fefffffffffffff
// buffer: f64 0x0000000000000000 0x0000000000000000 0x0000000000000000 0x0000000000000000 0x0000000000000000 0x0000000000000000 0x0000000000000000 0x0000000000000000 -> 0x0000000000000000 0x8000000000000000 0x0000000000000001 0x7fefffffffffffff 0x0000000000000001 0x7fefffffffffffff 0x3ff0000000000000 0x800fffffffffffff
// buffer: f64 0x0000000000000000 0x0000000000000000 0x0000000000000000 0x0000000000000000 0x0000000000000000 0x0000000000000000 0x0000000000000000 0x0000000000000000 -> 0x0000000000000001 0x7fefffffffffffff 0x0000000000000001 0x7fefffffffffffff 0x0000000000000001 0x7fefffffffffffff 0x0000000000000001 0x7fefffffffffffff
// buffer: f64 0x0000000000000000 0x0000000000000000 0x0000000000000000 0x0000000000000000 0x0000000000000000 0x0000000000000000 0x0000000000000000 0x0000000000000000 0x0000000000000000 0x0000000000000000 0x0000000000000000 0x0000000000000000 0x0000000000000000 0x0000000000000000 0x0000000000000000 0x0000000000000000 -> 0x0000000000000000 0x8000000000000000 0x7ff0000000000000 0xfff0000000000000 0x0000000000000000 0x8000000000000000 0x7ff0000000000000 0xfff0000000000000 0x0000000000000001 0x7fefffffffffffff 0x3ff0000000000000 0x800fffffffffffff 0x0000000000000001 0x7fefffffffffffff 0x3ff0000000000000 0x800fffffffffffff
// buffer: f64 0x0000000000000000 0x0000000000000000 0x0000000000000000 0x0000000000000000 0x0000000000000000 0x0000000000000000 0x0000000000000000 0x0000000000000000 -> 0x0000000000000000 0x3ff0000000000000 0x7ff0000000000000 0xfff0000000000000 0xfff0000000000000 0x7ff0000000000000 0x3ff0000000000000 0x0000000000000000
// buffer: f64 0x0000000000000000 0x0000000000000000 0x0000000000000000 0x0000000000000000 0x0000000000000000 0x0000000000000000 0x0000000000000000 0x0000000000000000 -> 0x0000000000000000 0x0000000000000000 0x7ff0000000000000 0xfff0000000000000 0x0000000000000000 0x0000000000000000 0x3ff0000000000000 0x0000000000000000
// buffer: f64 0x0000000000000000 0x0000000000000000 0x0000000000000000 0x0000000000000000 0x0000000000000000 0x0000000000000000 0x0000000000000000 0x0000000000000000 -> 0x0000000000000000 0x3ff0000000000000 0x7ff0000000000000 0xfff0000000000000 0xfff0000000000000 0x7ff0000000000000 0x3ff0000000000000 0x0000000000000000
// buffer: f64 0x0000000000000000 -> 0x7ff0000000000000
// buffer: f64 0x0000000000000000 -> 0xfff0000000000000
// buffer: f64 0x0000000000000000 0x0000000000000000 0x0000000000000000 0x0000000000000000 0x0000000000000000 0x0000000000000000 0x0000000000000000 0x0000000000000000 -> 0x800fffffffffffff 0x3ff0000000000000 0x7fefffffffffffff 0x0000000000000001 0xfff0000000000000 0x7ff0000000000000 0x8000000000000000 0x0000000000000000
// buffer: f64 0x0000000000000000 0x0000000000000000 0x0000000000000000 0x0000000000000000 0x0000000000000000 0x0000000000000000 0x0000000000000000 0x0000000000000000 -> 0x800fffffffffffff 0x3ff0000000000000 0x7fefffffffffffff 0x0000000000000001 0xfff0000000000000 0x7ff0000000000000 0x8000000000000000 0x0000000000000000
// buffer: f64 0x0000000000000000 0x0000000000000000 0x0000000000000000 0x0000000000000000 0x0000000000000000 0x0000000000000000 0x0000000000000000 0x0000000000000000 -> 0x0000000000000000 0x8000000000000000 0x7ff0000000000000 0xfff0000000000000 0x0000000000000001 0x7fefffffffffffff 0x3ff0000000000000 0x800fffffffffffff
// buffer: f64 0x0000000000000000 0x0000000000000000 0x0000000000000000 0x0000000000000000 0x0000000000000000 0x0000000000000000 0x0000000000000000 0x0000000000000000 -> 0x800fffffffffffff 0x3ff0000000000000 0x7fefffffffffffff 0x0000000000000001 0xfff0000000000000 0x7ff0000000000000 0x8000000000000000 0x0000000000000000
// buffer: f64 0x0000000000000000 0x8000000000000000 -> 0xfff0000000000000 0x8000000000000000
// buffer: f64 0x0000000000000000 0x0000000000000000 -> 0x0000000000000000 0x8000000000000000
// buffer: i8 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 -> 0x00 0x00 0x00 0x00 0x00 0x00 0x00 0x00 0x00 0x00 0x00 0x00 0x00 0x00 0x00 0x80 0x00 0x00 0x00 0x00 0x00 0x00 0xf0 0x7f 0x00 0x00 0x00 0x00 0x00 0x00 0xf0 0xff 0x01 0x00 0x00 0x00 0x00 0x00 0x00 0x00 0xff 0xff 0xff 0xff 0xff 0xff 0xef 0x7f 0x00 0x00 0x00 0x00 0x00 0x00 0xf0 0x3f 0xff 0xff 0xff 0xff 0xff 0xff 0x0f 0x80
// buffer: f64 0x0000000000000000 0x0000000000000000 0x0000000000000000 0x0000000000000000 0x0000000000000000 0x0000000000000000 0x0000000000000000 0x0000000000000000 -> 0x0000000000000000 0x8000000000000000 0x7ff0000000000000 0xfff0000000000000 0x0000000000000001 0x7fefffffffffffff 0x3ff0000000000000 0x800fffffffffffff
// buffer: f64 0x0000000000000000 -> 0x3ff0000000000000
cuda_tile.module @m {
  global @variable <f64: [0x0000000000000000, 0x8000000000000000, 0x7FF0000000000000, 0xFFF0000000000000]> : tile<4xf64>
  entry @every_type_f64(%in: tile<ptr<f64>>, %out1: tile<ptr<f64>>, %out2: tile<ptr<f64>>, %out3: tile<ptr<f64>>, %out4: tile<ptr<f64>>, %out5: tile<ptr<f64>>, %out6: tile<ptr<f64>>, %out7: tile<ptr<f64>>, %out8: tile<ptr<f64>>, %out9: tile<ptr<f64>>, %out10: tile<ptr<f64>>, %out11: tile<ptr<f64>>, %out12: tile<ptr<f64>>, %out13: tile<ptr<f64>>, %out14: tile<ptr<f64>>, %out15: tile<ptr<f64>>, %out16: tile<ptr<f64>>, %out17: tile<ptr<f64>>, %out18: tile<ptr<f64>>, %out19: tile<ptr<f64>>, %bytes: tile<ptr<i8>>, %out21: tile<ptr<f64>>, %out22: tile<ptr<f64>>) {
    %c0 = constant <i32: 0> : tile<i32>
    %c1 = constant <i32: 1> : tile<i32>
    %c2 = constant <i32: 2> : tile<i32>
    %c3 = constant <i32: 3> : tile<i32>
    %true = constant <i1: true> : tile<i1>
    %in_t = make_tensor_view %in, shape = [2, 4], strides = [4, 1] : tensor_view<2x4xf64, strides=[4,1]>
    %in_v = make_partition_view %in_t : partition_view<tile=(2x4), tensor_view<2x4xf64, strides=[4,1]>>
    %x, %x_k = load_view_tko weak %in_v[%c0, %c0] : partition_view<tile=(2x4), tensor_view<2x4xf64, strides=[4,1]>>, tile<i32> -> tile<2x4xf64>, token
    %line_t = make_tensor_view %in, shape = [8], strides = [1] : tensor_view<8xf64, strides=[1]>
    %strided = make_strided_view %line_t : strided_view<tile=(4), traversal_strides=[3], tensor_view<8xf64, strides=[1]>>
    %s, %s_k = load_view_tko weak %strided[%c1] : strided_view<tile=(4), traversal_strides=[3], tensor_view<8xf64, strides=[1]>>, tile<i32> -> tile<4xf64>, token
    %out1_t = make_tensor_view %out1, shape = [4], strides = [1] : tensor_view<4xf64, strides=[1]>
    %out1_v = make_partition_view %out1_t : partition_view<tile=(4), tensor_view<4xf64, strides=[1]>>
    %out1_k = store_view_tko weak %s, %out1_v[%c0] : tile<4xf64>, partition_view<tile=(4), tensor_view<4xf64, strides=[1]>>, tile<i32> -> token
    %sparse = make_gather_scatter_view %in_t : gather_scatter_view<tile=(4x2), tensor_view<2x4xf64, strides=[4,1]>, sparse_dim=0>
    %rows = constant <i32: [1, 0, 1, 1]> : tile<4xi32>
    %g, %g_k = load_view_tko weak %sparse[%rows, %c2] : gather_scatter_view<tile=(4x2), tensor_view<2x4xf64, strides=[4,1]>, sparse_dim=0>, tile<4xi32>, tile<i32> -> tile<4x2xf64>, token
    %out2_t = make_tensor_view %out2, shape = [4, 2], strides = [2, 1] : tensor_view<4x2xf64, strides=[2,1]>
    %out2_v = make_partition_view %out2_t : partition_view<tile=(4x2), tensor_view<4x2xf64, strides=[2,1]>>
    %out2_k = store_view_tko weak %g, %out2_v[%c0, %c0] : tile<4x2xf64>, partition_view<tile=(4x2), tensor_view<4x2xf64, strides=[2,1]>>, tile<i32> -> token
    %permuted = permute %x [1, 0] : tile<2x4xf64> -> tile<4x2xf64>
    %out3_t = make_tensor_view %out3, shape = [4, 2], strides = [2, 1] : tensor_view<4x2xf64, strides=[2,1]>
    %out3_v = make_partition_view %out3_t : partition_view<tile=(4x2), tensor_view<4x2xf64, strides=[2,1]>>
    %out3_k = store_view_tko weak %permuted, %out3_v[%c0, %c0] : tile<4x2xf64>, partition_view<tile=(4x2), tensor_view<4x2xf64, strides=[2,1]>>, tile<i32> -> token
    %flat = reshape %x : tile<2x4xf64> -> tile<8xf64>
    %out4_t = make_tensor_view %out4, shape = [8], strides = [1] : tensor_view<8xf64, strides=[1]>
    %out4_v = make_partition_view %out4_t : partition_view<tile=(8), tensor_view<8xf64, strides=[1]>>
    %out4_k = store_view_tko weak %flat, %out4_v[%c0] : tile<8xf64>, partition_view<tile=(8), tensor_view<8xf64, strides=[1]>>, tile<i32> -> token
    %part = extract %x[%c1, %c0] : tile<2x4xf64> -> tile<1x2xf64>
    %out5_t = make_tensor_view %out5, shape = [1, 2], strides = [2, 1] : tensor_view<1x2xf64, strides=[2,1]>
    %out5_v = make_partition_view %out5_t : partition_view<tile=(1x2), tensor_view<1x2xf64, strides=[2,1]>>
    %out5_k = store_view_tko weak %part, %out5_v[%c0, %c0] : tile<1x2xf64>, partition_view<tile=(1x2), tensor_view<1x2xf64, strides=[2,1]>>, tile<i32> -> token
    %put = insert %part, %x[%c0, %c1] : tile<1x2xf64>, tile<2x4xf64>
    %out6_t = make_tensor_view %out6, shape = [2, 4], strides = [4, 1] : tensor_view<2x4xf64, strides=[4,1]>
    %out6_v = make_partition_view %out6_t : partition_view<tile=(2x4), tensor_view<2x4xf64, strides=[4,1]>>
    %out6_k = store_view_tko weak %put, %out6_v[%c0, %c0] : tile<2x4xf64>, partition_view<tile=(2x4), tensor_view<2x4xf64, strides=[4,1]>>, tile<i32> -> token
    %wide = broadcast %part : tile<1x2xf64> -> tile<4x2xf64>
    %out7_t = make_tensor_view %out7, shape = [4, 2], strides = [2, 1] : tensor_view<4x2xf64, strides=[2,1]>
    %out7_v = make_partition_view %out7_t : partition_view<tile=(4x2), tensor_view<4x2xf64, strides=[2,1]>>
    %out7_k = store_view_tko weak %wide, %out7_v[%c0, %c0] : tile<4x2xf64>, partition_view<tile=(4x2), tensor_view<4x2xf64, strides=[2,1]>>, tile<i32> -> token
    %joined = cat %x, %x dim = 1 : tile<2x4xf64>, tile<2x4xf64> -> tile<2x8xf64>
    %out8_t = make_tensor_view %out8, shape = [2, 8], strides = [8, 1] : tensor_view<2x8xf64, strides=[8,1]>
    %out8_v = make_partition_view %out8_t : partition_view<tile=(2x8), tensor_view<2x8xf64, strides=[8,1]>>
    %out8_k = store_view_tko weak %joined, %out8_v[%c0, %c0] : tile<2x8xf64>, partition_view<tile=(2x8), tensor_view<2x8xf64, strides=[8,1]>>, tile<i32> -> token
    %constant = constant <f64: [0x800FFFFFFFFFFFFF, 0x3FF0000000000000, 0x7FEFFFFFFFFFFFFF, 0x0000000000000001, 0xFFF0000000000000, 0x7FF0000000000000, 0x8000000000000000, 0x0000000000000000]> : tile<8xf64>
    %which = constant <i1: [true, false, true, true, false, false, true, false]> : tile<8xi1>
    %chosen = select %which, %flat, %constant : tile<8xi1>, tile<8xf64>
    %out9_t = make_tensor_view %out9, shape = [8], strides = [1] : tensor_view<8xf64, strides=[1]>
    %out9_v = make_partition_view %out9_t : partition_view<tile=(8), tensor_view<8xf64, strides=[1]>>
    %out9_k = store_view_tko weak %chosen, %out9_v[%c0] : tile<8xf64>, partition_view<tile=(8), tensor_view<8xf64, strides=[1]>>, tile<i32> -> token
    %number = ptr_to_int %in : tile<ptr<f64>> -> tile<i64>
    %again = int_to_ptr %number : tile<i64> -> tile<ptr<f64>>
    %other = ptr_to_ptr %again : tile<ptr<f64>> -> tile<ptr<i64>>
    %back = ptr_to_ptr %other : tile<ptr<i64>> -> tile<ptr<f64>>
    %i = iota : tile<8xi32>
    %from_1 = reshape %back : tile<ptr<f64>> -> tile<1xptr<f64>>
    %from_n = broadcast %from_1 : tile<1xptr<f64>> -> tile<8xptr<f64>>
    %from = offset %from_n, %i : tile<8xptr<f64>>, tile<8xi32> -> tile<8xptr<f64>>
    %l, %l_k = load_ptr_tko weak %from, %which, %constant : tile<8xptr<f64>>, tile<8xi1>, tile<8xf64> -> tile<8xf64>, token
    %to_1 = reshape %out10 : tile<ptr<f64>> -> tile<1xptr<f64>>
    %to_n = broadcast %to_1 : tile<1xptr<f64>> -> tile<8xptr<f64>>
    %i64 = exti %i signed : tile<8xi32> -> tile<8xi64>
    %to = offset %to_n, %i64 : tile<8xptr<f64>>, tile<8xi64> -> tile<8xptr<f64>>
    %to_k = store_ptr_tko weak %to, %l, %which : tile<8xptr<f64>>, tile<8xf64>, tile<8xi1> -> token
    %out11_t = make_tensor_view %out11, shape = [8], strides = [1] : tensor_view<8xf64, strides=[1]>
    %out11_v = make_partition_view %out11_t : partition_view<tile=(8), tensor_view<8xf64, strides=[1]>>
    %out11_k = store_view_tko weak %l, %out11_v[%c0] : tile<8xf64>, partition_view<tile=(8), tensor_view<8xf64, strides=[1]>>, tile<i32> -> token
    %variable = get_global @variable : tile<ptr<f64>>
    %o0 = constant <i8: 2> : tile<i8>
    %at0 = offset %variable, %o0 : tile<ptr<f64>>, tile<i8> -> tile<ptr<f64>>
    %e0, %e0_k = load_ptr_tko weak %at0 : tile<ptr<f64>> -> tile<f64>, token
    %e0_1 = reshape %e0 : tile<f64> -> tile<1xf64>
    %out12_t = make_tensor_view %out12, shape = [1], strides = [1] : tensor_view<1xf64, strides=[1]>
    %out12_v = make_partition_view %out12_t : partition_view<tile=(1), tensor_view<1xf64, strides=[1]>>
    %out12_k = store_view_tko weak %e0_1, %out12_v[%c0] : tile<1xf64>, partition_view<tile=(1), tensor_view<1xf64, strides=[1]>>, tile<i32> -> token
    %o1 = constant <i16: 3> : tile<i16>
    %at1 = offset %variable, %o1 : tile<ptr<f64>>, tile<i16> -> tile<ptr<f64>>
    %e1, %e1_k = load_ptr_tko weak %at1 : tile<ptr<f64>> -> tile<f64>, token
    %e1_1 = reshape %e1 : tile<f64> -> tile<1xf64>
    %out13_t = make_tensor_view %out13, shape = [1], strides = [1] : tensor_view<1xf64, strides=[1]>
    %out13_v = make_partition_view %out13_t : partition_view<tile=(1), tensor_view<1xf64, strides=[1]>>
    %out13_k = store_view_tko weak %e1_1, %out13_v[%c0] : tile<1xf64>, partition_view<tile=(1), tensor_view<1xf64, strides=[1]>>, tile<i32> -> token
    %scratch = alloca num_elem = 8, alignment = 16 : tile<ptr<f64>>
    %scratch_1 = reshape %scratch : tile<ptr<f64>> -> tile<1xptr<f64>>
    %scratch_n = broadcast %scratch_1 : tile<1xptr<f64>> -> tile<8xptr<f64>>
    %cells = offset %scratch_n, %i : tile<8xptr<f64>>, tile<8xi32> -> tile<8xptr<f64>>
    %written = store_ptr_tko weak %cells, %flat : tile<8xptr<f64>>, tile<8xf64> -> token
    %seven = constant <i32: 7> : tile<8xi32>
    %turned = subi %seven, %i : tile<8xi32>
    %cells_r = offset %scratch_n, %turned : tile<8xptr<f64>>, tile<8xi32> -> tile<8xptr<f64>>
    %r, %r_k = load_ptr_tko weak %cells_r token=%written : tile<8xptr<f64>> -> tile<8xf64>, token
    %out14_t = make_tensor_view %out14, shape = [8], strides = [1] : tensor_view<8xf64, strides=[1]>
    %out14_v = make_partition_view %out14_t : partition_view<tile=(8), tensor_view<8xf64, strides=[1]>>
    %out14_k = store_view_tko weak %r, %out14_v[%c0] : tile<8xf64>, partition_view<tile=(8), tensor_view<8xf64, strides=[1]>>, tile<i32> -> token
    %id:3 = get_tile_block_id : tile<i32>
    %first = cmpi equal %id#0, %c0, signed : tile<i32> -> tile<i1>
    %branch = if %first -> (tile<8xf64>) {
      yield %constant : tile<8xf64>
    } else {
      yield %flat : tile<8xf64>
    }
    %out15_t = make_tensor_view %out15, shape = [8], strides = [1] : tensor_view<8xf64, strides=[1]>
    %out15_v = make_partition_view %out15_t : partition_view<tile=(8), tensor_view<8xf64, strides=[1]>>
    %out15_k = store_view_tko weak %branch, %out15_v[%c0] : tile<8xf64>, partition_view<tile=(8), tensor_view<8xf64, strides=[1]>>, tile<i32> -> token
    %swapped:2 = for %k in (%c0 to %c3, step %c1) : tile<i32> iter_values(%a = %flat, %b = %constant) -> (tile<8xf64>, tile<8xf64>) {
      continue %b, %a : tile<8xf64>, tile<8xf64>
    }
    %out16_t = make_tensor_view %out16, shape = [8], strides = [1] : tensor_view<8xf64, strides=[1]>
    %out16_v = make_partition_view %out16_t : partition_view<tile=(8), tensor_view<8xf64, strides=[1]>>
    %out16_k = store_view_tko weak %swapped#1, %out16_v[%c0] : tile<8xf64>, partition_view<tile=(8), tensor_view<8xf64, strides=[1]>>, tile<i32> -> token
    %left = loop iter_values(%n = %c0, %a = %flat) : tile<i32>, tile<8xf64> -> tile<8xf64> {
      %done = cmpi equal %n, %c2, signed : tile<i32> -> tile<i1>
      if %done {
        break %a : tile<8xf64>
      }
      %next = addi %n, %c1 : tile<i32>
      continue %next, %constant : tile<i32>, tile<8xf64>
    }
    %out17_t = make_tensor_view %out17, shape = [8], strides = [1] : tensor_view<8xf64, strides=[1]>
    %out17_v = make_partition_view %out17_t : partition_view<tile=(8), tensor_view<8xf64, strides=[1]>>
    %out17_k = store_view_tko weak %left, %out17_v[%c0] : tile<8xf64>, partition_view<tile=(8), tensor_view<8xf64, strides=[1]>>, tile<i32> -> token
    %two = iota : tile<2xi32>
    %cell_1 = reshape %out18 : tile<ptr<f64>> -> tile<1xptr<f64>>
    %cell_n = broadcast %cell_1 : tile<1xptr<f64>> -> tile<2xptr<f64>>
    %cell = offset %cell_n, %two : tile<2xptr<f64>>, tile<2xi32> -> tile<2xptr<f64>>
    %expected = constant <f64: [0x0000000000000000, 0x7FF0000000000000]> : tile<2xf64>
    %wanted = constant <f64: [0xFFF0000000000000, 0x0000000000000001]> : tile<2xf64>
    %was, %was_k = atomic_cas_tko acq_rel device %cell, %expected, %wanted : tile<2xptr<f64>>, tile<2xf64> -> tile<2xf64>, token
    %out19_t = make_tensor_view %out19, shape = [2], strides = [1] : tensor_view<2xf64, strides=[1]>
    %out19_v = make_partition_view %out19_t : partition_view<tile=(2), tensor_view<2xf64, strides=[1]>>
    %out19_k = store_view_tko weak %was, %out19_v[%c0] : tile<2xf64>, partition_view<tile=(2), tensor_view<2xf64, strides=[1]>>, tile<i32> -> token
    %packed = pack %flat : tile<8xf64> -> tile<64xi8>
    %bytes_t = make_tensor_view %bytes, shape = [64], strides = [1] : tensor_view<64xi8, strides=[1]>
    %bytes_v = make_partition_view %bytes_t : partition_view<tile=(64), tensor_view<64xi8, strides=[1]>>
    %bytes_k = store_view_tko weak %packed, %bytes_v[%c0] : tile<64xi8>, partition_view<tile=(64), tensor_view<64xi8, strides=[1]>>, tile<i32> -> token
    %unpacked = unpack %packed : tile<64xi8> -> tile<8xf64>
    %out21_t = make_tensor_view %out21, shape = [8], strides = [1] : tensor_view<8xf64, strides=[1]>
    %out21_v = make_partition_view %out21_t : partition_view<tile=(8), tensor_view<8xf64, strides=[1]>>
    %out21_k = store_view_tko weak %unpacked, %out21_v[%c0] : tile<8xf64>, partition_view<tile=(8), tensor_view<8xf64, strides=[1]>>, tile<i32> -> token
    %length = get_tensor_shape %line_t : tensor_view<8xf64, strides=[1]> -> tile<i64>
    %less = constant <i64: -2> : tile<i64>
    %last = addi %length, %less : tile<i64>
    %at_last = offset %in, %last : tile<ptr<f64>>, tile<i64> -> tile<ptr<f64>>
    %e_last, %e_last_k = load_ptr_tko weak %at_last : tile<ptr<f64>> -> tile<f64>, token
    %e_last_1 = reshape %e_last : tile<f64> -> tile<1xf64>
    %out22_t = make_tensor_view %out22, shape = [1], strides = [1] : tensor_view<1xf64, strides=[1]>
    %out22_v = make_partition_view %out22_t : partition_view<tile=(1), tensor_view<1xf64, strides=[1]>>
    %out22_k = store_view_tko weak %e_last_1, %out22_v[%c0] : tile<1xf64>, partition_view<tile=(1), tensor_view<1xf64, strides=[1]>>, tile<i32> -> token
    return
  }
}
