// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileas-pipeline-dots)' | FileCheck %s
#sums = #nv_tileas.layout<register = [1, 512, 8, 16, 32], lane = [2, 4, 64, 128, 256], warp = [1024, 2048]>
#tile = #nv_tileas.layout<register = [1, 2, 4, 1024, 2048], lane = [8, 16, 32, 64, 128], warp = [256, 512]>
#right = #nv_tileas.layout<register = [64, 128, 256, 512, 1024, 2048, 1, 2, 32], lane = [4, 8, 16, 0, 0], warp = [0, 0]>
!view = !nv_tileaa.tiled_view<tile = [64, 64], memref<?x256xf16, strides = [256, 1]>, padding = zero>

// The schedule starts the late dot 20 clocks after the early dot of the next iteration.
// CHECK-LABEL: nv_tileaa.func @behind(
// CHECK: scf.if
// CHECK: scf.for
nv_tileaa.func @behind(%p0: !nv_tileaa.ptr<f16>, %n: i32, %m0: i32) attributes {numWarps = 4 : i64, nv_tileas.dot_plan = #nv_tileas.dot_plan<groups = [1, 1], columns = 64, stages = 8, scratch = 32768, launch_registers = 128, agents = [<"consumers", warps = 4, registers = 216>, <"producer", warps = 4, registers = 40>]>} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.000000e+00> : tensor<64x64xf32, #sums>
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f16>
  %m = nv_tileaa.make_memref %p, shape = [%m0 : i32], strides = [] : <f16> -> <?x256xf16, strides = [256, 1]>
  %v = nv_tileaa.make_tiled_view %m : <?x256xf16, strides = [256, 1]> -> !view
  %q, %t0 = nv_tileas.tiled_load <weak> %v[%c0, %c0] vector 8 bounds <vector> in_bounds [false, true] : !view[i32, i32] -> tensor<64x64xf16, #tile>
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32, #sums>) : i32 {
    %b, %t1 = nv_tileas.tiled_load <weak> %v[%c0, %k] vector 8 bounds <vector> in_bounds [false, true] : !view[i32, i32] -> tensor<64x64xf16, #tile>
    %r = nv_tileas.convert_layout %b : tensor<64x64xf16, #tile> -> tensor<64x64xf16, #right>
    %s = nv_tileas.dot %q, %r, %zero by <warpgroup, [64, 64, 16]> {tileas.schedule.clock = 100 : i64, tileas.schedule.stage = 1 : i64} : tensor<64x64xf16, #tile>, tensor<64x64xf16, #right>, tensor<64x64xf32, #sums>
    %w = arith.truncf %s : tensor<64x64xf32, #sums> to tensor<64x64xf16, #sums>
    %c, %t2 = nv_tileas.tiled_load <weak> %v[%k, %c0] vector 8 bounds <vector> in_bounds [false, true] : !view[i32, i32] -> tensor<64x64xf16, #tile>
    %e = nv_tileas.convert_layout %c : tensor<64x64xf16, #tile> -> tensor<64x64xf16, #right>
    %d = nv_tileas.dot %w, %e, %acc by <warpgroup, [64, 64, 16]> {tileas.schedule.clock = 120 : i64, tileas.schedule.stage = 2 : i64} : tensor<64x64xf16, #sums>, tensor<64x64xf16, #right>, tensor<64x64xf32, #sums>
    scf.yield %d : tensor<64x64xf32, #sums>
  } {tileas.schedule.interval = 400 : i64}
  nv_tileaa.return
}

