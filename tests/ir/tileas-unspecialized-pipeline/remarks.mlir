// RUN: tileiras-opt %s --split-input-file --remarks --verify-diagnostics --pass-pipeline='builtin.module(convert-tileaa-to-tileas{num-warps=4},tileas-assign-dot-layouts{compute-capability=sm_80},tileas-assign-load-store-layouts,tileas-remove-layout-conversions,tileas-unspecialized-pipeline{compute-capability=sm_80})'

// Three stages fill shared memory, but four are allowed.
!out = !nv_tileaa.tiled_view<tile = [64, 64], memref<64x64xf32, strides = [64, 1]>>
!view = !nv_tileaa.tiled_view<tile = [64, 64], memref<?x256xf16, strides = [256, 1]>, padding = zero>
nv_tileaa.func @fewer(%p0: !nv_tileaa.ptr<f16>, %n: i32, %m0: i32, %o0: !nv_tileaa.ptr<f32>) {
  %o1 = nv_tileaa.assume #cuda_tile.div_by<16>, %o0 : !nv_tileaa.ptr<f32>
  %o2 = nv_tileaa.make_memref %o1, shape = [], strides = [] : <f32> -> <64x64xf32, strides = [64, 1]>
  %o = nv_tileaa.make_tiled_view %o2 : <64x64xf32, strides = [64, 1]> -> !out
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f16>
  %m = nv_tileaa.make_memref %p, shape = [%m0 : i32], strides = [] : <f16> -> <?x256xf16, strides = [256, 1]>
  %v = nv_tileaa.make_tiled_view %m : <?x256xf16, strides = [256, 1]> -> !view
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  // expected-remark @below {{FewerStages: 3 stages instead of 4: each takes 16384 of 49152 bytes of shared memory; take smaller tiles}}
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i32 {
    %a, %t1 = nv_tileaa.tiled_load <weak> %v[%c0, %k] : !view[i32, i32] -> tensor<64x64xf16>
    %b, %t2 = nv_tileaa.tiled_load <weak> %v[%k, %c0] : !view[i32, i32] -> tensor<64x64xf16>
    %d = nv_tileaa.dot %a, %b, %acc : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  // expected-remark @+1 {{NarrowAccess: 8 bytes at a time instead of 16: the tile has the layout that a heavier access needs}}
  %done = nv_tileaa.tiled_store <weak> %sum, %o[%c0, %c0] : tensor<64x64xf32>, !out[i32, i32]
  nv_tileaa.return
}
// -----
// Reasons why a load stays in its iteration.
!out = !nv_tileaa.tiled_view<tile = [32, 32], memref<32x32xf32, strides = [32, 1]>>
!view = !nv_tileaa.tiled_view<tile = [32, 32], memref<?x256xf16, strides = [256, 1]>, padding = zero>
!nans = !nv_tileaa.tiled_view<tile = [32, 32], memref<?x256xf16, strides = [256, 1]>, padding = nan>
nv_tileaa.func @stays(%p0: !nv_tileaa.ptr<f16>, %q: !nv_tileaa.ptr<f16>, %n: i32, %m0: i32, %o0: !nv_tileaa.ptr<f32>) {
  %o1 = nv_tileaa.assume #cuda_tile.div_by<16>, %o0 : !nv_tileaa.ptr<f32>
  %o2 = nv_tileaa.make_memref %o1, shape = [], strides = [] : <f32> -> <32x32xf32, strides = [32, 1]>
  %o = nv_tileaa.make_tiled_view %o2 : <32x32xf32, strides = [32, 1]> -> !out
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f16>
  %m = nv_tileaa.make_memref %p, shape = [%m0 : i32], strides = [] : <f16> -> <?x256xf16, strides = [256, 1]>
  %v = nv_tileaa.make_tiled_view %m : <?x256xf16, strides = [256, 1]> -> !view
  %w = nv_tileaa.make_tiled_view %m : <?x256xf16, strides = [256, 1]> -> !nans
  // The base is aligned to one element only.
  %mq = nv_tileaa.make_memref %q, shape = [%m0 : i32], strides = [] : <f16> -> <?x256xf16, strides = [256, 1]>
  %u = nv_tileaa.make_tiled_view %mq : <?x256xf16, strides = [256, 1]> -> !view
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<32x32xf32>
  %r:2 = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero, %at = %c0) -> (tensor<32x32xf32>, i32) : i32 {
    // expected-remark @+1 {{NotPipelined: the load is not started ahead of its iteration: asynchronous copies can only pad with zeros; pad with zeros}}
    %a, %t1 = nv_tileaa.tiled_load <weak> %w[%c0, %k] : !nans[i32, i32] -> tensor<32x32xf16>
    // expected-remark @+1 {{its address depends on loop-carried values or on more than a few loaded integers; compute it from the induction variable}}
    %b, %t2 = nv_tileaa.tiled_load <weak> %v[%at, %c0] : !view[i32, i32] -> tensor<32x32xf16>
    %d = nv_tileaa.dot %a, %b, %acc : tensor<32x32xf16>, tensor<32x32xf16>, tensor<32x32xf32>
    // expected-remark @+2 {{NarrowAccess}}
    // expected-remark @+1 {{asynchronous copies move at least 4 bytes, but its vectors have only 2; promise alignment and strides with assume div_by}}
    %e, %t3 = nv_tileaa.tiled_load <weak> %u[%c0, %k] : !view[i32, i32] -> tensor<32x32xf16>
    // expected-remark @+1 {{it is ordered with accesses of other threads; make it weak}}
    %f, %t4 = nv_tileaa.tiled_load <relaxed> scope <device> %v[%k, %c0] : !view[i32, i32] -> tensor<32x32xf16>
    %g = nv_tileaa.dot %e, %f, %d : tensor<32x32xf16>, tensor<32x32xf16>, tensor<32x32xf32>
    %next = arith.addi %at, %c1 : i32
    scf.yield %g, %next : tensor<32x32xf32>, i32
  }
  // expected-remark @+1 {{NarrowAccess: 8 bytes at a time instead of 16: the tile has the layout that a heavier access needs}}
  %done = nv_tileaa.tiled_store <weak> %r#0, %o[%c0, %c0] : tensor<32x32xf32>, !out[i32, i32]
  nv_tileaa.return
}
// -----
// One stage is more than half of shared memory.
!out = !nv_tileaa.tiled_view<tile = [128, 128], memref<128x128xf32, strides = [128, 1]>>
!view = !nv_tileaa.tiled_view<tile = [128, 128], memref<?x256xf16, strides = [256, 1]>, padding = zero>
nv_tileaa.func @none(%p0: !nv_tileaa.ptr<f16>, %n: i32, %m0: i32, %o0: !nv_tileaa.ptr<f32>) {
  %o1 = nv_tileaa.assume #cuda_tile.div_by<16>, %o0 : !nv_tileaa.ptr<f32>
  %o2 = nv_tileaa.make_memref %o1, shape = [], strides = [] : <f32> -> <128x128xf32, strides = [128, 1]>
  %o = nv_tileaa.make_tiled_view %o2 : <128x128xf32, strides = [128, 1]> -> !out
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f16>
  %m = nv_tileaa.make_memref %p, shape = [%m0 : i32], strides = [] : <f16> -> <?x256xf16, strides = [256, 1]>
  %v = nv_tileaa.make_tiled_view %m : <?x256xf16, strides = [256, 1]> -> !view
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  // expected-remark @below {{NotPipelined: no load is started ahead: a stage takes 65536 of 49152 bytes of shared memory; take smaller tiles}}
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<128x128xf32>) : i32 {
    %a, %t1 = nv_tileaa.tiled_load <weak> %v[%c0, %k] : !view[i32, i32] -> tensor<128x128xf16>
    %b, %t2 = nv_tileaa.tiled_load <weak> %v[%k, %c0] : !view[i32, i32] -> tensor<128x128xf16>
    %d = nv_tileaa.dot %a, %b, %acc : tensor<128x128xf16>, tensor<128x128xf16>, tensor<128x128xf32>
    scf.yield %d : tensor<128x128xf32>
  }
  // expected-remark @+1 {{NarrowAccess: 8 bytes at a time instead of 16: the tile has the layout that a heavier access needs}}
  %done = nv_tileaa.tiled_store <weak> %sum, %o[%c0, %c0] : tensor<128x128xf32>, !out[i32, i32]
  nv_tileaa.return
}
