nv_tileaa.func @whole(%p0: !nv_tileaa.ptr<f32>, %i: i32) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f32>
  %m = nv_tileaa.make_memref %p, shape = [], strides = [] : <f32> -> <4096xf32, strides = [1]>
  %v = nv_tileaa.make_tiled_view %m : <4096xf32, strides = [1]> -> <tile = [1024], memref<4096xf32, strides = [1]>>
  %x, %t1 = nv_tileaa.tiled_load <weak> %v[%i] : <tile = [1024], memref<4096xf32, strides = [1]>>[i32] -> tensor<1024xf32>
  nv_tileaa.return
}
nv_tileaa.func @div16(%p0: !nv_tileaa.ptr<f32>, %n0: i32, %i: i32) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f32>
  %n = nv_tileaa.assume #cuda_tile.div_by<16>, %n0 : i32
  %m = nv_tileaa.make_memref %p, shape = [%n : i32], strides = [] : <f32> -> <?xf32, strides = [1]>
  %v = nv_tileaa.make_tiled_view %m : <?xf32, strides = [1]> -> <tile = [1024], memref<?xf32, strides = [1]>>
  %x, %t1 = nv_tileaa.tiled_load <weak> %v[%i] : <tile = [1024], memref<?xf32, strides = [1]>>[i32] -> tensor<1024xf32>
  nv_tileaa.return
}
nv_tileaa.func @ragged(%p0: !nv_tileaa.ptr<f32>, %n: i32, %i: i32) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f32>
  %m = nv_tileaa.make_memref %p, shape = [%n : i32], strides = [] : <f32> -> <?xf32, strides = [1]>
  %v = nv_tileaa.make_tiled_view %m : <?xf32, strides = [1]> -> <tile = [1024], memref<?xf32, strides = [1]>>
  %x, %t1 = nv_tileaa.tiled_load <weak> %v[%i] : <tile = [1024], memref<?xf32, strides = [1]>>[i32] -> tensor<1024xf32>
  nv_tileaa.return
}
nv_tileaa.func @unaligned(%p: !nv_tileaa.ptr<f32>, %n: i32, %i: i32) {
  %m = nv_tileaa.make_memref %p, shape = [%n : i32], strides = [] : <f32> -> <?xf32, strides = [1]>
  %v = nv_tileaa.make_tiled_view %m : <?xf32, strides = [1]> -> <tile = [1024], memref<?xf32, strides = [1]>>
  %x, %t1 = nv_tileaa.tiled_load <weak> %v[%i] : <tile = [1024], memref<?xf32, strides = [1]>>[i32] -> tensor<1024xf32>
  nv_tileaa.return
}
nv_tileaa.func @strided(%p0: !nv_tileaa.ptr<f32>, %n: i32, %s: i32, %i: i32) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f32>
  %m = nv_tileaa.make_memref %p, shape = [%n : i32], strides = [%s : i32] : <f32> -> <?xf32, strides = [?]>
  %v = nv_tileaa.make_tiled_view %m : <?xf32, strides = [?]> -> <tile = [1024], memref<?xf32, strides = [?]>>
  %x, %t1 = nv_tileaa.tiled_load <weak> %v[%i] : <tile = [1024], memref<?xf32, strides = [?]>>[i32] -> tensor<1024xf32>
  nv_tileaa.return
}
nv_tileaa.func @odd_rows(%p0: !nv_tileaa.ptr<f32>, %s0: i32, %i: i32, %j: i32) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f32>
  %s = nv_tileaa.assume #cuda_tile.div_by<2>, %s0 : i32
  %m = nv_tileaa.make_memref %p, shape = [], strides = [%s : i32] : <f32> -> <128x64xf32, strides = [?, 1]>
  %v = nv_tileaa.make_tiled_view %m : <128x64xf32, strides = [?, 1]> -> <tile = [32, 64], memref<128x64xf32, strides = [?, 1]>>
  %x, %t1 = nv_tileaa.tiled_load <weak> %v[%i, %j] : <tile = [32, 64], memref<128x64xf32, strides = [?, 1]>>[i32, i32] -> tensor<32x64xf32>
  nv_tileaa.return
}
nv_tileaa.func @dim_map(%p0: !nv_tileaa.ptr<f16>, %i: i32, %j: i32) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f16>
  %m = nv_tileaa.make_memref %p, shape = [], strides = [] : <f16> -> <128x64xf16, strides = [64, 1]>
  %v = nv_tileaa.make_tiled_view %m : <128x64xf16, strides = [64, 1]> -> <tile = [32, 64], memref<128x64xf16, strides = [64, 1]>, dim_map = [1, 0]>
  %x, %t1 = nv_tileaa.tiled_load <weak> %v[%i, %j] : <tile = [32, 64], memref<128x64xf16, strides = [64, 1]>, dim_map = [1, 0]>[i32, i32] -> tensor<32x64xf16>
  nv_tileaa.return
}
nv_tileaa.func @overlapping(%p0: !nv_tileaa.ptr<f32>, %i: i32) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f32>
  %m = nv_tileaa.make_memref %p, shape = [], strides = [] : <f32> -> <4096xf32, strides = [1]>
  %v = nv_tileaa.make_tiled_view %m : <4096xf32, strides = [1]> -> <tile = [1024], memref<4096xf32, strides = [1]>, steps = [2]>
  %x, %t1 = nv_tileaa.tiled_load <weak> %v[%i] : <tile = [1024], memref<4096xf32, strides = [1]>, steps = [2]>[i32] -> tensor<1024xf32>
  nv_tileaa.return
}
nv_tileaa.func @one_ragged_dimension(%p0: !nv_tileaa.ptr<f32>, %n: i32, %i: i32, %j: i32) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f32>
  %m = nv_tileaa.make_memref %p, shape = [%n : i32], strides = [] : <f32> -> <?x64xf32, strides = [64, 1]>
  %v = nv_tileaa.make_tiled_view %m : <?x64xf32, strides = [64, 1]> -> <tile = [32, 64], memref<?x64xf32, strides = [64, 1]>>
  %x, %t1 = nv_tileaa.tiled_load <weak> %v[%i, %j] : <tile = [32, 64], memref<?x64xf32, strides = [64, 1]>>[i32, i32] -> tensor<32x64xf32>
  %t2 = nv_tileaa.tiled_store <weak> %x, %v[%i, %j] : tensor<32x64xf32>, <tile = [32, 64], memref<?x64xf32, strides = [64, 1]>>[i32, i32]
  nv_tileaa.return
}
