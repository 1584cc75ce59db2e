// RUN: tileiras-opt %s --split-input-file --remarks --verify-diagnostics --pass-pipeline='builtin.module(tileaa-plan-dots{compute-capability=sm_120})' | FileCheck %s
// Reasons why the warps that multiply also load.
// CHECK-NOT: nv_tileas.dot_plan
// Words that are not contiguous along K need units of 32 bytes, and 32 columns.
!rows = !nv_tileaa.tiled_view<tile = [64, 64], memref<?x256xtf32, strides = [256, 1]>, padding = zero>
!columns = !nv_tileaa.tiled_view<tile = [64, 16], memref<?x256xtf32, strides = [256, 1]>, padding = zero>
nv_tileaa.func @few_columns(%p0: !nv_tileaa.ptr<tf32>, %n: i32) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<tf32>
  %m = nv_tileaa.make_memref %p, shape = [%n : i32], strides = [] : <tf32> -> <?x256xtf32, strides = [256, 1]>
  %v = nv_tileaa.make_tiled_view %m : <?x256xtf32, strides = [256, 1]> -> !rows
  %w = nv_tileaa.make_tiled_view %m : <?x256xtf32, strides = [256, 1]> -> !columns
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<64x16xf32>
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x16xf32>) : i32 {
    %a, %ta = nv_tileaa.tiled_load <weak> %v[%c0, %k] : !rows[i32, i32] -> tensor<64x64xtf32>
    // expected-remark @below {{rhs: TMA cannot load it: dimension 1 has 16 elements, but an atom needs 32}}
    %b, %tb = nv_tileaa.tiled_load <weak> %w[%k, %c0] : !columns[i32, i32] -> tensor<64x16xtf32>
    %d = nv_tileaa.dot %a, %b, %acc : tensor<64x64xtf32>, tensor<64x16xtf32>, tensor<64x16xf32>
    scf.yield %d : tensor<64x16xf32>
  }
  nv_tileaa.return
}
// -----
!view = !nv_tileaa.tiled_view<tile = [16, 16], memref<?x256xf16, strides = [256, 1]>, padding = zero>
nv_tileaa.func @small(%p0: !nv_tileaa.ptr<f16>, %n: i32, %given: tensor<16x16xf16>) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f16>
  %m = nv_tileaa.make_memref %p, shape = [%n : i32], strides = [] : <f16> -> <?x256xf16, strides = [256, 1]>
  %v = nv_tileaa.make_tiled_view %m : <?x256xf16, strides = [256, 1]> -> !view
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<16x16xf32>) : i32 {
    %a, %ta = nv_tileaa.tiled_load <weak> %v[%c0, %k] : !view[i32, i32] -> tensor<16x16xf16>
    %b, %tb = nv_tileaa.tiled_load <weak> %v[%c0, %k] : !view[i32, i32] -> tensor<16x16xf16>
    // expected-remark @below {{eight or four warps cannot divide a tile of 16 rows, 16 columns and depth 16}}
    %d = nv_tileaa.dot %a, %b, %acc : tensor<16x16xf16>, tensor<16x16xf16>, tensor<16x16xf32>
    scf.yield %d : tensor<16x16xf32>
  }
  nv_tileaa.return
}
// -----
!view = !nv_tileaa.tiled_view<tile = [64, 64], memref<?x256xf16, strides = [256, 1]>, padding = zero>
nv_tileaa.func @computed(%p0: !nv_tileaa.ptr<f16>, %n: i32, %given: tensor<64x64xf16>) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f16>
  %m = nv_tileaa.make_memref %p, shape = [%n : i32], strides = [] : <f16> -> <?x256xf16, strides = [256, 1]>
  %v = nv_tileaa.make_tiled_view %m : <?x256xf16, strides = [256, 1]> -> !view
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i32 {
    // expected-remark @below {{its elements are computed}}
    %a, %ta = nv_tileaa.tiled_load <weak> %v[%c0, %k] : !view[i32, i32] -> tensor<64x64xf16>
    %b, %tb = nv_tileaa.tiled_load <weak> %v[%c0, %k] : !view[i32, i32] -> tensor<64x64xf16>
    %e = arith.negf %a : tensor<64x64xf16>
    %d = nv_tileaa.dot %e, %b, %acc : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  nv_tileaa.return
}
// -----
!view = !nv_tileaa.tiled_view<tile = [64, 64], memref<?x256xf16, strides = [256, 1]>, padding = zero>
nv_tileaa.func @resident(%p0: !nv_tileaa.ptr<f16>, %n: i32, %given: tensor<64x64xf16>) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f16>
  %m = nv_tileaa.make_memref %p, shape = [%n : i32], strides = [] : <f16> -> <?x256xf16, strides = [256, 1]>
  %v = nv_tileaa.make_tiled_view %m : <?x256xf16, strides = [256, 1]> -> !view
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i32 {
    %a, %ta = nv_tileaa.tiled_load <weak> %v[%c0, %k] : !view[i32, i32] -> tensor<64x64xf16>
    // expected-remark @below {{the right operand is not a tile that TMA loads for the dot}}
    %d = nv_tileaa.dot %a, %given, %acc : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  nv_tileaa.return
}
// -----
!view = !nv_tileaa.tiled_view<tile = [64, 64], memref<?x256xf16, strides = [256, 1]>, padding = zero>
nv_tileaa.func @once(%p0: !nv_tileaa.ptr<f16>, %n: i32, %given: tensor<64x64xf16>) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f16>
  %m = nv_tileaa.make_memref %p, shape = [%n : i32], strides = [] : <f16> -> <?x256xf16, strides = [256, 1]>
  %v = nv_tileaa.make_tiled_view %m : <?x256xf16, strides = [256, 1]> -> !view
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %k = arith.constant 1 : i32
  %acc = arith.constant dense<1.0> : tensor<64x64xf32>
  %a, %ta = nv_tileaa.tiled_load <weak> %v[%c0, %k] : !view[i32, i32] -> tensor<64x64xf16>
  %b, %tb = nv_tileaa.tiled_load <weak> %v[%c0, %k] : !view[i32, i32] -> tensor<64x64xf16>
  // expected-remark @below {{no dot is in a loop}}
  %d = nv_tileaa.dot %a, %b, %acc : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
  nv_tileaa.return
}
