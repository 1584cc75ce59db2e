// RUN: tileiras-opt %s --pass-pipeline='builtin.module(convert-tileaa-to-tileas{num-warps=4})' | FileCheck %s

// Each element of multicast memory is read once, even by weak loads, because two reads of it may be combined in
// different orders.
// CHECK-LABEL: nv_tileaa.func @f(
// CHECK: %[[X:.*]], %[[T:.*]] = nv_tileas.multimem_load_reduce <addf> <weak> %[[V:.*]][%arg1] vector 1 bounds <split> in_bounds [false] :
// CHECK: %[[ALL:.*]] = nv_tileas.replicate %[[X]]
// CHECK: %[[U:.*]] = nv_tileas.multimem_reduce <addf> <relaxed> <system> %[[ALL]], %[[V]][%arg1] token %[[T]] vector 1 bounds <split> :
// CHECK: nv_tileas.multimem_store <release> scope <device> %[[ALL]], %[[V]][%arg1] token %[[U]] vector 1 bounds <split> in_bounds [true] :
nv_tileaa.func @f(%p: !nv_tileaa.ptr<f32>, %i: i32) {
  %m = nv_tileaa.make_memref %p, shape = [], strides = [] : <f32> -> <1000xf32, strides = [1]>
  %v = nv_tileaa.make_tiled_view %m : <1000xf32, strides = [1]> -> <tile = [512], memref<1000xf32, strides = [1]>>
  %x, %t1 = nv_tileaa.multimem_load_reduce <addf> <weak> %v[%i] in_bounds [false] : <tile = [512], memref<1000xf32, strides = [1]>>[i32] -> tensor<512xf32>
  %t2 = nv_tileaa.multimem_reduce <addf> <relaxed> <system> %x, %v[%i] token %t1 : tensor<512xf32>, <tile = [512], memref<1000xf32, strides = [1]>>[i32]
  %t3 = nv_tileaa.multimem_store <release> scope <device> %x, %v[%i] token %t2 in_bounds [true] : tensor<512xf32>, <tile = [512], memref<1000xf32, strides = [1]>>[i32]
  nv_tileaa.return
}

// An assumption on an update is kept.
// CHECK-LABEL: nv_tileaa.func @update(
// CHECK: nv_tileas.tiled_atomic_rmw <addf> {{.*}} bounds <split> in_bounds [true] :
nv_tileaa.func @update(%p: !nv_tileaa.ptr<f32>, %i: i32, %x: f32) {
  %m = nv_tileaa.make_memref %p, shape = [], strides = [] : <f32> -> <1000xf32, strides = [1]>
  %v = nv_tileaa.make_tiled_view %m : <1000xf32, strides = [1]> -> <tile = [512], memref<1000xf32, strides = [1]>>
  %s = nv_tileaa.splat %x : f32 -> tensor<512xf32>
  %t = nv_tileaa.tiled_atomic_rmw <addf> <relaxed> <device> %s, %v[%i] in_bounds [true] : tensor<512xf32>, <tile = [512], memref<1000xf32, strides = [1]>>[i32]
  nv_tileaa.return
}
