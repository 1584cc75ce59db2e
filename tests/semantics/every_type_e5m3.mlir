// Every op that moves elements, on fnv8E5M3FNU.
// grid: 1 1 1
// buffer: e5m3 0x00 0x01 0x07 0x08 0x78 0xfe 0xff 0x80
// buffer: e5m3 0x00 0x00 0x00 0x00 -> 0x08 0x78 0xfe 0xff
// buffer: e5m3 0x00 0x00 0x00 0x00 0x00 0x00 0x00 0x00 -> 0xff 0x80 0x07 0x08 0xff 0x80 0xff 0x80
// buffer: e5m3 0x00 0x00 0x00 0x00 0x00 0x00 0x00 0x00 -> 0x00 0x78 0x01 0xfe 0x07 0xff 0x08 0x80
// buffer: e5m3 0x00 0x00 0x00 0x00 0x00 0x00 0x00 0x00 -> 0x00 0x01 0x07 0x08 0x78 0xfe 0xff 0x80
// buffer: e5m3 0x00 0x00 -> 0x78 0xfe
// buffer: e5m3 0x00 0x00 0x00 0x00 0x00 0x00 0x00 0x00 -> 0x00 0x01 0x78 0xfe 0x78 0xfe 0xff 0x80
// buffer: e5m3 0x00 0x00 0x00 0x00 0x00 0x00 0x00 0x00 -> 0x78 0xfe 0x78 0xfe 0x78 0xfe 0x78 0xfe
// buffer: e5m3 0x00 0x00 0x00 0x00 0x00 0x00 0x00 0x00 0x00 0x00 0x00 0x00 0x00 0x00 0x00 0x00 -> 0x00 0x01 0x07 0x08 0x00 0x01 0x07 0x08 0x78 0xfe 0xff 0x80 0x78 0xfe 0xff 0x80
// buffer: e5m3 0x00 0x00 0x00 0x00 0x00 0x00 0x00 0x00 -> 0x00 0xff 0x07 0x08 0x08 0x07 0xff 0x00
// buffer: e5m3 0x00 0x00 0x00 0x00 0x00 0x00 0x00 0x00 -> 0x00 0x00 0x07 0x08 0x00 0x00 0xff 0x00
// buffer: e5m3 0x00 0x00 0x00 0x00 0x00 0x00 0x00 0x00 -> 0x00 0xff 0x07 0x08 0x08 0x07 0xff 0x00
// buffer: e5m3 0x00 -> 0x07
// buffer: e5m3 0x00 -> 0x08
// buffer: e5m3 0x00 0x00 0x00 0x00 0x00 0x00 0x00 0x00 -> 0x80 0xff 0xfe 0x78 0x08 0x07 0x01 0x00
// buffer: e5m3 0x00 0x00 0x00 0x00 0x00 0x00 0x00 0x00 -> 0x80 0xff 0xfe 0x78 0x08 0x07 0x01 0x00
// buffer: e5m3 0x00 0x00 0x00 0x00 0x00 0x00 0x00 0x00 -> 0x00 0x01 0x07 0x08 0x78 0xfe 0xff 0x80
// buffer: e5m3 0x00 0x00 0x00 0x00 0x00 0x00 0x00 0x00 -> 0x80 0xff 0xfe 0x78 0x08 0x07 0x01 0x00
// buffer: e5m3 0x00 -> 0xff
cuda_tile.module @m {
  global @variable <fnv8E5M3FNU: [0x00, 0x01, 0x07, 0x08]> : tile<4xfnv8E5M3FNU>
  entry @every_type_e5m3(%in: tile<ptr<fnv8E5M3FNU>>, %out1: tile<ptr<fnv8E5M3FNU>>, %out2: tile<ptr<fnv8E5M3FNU>>, %out3: tile<ptr<fnv8E5M3FNU>>, %out4: tile<ptr<fnv8E5M3FNU>>, %out5: tile<ptr<fnv8E5M3FNU>>, %out6: tile<ptr<fnv8E5M3FNU>>, %out7: tile<ptr<fnv8E5M3FNU>>, %out8: tile<ptr<fnv8E5M3FNU>>, %out9: tile<ptr<fnv8E5M3FNU>>, %out10: tile<ptr<fnv8E5M3FNU>>, %out11: tile<ptr<fnv8E5M3FNU>>, %out12: tile<ptr<fnv8E5M3FNU>>, %out13: tile<ptr<fnv8E5M3FNU>>, %out14: tile<ptr<fnv8E5M3FNU>>, %out15: tile<ptr<fnv8E5M3FNU>>, %out16: tile<ptr<fnv8E5M3FNU>>, %out17: tile<ptr<fnv8E5M3FNU>>, %out18: tile<ptr<fnv8E5M3FNU>>) {
    %c0 = constant <i32: 0> : tile<i32>
    %c1 = constant <i32: 1> : tile<i32>
    %c2 = constant <i32: 2> : tile<i32>
    %c3 = constant <i32: 3> : tile<i32>
    %true = constant <i1: true> : tile<i1>
    %in_t = make_tensor_view %in, shape = [2, 4], strides = [4, 1] : tensor_view<2x4xfnv8E5M3FNU, strides=[4,1]>
    %in_v = make_partition_view %in_t : partition_view<tile=(2x4), tensor_view<2x4xfnv8E5M3FNU, strides=[4,1]>>
    %x, %x_k = load_view_tko weak %in_v[%c0, %c0] : partition_view<tile=(2x4), tensor_view<2x4xfnv8E5M3FNU, strides=[4,1]>>, tile<i32> -> tile<2x4xfnv8E5M3FNU>, token
    %line_t = make_tensor_view %in, shape = [8], strides = [1] : tensor_view<8xfnv8E5M3FNU, strides=[1]>
    %strided = make_strided_view %line_t : strided_view<tile=(4), traversal_strides=[3], tensor_view<8xfnv8E5M3FNU, strides=[1]>>
    %s, %s_k = load_view_tko weak %strided[%c1] : strided_view<tile=(4), traversal_strides=[3], tensor_view<8xfnv8E5M3FNU, strides=[1]>>, tile<i32> -> tile<4xfnv8E5M3FNU>, token
    %out1_t = make_tensor_view %out1, shape = [4], strides = [1] : tensor_view<4xfnv8E5M3FNU, strides=[1]>
    %out1_v = make_partition_view %out1_t : partition_view<tile=(4), tensor_view<4xfnv8E5M3FNU, strides=[1]>>
    %out1_k = store_view_tko weak %s, %out1_v[%c0] : tile<4xfnv8E5M3FNU>, partition_view<tile=(4), tensor_view<4xfnv8E5M3FNU, strides=[1]>>, tile<i32> -> token
    %sparse = make_gather_scatter_view %in_t : gather_scatter_view<tile=(4x2), tensor_view<2x4xfnv8E5M3FNU, strides=[4,1]>, sparse_dim=0>
    %rows = constant <i32: [1, 0, 1, 1]> : tile<4xi32>
    %g, %g_k = load_view_tko weak %sparse[%rows, %c2] : gather_scatter_view<tile=(4x2), tensor_view<2x4xfnv8E5M3FNU, strides=[4,1]>, sparse_dim=0>, tile<4xi32>, tile<i32> -> tile<4x2xfnv8E5M3FNU>, token
    %out2_t = make_tensor_view %out2, shape = [4, 2], strides = [2, 1] : tensor_view<4x2xfnv8E5M3FNU, strides=[2,1]>
    %out2_v = make_partition_view %out2_t : partition_view<tile=(4x2), tensor_view<4x2xfnv8E5M3FNU, strides=[2,1]>>
    %out2_k = store_view_tko weak %g, %out2_v[%c0, %c0] : tile<4x2xfnv8E5M3FNU>, partition_view<tile=(4x2), tensor_view<4x2xfnv8E5M3FNU, strides=[2,1]>>, tile<i32> -> token
    %permuted = permute %x [1, 0] : tile<2x4xfnv8E5M3FNU> -> tile<4x2xfnv8E5M3FNU>
    %out3_t = make_tensor_view %out3, shape = [4, 2], strides = [2, 1] : tensor_view<4x2xfnv8E5M3FNU, strides=[2,1]>
    %out3_v = make_partition_view %out3_t : partition_view<tile=(4x2), tensor_view<4x2xfnv8E5M3FNU, strides=[2,1]>>
    %out3_k = store_view_tko weak %permuted, %out3_v[%c0, %c0] : tile<4x2xfnv8E5M3FNU>, partition_view<tile=(4x2), tensor_view<4x2xfnv8E5M3FNU, strides=[2,1]>>, tile<i32> -> token
    %flat = reshape %x : tile<2x4xfnv8E5M3FNU> -> tile<8xfnv8E5M3FNU>
    %out4_t = make_tensor_view %out4, shape = [8], strides = [1] : tensor_view<8xfnv8E5M3FNU, strides=[1]>
    %out4_v = make_partition_view %out4_t : partition_view<tile=(8), tensor_view<8xfnv8E5M3FNU, strides=[1]>>
    %out4_k = store_view_tko weak %flat, %out4_v[%c0] : tile<8xfnv8E5M3FNU>, partition_view<tile=(8), tensor_view<8xfnv8E5M3FNU, strides=[1]>>, tile<i32> -> token
    %part = extract %x[%c1, %c0] : tile<2x4xfnv8E5M3FNU> -> tile<1x2xfnv8E5M3FNU>
    %out5_t = make_tensor_view %out5, shape = [1, 2], strides = [2, 1] : tensor_view<1x2xfnv8E5M3FNU, strides=[2,1]>
    %out5_v = make_partition_view %out5_t : partition_view<tile=(1x2), tensor_view<1x2xfnv8E5M3FNU, strides=[2,1]>>
    %out5_k = store_view_tko weak %part, %out5_v[%c0, %c0] : tile<1x2xfnv8E5M3FNU>, partition_view<tile=(1x2), tensor_view<1x2xfnv8E5M3FNU, strides=[2,1]>>, tile<i32> -> token
    %put = insert %part, %x[%c0, %c1] : tile<1x2xfnv8E5M3FNU>, tile<2x4xfnv8E5M3FNU>
    %out6_t = make_tensor_view %out6, shape = [2, 4], strides = [4, 1] : tensor_view<2x4xfnv8E5M3FNU, strides=[4,1]>
    %out6_v = make_partition_view %out6_t : partition_view<tile=(2x4), tensor_view<2x4xfnv8E5M3FNU, strides=[4,1]>>
    %out6_k = store_view_tko weak %put, %out6_v[%c0, %c0] : tile<2x4xfnv8E5M3FNU>, partition_view<tile=(2x4), tensor_view<2x4xfnv8E5M3FNU, strides=[4,1]>>, tile<i32> -> token
    %wide = broadcast %part : tile<1x2xfnv8E5M3FNU> -> tile<4x2xfnv8E5M3FNU>
    %out7_t = make_tensor_view %out7, shape = [4, 2], strides = [2, 1] : tensor_view<4x2xfnv8E5M3FNU, strides=[2,1]>
    %out7_v = make_partition_view %out7_t : partition_view<tile=(4x2), tensor_view<4x2xfnv8E5M3FNU, strides=[2,1]>>
    %out7_k = store_view_tko weak %wide, %out7_v[%c0, %c0] : tile<4x2xfnv8E5M3FNU>, partition_view<tile=(4x2), tensor_view<4x2xfnv8E5M3FNU, strides=[2,1]>>, tile<i32> -> token
    %joined = cat %x, %x dim = 1 : tile<2x4xfnv8E5M3FNU>, tile<2x4xfnv8E5M3FNU> -> tile<2x8xfnv8E5M3FNU>
    %out8_t = make_tensor_view %out8, shape = [2, 8], strides = [8, 1] : tensor_view<2x8xfnv8E5M3FNU, strides=[8,1]>
    %out8_v = make_partition_view %out8_t : partition_view<tile=(2x8), tensor_view<2x8xfnv8E5M3FNU, strides=[8,1]>>
    %out8_k = store_view_tko weak %joined, %out8_v[%c0, %c0] : tile<2x8xfnv8E5M3FNU>, partition_view<tile=(2x8), tensor_view<2x8xfnv8E5M3FNU, strides=[8,1]>>, tile<i32> -> token
    %constant = constant <fnv8E5M3FNU: [0x80, 0xFF, 0xFE, 0x78, 0x08, 0x07, 0x01, 0x00]> : tile<8xfnv8E5M3FNU>
    %which = constant <i1: [true, false, true, true, false, false, true, false]> : tile<8xi1>
    %chosen = select %which, %flat, %constant : tile<8xi1>, tile<8xfnv8E5M3FNU>
    %out9_t = make_tensor_view %out9, shape = [8], strides = [1] : tensor_view<8xfnv8E5M3FNU, strides=[1]>
    %out9_v = make_partition_view %out9_t : partition_view<tile=(8), tensor_view<8xfnv8E5M3FNU, strides=[1]>>
    %out9_k = store_view_tko weak %chosen, %out9_v[%c0] : tile<8xfnv8E5M3FNU>, partition_view<tile=(8), tensor_view<8xfnv8E5M3FNU, strides=[1]>>, tile<i32> -> token
    %number = ptr_to_int %in : tile<ptr<fnv8E5M3FNU>> -> tile<i64>
    %again = int_to_ptr %number : tile<i64> -> tile<ptr<fnv8E5M3FNU>>
    %other = ptr_to_ptr %again : tile<ptr<fnv8E5M3FNU>> -> tile<ptr<i64>>
    %back = ptr_to_ptr %other : tile<ptr<i64>> -> tile<ptr<fnv8E5M3FNU>>
    %i = iota : tile<8xi32>
    %from_1 = reshape %back : tile<ptr<fnv8E5M3FNU>> -> tile<1xptr<fnv8E5M3FNU>>
    %from_n = broadcast %from_1 : tile<1xptr<fnv8E5M3FNU>> -> tile<8xptr<fnv8E5M3FNU>>
    %from = offset %from_n, %i : tile<8xptr<fnv8E5M3FNU>>, tile<8xi32> -> tile<8xptr<fnv8E5M3FNU>>
    %l, %l_k = load_ptr_tko weak %from, %which, %constant : tile<8xptr<fnv8E5M3FNU>>, tile<8xi1>, tile<8xfnv8E5M3FNU> -> tile<8xfnv8E5M3FNU>, token
    %to_1 = reshape %out10 : tile<ptr<fnv8E5M3FNU>> -> tile<1xptr<fnv8E5M3FNU>>
    %to_n = broadcast %to_1 : tile<1xptr<fnv8E5M3FNU>> -> tile<8xptr<fnv8E5M3FNU>>
    %i64 = exti %i signed : tile<8xi32> -> tile<8xi64>
    %to = offset %to_n, %i64 : tile<8xptr<fnv8E5M3FNU>>, tile<8xi64> -> tile<8xptr<fnv8E5M3FNU>>
    %to_k = store_ptr_tko weak %to, %l, %which : tile<8xptr<fnv8E5M3FNU>>, tile<8xfnv8E5M3FNU>, tile<8xi1> -> token
    %out11_t = make_tensor_view %out11, shape = [8], strides = [1] : tensor_view<8xfnv8E5M3FNU, strides=[1]>
    %out11_v = make_partition_view %out11_t : partition_view<tile=(8), tensor_view<8xfnv8E5M3FNU, strides=[1]>>
    %out11_k = store_view_tko weak %l, %out11_v[%c0] : tile<8xfnv8E5M3FNU>, partition_view<tile=(8), tensor_view<8xfnv8E5M3FNU, strides=[1]>>, tile<i32> -> token
    %variable = get_global @variable : tile<ptr<fnv8E5M3FNU>>
    %o0 = constant <i8: 2> : tile<i8>
    %at0 = offset %variable, %o0 : tile<ptr<fnv8E5M3FNU>>, tile<i8> -> tile<ptr<fnv8E5M3FNU>>
    %e0, %e0_k = load_ptr_tko weak %at0 : tile<ptr<fnv8E5M3FNU>> -> tile<fnv8E5M3FNU>, token
    %e0_1 = reshape %e0 : tile<fnv8E5M3FNU> -> tile<1xfnv8E5M3FNU>
    %out12_t = make_tensor_view %out12, shape = [1], strides = [1] : tensor_view<1xfnv8E5M3FNU, strides=[1]>
    %out12_v = make_partition_view %out12_t : partition_view<tile=(1), tensor_view<1xfnv8E5M3FNU, strides=[1]>>
    %out12_k = store_view_tko weak %e0_1, %out12_v[%c0] : tile<1xfnv8E5M3FNU>, partition_view<tile=(1), tensor_view<1xfnv8E5M3FNU, strides=[1]>>, tile<i32> -> token
    %o1 = constant <i16: 3> : tile<i16>
    %at1 = offset %variable, %o1 : tile<ptr<fnv8E5M3FNU>>, tile<i16> -> tile<ptr<fnv8E5M3FNU>>
    %e1, %e1_k = load_ptr_tko weak %at1 : tile<ptr<fnv8E5M3FNU>> -> tile<fnv8E5M3FNU>, token
    %e1_1 = reshape %e1 : tile<fnv8E5M3FNU> -> tile<1xfnv8E5M3FNU>
    %out13_t = make_tensor_view %out13, shape = [1], strides = [1] : tensor_view<1xfnv8E5M3FNU, strides=[1]>
    %out13_v = make_partition_view %out13_t : partition_view<tile=(1), tensor_view<1xfnv8E5M3FNU, strides=[1]>>
    %out13_k = store_view_tko weak %e1_1, %out13_v[%c0] : tile<1xfnv8E5M3FNU>, partition_view<tile=(1), tensor_view<1xfnv8E5M3FNU, strides=[1]>>, tile<i32> -> token
    %scratch = alloca num_elem = 8, alignment = 16 : tile<ptr<fnv8E5M3FNU>>
    %scratch_1 = reshape %scratch : tile<ptr<fnv8E5M3FNU>> -> tile<1xptr<fnv8E5M3FNU>>
    %scratch_n = broadcast %scratch_1 : tile<1xptr<fnv8E5M3FNU>> -> tile<8xptr<fnv8E5M3FNU>>
    %cells = offset %scratch_n, %i : tile<8xptr<fnv8E5M3FNU>>, tile<8xi32> -> tile<8xptr<fnv8E5M3FNU>>
    %written = store_ptr_tko weak %cells, %flat : tile<8xptr<fnv8E5M3FNU>>, tile<8xfnv8E5M3FNU> -> token
    %seven = constant <i32: 7> : tile<8xi32>
    %turned = subi %seven, %i : tile<8xi32>
    %cells_r = offset %scratch_n, %turned : tile<8xptr<fnv8E5M3FNU>>, tile<8xi32> -> tile<8xptr<fnv8E5M3FNU>>
    %r, %r_k = load_ptr_tko weak %cells_r token=%written : tile<8xptr<fnv8E5M3FNU>> -> tile<8xfnv8E5M3FNU>, token
    %out14_t = make_tensor_view %out14, shape = [8], strides = [1] : tensor_view<8xfnv8E5M3FNU, strides=[1]>
    %out14_v = make_partition_view %out14_t : partition_view<tile=(8), tensor_view<8xfnv8E5M3FNU, strides=[1]>>
    %out14_k = store_view_tko weak %r, %out14_v[%c0] : tile<8xfnv8E5M3FNU>, partition_view<tile=(8), tensor_view<8xfnv8E5M3FNU, strides=[1]>>, tile<i32> -> token
    %id:3 = get_tile_block_id : tile<i32>
    %first = cmpi equal %id#0, %c0, signed : tile<i32> -> tile<i1>
    %branch = if %first -> (tile<8xfnv8E5M3FNU>) {
      yield %constant : tile<8xfnv8E5M3FNU>
    } else {
      yield %flat : tile<8xfnv8E5M3FNU>
    }
    %out15_t = make_tensor_view %out15, shape = [8], strides = [1] : tensor_view<8xfnv8E5M3FNU, strides=[1]>
    %out15_v = make_partition_view %out15_t : partition_view<tile=(8), tensor_view<8xfnv8E5M3FNU, strides=[1]>>
    %out15_k = store_view_tko weak %branch, %out15_v[%c0] : tile<8xfnv8E5M3FNU>, partition_view<tile=(8), tensor_view<8xfnv8E5M3FNU, strides=[1]>>, tile<i32> -> token
    %swapped:2 = for %k in (%c0 to %c3, step %c1) : tile<i32> iter_values(%a = %flat, %b = %constant) -> (tile<8xfnv8E5M3FNU>, tile<8xfnv8E5M3FNU>) {
      continue %b, %a : tile<8xfnv8E5M3FNU>, tile<8xfnv8E5M3FNU>
    }
    %out16_t = make_tensor_view %out16, shape = [8], strides = [1] : tensor_view<8xfnv8E5M3FNU, strides=[1]>
    %out16_v = make_partition_view %out16_t : partition_view<tile=(8), tensor_view<8xfnv8E5M3FNU, strides=[1]>>
    %out16_k = store_view_tko weak %swapped#1, %out16_v[%c0] : tile<8xfnv8E5M3FNU>, partition_view<tile=(8), tensor_view<8xfnv8E5M3FNU, strides=[1]>>, tile<i32> -> token
    %left = loop iter_values(%n = %c0, %a = %flat) : tile<i32>, tile<8xfnv8E5M3FNU> -> tile<8xfnv8E5M3FNU> {
      %done = cmpi equal %n, %c2, signed : tile<i32> -> tile<i1>
      if %done {
        break %a : tile<8xfnv8E5M3FNU>
      }
      %next = addi %n, %c1 : tile<i32>
      continue %next, %constant : tile<i32>, tile<8xfnv8E5M3FNU>
    }
    %out17_t = make_tensor_view %out17, shape = [8], strides = [1] : tensor_view<8xfnv8E5M3FNU, strides=[1]>
    %out17_v = make_partition_view %out17_t : partition_view<tile=(8), tensor_view<8xfnv8E5M3FNU, strides=[1]>>
    %out17_k = store_view_tko weak %left, %out17_v[%c0] : tile<8xfnv8E5M3FNU>, partition_view<tile=(8), tensor_view<8xfnv8E5M3FNU, strides=[1]>>, tile<i32> -> token
    %length = get_tensor_shape %line_t : tensor_view<8xfnv8E5M3FNU, strides=[1]> -> tile<i64>
    %less = constant <i64: -2> : tile<i64>
    %last = addi %length, %less : tile<i64>
    %at_last = offset %in, %last : tile<ptr<fnv8E5M3FNU>>, tile<i64> -> tile<ptr<fnv8E5M3FNU>>
    %e_last, %e_last_k = load_ptr_tko weak %at_last : tile<ptr<fnv8E5M3FNU>> -> tile<fnv8E5M3FNU>, token
    %e_last_1 = reshape %e_last : tile<fnv8E5M3FNU> -> tile<1xfnv8E5M3FNU>
    %out18_t = make_tensor_view %out18, shape = [1], strides = [1] : tensor_view<1xfnv8E5M3FNU, strides=[1]>
    %out18_v = make_partition_view %out18_t : partition_view<tile=(1), tensor_view<1xfnv8E5M3FNU, strides=[1]>>
    %out18_k = store_view_tko weak %e_last_1, %out18_v[%c0] : tile<1xfnv8E5M3FNU>, partition_view<tile=(1), tensor_view<1xfnv8E5M3FNU, strides=[1]>>, tile<i32> -> token
    return
  }
}
