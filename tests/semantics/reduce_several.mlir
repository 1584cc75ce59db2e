// Several operands at once: the largest element and where it is first. A reduction of conditions.
// grid: 1 1 1
// buffer: i32 3 1 4 1 5 9 2 6 5 3 5 8 9 7 9 3
// buffer: i32 0*2 -> 9 9
// buffer: i32 0*2 -> 5 4
// buffer: i1 0*8 -> 1 1 1 1 1 1 1 0
cuda_tile.module @m {
  entry @reduce_several(%p0: tile<ptr<i32>>, %p1: tile<ptr<i32>>, %p2: tile<ptr<i32>>, %p3: tile<ptr<i1>>) {
    %zero = constant <i32: 0> : tile<i32>
    %x_t = make_tensor_view %p0, shape = [2, 8], strides = [8, 1] : tensor_view<2x8xi32, strides=[8,1]>
    %x_v = make_partition_view %x_t : partition_view<tile=(2x8), tensor_view<2x8xi32, strides=[8,1]>>
    %x, %x_k = load_view_tko weak %x_v[%zero, %zero] : partition_view<tile=(2x8), tensor_view<2x8xi32, strides=[8,1]>>, tile<i32> -> tile<2x8xi32>, token
    %i = iota : tile<8xi32>
    %i1 = reshape %i : tile<8xi32> -> tile<1x8xi32>
    %j = broadcast %i1 : tile<1x8xi32> -> tile<2x8xi32>
    %m, %at = reduce %x, %j dim=1 identities=[-2147483648 : i32, 2147483647 : i32] : tile<2x8xi32>, tile<2x8xi32> -> tile<2xi32>, tile<2xi32>
    (%a: tile<i32>, %b: tile<i32>, %c: tile<i32>, %d: tile<i32>) {
      %g = cmpi greater_than %a, %b, signed : tile<i32> -> tile<i1>
      %e = cmpi equal %a, %b, signed : tile<i32> -> tile<i1>
      %l = cmpi less_than %c, %d, signed : tile<i32> -> tile<i1>
      %f = andi %e, %l : tile<i1>
      %h = ori %g, %f : tile<i1>
      %v = select %h, %a, %b : tile<i1>, tile<i32>
      %w = select %h, %c, %d : tile<i1>, tile<i32>
      yield %v, %w : tile<i32>, tile<i32>
    }
    %m_ot = make_tensor_view %p1, shape = [2], strides = [1] : tensor_view<2xi32, strides=[1]>
    %m_ov = make_partition_view %m_ot : partition_view<tile=(2), tensor_view<2xi32, strides=[1]>>
    %m_ok = store_view_tko weak %m, %m_ov[%zero] : tile<2xi32>, partition_view<tile=(2), tensor_view<2xi32, strides=[1]>>, tile<i32> -> token
    %at_ot = make_tensor_view %p2, shape = [2], strides = [1] : tensor_view<2xi32, strides=[1]>
    %at_ov = make_partition_view %at_ot : partition_view<tile=(2), tensor_view<2xi32, strides=[1]>>
    %at_ok = store_view_tko weak %at, %at_ov[%zero] : tile<2xi32>, partition_view<tile=(2), tensor_view<2xi32, strides=[1]>>, tile<i32> -> token
    %p = cmpi greater_than %x, %j, signed : tile<2x8xi32> -> tile<2x8xi1>
    %any = reduce %p dim=0 identities=[false] : tile<2x8xi1> -> tile<8xi1>
    (%r: tile<i1>, %s: tile<i1>) {
      %t = ori %r, %s : tile<i1>
      yield %t : tile<i1>
    }
    %any_ot = make_tensor_view %p3, shape = [8], strides = [1] : tensor_view<8xi1, strides=[1]>
    %any_ov = make_partition_view %any_ot : partition_view<tile=(8), tensor_view<8xi1, strides=[1]>>
    %any_ok = store_view_tko weak %any, %any_ov[%zero] : tile<8xi1>, partition_view<tile=(8), tensor_view<8xi1, strides=[1]>>, tile<i32> -> token
    return
  }
}
