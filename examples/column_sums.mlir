// The sums of the columns of a row-major matrix, in two ways. docs/slow-kernels.md explains why the first is slow.
cuda_tile.module @examples {
  // One column per tile block, 1024 rows at a time. Grid: the columns.
  entry @by_column(%x0: tile<ptr<f32>>, %m0: tile<i32>, %n0: tile<i32>, %s0: tile<i32>, %s1: tile<i32>,
                %y0: tile<ptr<f32>>, %k0: tile<i32>, %r0: tile<i32>) {
    %x = assume div_by<16>, %x0 : tile<ptr<f32>>
    %y = assume div_by<16>, %y0 : tile<ptr<f32>>
    %m = assume div_by<64>, %m0 : tile<i32>
    %n = assume div_by<32>, %n0 : tile<i32>
    %s = assume div_by<32>, %s0 : tile<i32>
    %xs = make_tensor_view %x, shape = [%m, %n], strides = [%s, 1] : tile<i32> -> tensor_view<?x?xf32, strides=[?,1]>
    %ys = make_tensor_view %y, shape = [%n], strides = [1] : tile<i32> -> tensor_view<?xf32, strides=[1]>
    %xv = make_partition_view %xs : partition_view<tile=(1024x1), tensor_view<?x?xf32, strides=[?,1]>>
    %yv = make_partition_view %ys : partition_view<tile=(1), tensor_view<?xf32, strides=[1]>>
    %j, %j1, %j2 = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %height = constant <i32: 1024> : tile<i32>
    %steps = divi %m, %height signed rounding<positive_inf> : tile<i32>
    %none = constant <f32: 0.0> : tile<1024x1xf32>
    %sums = for %i in (%zero to %steps, step %one) : tile<i32> iter_values(%sum = %none) -> (tile<1024x1xf32>) {
      %v, %t = load_view_tko weak %xv[%i, %j] : partition_view<tile=(1024x1), tensor_view<?x?xf32, strides=[?,1]>>, tile<i32> -> tile<1024x1xf32>, token
      %next = addf %sum, %v : tile<1024x1xf32>
      continue %next : tile<1024x1xf32>
    }
    %total = reduce %sums dim=0 identities=[0.0 : f32] : tile<1024x1xf32> -> tile<1xf32>
    (%a: tile<f32>, %b: tile<f32>) {
      %c = addf %a, %b : tile<f32>
      yield %c : tile<f32>
    }
    %done = store_view_tko weak %total, %yv[%j] : tile<1xf32>, partition_view<tile=(1), tensor_view<?xf32, strides=[1]>>, tile<i32> -> token
    return
  }

  // 32 columns per tile block, 64 rows at a time. Grid: the columns / 32.
  entry @by_tile(%x0: tile<ptr<f32>>, %m0: tile<i32>, %n0: tile<i32>, %s0: tile<i32>, %s1: tile<i32>,
                %y0: tile<ptr<f32>>, %k0: tile<i32>, %r0: tile<i32>) {
    %x = assume div_by<16>, %x0 : tile<ptr<f32>>
    %y = assume div_by<16>, %y0 : tile<ptr<f32>>
    %m = assume div_by<64>, %m0 : tile<i32>
    %n = assume div_by<32>, %n0 : tile<i32>
    %s = assume div_by<32>, %s0 : tile<i32>
    %xs = make_tensor_view %x, shape = [%m, %n], strides = [%s, 1] : tile<i32> -> tensor_view<?x?xf32, strides=[?,1]>
    %ys = make_tensor_view %y, shape = [%n], strides = [1] : tile<i32> -> tensor_view<?xf32, strides=[1]>
    %xv = make_partition_view %xs : partition_view<tile=(64x32), tensor_view<?x?xf32, strides=[?,1]>>
    %yv = make_partition_view %ys : partition_view<tile=(32), tensor_view<?xf32, strides=[1]>>
    %j, %j1, %j2 = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %height = constant <i32: 64> : tile<i32>
    %steps = divi %m, %height signed rounding<positive_inf> : tile<i32>
    %none = constant <f32: 0.0> : tile<64x32xf32>
    %sums = for %i in (%zero to %steps, step %one) : tile<i32> iter_values(%sum = %none) -> (tile<64x32xf32>) {
      %v, %t = load_view_tko weak %xv[%i, %j] : partition_view<tile=(64x32), tensor_view<?x?xf32, strides=[?,1]>>, tile<i32> -> tile<64x32xf32>, token
      %next = addf %sum, %v : tile<64x32xf32>
      continue %next : tile<64x32xf32>
    }
    %total = reduce %sums dim=0 identities=[0.0 : f32] : tile<64x32xf32> -> tile<32xf32>
    (%a: tile<f32>, %b: tile<f32>) {
      %c = addf %a, %b : tile<f32>
      yield %c : tile<f32>
    }
    %done = store_view_tko weak %total, %yv[%j] : tile<32xf32>, partition_view<tile=(32), tensor_view<?xf32, strides=[1]>>, tile<i32> -> token
    return
  }
}
