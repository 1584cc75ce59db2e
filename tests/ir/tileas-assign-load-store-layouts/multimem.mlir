// RUN: tileiras-opt %s --pass-pipeline='builtin.module(convert-tileaa-to-tileas,tileas-assign-load-store-layouts{compute-capability=sm_90})' | FileCheck %s

// The vectors are those of the multicast memory instructions: four f32, eight 16-bit floats, or single integers.
// CHECK-LABEL: nv_tileaa.func @f32(
// CHECK: nv_tileas.multimem_load_reduce <addf> <weak> {{.*}} vector 4 bounds <none> in_bounds [true] : {{.*}} -> tensor<1024xf32, #nv_tileas.layout<register = [1, 2, 512], lane = [4, 8, 16, 32, 64], warp = [128, 256]>>
// CHECK: nv_tileas.multimem_store <weak> {{.*}} vector 4 bounds <none> in_bounds [true] :
nv_tileaa.func @f32(%p: !nv_tileaa.ptr<f32>, %i: i32) {
  %a = nv_tileaa.assume #cuda_tile.div_by<16>, %p : !nv_tileaa.ptr<f32>
  %m = nv_tileaa.make_memref %a, shape = [], strides = [] : <f32> -> <4096xf32, strides = [1]>
  %v = nv_tileaa.make_tiled_view %m : <4096xf32, strides = [1]> -> <tile = [1024], memref<4096xf32, strides = [1]>>
  %x, %t1 = nv_tileaa.multimem_load_reduce <addf> <weak> %v[%i] : <tile = [1024], memref<4096xf32, strides = [1]>>[i32] -> tensor<1024xf32>
  %t2 = nv_tileaa.multimem_store <weak> %x, %v[%i] token %t1 : tensor<1024xf32>, <tile = [1024], memref<4096xf32, strides = [1]>>[i32]
  nv_tileaa.return
}
// CHECK-LABEL: nv_tileaa.func @bf16(
// CHECK: nv_tileas.multimem_reduce <addf> {{.*}} vector 8 bounds <split> in_bounds [false] :
// CHECK: nv_tileas.multimem_reduce <addf> {{.*}} vector 8 bounds <none> in_bounds [true] :
nv_tileaa.func @bf16(%p: !nv_tileaa.ptr<bf16>, %n: i32, %i: i32, %x: bf16) {
  %a = nv_tileaa.assume #cuda_tile.div_by<16>, %p : !nv_tileaa.ptr<bf16>
  %m = nv_tileaa.make_memref %a, shape = [%n : i32], strides = [] : <bf16> -> <?xbf16, strides = [1]>
  %v = nv_tileaa.make_tiled_view %m : <?xbf16, strides = [1]> -> <tile = [1024], memref<?xbf16, strides = [1]>>
  %s = nv_tileaa.splat %x : bf16 -> tensor<1024xbf16>
  %t1 = nv_tileaa.multimem_reduce <addf> <relaxed> <system> %s, %v[%i] : tensor<1024xbf16>, <tile = [1024], memref<?xbf16, strides = [1]>>[i32]
  %t2 = nv_tileaa.multimem_reduce <addf> <relaxed> <system> %s, %v[%i] token %t1 in_bounds [true] : tensor<1024xbf16>, <tile = [1024], memref<?xbf16, strides = [1]>>[i32]
  nv_tileaa.return
}
// CHECK-LABEL: nv_tileaa.func @i32(
// CHECK: nv_tileas.multimem_reduce <umin> {{.*}} vector 1 bounds <vector> in_bounds [false] :
nv_tileaa.func @i32(%p: !nv_tileaa.ptr<i32>, %n: i32, %i: i32, %x: i32) {
  %a = nv_tileaa.assume #cuda_tile.div_by<16>, %p : !nv_tileaa.ptr<i32>
  %m = nv_tileaa.make_memref %a, shape = [%n : i32], strides = [] : <i32> -> <?xi32, strides = [1]>
  %v = nv_tileaa.make_tiled_view %m : <?xi32, strides = [1]> -> <tile = [1024], memref<?xi32, strides = [1]>>
  %s = nv_tileaa.splat %x : i32 -> tensor<1024xi32>
  %t = nv_tileaa.multimem_reduce <umin> <relaxed> <system> %s, %v[%i] : tensor<1024xi32>, <tile = [1024], memref<?xi32, strides = [1]>>[i32]
  nv_tileaa.return
}
// An assumption on an update removes its checks.
// CHECK-LABEL: nv_tileaa.func @update(
// CHECK: nv_tileas.tiled_atomic_rmw <addf> {{.*}} vector 4 bounds <none> in_bounds [true] :
nv_tileaa.func @update(%p: !nv_tileaa.ptr<f32>, %n: i32, %i: i32, %x: f32) {
  %a = nv_tileaa.assume #cuda_tile.div_by<16>, %p : !nv_tileaa.ptr<f32>
  %m = nv_tileaa.make_memref %a, shape = [%n : i32], strides = [] : <f32> -> <?xf32, strides = [1]>
  %v = nv_tileaa.make_tiled_view %m : <?xf32, strides = [1]> -> <tile = [1024], memref<?xf32, strides = [1]>>
  %s = nv_tileaa.splat %x : f32 -> tensor<1024xf32>
  %t = nv_tileaa.tiled_atomic_rmw <addf> <relaxed> <device> %s, %v[%i] in_bounds [true] : tensor<1024xf32>, <tile = [1024], memref<?xf32, strides = [1]>>[i32]
  nv_tileaa.return
}
