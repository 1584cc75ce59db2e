#l = #nv_tileas.layout<register = [1, 2, 512], lane = [4, 8, 16, 32, 64], warp = [128, 256]>
#small = #nv_tileas.layout<register = [1], lane = [2, 4, 8, 16, 32], warp = [64, 128]>
#tiny = #nv_tileas.layout<register = [], lane = [1, 2, 4, 8, 16], warp = [0, 0]>
gpu.module @kernels {
  nv_tileaa.func @none(%p: !nv_tileaa.ptr<f32>, %i: i32) attributes {numWarps = 4 : i64} {
    %m = nv_tileaa.make_memref %p, shape = [], strides = [] : <f32> -> <4096xf32, strides = [1]>
    %v = nv_tileaa.make_tiled_view %m : <4096xf32, strides = [1]> -> <tile = [1024], memref<4096xf32, strides = [1]>>
    %x, %t1 = nv_tileas.tiled_load <weak> %v[%i] vector 4 bounds <none> in_bounds [true] : <tile = [1024], memref<4096xf32, strides = [1]>>[i32] -> tensor<1024xf32, #l>
    %t2 = nv_tileas.tiled_store <weak> %x, %v[%i] vector 4 bounds <none> in_bounds [true] : tensor<1024xf32, #l>, <tile = [1024], memref<4096xf32, strides = [1]>>[i32]
    nv_tileaa.return
  }
  nv_tileaa.func @vector(%p: !nv_tileaa.ptr<f32>, %n: i32, %i: i32) attributes {numWarps = 4 : i64} {
    %m = nv_tileaa.make_memref %p, shape = [%n : i32], strides = [] : <f32> -> <?xf32, strides = [1]>
    %v = nv_tileaa.make_tiled_view %m : <?xf32, strides = [1]> -> <tile = [256], memref<?xf32, strides = [1]>, padding = neg_inf>
    %x, %t1 = nv_tileas.tiled_load <weak> %v[%i] vector 2 bounds <vector> in_bounds [false] : <tile = [256], memref<?xf32, strides = [1]>, padding = neg_inf>[i32] -> tensor<256xf32, #small>
    %t2 = nv_tileas.tiled_store <weak> %x, %v[%i] vector 2 bounds <vector> in_bounds [false] : tensor<256xf32, #small>, <tile = [256], memref<?xf32, strides = [1]>, padding = neg_inf>[i32]
    nv_tileaa.return
  }
  nv_tileaa.func @split(%p: !nv_tileaa.ptr<f32>, %n: i32, %i: i32) attributes {numWarps = 4 : i64} {
    %m = nv_tileaa.make_memref %p, shape = [%n : i32], strides = [] : <f32> -> <?xf32, strides = [1]>
    %v = nv_tileaa.make_tiled_view %m : <?xf32, strides = [1]> -> <tile = [256], memref<?xf32, strides = [1]>>
    %x, %t1 = nv_tileas.tiled_load <weak> %v[%i] vector 2 bounds <split> in_bounds [false] : <tile = [256], memref<?xf32, strides = [1]>>[i32] -> tensor<256xf32, #small>
    %t2 = nv_tileas.tiled_store <weak> %x, %v[%i] vector 2 bounds <split> in_bounds [false] : tensor<256xf32, #small>, <tile = [256], memref<?xf32, strides = [1]>>[i32]
    nv_tileaa.return
  }
  nv_tileaa.func @copies(%p: !nv_tileaa.ptr<i32>, %i: i32) attributes {numWarps = 4 : i64} {
    %m = nv_tileaa.make_memref %p, shape = [], strides = [] : <i32> -> <64xi32, strides = [1]>
    %v = nv_tileaa.make_tiled_view %m : <64xi32, strides = [1]> -> <tile = [32], memref<64xi32, strides = [1]>>
    %r = nv_tileas.make_range : tensor<32xi32, #tiny>
    %t2 = nv_tileas.tiled_store <weak> %r, %v[%i] vector 1 bounds <none> in_bounds [true] : tensor<32xi32, #tiny>, <tile = [32], memref<64xi32, strides = [1]>>[i32]
    nv_tileaa.return
  }
}
