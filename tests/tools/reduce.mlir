cuda_tile.module @m {
  entry @other(%p: tile<ptr<f32>>) {
    return
  }
  entry @k(%p: tile<ptr<f32>>, %q: tile<ptr<f32>>, %n: tile<i32>) {
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %x = make_tensor_view %p, shape = [%n], strides = [1] : tile<i32> -> tensor_view<?xf32, strides=[1]>
    %xv = make_partition_view %x : partition_view<tile=(64), tensor_view<?xf32, strides=[1]>>
    %y = make_tensor_view %q, shape = [%n], strides = [1] : tile<i32> -> tensor_view<?xf32, strides=[1]>
    %yv = make_partition_view %y : partition_view<tile=(64), tensor_view<?xf32, strides=[1]>>
    %start = constant <f32: 1.0> : tile<64xf32>
    %sum = for %i in (%zero to %n, step %one) : tile<i32> iter_values(%acc = %start) -> (tile<64xf32>) {
      %v, %t = load_view_tko weak %xv[%i] : partition_view<tile=(64), tensor_view<?xf32, strides=[1]>>, tile<i32> -> tile<64xf32>, token
      %a = absf %v : tile<64xf32>
      %m = maxf %acc, %a : tile<64xf32>
      %e = exp %m : tile<64xf32>
      continue %e : tile<64xf32>
    }
    %s = store_view_tko weak %sum, %yv[%zero] : tile<64xf32>, partition_view<tile=(64), tensor_view<?xf32, strides=[1]>>, tile<i32> -> token
    return
  }
}
