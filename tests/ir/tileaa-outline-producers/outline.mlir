// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileaa-plan-dots{compute-capability=sm_90},tileaa-outline-producers)' | FileCheck %s
// The ops that compute an operand move to the producer's warps together with their inputs from outside the loop. None
// of them stays with the dot, and the marker attribute is removed.

// CHECK-LABEL: nv_tileaa.func @scaled(
// CHECK: scf.for %[[K:[a-z0-9_]+]] =
// CHECK-NEXT: %[[B:.*]], %{{.*}} = nv_tileaa.tiled_load <weak> %{{.*}}[%[[K]], %c0_i32] {{.*}} -> tensor<64x128xf16>
// CHECK-NEXT: %[[A:.*]] = nv_tileas.async.pipeline.produce_one warps {{[48]}} fast 1 {
// CHECK-DAG: %[[BYTES:.*]], %{{.*}} = nv_tileaa.tiled_load <weak> %{{.*}}[%arg4, %[[K]]] : {{.*}} -> tensor<128x64xi8>
// CHECK-DAG: nv_tileaa.tiled_load {{.*}} {nv_tileas.outside = 1 : i64} : {{.*}} -> tensor<128x1xf32>
// CHECK-DAG: nv_tileaa.broadcast
// CHECK: %[[TILE:.*]] = arith.truncf
// CHECK-NEXT: nv_tileas.yield %[[TILE]] : tensor<128x64xf16>
// CHECK-NEXT: } : tensor<128x64xf16>
// CHECK-NEXT: nv_tileaa.dot %[[A]], %[[B]], %{{.*}} : tensor<128x64xf16>
!view = !nv_tileaa.tiled_view<tile = [64, 128], memref<?x256xf16, strides = [256, 1]>, padding = zero>
!bytes = !nv_tileaa.tiled_view<tile = [128, 64], memref<?x256xi8, strides = [256, 1]>, padding = zero>
!scales = !nv_tileaa.tiled_view<tile = [128, 1], memref<?x4xf32, strides = [4, 1]>, padding = zero>
nv_tileaa.func @scaled(%p0: !nv_tileaa.ptr<f16>, %q0: !nv_tileaa.ptr<i8>, %r: !nv_tileaa.ptr<f32>, %n: i32, %x: i32) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f16>
  %q = nv_tileaa.assume #cuda_tile.div_by<8>, %q0 : !nv_tileaa.ptr<i8>
  %m = nv_tileaa.make_memref %p, shape = [%n : i32], strides = [] : <f16> -> <?x256xf16, strides = [256, 1]>
  %v = nv_tileaa.make_tiled_view %m : <?x256xf16, strides = [256, 1]> -> !view
  %m1 = nv_tileaa.make_memref %q, shape = [%n : i32], strides = [] : <i8> -> <?x256xi8, strides = [256, 1]>
  %w = nv_tileaa.make_tiled_view %m1 : <?x256xi8, strides = [256, 1]> -> !bytes
  %m2 = nv_tileaa.make_memref %r, shape = [%n : i32], strides = [] : <f32> -> <?x4xf32, strides = [4, 1]>
  %s = nv_tileaa.make_tiled_view %m2 : <?x4xf32, strides = [4, 1]> -> !scales
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  // One scale per row for the whole loop.
  %column, %t0 = nv_tileaa.tiled_load <weak> %s[%x, %c0] : !scales[i32, i32] -> tensor<128x1xf32>
  %all = nv_tileaa.broadcast %column : tensor<128x1xf32> -> tensor<128x64xf32>
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<128x128xf32>) : i32 {
    %narrow, %t1 = nv_tileaa.tiled_load <weak> %w[%x, %k] : !bytes[i32, i32] -> tensor<128x64xi8>
    %wide = arith.sitofp %narrow : tensor<128x64xi8> to tensor<128x64xf32>
    %scaled = arith.mulf %wide, %all : tensor<128x64xf32>
    %a = arith.truncf %scaled : tensor<128x64xf32> to tensor<128x64xf16>
    %b, %t2 = nv_tileaa.tiled_load <weak> %v[%k, %c0] : !view[i32, i32] -> tensor<64x128xf16>
    %d = nv_tileaa.dot %a, %b, %acc : tensor<128x64xf16>, tensor<64x128xf16>, tensor<128x128xf32>
    scf.yield %d : tensor<128x128xf32>
  }
  %o = nv_tileaa.make_memref %r, shape = [%n : i32], strides = [] : <f32> -> <?x128xf32, strides = [128, 1]>
  %u = nv_tileaa.make_tiled_view %o : <?x128xf32, strides = [128, 1]> -> <tile = [128, 128], memref<?x128xf32, strides = [128, 1]>>
  %t3 = nv_tileaa.tiled_store <weak> %sum, %u[%x, %c0] : tensor<128x128xf32>, <tile = [128, 128], memref<?x128xf32, strides = [128, 1]>>[i32, i32]
  nv_tileaa.return
}
