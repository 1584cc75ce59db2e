// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileaa-plan-dots{compute-capability=sm_90})' | FileCheck %s
// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileaa-plan-dots{compute-capability=sm_100 dynamic-persistent=false})' | FileCheck %s
// Large tiles that consumers read next to a dot have rings of their own. Threads load small tiles, tiles that TMA cannot
// load, and tiles that are loaded outside of the loop.
!view = !nv_tileaa.tiled_view<tile = [64, 64], memref<?x256xf16, strides = [256, 1]>, padding = zero>
!small = !nv_tileaa.tiled_view<tile = [1, 64], memref<?x64xf32, strides = [64, 1]>, padding = zero>
!large = !nv_tileaa.tiled_view<tile = [64, 64], memref<?x64xf32, strides = [64, 1]>, padding = zero>

// CHECK-LABEL: nv_tileaa.func @bias(
// CHECK-SAME: nv_tileas.dot_plan
// CHECK: nv_tileaa.tiled_load <weak> {{.*}} -> tensor<64x64xf32>
// CHECK-NOT: own_stages
// CHECK: scf.for
// CHECK-NOT: own_stages
// CHECK: nv_tileaa.tiled_load <weak> %[[ALIGNED:[a-z0-9_]+]][{{.*}} {nv_tileas.own_stages = 2 : i64} : {{.*}} -> tensor<64x64xf32>
// CHECK-NOT: own_stages
nv_tileaa.func @bias(%p0: !nv_tileaa.ptr<f16>, %q0: !nv_tileaa.ptr<f32>, %r: !nv_tileaa.ptr<f32>, %n: i32, %m0: i32) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f16>
  %q = nv_tileaa.assume #cuda_tile.div_by<16>, %q0 : !nv_tileaa.ptr<f32>
  %m = nv_tileaa.make_memref %p, shape = [%m0 : i32], strides = [] : <f16> -> <?x256xf16, strides = [256, 1]>
  %v = nv_tileaa.make_tiled_view %m : <?x256xf16, strides = [256, 1]> -> !view
  %s = nv_tileaa.make_memref %q, shape = [%m0 : i32], strides = [] : <f32> -> <?x64xf32, strides = [64, 1]>
  %t = nv_tileaa.make_memref %r, shape = [%m0 : i32], strides = [] : <f32> -> <?x64xf32, strides = [64, 1]>
  %small = nv_tileaa.make_tiled_view %s : <?x64xf32, strides = [64, 1]> -> !small
  %large = nv_tileaa.make_tiled_view %s : <?x64xf32, strides = [64, 1]> -> !large
  %unaligned = nv_tileaa.make_tiled_view %t : <?x64xf32, strides = [64, 1]> -> !large
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %first, %t0 = nv_tileaa.tiled_load <weak> %large[%c0, %c0] : !large[i32, i32] -> tensor<64x64xf32>
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %first) -> (tensor<64x64xf32>) : i32 {
    %a, %t1 = nv_tileaa.tiled_load <weak> %v[%c0, %k] : !view[i32, i32] -> tensor<64x64xf16>
    %b, %t2 = nv_tileaa.tiled_load <weak> %v[%k, %c0] : !view[i32, i32] -> tensor<64x64xf16>
    %d = nv_tileaa.dot %a, %b, %zero : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
    %of, %t3 = nv_tileaa.tiled_load <weak> %small[%k, %c0] : !small[i32, i32] -> tensor<1x64xf32>
    %column = nv_tileaa.view %of : tensor<1x64xf32> -> tensor<64x1xf32>
    %all = nv_tileaa.broadcast %column : tensor<64x1xf32> -> tensor<64x64xf32>
    %scaled = arith.mulf %d, %all : tensor<64x64xf32>
    %bias, %t4 = nv_tileaa.tiled_load <weak> %large[%k, %c0] : !large[i32, i32] -> tensor<64x64xf32>
    %other, %t5 = nv_tileaa.tiled_load <weak> %unaligned[%k, %c0] : !large[i32, i32] -> tensor<64x64xf32>
    %both = arith.addf %scaled, %bias : tensor<64x64xf32>
    %three = arith.addf %both, %other : tensor<64x64xf32>
    %next = arith.addf %acc, %three : tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }
  %o = nv_tileaa.make_memref %r, shape = [], strides = [] : <f32> -> <64x64xf32, strides = [64, 1]>
  %x = nv_tileaa.make_tiled_view %o : <64x64xf32, strides = [64, 1]> -> <tile = [64, 64], memref<64x64xf32, strides = [64, 1]>>
  %t6 = nv_tileaa.tiled_store <weak> %sum, %x[%c0, %c0] : tensor<64x64xf32>, <tile = [64, 64], memref<64x64xf32, strides = [64, 1]>>[i32, i32]
  nv_tileaa.return
}
