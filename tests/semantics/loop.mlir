// A loop that ends at a break, with other results than carried values; nested loops; break from a branch.
// grid: 1 1 1
// buffer: i32 0*3 -> 10 7 12
// buffer: f32 0.0 -> 0.5
cuda_tile.module @m {
  entry @loop(%p0: tile<ptr<i32>>, %p1: tile<ptr<f32>>) {
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %four = constant <i32: 4> : tile<i32>
    %half = constant <f32: 0.5> : tile<f32>
    %a, %f = loop iter_values(%i = %zero, %s = %zero) : tile<i32>, tile<i32> -> tile<i32>, tile<f32> {
      %done = cmpi greater_than %i, %four, signed : tile<i32> -> tile<i1>
      if %done {
        break %s, %half : tile<i32>, tile<f32>
      }
      %n = addi %s, %i : tile<i32>
      %j = addi %i, %one : tile<i32>
      continue %j, %n : tile<i32>, tile<i32>
    }
    %b = loop : tile<i32> {
      %seven = constant <i32: 7> : tile<i32>
      break %seven : tile<i32>
    }
    %c = loop iter_values(%i = %zero, %s = %zero) : tile<i32>, tile<i32> -> tile<i32> {
      %t = for %k in (%zero to %four, step %one) : tile<i32> iter_values(%u = %s) -> (tile<i32>) {
        %v = addi %u, %one : tile<i32>
        continue %v : tile<i32>
      }
      %j = addi %i, %one : tile<i32>
      %last = cmpi less_than %i, %one, signed : tile<i32> -> tile<i1>
      if %last {
        continue %j, %t : tile<i32>, tile<i32>
      }
      %again = cmpi equal %i, %one, signed : tile<i32> -> tile<i1>
      if %again {
        continue %j, %t : tile<i32>, tile<i32>
      } else {
        break %t : tile<i32>
      }
      continue %j, %zero : tile<i32>, tile<i32>
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
    %f_k = store_ptr_tko weak %p1, %f : tile<ptr<f32>>, tile<f32> -> token
    return
  }
}
