// Sums and products that are exact in any order; maxima and minima with NaN.
// grid: 1 1 1
// buffer: f32 1.0 2.0 -4.0 0.5 8.0 1.0 -1.0 16.0
// buffer: f32 1.0 nan -3.0 7.0 nan 2.0 -9.0 0.0
// buffer: f32 0.0 -> 23.5
// buffer: f32 0.0 -> 512.0~20
// buffer: f32 0.0 -> 7.0
// buffer: f32 0.0 -> nan
// buffer: f32 0.0 -> -9.0
// buffer: f16 0.0 -> 23.5
// buffer: bf16 0.0 -> 23.5
// buffer: f64 0.0 -> 23.5
cuda_tile.module @m {
  entry @reduce_floats(%p0: tile<ptr<f32>>, %p1: tile<ptr<f32>>, %p2: tile<ptr<f32>>, %p3: tile<ptr<f32>>, %p4: tile<ptr<f32>>, %p5: tile<ptr<f32>>, %p6: tile<ptr<f32>>, %p7: tile<ptr<f16>>, %p8: tile<ptr<bf16>>, %p9: tile<ptr<f64>>) {
    %zero = constant <i32: 0> : tile<i32>
    %x_t = make_tensor_view %p0, shape = [8], strides = [1] : tensor_view<8xf32, strides=[1]>
    %x_v = make_partition_view %x_t : partition_view<tile=(8), tensor_view<8xf32, strides=[1]>>
    %x, %x_k = load_view_tko weak %x_v[%zero] : partition_view<tile=(8), tensor_view<8xf32, strides=[1]>>, tile<i32> -> tile<8xf32>, token
    %y_t = make_tensor_view %p1, shape = [8], strides = [1] : tensor_view<8xf32, strides=[1]>
    %y_v = make_partition_view %y_t : partition_view<tile=(8), tensor_view<8xf32, strides=[1]>>
    %y, %y_k = load_view_tko weak %y_v[%zero] : partition_view<tile=(8), tensor_view<8xf32, strides=[1]>>, tile<i32> -> tile<8xf32>, token
    %s = reduce %x dim=0 identities=[0.0 : f32] : tile<8xf32> -> tile<f32>
    (%a0: tile<f32>, %b0: tile<f32>) {
      %c0 = addf %a0, %b0 : tile<f32>
      yield %c0 : tile<f32>
    }
    %t = reduce %x dim=0 identities=[1.0 : f32] : tile<8xf32> -> tile<f32>
    (%a1: tile<f32>, %b1: tile<f32>) {
      %c1 = mulf %a1, %b1 : tile<f32>
      yield %c1 : tile<f32>
    }
    %u = reduce %y dim=0 identities=[0xFF800000 : f32] : tile<8xf32> -> tile<f32>
    (%a2: tile<f32>, %b2: tile<f32>) {
      %c2 = maxf %a2, %b2 : tile<f32>
      yield %c2 : tile<f32>
    }
    %v = reduce %y dim=0 identities=[0xFF800000 : f32] : tile<8xf32> -> tile<f32>
    (%a3: tile<f32>, %b3: tile<f32>) {
      %c3 = maxf %a3, %b3 propagate_nan : tile<f32>
      yield %c3 : tile<f32>
    }
    %w = reduce %y dim=0 identities=[0x7F800000 : f32] : tile<8xf32> -> tile<f32>
    (%a4: tile<f32>, %b4: tile<f32>) {
      %c4 = minf %a4, %b4 : tile<f32>
      yield %c4 : tile<f32>
    }
    %k0 = store_ptr_tko weak %p2, %s : tile<ptr<f32>>, tile<f32> -> token
    %k1 = store_ptr_tko weak %p3, %t : tile<ptr<f32>>, tile<f32> -> token
    %k2 = store_ptr_tko weak %p4, %u : tile<ptr<f32>>, tile<f32> -> token
    %k3 = store_ptr_tko weak %p5, %v : tile<ptr<f32>>, tile<f32> -> token
    %k4 = store_ptr_tko weak %p6, %w : tile<ptr<f32>>, tile<f32> -> token
    %z0 = ftof %x : tile<8xf32> -> tile<8xf16>
    %q0 = reduce %z0 dim=0 identities=[0.0 : f16] : tile<8xf16> -> tile<f16>
    (%d0: tile<f16>, %e0: tile<f16>) {
      %f0 = addf %d0, %e0 : tile<f16>
      yield %f0 : tile<f16>
    }
    %l0 = store_ptr_tko weak %p7, %q0 : tile<ptr<f16>>, tile<f16> -> token
    %z1 = ftof %x : tile<8xf32> -> tile<8xbf16>
    %q1 = reduce %z1 dim=0 identities=[0.0 : bf16] : tile<8xbf16> -> tile<bf16>
    (%d1: tile<bf16>, %e1: tile<bf16>) {
      %f1 = addf %d1, %e1 : tile<bf16>
      yield %f1 : tile<bf16>
    }
    %l1 = store_ptr_tko weak %p8, %q1 : tile<ptr<bf16>>, tile<bf16> -> token
    %z2 = ftof %x : tile<8xf32> -> tile<8xf64>
    %q2 = reduce %z2 dim=0 identities=[0.0 : f64] : tile<8xf64> -> tile<f64>
    (%d2: tile<f64>, %e2: tile<f64>) {
      %f2 = addf %d2, %e2 : tile<f64>
      yield %f2 : tile<f64>
    }
    %l2 = store_ptr_tko weak %p9, %q2 : tile<ptr<f64>>, tile<f64> -> token
    return
  }
}
