// RUN: tileiras-opt %s | tileiras-opt | FileCheck %s
// RUN: tileiras-opt %s --mlir-print-op-generic | tileiras-opt | FileCheck %s
// Dots and their layouts: round trip through the parser and the printer.

// One instruction in one warp: the fragments of m16n8k16.
#c = #nv_tileas.layout<register = [1, 64], lane = [2, 4, 8, 16, 32], warp = []>
#a = #nv_tileas.layout<register = [1, 128, 8], lane = [2, 4, 16, 32, 64], warp = []>
#b = #nv_tileas.layout<register = [8, 64], lane = [16, 32, 1, 2, 4], warp = []>
// CHECK-LABEL: nv_tileaa.func @sync
nv_tileaa.func @sync(%x: tensor<16x16xf16, #a>, %y: tensor<16x8xf16, #b>, %z: tensor<16x8xf32, #c>) {
  // CHECK: nv_tileas.dot %arg0, %arg1, %arg2 by <sync, [16, 8, 16]> : tensor<16x16xf16
  %0 = nv_tileas.dot %x, %y, %z by <sync, [16, 8, 16]> : tensor<16x16xf16, #a>, tensor<16x8xf16, #b>, tensor<16x8xf32, #c>
  // CHECK: nv_tileas.dot %arg0, %arg1, %{{.*}} by <sync, [16, 8, 16]> fast_acc :
  %1 = nv_tileas.dot %x, %y, %0 by <sync, [16, 8, 16]> fast_acc : tensor<16x16xf16, #a>, tensor<16x8xf16, #b>, tensor<16x8xf32, #c>
  nv_tileaa.return
}

// Scalar arithmetic: a thread holds the rows and columns of its accumulators, and all of K.
#scalar_c = #nv_tileas.layout<register = [1, 2], lane = [4, 8, 16, 32, 64], warp = []>
#scalar_a = #nv_tileas.layout<register = [1, 2], lane = [0, 4, 8, 16, 32], warp = []>
#scalar_b = #nv_tileas.layout<register = [8, 16, 1, 2], lane = [4, 0, 0, 0, 0], warp = []>
// CHECK-LABEL: nv_tileaa.func @fma
nv_tileaa.func @fma(%x: tensor<16x4xi8, #scalar_a>, %y: tensor<4x8xi8, #scalar_b>, %z: tensor<16x8xi32, #scalar_c>) {
  // CHECK: nv_tileas.dot %arg0, %arg1, %arg2 by <fma> lhs_unsigned rhs_unsigned :
  %0 = nv_tileas.dot %x, %y, %z by <fma> lhs_unsigned rhs_unsigned : tensor<16x4xi8, #scalar_a>, tensor<4x8xi8, #scalar_b>, tensor<16x8xi32, #scalar_c>
  nv_tileaa.return
}

// Smaller than the instruction: lanes repeat rows, and lanes outside K hold copies that do not contribute.
#small_c = #nv_tileas.layout<register = [1], lane = [2, 4, 8, 16, 32], warp = []>
#small_a = #nv_tileas.layout<register = [1], lane = [2, 0, 4, 8, 16], warp = []>
#small_b = #nv_tileas.layout<register = [8], lane = [16, 0, 1, 2, 4], warp = []>
// CHECK-LABEL: nv_tileaa.func @small
nv_tileaa.func @small(%x: tensor<8x4xf16, #small_a>, %y: tensor<4x8xf16, #small_b>, %z: tensor<8x8xf32, #small_c>) {
  // CHECK: nv_tileas.dot
  %0 = nv_tileas.dot %x, %y, %z by <sync, [16, 8, 16]> : tensor<8x4xf16, #small_a>, tensor<4x8xf16, #small_b>, tensor<8x8xf32, #small_c>
  nv_tileaa.return
}

// Columns are two apart: the accumulator holds four adjacent elements, and the right operand two.
#apart_c = #nv_tileas.layout<register = [2, 128, 1], lane = [4, 8, 16, 32, 64], warp = []>
#apart_b = #nv_tileas.layout<register = [16, 128, 1], lane = [32, 64, 2, 4, 8], warp = []>
// CHECK-LABEL: nv_tileaa.func @apart
nv_tileaa.func @apart(%x: tensor<16x16xf16, #a>, %y: tensor<16x16xf16, #apart_b>, %z: tensor<16x16xf32, #apart_c>) {
  // CHECK: nv_tileas.dot
  %0 = nv_tileas.dot %x, %y, %z by <sync, [16, 8, 16]> : tensor<16x16xf16, #a>, tensor<16x16xf16, #apart_b>, tensor<16x16xf32, #apart_c>
  nv_tileaa.return
}

