// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileaa-slice-epilogues)' | FileCheck %s
// Code from accumulators to stores runs slice by slice, if the plan says so.

#plan = #nv_tileas.dot_plan<groups = [1, 2], columns = 256, stages = 4, scratch = 8192, launch_registers = 200,
  agents = [<"consumers", warps = 8>, <"producer", warps = 1>, <"matrix", warps = 1>], unit = tensor in 2 slices>
!rows = !nv_tileaa.tiled_view<tile = [128, 64], memref<?x256xf16, strides = [256, 1]>, padding = zero>
!columns = !nv_tileaa.tiled_view<tile = [64, 256], memref<?x256xf16, strides = [256, 1]>, padding = zero>
!tiles = !nv_tileaa.tiled_view<tile = [128, 256], memref<?x256xf32, strides = [256, 1]>>
!bias = !nv_tileaa.tiled_view<tile = [256], memref<?xf32, strides = [1]>>

// The bias is loaded in slices, and a factor for each row stays whole. A token stands for the stores of all slices.
// CHECK-LABEL: nv_tileaa.func @bias(
// CHECK: %[[HALVES:.*]] = nv_tileaa.make_tiled_view {{.*}} -> <tile = [128, 128], memref<?x256xf32
// CHECK: %[[PARTS:.*]] = nv_tileaa.make_tiled_view {{.*}} -> <tile = [128], memref<?xf32
// CHECK: %[[SUM:.*]] = scf.for
// CHECK: %[[S0:.*]] = nv_tileaa.extract_slice %[[SUM]][%{{.*}}, %{{.*}}] : tensor<128x256xf32> -> tensor<128x128xf32>
// CHECK: %[[I0:.*]] = arith.addi
// CHECK: %[[B0:.*]], %{{.*}} = nv_tileaa.tiled_load <weak> %[[PARTS]][%[[I0]]] : {{.*}} -> tensor<128xf32>
// CHECK: %[[L0:.*]] = nv_tileaa.view %[[B0]] : tensor<128xf32> -> tensor<1x128xf32>
// CHECK: %[[W0:.*]] = nv_tileaa.broadcast %[[L0]] : tensor<1x128xf32> -> tensor<128x128xf32>
// CHECK: arith.addf %[[S0]], %[[W0]] : tensor<128x128xf32>
// CHECK: nv_tileaa.broadcast %{{.*}} : tensor<128x1xf32> -> tensor<128x128xf32>
// CHECK: %[[T0:.*]] = nv_tileaa.tiled_store <weak> %{{.*}}, %[[HALVES]]
// CHECK: nv_tileaa.extract_slice %[[SUM]]
// CHECK: %[[T1:.*]] = nv_tileaa.tiled_store <weak> %{{.*}}, %[[HALVES]]
// CHECK-NOT: tensor<128x256xf32>
// CHECK: %[[T:.*]] = nv_tileaa.join_mem_token %[[T0]], %[[T1]]
// CHECK: nv_tileaa.tiled_store <weak> %{{.*}} token %[[T]]
nv_tileaa.func @bias(%v: !nv_tileaa.ptr<f16>, %q: !nv_tileaa.ptr<f32>, %n: i32, %m0: i32, %i: i32, %row: tensor<128x1xf32>, %old: tensor<128x256xf32>) attributes {nv_tileas.dot_plan = #plan} {
  %m = nv_tileaa.make_memref %v, shape = [%m0 : i32], strides = [] : <f16> -> <?x256xf16, strides = [256, 1]>
  %a = nv_tileaa.make_tiled_view %m : <?x256xf16, strides = [256, 1]> -> !rows
  %b = nv_tileaa.make_tiled_view %m : <?x256xf16, strides = [256, 1]> -> !columns
  %o = nv_tileaa.make_memref %q, shape = [%m0 : i32], strides = [] : <f32> -> <?x256xf32, strides = [256, 1]>
  %c = nv_tileaa.make_tiled_view %o : <?x256xf32, strides = [256, 1]> -> !tiles
  %p = nv_tileaa.make_memref %q, shape = [%m0 : i32], strides = [] : <f32> -> <?xf32, strides = [1]>
  %w = nv_tileaa.make_tiled_view %p : <?xf32, strides = [1]> -> !bias
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<128x256xf32>
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<128x256xf32>) : i32 {
    %x, %t1 = nv_tileaa.tiled_load <weak> %a[%i, %k] : !rows[i32, i32] -> tensor<128x64xf16>
    %y, %t2 = nv_tileaa.tiled_load <weak> %b[%k, %c0] : !columns[i32, i32] -> tensor<64x256xf16>
    %d = nv_tileaa.dot %x, %y, %acc : tensor<128x64xf16>, tensor<64x256xf16>, tensor<128x256xf32>
    scf.yield %d : tensor<128x256xf32>
  }
  %e, %t3 = nv_tileaa.tiled_load <weak> %w[%i] : !bias[i32] -> tensor<256xf32>
  %f = nv_tileaa.view %e : tensor<256xf32> -> tensor<1x256xf32>
  %g = nv_tileaa.broadcast %f : tensor<1x256xf32> -> tensor<128x256xf32>
  %h = arith.addf %sum, %g : tensor<128x256xf32>
  %r = nv_tileaa.broadcast %row : tensor<128x1xf32> -> tensor<128x256xf32>
  %s = arith.mulf %h, %r : tensor<128x256xf32>
  %t4 = nv_tileaa.tiled_store <weak> %s, %c[%i, %c0] : tensor<128x256xf32>, !tiles[i32, i32]
  %t5 = nv_tileaa.tiled_store <weak> %old, %c[%i, %c1] token %t4 : tensor<128x256xf32>, !tiles[i32, i32]
  nv_tileaa.return
}
