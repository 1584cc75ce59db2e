// RUN: tileiras-opt %s | tileiras-opt | FileCheck %s
// RUN: tileiras-opt %s --mlir-print-op-generic | tileiras-opt | FileCheck %s
// Round trip through the parser and the printer.

// CHECK-LABEL: nv_tileaa.func @views(%arg0: !nv_tileaa.ptr<f32>, %arg1: i32, %arg2: tensor<8xi32>) attributes {hints = {sm_90 = {occupancy = 2 : i32}}, numWarps = 8 : i64} {
nv_tileaa.func @views(%p: !nv_tileaa.ptr<f32>, %n: i32, %rows: tensor<8xi32>) attributes {hints = {sm_90 = {occupancy = 2 : i32}}, numWarps = 8 : i64} {
  // CHECK: %[[M:.*]] = nv_tileaa.make_memref %arg0, shape = [%arg1 : i32], strides = [%arg1 : i32] : <f32> -> <?x64xf32, strides = [?, 1]>
  %m = nv_tileaa.make_memref %p, shape = [%n : i32], strides = [%n : i32] : <f32> -> <?x64xf32, strides = [?, 1]>
  // CHECK: nv_tileaa.make_tiled_view %[[M]] : <?x64xf32, strides = [?, 1]> -> <tile = [16, 8], memref<?x64xf32, strides = [?, 1]>, dim_map = [1, 0], steps = [4, 8], padding = neg_inf>
  %v = nv_tileaa.make_tiled_view %m : <?x64xf32, strides = [?, 1]> -> <tile = [16, 8], memref<?x64xf32, strides = [?, 1]>, dim_map = [1, 0], steps = [4, 8], padding = neg_inf>
  // CHECK: nv_tileaa.dim %[[M]], 0 : <?x64xf32, strides = [?, 1]> -> i32
  %d = nv_tileaa.dim %m, 0 : <?x64xf32, strides = [?, 1]> -> i32
  // CHECK: nv_tileaa.num_tiles %{{.*}}, 1 :
  %k = nv_tileaa.num_tiles %v, 1 : <tile = [16, 8], memref<?x64xf32, strides = [?, 1]>, dim_map = [1, 0], steps = [4, 8], padding = neg_inf> -> i64
  // CHECK: %[[T:.*]] = nv_tileaa.create_mem_token
  %t = nv_tileaa.create_mem_token
  // CHECK: nv_tileaa.tiled_load <acquire> scope <device> %{{.*}}[%arg1, %arg1] token %[[T]] hints {latency = 2 : i32} :
  %x, %t1 = nv_tileaa.tiled_load <acquire> scope <device> %v[%n, %n] token %t hints {latency = 2 : i32} : <tile = [16, 8], memref<?x64xf32, strides = [?, 1]>, dim_map = [1, 0], steps = [4, 8], padding = neg_inf>[i32, i32] -> tensor<16x8xf32>
  // CHECK: nv_tileaa.tiled_store <release> scope <block> %{{.*}}, %{{.*}}[%arg1, %arg1] :
  %t2 = nv_tileaa.tiled_store <release> scope <block> %x, %v[%n, %n] : tensor<16x8xf32>, <tile = [16, 8], memref<?x64xf32, strides = [?, 1]>, dim_map = [1, 0], steps = [4, 8], padding = neg_inf>[i32, i32]
  // CHECK: nv_tileaa.make_tiled_view %{{.*}} -> <tile = [8, 64], memref<?x64xf32, strides = [?, 1]>, sparse_dim = 0>
  %s = nv_tileaa.make_tiled_view %m : <?x64xf32, strides = [?, 1]> -> <tile = [8, 64], memref<?x64xf32, strides = [?, 1]>, sparse_dim = 0>
  // CHECK: nv_tileaa.tiled_load <weak> %{{.*}}[%arg2, %arg1] : {{.*}}[tensor<8xi32>, i32] -> tensor<8x64xf32>
  %y, %t3 = nv_tileaa.tiled_load <weak> %s[%rows, %n] : <tile = [8, 64], memref<?x64xf32, strides = [?, 1]>, sparse_dim = 0>[tensor<8xi32>, i32] -> tensor<8x64xf32>
  // CHECK: nv_tileaa.join_mem_token %{{.*}}, %{{.*}}
  %t4 = nv_tileaa.join_mem_token %t2, %t3
  nv_tileaa.return
}

// CHECK-LABEL: nv_tileaa.func @pointers
nv_tileaa.func @pointers(%p: tensor<8x!nv_tileaa.ptr<i32>>, %k: tensor<8xi1>, %v: tensor<8xi32>, %t: !nv_tileaa.mem_token) {
  // CHECK: nv_tileaa.load <relaxed> scope <system> %arg0 mask %arg1 : tensor<8xi1> other %arg2 : tensor<8xi32> token %arg3 : tensor<8x!nv_tileaa.ptr<i32>> -> tensor<8xi32>
  %x, %t1 = nv_tileaa.load <relaxed> scope <system> %p mask %k : tensor<8xi1> other %v : tensor<8xi32> token %t : tensor<8x!nv_tileaa.ptr<i32>> -> tensor<8xi32>
  // CHECK: nv_tileaa.store <weak> %arg0, %arg2 mask %arg1 : tensor<8xi1> token %arg3 hints {latency = 1 : i32} : tensor<8x!nv_tileaa.ptr<i32>>, tensor<8xi32>
  %t2 = nv_tileaa.store <weak> %p, %v mask %k : tensor<8xi1> token %t hints {latency = 1 : i32} : tensor<8x!nv_tileaa.ptr<i32>>, tensor<8xi32>
  // CHECK: nv_tileaa.atomic_rmw <umax> <acq_rel> <device> %arg0, %arg2 mask %arg1 : tensor<8xi1> token %arg3 : tensor<8x!nv_tileaa.ptr<i32>>, tensor<8xi32>
  %r, %t3 = nv_tileaa.atomic_rmw <umax> <acq_rel> <device> %p, %v mask %k : tensor<8xi1> token %t : tensor<8x!nv_tileaa.ptr<i32>>, tensor<8xi32>
  // CHECK: nv_tileaa.atomic_cas <acquire> <block> %arg0, %arg2, %arg2 : tensor<8x!nv_tileaa.ptr<i32>>, tensor<8xi32>
  %c, %t4 = nv_tileaa.atomic_cas <acquire> <block> %p, %v, %v : tensor<8x!nv_tileaa.ptr<i32>>, tensor<8xi32>
  // CHECK: nv_tileaa.fp <fma> %{{.*}}, %{{.*}}, %{{.*}} rounding <positive_inf> ftz : tensor<8xf32>
  %f = nv_tileaa.bitcast %v : tensor<8xi32> -> tensor<8xf32>
  %g = nv_tileaa.fp <fma> %f, %f, %f rounding <positive_inf> ftz : tensor<8xf32>
  // CHECK: nv_tileaa.fp <exp2> %{{.*}} : tensor<8xf32>
  %h = nv_tileaa.fp <exp2> %g : tensor<8xf32>
  nv_tileaa.return
}
