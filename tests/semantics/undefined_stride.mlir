// What is promised of the stride of two rows has to hold.
// grid: 1 1 1
// buffer: f16 -2.0 0.0 2.0 -1.0 1.0 -2.0 0.0 2.0 -1.0 1.0 -2.0 0.0 2.0 -1.0 1.0 -2.0 0.0 2.0 -1.0 1.0 -2.0 0.0 2.0 -1.0 1.0 -2.0 0.0 2.0 -1.0 1.0 -2.0 0.0 2.0 -1.0 1.0 -2.0 0.0 2.0 -1.0 1.0 -2.0 0.0 2.0 -1.0 1.0 -2.0 0.0 2.0 -1.0 1.0 -2.0 0.0 2.0 -1.0 1.0 -2.0 0.0 2.0 -1.0 1.0 -2.0 0.0 2.0 -1.0 1.0 -2.0 0.0 2.0 -1.0 1.0 -2.0 0.0 2.0 -1.0 1.0 -2.0 0.0 2.0 -1.0 1.0 -2.0 0.0 2.0 -1.0 1.0 -2.0 0.0 2.0 -1.0 1.0 -2.0 0.0 2.0 -1.0 1.0 -2.0 0.0 2.0 -1.0 1.0 -2.0 0.0 2.0 -1.0 1.0 -2.0 0.0 2.0 -1.0 1.0 -2.0 0.0 2.0 -1.0 1.0 -2.0 0.0 2.0 -1.0 1.0 -2.0 0.0 2.0 -1.0 1.0 -2.0 0.0 2.0
// buffer: f16 -3.0*64 0.0*64 3.0*64 -1.0*64 2.0*64 -2.0*64 1.0*64 -3.0*64 0.0*64 3.0*64 -1.0*64 2.0*64 -2.0*64 1.0*64 -3.0*64 0.0*64 3.0*64 -1.0*64 2.0*64 -2.0*64 1.0*64 -3.0*64 0.0*64 3.0*64 -1.0*64 2.0*64 -2.0*64 1.0*64 -3.0*64 0.0*64 3.0*64 -1.0*64 2.0*64 -2.0*64 1.0*64 -3.0*64 0.0*64 3.0*64 -1.0*64 2.0*64 -2.0*64 1.0*64 -3.0*64 0.0*64 3.0*64 -1.0*64 2.0*64 -2.0*64 1.0*64 -3.0*64 0.0*64 3.0*64 -1.0*64 2.0*64 -2.0*64 1.0*64 -3.0*64 0.0*64 3.0*64 -1.0*64 2.0*64 -2.0*64 1.0*64 -3.0*64 0.0*64 3.0*64 -1.0*64 2.0*64 -2.0*64 1.0*64 -3.0*64 0.0*64 3.0*64 -1.0*64 2.0*64 -2.0*64 1.0*64 -3.0*64 0.0*64 3.0*64 -1.0*64 2.0*64 -2.0*64 1.0*64 -3.0*64 0.0*64 3.0*64 -1.0*64 2.0*64 -2.0*64 1.0*64 -3.0*64 0.0*64 3.0*64 -1.0*64 2.0*64 -2.0*64 1.0*64 -3.0*64 0.0*64 3.0*64 -1.0*64 2.0*64 -2.0*64 1.0*64 -3.0*64 0.0*64 3.0*64 -1.0*64 2.0*64 -2.0*64 1.0*64 -3.0*64 0.0*64 3.0*64 -1.0*64 2.0*64 -2.0*64 1.0*64 -3.0*64 0.0*64 3.0*64 -1.0*64 2.0*64 -2.0*64 1.0*64 -3.0*64 0.0*64
// buffer: f16 9.0*64
// scalar: i32 2
// scalar: i32 64
// scalar: i32 12
// scalar: i32 128
// scalar: i32 64
// error: 'make_tensor_view' in tile block (0, 0, 0): undefined behavior: the stride of dimension 0: element 0 is 0xc, which breaks the promise div_by<8> at
cuda_tile.module @m {
  entry @undefined_stride(%a: tile<ptr<f16>>, %b: tile<ptr<f16>>, %c: tile<ptr<f16>>, %m: tile<i32>, %sa: tile<i32>, %sc: tile<i32>, %k: tile<i32>, %n: tile<i32>) {
    %a16 = assume div_by<16>, %a : tile<ptr<f16>>
    %b16 = assume div_by<16>, %b : tile<ptr<f16>>
    %c16 = assume div_by<16>, %c : tile<ptr<f16>>
    %k16 = assume div_by<16>, %k : tile<i32>
    %n16 = assume div_by<16>, %n : tile<i32>
    %sa0 = assume bounded<0, ?>, %sa : tile<i32>
    %sa8 = assume div_by<8>, %sa0 : tile<i32>
    %sc8 = assume div_by<8>, %sc : tile<i32>
    %at = make_tensor_view %a16, shape = [%m, %k16], strides = [%sa8, 1] : tile<i32> -> tensor_view<?x?xf16, strides=[?,1]>
    %bt = make_tensor_view %b16, shape = [%k16, %n16], strides = [%n16, 1] : tile<i32> -> tensor_view<?x?xf16, strides=[?,1]>
    %ct = make_tensor_view %c16, shape = [%m, %n16], strides = [%sc8, 1] : tile<i32> -> tensor_view<?x?xf16, strides=[?,1]>
    %av = make_partition_view %at : partition_view<tile=(64x64), padding_value = zero, tensor_view<?x?xf16, strides=[?,1]>>
    %bv = make_partition_view %bt : partition_view<tile=(64x64), padding_value = zero, tensor_view<?x?xf16, strides=[?,1]>>
    %cv = make_partition_view %ct : partition_view<tile=(64x64), tensor_view<?x?xf16, strides=[?,1]>>
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %zeros = constant <f32: 0.0> : tile<64x64xf32>
    %depth:2 = get_index_space_shape %bv : partition_view<tile=(64x64), padding_value = zero, tensor_view<?x?xf16, strides=[?,1]>> -> tile<i32>
    %sum = for %i in (%zero to %depth#0, step %one) : tile<i32> iter_values(%s = %zeros) -> (tile<64x64xf32>) {
      %x, %x_k = load_view_tko weak %av[%zero, %i] : partition_view<tile=(64x64), padding_value = zero, tensor_view<?x?xf16, strides=[?,1]>>, tile<i32> -> tile<64x64xf16>, token
      %y, %y_k = load_view_tko weak %bv[%i, %zero] : partition_view<tile=(64x64), padding_value = zero, tensor_view<?x?xf16, strides=[?,1]>>, tile<i32> -> tile<64x64xf16>, token
      %next = mmaf %x, %y, %s : tile<64x64xf16>, tile<64x64xf16>, tile<64x64xf32>
      continue %next : tile<64x64xf32>
    }
    %r = ftof %sum : tile<64x64xf32> -> tile<64x64xf16>
    %k0 = store_view_tko weak %r, %cv[%zero, %zero] : tile<64x64xf16>, partition_view<tile=(64x64), tensor_view<?x?xf16, strides=[?,1]>>, tile<i32> -> token
    return
  }
}
