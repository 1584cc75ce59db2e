// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileas-materialize-reductions)' | FileCheck %s

#row = #nv_tileas.layout<register = [1, 2], lane = [4, 8, 16, 32, 64], warp = [128, 256]>
#none = #nv_tileas.layout<register = [], lane = [0, 0, 0, 0, 0], warp = [0, 0]>
#warps = #nv_tileas.layout<register = [], lane = [1, 2, 4, 8, 16], warp = [32, 64, 128, 256, 512]>
#mixed = #nv_tileas.layout<register = [1, 2], lane = [4, 8, 16, 32, 192], warp = [128, 256]>

// Each warp stores its part of a row, and every thread loads all four parts.
// CHECK-LABEL: @across(
// CHECK: %[[P:.*]] = nv_tileas.reduce %arg0 dim 1 kept 384 identities [0.000000e+00 : f32]
// CHECK-SAME: -> tensor<1x4xf32, #nv_tileas.layout<register = [], lane = [0, 0, 0, 0, 0], warp = [1, 2]>> {
// CHECK: arith.addf
// CHECK: %[[M:.*]] = nv_tileas.alloc_tensor
// CHECK-NEXT: nv_tileas.local_store %[[P]], %[[M]]
// CHECK-NEXT: nv_tileas.barrier
// CHECK-NEXT: %[[Q:.*]] = nv_tileas.local_load %[[M]] vector 4 :
// CHECK-SAME: -> tensor<1x4xf32, #nv_tileas.layout<register = [1, 2], lane = [0, 0, 0, 0, 0], warp = [0, 0]>>
// CHECK-NEXT: nv_tileas.reduce %[[Q]] dim 1 identities
// CHECK-SAME: -> tensor<1xf32, #nv_tileas.layout<register = [], lane = [0, 0, 0, 0, 0], warp = [0, 0]>> {
// CHECK: arith.addf
// At the next exchange, warps may still be reading.
// CHECK: nv_tileas.reduce %arg0, %arg0 dim 1 kept 384
// CHECK: %[[A:.*]] = nv_tileas.alloc_tensor
// CHECK: %[[B:.*]] = nv_tileas.alloc_tensor
// CHECK-NEXT: nv_tileas.barrier
// CHECK-NEXT: nv_tileas.local_store %{{.*}}#0, %[[A]]
// CHECK-NEXT: nv_tileas.local_store %{{.*}}#1, %[[B]]
// CHECK-NEXT: nv_tileas.barrier
// CHECK-NEXT: nv_tileas.local_load %[[A]]
// CHECK-NEXT: nv_tileas.local_load %[[B]]
// CHECK-NEXT: nv_tileas.reduce
nv_tileaa.func @across(%x: tensor<1x512xf32, #row>) attributes {numWarps = 4 : i64} {
  %a = nv_tileas.reduce %x dim 1 identities [0.0 : f32] : tensor<1x512xf32, #row> -> tensor<1xf32, #none> {
  ^bb0(%p: f32, %q: f32):
    %s = arith.addf %p, %q : f32
    nv_tileas.yield %s : f32
  }
  %b:2 = nv_tileas.reduce %x, %x dim 1 identities [0.0 : f32, 0.0 : f32] : tensor<1x512xf32, #row>, tensor<1x512xf32, #row> -> tensor<1xf32, #none>, tensor<1xf32, #none> {
  ^bb0(%p: f32, %q: f32, %r: f32, %t: f32):
    nv_tileas.yield %p, %r : f32, f32
  }
  nv_tileaa.return
}

// 32 warps: a thread combines eight of their results, and lanes combine the rest.
// CHECK-LABEL: @many(
// CHECK: nv_tileas.local_load %{{.*}} -> tensor<32xi32, #nv_tileas.layout<register = [1, 2, 4], lane = [16, 8, 0, 0, 0], warp = [0, 0, 0, 0, 0]>>
// CHECK: nv_tileas.reduce %{{.*}} dim 0 {{.*}} -> i32 {
nv_tileaa.func @many(%x: tensor<1024xi32, #warps>) attributes {numWarps = 32 : i64} {
  %a = nv_tileas.reduce %x dim 0 identities [0 : i32] : tensor<1024xi32, #warps> -> i32 {
  ^bb0(%p: i32, %q: i32):
    %s = arith.addi %p, %q : i32
    nv_tileas.yield %s : i32
  }
  nv_tileaa.return
}

// Reductions within a warp are unchanged.
// CHECK-LABEL: @within(
// CHECK-NEXT: nv_tileas.reduce %arg0 dim 1 identities [0.000000e+00 : f32] : tensor<4x128xf32
// CHECK-NOT: nv_tileas.barrier
// CHECK: nv_tileaa.return
nv_tileaa.func @within(%x: tensor<4x128xf32, #row>) attributes {numWarps = 4 : i64} {
  %a = nv_tileas.reduce %x dim 1 identities [0.0 : f32] : tensor<4x128xf32, #row> -> tensor<4xf32, #nv_tileas.layout<register = [], lane = [0, 0, 0, 0, 0], warp = [1, 2]>> {
  ^bb0(%p: f32, %q: f32):
    %s = arith.addf %p, %q : f32
    nv_tileas.yield %s : f32
  }
  nv_tileaa.return
}

// In a loop, the storage is used again.
// CHECK-LABEL: @loop(
// CHECK: scf.for
// CHECK: nv_tileas.barrier
// CHECK-NEXT: nv_tileas.local_store
// CHECK-NEXT: nv_tileas.barrier
nv_tileaa.func @loop(%x: tensor<1x512xf32, #row>, %n: i32) attributes {numWarps = 4 : i64} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %i = %c0 to %n step %c1 : i32 {
    %a = nv_tileas.reduce %x dim 1 identities [0.0 : f32] : tensor<1x512xf32, #row> -> tensor<1xf32, #none> {
    ^bb0(%p: f32, %q: f32):
      %s = arith.addf %p, %q : f32
      nv_tileas.yield %s : f32
    }
  }
  nv_tileaa.return
}

// A lane bit that is along both dimensions: the operand is converted to the default layout, and the result back.
// CHECK-LABEL: @convert(
// CHECK: %[[C:.*]] = nv_tileas.convert_layout %arg0 : {{.*}} -> tensor<4x128xf32, [[D:#nv_tileas.layout<register = .1, 2., lane = .4, 8, 16, 128, 256., warp = .32, 64.>]]>
// CHECK: nv_tileas.reduce %[[C]] dim 1 kept 96 identities [0.000000e+00 : f32] : tensor<4x128xf32, [[D]]>
// CHECK: nv_tileas.local_store
// CHECK: %[[R:.*]] = nv_tileas.reduce %{{.*}} dim 1 identities
// CHECK: nv_tileas.convert_layout %[[R]] : {{.*}} -> tensor<4xf32, #nv_tileas.layout<register = [], lane = [0, 0, 0, 0, 1], warp = [1, 2]>>
nv_tileaa.func @convert(%x: tensor<4x128xf32, #mixed>) attributes {numWarps = 4 : i64} {
  %a = nv_tileas.reduce %x dim 1 identities [0.0 : f32] : tensor<4x128xf32, #mixed> -> tensor<4xf32, #nv_tileas.layout<register = [], lane = [0, 0, 0, 0, 1], warp = [1, 2]>> {
  ^bb0(%p: f32, %q: f32):
    %s = arith.addf %p, %q : f32
    nv_tileas.yield %s : f32
  }
  nv_tileaa.return
}
