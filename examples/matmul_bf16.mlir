// C = A * B for matrices of bf16. Grid: rows of C over 128, columns of C over 256.
cuda_tile.module @kernels {
  entry @matmul(%a0: tile<ptr<bf16>>, %m: tile<i32>, %k: tile<i32>, %as0: tile<i32>, %as1: tile<i32>,
                %b0: tile<ptr<bf16>>, %k1: tile<i32>, %n: tile<i32>, %bs0: tile<i32>, %bs1: tile<i32>,
                %c0: tile<ptr<bf16>>, %m1: tile<i32>, %n1: tile<i32>, %cs0: tile<i32>, %cs1: tile<i32>) {
    %a = assume div_by<16>, %a0 : tile<ptr<bf16>>
    %b = assume div_by<16>, %b0 : tile<ptr<bf16>>
    %c = assume div_by<16>, %c0 : tile<ptr<bf16>>
    %as = assume div_by<8>, %as0 : tile<i32>
    %bs = assume div_by<8>, %bs0 : tile<i32>
    %cs = assume div_by<8>, %cs0 : tile<i32>
    %at = make_tensor_view %a, shape = [%m, %k], strides = [%as, 1] : tile<i32> -> tensor_view<?x?xbf16, strides=[?,1]>
    %bt = make_tensor_view %b, shape = [%k1, %n], strides = [%bs, 1] : tile<i32> -> tensor_view<?x?xbf16, strides=[?,1]>
    %ct = make_tensor_view %c, shape = [%m1, %n1], strides = [%cs, 1] : tile<i32> -> tensor_view<?x?xbf16, strides=[?,1]>
    %av = make_partition_view %at : partition_view<tile=(128x64), padding_value = zero, tensor_view<?x?xbf16, strides=[?,1]>>
    %bv = make_partition_view %bt : partition_view<tile=(64x256), padding_value = zero, tensor_view<?x?xbf16, strides=[?,1]>>
    %cv = make_partition_view %ct : partition_view<tile=(128x256), tensor_view<?x?xbf16, strides=[?,1]>>
    %steps:2 = get_index_space_shape %av : partition_view<tile=(128x64), padding_value = zero, tensor_view<?x?xbf16, strides=[?,1]>> -> tile<i32>
    %x, %y, %z = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %none = constant <f32: 0.0> : tile<128x256xf32>
    %sums = for %i in (%zero to %steps#1, step %one) : tile<i32> iter_values(%sum = %none) -> (tile<128x256xf32>) {
      %l, %t0 = load_view_tko weak %av[%x, %i] : partition_view<tile=(128x64), padding_value = zero, tensor_view<?x?xbf16, strides=[?,1]>>, tile<i32> -> tile<128x64xbf16>, token
      %r, %t1 = load_view_tko weak %bv[%i, %y] : partition_view<tile=(64x256), padding_value = zero, tensor_view<?x?xbf16, strides=[?,1]>>, tile<i32> -> tile<64x256xbf16>, token
      %next = mmaf %l, %r, %sum : tile<128x64xbf16>, tile<64x256xbf16>, tile<128x256xf32>
      continue %next : tile<128x256xf32>
    }
    %rounded = ftof %sums : tile<128x256xf32> -> tile<128x256xbf16>
    %done = store_view_tko weak %rounded, %cv[%x, %y] : tile<128x256xbf16>, partition_view<tile=(128x256), tensor_view<?x?xbf16, strides=[?,1]>>, tile<i32> -> token
    return
  }
}
