// RUN: tileiras-opt %s --pass-pipeline='builtin.module(convert-tileas-to-llvm,cse)' | FileCheck %s

#l = #nv_tileas.layout<register = [1, 2, 512], lane = [4, 8, 16, 32, 64], warp = [128, 256]>
#small = #nv_tileas.layout<register = [1], lane = [2, 4, 8, 16, 32], warp = [64, 128]>
#tiny = #nv_tileas.layout<register = [], lane = [1, 2, 4, 8, 16], warp = [0, 0]>
gpu.module @kernels {
  // The starts of the tile and of the thread are computed once, registers are constant offsets, and accesses are
  // plain vectors.
  // CHECK-LABEL: llvm.func @none(
  // CHECK: %[[TILE:.*]] = llvm.getelementptr %arg0[%{{.*}}] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i8
  // CHECK: %[[P:.*]] = llvm.getelementptr %[[TILE]][%{{.*}}] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i8
  // CHECK: llvm.load %[[P]] {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xi32>
  // CHECK: %[[Q:.*]] = llvm.getelementptr %[[P]][2048] :
  // CHECK: llvm.load %[[Q]] {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xi32>
  // CHECK-NOT: icmp
  // CHECK: llvm.store %{{.*}}, %[[P]] {alignment = 16 : i64} : vector<4xi32>, !llvm.ptr<1>
  // CHECK: llvm.store %{{.*}}, %[[Q]] {alignment = 16 : i64} : vector<4xi32>, !llvm.ptr<1>
  // CHECK-NOT: inline_asm
  nv_tileaa.func @none(%p: !nv_tileaa.ptr<f32>, %i: i32) attributes {numWarps = 4 : i64} {
    %m = nv_tileaa.make_memref %p, shape = [], strides = [] : <f32> -> <4096xf32, strides = [1]>
    %v = nv_tileaa.make_tiled_view %m : <4096xf32, strides = [1]> -> <tile = [1024], memref<4096xf32, strides = [1]>>
    %x, %t1 = nv_tileas.tiled_load <weak> %v[%i] vector 4 bounds <none> in_bounds [true] : <tile = [1024], memref<4096xf32, strides = [1]>>[i32] -> tensor<1024xf32, #l>
    %t2 = nv_tileas.tiled_store <weak> %x, %v[%i] vector 4 bounds <none> in_bounds [true] : tensor<1024xf32, #l>, <tile = [1024], memref<4096xf32, strides = [1]>>[i32]
    nv_tileaa.return
  }
  // The remaining extents of the view, from the start of the tile, are computed in 64 bits. Then each vector has one
  // 32-bit test and one predicated access. Elements out of bounds keep the padding value.
  // CHECK-LABEL: llvm.func @vector(
  // CHECK: %[[LEFT:.*]] = llvm.sub %{{.*}}, %{{.*}} : i64
  // CHECK: %[[MIN:.*]] = llvm.intr.smin(%[[LEFT]], %{{.*}}) : (i64, i64) -> i64
  // CHECK: %[[N:.*]] = llvm.trunc %[[MIN]] : i64 to i32
  // CHECK: %[[PAD:.*]] = llvm.mlir.constant(0xFF800000 : f32) : f32
  // CHECK: %[[K:.*]] = llvm.icmp "slt" %{{.*}}, %[[N]] : i32
  // CHECK: %[[W:.*]] = llvm.bitcast %[[PAD]] : f32 to i32
  // CHECK: llvm.inline_asm has_side_effects "@$3 ld.global.v2.b32 {$0, $1}, [$2];", "=r,=r,l,b,0,1" %[[P:.*]], %[[K]], %[[W]], %[[W]] :
  // CHECK: llvm.inline_asm has_side_effects "@$1 st.global.v2.b32 [$0], {$2, $3};", "l,b,r,r" %[[P]], %[[K]],
  nv_tileaa.func @vector(%p: !nv_tileaa.ptr<f32>, %n: i32, %i: i32) attributes {numWarps = 4 : i64} {
    %m = nv_tileaa.make_memref %p, shape = [%n : i32], strides = [] : <f32> -> <?xf32, strides = [1]>
    %v = nv_tileaa.make_tiled_view %m : <?xf32, strides = [1]> -> <tile = [256], memref<?xf32, strides = [1]>, padding = neg_inf>
    %x, %t1 = nv_tileas.tiled_load <weak> %v[%i] vector 2 bounds <vector> in_bounds [false] : <tile = [256], memref<?xf32, strides = [1]>, padding = neg_inf>[i32] -> tensor<256xf32, #small>
    %t2 = nv_tileas.tiled_store <weak> %x, %v[%i] vector 2 bounds <vector> in_bounds [false] : tensor<256xf32, #small>, <tile = [256], memref<?xf32, strides = [1]>, padding = neg_inf>[i32]
    nv_tileaa.return
  }
  // A tile that is entirely in bounds is accessed with vectors, and otherwise one element at a time. The store tests
  // this again.
  // CHECK-LABEL: llvm.func @split(
  // CHECK: %[[N:.*]] = llvm.trunc %{{.*}} : i64 to i32
  // CHECK: %[[ALL:.*]] = llvm.icmp "eq" %[[N]], %{{.*}} : i32
  // CHECK: llvm.cond_br %[[ALL]], ^[[WHOLE:.*]], ^[[EDGE:[^ ]*]]
  // CHECK: ^[[WHOLE]]:
  // CHECK: llvm.load %{{.*}} {alignment = 8 : i64} : !llvm.ptr<1> -> vector<2xi32>
  // CHECK: ^[[EDGE]]:
  // CHECK-COUNT-2: "@$2 ld.global.b32 $0, [$1];"
  // CHECK: llvm.cond_br %[[ALL]], ^[[WHOLE2:.*]], ^[[EDGE2:[^ ]*]]
  // CHECK: ^[[WHOLE2]]:
  // CHECK: llvm.store %{{.*}}, %{{.*}} {alignment = 8 : i64} : vector<2xi32>, !llvm.ptr<1>
  // CHECK: ^[[EDGE2]]:
  // CHECK-COUNT-2: "@$1 st.global.b32 [$0], $2;"
  // CHECK: llvm.return
  nv_tileaa.func @split(%p: !nv_tileaa.ptr<f32>, %n: i32, %i: i32) attributes {numWarps = 4 : i64} {
    %m = nv_tileaa.make_memref %p, shape = [%n : i32], strides = [] : <f32> -> <?xf32, strides = [1]>
    %v = nv_tileaa.make_tiled_view %m : <?xf32, strides = [1]> -> <tile = [256], memref<?xf32, strides = [1]>>
    %x, %t1 = nv_tileas.tiled_load <weak> %v[%i] vector 2 bounds <split> in_bounds [false] : <tile = [256], memref<?xf32, strides = [1]>>[i32] -> tensor<256xf32, #small>
    %t2 = nv_tileas.tiled_store <weak> %x, %v[%i] vector 2 bounds <split> in_bounds [false] : tensor<256xf32, #small>, <tile = [256], memref<?xf32, strides = [1]>>[i32]
    nv_tileaa.return
  }
  // All four warps hold the tile, and the first one stores it.
  // CHECK-LABEL: llvm.func @copies(
  // CHECK: %[[W:.*]] = llvm.lshr
  // CHECK: %[[C:.*]] = llvm.and %[[W]], %{{.*}} : i32
  // CHECK: %[[K:.*]] = llvm.icmp "eq" %[[C]], %{{.*}} : i32
  // CHECK: llvm.inline_asm has_side_effects "@$1 st.global.b32 [$0], $2;", "l,b,r" %{{.*}}, %[[K]],
  nv_tileaa.func @copies(%p: !nv_tileaa.ptr<i32>, %i: i32) attributes {numWarps = 4 : i64} {
    %m = nv_tileaa.make_memref %p, shape = [], strides = [] : <i32> -> <64xi32, strides = [1]>
    %v = nv_tileaa.make_tiled_view %m : <64xi32, strides = [1]> -> <tile = [32], memref<64xi32, strides = [1]>>
    %r = nv_tileas.make_range : tensor<32xi32, #tiny>
    %t2 = nv_tileas.tiled_store <weak> %r, %v[%i] vector 1 bounds <none> in_bounds [true] : tensor<32xi32, #tiny>, <tile = [32], memref<64xi32, strides = [1]>>[i32]
    nv_tileaa.return
  }
}
