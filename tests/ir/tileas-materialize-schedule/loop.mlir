// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileas-generate-schedule-constraints{compute-capability=sm_80})' | FileCheck %s --check-prefix=CONSTRAINTS
// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileas-generate-schedule-constraints{compute-capability=sm_80},canonicalize,cse,tileas-materialize-schedule{schedule-trace-file=%t.txt})' -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: FileCheck %s --check-prefix=TABLE --input-file=%t.txt
// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileas-generate-schedule-constraints{compute-capability=sm_107},canonicalize,cse,tileas-materialize-schedule{schedule-trace-file=%t.family.txt})' -o %t.mlir
// RUN: FileCheck %s --check-prefix=FAMILY --input-file=%t.family.txt
// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileas-generate-schedule-constraints{compute-capability=sm_80},tileas-materialize-schedule{exhaustive=true schedule-trace-file=%t.html},tileas-unspecialized-pipeline{compute-capability=sm_80})' | FileCheck %s --check-prefix=RINGS
// RUN: FileCheck %s --check-prefix=PAGE --input-file=%t.html
// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileas-generate-schedule-constraints{compute-capability=sm_80},tileas-materialize-schedule{rrt-size-threshold=0 schedule-trace-file=%t.json})' | FileCheck %s --check-prefix=LIGHT
// RUN: FileCheck %s --check-prefix=TRACE --input-file=%t.json
// RUN: not tileiras-opt %s --pass-pipeline='builtin.module(tileas-generate-schedule-constraints{compute-capability=sm_80},tileas-unspecialized-pipeline{compute-capability=sm_80},tileas-materialize-schedule)' 2>&1 | FileCheck %s --check-prefix=INVALID
// RUN: not tileiras-opt %s --pass-pipeline='builtin.module(tileas-materialize-schedule)' 2>&1 | FileCheck %s --check-prefix=NONE

// The form with the lower predicted time is kept: rings of four stages without a schedule are as good, copies that do
// not start ahead are worse. The schedule is in the program either way.
// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileas-generate-schedule-constraints{compute-capability=sm_80},tileas-materialize-schedule{simple-stages=4})' | FileCheck %s --check-prefix=SIMPLE
// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileas-generate-schedule-constraints{compute-capability=sm_80},tileas-materialize-schedule{simple-stages=1})' | FileCheck %s
// SIMPLE-NOT: nv_tileas.ahead
// SIMPLE: nv_tileas.dot {{.*}}tileas.schedule.stage = 2
// SIMPLE: tileas.schedule.interval = [[#]]
// SIMPLE-NOT: nv_tileas.ahead

// Operations of the loop are numbered; scalar arithmetic is not.
// CONSTRAINTS: nv_tileaa.func @chain({{.*}}tileas.schedule.constraint.machine = "sm_80"
// CONSTRAINTS: nv_tileas.tiled_load {{.*}}tileas.schedule.constraint.gid = 0
// CONSTRAINTS: nv_tileas.tiled_load {{.*}}tileas.schedule.constraint.gid = 1
// CONSTRAINTS: arith.maximumf {{.*}}tileas.schedule.constraint.gid = 7

// Cleanup passes keep the analysis. The loop is rewritten: rings of three stages, copies that start two iterations
// before their uses, and the groups of the first two iterations before the loop.
// CHECK-LABEL: nv_tileaa.func @chain(
// CHECK-NOT: constraint
// CHECK-COUNT-2: nv_tileas.alloc_tensor : <64x64xf16, {{.*}}, stages = 3>
// CHECK-COUNT-2: nv_tileas.async.commit
// CHECK: scf.for
// CHECK-NEXT: nv_tileas.async.wait {{.*}} pending 1
// CHECK: nv_tileas.async.tiled_load
// CHECK: nv_tileas.async.commit
// CHECK: nv_tileas.local_load
// CHECK-NOT: nv_tileas.tiled_load
// CHECK: nv_tileas.dot {{.*}}tileas.schedule.stage = 2
// CHECK: tileas.schedule.interval = [[#]] : i64, tileas.schedule.materialized, tileas.schedule.stages = [[#]]
// CHECK-NEXT: nv_tileas.async.wait {{.*}} pending 0
// CHECK-NOT: nv_tileas.ahead

// The operations of the loop are in the order of the schedule: the exponential occupies registers, so it follows the
// dot. Its scalar operand, which the schedule does not contain, comes before it.
// CHECK-LABEL: nv_tileaa.func @order(
// CHECK: scf.for
// CHECK: nv_tileas.async.commit
// CHECK-NOT: arith.sitofp
// CHECK: nv_tileas.dot
// CHECK-NEXT: %[[SCALAR:.*]] = arith.sitofp
// CHECK-NEXT: %[[SPLAT:.*]] = nv_tileaa.splat %[[SCALAR]]
// CHECK-NEXT: math.exp2 %[[SPLAT]]
// CHECK-NEXT: arith.mulf
// CHECK-NEXT: arith.addf
// CHECK: tileas.schedule.materialized

// FAMILY: chain, loop 0 (clocks of sm_100)
// TABLE: chain, loop 0{{$}}
// TABLE-NEXT: interval [[#]] clocks, [[#]] stages, placed
// TABLE: tensor 0+
// TABLE: busy {{.*}} %
// RINGS: nv_tileas.alloc_tensor : <64x64xf16, {{.*}}, stages = 3>
// RINGS: nv_tileas.async.commit
// PAGE: <h2>chain, loop 0</h2>
// LIGHT: tileas.schedule.interval
// TRACE: "name":"4 nv_tileas.dot"

