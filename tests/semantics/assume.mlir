// Promises that hold change nothing.
// grid: 1 1 1
// buffer: i32 8 16 24 32
// buffer: i32 0*4 -> 8 16 24 32
// buffer: i32 0 -> 7
cuda_tile.module @m {
  entry @assume(%p0: tile<ptr<i32>>, %p1: tile<ptr<i32>>, %p2: tile<ptr<i32>>) {
    %zero = constant <i32: 0> : tile<i32>
    %p = assume div_by<16>, %p0 : tile<ptr<i32>>
    %x_t = make_tensor_view %p, shape = [4], strides = [1] : tensor_view<4xi32, strides=[1]>
    %x_v = make_partition_view %x_t : partition_view<tile=(4), tensor_view<4xi32, strides=[1]>>
    %x, %x_k = load_view_tko weak %x_v[%zero] : partition_view<tile=(4), tensor_view<4xi32, strides=[1]>>, tile<i32> -> tile<4xi32>, token
    %a = assume div_by<8>, %x : tile<4xi32>
    %b = assume bounded<0, 100>, %a : tile<4xi32>
    %c = assume bounded<?, 32>, %b : tile<4xi32>
    %c_ot = make_tensor_view %p1, shape = [4], strides = [1] : tensor_view<4xi32, strides=[1]>
    %c_ov = make_partition_view %c_ot : partition_view<tile=(4), tensor_view<4xi32, strides=[1]>>
    %c_ok = store_view_tko weak %c, %c_ov[%zero] : tile<4xi32>, partition_view<tile=(4), tensor_view<4xi32, strides=[1]>>, tile<i32> -> token
    %i = iota : tile<4xi32>
    %j = assume div_by<4, every 4 along 0>, %i : tile<4xi32>
    %s = constant <i32: 7> : tile<2x2xi32>
    %t = assume same_elements<[2, 2]>, %s : tile<2x2xi32>
    %u = extract %t[%zero, %zero] : tile<2x2xi32> -> tile<1x1xi32>
    %v = reshape %u : tile<1x1xi32> -> tile<i32>
    %k = store_ptr_tko weak %p2, %v : tile<ptr<i32>>, tile<i32> -> token
    return
  }
}
