// RUN: tileiras-opt %s --pass-pipeline='builtin.module(convert-tileaa-to-tileas{num-warps=4},tileas-assign-dot-layouts{compute-capability=sm_80},tileas-assign-load-store-layouts,tileas-remove-layout-conversions,tileas-unspecialized-pipeline{compute-capability=sm_80 unspecialized-pipeline-num-stages=3})' | FileCheck %s

// The numbers of the first three iterations are loaded at once, if there is an iteration. An iteration that does not
// exist is replaced by the first one.
// CHECK-LABEL: nv_tileaa.func @paged(
// CHECK: %[[FIRST:[0-9]+]]:3 = scf.if
// CHECK: tiled_load <weak> %[[TABLE:[0-9]+]][%[[FROM:[a-z0-9_]+]]]
// CHECK: %[[AT1:[0-9]+]] = arith.select %{{.*}}, %{{.*}}, %[[FROM]]
// CHECK: tiled_load <weak> %[[TABLE]][%[[AT1]]]
// CHECK: tiled_load <weak> %[[TABLE]]
// CHECK: } else {
// CHECK: scf.yield %{{.*}}, %{{.*}}, %{{.*}}
// CHECK: %[[P0:[0-9]+]] = nv_tileas.unsplat %[[FIRST]]#0
// CHECK: nv_tileas.async.tiled_load %{{.*}}[%[[P0]],
// CHECK: %[[P1:[0-9]+]] = nv_tileas.unsplat %[[FIRST]]#1
// CHECK: nv_tileas.async.tiled_load %{{.*}}[%[[P1]],
// The loop carries the number for the copies that it starts. It loads the next one after they have started.
// CHECK: scf.for %[[I:[a-z0-9]+]] = {{.*}} iter_args({{.*}}, %[[NUMBER:[a-z0-9]+]] = %[[FIRST]]#2, %
// CHECK: %[[P:[0-9]+]] = nv_tileas.unsplat %[[NUMBER]]
// CHECK: nv_tileas.async.tiled_load %{{.*}}[%[[P]],
// CHECK: nv_tileas.async.tiled_load %{{.*}}[%[[P]],
// CHECK: nv_tileas.async.commit
// CHECK: %[[NEXT:[0-9]+]] = arith.select %{{.*}}, %{{.*}}, %[[I]]
// CHECK: %[[LOADED:[a-z0-9_]+]], %{{.*}} = nv_tileas.tiled_load <weak> %[[TABLE]][%[[NEXT]]]
// CHECK-NOT: tiled_load
// CHECK: scf.yield {{.*}}, %[[LOADED]], %
!table = !nv_tileaa.tiled_view<tile = [1], memref<?xi32, strides = [1]>>
!pages = !nv_tileaa.tiled_view<tile = [1, 64, 64], memref<?x64x64xf16, strides = [4096, 64, 1]>>
nv_tileaa.func @paged(%p0: !nv_tileaa.ptr<f16>, %t: !nv_tileaa.ptr<i32>, %q: !nv_tileaa.ptr<f32>, %n: i32, %m0: i32) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f16>
  %m = nv_tileaa.make_memref %p, shape = [%m0 : i32], strides = [] : <f16> -> <?x64x64xf16, strides = [4096, 64, 1]>
  %v = nv_tileaa.make_tiled_view %m : <?x64x64xf16, strides = [4096, 64, 1]> -> !pages
  %tm = nv_tileaa.make_memref %t, shape = [%n : i32], strides = [] : <i32> -> <?xi32, strides = [1]>
  %tv = nv_tileaa.make_tiled_view %tm : <?xi32, strides = [1]> -> !table
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i32 {
    %number, %t0 = nv_tileaa.tiled_load <weak> %tv[%k] : !table[i32] -> tensor<1xi32>
    %page = nv_tileaa.unsplat %number : tensor<1xi32> -> i32
    %a, %t1 = nv_tileaa.tiled_load <weak> %v[%page, %c0, %c0] : !pages[i32, i32, i32] -> tensor<1x64x64xf16>
    %b, %t2 = nv_tileaa.tiled_load <weak> %v[%page, %c0, %c0] : !pages[i32, i32, i32] -> tensor<1x64x64xf16>
    %x = nv_tileaa.view %a : tensor<1x64x64xf16> -> tensor<64x64xf16>
    %y = nv_tileaa.view %b : tensor<1x64x64xf16> -> tensor<64x64xf16>
    %d = nv_tileaa.dot %x, %y, %acc : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  %o = nv_tileaa.make_memref %q, shape = [], strides = [] : <f32> -> <64x64xf32, strides = [64, 1]>
  %w = nv_tileaa.make_tiled_view %o : <64x64xf32, strides = [64, 1]> -> <tile = [64, 64], memref<64x64xf32, strides = [64, 1]>>
  %done = nv_tileaa.tiled_store <weak> %sum, %w[%c0, %c0] : tensor<64x64xf32>, <tile = [64, 64], memref<64x64xf32, strides = [64, 1]>>[i32, i32]
  nv_tileaa.return
}

