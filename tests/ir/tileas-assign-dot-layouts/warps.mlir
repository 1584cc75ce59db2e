// RUN: tileiras-opt %s --pass-pipeline='builtin.module(convert-tileaa-to-tileas{num-warps=4},tileas-assign-dot-layouts{compute-capability=sm_80})' | FileCheck %s
// The distribution of warps and columns. In the bases of a 64x64 accumulator, 1 to 32 are columns and 64 to 2048 are
// rows.

// Two by two warps: parts of 32x32.
// CHECK-LABEL: nv_tileaa.func @square(
// CHECK: nv_tileas.dot {{.*}} tensor<64x64xf32, #nv_tileas.layout<register = [1, 512, 8, 16, 1024], lane = [2, 4, 64, 128, 256], warp = [2048, 32]>>
nv_tileaa.func @square() {
  %a = arith.constant dense<1.0> : tensor<64x64xf16>
  %c = arith.constant dense<0.0> : tensor<64x64xf32>
  %0 = nv_tileaa.dot %a, %a, %c : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
  nv_tileaa.return
}

// If the result becomes the left operand of another dot, both dots keep a row in one warp, so the conversion from
// accumulator to operand stays within threads.
// CHECK-LABEL: nv_tileaa.func @chain(
// CHECK: nv_tileas.dot {{.*}} tensor<64x64xf32, #nv_tileas.layout<register = [1, 512, 8, 16, 32], lane = [2, 4, 64, 128, 256], warp = [1024, 2048]>>
// CHECK: nv_tileas.dot {{.*}} : tensor<64x64xf16, #nv_tileas.layout<register = [1, 512, 8, 16, 32], lane = [2, 4, 64, 128, 256], warp = [1024, 2048]>>
nv_tileaa.func @chain() {
  %a = arith.constant dense<1.0> : tensor<64x64xf16>
  %c = arith.constant dense<0.0> : tensor<64x64xf32>
  %0 = nv_tileaa.dot %a, %a, %c : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
  %1 = math.exp2 %0 : tensor<64x64xf32>
  %2 = arith.truncf %1 : tensor<64x64xf32> to tensor<64x64xf16>
  %3 = nv_tileaa.dot %2, %a, %c : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
  nv_tileaa.return
}

// The same if the result is reduced along its rows.
// CHECK-LABEL: nv_tileaa.func @reduced(
// CHECK: nv_tileas.dot {{.*}} warp = [1024, 2048]>>
nv_tileaa.func @reduced() {
  %a = arith.constant dense<1.0> : tensor<64x64xf16>
  %c = arith.constant dense<0.0> : tensor<64x64xf32>
  %0 = nv_tileaa.dot %a, %a, %c : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
  %1 = nv_tileaa.reduce %0 dim 1 identities [0.0 : f32] : tensor<64x64xf32> -> tensor<64xf32> {
  ^bb0(%x: f32, %y: f32):
    %s = arith.addf %x, %y : f32
    nv_tileaa.yield %s : f32
  }
  nv_tileaa.return
}

// Batches share no operands, so they are split first.
// CHECK-LABEL: nv_tileaa.func @batch(
// CHECK: nv_tileas.dot {{.*}} tensor<2x32x32xf32, #nv_tileas.layout<register = [1, 256, 8, 16], lane = [2, 4, 32, 64, 128], warp = [512, 1024]>>
nv_tileaa.func @batch() {
  %a = arith.constant dense<1.0> : tensor<2x32x32xf16>
  %c = arith.constant dense<0.0> : tensor<2x32x32xf32>
  %0 = nv_tileaa.dot %a, %a, %c : tensor<2x32x32xf16>, tensor<2x32x32xf16>, tensor<2x32x32xf32>
  nv_tileaa.return
}

// If there are more warps than fragments, the other warps hold replicas.
// CHECK-LABEL: nv_tileaa.func @replicas(
// CHECK: nv_tileas.dot {{.*}} tensor<16x16xf32, #nv_tileas.layout<register = [1, 128], lane = [2, 4, 16, 32, 64], warp = [8, 0]>>
nv_tileaa.func @replicas() {
  %a = arith.constant dense<1.0> : tensor<16x16xf16>
  %c = arith.constant dense<0.0> : tensor<16x16xf32>
  %0 = nv_tileaa.dot %a, %a, %c : tensor<16x16xf16>, tensor<16x16xf16>, tensor<16x16xf32>
  nv_tileaa.return
}

// Bytes that are contiguous along the columns in memory: the columns of an instruction are four apart, so a thread
// reads a word of adjacent bytes. Bytes that are contiguous along K stay together.
// CHECK-LABEL: nv_tileaa.func @apart(
// CHECK: nv_tileas.dot {{.*}} tensor<64x64xi32, #nv_tileas.layout<register = [4, 512, 1, 2, 1024], lane = [8, 16, 64, 128, 256], warp = [2048, 32]>>
// CHECK: nv_tileas.dot {{.*}} tensor<64x64xi32, #nv_tileas.layout<register = [1, 512, 8, 16, 1024], lane = [2, 4, 64, 128, 256], warp = [2048, 32]>>
nv_tileaa.func @apart(%p: !nv_tileaa.ptr<i8>, %i: i32) {
  %m = nv_tileaa.make_memref %p, shape = [], strides = [] : <i8> -> <64x64xi8, strides = [64, 1]>
  %v = nv_tileaa.make_tiled_view %m : <64x64xi8, strides = [64, 1]> -> <tile = [64, 64], memref<64x64xi8, strides = [64, 1]>>
  %a, %t = nv_tileaa.tiled_load <weak> %v[%i, %i] : <tile = [64, 64], memref<64x64xi8, strides = [64, 1]>>[i32, i32] -> tensor<64x64xi8>
  %c = arith.constant dense<0> : tensor<64x64xi32>
  %0 = nv_tileaa.dot %a, %a, %c : tensor<64x64xi8>, tensor<64x64xi8>, tensor<64x64xi32>
  %b = nv_tileaa.permute %a [1, 0] : tensor<64x64xi8> -> tensor<64x64xi8>
  %1 = nv_tileaa.dot %a, %b, %c : tensor<64x64xi8>, tensor<64x64xi8>, tensor<64x64xi32>
  nv_tileaa.return
}
