// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileaa-plan-dots{compute-capability=sm_100})' | FileCheck %s
// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileaa-plan-dots{compute-capability=sm_110})' | FileCheck %s
// Dots that depend on each other: threads hold whole rows, and two CTAs fit an SM. `setmaxnreg` applies to warpgroups, so
// two warps fill up the second one. Scores, weights and results fit in half of the columns without sharing any.

// CHECK-LABEL: nv_tileaa.func @attention(
// CHECK-SAME: nv_tileas.dot_plan<groups = [1, 1], columns = 64, stages = 8, scratch = {{[0-9]+}}, launch_registers = 128, agents = [<"consumers", warps = 4, registers = 184>, <"producer", warps = 1, registers = 72>, <"matrix", warps = 1, registers = 72>, <"spare", warps = 2, registers = 72>], unit = tensor with whole_rows = true with issue_ahead = true>
!q = !nv_tileaa.tiled_view<tile = [128, 64], memref<?x64xf16, strides = [64, 1]>, padding = zero>
!k = !nv_tileaa.tiled_view<tile = [64, 64], memref<?x64xf16, strides = [64, 1]>, padding = zero>
!o = !nv_tileaa.tiled_view<tile = [128, 64], memref<128x64xf32, strides = [64, 1]>>
nv_tileaa.func @attention(%p0: !nv_tileaa.ptr<f16>, %r: !nv_tileaa.ptr<f32>, %n: i32, %m0: i32) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f16>
  %m = nv_tileaa.make_memref %p, shape = [%m0 : i32], strides = [] : <f16> -> <?x64xf16, strides = [64, 1]>
  %vq = nv_tileaa.make_tiled_view %m : <?x64xf16, strides = [64, 1]> -> !q
  %vk = nv_tileaa.make_tiled_view %m : <?x64xf16, strides = [64, 1]> -> !k
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<128x64xf32>
  %low = arith.constant dense<-1.0e30> : tensor<128x1xf32>
  %q, %t0 = nv_tileaa.tiled_load <weak> %vq[%c0, %c0] : !q[i32, i32] -> tensor<128x64xf16>
  %sum:2 = scf.for %i = %c0 to %n step %c1 iter_args(%top = %low, %acc = %zero) -> (tensor<128x1xf32>, tensor<128x64xf32>) : i32 {
    %k, %t1 = nv_tileaa.tiled_load <weak> %vk[%i, %c0] : !k[i32, i32] -> tensor<64x64xf16>
    %s = nv_tileaa.dot %q, %k, %zero : tensor<128x64xf16>, tensor<64x64xf16>, tensor<128x64xf32>
    %most = nv_tileaa.reduce %s dim 1 identities [0xFF800000 : f32] : tensor<128x64xf32> -> tensor<128xf32> {
    ^bb0(%a: f32, %b: f32):
      %y = arith.maximumf %a, %b : f32
      nv_tileaa.yield %y : f32
    }
    %column = nv_tileaa.view %most : tensor<128xf32> -> tensor<128x1xf32>
    %next = arith.maximumf %top, %column : tensor<128x1xf32>
    %all = nv_tileaa.broadcast %next : tensor<128x1xf32> -> tensor<128x64xf32>
    %below = arith.subf %s, %all : tensor<128x64xf32>
    %e = math.exp2 %below : tensor<128x64xf32>
    %grown = arith.subf %top, %next : tensor<128x1xf32>
    %shrink = math.exp2 %grown : tensor<128x1xf32>
    %w = arith.truncf %e : tensor<128x64xf32> to tensor<128x64xf16>
    %v, %t2 = nv_tileaa.tiled_load <weak> %vk[%i, %c1] : !k[i32, i32] -> tensor<64x64xf16>
    %spread = nv_tileaa.broadcast %shrink : tensor<128x1xf32> -> tensor<128x64xf32>
    %kept = arith.mulf %acc, %spread : tensor<128x64xf32>
    %d = nv_tileaa.dot %w, %v, %kept : tensor<128x64xf16>, tensor<64x64xf16>, tensor<128x64xf32>
    scf.yield %next, %d : tensor<128x1xf32>, tensor<128x64xf32>
  }
  %to = nv_tileaa.make_memref %r, shape = [], strides = [] : <f32> -> <128x64xf32, strides = [64, 1]>
  %x = nv_tileaa.make_tiled_view %to : <128x64xf32, strides = [64, 1]> -> !o
  %t3 = nv_tileaa.tiled_store <weak> %sum#1, %x[%c0, %c0] : tensor<128x64xf32>, !o[i32, i32]
  nv_tileaa.return
}
