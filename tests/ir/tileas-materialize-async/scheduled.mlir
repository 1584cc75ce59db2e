// RUN: not tileiras-opt %s --pass-pipeline='builtin.module(tileas-materialize-async)' 2>&1 | FileCheck %s
#sums = #nv_tileas.layout<register = [1, 512, 8, 16, 32], lane = [2, 4, 64, 128, 256], warp = [1024, 2048]>
#tile = #nv_tileas.layout<register = [1, 2, 4, 1024, 2048], lane = [8, 16, 32, 64, 128], warp = [256, 512]>
#right = #nv_tileas.layout<register = [64, 128, 256, 512, 1024, 2048, 1, 2, 32], lane = [4, 8, 16, 0, 0], warp = [0, 0]>
!view = !nv_tileaa.tiled_view<tile = [64, 64], memref<?x256xf16, strides = [256, 1]>, padding = zero>

// A schedule has no more stages than fit into shared memory.
// CHECK: error: the schedule needs a ring of 9 stages, but the plan allows 2 to 8
nv_tileaa.func @deep(%p0: !nv_tileaa.ptr<f16>, %n: i32, %m0: i32) attributes {numWarps = 4 : i64, nv_tileas.dot_plan = #nv_tileas.dot_plan<groups = [1, 1], columns = 64, stages = 8, scratch = 32768, launch_registers = 128, agents = [<"consumers", warps = 4, registers = 216>, <"producer", warps = 4, registers = 40>]>} {
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
    %d = nv_tileas.dot %q, %r, %acc by <warpgroup, [64, 64, 16]> {nv_tileas.stages = 9 : i64} : tensor<64x64xf16, #tile>, tensor<64x64xf16, #right>, tensor<64x64xf32, #sums>
    scf.yield %d : tensor<64x64xf32, #sums>
  }
  nv_tileaa.return
}
