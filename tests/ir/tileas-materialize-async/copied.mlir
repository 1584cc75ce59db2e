// RUN: tileiras-opt %s --split-input-file --pass-pipeline='builtin.module(tileaa-plan-dots{compute-capability=sm_90},tileaa-outline-producers,convert-tileaa-to-tileas{compute-capability=sm_90},tileas-assign-dot-layouts{compute-capability=sm_90},tileas-assign-load-store-layouts{compute-capability=sm_90},tileas-remove-layout-conversions,tileas-materialize-async,tileas-specialize-agents,tileas-prefetch-tiles)' | FileCheck %s
// Producer warps copy what they only load directly to the stage: a thread arrives when its copies are complete, and
// the consumer fences after the wait. The addresses are computed before the stage is free; nothing is loaded ahead.

// 128 threads that copy, and one arrival for the bytes of the TMA load.
// CHECK-LABEL: nv_tileaa.func @gathered(
// CHECK: create_pipeline {{.*}} phases [full = 129, empty = 8] :
// CHECK: agent_switch agents [<"consumers", warps = 8, {{.*}}>, <"producer", warps = 4, {{.*}}>]
// CHECK: %[[C:.*]] = nv_tileas.async.pipeline.consumer_wait
// CHECK-NEXT: nv_tileas.async.fence
// CHECK: nv_tileas.async.dot
// CHECK: }, {
// CHECK: nv_tileas.load <weak> {{.*}} -> tensor<128xi32,
// CHECK: scf.for %{{.*}} iter_args(%[[IT:[a-z0-9_]+]] = %{{[a-z0-9_]+}}) ->
// CHECK-NOT: nv_tileas.load
// CHECK: nv_tileas.async.elect {
// CHECK: producer_acquire %[[P:.*]][%[[IT]]] bytes 16384
// CHECK: %[[AT:.*]] = nv_tileaa.addptr
// CHECK: producer_acquire %[[P]][%[[IT]]] :
// CHECK-NEXT: %[[S:.*]] = nv_tileas.async.pipeline.stage %[[IT]]
// CHECK-NEXT: %[[X:.*]] = nv_tileas.memdesc_slot %{{.*}}[%[[S]]]
// CHECK: nv_tileas.async.load %[[AT]] into %[[X]] vector 8 along 1 :
// CHECK-NEXT: producer_commit %[[P]][%[[IT]]] copies
// CHECK-NEXT: inc_iter
// CHECK-NOT: nv_tileas.local_store
// CHECK: nv_tileaa.return
!view = !nv_tileaa.tiled_view<tile = [64, 128], memref<?x256xf16, strides = [256, 1]>, padding = zero>
nv_tileaa.func @gathered(%p0: !nv_tileaa.ptr<f16>, %q: !nv_tileaa.ptr<i32>, %n: i32) {
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f16>
  %m = nv_tileaa.make_memref %p, shape = [%n : i32], strides = [] : <f16> -> <?x256xf16, strides = [256, 1]>
  %v = nv_tileaa.make_tiled_view %m : <?x256xf16, strides = [256, 1]> -> !view
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %width = arith.constant dense<1024> : tensor<128x64xi32>
  %slots = nv_tileaa.make_range : tensor<128xi32>
  %list = nv_tileaa.splat %q : !nv_tileaa.ptr<i32> -> tensor<128x!nv_tileaa.ptr<i32>>
  %at = nv_tileaa.addptr %list, %slots : tensor<128x!nv_tileaa.ptr<i32>>, tensor<128xi32>
  %rows, %t0 = nv_tileaa.load <weak> %at : tensor<128x!nv_tileaa.ptr<i32>> -> tensor<128xi32>
  %column = nv_tileaa.view %rows : tensor<128xi32> -> tensor<128x1xi32>
  %all = nv_tileaa.broadcast %column : tensor<128x1xi32> -> tensor<128x64xi32>
  %start = arith.muli %all, %width : tensor<128x64xi32>
  %base = nv_tileaa.splat %p : !nv_tileaa.ptr<f16> -> tensor<128x64x!nv_tileaa.ptr<f16>>
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<128x128xf32>) : i32 {
    %depth = arith.muli %k, %c64 : i32
    %ds = nv_tileaa.splat %depth : i32 -> tensor<64xi32>
    %d0 = nv_tileaa.make_range : tensor<64xi32>
    %d1 = arith.addi %d0, %ds : tensor<64xi32>
    %d2 = nv_tileaa.view %d1 : tensor<64xi32> -> tensor<1x64xi32>
    %d3 = nv_tileaa.broadcast %d2 : tensor<1x64xi32> -> tensor<128x64xi32>
    %offset = arith.addi %start, %d3 : tensor<128x64xi32>
    %address = nv_tileaa.addptr %base, %offset : tensor<128x64x!nv_tileaa.ptr<f16>>, tensor<128x64xi32>
    %a, %t1 = nv_tileaa.load <weak> %address : tensor<128x64x!nv_tileaa.ptr<f16>> -> tensor<128x64xf16>
    %b, %t2 = nv_tileaa.tiled_load <weak> %v[%k, %c0] : !view[i32, i32] -> tensor<64x128xf16>
    %d = nv_tileaa.dot %a, %b, %acc : tensor<128x64xf16>, tensor<64x128xf16>, tensor<128x128xf32>
    scf.yield %d : tensor<128x128xf32>
  }
  nv_tileaa.return
}
// -----
// Rows of a view that start at multiples of 8 bytes cannot be loaded by TMA, but by 8-byte copies. Computed elements
// go through registers, and both kinds signal their completion.
// CHECK-LABEL: nv_tileaa.func @both(
// CHECK: create_pipeline {{.*}} phases [full = 132, empty = {{[0-9]+}}] :
// CHECK: }, {
// CHECK: scf.for
// CHECK: %[[Y:.*]] = arith.mulf
// CHECK: producer_acquire
// CHECK: nv_tileas.async.tiled_load {{.*}} vector 4 bounds <vector>
// CHECK: nv_tileas.local_store %[[Y]]
// CHECK-NEXT: producer_commit %[[P:.*]][%[[IT:.*]]] : <
// CHECK-NEXT: producer_commit %[[P]][%[[IT]]] copies : <
// CHECK: nv_tileaa.return
!narrow = !nv_tileaa.tiled_view<tile = [128, 64], memref<?x?xf16, strides = [196, 1]>, padding = zero>
!view = !nv_tileaa.tiled_view<tile = [64, 64], memref<?x256xf16, strides = [256, 1]>, padding = zero>
nv_tileaa.func @both(%p0: !nv_tileaa.ptr<f16>, %q0: !nv_tileaa.ptr<f16>, %n0: i32, %x: i32) {
  %zero = arith.constant dense<0.0> : tensor<128x64xf32>
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f16>
  %q = nv_tileaa.assume #cuda_tile.div_by<16>, %q0 : !nv_tileaa.ptr<f16>
  %n = nv_tileaa.assume #cuda_tile.div_by<4>, %n0 : i32
  %m = nv_tileaa.make_memref %p, shape = [%n, %n : i32, i32], strides = [] : <f16> -> <?x?xf16, strides = [196, 1]>
  %v = nv_tileaa.make_tiled_view %m : <?x?xf16, strides = [196, 1]> -> !narrow
  %m1 = nv_tileaa.make_memref %q, shape = [%n : i32], strides = [] : <f16> -> <?x256xf16, strides = [256, 1]>
  %w = nv_tileaa.make_tiled_view %m1 : <?x256xf16, strides = [256, 1]> -> !view
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<128x64xf32>) : i32 {
    %a, %t1 = nv_tileaa.tiled_load <weak> %v[%x, %k] : !narrow[i32, i32] -> tensor<128x64xf16>
    %b0, %t2 = nv_tileaa.tiled_load <weak> %w[%k, %c0] : !view[i32, i32] -> tensor<64x64xf16>
    %b1, %t3 = nv_tileaa.tiled_load <weak> %w[%k, %c1] : !view[i32, i32] -> tensor<64x64xf16>
    %b = arith.mulf %b0, %b1 : tensor<64x64xf16>
    %d = nv_tileaa.dot %a, %b, %acc : tensor<128x64xf16>, tensor<64x64xf16>, tensor<128x64xf32>
    scf.yield %d : tensor<128x64xf32>
  }
  nv_tileaa.return
}
// -----
// Single 2-byte elements cannot be copied asynchronously.
// CHECK-LABEL: nv_tileaa.func @single(
// CHECK: create_pipeline
// CHECK-NOT: async.tiled_load
// CHECK-NOT: copies
// CHECK: nv_tileas.local_store
// CHECK-NEXT: producer_commit
!narrow = !nv_tileaa.tiled_view<tile = [128, 64], memref<?x?xf16, strides = [193, 1]>, padding = zero>
!view = !nv_tileaa.tiled_view<tile = [64, 64], memref<?x256xf16, strides = [256, 1]>, padding = zero>
nv_tileaa.func @single(%p0: !nv_tileaa.ptr<f16>, %q0: !nv_tileaa.ptr<f16>, %n: i32, %x: i32) {
  %zero = arith.constant dense<0.0> : tensor<128x64xf32>
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f16>
  %q = nv_tileaa.assume #cuda_tile.div_by<16>, %q0 : !nv_tileaa.ptr<f16>
  %m = nv_tileaa.make_memref %p, shape = [%n, %n : i32, i32], strides = [] : <f16> -> <?x?xf16, strides = [193, 1]>
  %v = nv_tileaa.make_tiled_view %m : <?x?xf16, strides = [193, 1]> -> !narrow
  %m1 = nv_tileaa.make_memref %q, shape = [%n : i32], strides = [] : <f16> -> <?x256xf16, strides = [256, 1]>
  %w = nv_tileaa.make_tiled_view %m1 : <?x256xf16, strides = [256, 1]> -> !view
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<128x64xf32>) : i32 {
    %a, %t1 = nv_tileaa.tiled_load <weak> %v[%x, %k] : !narrow[i32, i32] -> tensor<128x64xf16>
    %b, %t2 = nv_tileaa.tiled_load <weak> %w[%k, %c0] : !view[i32, i32] -> tensor<64x64xf16>
    %d = nv_tileaa.dot %a, %b, %acc : tensor<128x64xf16>, tensor<64x64xf16>, tensor<128x64xf32>
    scf.yield %d : tensor<128x64xf32>
  }
  nv_tileaa.return
}
