// Assertions that hold change nothing.
// grid: 1 1 1
// buffer: i32 1 2 3 4
// buffer: i32 0 -> 5
cuda_tile.module @m {
  entry @assert(%p0: tile<ptr<i32>>, %p1: tile<ptr<i32>>) {
    %zero = constant <i32: 0> : tile<i32>
    %x_t = make_tensor_view %p0, shape = [4], strides = [1] : tensor_view<4xi32, strides=[1]>
    %x_v = make_partition_view %x_t : partition_view<tile=(4), tensor_view<4xi32, strides=[1]>>
    %x, %x_k = load_view_tko weak %x_v[%zero] : partition_view<tile=(4), tensor_view<4xi32, strides=[1]>>, tile<i32> -> tile<4xi32>, token
    %z4 = constant <i32: 0> : tile<4xi32>
    %c = cmpi greater_than %x, %z4, signed : tile<4xi32> -> tile<4xi1>
    assert %c, "positive" : tile<4xi1>
    %yes = constant <i1: true> : tile<i1>
    assert %yes, "true" : tile<i1>
    %five = constant <i32: 5> : tile<i32>
    %k = store_ptr_tko weak %p1, %five : tile<ptr<i32>>, tile<i32> -> token
    return
  }
}
