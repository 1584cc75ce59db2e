// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileas-hoist-scalars)' --split-input-file | FileCheck %s

// Promises, views and constants of both agents become one, promises about several values one op. The number of tiles
// refers to the view of the loads.
// CHECK-LABEL: @shared
// CHECK-DAG: %[[P:.*]] = nv_tileas.assume [#cuda_tile.div_by<16>], %arg0 : !nv_tileaa.ptr<f32>
// CHECK-DAG: %[[N:.*]]:2 = nv_tileas.assume [#cuda_tile.bounded<0, ?>, #cuda_tile.div_by<8>], %arg1, %arg2 : i32
// CHECK: %[[M:.*]] = nv_tileaa.make_memref %[[P]], shape = [%[[N]]#0, %[[N]]#1 : i32, i32]
// CHECK-NEXT: %[[V:.*]] = nv_tileaa.make_tiled_view %[[M]] {{.*}} padding = zero
// CHECK: agent_switch
// CHECK-NOT: make_tiled_view
// CHECK: %[[T:.*]] = nv_tileaa.num_tiles %[[V]], 0 : {{.*}} padding = zero
// CHECK-NEXT: nv_tileas.tiled_load <weak> %[[V]]{{\[}}%[[T]], %[[T]]]
// CHECK-NEXT: }, {
// CHECK-NEXT: nv_tileas.tiled_load <weak> %[[V]]{{\[}}%arg1, %[[ONE:.*]]]
// CHECK-NEXT: }
!view = !nv_tileaa.tiled_view<tile = [8, 16], memref<?x?xf32, strides = [?, 1]>>
!zero = !nv_tileaa.tiled_view<tile = [8, 16], memref<?x?xf32, strides = [?, 1]>, padding = zero>
!memref = !nv_tileaa.memref<?x?xf32, strides = [?, 1]>
#l = #nv_tileas.layout<register = [64, 32], lane = [1, 2, 4, 8, 16], warp = []>
nv_tileaa.func @shared(%p: !nv_tileaa.ptr<f32>, %m: i32, %n: i32) attributes {numWarps = 2 : i64} {
  nv_tileas.async.pipeline.agent_switch agents [<"a", warps = 1>, <"b", warps = 1>] {
    %a = nv_tileaa.assume #cuda_tile.div_by<16>, %p : !nv_tileaa.ptr<f32>
    %b = nv_tileaa.assume #cuda_tile.bounded<0, ?>, %m : i32
    %c = nv_tileaa.assume #cuda_tile.div_by<8>, %b : i32
    %d = nv_tileaa.assume #cuda_tile.bounded<0, ?>, %n : i32
    %e = nv_tileaa.assume #cuda_tile.div_by<8>, %d : i32
    %t = nv_tileaa.create_mem_token
    %r = nv_tileaa.make_memref %a, shape = [%c, %e : i32, i32], strides = [%c : i32] : <f32> -> !memref
    %v = nv_tileaa.make_tiled_view %r : !memref -> !view
    %k = nv_tileaa.num_tiles %v, 0 : !view -> i32
    %z = nv_tileaa.make_tiled_view %r : !memref -> !zero
    %x, %xt = nv_tileas.tiled_load <weak> %z[%k, %k] vector 1 bounds <vector> in_bounds [false, false] : !zero[i32, i32] -> tensor<8x16xf32, #l>
  }, {
    %a = nv_tileaa.assume #cuda_tile.div_by<16>, %p : !nv_tileaa.ptr<f32>
    %b = nv_tileaa.assume #cuda_tile.bounded<0, ?>, %m : i32
    %c = nv_tileaa.assume #cuda_tile.div_by<8>, %b : i32
    %d = nv_tileaa.assume #cuda_tile.bounded<0, ?>, %n : i32
    %e = nv_tileaa.assume #cuda_tile.div_by<8>, %d : i32
    %r = nv_tileaa.make_memref %a, shape = [%c, %e : i32, i32], strides = [%c : i32] : <f32> -> !memref
    %z = nv_tileaa.make_tiled_view %r : !memref -> !zero
    %one = arith.constant 1 : i32
    %i = arith.muli %m, %one : i32
    %x, %xt = nv_tileas.tiled_load <weak> %z[%i, %one] vector 1 bounds <vector> in_bounds [false, false] : !zero[i32, i32] -> tensor<8x16xf32, #l>
  }
  nv_tileaa.return
}

// -----

// A promise in a branch holds only there, and one with another use is not merged. Views and constants leave the branch.
// CHECK-LABEL: @branches
// CHECK: %[[A:.*]] = nv_tileas.assume [#cuda_tile.bounded<0, ?>], %arg1 : i32
// CHECK: %[[B:.*]] = nv_tileas.assume [#cuda_tile.div_by<4>], %[[A]] : i32
// CHECK: nv_tileaa.make_memref
// CHECK: scf.if
// CHECK-NEXT: %[[C:.*]] = nv_tileaa.assume #cuda_tile.div_by<16>, %[[A]] : i32
// CHECK-NEXT: arith.addi %[[C]], %[[B]] : i32
!memref = !nv_tileaa.memref<?xf32, strides = [1]>
!view = !nv_tileaa.tiled_view<tile = [32], !memref>
nv_tileaa.func @branches(%p: !nv_tileaa.ptr<f32>, %m: i32, %q: i1) attributes {numWarps = 1 : i64} {
  %a = nv_tileaa.assume #cuda_tile.bounded<0, ?>, %m : i32
  %b = nv_tileaa.assume #cuda_tile.div_by<4>, %a : i32
  scf.if %q {
    %c = nv_tileaa.assume #cuda_tile.div_by<16>, %a : i32
    %d = arith.addi %c, %b : i32
    %r = nv_tileaa.make_memref %p, shape = [%b : i32], strides = [] : <f32> -> !memref
    %v = nv_tileaa.make_tiled_view %r : !memref -> !view
    %x, %t = nv_tileas.tiled_load <weak> %v[%d] vector 1 bounds <vector> in_bounds [false] : !view[i32] -> tensor<32xf32, #nv_tileas.layout<register = [], lane = [1, 2, 4, 8, 16], warp = []>>
  }
  nv_tileaa.return
}
