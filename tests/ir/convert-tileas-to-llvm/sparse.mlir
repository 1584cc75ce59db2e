// RUN: tileiras-opt %s --pass-pipeline='builtin.module(convert-tileas-to-llvm,cse)' | FileCheck %s
#l = #nv_tileas.layout<register = [1, 2, 256], lane = [4, 8, 16, 32, 64], warp = [128, 512]>
#r = #nv_tileas.layout<register = [0, 0, 4], lane = [0, 0, 0, 0, 1], warp = [2, 8]>
gpu.module @kernels {
  // A thread has elements of two rows. It computes the address and the bounds check once per row, and adds the
  // columns to them.
  // CHECK-LABEL: llvm.func @gather(
  // CHECK: %[[N:.*]] = llvm.zext %arg1 : i32 to i64
  // CHECK: %[[ROW:.*]] = llvm.zext %{{.*}} : i32 to i64
  // CHECK: %[[IN:.*]] = llvm.icmp "ult" %[[ROW]], %[[N]] : i64
  // CHECK: %[[OFFSET:.*]] = llvm.mul %[[ROW]], %{{.*}} : i64
  // CHECK: %[[ROW1:.*]] = llvm.zext %{{.*}} : i32 to i64
  // CHECK: %[[IN1:.*]] = llvm.icmp "ult" %[[ROW1]], %[[N]] : i64
  // CHECK: %[[OFFSET1:.*]] = llvm.mul %[[ROW1]], %{{.*}} : i64
  // CHECK: %[[BASE:.*]] = llvm.getelementptr %arg0[%{{.*}}] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i8
  // CHECK: %[[THREAD:.*]] = llvm.getelementptr %[[BASE]][%{{.*}}] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i8
  // CHECK: %[[P:.*]] = llvm.getelementptr %[[THREAD]][%[[OFFSET]]] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i8
  // CHECK: "@$5 ld.global.v4.b32 {$0, $1, $2, $3}, [$4];", "=r,=r,=r,=r,l,b,0,1,2,3" %[[P]], %[[IN]],
  // CHECK: %[[P1:.*]] = llvm.getelementptr %[[THREAD]][%[[OFFSET1]]] :
  // CHECK: "@$5 ld.global.v4.b32 {$0, $1, $2, $3}, [$4];", "=r,=r,=r,=r,l,b,0,1,2,3" %[[P1]], %[[IN1]],
  nv_tileaa.func @gather(%p: !nv_tileaa.ptr<f32>, %n: i32, %i: i32) attributes {numWarps = 4 : i64} {
    %m = nv_tileaa.make_memref %p, shape = [%n : i32], strides = [] : <f32> -> <?x64xf32, strides = [64, 1]>
    %v = nv_tileaa.make_tiled_view %m : <?x64xf32, strides = [64, 1]> -> <tile = [16, 64], memref<?x64xf32, strides = [64, 1]>, steps = [1, 1], padding = zero, sparse_dim = 0>
    %r = nv_tileas.make_range : tensor<16xi32, #r>
    %x, %t = nv_tileas.tiled_load <weak> %v[%r, %i] vector 4 bounds <vector> in_bounds [false, true] : <tile = [16, 64], memref<?x64xf32, strides = [64, 1]>, steps = [1, 1], padding = zero, sparse_dim = 0>[tensor<16xi32, #r>, i32] -> tensor<16x64xf32, #l>
    nv_tileaa.return
  }
  // Indices are unsigned for each width. Rows out of bounds are not stored.
  // CHECK-LABEL: llvm.func @scatter(
  // CHECK: %[[N:.*]] = llvm.trunc %{{.*}} : i32 to i8
  // CHECK: %[[ROW:.*]] = llvm.zext %[[N]] : i8 to i64
  // CHECK: %[[IN:.*]] = llvm.icmp "ult" %[[ROW]], %{{.*}} : i64
  // CHECK: "@$1 st.global.v4.b32 [$0], {$2, $3, $4, $5};", "l,b,r,r,r,r" %{{.*}}, %[[IN]],
  nv_tileaa.func @scatter(%p: !nv_tileaa.ptr<f32>, %i: i32, %x: f32) attributes {numWarps = 4 : i64} {
    %m = nv_tileaa.make_memref %p, shape = [], strides = [] : <f32> -> <100x64xf32, strides = [64, 1]>
    %v = nv_tileaa.make_tiled_view %m : <100x64xf32, strides = [64, 1]> -> <tile = [16, 64], memref<100x64xf32, strides = [64, 1]>, steps = [1, 1], sparse_dim = 0>
    %r = nv_tileas.make_range : tensor<16xi8, #r>
    %s = nv_tileas.splat %x : f32 -> tensor<16x64xf32, #l>
    %t = nv_tileas.tiled_store <weak> %s, %v[%r, %i] vector 4 bounds <vector> in_bounds [false, true] : tensor<16x64xf32, #l>, <tile = [16, 64], memref<100x64xf32, strides = [64, 1]>, steps = [1, 1], sparse_dim = 0>[tensor<16xi8, #r>, i32]
    nv_tileaa.return
  }
}