// One scale per 32 elements of K, in the threads that have the rows and columns of the accumulator.
#bytes_a = #nv_tileas.layout<register = [1, 2, 512, 16, 32], lane = [4, 8, 64, 128, 256], warp = []>
#bytes_b = #nv_tileas.layout<register = [8, 16, 128, 256], lane = [32, 64, 1, 2, 4], warp = []>
#scale_a = #nv_tileas.layout<register = [1, 16], lane = [0, 0, 2, 4, 8], warp = []>
#scale_b = #nv_tileas.layout<register = [8, 1], lane = [2, 4, 0, 0, 0], warp = []>
// CHECK-LABEL: nv_tileaa.func @scaled
nv_tileaa.func @scaled(%x: tensor<16x64xf8E4M3FN, #bytes_a>, %y: tensor<64x8xf8E4M3FN, #bytes_b>, %z: tensor<16x8xf32, #c>, %s: tensor<16x2xf8E8M0FNU, #scale_a>, %t: tensor<2x8xf8E8M0FNU, #scale_b>) {
  // CHECK: nv_tileas.block_scaled_mma %arg0 scale %arg3, %arg1 scale %arg4, %arg2 by <sync, [16, 8, 32]> :
  %0 = nv_tileas.block_scaled_mma %x scale %s, %y scale %t, %z by <sync, [16, 8, 32]> : tensor<16x64xf8E4M3FN, #bytes_a>, tensor<16x2xf8E8M0FNU, #scale_a>, tensor<64x8xf8E4M3FN, #bytes_b>, tensor<2x8xf8E8M0FNU, #scale_b>, tensor<16x8xf32, #c>
  nv_tileaa.return
}

// The instruction scales: the scales of row g are in lane 4g, and those of row g + 8 in lane 4g + 1.
#lane_a = #nv_tileas.layout<register = [1], lane = [16, 0, 2, 4, 8], warp = []>
#lane_b = #nv_tileas.layout<register = [8], lane = [0, 0, 1, 2, 4], warp = []>
// CHECK-LABEL: nv_tileaa.func @scaled_by_instruction
nv_tileaa.func @scaled_by_instruction(%x: tensor<16x64xf8E4M3FN, #bytes_a>, %y: tensor<64x8xf8E4M3FN, #bytes_b>, %z: tensor<16x8xf32, #c>, %s: tensor<16x2xf8E8M0FNU, #lane_a>, %t: tensor<2x8xf8E8M0FNU, #lane_b>) {
  // CHECK: nv_tileas.block_scaled_mma %arg0 scale %arg3, %arg1 scale %arg4, %arg2 by <block_scale, [16, 8, 32]> :
  %0 = nv_tileas.block_scaled_mma %x scale %s, %y scale %t, %z by <block_scale, [16, 8, 32]> : tensor<16x64xf8E4M3FN, #bytes_a>, tensor<16x2xf8E8M0FNU, #lane_a>, tensor<64x8xf8E4M3FN, #bytes_b>, tensor<2x8xf8E8M0FNU, #lane_b>, tensor<16x8xf32, #c>
  nv_tileaa.return
}

// Every unit has a name, even if it is not implemented.
// CHECK: #nv_tileas.mma<warpgroup, [64, 256, 16]>
func.func private @warpgroup() attributes {by = #nv_tileas.mma<warpgroup, [64, 256, 16]>}
// CHECK: #nv_tileas.mma<tensor, [128, 256, 16]>
func.func private @tensor() attributes {by = #nv_tileas.mma<tensor, [128, 256, 16]>}
// CHECK: #nv_tileas.mma<tensor_pair, [256, 128, 32]>
func.func private @tensor_pair() attributes {by = #nv_tileas.mma<tensor_pair, [256, 128, 32]>}

// Dots with unimplemented instructions are valid.
#double_a = #nv_tileas.layout<register = [64, 4], lane = [1, 2, 8, 16, 32], warp = []>
#double_b = #nv_tileas.layout<register = [32], lane = [8, 16, 1, 2, 4], warp = []>
// CHECK-LABEL: nv_tileaa.func @double
nv_tileaa.func @double(%x: tensor<16x8xf64, #double_a>, %y: tensor<8x8xf64, #double_b>, %z: tensor<16x8xf64, #c>) {
  // CHECK: nv_tileas.dot %arg0, %arg1, %arg2 by <sync, [16, 8, 8]> :
  %0 = nv_tileas.dot %x, %y, %z by <sync, [16, 8, 8]> : tensor<16x8xf64, #double_a>, tensor<8x8xf64, #double_b>, tensor<16x8xf64, #c>
  nv_tileaa.return
}
