// Signed and unsigned bounds, a step that passes the end, no round at all, carried values, early continue.
// grid: 1 1 1
// buffer: i32 0*6 -> 18 0 5 3 2 100
// buffer: i64 0 -> 10
// buffer: f32 1.0 2.0 3.0 4.0 -> 8.0 16.0 24.0 32.0
cuda_tile.module @m {
  entry @for(%p0: tile<ptr<i32>>, %p1: tile<ptr<i64>>, %p2: tile<ptr<f32>>) {
    %zero = constant <i32: 0> : tile<i32>
    %minus = constant <i32: -2> : tile<i32>
    %ten = constant <i32: 10> : tile<i32>
    %three = constant <i32: 3> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %two = constant <i32: 2> : tile<i32>
    %a = for %i in (%zero to %ten, step %three) : tile<i32> iter_values(%s = %zero) -> (tile<i32>) {
      %n = addi %s, %i : tile<i32>
      continue %n : tile<i32>
    }
    %b = for unsigned %i in (%minus to %ten, step %one) : tile<i32> iter_values(%s = %zero) -> (tile<i32>) {
      %n = addi %s, %one : tile<i32>
      continue %n : tile<i32>
    }
    %c = for %i in (%minus to %three, step %one) : tile<i32> iter_values(%s = %zero) -> (tile<i32>) {
      %n = addi %s, %one : tile<i32>
      continue %n : tile<i32>
    }
    %d = for %i in (%zero to %ten, step %one) : tile<i32> iter_values(%s = %zero) -> (tile<i32>) {
      %e = cmpi greater_than_or_equal %i, %three, signed : tile<i32> -> tile<i1>
      if %e {
        continue %s : tile<i32>
      }
      %n = addi %s, %one : tile<i32>
      continue %n : tile<i32>
    }
    %e0 = for unsigned %i in (%minus to %minus, step %one) : tile<i32> iter_values(%s = %two) -> (tile<i32>) {
      continue %zero : tile<i32>
    }
    %high = constant <i32: -1> : tile<i32>
    %f0 = for unsigned %i in (%minus to %high, step %one) : tile<i32> iter_values(%s = %zero) -> (tile<i32>) {
      %hundred = constant <i32: 100> : tile<i32>
      continue %hundred : tile<i32>
    }
    %o0 = constant <i32: 0> : tile<i32>
    %q0 = offset %p0, %o0 : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %k0 = store_ptr_tko weak %q0, %a : tile<ptr<i32>>, tile<i32> -> token
    %o1 = constant <i32: 1> : tile<i32>
    %q1 = offset %p0, %o1 : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %k1 = store_ptr_tko weak %q1, %b : tile<ptr<i32>>, tile<i32> -> token
    %o2 = constant <i32: 2> : tile<i32>
    %q2 = offset %p0, %o2 : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %k2 = store_ptr_tko weak %q2, %c : tile<ptr<i32>>, tile<i32> -> token
    %o3 = constant <i32: 3> : tile<i32>
    %q3 = offset %p0, %o3 : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %k3 = store_ptr_tko weak %q3, %d : tile<ptr<i32>>, tile<i32> -> token
    %o4 = constant <i32: 4> : tile<i32>
    %q4 = offset %p0, %o4 : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %k4 = store_ptr_tko weak %q4, %e0 : tile<ptr<i32>>, tile<i32> -> token
    %o5 = constant <i32: 5> : tile<i32>
    %q5 = offset %p0, %o5 : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %k5 = store_ptr_tko weak %q5, %f0 : tile<ptr<i32>>, tile<i32> -> token
    %l0 = constant <i64: 0> : tile<i64>
    %l1 = constant <i64: 1> : tile<i64>
    %l5 = constant <i64: 5> : tile<i64>
    %g = for %i in (%l0 to %l5, step %l1) : tile<i64> iter_values(%s = %l0) -> (tile<i64>) {
      %n = addi %s, %i : tile<i64>
      continue %n : tile<i64>
    }
    %g_k = store_ptr_tko weak %p1, %g : tile<ptr<i64>>, tile<i64> -> token
    %v_t = make_tensor_view %p2, shape = [4], strides = [1] : tensor_view<4xf32, strides=[1]>
    %v_v = make_partition_view %v_t : partition_view<tile=(4), tensor_view<4xf32, strides=[1]>>
    %v, %v_k = load_view_tko weak %v_v[%zero] : partition_view<tile=(4), tensor_view<4xf32, strides=[1]>>, tile<i32> -> tile<4xf32>, token
    %w, %w_t = for %i in (%zero to %three, step %one) : tile<i32> iter_values(%s = %v, %t = %v_k) -> (tile<4xf32>, token) {
      %n = addf %s, %s : tile<4xf32>
      continue %n, %t : tile<4xf32>, token
    }
    %w_ot = make_tensor_view %p2, shape = [4], strides = [1] : tensor_view<4xf32, strides=[1]>
    %w_ov = make_partition_view %w_ot : partition_view<tile=(4), tensor_view<4xf32, strides=[1]>>
    %w_ok = store_view_tko weak %w, %w_ov[%zero] token = %w_t : tile<4xf32>, partition_view<tile=(4), tensor_view<4xf32, strides=[1]>>, tile<i32> -> token
    return
  }
}
