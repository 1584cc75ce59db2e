// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileaa-slice-epilogues)' | FileCheck %s
// If threads hold whole rows of an accumulator, only the stores of results are divided into slices of columns.

#plan = #nv_tileas.dot_plan<groups = [1, 1], columns = 128, stages = 4, scratch = 16384, launch_registers = 128,
  agents = [<"consumers", warps = 4>, <"producer", warps = 1>, <"matrix", warps = 1>], unit = tensor in 4 slices with whole_rows = true>
!tiles = !nv_tileaa.tiled_view<tile = [1, 128, 128], memref<?x?x128xf16, strides = [?, 128, 1]>>
!sums = !nv_tileaa.tiled_view<tile = [128], memref<?xf32, strides = [1]>>

// CHECK-LABEL: nv_tileaa.func @result(
// CHECK: %[[PARTS:.*]] = nv_tileaa.make_tiled_view {{.*}} -> <tile = [1, 128, 32], memref<?x?x128xf16
// CHECK: %[[R:.*]] = arith.truncf
// CHECK: %[[S0:.*]] = nv_tileaa.extract_slice %[[R]][%{{.*}}, %{{.*}}, %{{.*}}] : tensor<1x128x128xf16> -> tensor<1x128x32xf16>
// CHECK: %[[T0:.*]] = nv_tileaa.tiled_store <weak> %[[S0]], %[[PARTS]][%{{.*}}, %{{.*}}, %{{.*}}]
// CHECK: %[[T1:.*]] = nv_tileaa.tiled_store <weak> %{{.*}}, %[[PARTS]]
// CHECK: %[[T2:.*]] = nv_tileaa.tiled_store <weak> %{{.*}}, %[[PARTS]]
// CHECK: %[[T3:.*]] = nv_tileaa.tiled_store <weak> %{{.*}}, %[[PARTS]]
// CHECK: %[[T:.*]] = nv_tileaa.join_mem_token %[[T0]], %[[T1]], %[[T2]], %[[T3]]
// A vector is stored at once.
// CHECK: nv_tileaa.tiled_store <weak> %{{.*}} token %[[T]] : tensor<128xf32>
nv_tileaa.func @result(%q: !nv_tileaa.ptr<f16>, %s: !nv_tileaa.ptr<f32>, %m0: i32, %m1: i32, %m2: i32, %i: i32, %x: tensor<128x128xf32>, %y: tensor<128xf32>) attributes {nv_tileas.dot_plan = #plan} {
  %o = nv_tileaa.make_memref %q, shape = [%m0, %m1 : i32, i32], strides = [%m2 : i32] : <f16> -> <?x?x128xf16, strides = [?, 128, 1]>
  %c = nv_tileaa.make_tiled_view %o : <?x?x128xf16, strides = [?, 128, 1]> -> !tiles
  %p = nv_tileaa.make_memref %s, shape = [%m0 : i32], strides = [] : <f32> -> <?xf32, strides = [1]>
  %w = nv_tileaa.make_tiled_view %p : <?xf32, strides = [1]> -> !sums
  %c0 = arith.constant 0 : i32
  %v = nv_tileaa.view %x : tensor<128x128xf32> -> tensor<1x128x128xf32>
  %r = arith.truncf %v : tensor<1x128x128xf32> to tensor<1x128x128xf16>
  %t = nv_tileaa.tiled_store <weak> %r, %c[%i, %i, %c0] : tensor<1x128x128xf16>, !tiles[i32, i32, i32]
  %u = nv_tileaa.tiled_store <weak> %y, %w[%i] token %t : tensor<128xf32>, !sums[i32]
  nv_tileaa.return
}
