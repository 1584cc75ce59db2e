// RUN: tileiras-opt %s --pass-pipeline='builtin.module(convert-tileas-to-llvm,cse)' | FileCheck %s

#small = #nv_tileas.layout<register = [1], lane = [2, 4, 8, 16, 32], warp = [64, 128]>
gpu.module @kernels {
  // Pointers are global. An assumption on an argument becomes its alignment.
  // CHECK-LABEL: llvm.func @signature(
  // CHECK-SAME: %arg0: !llvm.ptr<1> {llvm.align = 16 : i64}, %arg1: i32, %arg2: f16) attributes {nv_tileas.num_warps = 4 : i64, nvvm.kernel}
  nv_tileaa.func @signature(%p: !nv_tileaa.ptr<f32>, %n: i32, %x: f16) attributes {numWarps = 4 : i64} {
    %q = nv_tileaa.assume #cuda_tile.div_by<16>, %p : !nv_tileaa.ptr<f32>
    nv_tileaa.return
  }
  // A scalar store is executed by one thread.
  // CHECK-LABEL: llvm.func @program(
  // CHECK-SAME: nv_tileas.num_warps = 1 : i64
  // CHECK: %[[T:.*]] = nvvm.read.ptx.sreg.tid.x
  // CHECK: %[[Y:.*]] = nvvm.read.ptx.sreg.ctaid.y : i32
  // CHECK: %[[N:.*]] = nvvm.read.ptx.sreg.nctaid.y : i32
  // CHECK: %[[S:.*]] = llvm.add %[[Y]], %[[N]] : i32
  // CHECK: %[[K:.*]] = llvm.icmp "eq" %[[T]], %{{.*}} : i32
  // CHECK: llvm.inline_asm has_side_effects "@$1 st.global.b32 [$0], $2;", "l,b,r" %arg0, %[[K]], %[[S]]
  nv_tileaa.func @program(%p: !nv_tileaa.ptr<i32>) attributes {numWarps = 1 : i64} {
    %x, %y, %z = nv_tileaa.get_program_id
    %a, %b, %c = nv_tileaa.get_num_programs
    %s = arith.addi %y, %b : i32
    %t = nv_tileas.store <weak> %p, %s vector 1 : !nv_tileaa.ptr<i32>, i32
    nv_tileaa.return
  }
  // Element 2 * lane + 64 * warp + register, which is 2 * thread + register: two values per thread.
  // CHECK-LABEL: llvm.func @range(
  // CHECK: %[[T:.*]] = nvvm.read.ptx.sreg.tid.x : i32
  // CHECK: %[[E0:.*]] = llvm.shl %[[T]], %{{.*}} : i32
  // CHECK: %[[E1:.*]] = llvm.or disjoint %[[E0]], %{{.*}} : i32
  // CHECK: llvm.add %[[E0]], %arg0 : i32
  // CHECK: llvm.add %[[E1]], %arg0 : i32
  // CHECK: llvm.icmp "slt"
  // CHECK: llvm.icmp "slt"
  nv_tileaa.func @range(%n: i32) attributes {numWarps = 4 : i64} {
    %r = nv_tileas.make_range : tensor<256xi32, #small>
    %s = nv_tileas.splat %n : i32 -> tensor<256xi32, #small>
    %a = arith.addi %r, %s : tensor<256xi32, #small>
    %k = arith.cmpi slt, %a, %s : tensor<256xi32, #small>
    %m = arith.select %k, %a, %s : tensor<256xi1, #small>, tensor<256xi32, #small>
    nv_tileaa.return
  }
  // Equal elements are one value until an op has side effects. The rounding mode is part of the intrinsic.
  // CHECK-LABEL: llvm.func @floats(
  // CHECK: %[[C:.*]] = llvm.mlir.constant(2.000000e+00 : f32) : f32
  // CHECK: %[[A:.*]] = llvm.fadd %arg0, %[[C]] : f32
  // CHECK: %[[B:.*]] = llvm.call_intrinsic "llvm.nvvm.mul.rz.ftz.f"(%[[A]], %[[C]]) : (f32, f32) -> f32
  // CHECK: llvm.fptrunc %[[B]] : f32 to f16
  nv_tileaa.func @floats(%x: f32) attributes {numWarps = 4 : i64} {
    %c = arith.constant dense<2.0> : tensor<256xf32, #small>
    %v = nv_tileas.splat %x : f32 -> tensor<256xf32, #small>
    %a = arith.addf %v, %c : tensor<256xf32, #small>
    %b = nv_tileaa.fp <mul> %a, %c rounding <zero> ftz : tensor<256xf32, #small>
    %h = arith.truncf %b : tensor<256xf32, #small> to tensor<256xf16, #small>
    %i = nv_tileaa.bitcast %h : tensor<256xf16, #small> -> tensor<256xi16, #small>
    nv_tileaa.return
  }
}
