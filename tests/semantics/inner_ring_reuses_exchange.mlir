// The schedule of the outer loop orders its operations. The barrier, the copies and the inner loop that follow each other
// stay together, because the ring of the inner loop reuses the shared memory of the tiles that the outer loop moves
// between threads. Each of two iterations adds 64 * 2, and 32 in each of three inner iterations.
// grid: 1 1 1
// buffer: f32 1.0*16384
// buffer: f32 2.0*4096
// buffer: f32 1.0*65536
// buffer: f32 1.0*32768
// buffer: f32 0.0*1024 -> 448.0*1024
cuda_tile.module @m {
  entry @inner_ring_reuses_exchange(%x: tile<ptr<f32>>, %y: tile<ptr<f32>>, %v: tile<ptr<f32>>, %l: tile<ptr<f32>>, %o: tile<ptr<f32>>) {
    %zeros = constant <tf32: 0.000000e+00> : tile<16x16xtf32>
    %rows = constant <tf32: 0.000000e+00> : tile<64x16xtf32>
    %ones = constant <tf32: 1.0> : tile<32x16xtf32>
    %c3 = constant <i32: 3> : tile<i32>
    %c1 = constant <i32: 1> : tile<i32>
    %c0 = constant <i32: 0> : tile<i32>
    %z = constant <f32: 0.000000e+00> : tile<64x16xf32>
    %c2 = constant <i32: 2> : tile<i32>
    %xt = make_tensor_view %x, shape = [1, 256, 64], strides = [16384, 64, 1] : tensor_view<1x256x64xf32, strides=[16384,64,1]>
    %xw = make_partition_view %xt : partition_view<tile=(1x64x64), tensor_view<1x256x64xf32, strides=[16384,64,1]>, dim_map=[0, 2, 1]>
    %yt = make_tensor_view %y, shape = [32, 128], strides = [128, 1] : tensor_view<32x128xf32, strides=[128,1]>
    %yw = make_partition_view %yt : partition_view<tile=(64x16), tensor_view<32x128xf32, strides=[128,1]>, dim_map=[1, 0]>
    %vt = make_tensor_view %v, shape = [4, 256, 64], strides = [16384, 64, 1] : tensor_view<4x256x64xf32, strides=[16384,64,1]>
    %vw = make_partition_view %vt : partition_view<tile=(1x64x64), tensor_view<4x256x64xf32, strides=[16384,64,1]>>
    %lt = make_tensor_view %l, shape = [1, 1, 128, 256], strides = [32768, 32768, 256, 1] : tensor_view<1x1x128x256xf32, strides=[32768,32768,256,1]>
    %lw = make_partition_view %lt : partition_view<tile=(1x1x32x64), tensor_view<1x1x128x256xf32, strides=[32768,32768,256,1]>>
    %outer = for %i in (%c0 to %c2, step %c1) : tile<i32> iter_values(%s = %z) -> (tile<64x16xf32>) {
      %x1, %xk = load_view_tko weak %xw[%c0, %c0, %i] : partition_view<tile=(1x64x64), tensor_view<1x256x64xf32, strides=[16384,64,1]>, dim_map=[0, 2, 1]>, tile<i32> -> tile<1x64x64xf32>, token
      %x2 = reshape %x1 : tile<1x64x64xf32> -> tile<64x64xf32>
      %x3 = ftof %x2  : tile<64x64xf32> -> tile<64x64xtf32>
      %y1, %yk = load_view_tko weak %yw[%c0, %c0] : partition_view<tile=(64x16), tensor_view<32x128xf32, strides=[128,1]>, dim_map=[1, 0]>, tile<i32> -> tile<64x16xf32>, token
      %y2 = ftof %y1  : tile<64x16xf32> -> tile<64x16xtf32>
      %d = mmaf %x3, %y2, %z : tile<64x64xtf32>, tile<64x16xtf32>, tile<64x16xf32>
      %e = addf %s, %d  : tile<64x16xf32>
      %inner = for %j in (%c0 to %c3, step %c1) : tile<i32> iter_values(%t = %e) -> (tile<64x16xf32>) {
        %v1, %vk = load_view_tko weak %vw[%j, %i, %c0] : partition_view<tile=(1x64x64), tensor_view<4x256x64xf32, strides=[16384,64,1]>>, tile<i32> -> tile<1x64x64xf32>, token
        %v2 = reshape %v1 : tile<1x64x64xf32> -> tile<64x64xf32>
        %v3 = ftof %v2  : tile<64x64xf32> -> tile<64x64xtf32>
        %none = ftof %z  : tile<64x16xf32> -> tile<64x16xtf32>
        %f = mmaf %v3, %none, %z : tile<64x64xtf32>, tile<64x16xtf32>, tile<64x16xf32>
        %g = addf %t, %f  : tile<64x16xf32>
        %l1, %lk = load_view_tko weak %lw[%c0, %c0, %j, %j] : partition_view<tile=(1x1x32x64), tensor_view<1x1x128x256xf32, strides=[32768,32768,256,1]>>, tile<i32> -> tile<1x1x32x64xf32>, token
        %l2 = reshape %l1 : tile<1x1x32x64xf32> -> tile<32x64xf32>
        %l3 = permute %l2 [1, 0] : tile<32x64xf32> -> tile<64x32xf32>
        %l4 = ftof %l3  : tile<64x32xf32> -> tile<64x32xtf32>
        %sum = mmaf %l4, %ones, %g : tile<64x32xtf32>, tile<32x16xtf32>, tile<64x16xf32>
        continue %sum : tile<64x16xf32>
      }
      %h = mmaf %rows, %zeros, %inner : tile<64x16xtf32>, tile<16x16xtf32>, tile<64x16xf32>
      continue %h : tile<64x16xf32>
    }
    %t4 = make_tensor_view %o, shape = [64, 16], strides = [16, 1] : tensor_view<64x16xf32, strides=[16,1]>
    %w4 = make_partition_view %t4 : partition_view<tile=(64x16), tensor_view<64x16xf32, strides=[16,1]>>
    %k = store_view_tko weak %outer, %w4[%c0, %c0] : tile<64x16xf32>, partition_view<tile=(64x16), tensor_view<64x16xf32, strides=[16,1]>>, tile<i32> -> token
    return
  }
}
