// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileas-recompute-for-scheduling{compute-capability=sm_80})' | FileCheck %s
// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileas-recompute-for-scheduling{compute-capability=sm_80},tileas-generate-schedule-constraints{compute-capability=sm_80},cse)' | FileCheck %s

// Each user of a repeated value has its own copy before it, and a branch has one copy for all its ops. Cleanup passes
// after the pass that creates the constraints do not merge them.
// CHECK-LABEL: nv_tileaa.func @chain(
// CHECK: %[[SUM:.*]] = nv_tileas.dot
// CHECK-NEXT: %[[A:.*]] = nv_tileas.splat
// CHECK-NEXT: %[[X:.*]] = arith.addf %[[SUM]], %[[A]]
// CHECK-NEXT: %[[B:.*]] = nv_tileas.splat
// CHECK-NEXT: %[[Y:.*]] = arith.mulf %[[X]], %[[B]]
// CHECK-NEXT: %[[C:.*]] = nv_tileas.splat
// CHECK-NEXT: scf.if
// CHECK: arith.subf %[[Y]], %[[C]]
// CHECK: scf.yield %[[C]]
// CHECK-NOT: nv_tileas.splat

#l0 = #nv_tileas.layout<register = [1, 512, 8, 16, 1024], lane = [2, 4, 64, 128, 256], warp = [2048, 32]>
#l1 = #nv_tileas.layout<register = [1, 2, 4, 1024, 2048], lane = [8, 16, 32, 64, 128], warp = [256, 512]>
#l2 = #nv_tileas.layout<register = [1, 512, 8, 16, 32, 1024], lane = [2, 4, 64, 128, 256], warp = [2048, 0]>
#l3 = #nv_tileas.layout<register = [64, 512, 8, 1024, 2048, 16], lane = [128, 256, 1, 2, 4], warp = [0, 32]>
nv_tileaa.func @chain(%arg0: !nv_tileaa.ptr<f16>, %arg1: !nv_tileaa.ptr<f32>, %arg2: i32, %arg3: i32, %f: f32, %c: i1) attributes {numWarps = 4 : i64} {
  %cst = arith.constant dense<0.000000e+00> : tensor<64x64xf32, #l0>
  %half = arith.constant dense<5.000000e-01> : tensor<64x64xf32, #l0>
  %c1_i32 = arith.constant 1 : i32
  %c0_i32 = arith.constant 0 : i32
  %0 = nv_tileaa.assume #cuda_tile.div_by<16>, %arg0 : !nv_tileaa.ptr<f16>
  %1 = nv_tileaa.make_memref %0, shape = [%arg3 : i32], strides = [] : <f16> -> <?x256xf16, strides = [256, 1]>
  %2 = nv_tileaa.make_tiled_view %1 : <?x256xf16, strides = [256, 1]> -> <tile = [64, 64], memref<?x256xf16, strides = [256, 1]>, padding = zero>
  %3 = scf.for %arg4 = %c0_i32 to %arg2 step %c1_i32 iter_args(%arg5 = %cst) -> (tensor<64x64xf32, #l0>)  : i32 {
    %a, %ta = nv_tileas.tiled_load <weak> %2[%c0_i32, %arg4] vector 8 bounds <vector> in_bounds [false, true] : <tile = [64, 64], memref<?x256xf16, strides = [256, 1]>, padding = zero>[i32, i32] -> tensor<64x64xf16, #l1>
    %b, %tb = nv_tileas.tiled_load <weak> %2[%arg4, %c0_i32] vector 8 bounds <vector> in_bounds [false, true] : <tile = [64, 64], memref<?x256xf16, strides = [256, 1]>, padding = zero>[i32, i32] -> tensor<64x64xf16, #l1>
    %7 = nv_tileas.convert_layout %a : tensor<64x64xf16, #l1> -> tensor<64x64xf16, #l2>
    %8 = nv_tileas.convert_layout %b : tensor<64x64xf16, #l1> -> tensor<64x64xf16, #l3>
    %9 = nv_tileas.dot %7, %8, %arg5 by <sync, [16, 8, 16]> : tensor<64x64xf16, #l2>, tensor<64x64xf16, #l3>, tensor<64x64xf32, #l0>
    %s = nv_tileas.splat %f : f32 -> tensor<64x64xf32, #l0>
    %10 = arith.addf %9, %s : tensor<64x64xf32, #l0>
    %y = arith.mulf %10, %s : tensor<64x64xf32, #l0>
    %11 = scf.if %c -> (tensor<64x64xf32, #l0>) {
      %z = arith.subf %y, %s : tensor<64x64xf32, #l0>
      scf.yield %z : tensor<64x64xf32, #l0>
    } else {
      scf.yield %s : tensor<64x64xf32, #l0>
    }
    %12 = arith.maximumf %11, %half : tensor<64x64xf32, #l0>
    scf.yield %12 : tensor<64x64xf32, #l0>
  }
  %4 = nv_tileaa.make_memref %arg1, shape = [], strides = [] : <f32> -> <64x64xf32, strides = [64, 1]>
  %5 = nv_tileaa.make_tiled_view %4 : <64x64xf32, strides = [64, 1]> -> <tile = [64, 64], memref<64x64xf32, strides = [64, 1]>>
  %6 = nv_tileas.tiled_store <weak> %3, %5[%c0_i32, %c0_i32] vector 1 bounds <none> in_bounds [true, true] : tensor<64x64xf32, #l0>, <tile = [64, 64], memref<64x64xf32, strides = [64, 1]>>[i32, i32]
  nv_tileaa.return
}
