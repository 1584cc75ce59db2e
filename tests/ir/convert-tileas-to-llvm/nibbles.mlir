// RUN: tileiras-opt %s --pass-pipeline='builtin.module(convert-tileas-to-llvm,cse)' | FileCheck %s
#l = #nv_tileas.layout<register = [1, 2, 4], lane = [8, 16, 32, 64, 128], warp = []>
#s = #nv_tileas.layout<register = [], lane = [1, 2, 4, 8, 16], warp = []>
gpu.module @kernels {
  // Eight elements are a word: the offset from the base is halved, and the elements are expanded to the bytes of two
  // words.
  // CHECK-LABEL: llvm.func @words(
  // CHECK: %[[D:.*]] = llvm.sub %{{.*}}, %{{.*}} : i64
  // CHECK: %[[BYTE:.*]] = llvm.lshr %[[D]], %{{.*}} : i64
  // CHECK: %[[P:.*]] = llvm.getelementptr %arg0[%[[BYTE]]] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i8
  // CHECK: %[[W:.*]] = llvm.load %[[P]] {alignment = 4 : i64} : !llvm.ptr<1> -> i32
  // CHECK: %[[EVEN:.*]] = llvm.and %[[W]], %[[MASK:.*]] : i32
  // CHECK: %[[SHIFTED:.*]] = llvm.lshr %[[W]], %{{.*}} : i32
  // CHECK: %[[ODD:.*]] = llvm.and %[[SHIFTED]], %[[MASK]] : i32
  // CHECK-COUNT-2: llvm.call_intrinsic "llvm.nvvm.prmt"(%[[EVEN]], %[[ODD]], %{{.*}}) : (i32, i32, i32) -> i32
  // CHECK-COUNT-6: llvm.or %{{.*}}, %{{.*}} : i32
  // CHECK: %[[ALL:.*]] = llvm.or %{{.*}}, %{{.*}} : i32
  // CHECK: llvm.store %[[ALL]], %{{.*}} {alignment = 4 : i64} : i32, !llvm.ptr<1>
  nv_tileaa.func @words(%p: !nv_tileaa.ptr<f4E2M1FN>, %q: !nv_tileaa.ptr<f4E2M1FN>, %i: i32) attributes {numWarps = 1 : i64} {
    %m = nv_tileaa.make_memref %p, shape = [], strides = [] : <f4E2M1FN> -> <1024xf4E2M1FN, strides = [1]>
    %v = nv_tileaa.make_tiled_view %m : <1024xf4E2M1FN, strides = [1]> -> <tile = [256], memref<1024xf4E2M1FN, strides = [1]>, steps = [256]>
    %n = nv_tileaa.make_memref %q, shape = [], strides = [] : <f4E2M1FN> -> <1024xf4E2M1FN, strides = [1]>
    %w = nv_tileaa.make_tiled_view %n : <1024xf4E2M1FN, strides = [1]> -> <tile = [256], memref<1024xf4E2M1FN, strides = [1]>, steps = [256]>
    %x, %t = nv_tileas.tiled_load <weak> %v[%i] vector 8 bounds <none> : <tile = [256], memref<1024xf4E2M1FN, strides = [1]>, steps = [256]>[i32] -> tensor<256xf4E2M1FN, #l>
    %u = nv_tileas.tiled_store <weak> %x, %w[%i] vector 8 bounds <none> : tensor<256xf4E2M1FN, #l>, <tile = [256], memref<1024xf4E2M1FN, strides = [1]>, steps = [256]>[i32]
    nv_tileaa.return
  }
  // Another thread may own the other half of a byte, so bits are cleared and set atomically.
  // CHECK-LABEL: llvm.func @halves(
  // CHECK: %[[H:.*]] = llvm.lshr %{{.*}}, %{{.*}} : i64
  // CHECK: %[[BYTE:.*]] = llvm.getelementptr %arg0[%[[H]]] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i8
  // CHECK: %[[A:.*]] = llvm.ptrtoint %[[BYTE]] : !llvm.ptr<1> to i64
  // CHECK: %[[ALIGNED:.*]] = llvm.and %[[A]], %{{.*}} : i64
  // CHECK: %[[WORD:.*]] = llvm.inttoptr %[[ALIGNED]] : i64 to !llvm.ptr<1>
  // CHECK: "red.relaxed.gpu.global.and.b32 [$0], $1;", "l,r,~{memory}" %[[WORD]],
  // CHECK: "red.relaxed.gpu.global.or.b32 [$0], $1;", "l,r,~{memory}" %[[WORD]],
  nv_tileaa.func @halves(%p: !nv_tileaa.ptr<f4E2M1FN>, %i: i32) attributes {numWarps = 1 : i64} {
    %m = nv_tileaa.make_memref %p, shape = [], strides = [] : <f4E2M1FN> -> <1024xf4E2M1FN, strides = [1]>
    %v = nv_tileaa.make_tiled_view %m : <1024xf4E2M1FN, strides = [1]> -> <tile = [32], memref<1024xf4E2M1FN, strides = [1]>, steps = [1]>
    %c = arith.constant dense<1.0> : tensor<32xf4E2M1FN, #s>
    %u = nv_tileas.tiled_store <weak> %c, %v[%i] vector 1 bounds <none> : tensor<32xf4E2M1FN, #s>, <tile = [32], memref<1024xf4E2M1FN, strides = [1]>, steps = [1]>[i32]
    nv_tileaa.return
  }
  // A pointer points to a low half. No thread has the high half, which keeps its bits.
  // CHECK-LABEL: llvm.func @pointers(
  // CHECK: %[[I:.*]] = llvm.sext %{{.*}} : i32 to i64
  // CHECK: %[[H:.*]] = llvm.ashr %[[I]], %{{.*}} : i64
  // CHECK: %[[P:.*]] = llvm.getelementptr %{{.*}}[%[[H]]] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i8
  // CHECK: %[[OLD:.*]] = llvm.load %[[P]] {{.*}} -> i8
  // CHECK: %[[HIGH:.*]] = llvm.and %[[OLD]], %{{.*}} : i8
  // CHECK: %[[NEW:.*]] = llvm.or %[[HIGH]], %{{.*}} : i8
  // CHECK: llvm.store %[[NEW]], %[[P]] {{.*}} : i8, !llvm.ptr<1>
  nv_tileaa.func @pointers(%p: !nv_tileaa.ptr<f4E2M1FN>, %i: i32) attributes {numWarps = 1 : i64} {
    %b = nv_tileas.splat %p : !nv_tileaa.ptr<f4E2M1FN> -> tensor<32x!nv_tileaa.ptr<f4E2M1FN>, #s>
    %o = nv_tileas.splat %i : i32 -> tensor<32xi32, #s>
    %r = nv_tileas.make_range : tensor<32xi32, #s>
    %e = arith.addi %o, %r : tensor<32xi32, #s>
    %a = nv_tileaa.addptr %b, %e : tensor<32x!nv_tileaa.ptr<f4E2M1FN>, #s>, tensor<32xi32, #s>
    %c = arith.constant dense<1.0> : tensor<32xf4E2M1FN, #s>
    %u = nv_tileas.store <weak> %a, %c vector 1 : tensor<32x!nv_tileaa.ptr<f4E2M1FN>, #s>, tensor<32xf4E2M1FN, #s>
    nv_tileaa.return
  }
}
