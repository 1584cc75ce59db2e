// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileaa-plan-dots{compute-capability=sm_90},convert-tileaa-to-tileas{compute-capability=sm_90},tileas-assign-dot-layouts{compute-capability=sm_90},tileas-assign-load-store-layouts{compute-capability=sm_90},tileas-remove-layout-conversions,tileas-pipeline-dots)' | FileCheck %s
!view = !nv_tileaa.tiled_view<tile = [64, 64], memref<?x256xf16, strides = [256, 1]>, padding = zero>

// The late dot moves to the next iteration, after the early dot. The first iteration has no late dot, and the last
// one is after the loop.
// CHECK-LABEL: nv_tileaa.func @chain(
// CHECK: %[[SOME:.*]] = arith.cmpi slt, %[[ZERO:.*]], %arg1
// CHECK: scf.if %[[SOME]] -> (tensor<64x64xf32, #{{.*}}>) {
// CHECK: %[[LAST:.*]] = arith.subi %arg1, %{{.*}} : i32
// CHECK: nv_tileas.dot
// CHECK: %[[P0:.*]] = arith.truncf
// CHECK-NOT: nv_tileas.dot
// CHECK: %[[R:.*]]:2 = scf.for %[[I:.*]] = %[[ZERO]] to %[[LAST]] step %{{.*}} iter_args(%[[A:.*]] = %{{.*}}, %[[P:.*]] = %[[P0]])
// CHECK: %[[NOW:.*]] = arith.addi %[[I]],
// CHECK: nv_tileas.tiled_load <weak> %{{.*}}[%{{.*}}, %[[NOW]]]
// CHECK: %[[S:.*]] = nv_tileas.dot
// CHECK: %[[V:.*]], %{{.*}} = nv_tileas.tiled_load <weak> %{{.*}}[%[[I]], %{{.*}}]
// CHECK: %[[O:.*]] = nv_tileas.dot %[[P]], %{{.*}}, %[[A]]
// Ops that do not need the accumulator come first.
// CHECK: %[[NEXT:.*]] = arith.truncf
// CHECK: %[[KEPT:.*]] = arith.mulf %[[O]],
// CHECK-NEXT: scf.yield %[[KEPT]], %[[NEXT]]
// CHECK: nv_tileas.tiled_load <weak> %{{.*}}[%[[LAST]],
// CHECK: %[[OUT:.*]] = nv_tileas.dot %[[R]]#1, %{{.*}}, %[[R]]#0
// CHECK-NEXT: scf.yield %[[OUT]]
// CHECK-NEXT: } else {
// CHECK-NEXT: scf.yield %{{.*}}
nv_tileaa.func @chain(%p0: !nv_tileaa.ptr<f16>, %n: i32, %m0: i32) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f16>
  %m = nv_tileaa.make_memref %p, shape = [%m0 : i32], strides = [] : <f16> -> <?x256xf16, strides = [256, 1]>
  %v = nv_tileaa.make_tiled_view %m : <?x256xf16, strides = [256, 1]> -> !view
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %half = arith.constant dense<0.5> : tensor<64x64xf32>
  %q, %t0 = nv_tileaa.tiled_load <weak> %v[%c0, %c0] : !view[i32, i32] -> tensor<64x64xf16>
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i32 {
    %b, %t1 = nv_tileaa.tiled_load <weak> %v[%c0, %k] : !view[i32, i32] -> tensor<64x64xf16>
    %s = nv_tileaa.dot %q, %b, %zero : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
    %kept = arith.mulf %acc, %half : tensor<64x64xf32>
    %w = arith.truncf %s : tensor<64x64xf32> to tensor<64x64xf16>
    %c, %t2 = nv_tileaa.tiled_load <weak> %v[%k, %c0] : !view[i32, i32] -> tensor<64x64xf16>
    %d = nv_tileaa.dot %w, %c, %kept : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  %o = nv_tileaa.make_memref %p0, shape = [], strides = [] : <f16> -> <64x64xf16, strides = [64, 1]>
  %x = nv_tileaa.make_tiled_view %o : <64x64xf16, strides = [64, 1]> -> <tile = [64, 64], memref<64x64xf16, strides = [64, 1]>>
  %narrow = arith.truncf %sum : tensor<64x64xf32> to tensor<64x64xf16>
  %t3 = nv_tileaa.tiled_store <weak> %narrow, %x[%c0, %c0] : tensor<64x64xf16>, <tile = [64, 64], memref<64x64xf16, strides = [64, 1]>>[i32, i32]
  nv_tileaa.return
}

