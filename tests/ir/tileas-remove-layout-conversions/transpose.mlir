// Loads along rows and stores along columns cannot share a layout: one conversion stays.
nv_tileaa.func @transpose(%p0: !nv_tileaa.ptr<f32>, %q0: !nv_tileaa.ptr<f32>, %i: i32, %j: i32) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f32>
  %q = nv_tileaa.assume #cuda_tile.div_by<16>, %q0 : !nv_tileaa.ptr<f32>
  %m = nv_tileaa.make_memref %p, shape = [], strides = [] : <f32> -> <128x128xf32, strides = [128, 1]>
  %n = nv_tileaa.make_memref %q, shape = [], strides = [] : <f32> -> <128x128xf32, strides = [128, 1]>
  %v = nv_tileaa.make_tiled_view %m : <128x128xf32, strides = [128, 1]> -> <tile = [32, 64], memref<128x128xf32, strides = [128, 1]>>
  %u = nv_tileaa.make_tiled_view %n : <128x128xf32, strides = [128, 1]> -> <tile = [64, 32], memref<128x128xf32, strides = [128, 1]>>
  %x, %t1 = nv_tileaa.tiled_load <weak> %v[%i, %j] : <tile = [32, 64], memref<128x128xf32, strides = [128, 1]>>[i32, i32] -> tensor<32x64xf32>
  %y = nv_tileaa.permute %x [1, 0] : tensor<32x64xf32> -> tensor<64x32xf32>
  %z = arith.negf %y : tensor<64x32xf32>
  %t2 = nv_tileaa.tiled_store <weak> %z, %u[%j, %i] : tensor<64x32xf32>, <tile = [64, 32], memref<128x128xf32, strides = [128, 1]>>[i32, i32]
  nv_tileaa.return
}
