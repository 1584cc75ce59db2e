// A loop carries a constant and its transpose, and makes the second of the first: the layout of one reaches the other
// by two ways, as it is and transposed.
// grid: 1 1 1
// scalar: i32 3
// buffer: f32 -1.0*256 -> 32.0*256
// buffer: f32 -1.0*256 -> 16.0*256
cuda_tile.module @m {
  entry @carried_constant_and_its_transpose(%n: tile<i32>, %p: tile<ptr<f32>>, %q: tile<ptr<f32>>) {
    %c0 = constant <i32: 0> : tile<i32>
    %c1 = constant <i32: 1> : tile<i32>
    %ones = constant <tf32: 1.0> : tile<16x16xtf32>
    %z = constant <f32: 0.0> : tile<16x16xf32>
    %zt = permute %z [1, 0] : tile<16x16xf32> -> tile<16x16xf32>
    %h = ftof %zt : tile<16x16xf32> -> tile<16x16xtf32>
    %r:2 = for %i in (%c0 to %n, step %c1) : tile<i32> iter_values(%s = %z, %g = %h) -> (tile<16x16xf32>, tile<16x16xtf32>) {
      %other = cmpi not_equal %i, %c1, signed : tile<i32> -> tile<i1>
      if %other {
        %m = mmaf %ones, %ones, %s : tile<16x16xtf32>, tile<16x16xtf32>, tile<16x16xf32>
        continue %m, %g : tile<16x16xf32>, tile<16x16xtf32>
      }
      %t = ftof %s : tile<16x16xf32> -> tile<16x16xtf32>
      continue %s, %t : tile<16x16xf32>, tile<16x16xtf32>
    }
    %w = ftof %r#1 : tile<16x16xtf32> -> tile<16x16xf32>
    %a = make_tensor_view %p, shape = [16, 16], strides = [16, 1] : tensor_view<16x16xf32, strides=[16,1]>
    %b = make_tensor_view %q, shape = [16, 16], strides = [16, 1] : tensor_view<16x16xf32, strides=[16,1]>
    %pa = make_partition_view %a : partition_view<tile=(16x16), tensor_view<16x16xf32, strides=[16,1]>>
    %pb = make_partition_view %b : partition_view<tile=(16x16), tensor_view<16x16xf32, strides=[16,1]>>
    %k = store_view_tko weak %r#0, %pa[%c0, %c0] : tile<16x16xf32>, partition_view<tile=(16x16), tensor_view<16x16xf32, strides=[16,1]>>, tile<i32> -> token
    %l = store_view_tko weak %w, %pb[%c0, %c0] : tile<16x16xf32>, partition_view<tile=(16x16), tensor_view<16x16xf32, strides=[16,1]>>, tile<i32> -> token
    return
  }
}
