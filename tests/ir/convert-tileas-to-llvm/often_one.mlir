// RUN: tileiras-opt %s --pass-pipeline='builtin.module(convert-tileas-to-llvm{compute-capability=sm_90})' | FileCheck %s

#m = #nv_tileas.layout<register = [1, 8], lane = [2, 4, 16, 32, 64], warp = []>
#c = #nv_tileas.layout<register = [1], lane = [0, 0, 2, 4, 8], warp = []>
gpu.module @kernels {
  // A warp checks whether all its distinct factors are one, and multiplies only if they are not.
  // CHECK-LABEL: llvm.func @scaled(
  // CHECK: %[[A:.*]] = llvm.fcmp "oeq" %[[F:.*]], %{{.*}} : f32
  // CHECK: %[[B:.*]] = llvm.fcmp "oeq" %[[G:.*]], %{{.*}} : f32
  // CHECK-NOT: llvm.fcmp
  // CHECK: %[[AB:.*]] = llvm.and %[[A]], %[[B]]
  // CHECK: %[[ALL:.*]] = llvm.call_intrinsic "llvm.nvvm.vote.all.sync"(%{{.*}}, %[[AB]])
  // CHECK: llvm.cond_br %[[ALL]], ^[[SAME:.*]], ^[[SCALED:.*]]
  // CHECK: ^[[SAME]]:
  // CHECK-NEXT: llvm.br ^[[ON:[^(]*]](
  // CHECK: ^[[SCALED]]:
  // CHECK-COUNT-4: llvm.fmul
  // CHECK-NOT: llvm.fmul
  // CHECK: llvm.br ^[[ON]](
  nv_tileaa.func @scaled(%p: !nv_tileaa.ptr<f32>, %n: i32) attributes {numWarps = 1 : i64} {
    %c0 = arith.constant 0 : i32
    %m = nv_tileaa.make_memref %p, shape = [%n : i32], strides = [] : <f32> -> <?x8xf32, strides = [8, 1]>
    %v = nv_tileaa.make_tiled_view %m : <?x8xf32, strides = [8, 1]> -> <tile = [16, 8], memref<?x8xf32, strides = [8, 1]>>
    %k = nv_tileaa.make_memref %p, shape = [%n : i32], strides = [] : <f32> -> <?x1xf32, strides = [1, 1]>
    %w = nv_tileaa.make_tiled_view %k : <?x1xf32, strides = [1, 1]> -> <tile = [16, 1], memref<?x1xf32, strides = [1, 1]>>
    %x, %t0 = nv_tileas.tiled_load <weak> %v[%c0, %c0] vector 1 bounds <none> : <tile = [16, 8], memref<?x8xf32, strides = [8, 1]>>[i32, i32] -> tensor<16x8xf32, #m>
    %f, %t1 = nv_tileas.tiled_load <weak> %w[%c0, %c0] vector 1 bounds <none> : <tile = [16, 1], memref<?x1xf32, strides = [1, 1]>>[i32, i32] -> tensor<16x1xf32, #c>
    %b = nv_tileas.broadcast %f : tensor<16x1xf32, #c> -> tensor<16x8xf32, #m>
    %y = arith.mulf %x, %b {nv_tileas.often_one} : tensor<16x8xf32, #m>
    %t2 = nv_tileas.tiled_store <weak> %y, %v[%c0, %c0] vector 1 bounds <none> : tensor<16x8xf32, #m>, <tile = [16, 8], memref<?x8xf32, strides = [8, 1]>>[i32, i32]
    nv_tileaa.return
  }
}
