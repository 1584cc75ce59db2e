// Two products in an iteration: the one that is started last is used first.
// grid: 2 1 1
// scalar: i32 3
// buffer: f16 1.0*1048576
// buffer: f16 1.0*1048576
// buffer: f16 2.0*1048576
// buffer: f16 1.0*1048576
// buffer: f32 -1.0*65536 -> 576.0*8192 -1.0*57344
cuda_tile.module @m {
  entry @product_beside_sum(%n: tile<i32>, %p1: tile<ptr<f16>>, %p2: tile<ptr<f16>>, %p3: tile<ptr<f16>>, %p4: tile<ptr<f16>>, %o: tile<ptr<f32>>) {
    %a1 = assume div_by<16>, %p1 : tile<ptr<f16>>
    %t1 = make_tensor_view %a1, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xf16, strides=[1024,1]>
    %w1 = make_partition_view %t1 : partition_view<tile=(64x64), padding_value = zero, tensor_view<1024x1024xf16, strides=[1024,1]>>
    %a2 = assume div_by<16>, %p2 : tile<ptr<f16>>
    %t2 = make_tensor_view %a2, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xf16, strides=[1024,1]>
    %w2 = make_partition_view %t2 : partition_view<tile=(64x64), padding_value = zero, tensor_view<1024x1024xf16, strides=[1024,1]>>
    %a3 = assume div_by<16>, %p3 : tile<ptr<f16>>
    %t3 = make_tensor_view %a3, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xf16, strides=[1024,1]>
    %w3 = make_partition_view %t3 : partition_view<tile=(64x64), padding_value = zero, tensor_view<1024x1024xf16, strides=[1024,1]>>
    %a4 = assume div_by<16>, %p4 : tile<ptr<f16>>
    %t4 = make_tensor_view %a4, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xf16, strides=[1024,1]>
    %w4 = make_partition_view %t4 : partition_view<tile=(64x64), padding_value = zero, tensor_view<1024x1024xf16, strides=[1024,1]>>
    %c0 = constant <i32: 0> : tile<i32>
    %c1 = constant <i32: 1> : tile<i32>
    %z = constant <f32: 0.0> : tile<64x64xf32>
    %bid, %by, %bz = get_tile_block_id : tile<i32>
    %r1 = for %i2 in (%c0 to %n, step %c1) : tile<i32> iter_values(%it3 = %z) -> (tile<64x64xf32>) {
      %x4, %tk5 = load_view_tko weak %w1[%bid, %i2] : partition_view<tile=(64x64), padding_value = zero, tensor_view<1024x1024xf16, strides=[1024,1]>>, tile<i32> -> tile<64x64xf16>, token
      %x6, %tk7 = load_view_tko weak %w2[%i2, %bid] : partition_view<tile=(64x64), padding_value = zero, tensor_view<1024x1024xf16, strides=[1024,1]>>, tile<i32> -> tile<64x64xf16>, token
      %m8 = mmaf %x4, %x6, %it3 : tile<64x64xf16>, tile<64x64xf16>, tile<64x64xf32>
      %x9, %tk10 = load_view_tko weak %w3[%bid, %i2] : partition_view<tile=(64x64), padding_value = zero, tensor_view<1024x1024xf16, strides=[1024,1]>>, tile<i32> -> tile<64x64xf16>, token
      %x11, %tk12 = load_view_tko weak %w4[%i2, %bid] : partition_view<tile=(64x64), padding_value = zero, tensor_view<1024x1024xf16, strides=[1024,1]>>, tile<i32> -> tile<64x64xf16>, token
      %m13 = mmaf %x9, %x11, %z : tile<64x64xf16>, tile<64x64xf16>, tile<64x64xf32>
      %cl = maxf %m13, %z : tile<64x64xf32>
      %sum = addf %cl, %m8 : tile<64x64xf32>
      continue %sum : tile<64x64xf32>
    }
    %oa = assume div_by<16>, %o : tile<ptr<f32>>
    %ot = make_tensor_view %oa, shape = [1024, 64], strides = [64, 1] : tensor_view<1024x64xf32, strides=[64,1]>
    %ow = make_partition_view %ot : partition_view<tile=(64x64), tensor_view<1024x64xf32, strides=[64,1]>>
    %ok = store_view_tko weak %r1, %ow[%bid, %c0] : tile<64x64xf32>, partition_view<tile=(64x64), tensor_view<1024x64xf32, strides=[64,1]>>, tile<i32> -> token
    return
  }
}
