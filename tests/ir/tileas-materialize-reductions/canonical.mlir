// Reductions and scans in the canonical order combine bits 0 and 1 of the last dimension first, then the highest bits.
// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileas-materialize-reductions)' | FileCheck %s

#row = #nv_tileas.layout<register = [1, 2, 512], lane = [4, 8, 16, 32, 64], warp = [128, 256]>
#none = #nv_tileas.layout<register = [], lane = [0, 0, 0, 0, 0], warp = [0, 0]>
#fragment = #nv_tileas.layout<register = [1, 8], lane = [2, 4, 16, 32, 64], warp = [128, 256]>
#rows = #nv_tileas.layout<register = [], lane = [0, 0, 1, 2, 4], warp = [8, 16]>

// Bits 0, 1 and 9 in each thread. The other bits go through shared memory to registers, from the highest, and to lanes.
// CHECK-LABEL: @across(
// CHECK: %[[P:.*]] = nv_tileas.reduce %arg0 dim 1 kept 508 identities [0.000000e+00 : f32] {nv_tileaa.canonical = 2 : i64}
// CHECK: %[[M:.*]] = nv_tileas.alloc_tensor
// CHECK-NEXT: nv_tileas.local_store %[[P]], %[[M]]
// CHECK-NEXT: nv_tileas.barrier
// CHECK-NEXT: %[[Q:.*]] = nv_tileas.local_load %[[M]]
// CHECK-SAME: -> tensor<1x128xf32, #nv_tileas.layout<register = [16, 32, 64], lane = [1, 2, 4, 8, 0], warp = [0, 0]>>
// CHECK-NEXT: nv_tileas.reduce %[[Q]] dim 1 identities [0.000000e+00 : f32] {nv_tileaa.canonical = 0 : i64}
nv_tileaa.func @across(%x: tensor<1x1024xf32, #row>) attributes {numWarps = 4 : i64} {
  %a = nv_tileas.reduce %x dim 1 identities [0.0 : f32] {nv_tileaa.canonical = 2 : i64} : tensor<1x1024xf32, #row> -> tensor<1xf32, #none> {
  ^bb0(%p: f32, %q: f32):
    %s = arith.addf %p, %q : f32
    nv_tileas.yield %s : f32
  }
  nv_tileaa.return
}

// A warp has whole rows of a matrix fragment.
// CHECK-LABEL: @within(
// CHECK-NEXT: nv_tileas.reduce %arg0 dim 1 identities [0.000000e+00 : f32] {nv_tileaa.canonical = 2 : i64}
// CHECK-NOT: alloc_tensor
// CHECK: nv_tileaa.return
nv_tileaa.func @within(%x: tensor<32x16xf32, #fragment>) attributes {numWarps = 4 : i64} {
  %a = nv_tileas.reduce %x dim 1 identities [0.0 : f32] {nv_tileaa.canonical = 2 : i64} : tensor<32x16xf32, #fragment> -> tensor<32xf32, #rows> {
  ^bb0(%p: f32, %q: f32):
    %s = arith.addf %p, %q : f32
    nv_tileas.yield %s : f32
  }
  nv_tileaa.return
}
