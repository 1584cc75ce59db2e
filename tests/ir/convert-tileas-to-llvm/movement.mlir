// RUN: tileiras-opt %s --pass-pipeline='builtin.module(convert-tileas-to-llvm,canonicalize)' | FileCheck %s

#a = #nv_tileas.layout<register = [1], lane = [2, 4, 8, 16, 32], warp = []>
#b = #nv_tileas.layout<register = [2], lane = [1, 4, 8, 16, 32], warp = []>
#r = #nv_tileas.layout<register = [1, 64], lane = [2, 4, 8, 16, 32], warp = []>
#t = #nv_tileas.layout<register = [], lane = [0, 1, 2, 4, 8], warp = []>
#l = #nv_tileas.layout<register = [], lane = [1, 2, 4, 8, 16], warp = []>
#b8 = #nv_tileas.layout<register = [1, 2, 4], lane = [8, 16, 32, 64, 128], warp = []>
#c8 = #nv_tileas.layout<register = [1, 2, 8], lane = [4, 16, 32, 64, 128], warp = []>
gpu.module @kernels {
  // Half of the registers are exchanged between lanes: one shuffle with an exclusive or of the lane with 1, between
  // conditional swaps.
  // CHECK-LABEL: llvm.func @exchange(
  // CHECK: llvm.select
  // CHECK: llvm.call_intrinsic "llvm.nvvm.shfl.sync.bfly.i32"
  // CHECK-NOT: call_intrinsic
  // CHECK: llvm.select
  // CHECK: llvm.return
  nv_tileaa.func @exchange(%p: !nv_tileaa.ptr<i32>) attributes {numWarps = 1 : i64} {
    %x = nv_tileas.make_range : tensor<64xi32, #a>
    %y = nv_tileas.shuffle %x : tensor<64xi32, #a> -> tensor<64xi32, #b>
    %q = nv_tileas.splat %p : !nv_tileaa.ptr<i32> -> tensor<64x!nv_tileaa.ptr<i32>, #b>
    %t = nv_tileas.store <weak> %q, %y vector 1 : tensor<64x!nv_tileaa.ptr<i32>, #b>, tensor<64xi32, #b>
    nv_tileaa.return
  }
  // Two 16-bit elements share a word.
  // CHECK-LABEL: llvm.func @narrow(
  // CHECK: llvm.bitcast %{{.*}} : vector<2xi16> to i32
  // CHECK: llvm.call_intrinsic "llvm.nvvm.shfl.sync.idx.i32"
  // CHECK-NOT: call_intrinsic
  // CHECK: llvm.return
  nv_tileaa.func @narrow(%p: !nv_tileaa.ptr<i16>, %x: i16) attributes {numWarps = 1 : i64} {
    %r = nv_tileas.make_range : tensor<64xi32, #a>
    %n = arith.trunci %r : tensor<64xi32, #a> to tensor<64xi16, #a>
    %y = nv_tileas.shuffle %n : tensor<64xi16, #a> -> tensor<64xi16, #nv_tileas.layout<register = [1], lane = [4, 2, 8, 16, 32], warp = []>>
    %q = nv_tileas.splat %p : !nv_tileaa.ptr<i16> -> tensor<64x!nv_tileaa.ptr<i16>, #nv_tileas.layout<register = [1], lane = [4, 2, 8, 16, 32], warp = []>>
    %t = nv_tileas.store <weak> %q, %y vector 1 : tensor<64x!nv_tileaa.ptr<i16>, #nv_tileas.layout<register = [1], lane = [4, 2, 8, 16, 32], warp = []>>, tensor<64xi16, #nv_tileas.layout<register = [1], lane = [4, 2, 8, 16, 32], warp = []>>
    nv_tileaa.return
  }
  // Bytes that share words are selected and shuffled as words, and are not unpacked before the next use as words.
  // CHECK-LABEL: llvm.func @bytes(
  // CHECK: llvm.select %{{.*}}, %{{.*}}, %{{.*}} : i1, i32
  // CHECK: llvm.select %{{.*}}, %{{.*}}, %{{.*}} : i1, i32
  // CHECK-NOT: llvm.select %{{.*}} : i1, i8
  // CHECK: llvm.call_intrinsic "llvm.nvvm.shfl.sync
  // CHECK-NOT: llvm.select %{{.*}} : i1, i8
  // CHECK: llvm.return
  nv_tileaa.func @bytes(%p: !nv_tileaa.ptr<i8>) attributes {numWarps = 1 : i64} {
    %q = nv_tileas.splat %p : !nv_tileaa.ptr<i8> -> tensor<256x!nv_tileaa.ptr<i8>, #b8>
    %x, %k = nv_tileas.load <weak> %q vector 4 : tensor<256x!nv_tileaa.ptr<i8>, #b8> -> tensor<256xi8, #b8>
    %y = nv_tileas.shuffle %x : tensor<256xi8, #b8> -> tensor<256xi8, #c8>
    %r = nv_tileas.splat %p : !nv_tileaa.ptr<i8> -> tensor<256x!nv_tileaa.ptr<i8>, #c8>
    %t = nv_tileas.store <weak> %r, %y vector 4 : tensor<256x!nv_tileaa.ptr<i8>, #c8>, tensor<256xi8, #c8>
    nv_tileaa.return
  }
  // A slice with a known register index needs no instruction. An unknown one needs a select.
  // CHECK-LABEL: llvm.func @known(
  // CHECK-NOT: llvm.select
  // CHECK: llvm.return
  nv_tileaa.func @known(%p: !nv_tileaa.ptr<i32>) attributes {numWarps = 1 : i64} {
    %c1 = arith.constant 1 : i32
    %x = nv_tileas.make_range : tensor<128xi32, #r>
    %y = nv_tileas.extract_slice %x[%c1] : tensor<128xi32, #r> -> tensor<64xi32, #a>
    %q = nv_tileas.splat %p : !nv_tileaa.ptr<i32> -> tensor<64x!nv_tileaa.ptr<i32>, #a>
    %t = nv_tileas.store <weak> %q, %y vector 1 : tensor<64x!nv_tileaa.ptr<i32>, #a>, tensor<64xi32, #a>
    nv_tileaa.return
  }
  // CHECK-LABEL: llvm.func @chosen(
  // CHECK: llvm.and %arg1, %{{.*}} : i32
  // CHECK: %[[C:.*]] = llvm.icmp "ne" %{{.*}}, %{{.*}} : i32
  // CHECK: llvm.select %[[C]]
  // CHECK: llvm.select %[[C]]
  // CHECK-NOT: llvm.select
  // CHECK: llvm.return
  nv_tileaa.func @chosen(%p: !nv_tileaa.ptr<i32>, %i: i32) attributes {numWarps = 1 : i64} {
    %x = nv_tileas.make_range : tensor<128xi32, #r>
    %y = nv_tileas.extract_slice %x[%i] : tensor<128xi32, #r> -> tensor<64xi32, #a>
    %q = nv_tileas.splat %p : !nv_tileaa.ptr<i32> -> tensor<64x!nv_tileaa.ptr<i32>, #a>
    %t = nv_tileas.store <weak> %q, %y vector 1 : tensor<64x!nv_tileaa.ptr<i32>, #a>, tensor<64xi32, #a>
    nv_tileaa.return
  }
  // A lane bit selects the half: one select by its parity, without a second register.
  // CHECK-LABEL: llvm.func @lanes(
  // CHECK: %[[LANE:.*]] = llvm.and %{{.*}}, %{{.*}} : i32
  // CHECK: llvm.trunc %{{.*}} : i32 to i1
  // CHECK: llvm.select
  // CHECK-NOT: llvm.select
  // CHECK: llvm.return
  nv_tileaa.func @lanes(%p: !nv_tileaa.ptr<i32>, %v: i32, %w: i32) attributes {numWarps = 1 : i64} {
    %x = nv_tileas.splat %v : i32 -> tensor<16x1xi32, #t>
    %y = nv_tileas.splat %w : i32 -> tensor<16x1xi32, #t>
    %z = nv_tileas.cat %x, %y, 1 : tensor<16x1xi32, #t> -> tensor<16x2xi32, #l>
    %q = nv_tileas.splat %p : !nv_tileaa.ptr<i32> -> tensor<16x2x!nv_tileaa.ptr<i32>, #l>
    %t = nv_tileas.store <weak> %q, %z vector 1 : tensor<16x2x!nv_tileaa.ptr<i32>, #l>, tensor<16x2xi32, #l>
    nv_tileaa.return
  }
}
