// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileas-delay-loads)' | FileCheck %s

// A thread has 128 registers of each tile.
#l = #nv_tileas.layout<register = [1, 2, 128, 256, 512, 1024, 2048], lane = [4, 8, 16, 32, 64], warp = []>
!view = !nv_tileaa.tiled_view<tile = [4096], memref<?xf32, strides = [1]>>
!tile = tensor<4096xf32, #l>
// A thread has 32 registers of each of these tiles.
#s = #nv_tileas.layout<register = [1, 2, 128, 256, 512], lane = [4, 8, 16, 32, 64], warp = []>
!small_view = !nv_tileaa.tiled_view<tile = [1024], memref<?xf32, strides = [1]>>
!small = tensor<1024xf32, #s>
gpu.module @kernels {
  // A load moves after the last use of the previous tile.
  // CHECK-LABEL: @three
  // CHECK: %[[A:.*]], %{{.*}} = nv_tileas.tiled_load {{.*}}[%arg1]
  // CHECK-NEXT: %[[S:.*]] = arith.negf %[[A]]
  // CHECK-NEXT: %[[B:.*]], %{{.*}} = nv_tileas.tiled_load {{.*}}[%arg2]
  // CHECK-NEXT: %[[T:.*]] = arith.addf %[[S]], %[[B]]
  // CHECK-NEXT: %[[C:.*]], %{{.*}} = nv_tileas.tiled_load {{.*}}[%arg3]
  // CHECK-NEXT: arith.addf %[[T]], %[[C]]
  nv_tileaa.func @three(%v: !view, %i: i32, %j: i32, %k: i32) attributes {numWarps = 1 : i64} {
    %a, %ta = nv_tileas.tiled_load <weak> %v[%i] vector 4 bounds <split> : !view[i32] -> !tile
    %b, %tb = nv_tileas.tiled_load <weak> %v[%j] vector 4 bounds <split> : !view[i32] -> !tile
    %c, %tc = nv_tileas.tiled_load <weak> %v[%k] vector 4 bounds <split> : !view[i32] -> !tile
    %s = arith.negf %a : !tile
    %t = arith.addf %s, %b : !tile
    %u = arith.addf %t, %c : !tile
    nv_tileaa.return
  }
  // An index that is computed only for a load moves with it; one with other uses does not.
  // CHECK-LABEL: @indices
  // CHECK: %[[X:.*]] = arith.addi
  // CHECK-NEXT: arith.addi %[[X]]
  // CHECK-NEXT: nv_tileas.tiled_load
  // CHECK-NEXT: arith.negf
  // CHECK-NEXT: %[[Z:.*]] = arith.addi %[[X]]
  // CHECK-NEXT: nv_tileas.tiled_load {{.*}}[%[[Z]]]
  nv_tileaa.func @indices(%v: !view, %i: i32, %j: i32) attributes {numWarps = 1 : i64} {
    %x = arith.addi %i, %j : i32
    %y = arith.addi %x, %j : i32
    %z = arith.addi %x, %i : i32
    %a, %ta = nv_tileas.tiled_load <weak> %v[%i] vector 4 bounds <split> : !view[i32] -> !tile
    %b, %tb = nv_tileas.tiled_load <weak> %v[%z] vector 4 bounds <split> : !view[i32] -> !tile
    %c, %tc = nv_tileas.tiled_load <weak> %v[%y] vector 4 bounds <split> : !view[i32] -> !tile
    %s = arith.negf %a : !tile
    %t = arith.addf %s, %b : !tile
    %u = arith.addf %t, %c : !tile
    %d, %td = nv_tileas.tiled_load <weak> %v[%y] vector 4 bounds <split> : !view[i32] -> !tile
    %w = arith.addf %u, %d : !tile
    nv_tileaa.return
  }
  // Two tiles fit.
  // CHECK-LABEL: @two
  // CHECK: nv_tileas.tiled_load
  // CHECK-NEXT: nv_tileas.tiled_load
  // CHECK-NEXT: arith.negf
  nv_tileaa.func @two(%v: !view, %i: i32, %j: i32) attributes {numWarps = 1 : i64} {
    %a, %ta = nv_tileas.tiled_load <weak> %v[%i] vector 4 bounds <split> : !view[i32] -> !tile
    %b, %tb = nv_tileas.tiled_load <weak> %v[%j] vector 4 bounds <split> : !view[i32] -> !tile
    %s = arith.negf %a : !tile
    %t = arith.addf %s, %b : !tile
    nv_tileaa.return
  }
  // The order of the uses matters, not the order of the loads.
  // CHECK-LABEL: @last_first
  // CHECK: nv_tileas.tiled_load {{.*}}[%arg3]
  // CHECK-NEXT: arith.negf
  // CHECK-NEXT: nv_tileas.tiled_load {{.*}}[%arg2]
  // CHECK-NEXT: arith.addf
  // CHECK-NEXT: nv_tileas.tiled_load {{.*}}[%arg1]
  nv_tileaa.func @last_first(%v: !view, %i: i32, %j: i32, %k: i32) attributes {numWarps = 1 : i64} {
    %a, %ta = nv_tileas.tiled_load <weak> %v[%i] vector 4 bounds <split> : !view[i32] -> !tile
    %b, %tb = nv_tileas.tiled_load <weak> %v[%j] vector 4 bounds <split> : !view[i32] -> !tile
    %c, %tc = nv_tileas.tiled_load <weak> %v[%k] vector 4 bounds <split> : !view[i32] -> !tile
    %s = arith.negf %c : !tile
    %t = arith.addf %s, %b : !tile
    %u = arith.addf %t, %a : !tile
    nv_tileaa.return
  }
  // No load moves past a store or an op with regions.
  // CHECK-LABEL: @stores
  // CHECK: arith.negf
  // CHECK-NEXT: nv_tileas.tiled_load {{.*}}[%arg2]
  // CHECK-NEXT: nv_tileas.tiled_load {{.*}}[%arg3]
  // CHECK-NEXT: nv_tileas.tiled_load {{.*}}[%arg4]
  // CHECK-NEXT: nv_tileas.tiled_store
  nv_tileaa.func @stores(%v: !view, %i: i32, %j: i32, %k: i32, %n: i32) attributes {numWarps = 1 : i64} {
    %a, %ta = nv_tileas.tiled_load <weak> %v[%i] vector 4 bounds <split> : !view[i32] -> !tile
    %b, %tb = nv_tileas.tiled_load <weak> %v[%j] vector 4 bounds <split> : !view[i32] -> !tile
    %c, %tc = nv_tileas.tiled_load <weak> %v[%k] vector 4 bounds <split> : !view[i32] -> !tile
    %d, %td = nv_tileas.tiled_load <weak> %v[%n] vector 4 bounds <split> : !view[i32] -> !tile
    %s = arith.negf %a : !tile
    %z = nv_tileas.tiled_store <weak> %s, %v[%i] vector 4 bounds <split> : !tile, !view[i32]
    %t = arith.addf %s, %b : !tile
    %u = arith.addf %t, %c : !tile
    %w = arith.addf %u, %d : !tile
    nv_tileaa.return
  }
  // A load that a token orders does not move, but its registers are counted.
  // CHECK-LABEL: @ordered
  // CHECK: nv_tileas.tiled_load {{.*}}[%arg2]
  // CHECK-NEXT: nv_tileas.tiled_load {{.*}}[%arg1]
  // CHECK-NEXT: arith.negf
  // CHECK-NEXT: arith.addf
  // CHECK-NEXT: nv_tileas.tiled_load {{.*}}[%arg3]
  nv_tileaa.func @ordered(%v: !view, %i: i32, %j: i32, %k: i32) attributes {numWarps = 1 : i64} {
    %a, %ta = nv_tileas.tiled_load <weak> %v[%i] vector 4 bounds <split> : !view[i32] -> !tile
    %b, %tb = nv_tileas.tiled_load <weak> %v[%j] vector 4 bounds <split> : !view[i32] -> !tile
    %c, %tc = nv_tileas.tiled_load <weak> %v[%k] vector 4 bounds <split> : !view[i32] -> !tile
    %s = arith.negf %a : !tile
    %t = arith.addf %s, %b : !tile
    %u = arith.addf %t, %c : !tile
    %z = nv_tileas.tiled_store <weak> %u, %v[%i] token %tb vector 4 bounds <split> : !tile, !view[i32]
    nv_tileaa.return
  }
  // Two small loads can be in flight at a time.
  // CHECK-LABEL: @window
  // CHECK: nv_tileas.tiled_load
  // CHECK-NEXT: nv_tileas.tiled_load
  // CHECK-NEXT: arith.negf
  // CHECK-NEXT: nv_tileas.tiled_load
  // CHECK-NEXT: arith.addf
  // CHECK-NEXT: nv_tileas.tiled_load
  // CHECK-NEXT: arith.addf
  // CHECK-NEXT: nv_tileas.tiled_load
  // CHECK-NEXT: arith.addf
  // CHECK-NEXT: nv_tileas.tiled_load
  // CHECK-NEXT: arith.addf
  // CHECK-NEXT: nv_tileas.tiled_load
  // CHECK-NEXT: arith.addf
  // CHECK-NEXT: nv_tileas.tiled_load
  // CHECK-NEXT: arith.addf
  // CHECK-NEXT: nv_tileas.tiled_load
  // CHECK-NEXT: arith.addf
  // CHECK-NEXT: arith.addf
  // CHECK-NEXT: nv_tileaa.return
  nv_tileaa.func @window(%v: !small_view, %i: i32) attributes {numWarps = 1 : i64} {
    %a0, %t0 = nv_tileas.tiled_load <weak> %v[%i] vector 4 bounds <split> : !small_view[i32] -> !small
    %a1, %t1 = nv_tileas.tiled_load <weak> %v[%i] vector 4 bounds <split> : !small_view[i32] -> !small
    %a2, %t2 = nv_tileas.tiled_load <weak> %v[%i] vector 4 bounds <split> : !small_view[i32] -> !small
    %a3, %t3 = nv_tileas.tiled_load <weak> %v[%i] vector 4 bounds <split> : !small_view[i32] -> !small
    %a4, %t4 = nv_tileas.tiled_load <weak> %v[%i] vector 4 bounds <split> : !small_view[i32] -> !small
    %a5, %t5 = nv_tileas.tiled_load <weak> %v[%i] vector 4 bounds <split> : !small_view[i32] -> !small
    %a6, %t6 = nv_tileas.tiled_load <weak> %v[%i] vector 4 bounds <split> : !small_view[i32] -> !small
    %a7, %t7 = nv_tileas.tiled_load <weak> %v[%i] vector 4 bounds <split> : !small_view[i32] -> !small
    %a8, %t8 = nv_tileas.tiled_load <weak> %v[%i] vector 4 bounds <split> : !small_view[i32] -> !small
    %s0 = arith.negf %a0 : !small
    %s1 = arith.addf %s0, %a1 : !small
    %s2 = arith.addf %s1, %a2 : !small
    %s3 = arith.addf %s2, %a3 : !small
    %s4 = arith.addf %s3, %a4 : !small
    %s5 = arith.addf %s4, %a5 : !small
    %s6 = arith.addf %s5, %a6 : !small
    %s7 = arith.addf %s6, %a7 : !small
    %s8 = arith.addf %s7, %a8 : !small
    nv_tileaa.return
  }
}
