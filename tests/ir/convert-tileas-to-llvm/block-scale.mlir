// RUN: tileiras-opt %s --pass-pipeline='builtin.module(convert-tileas-to-llvm{compute-capability=sm_120},cse)' | FileCheck %s
#c = #nv_tileas.layout<register = [1, 64], lane = [2, 4, 8, 16, 32], warp = []>
#a8 = #nv_tileas.layout<register = [1, 2, 512, 16, 32], lane = [4, 8, 64, 128, 256], warp = []>
#b8 = #nv_tileas.layout<register = [8, 16, 128, 256], lane = [32, 64, 1, 2, 4], warp = []>
#a4 = #nv_tileas.layout<register = [1, 2, 4, 512, 32], lane = [8, 16, 64, 128, 256], warp = []>
#b4 = #nv_tileas.layout<register = [8, 16, 32, 256], lane = [64, 128, 1, 2, 4], warp = []>
#s2 = #nv_tileas.layout<register = [1], lane = [16, 0, 2, 4, 8], warp = []>
#t2 = #nv_tileas.layout<register = [8], lane = [0, 0, 1, 2, 4], warp = []>
#s4 = #nv_tileas.layout<register = [1, 2], lane = [32, 0, 4, 8, 16], warp = []>
#t4 = #nv_tileas.layout<register = [8, 16], lane = [0, 0, 1, 2, 4], warp = []>
#a32 = #nv_tileas.layout<register = [1, 2, 4, 256], lane = [8, 16, 32, 64, 128], warp = []>
#b32 = #nv_tileas.layout<register = [8, 16, 32], lane = [64, 128, 1, 2, 4], warp = []>
#s1 = #nv_tileas.layout<register = [], lane = [8, 0, 1, 2, 4], warp = []>
#t1 = #nv_tileas.layout<register = [], lane = [0, 0, 1, 2, 4], warp = []>
gpu.module @kernels {
  // Two blocks share a word of scales: the second instruction uses the next byte.
  // CHECK-LABEL: llvm.func @bytes(
  // CHECK: llvm.inline_asm "mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e5m2.e5m2.f32.ue8m0 {$0, $1, $2, $3}, {$4, $5, $6, $7}, {$8, $9}, {$12, $13, $14, $15}, $10, {0, 0}, $11, {0, 0};", "=f,=f,=f,=f,r,r,r,r,r,r,r,r,f,f,f,f" %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %[[S:.*]], %[[T:.*]], %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} :
  // CHECK: llvm.inline_asm {{.*}}, $10, {1, 0}, $11, {1, 0};", {{.*}} %[[S]], %[[T]], %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} :
  nv_tileaa.func @bytes(%xp: f8E5M2, %yp: f8E5M2, %zp: f32, %sp: f8E8M0FNU, %tp: f8E8M0FNU) attributes {numWarps = 1 : i64} {
    %x = nv_tileas.splat %xp : f8E5M2 -> tensor<16x64xf8E5M2, #a8>
    %y = nv_tileas.splat %yp : f8E5M2 -> tensor<64x8xf8E5M2, #b8>
    %z = nv_tileas.splat %zp : f32 -> tensor<16x8xf32, #c>
    %s = nv_tileas.splat %sp : f8E8M0FNU -> tensor<16x2xf8E8M0FNU, #s2>
    %t = nv_tileas.splat %tp : f8E8M0FNU -> tensor<2x8xf8E8M0FNU, #t2>
    %0 = nv_tileas.block_scaled_mma %x scale %s, %y scale %t, %z by <block_scale, [16, 8, 32]> : tensor<16x64xf8E5M2, #a8>, tensor<16x2xf8E8M0FNU, #s2>, tensor<64x8xf8E5M2, #b8>, tensor<2x8xf8E8M0FNU, #t2>, tensor<16x8xf32, #c>
    nv_tileaa.return
  }
  // 4-bit elements stored in a byte each: two words are packed into one, in the same order for both operands.
  // CHECK-LABEL: llvm.func @nibbles(
  // CHECK: %[[LOW:.*]] = llvm.mlir.constant(252645135 : i32) : i32
  // CHECK: %[[EVEN:.*]] = llvm.and %[[W:.*]], %[[LOW]] : i32
  // CHECK: %[[SHIFTED:.*]] = llvm.shl %[[W]], %{{.*}} : i32
  // CHECK: %[[HIGH:.*]] = llvm.mlir.constant(-252645136 : i32) : i32
  // CHECK: %[[ODD:.*]] = llvm.and %[[SHIFTED]], %[[HIGH]] : i32
  // CHECK: llvm.or %[[EVEN]], %[[ODD]] : i32
  // CHECK: llvm.inline_asm "mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue4m3 {$0, $1, $2, $3}, {$4, $5, $6, $7}, {$8, $9}, {$12, $13, $14, $15}, $10, {0, 0}, $11, {0, 0};"
  nv_tileaa.func @nibbles(%xp: f4E2M1FN, %yp: f4E2M1FN, %zp: f32, %sp: f8E4M3FN, %tp: f8E4M3FN) attributes {numWarps = 1 : i64} {
    %x = nv_tileas.splat %xp : f4E2M1FN -> tensor<16x64xf4E2M1FN, #a4>
    %y = nv_tileas.splat %yp : f4E2M1FN -> tensor<64x8xf4E2M1FN, #b4>
    %z = nv_tileas.splat %zp : f32 -> tensor<16x8xf32, #c>
    %s = nv_tileas.splat %sp : f8E4M3FN -> tensor<16x4xf8E4M3FN, #s4>
    %t = nv_tileas.splat %tp : f8E4M3FN -> tensor<4x8xf8E4M3FN, #t4>
    %0 = nv_tileas.block_scaled_mma %x scale %s, %y scale %t, %z by <block_scale, [16, 8, 64]> : tensor<16x64xf4E2M1FN, #a4>, tensor<16x4xf8E4M3FN, #s4>, tensor<64x8xf4E2M1FN, #b4>, tensor<4x8xf8E4M3FN, #t4>, tensor<16x8xf32, #c>
    nv_tileaa.return
  }
  // Blocks of 32, and blocks of 16 whose scales are powers of two.
  // CHECK-LABEL: llvm.func @powers(
  // CHECK: kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0
  // CHECK: kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue8m0
  nv_tileaa.func @powers(%xp: f4E2M1FN, %yp: f4E2M1FN, %zp: f32, %sp: f8E8M0FNU, %tp: f8E8M0FNU, %up: f8E8M0FNU, %vp: f8E8M0FNU) attributes {numWarps = 1 : i64} {
    %x = nv_tileas.splat %xp : f4E2M1FN -> tensor<16x64xf4E2M1FN, #a4>
    %y = nv_tileas.splat %yp : f4E2M1FN -> tensor<64x8xf4E2M1FN, #b4>
    %z = nv_tileas.splat %zp : f32 -> tensor<16x8xf32, #c>
    %s = nv_tileas.splat %sp : f8E8M0FNU -> tensor<16x4xf8E8M0FNU, #s4>
    %t = nv_tileas.splat %tp : f8E8M0FNU -> tensor<4x8xf8E8M0FNU, #t4>
    %u = nv_tileas.splat %up : f8E8M0FNU -> tensor<16x2xf8E8M0FNU, #s2>
    %v = nv_tileas.splat %vp : f8E8M0FNU -> tensor<2x8xf8E8M0FNU, #t2>
    %0 = nv_tileas.block_scaled_mma %x scale %u, %y scale %v, %z by <block_scale, [16, 8, 64]> : tensor<16x64xf4E2M1FN, #a4>, tensor<16x2xf8E8M0FNU, #s2>, tensor<64x8xf4E2M1FN, #b4>, tensor<2x8xf8E8M0FNU, #t2>, tensor<16x8xf32, #c>
    %1 = nv_tileas.block_scaled_mma %x scale %s, %y scale %t, %0 by <block_scale, [16, 8, 64]> : tensor<16x64xf4E2M1FN, #a4>, tensor<16x4xf8E8M0FNU, #s4>, tensor<64x8xf4E2M1FN, #b4>, tensor<4x8xf8E8M0FNU, #t4>, tensor<16x8xf32, #c>
    nv_tileaa.return
  }
  // Half of the depth is padding: its elements and scales are zero.
  // CHECK-LABEL: llvm.func @shallow(
  // CHECK: %[[ZERO:.*]] = llvm.mlir.constant(0 : i32) : i32
  // CHECK: kind::mxf4.block_scale.scale_vec::2X{{.*}}" %{{[^,]*}}, %{{[^,]*}}, %[[ZERO]], %[[ZERO]], %{{[^,]*}}, %[[ZERO]], %{{.*}} :
  nv_tileaa.func @shallow(%xp: f4E2M1FN, %yp: f4E2M1FN, %zp: f32, %sp: f8E8M0FNU, %tp: f8E8M0FNU) attributes {numWarps = 1 : i64} {
    %x = nv_tileas.splat %xp : f4E2M1FN -> tensor<16x32xf4E2M1FN, #a32>
    %y = nv_tileas.splat %yp : f4E2M1FN -> tensor<32x8xf4E2M1FN, #b32>
    %z = nv_tileas.splat %zp : f32 -> tensor<16x8xf32, #c>
    %s = nv_tileas.splat %sp : f8E8M0FNU -> tensor<16x1xf8E8M0FNU, #s1>
    %t = nv_tileas.splat %tp : f8E8M0FNU -> tensor<1x8xf8E8M0FNU, #t1>
    %0 = nv_tileas.block_scaled_mma %x scale %s, %y scale %t, %z by <block_scale, [16, 8, 64]> : tensor<16x32xf4E2M1FN, #a32>, tensor<16x1xf8E8M0FNU, #s1>, tensor<32x8xf4E2M1FN, #b32>, tensor<1x8xf8E8M0FNU, #t1>, tensor<16x8xf32, #c>
    nv_tileaa.return
  }
}
