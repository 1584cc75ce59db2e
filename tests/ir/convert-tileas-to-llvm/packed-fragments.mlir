// RUN: tileiras-opt %s --pass-pipeline='builtin.module(convert-tileas-to-llvm{compute-capability=sm_120},cse)' | FileCheck %s
#c = #nv_tileas.layout<register = [1, 64], lane = [2, 4, 8, 16, 32], warp = []>
#a = #nv_tileas.layout<register = [1, 2, 4, 512, 32], lane = [8, 16, 64, 128, 256], warp = []>
#b = #nv_tileas.layout<register = [8, 16, 32, 256], lane = [64, 128, 1, 2, 4], warp = []>
#s = #nv_tileas.layout<register = [1, 2], lane = [32, 0, 4, 8, 16], warp = []>
#t = #nv_tileas.layout<register = [8, 16], lane = [0, 0, 1, 2, 4], warp = []>
#left = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512]>
#right = #nv_tileas.shared_layout<offset = [8, 16, 32, 64, 128, 256, 1, 2, 4]>
!left = !nv_tileas.memdesc<16x64xf4E2M1FN, #left, packed>
!right = !nv_tileas.memdesc<64x8xf4E2M1FN, #right, packed>
gpu.module @kernels {
  // `ldmatrix` reads words of eight packed elements, which the instruction takes as they are.
  // CHECK-LABEL: llvm.func @packed(
  // CHECK: %[[L:.*]] = llvm.inline_asm has_side_effects "ldmatrix.sync.aligned.m8n8.x4.shared.b16
  // CHECK-DAG: %[[A0:.*]] = llvm.extractvalue %[[L]][0]
  // CHECK-DAG: %[[A1:.*]] = llvm.extractvalue %[[L]][1]
  // CHECK-DAG: %[[A2:.*]] = llvm.extractvalue %[[L]][2]
  // CHECK-DAG: %[[A3:.*]] = llvm.extractvalue %[[L]][3]
  // CHECK: %[[R:.*]] = llvm.inline_asm has_side_effects "ldmatrix.sync.aligned.m8n8.x2.shared.b16
  // CHECK-DAG: %[[B0:.*]] = llvm.extractvalue %[[R]][0]
  // CHECK-DAG: %[[B1:.*]] = llvm.extractvalue %[[R]][1]
  // CHECK: llvm.inline_asm "mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue4m3{{.*}}" %[[A0]], %[[A1]], %[[A2]], %[[A3]], %[[B0]], %[[B1]],
  nv_tileaa.func @packed(%zp: f32, %sp: f8E4M3FN) attributes {numWarps = 1 : i64} {
    %p = nv_tileas.alloc_tensor offset 0 : !left
    %q = nv_tileas.alloc_tensor offset 512 : !right
    %x = nv_tileas.local_load %p vector 4 : !left -> tensor<16x64xf4E2M1FN, #a>
    %y = nv_tileas.local_load %q vector 4 : !right -> tensor<64x8xf4E2M1FN, #b>
    %z = nv_tileas.splat %zp : f32 -> tensor<16x8xf32, #c>
    %s = nv_tileas.splat %sp : f8E4M3FN -> tensor<16x4xf8E4M3FN, #s>
    %t = nv_tileas.splat %sp : f8E4M3FN -> tensor<4x8xf8E4M3FN, #t>
    %0 = nv_tileas.block_scaled_mma %x scale %s, %y scale %t, %z by <block_scale, [16, 8, 64]> : tensor<16x64xf4E2M1FN, #a>, tensor<16x4xf8E4M3FN, #s>, tensor<64x8xf4E2M1FN, #b>, tensor<4x8xf8E4M3FN, #t>, tensor<16x8xf32, #c>
    nv_tileaa.return
  }
  // If one operand is not loaded as words, both are packed from bytes, in the same order of elements.
  // CHECK-LABEL: llvm.func @mixed(
  // CHECK-NOT: llvm.inline_asm "mma.sync{{.*}}" %[[A0]],
  // CHECK: llvm.mlir.constant(-252645136 : i32)
  nv_tileaa.func @mixed(%yp: f4E2M1FN, %zp: f32, %sp: f8E4M3FN) attributes {numWarps = 1 : i64} {
    %p = nv_tileas.alloc_tensor offset 0 : !left
    %x = nv_tileas.local_load %p vector 4 : !left -> tensor<16x64xf4E2M1FN, #a>
    %y = nv_tileas.splat %yp : f4E2M1FN -> tensor<64x8xf4E2M1FN, #b>
    %z = nv_tileas.splat %zp : f32 -> tensor<16x8xf32, #c>
    %s = nv_tileas.splat %sp : f8E4M3FN -> tensor<16x4xf8E4M3FN, #s>
    %t = nv_tileas.splat %sp : f8E4M3FN -> tensor<4x8xf8E4M3FN, #t>
    %0 = nv_tileas.block_scaled_mma %x scale %s, %y scale %t, %z by <block_scale, [16, 8, 64]> : tensor<16x64xf4E2M1FN, #a>, tensor<16x4xf8E4M3FN, #s>, tensor<64x8xf4E2M1FN, #b>, tensor<4x8xf8E4M3FN, #t>, tensor<16x8xf32, #c>
    nv_tileaa.return
  }
}
