// RUN: tileiras-opt %s --pass-pipeline='builtin.module(convert-tileaa-to-tileas)' | FileCheck %s
// RUN: tileiras-opt %s --pass-pipeline='builtin.module(convert-tileaa-to-tileas{num-warps=1})' | FileCheck %s --check-prefix=ONE

// By default, a tensor is laid out row by row: up to four elements per thread, and lanes along the last dimension.
// ONE-LABEL: @elementwise
// ONE-SAME: numWarps = 1
// ONE: make_range : tensor<1024xi32, #nv_tileas.layout<register = [1, 2, 128, 256, 512], lane = [4, 8, 16, 32, 64], warp = []>>
// ONE-LABEL: @own_warps
// ONE-SAME: numWarps = 8

// CHECK-LABEL: nv_tileaa.func @elementwise(
// CHECK-SAME: attributes {numWarps = 4 : i64}
// CHECK: %[[R:.*]] = nv_tileas.make_range : tensor<1024xi32, [[L:#nv_tileas.layout<register = .1, 2, 512., lane = .4, 8, 16, 32, 64., warp = .128, 256.>]]>
// CHECK: %[[C:.*]] = arith.constant dense<3> : tensor<1024xi32, [[L]]>
// CHECK: arith.addi %[[R]], %[[C]] : tensor<1024xi32, [[L]]>
// CHECK: arith.sitofp %{{.*}} : tensor<1024xi32, [[L]]> to tensor<1024xf32, [[L]]>
// CHECK: nv_tileas.splat %arg0 : f32 -> tensor<1024xf32, [[L]]>
// CHECK: arith.mulf
nv_tileaa.func @elementwise(%x: f32) {
  %r = nv_tileaa.make_range : tensor<1024xi32>
  %c = arith.constant dense<3> : tensor<1024xi32>
  %s = arith.addi %r, %c : tensor<1024xi32>
  %f = arith.sitofp %s : tensor<1024xi32> to tensor<1024xf32>
  %y = nv_tileaa.splat %x : f32 -> tensor<1024xf32>
  %z = arith.mulf %f, %y : tensor<1024xf32>
  nv_tileaa.return
}
// If there are fewer elements than threads, lane and warp bits without an element select replicas.
// CHECK-LABEL: nv_tileaa.func @small(
// CHECK: nv_tileas.make_range : tensor<16xi32, #nv_tileas.layout<register = [], lane = [1, 2, 4, 8, 0], warp = [0, 0]>>
nv_tileaa.func @small() {
  %r = nv_tileaa.make_range : tensor<16xi32>
  nv_tileaa.return
}
// The result of a permutation has the default layout; a conversion changes the source to the matching layout.
// CHECK-LABEL: nv_tileaa.func @permute(
// CHECK: nv_tileas.convert_layout
// CHECK: nv_tileas.view
// CHECK: %[[C:.*]] = nv_tileas.convert_layout %{{.*}} -> tensor<32x64xi32, [[S:#nv_tileas.layout<register = .64, 128, 16, 32., lane = .256, 512, 1024, 1, 2., warp = .4, 8.>]]>
// CHECK: nv_tileas.permute %[[C]] [1, 0] : tensor<32x64xi32, [[S]]> -> tensor<64x32xi32, #nv_tileas.layout<register = [1, 2, 512, 1024], lane = [4, 8, 16, 32, 64], warp = [128, 256]>>
nv_tileaa.func @permute() {
  %r = nv_tileaa.make_range : tensor<2048xi32>
  %v = nv_tileaa.view %r : tensor<2048xi32> -> tensor<32x64xi32>
  %p = nv_tileaa.permute %v [1, 0] : tensor<32x64xi32> -> tensor<64x32xi32>
  nv_tileaa.return
}
// The layout of a broadcast's source is the projection of the result's layout: a thread has all columns of its row.
// CHECK-LABEL: nv_tileaa.func @broadcast(
// CHECK: %[[C:.*]] = nv_tileas.convert_layout %{{.*}} -> tensor<32x1xi32, #nv_tileas.layout<register = [0, 0], lane = [0, 0, 1, 2, 4], warp = [8, 16]>>
// CHECK: nv_tileas.broadcast %[[C]] : {{.*}} -> tensor<32x16xi32, #nv_tileas.layout<register = [1, 2], lane = [4, 8, 16, 32, 64], warp = [128, 256]>>
nv_tileaa.func @broadcast() {
  %r = nv_tileaa.make_range : tensor<32xi32>
  %v = nv_tileaa.view %r : tensor<32xi32> -> tensor<32x1xi32>
  %b = nv_tileaa.broadcast %v : tensor<32x1xi32> -> tensor<32x16xi32>
  nv_tileaa.return
}
// Loop-carried values get the types of their initial values.
// CHECK-LABEL: nv_tileaa.func @loop(
// CHECK: scf.for {{.*}} iter_args(%[[A:.*]] = %{{.*}}) -> (tensor<1024xf32, [[L:#nv_tileas.layout<.*>]]>)
// CHECK: %[[S:.*]] = arith.addf %[[A]], %[[A]] : tensor<1024xf32, [[L]]>
// CHECK: scf.yield %[[S]] : tensor<1024xf32, [[L]]>
nv_tileaa.func @loop(%n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %z = arith.constant dense<0.0> : tensor<1024xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %z) -> (tensor<1024xf32>) : i32 {
    %s = arith.addf %a, %a : tensor<1024xf32>
    scf.yield %s : tensor<1024xf32>
  }
  nv_tileaa.return
}
// The function's number of warps has priority over the option.
// CHECK-LABEL: nv_tileaa.func @own_warps(
// CHECK-SAME: numWarps = 8
// CHECK: nv_tileas.make_range : tensor<1024xi32, #nv_tileas.layout<register = [1, 2], lane = [4, 8, 16, 32, 64], warp = [128, 256, 512]>>
nv_tileaa.func @own_warps() attributes {numWarps = 8 : i64} {
  %r = nv_tileaa.make_range : tensor<1024xi32>

  nv_tileaa.return
}