// The description must match the loop and describe each operation once.
// INVALID: cleanup pass invalidated ScheduleAnalysis; rerun constraint generation or remove the pass
// NONE: no ScheduleAnalysis is available; run tileas-generate-schedule-constraints first
#l0 = #nv_tileas.layout<register = [1, 512, 8, 16, 1024], lane = [2, 4, 64, 128, 256], warp = [2048, 32]>
#l1 = #nv_tileas.layout<register = [1, 2, 4, 1024, 2048], lane = [8, 16, 32, 64, 128], warp = [256, 512]>
#l2 = #nv_tileas.layout<register = [1, 512, 8, 16, 32, 1024], lane = [2, 4, 64, 128, 256], warp = [2048, 0]>
#l3 = #nv_tileas.layout<register = [64, 512, 8, 1024, 2048, 16], lane = [128, 256, 1, 2, 4], warp = [0, 32]>
nv_tileaa.func @chain(%arg0: !nv_tileaa.ptr<f16>, %arg1: !nv_tileaa.ptr<f32>, %arg2: i32, %arg3: i32) attributes {numWarps = 4 : i64} {
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
    %10 = arith.addf %9, %half : tensor<64x64xf32, #l0>
    %11 = arith.mulf %10, %half : tensor<64x64xf32, #l0>
    %12 = arith.maximumf %11, %half : tensor<64x64xf32, #l0>
    scf.yield %12 : tensor<64x64xf32, #l0>
  }
  %4 = nv_tileaa.make_memref %arg1, shape = [], strides = [] : <f32> -> <64x64xf32, strides = [64, 1]>
  %5 = nv_tileaa.make_tiled_view %4 : <64x64xf32, strides = [64, 1]> -> <tile = [64, 64], memref<64x64xf32, strides = [64, 1]>>
  %6 = nv_tileas.tiled_store <weak> %3, %5[%c0_i32, %c0_i32] vector 1 bounds <none> in_bounds [true, true] : tensor<64x64xf32, #l0>, <tile = [64, 64], memref<64x64xf32, strides = [64, 1]>>[i32, i32]
  nv_tileaa.return
}

nv_tileaa.func @order(%arg0: !nv_tileaa.ptr<f16>, %arg1: !nv_tileaa.ptr<f32>, %arg2: i32, %arg3: i32) attributes {numWarps = 4 : i64} {
  %cst = arith.constant dense<0.000000e+00> : tensor<64x64xf32, #l0>
  %c1_i32 = arith.constant 1 : i32
  %c0_i32 = arith.constant 0 : i32
  %0 = nv_tileaa.assume #cuda_tile.div_by<16>, %arg0 : !nv_tileaa.ptr<f16>
  %1 = nv_tileaa.make_memref %0, shape = [%arg3 : i32], strides = [] : <f16> -> <?x256xf16, strides = [256, 1]>
  %2 = nv_tileaa.make_tiled_view %1 : <?x256xf16, strides = [256, 1]> -> <tile = [64, 64], memref<?x256xf16, strides = [256, 1]>, padding = zero>
  %3 = scf.for %arg4 = %c0_i32 to %arg2 step %c1_i32 iter_args(%arg5 = %cst) -> (tensor<64x64xf32, #l0>)  : i32 {
    %s = arith.sitofp %arg4 : i32 to f32
    %t = nv_tileaa.splat %s : f32 -> tensor<64x64xf32, #l0>
    %e = math.exp2 %t : tensor<64x64xf32, #l0>
    %a, %ta = nv_tileas.tiled_load <weak> %2[%c0_i32, %arg4] vector 8 bounds <vector> in_bounds [false, true] : <tile = [64, 64], memref<?x256xf16, strides = [256, 1]>, padding = zero>[i32, i32] -> tensor<64x64xf16, #l1>
    %b, %tb = nv_tileas.tiled_load <weak> %2[%arg4, %c0_i32] vector 8 bounds <vector> in_bounds [false, true] : <tile = [64, 64], memref<?x256xf16, strides = [256, 1]>, padding = zero>[i32, i32] -> tensor<64x64xf16, #l1>
    %7 = nv_tileas.convert_layout %a : tensor<64x64xf16, #l1> -> tensor<64x64xf16, #l2>
    %8 = nv_tileas.convert_layout %b : tensor<64x64xf16, #l1> -> tensor<64x64xf16, #l3>
    %9 = nv_tileas.dot %7, %8, %cst by <sync, [16, 8, 16]> : tensor<64x64xf16, #l2>, tensor<64x64xf16, #l3>, tensor<64x64xf32, #l0>
    %10 = arith.mulf %9, %e : tensor<64x64xf32, #l0>
    %12 = arith.addf %10, %arg5 : tensor<64x64xf32, #l0>
    scf.yield %12 : tensor<64x64xf32, #l0>
  }
  %4 = nv_tileaa.make_memref %arg1, shape = [], strides = [] : <f32> -> <64x64xf32, strides = [64, 1]>
  %5 = nv_tileaa.make_tiled_view %4 : <64x64xf32, strides = [64, 1]> -> <tile = [64, 64], memref<64x64xf32, strides = [64, 1]>>
  %6 = nv_tileas.tiled_store <weak> %3, %5[%c0_i32, %c0_i32] vector 1 bounds <none> in_bounds [true, true] : tensor<64x64xf32, #l0>, <tile = [64, 64], memref<64x64xf32, strides = [64, 1]>>[i32, i32]
  nv_tileaa.return
}