// A number that depends on the result of the iteration before, and one that another number depends on, are not loaded
// ahead. Each of these iterations waits for its tiles.
// CHECK-LABEL: nv_tileaa.func @numbers_of_numbers(
// CHECK-NOT: async
nv_tileaa.func @numbers_of_numbers(%p0: !nv_tileaa.ptr<f16>, %t: !nv_tileaa.ptr<i32>, %q: !nv_tileaa.ptr<f32>, %n: i32, %m0: i32) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f16>
  %m = nv_tileaa.make_memref %p, shape = [%m0 : i32], strides = [] : <f16> -> <?x64x64xf16, strides = [4096, 64, 1]>
  %v = nv_tileaa.make_tiled_view %m : <?x64x64xf16, strides = [4096, 64, 1]> -> !pages
  %tm = nv_tileaa.make_memref %t, shape = [%n : i32], strides = [] : <i32> -> <?xi32, strides = [1]>
  %tv = nv_tileaa.make_tiled_view %tm : <?xi32, strides = [1]> -> !table
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum:2 = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero, %last = %c0) -> (tensor<64x64xf32>, i32) : i32 {
    %number, %t0 = nv_tileaa.tiled_load <weak> %tv[%k] : !table[i32] -> tensor<1xi32>
    %place = nv_tileaa.unsplat %number : tensor<1xi32> -> i32
    %other, %t1 = nv_tileaa.tiled_load <weak> %tv[%place] : !table[i32] -> tensor<1xi32>
    %page = nv_tileaa.unsplat %other : tensor<1xi32> -> i32
    %before, %t2 = nv_tileaa.tiled_load <weak> %tv[%last] : !table[i32] -> tensor<1xi32>
    %next = nv_tileaa.unsplat %before : tensor<1xi32> -> i32
    %a, %t3 = nv_tileaa.tiled_load <weak> %v[%page, %c0, %c0] : !pages[i32, i32, i32] -> tensor<1x64x64xf16>
    %b, %t4 = nv_tileaa.tiled_load <weak> %v[%next, %c0, %c0] : !pages[i32, i32, i32] -> tensor<1x64x64xf16>
    %x = nv_tileaa.view %a : tensor<1x64x64xf16> -> tensor<64x64xf16>
    %y = nv_tileaa.view %b : tensor<1x64x64xf16> -> tensor<64x64xf16>
    %d = nv_tileaa.dot %x, %y, %acc : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
    scf.yield %d, %next : tensor<64x64xf32>, i32
  }
  %o = nv_tileaa.make_memref %q, shape = [], strides = [] : <f32> -> <64x64xf32, strides = [64, 1]>
  %w = nv_tileaa.make_tiled_view %o : <64x64xf32, strides = [64, 1]> -> <tile = [64, 64], memref<64x64xf32, strides = [64, 1]>>
  %done = nv_tileaa.tiled_store <weak> %sum#0, %w[%c0, %c0] : tensor<64x64xf32>, <tile = [64, 64], memref<64x64xf32, strides = [64, 1]>>[i32, i32]
  nv_tileaa.return
}
