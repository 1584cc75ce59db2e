// Left operands that loops carry, which each iteration passes on otherwise: as the result of a conversion, of a branch,
// of a constant, of a load, and as they are. 64 - 64 + 64; 64 + 128 + 128; 64 + 0 + 0; 64 + 192 + 192; 3 times 64.
// grid: 1 1 1
// scalar: i32 3
// buffer: f16 1.0*4096
// buffer: f16 1.0*4096
// buffer: f16 3.0*4096
// buffer: f32 -1.0*4096 -> 64.0*4096
// buffer: f32 -1.0*4096 -> 320.0*4096
// buffer: f32 -1.0*4096 -> 64.0*4096
// buffer: f32 -1.0*4096 -> 448.0*4096
// buffer: f32 -1.0*4096 -> 192.0*4096
cuda_tile.module @m {
  entry @carried_operands(%n: tile<i32>, %p1: tile<ptr<f16>>, %p2: tile<ptr<f16>>, %p3: tile<ptr<f16>>, %o1: tile<ptr<f32>>, %o2: tile<ptr<f32>>, %o3: tile<ptr<f32>>, %o4: tile<ptr<f32>>, %o5: tile<ptr<f32>>) {
    %a1 = assume div_by<16>, %p1 : tile<ptr<f16>>
    %t1 = make_tensor_view %a1, shape = [64, 64], strides = [64, 1] : tensor_view<64x64xf16, strides=[64,1]>
    %w1 = make_partition_view %t1 : partition_view<tile=(64x64), padding_value = zero, tensor_view<64x64xf16, strides=[64,1]>>
    %a2 = assume div_by<16>, %p2 : tile<ptr<f16>>
    %t2 = make_tensor_view %a2, shape = [64, 64], strides = [64, 1] : tensor_view<64x64xf16, strides=[64,1]>
    %w2 = make_partition_view %t2 : partition_view<tile=(64x64), padding_value = zero, tensor_view<64x64xf16, strides=[64,1]>>
    %a3 = assume div_by<16>, %p3 : tile<ptr<f16>>
    %t3 = make_tensor_view %a3, shape = [64, 64], strides = [64, 1] : tensor_view<64x64xf16, strides=[64,1]>
    %w3 = make_partition_view %t3 : partition_view<tile=(64x64), padding_value = zero, tensor_view<64x64xf16, strides=[64,1]>>
    %c0 = constant <i32: 0> : tile<i32>
    %c1 = constant <i32: 1> : tile<i32>
    %zero = constant <f32: 0.0> : tile<64x64xf32>
    %none = constant <f16: 0.0> : tile<64x64xf16>
    %first, %k1 = load_view_tko weak %w1[%c0, %c0] : partition_view<tile=(64x64), padding_value = zero, tensor_view<64x64xf16, strides=[64,1]>>, tile<i32> -> tile<64x64xf16>, token
    %r1:2 = for %i in (%c0 to %n, step %c1) : tile<i32> iter_values(%s = %zero, %h = %first) -> (tile<64x64xf32>, tile<64x64xf16>) {
      %b, %k2 = load_view_tko weak %w2[%c0, %c0] : partition_view<tile=(64x64), padding_value = zero, tensor_view<64x64xf16, strides=[64,1]>>, tile<i32> -> tile<64x64xf16>, token
      %m = mmaf %h, %b, %s : tile<64x64xf16>, tile<64x64xf16>, tile<64x64xf32>
      %next = negf %h : tile<64x64xf16>
      continue %m, %next : tile<64x64xf32>, tile<64x64xf16>
    }
    %r2:2 = for %i in (%c0 to %n, step %c1) : tile<i32> iter_values(%s = %zero, %h = %first) -> (tile<64x64xf32>, tile<64x64xf16>) {
      %b, %k2 = load_view_tko weak %w2[%c0, %c0] : partition_view<tile=(64x64), padding_value = zero, tensor_view<64x64xf16, strides=[64,1]>>, tile<i32> -> tile<64x64xf16>, token
      %m = mmaf %h, %b, %s : tile<64x64xf16>, tile<64x64xf16>, tile<64x64xf32>
      %q = cmpi equal %i, %c0, signed : tile<i32> -> tile<i1>
      %next = if %q -> (tile<64x64xf16>) {
        %two = addf %h, %h : tile<64x64xf16>
        yield %two : tile<64x64xf16>
      } else {
        yield %h : tile<64x64xf16>
      }
      continue %m, %next : tile<64x64xf32>, tile<64x64xf16>
    }
    %r3:2 = for %i in (%c0 to %n, step %c1) : tile<i32> iter_values(%s = %zero, %h = %first) -> (tile<64x64xf32>, tile<64x64xf16>) {
      %b, %k2 = load_view_tko weak %w2[%c0, %c0] : partition_view<tile=(64x64), padding_value = zero, tensor_view<64x64xf16, strides=[64,1]>>, tile<i32> -> tile<64x64xf16>, token
      %m = mmaf %h, %b, %s : tile<64x64xf16>, tile<64x64xf16>, tile<64x64xf32>
      continue %m, %none : tile<64x64xf32>, tile<64x64xf16>
    }
    %r4:2 = for %i in (%c0 to %n, step %c1) : tile<i32> iter_values(%s = %zero, %h = %first) -> (tile<64x64xf32>, tile<64x64xf16>) {
      %b, %k2 = load_view_tko weak %w2[%c0, %c0] : partition_view<tile=(64x64), padding_value = zero, tensor_view<64x64xf16, strides=[64,1]>>, tile<i32> -> tile<64x64xf16>, token
      %m = mmaf %h, %b, %s : tile<64x64xf16>, tile<64x64xf16>, tile<64x64xf32>
      %next, %k3 = load_view_tko weak %w3[%c0, %c0] : partition_view<tile=(64x64), padding_value = zero, tensor_view<64x64xf16, strides=[64,1]>>, tile<i32> -> tile<64x64xf16>, token
      continue %m, %next : tile<64x64xf32>, tile<64x64xf16>
    }
    %r5:2 = for %i in (%c0 to %n, step %c1) : tile<i32> iter_values(%s = %zero, %h = %first) -> (tile<64x64xf32>, tile<64x64xf16>) {
      %b, %k2 = load_view_tko weak %w2[%c0, %c0] : partition_view<tile=(64x64), padding_value = zero, tensor_view<64x64xf16, strides=[64,1]>>, tile<i32> -> tile<64x64xf16>, token
      %m = mmaf %h, %b, %s : tile<64x64xf16>, tile<64x64xf16>, tile<64x64xf32>
      continue %m, %h : tile<64x64xf32>, tile<64x64xf16>
    }
    %q1 = assume div_by<16>, %o1 : tile<ptr<f32>>
    %u1 = make_tensor_view %q1, shape = [64, 64], strides = [64, 1] : tensor_view<64x64xf32, strides=[64,1]>
    %v1 = make_partition_view %u1 : partition_view<tile=(64x64), tensor_view<64x64xf32, strides=[64,1]>>
    %x1 = store_view_tko weak %r1#0, %v1[%c0, %c0] : tile<64x64xf32>, partition_view<tile=(64x64), tensor_view<64x64xf32, strides=[64,1]>>, tile<i32> -> token
    %q2 = assume div_by<16>, %o2 : tile<ptr<f32>>
    %u2 = make_tensor_view %q2, shape = [64, 64], strides = [64, 1] : tensor_view<64x64xf32, strides=[64,1]>
    %v2 = make_partition_view %u2 : partition_view<tile=(64x64), tensor_view<64x64xf32, strides=[64,1]>>
    %x2 = store_view_tko weak %r2#0, %v2[%c0, %c0] : tile<64x64xf32>, partition_view<tile=(64x64), tensor_view<64x64xf32, strides=[64,1]>>, tile<i32> -> token
    %q3 = assume div_by<16>, %o3 : tile<ptr<f32>>
    %u3 = make_tensor_view %q3, shape = [64, 64], strides = [64, 1] : tensor_view<64x64xf32, strides=[64,1]>
    %v3 = make_partition_view %u3 : partition_view<tile=(64x64), tensor_view<64x64xf32, strides=[64,1]>>
    %x3 = store_view_tko weak %r3#0, %v3[%c0, %c0] : tile<64x64xf32>, partition_view<tile=(64x64), tensor_view<64x64xf32, strides=[64,1]>>, tile<i32> -> token
    %q4 = assume div_by<16>, %o4 : tile<ptr<f32>>
    %u4 = make_tensor_view %q4, shape = [64, 64], strides = [64, 1] : tensor_view<64x64xf32, strides=[64,1]>
    %v4 = make_partition_view %u4 : partition_view<tile=(64x64), tensor_view<64x64xf32, strides=[64,1]>>
    %x4 = store_view_tko weak %r4#0, %v4[%c0, %c0] : tile<64x64xf32>, partition_view<tile=(64x64), tensor_view<64x64xf32, strides=[64,1]>>, tile<i32> -> token
    %q5 = assume div_by<16>, %o5 : tile<ptr<f32>>
    %u5 = make_tensor_view %q5, shape = [64, 64], strides = [64, 1] : tensor_view<64x64xf32, strides=[64,1]>
    %v5 = make_partition_view %u5 : partition_view<tile=(64x64), tensor_view<64x64xf32, strides=[64,1]>>
    %x5 = store_view_tko weak %r5#0, %v5[%c0, %c0] : tile<64x64xf32>, partition_view<tile=(64x64), tensor_view<64x64xf32, strides=[64,1]>>, tile<i32> -> token
    return
  }
}
