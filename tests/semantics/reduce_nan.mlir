// Maxima of NaNs alone are NaN, whether the maximum passes over NaN or not: the identity is no element. Next to a number,
// NaN is passed over.
// grid: 1 1 1
// buffer: f32 nan 1.0 nan nan
// buffer: f32 0.0*4 -> nan 1.0 nan nan
// buffer: f32 0.0*4 -> nan 1.0 nan nan
// buffer: f32 0.0*2 -> 1.0 nan
// buffer: f32 0.0*4 -> nan 1.0 1.0 1.0
cuda_tile.module @m {
  entry @reduce_nan(%p0: tile<ptr<f32>>, %p1: tile<ptr<f32>>, %p2: tile<ptr<f32>>, %p3: tile<ptr<f32>>, %p4: tile<ptr<f32>>) {
    %zero = constant <i32: 0> : tile<i32>
    %x_t = make_tensor_view %p0, shape = [4, 1], strides = [1, 1] : tensor_view<4x1xf32, strides=[1,1]>
    %x_v = make_partition_view %x_t : partition_view<tile=(4x1), tensor_view<4x1xf32, strides=[1,1]>>
    %x, %x_k = load_view_tko weak %x_v[%zero, %zero] : partition_view<tile=(4x1), tensor_view<4x1xf32, strides=[1,1]>>, tile<i32> -> tile<4x1xf32>, token
    %y = reshape %x : tile<4x1xf32> -> tile<2x2xf32>
    %z = reshape %x : tile<4x1xf32> -> tile<4xf32>
    %a = reduce %x dim=1 identities=[0xFF800000 : f32] : tile<4x1xf32> -> tile<4xf32>
    (%a0: tile<f32>, %b0: tile<f32>) {
      %c0 = maxf %a0, %b0 : tile<f32>
      yield %c0 : tile<f32>
    }
    %b = reduce %x dim=1 identities=[0xFF800000 : f32] : tile<4x1xf32> -> tile<4xf32>
    (%a1: tile<f32>, %b1: tile<f32>) {
      %c1 = maxf %a1, %b1 propagate_nan : tile<f32>
      yield %c1 : tile<f32>
    }
    %c = reduce %y dim=1 identities=[0xFF800000 : f32] : tile<2x2xf32> -> tile<2xf32>
    (%a2: tile<f32>, %b2: tile<f32>) {
      %c2 = maxf %a2, %b2 : tile<f32>
      yield %c2 : tile<f32>
    }
    %d = scan %z dim=0 reverse=false identities=[0xFF800000 : f32] : tile<4xf32> -> tile<4xf32>
    (%a3: tile<f32>, %b3: tile<f32>) {
      %c3 = maxf %a3, %b3 : tile<f32>
      yield %c3 : tile<f32>
    }
    %a_t = make_tensor_view %p1, shape = [4], strides = [1] : tensor_view<4xf32, strides=[1]>
    %a_v = make_partition_view %a_t : partition_view<tile=(4), tensor_view<4xf32, strides=[1]>>
    %a_k = store_view_tko weak %a, %a_v[%zero] : tile<4xf32>, partition_view<tile=(4), tensor_view<4xf32, strides=[1]>>, tile<i32> -> token
    %b_t = make_tensor_view %p2, shape = [4], strides = [1] : tensor_view<4xf32, strides=[1]>
    %b_v = make_partition_view %b_t : partition_view<tile=(4), tensor_view<4xf32, strides=[1]>>
    %b_k = store_view_tko weak %b, %b_v[%zero] : tile<4xf32>, partition_view<tile=(4), tensor_view<4xf32, strides=[1]>>, tile<i32> -> token
    %c_t = make_tensor_view %p3, shape = [2], strides = [1] : tensor_view<2xf32, strides=[1]>
    %c_v = make_partition_view %c_t : partition_view<tile=(2), tensor_view<2xf32, strides=[1]>>
    %c_k = store_view_tko weak %c, %c_v[%zero] : tile<2xf32>, partition_view<tile=(2), tensor_view<2xf32, strides=[1]>>, tile<i32> -> token
    %d_t = make_tensor_view %p4, shape = [4], strides = [1] : tensor_view<4xf32, strides=[1]>
    %d_v = make_partition_view %d_t : partition_view<tile=(4), tensor_view<4xf32, strides=[1]>>
    %d_k = store_view_tko weak %d, %d_v[%zero] : tile<4xf32>, partition_view<tile=(4), tensor_view<4xf32, strides=[1]>>, tile<i32> -> token
    return
  }
}
