// Both branches, with and without results; a branch alone.
// grid: 1 1 1
// buffer: i32 0*6 -> 10 7 3 1 0 0
// buffer: f32 0.0*4 -> 1.0*4
cuda_tile.module @m {
  entry @if(%p0: tile<ptr<i32>>, %p1: tile<ptr<f32>>) {
    %zero = constant <i32: 0> : tile<i32>
    %x, %y, %z = get_tile_block_id : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %c = cmpi equal %x, %zero, signed : tile<i32> -> tile<i1>
    %n = cmpi equal %x, %one, signed : tile<i32> -> tile<i1>
    %a, %t = if %c -> (tile<i32>, tile<4xf32>) {
      %ten = constant <i32: 10> : tile<i32>
      %f = constant <f32: 1.0> : tile<4xf32>
      yield %ten, %f : tile<i32>, tile<4xf32>
    } else {
      %twenty = constant <i32: 20> : tile<i32>
      %f = constant <f32: 2.0> : tile<4xf32>
      yield %twenty, %f : tile<i32>, tile<4xf32>
    }
    %b = if %n -> (tile<i32>) {
      %m = constant <i32: 6> : tile<i32>
      yield %m : tile<i32>
    } else {
      %m = constant <i32: 7> : tile<i32>
      yield %m : tile<i32>
    }
    %o0 = constant <i32: 0> : tile<i32>
    %q0 = offset %p0, %o0 : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %k0 = store_ptr_tko weak %q0, %a : tile<ptr<i32>>, tile<i32> -> token
    %o1 = constant <i32: 1> : tile<i32>
    %q1 = offset %p0, %o1 : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %k1 = store_ptr_tko weak %q1, %b : tile<ptr<i32>>, tile<i32> -> token
    if %c {
      %three = constant <i32: 3> : tile<i32>
      %o2 = constant <i32: 2> : tile<i32>
      %q2 = offset %p0, %o2 : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
      %k2 = store_ptr_tko weak %q2, %three : tile<ptr<i32>>, tile<i32> -> token
    } else {
      %four = constant <i32: 4> : tile<i32>
      %oe = constant <i32: 2> : tile<i32>
      %qe = offset %p0, %oe : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
      %ke = store_ptr_tko weak %qe, %four : tile<ptr<i32>>, tile<i32> -> token
    }
    if %c {
      %o3 = constant <i32: 3> : tile<i32>
      %q3 = offset %p0, %o3 : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
      %k3 = store_ptr_tko weak %q3, %one : tile<ptr<i32>>, tile<i32> -> token
    }
    if %n {
      %o4 = constant <i32: 4> : tile<i32>
      %q4 = offset %p0, %o4 : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
      %k4 = store_ptr_tko weak %q4, %one : tile<ptr<i32>>, tile<i32> -> token
    }
    %t_ot = make_tensor_view %p1, shape = [4], strides = [1] : tensor_view<4xf32, strides=[1]>
    %t_ov = make_partition_view %t_ot : partition_view<tile=(4), tensor_view<4xf32, strides=[1]>>
    %t_ok = store_view_tko weak %t, %t_ov[%zero] : tile<4xf32>, partition_view<tile=(4), tensor_view<4xf32, strides=[1]>>, tile<i32> -> token
    return
  }
}
