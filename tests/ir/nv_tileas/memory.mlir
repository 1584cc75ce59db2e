// RUN: tileiras-opt %s | tileiras-opt | FileCheck %s
// RUN: tileiras-opt %s --mlir-print-op-generic | tileiras-opt | FileCheck %s
// Round trip through the parser and the printer.
#l = #nv_tileas.layout<register = [1], lane = [2, 4, 8, 16, 32], warp = [64, 128]>
#row = #nv_tileas.layout<register = [0], lane = [0, 0, 0, 1, 2], warp = [4, 8]>
#one = #nv_tileas.layout<register = [], lane = [0, 0, 0, 0, 0], warp = [0, 0]>
#s = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64, 128]>

// CHECK-LABEL: nv_tileaa.func @updates
nv_tileaa.func @updates(%v: !nv_tileaa.tiled_view<tile = [256], memref<?xf32, strides = [1]>>, %i: i32, %p: tensor<256x!nv_tileaa.ptr<f32>, #l>, %x: tensor<256xf32, #l>, %k: tensor<256xi1, #l>, %t: !nv_tileaa.mem_token) {
  // CHECK: %[[OLD:.*]], %{{.*}} = nv_tileas.atomic_rmw <addf> <acq_rel> <device> %arg2, %arg3 mask %arg4 : {{.*}} token %arg5 vector 2 :
  %a, %t1 = nv_tileas.atomic_rmw <addf> <acq_rel> <device> %p, %x mask %k : tensor<256xi1, #l> token %t vector 2 : tensor<256x!nv_tileaa.ptr<f32>, #l>, tensor<256xf32, #l>
  // CHECK: nv_tileas.replicate %[[OLD]] : tensor<256xf32,
  %r = nv_tileas.replicate %a : tensor<256xf32, #l>
  // CHECK: nv_tileas.atomic_rmw <xchg> <relaxed> <system> %arg2, %arg3 vector 1 :
  %b, %t2 = nv_tileas.atomic_rmw <xchg> <relaxed> <system> %p, %x vector 1 : tensor<256x!nv_tileaa.ptr<f32>, #l>, tensor<256xf32, #l>
  // CHECK: nv_tileas.atomic_cas <release> <block> %arg2, %arg3, %{{.*}} mask %arg4 : {{.*}} token %arg5 :
  %c, %t3 = nv_tileas.atomic_cas <release> <block> %p, %x, %r mask %k : tensor<256xi1, #l> token %t : tensor<256x!nv_tileaa.ptr<f32>, #l>, tensor<256xf32, #l>
  // CHECK: nv_tileas.tiled_atomic_rmw <addf> <relaxed> <device> %arg3, %arg0[%arg1] token %{{.*}} vector 4 bounds <split> in_bounds [false] :
  %t4 = nv_tileas.tiled_atomic_rmw <addf> <relaxed> <device> %x, %v[%i] token %t3 vector 4 bounds <split> in_bounds [false] : tensor<256xf32, #l>, <tile = [256], memref<?xf32, strides = [1]>>[i32]
  nv_tileaa.return
}
// CHECK-LABEL: nv_tileaa.func @sparse
nv_tileaa.func @sparse(%v: !nv_tileaa.tiled_view<tile = [16, 16], memref<64x64xf32, strides = [64, 1]>, steps = [1, 1], sparse_dim = 0>, %rows: tensor<16xi32, #row>, %i: i32) {
  // CHECK: nv_tileas.tiled_load <weak> %arg0[%arg1, %arg2] vector 2 bounds <vector> : {{.*}}[tensor<16xi32, #nv_tileas.layout<register = [0], lane = [0, 0, 0, 1, 2], warp = [4, 8]>>, i32]
  %x, %t = nv_tileas.tiled_load <weak> %v[%rows, %i] vector 2 bounds <vector> : <tile = [16, 16], memref<64x64xf32, strides = [64, 1]>, steps = [1, 1], sparse_dim = 0>[tensor<16xi32, #row>, i32] -> tensor<16x16xf32, #l>
  nv_tileaa.return
}
// CHECK-LABEL: nv_tileaa.func @scratch
nv_tileaa.func @scratch(%x: tensor<256xf32, #l>, %n: i32) {
  // CHECK: nv_tileas.heap_alloc 64 : tensor<1x!nv_tileaa.ptr<f32>,
  %a = nv_tileas.heap_alloc 64 : tensor<1x!nv_tileaa.ptr<f32>, #one>
  %p = nv_tileas.unsplat %a : tensor<1x!nv_tileaa.ptr<f32>, #one> -> !nv_tileaa.ptr<f32>
  // CHECK: nv_tileas.heap_free %{{.*}} : <f32>
  nv_tileas.heap_free %p : !nv_tileaa.ptr<f32>
  // CHECK: %[[T:.*]] = nv_tileas.print "plain\0A"
  %t = nv_tileas.print "plain\n"
  // CHECK: nv_tileas.print "%d %f", %arg1, %arg0 : i32, tensor<256xf32, {{.*}}> token %[[T]]
  %t1 = nv_tileas.print "%d %f", %n, %x : i32, tensor<256xf32, #l> token %t
  %m = nv_tileas.alloc_tensor : !nv_tileas.memdesc<256xf32, #s>
  // CHECK: nv_tileas.print "%f", %arg0 : {{.*}} scratch %{{.*}} : !nv_tileas.memdesc<256xf32>
  %t2 = nv_tileas.print "%f", %x : tensor<256xf32, #l> scratch %m : !nv_tileas.memdesc<256xf32, #s>
  nv_tileaa.return
}