// In the next stage, but before the early dot: that is the end of its own iteration.
// CHECK-LABEL: nv_tileaa.func @in_front(
// CHECK-NOT: scf.if
// CHECK: scf.for
// CHECK-NOT: scf.if
nv_tileaa.func @in_front(%p0: !nv_tileaa.ptr<f16>, %n: i32, %m0: i32) attributes {numWarps = 4 : i64, nv_tileas.dot_plan = #nv_tileas.dot_plan<groups = [1, 1], columns = 64, stages = 8, scratch = 32768, launch_registers = 128, agents = [<"consumers", warps = 4, registers = 216>, <"producer", warps = 4, registers = 40>]>} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.000000e+00> : tensor<64x64xf32, #sums>
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f16>
  %m = nv_tileaa.make_memref %p, shape = [%m0 : i32], strides = [] : <f16> -> <?x256xf16, strides = [256, 1]>
  %v = nv_tileaa.make_tiled_view %m : <?x256xf16, strides = [256, 1]> -> !view
  %q, %t0 = nv_tileas.tiled_load <weak> %v[%c0, %c0] vector 8 bounds <vector> in_bounds [false, true] : !view[i32, i32] -> tensor<64x64xf16, #tile>
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32, #sums>) : i32 {
    %b, %t1 = nv_tileas.tiled_load <weak> %v[%c0, %k] vector 8 bounds <vector> in_bounds [false, true] : !view[i32, i32] -> tensor<64x64xf16, #tile>
    %r = nv_tileas.convert_layout %b : tensor<64x64xf16, #tile> -> tensor<64x64xf16, #right>
    %s = nv_tileas.dot %q, %r, %zero by <warpgroup, [64, 64, 16]> {tileas.schedule.clock = 100 : i64, tileas.schedule.stage = 1 : i64} : tensor<64x64xf16, #tile>, tensor<64x64xf16, #right>, tensor<64x64xf32, #sums>
    %w = arith.truncf %s : tensor<64x64xf32, #sums> to tensor<64x64xf16, #sums>
    %c, %t2 = nv_tileas.tiled_load <weak> %v[%k, %c0] vector 8 bounds <vector> in_bounds [false, true] : !view[i32, i32] -> tensor<64x64xf16, #tile>
    %e = nv_tileas.convert_layout %c : tensor<64x64xf16, #tile> -> tensor<64x64xf16, #right>
    %d = nv_tileas.dot %w, %e, %acc by <warpgroup, [64, 64, 16]> {tileas.schedule.clock = 80 : i64, tileas.schedule.stage = 2 : i64} : tensor<64x64xf16, #sums>, tensor<64x64xf16, #right>, tensor<64x64xf32, #sums>
    scf.yield %d : tensor<64x64xf32, #sums>
  } {tileas.schedule.interval = 400 : i64}
  nv_tileaa.return
}

// A dot without a schedule is computed an iteration later, as by default.
// CHECK-LABEL: nv_tileaa.func @unscheduled(
// CHECK: scf.if
nv_tileaa.func @unscheduled(%p0: !nv_tileaa.ptr<f16>, %n: i32, %m0: i32) attributes {numWarps = 4 : i64, nv_tileas.dot_plan = #nv_tileas.dot_plan<groups = [1, 1], columns = 64, stages = 8, scratch = 32768, launch_registers = 128, agents = [<"consumers", warps = 4, registers = 216>, <"producer", warps = 4, registers = 40>]>} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.000000e+00> : tensor<64x64xf32, #sums>
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f16>
  %m = nv_tileaa.make_memref %p, shape = [%m0 : i32], strides = [] : <f16> -> <?x256xf16, strides = [256, 1]>
  %v = nv_tileaa.make_tiled_view %m : <?x256xf16, strides = [256, 1]> -> !view
  %q, %t0 = nv_tileas.tiled_load <weak> %v[%c0, %c0] vector 8 bounds <vector> in_bounds [false, true] : !view[i32, i32] -> tensor<64x64xf16, #tile>
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32, #sums>) : i32 {
    %b, %t1 = nv_tileas.tiled_load <weak> %v[%c0, %k] vector 8 bounds <vector> in_bounds [false, true] : !view[i32, i32] -> tensor<64x64xf16, #tile>
    %r = nv_tileas.convert_layout %b : tensor<64x64xf16, #tile> -> tensor<64x64xf16, #right>
    %s = nv_tileas.dot %q, %r, %zero by <warpgroup, [64, 64, 16]> {tileas.schedule.clock = 100 : i64, tileas.schedule.stage = 1 : i64} : tensor<64x64xf16, #tile>, tensor<64x64xf16, #right>, tensor<64x64xf32, #sums>
    %w = arith.truncf %s : tensor<64x64xf32, #sums> to tensor<64x64xf16, #sums>
    %c, %t2 = nv_tileas.tiled_load <weak> %v[%k, %c0] vector 8 bounds <vector> in_bounds [false, true] : !view[i32, i32] -> tensor<64x64xf16, #tile>
    %e = nv_tileas.convert_layout %c : tensor<64x64xf16, #tile> -> tensor<64x64xf16, #right>
    %d = nv_tileas.dot %w, %e, %acc by <warpgroup, [64, 64, 16]> : tensor<64x64xf16, #sums>, tensor<64x64xf16, #right>, tensor<64x64xf32, #sums>
    scf.yield %d : tensor<64x64xf32, #sums>
  } {tileas.schedule.interval = 400 : i64}
  nv_tileaa.return
}