// A step that may miss the upper bound: the last iteration is computed.
// CHECK-LABEL: nv_tileaa.func @steps(
// CHECK: arith.cmpi slt, %arg2, %arg1
// CHECK: %[[D:.*]] = arith.subi %arg1, %arg2
// CHECK: %[[E:.*]] = arith.subi %[[D]],
// CHECK: %[[TIMES:.*]] = arith.divui %[[E]], %arg3
// CHECK: %[[FAR:.*]] = arith.muli %[[TIMES]], %arg3
// CHECK: %[[LAST:.*]] = arith.addi %arg2, %[[FAR]]
// CHECK: scf.for %{{.*}} = %arg2 to %[[LAST]] step %arg3
nv_tileaa.func @steps(%p0: !nv_tileaa.ptr<f16>, %n: i32, %from: i32, %step: i32, %m0: i32) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f16>
  %m = nv_tileaa.make_memref %p, shape = [%m0 : i32], strides = [] : <f16> -> <?x256xf16, strides = [256, 1]>
  %v = nv_tileaa.make_tiled_view %m : <?x256xf16, strides = [256, 1]> -> !view
  %c0 = arith.constant 0 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %half = arith.constant dense<0.5> : tensor<64x64xf32>
  %q, %t0 = nv_tileaa.tiled_load <weak> %v[%c0, %c0] : !view[i32, i32] -> tensor<64x64xf16>
  %sum = scf.for %k = %from to %n step %step iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i32 {
    %b, %t1 = nv_tileaa.tiled_load <weak> %v[%c0, %k] : !view[i32, i32] -> tensor<64x64xf16>
    %s = nv_tileaa.dot %q, %b, %zero : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
    %w = arith.truncf %s : tensor<64x64xf32> to tensor<64x64xf16>
    %c, %t2 = nv_tileaa.tiled_load <weak> %v[%k, %c0] : !view[i32, i32] -> tensor<64x64xf16>
    %d = nv_tileaa.dot %w, %c, %acc : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  nv_tileaa.return
}

// The late dot's result is used in the iteration, so the loop is unchanged.
// CHECK-LABEL: nv_tileaa.func @used(
// CHECK-NOT: scf.if
// CHECK: scf.for
nv_tileaa.func @used(%p0: !nv_tileaa.ptr<f16>, %n: i32, %m0: i32) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f16>
  %m = nv_tileaa.make_memref %p, shape = [%m0 : i32], strides = [] : <f16> -> <?x256xf16, strides = [256, 1]>
  %v = nv_tileaa.make_tiled_view %m : <?x256xf16, strides = [256, 1]> -> !view
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %half = arith.constant dense<0.5> : tensor<64x64xf32>
  %q, %t0 = nv_tileaa.tiled_load <weak> %v[%c0, %c0] : !view[i32, i32] -> tensor<64x64xf16>
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i32 {
    %b, %t1 = nv_tileaa.tiled_load <weak> %v[%c0, %k] : !view[i32, i32] -> tensor<64x64xf16>
    %s = nv_tileaa.dot %q, %b, %zero : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
    %w = arith.truncf %s : tensor<64x64xf32> to tensor<64x64xf16>
    %c, %t2 = nv_tileaa.tiled_load <weak> %v[%k, %c0] : !view[i32, i32] -> tensor<64x64xf16>
    %d = nv_tileaa.dot %w, %c, %acc : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
    %e = arith.addf %d, %d : tensor<64x64xf32>
    scf.yield %e : tensor<64x64xf32>
  }
  nv_tileaa.return
}

// The same if the result is a sum of both dots, of which the late dot is the second.
// CHECK-LABEL: nv_tileaa.func @both(
// CHECK-NOT: scf.if
// CHECK: scf.for
nv_tileaa.func @both(%p0: !nv_tileaa.ptr<f16>, %n: i32, %m0: i32) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f16>
  %m = nv_tileaa.make_memref %p, shape = [%m0 : i32], strides = [] : <f16> -> <?x256xf16, strides = [256, 1]>
  %v = nv_tileaa.make_tiled_view %m : <?x256xf16, strides = [256, 1]> -> !view
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %half = arith.constant dense<0.5> : tensor<64x64xf32>
  %q, %t0 = nv_tileaa.tiled_load <weak> %v[%c0, %c0] : !view[i32, i32] -> tensor<64x64xf16>
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i32 {
    %b, %t1 = nv_tileaa.tiled_load <weak> %v[%c0, %k] : !view[i32, i32] -> tensor<64x64xf16>
    %s = nv_tileaa.dot %q, %b, %zero : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
    %w = arith.truncf %s : tensor<64x64xf32> to tensor<64x64xf16>
    %c, %t2 = nv_tileaa.tiled_load <weak> %v[%k, %c0] : !view[i32, i32] -> tensor<64x64xf16>
    %d = nv_tileaa.dot %w, %c, %acc : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
    %e = arith.addf %s, %d : tensor<64x64xf32>
    scf.yield %e : tensor<64x64xf32>
  }
  nv_tileaa.return
}
