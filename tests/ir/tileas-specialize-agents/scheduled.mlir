// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileas-materialize-async,tileas-specialize-agents)' | FileCheck %s
#sums = #nv_tileas.layout<register = [1, 512, 8, 16, 32], lane = [2, 4, 64, 128, 256], warp = [1024, 2048]>
#tile = #nv_tileas.layout<register = [1, 2, 4, 1024, 2048], lane = [8, 16, 32, 64, 128], warp = [256, 512]>
#right = #nv_tileas.layout<register = [64, 128, 256, 512, 1024, 2048, 1, 2, 32], lane = [4, 8, 16, 0, 0], warp = [0, 0]>
!view = !nv_tileaa.tiled_view<tile = [64, 64], memref<?x256xf16, strides = [256, 1]>, padding = zero>

// The producer has the ops that the schedule assigns to it, and the ring has as many stages as the schedule needs.
// CHECK-LABEL: nv_tileaa.func @apart(
// CHECK: create_pipeline {{.*}} -> <3>
// CHECK: agent_switch
// CHECK-NOT: tiled_tma_load
// CHECK: nv_tileas.async.dot
// CHECK: }, {
// CHECK: tiled_tma_load
nv_tileaa.func @apart(%p0: !nv_tileaa.ptr<f16>, %n: i32, %m0: i32) attributes {numWarps = 4 : i64, nv_tileas.dot_plan = #nv_tileas.dot_plan<groups = [1, 1], columns = 64, stages = 8, scratch = 32768, launch_registers = 128, agents = [<"consumers", warps = 4, registers = 216>, <"producer", warps = 4, registers = 40>]>} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.000000e+00> : tensor<64x64xf32, #sums>
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f16>
  %m = nv_tileaa.make_memref %p, shape = [%m0 : i32], strides = [] : <f16> -> <?x256xf16, strides = [256, 1]>
  %v = nv_tileaa.make_tiled_view %m : <?x256xf16, strides = [256, 1]> -> !view
  %q, %t0 = nv_tileas.tiled_load <weak> %v[%c0, %c0] vector 8 bounds <vector> in_bounds [false, true] : !view[i32, i32] -> tensor<64x64xf16, #tile>
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32, #sums>) : i32 {
    %b, %t1 = nv_tileas.tiled_load <weak> %v[%k, %c0] vector 8 bounds <vector> in_bounds [false, true] {tileas.schedule.agent = "producer"} : !view[i32, i32] -> tensor<64x64xf16, #tile>
    %r = nv_tileas.convert_layout %b : tensor<64x64xf16, #tile> -> tensor<64x64xf16, #right>
    %d = nv_tileas.dot %q, %r, %acc by <warpgroup, [64, 64, 16]> {nv_tileas.stages = 3 : i64} : tensor<64x64xf16, #tile>, tensor<64x64xf16, #right>, tensor<64x64xf32, #sums>
    scf.yield %d : tensor<64x64xf32, #sums>
  }
  nv_tileaa.return
}

