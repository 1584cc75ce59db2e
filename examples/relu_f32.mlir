// y = max(x, 0), 2048 elements per tile block. Grid: ceil(n / 2048).
//
// The assumptions say that n is a multiple of 4 and that the pointers are 16-byte aligned. So every access moves four
// elements, with one bounds check for each.
cuda_tile.module @examples {
  entry @relu_f32(%x0: tile<ptr<f32>>, %y0: tile<ptr<f32>>, %n0: tile<i32>) {
    %x = assume div_by<16>, %x0 : tile<ptr<f32>>
    %y = assume div_by<16>, %y0 : tile<ptr<f32>>
    %n = assume div_by<4>, %n0 : tile<i32>
    %xs = make_tensor_view %x, shape = [%n], strides = [1] : tile<i32> -> tensor_view<?xf32, strides=[1]>
    %ys = make_tensor_view %y, shape = [%n], strides = [1] : tile<i32> -> tensor_view<?xf32, strides=[1]>
    %xv = make_partition_view %xs : partition_view<tile=(2048), tensor_view<?xf32, strides=[1]>>
    %yv = make_partition_view %ys : partition_view<tile=(2048), tensor_view<?xf32, strides=[1]>>
    %i, %j, %k = get_tile_block_id : tile<i32>
    %v, %t0 = load_view_tko weak %xv[%i] : partition_view<tile=(2048), tensor_view<?xf32, strides=[1]>>, tile<i32> -> tile<2048xf32>, token
    %zero = constant <f32: 0.0> : tile<2048xf32>
    %r = maxf %v, %zero : tile<2048xf32>
    %t1 = store_view_tko weak %r, %yv[%i] : tile<2048xf32>, partition_view<tile=(2048), tensor_view<?xf32, strides=[1]>>, tile<i32> -> token
    return
  }
}
