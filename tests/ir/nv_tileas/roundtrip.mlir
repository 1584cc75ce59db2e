// RUN: tileiras-opt %s | tileiras-opt | FileCheck %s
// RUN: tileiras-opt %s --mlir-print-op-generic | tileiras-opt | FileCheck %s
// Round trip through the parser and the printer.
#l = #nv_tileas.layout<register = [1], lane = [2, 4, 8, 16, 32], warp = [64, 128]>
#two_blocks = #nv_tileas.layout<register = [], lane = [2, 4, 8, 16, 32], warp = [64, 128], block = [1]>
#s = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64, 130]>

// CHECK-LABEL: nv_tileaa.func @all
nv_tileaa.func @all(%v: !nv_tileaa.tiled_view<tile = [256], memref<?xf32, strides = [1]>>, %i: i32, %p: tensor<256x!nv_tileaa.ptr<f32>, #l>, %k: tensor<256xi1, #l>, %t: !nv_tileaa.mem_token) {
  // CHECK: nv_tileas.tiled_load <weak> %arg0[%arg1] token %arg4 hints {latency = 1 : i32} vector 2 bounds <split> in_bounds [false] : {{.*}}[i32] -> tensor<256xf32, #nv_tileas.layout<register = [1], lane = [2, 4, 8, 16, 32], warp = [64, 128]>>
  %x, %t1 = nv_tileas.tiled_load <weak> %v[%i] token %t hints {latency = 1 : i32} vector 2 bounds <split> in_bounds [false] : <tile = [256], memref<?xf32, strides = [1]>>[i32] -> tensor<256xf32, #l>
  // CHECK: nv_tileas.tiled_store <release> scope <device> %{{.*}}, %arg0[%arg1] vector 1 bounds <vector> :
  %t2 = nv_tileas.tiled_store <release> scope <device> %x, %v[%i] vector 1 bounds <vector> : tensor<256xf32, #l>, <tile = [256], memref<?xf32, strides = [1]>>[i32]
  // CHECK: nv_tileas.load <acquire> scope <system> %arg2 mask %arg3 : {{.*}} other %{{.*}} : {{.*}} token %arg4 vector 2 :
  %y, %t3 = nv_tileas.load <acquire> scope <system> %p mask %k : tensor<256xi1, #l> other %x : tensor<256xf32, #l> token %t vector 2 : tensor<256x!nv_tileaa.ptr<f32>, #l> -> tensor<256xf32, #l>
  // CHECK: nv_tileas.store <weak> %arg2, %{{.*}} vector 1 :
  %t4 = nv_tileas.store <weak> %p, %y vector 1 : tensor<256x!nv_tileaa.ptr<f32>, #l>, tensor<256xf32, #l>
  // CHECK: %[[A:.*]] = nv_tileas.alloc_tensor offset 128 : <256xf32, #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64, 130]>>
  %a = nv_tileas.alloc_tensor offset 128 : !nv_tileas.memdesc<256xf32, #s>
  // CHECK: nv_tileas.local_store %{{.*}}, %[[A]] vector 2 :
  nv_tileas.local_store %x, %a vector 2 : tensor<256xf32, #l>, !nv_tileas.memdesc<256xf32, #s>
  // CHECK: nv_tileas.barrier
  nv_tileas.barrier
  // CHECK: nv_tileas.local_load %[[A]] vector 1 :
  %z = nv_tileas.local_load %a vector 1 : !nv_tileas.memdesc<256xf32, #s> -> tensor<256xf32, #l>
  // CHECK: nv_tileas.convert_layout %{{.*}} -> tensor<256xf32, #nv_tileas.layout<register = [], lane = [2, 4, 8, 16, 32], warp = [64, 128], block = [1]>>
  %c = nv_tileas.convert_layout %z : tensor<256xf32, #l> -> tensor<256xf32, #two_blocks>
  nv_tileaa.return
}
