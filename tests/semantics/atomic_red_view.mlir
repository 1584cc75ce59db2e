// Updates of the part of a tile that lies in the tensor, by all tile blocks.
// grid: 2 1 1
// buffer: i32 1 2 3 -> 3 4 5
// buffer: f32 1.0 2.0 3.0 4.0 -> 2.0 3.0 4.0 5.0
// buffer: i32 5 -5 -> 5 3
// buffer: i64 -1 0 -> -1 7
// buffer: f16 1.0 1.0 -> 4.0 4.0
// buffer: i32 0xff -> 0x0f
// buffer: bf16 1.0 -> 3.0
// buffer: f64 1.0 -> 3.0
cuda_tile.module @m {
  entry @atomic_red_view(%p0: tile<ptr<i32>>, %p1: tile<ptr<f32>>, %p2: tile<ptr<i32>>, %p3: tile<ptr<i64>>, %p4: tile<ptr<f16>>, %p5: tile<ptr<i32>>, %p6: tile<ptr<bf16>>, %p7: tile<ptr<f64>>) {
    %zero = constant <i32: 0> : tile<i32>
    %v0t = make_tensor_view %p0, shape = [3], strides = [1] : tensor_view<3xi32, strides=[1]>
    %v0 = make_partition_view %v0t : partition_view<tile=(4), tensor_view<3xi32, strides=[1]>>
    %one = constant <i32: 1> : tile<4xi32>
    %k0 = atomic_red_view_tko relaxed device %v0[%zero], add, %one : tile<4xi32>, partition_view<tile=(4), tensor_view<3xi32, strides=[1]>>, tile<i32> -> token
    %x, %y, %z = get_tile_block_id : tile<i32>
    %v1t = make_tensor_view %p1, shape = [4], strides = [1] : tensor_view<4xf32, strides=[1]>
    %v1 = make_partition_view %v1t : partition_view<tile=(2), tensor_view<4xf32, strides=[1]>>
    %f = constant <f32: 1.0> : tile<2xf32>
    %k1 = atomic_red_view_tko relaxed tl_blk %v1[%x], addf, %f : tile<2xf32>, partition_view<tile=(2), tensor_view<4xf32, strides=[1]>>, tile<i32> -> token
    %v2t = make_tensor_view %p2, shape = [2], strides = [1] : tensor_view<2xi32, strides=[1]>
    %v2 = make_partition_view %v2t : partition_view<tile=(2), tensor_view<2xi32, strides=[1]>>
    %three = constant <i32: 3> : tile<2xi32>
    %k2 = atomic_red_view_tko relaxed device %v2[%zero], max, %three : tile<2xi32>, partition_view<tile=(2), tensor_view<2xi32, strides=[1]>>, tile<i32> -> token
    %v3t = make_tensor_view %p3, shape = [2], strides = [1] : tensor_view<2xi64, strides=[1]>
    %v3 = make_partition_view %v3t : partition_view<tile=(2), tensor_view<2xi64, strides=[1]>>
    %seven = constant <i64: 7> : tile<2xi64>
    %k3 = atomic_red_view_tko relaxed device %v3[%zero], umax, %seven : tile<2xi64>, partition_view<tile=(2), tensor_view<2xi64, strides=[1]>>, tile<i32> -> token
    %v4t = make_tensor_view %p4, shape = [2], strides = [1] : tensor_view<2xf16, strides=[1]>
    %v4 = make_partition_view %v4t : partition_view<tile=(2), tensor_view<2xf16, strides=[1]>>
    %h = constant <f16: 1.5> : tile<2xf16>
    %k4 = atomic_red_view_tko relaxed device %v4[%zero], addf, %h : tile<2xf16>, partition_view<tile=(2), tensor_view<2xf16, strides=[1]>>, tile<i32> -> token
    %v5t = make_tensor_view %p5, shape = [1], strides = [1] : tensor_view<1xi32, strides=[1]>
    %v5 = make_partition_view %v5t : partition_view<tile=(1), tensor_view<1xi32, strides=[1]>>
    %m = constant <i32: 15> : tile<1xi32>
    %k5 = atomic_red_view_tko relaxed device %v5[%zero], and, %m : tile<1xi32>, partition_view<tile=(1), tensor_view<1xi32, strides=[1]>>, tile<i32> -> token
    %v6t = make_tensor_view %p6, shape = [1], strides = [1] : tensor_view<1xbf16, strides=[1]>
    %v6 = make_partition_view %v6t : partition_view<tile=(1), tensor_view<1xbf16, strides=[1]>>
    %b = constant <bf16: 1.0> : tile<1xbf16>
    %k6 = atomic_red_view_tko relaxed device %v6[%zero], addf, %b : tile<1xbf16>, partition_view<tile=(1), tensor_view<1xbf16, strides=[1]>>, tile<i32> -> token
    %v7t = make_tensor_view %p7, shape = [1], strides = [1] : tensor_view<1xf64, strides=[1]>
    %v7 = make_partition_view %v7t : partition_view<tile=(1), tensor_view<1xf64, strides=[1]>>
    %d = constant <f64: 1.0> : tile<1xf64>
    %k7 = atomic_red_view_tko relaxed device %v7[%zero], addf, %d : tile<1xf64>, partition_view<tile=(1), tensor_view<1xf64, strides=[1]>>, tile<i32> -> token
    return
  }
}
