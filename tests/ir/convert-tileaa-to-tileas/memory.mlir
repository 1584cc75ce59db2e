// RUN: tileiras-opt %s --pass-pipeline='builtin.module(convert-tileaa-to-tileas)' | FileCheck %s

// Accesses keep ordering, scope, token and hints. They get the configuration that is always correct: one element at a
// time, with every bound checked.

// CHECK-LABEL: nv_tileaa.func @views(
// CHECK: %[[X:.*]], %[[T:.*]] = nv_tileas.tiled_load <weak> %{{.*}}[%arg2] token %{{.*}} hints {latency = 3 : i32} vector 1 bounds <split> : {{.*}} -> tensor<1024xf32, #nv_tileas.layout<{{.*}}>>
// CHECK: nv_tileas.tiled_store <release> scope <device> %[[X]], %{{.*}}[%arg2] token %[[T]] vector 1 bounds <split> :
nv_tileaa.func @views(%p: !nv_tileaa.ptr<f32>, %n: i32, %i: i32) {
  %t = nv_tileaa.create_mem_token
  %m = nv_tileaa.make_memref %p, shape = [%n : i32], strides = [] : <f32> -> <?xf32, strides = [1]>
  %v = nv_tileaa.make_tiled_view %m : <?xf32, strides = [1]> -> <tile = [1024], memref<?xf32, strides = [1]>, padding = zero>
  %x, %t1 = nv_tileaa.tiled_load <weak> %v[%i] token %t hints {latency = 3 : i32} : <tile = [1024], memref<?xf32, strides = [1]>, padding = zero>[i32] -> tensor<1024xf32>
  %t2 = nv_tileaa.tiled_store <release> scope <device> %x, %v[%i] token %t1 : tensor<1024xf32>, <tile = [1024], memref<?xf32, strides = [1]>, padding = zero>[i32]
  nv_tileaa.return
}
// CHECK-LABEL: nv_tileaa.func @pointers(
// CHECK: %[[K:.*]] = arith.cmpi
// CHECK: %[[X:.*]], %[[T:.*]] = nv_tileas.load <acquire> scope <system> %{{.*}} mask %[[K]] : {{.*}} other %{{.*}} : {{.*}} vector 1 :
// CHECK: %[[Y:.*]] = nv_tileas.replicate %[[X]]
// CHECK: nv_tileas.store <weak> %{{.*}}, %[[Y]] mask %[[K]] : {{.*}} token %[[T]] vector 1 :
// CHECK: nv_tileas.load <weak> %arg0 token %{{.*}} vector 1 : !nv_tileaa.ptr<i32> -> i32
// CHECK: nv_tileas.store <weak> %arg0, %{{.*}} token %{{.*}} vector 1 : !nv_tileaa.ptr<i32>, i32
nv_tileaa.func @pointers(%p: !nv_tileaa.ptr<i32>) {
  %r = nv_tileaa.make_range : tensor<1024xi32>
  %b = nv_tileaa.splat %p : !nv_tileaa.ptr<i32> -> tensor<1024x!nv_tileaa.ptr<i32>>
  %a = nv_tileaa.addptr %b, %r : tensor<1024x!nv_tileaa.ptr<i32>>, tensor<1024xi32>
  %k = arith.cmpi slt, %r, %r : tensor<1024xi32>
  %x, %t1 = nv_tileaa.load <acquire> scope <system> %a mask %k : tensor<1024xi1> other %r : tensor<1024xi32> : tensor<1024x!nv_tileaa.ptr<i32>> -> tensor<1024xi32>
  %t2 = nv_tileaa.store <weak> %a, %x mask %k : tensor<1024xi1> token %t1 : tensor<1024x!nv_tileaa.ptr<i32>>, tensor<1024xi32>
  %y, %t3 = nv_tileaa.load <weak> %p token %t2 : !nv_tileaa.ptr<i32> -> i32
  %t4 = nv_tileaa.store <weak> %p, %y token %t3 : !nv_tileaa.ptr<i32>, i32
  nv_tileaa.return
}