// Consumers execute the ops that it assigns to consumers; there is no other agent.
// CHECK-LABEL: nv_tileaa.func @together(
// CHECK-SAME: numWarps = 4 : i64
// CHECK: create_pipeline {{.*}} -> <2>
// CHECK-NOT: agent_switch
// CHECK: scf.for
// CHECK-NEXT: nv_tileas.async.elect {
// CHECK: tiled_tma_load
// CHECK: } {tileas.schedule.agent = "consumers"}
// CHECK: nv_tileas.async.dot
nv_tileaa.func @together(%p0: !nv_tileaa.ptr<f16>, %n: i32, %m0: i32) attributes {numWarps = 4 : i64, nv_tileas.dot_plan = #nv_tileas.dot_plan<groups = [1, 1], columns = 64, stages = 8, scratch = 32768, launch_registers = 128, agents = [<"consumers", warps = 4, registers = 216>, <"producer", warps = 4, registers = 40>]>} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.000000e+00> : tensor<64x64xf32, #sums>
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f16>
  %m = nv_tileaa.make_memref %p, shape = [%m0 : i32], strides = [] : <f16> -> <?x256xf16, strides = [256, 1]>
  %v = nv_tileaa.make_tiled_view %m : <?x256xf16, strides = [256, 1]> -> !view
  %q, %t0 = nv_tileas.tiled_load <weak> %v[%c0, %c0] vector 8 bounds <vector> in_bounds [false, true] : !view[i32, i32] -> tensor<64x64xf16, #tile>
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32, #sums>) : i32 {
    %b, %t1 = nv_tileas.tiled_load <weak> %v[%k, %c0] vector 8 bounds <vector> in_bounds [false, true] {tileas.schedule.agent = "consumers"} : !view[i32, i32] -> tensor<64x64xf16, #tile>
    %r = nv_tileas.convert_layout %b : tensor<64x64xf16, #tile> -> tensor<64x64xf16, #right>
    %d = nv_tileas.dot %q, %r, %acc by <warpgroup, [64, 64, 16]> {nv_tileas.stages = 2 : i64} : tensor<64x64xf16, #tile>, tensor<64x64xf16, #right>, tensor<64x64xf32, #sums>
    scf.yield %d : tensor<64x64xf32, #sums>
  }
  nv_tileaa.return
}

// If a dot that shares the ring has no schedule, the plan is used.
// CHECK-LABEL: nv_tileaa.func @unscheduled(
// CHECK: create_pipeline {{.*}} -> <8>
// CHECK-NOT: create_pipeline
nv_tileaa.func @unscheduled(%p0: !nv_tileaa.ptr<f16>, %n: i32, %m0: i32) attributes {numWarps = 4 : i64, nv_tileas.dot_plan = #nv_tileas.dot_plan<groups = [1, 1], columns = 64, stages = 8, scratch = 32768, launch_registers = 128, agents = [<"consumers", warps = 4, registers = 216>, <"producer", warps = 4, registers = 40>]>} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.000000e+00> : tensor<64x64xf32, #sums>
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f16>
  %m = nv_tileaa.make_memref %p, shape = [%m0 : i32], strides = [] : <f16> -> <?x256xf16, strides = [256, 1]>
  %v = nv_tileaa.make_tiled_view %m : <?x256xf16, strides = [256, 1]> -> !view
  %q, %t0 = nv_tileas.tiled_load <weak> %v[%c0, %c0] vector 8 bounds <vector> in_bounds [false, true] : !view[i32, i32] -> tensor<64x64xf16, #tile>
  %one = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32, #sums>) : i32 {
    %b, %t1 = nv_tileas.tiled_load <weak> %v[%k, %c0] vector 8 bounds <vector> in_bounds [false, true] : !view[i32, i32] -> tensor<64x64xf16, #tile>
    %r = nv_tileas.convert_layout %b : tensor<64x64xf16, #tile> -> tensor<64x64xf16, #right>
    %d = nv_tileas.dot %q, %r, %acc by <warpgroup, [64, 64, 16]> {nv_tileas.stages = 2 : i64} : tensor<64x64xf16, #tile>, tensor<64x64xf16, #right>, tensor<64x64xf32, #sums>
    scf.yield %d : tensor<64x64xf32, #sums>
  }
  %two = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %one) -> (tensor<64x64xf32, #sums>) : i32 {
    %b, %t1 = nv_tileas.tiled_load <weak> %v[%k, %c0] vector 8 bounds <vector> in_bounds [false, true] : !view[i32, i32] -> tensor<64x64xf16, #tile>
    %r = nv_tileas.convert_layout %b : tensor<64x64xf16, #tile> -> tensor<64x64xf16, #right>
    %d = nv_tileas.dot %q, %r, %acc by <warpgroup, [64, 64, 16]> : tensor<64x64xf16, #tile>, tensor<64x64xf16, #right>, tensor<64x64xf32, #sums>
    scf.yield %d : tensor<64x64xf32, #sums>
  }
  nv_tileaa.return
}
