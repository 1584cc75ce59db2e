// RUN: tileiras-opt %s --pass-pipeline='builtin.module(convert-tileas-to-llvm,cse)' | FileCheck %s

#l = #nv_tileas.layout<register = [1, 2, 512], lane = [4, 8, 16, 32, 64], warp = [128, 256]>
#small = #nv_tileas.layout<register = [1], lane = [2, 4, 8, 16, 32], warp = [64, 128]>
#tiny = #nv_tileas.layout<register = [], lane = [1, 2, 4, 8, 16], warp = [0, 0]>
gpu.module @kernels {
  // Each register has its own address and mask. A vector uses those of its first element.
  // CHECK-LABEL: llvm.func @masked(
  // CHECK: %[[K0:.*]] = llvm.icmp "slt" %[[E0:.*]], %arg1 : i32
  // CHECK: %[[K1:.*]] = llvm.icmp "slt" %[[E1:.*]], %arg1 : i32
  // CHECK: %[[P0:.*]] = llvm.getelementptr %arg0[
  // CHECK: %[[P1:.*]] = llvm.getelementptr %arg0[
  // CHECK: %[[O:.*]] = llvm.bitcast %arg2 : f32 to i32
  // CHECK: llvm.inline_asm has_side_effects "@$2 ld.global.b32 $0, [$1];", "=r,l,b,0" %[[P0]], %[[K0]], %[[O]] :
  // CHECK: llvm.inline_asm has_side_effects "@$2 ld.global.b32 $0, [$1];", "=r,l,b,0" %[[P1]], %[[K1]], %[[O]] :
  // CHECK: llvm.inline_asm has_side_effects "@$1 st.global.v2.b32 [$0], {$2, $3};", "l,b,r,r" %[[P0]], %[[K0]],
  nv_tileaa.func @masked(%p: !nv_tileaa.ptr<f32>, %n: i32, %x: f32) attributes {numWarps = 4 : i64} {
    %b = nv_tileas.splat %p : !nv_tileaa.ptr<f32> -> tensor<256x!nv_tileaa.ptr<f32>, #small>
    %r = nv_tileas.make_range : tensor<256xi32, #small>
    %s = nv_tileas.splat %n : i32 -> tensor<256xi32, #small>
    %k = arith.cmpi slt, %r, %s : tensor<256xi32, #small>
    %a = nv_tileaa.addptr %b, %r : tensor<256x!nv_tileaa.ptr<f32>, #small>, tensor<256xi32, #small>
    %o = nv_tileas.splat %x : f32 -> tensor<256xf32, #small>
    %v, %t1 = nv_tileas.load <weak> %a mask %k : tensor<256xi1, #small> other %o : tensor<256xf32, #small> vector 1 : tensor<256x!nv_tileaa.ptr<f32>, #small> -> tensor<256xf32, #small>
    %t2 = nv_tileas.store <weak> %a, %v mask %k : tensor<256xi1, #small> vector 2 : tensor<256x!nv_tileaa.ptr<f32>, #small>, tensor<256xf32, #small>
    nv_tileaa.return
  }
  // Ordering and scope become qualifiers of a single access, and fences around several accesses. The first warp
  // loads, because the replicas of other warps could read a different value.
  // CHECK-LABEL: llvm.func @ordered(
  // CHECK: %[[W:.*]] = llvm.and %{{.*}}, %{{.*}} : i32
  // CHECK: %[[OWNER:.*]] = llvm.icmp "eq" %[[W]], %{{.*}} : i32
  // CHECK: "@$2 ld.acquire.gpu.global.b32 $0, [$1];", "=r,l,b,0" %{{.*}}, %[[OWNER]],
  // CHECK: "@$1 st.release.sys.global.b32 [$0], $2;", "l,b,r" %{{.*}}, %[[OWNER]],
  nv_tileaa.func @ordered(%p: !nv_tileaa.ptr<i32>, %v: i32) attributes {numWarps = 4 : i64} {
    %b = nv_tileas.splat %p : !nv_tileaa.ptr<i32> -> tensor<32x!nv_tileaa.ptr<i32>, #tiny>
    %x, %t1 = nv_tileas.load <acquire> scope <device> %b vector 1 : tensor<32x!nv_tileaa.ptr<i32>, #tiny> -> tensor<32xi32, #tiny>
    %t2 = nv_tileas.store <release> scope <system> %b, %x token %t1 vector 1 : tensor<32x!nv_tileaa.ptr<i32>, #tiny>, tensor<32xi32, #tiny>
    nv_tileaa.return
  }
  // CHECK-LABEL: llvm.func @fences(
  // CHECK-COUNT-2: "ld.relaxed.gpu.global.b32 $0, [$1];"
  // CHECK-NEXT: llvm.inline_asm has_side_effects "fence.acq_rel.gpu;", "~{memory}"
  // CHECK-NEXT: llvm.inline_asm has_side_effects "fence.acq_rel.cta;", "~{memory}"
  // CHECK-COUNT-2: "st.relaxed.cta.global.b32 [$0], $1;"
  // CHECK-NOT: fence
  nv_tileaa.func @fences(%p: !nv_tileaa.ptr<i32>) attributes {numWarps = 4 : i64} {
    %b = nv_tileas.splat %p : !nv_tileaa.ptr<i32> -> tensor<256x!nv_tileaa.ptr<i32>, #small>
    %x, %t1 = nv_tileas.load <acquire> scope <device> %b vector 1 : tensor<256x!nv_tileaa.ptr<i32>, #small> -> tensor<256xi32, #small>
    %t2 = nv_tileas.store <release> scope <block> %b, %x token %t1 vector 1 : tensor<256x!nv_tileaa.ptr<i32>, #small>, tensor<256xi32, #small>
    nv_tileaa.return
  }
}
