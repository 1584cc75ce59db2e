// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileaa-plan-dots{compute-capability=sm_90})' | FileCheck %s
// Consumers compute the left operand of a dot of wgmma in registers, from a tile that TMA loads to a ring of its own.
!weights = !nv_tileaa.tiled_view<tile = [128, 64], memref<?x256xi8, strides = [256, 1]>, padding = zero>
!rows = !nv_tileaa.tiled_view<tile = [64, 128], memref<?x256xf16, strides = [256, 1]>, padding = zero>

// CHECK-LABEL: nv_tileaa.func @weights(
// CHECK-SAME: nv_tileas.dot_plan = #nv_tileas.dot_plan<groups = [2, 1], {{.*}}agents = [<"consumers", warps = 8, registers = 232>, <"producer", warps = 4, registers = 40>]>
// CHECK: nv_tileaa.tiled_load {{.*}} {nv_tileas.own_stages = 8 : i64} : {{.*}} -> tensor<128x64xi8>
// CHECK: nv_tileaa.dot
// CHECK-NOT: producer_computed
nv_tileaa.func @weights(%p0: !nv_tileaa.ptr<i8>, %q0: !nv_tileaa.ptr<f16>, %n: i32, %m0: i32, %zero: tensor<128x128xf32>) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<i8>
  %q = nv_tileaa.assume #cuda_tile.div_by<16>, %q0 : !nv_tileaa.ptr<f16>
  %m = nv_tileaa.make_memref %p, shape = [%m0 : i32], strides = [] : <i8> -> <?x256xi8, strides = [256, 1]>
  %o = nv_tileaa.make_memref %q, shape = [%m0 : i32], strides = [] : <f16> -> <?x256xf16, strides = [256, 1]>
  %v = nv_tileaa.make_tiled_view %m : <?x256xi8, strides = [256, 1]> -> !weights
  %w = nv_tileaa.make_tiled_view %o : <?x256xf16, strides = [256, 1]> -> !rows
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<128x128xf32>) : i32 {
    %a, %t1 = nv_tileaa.tiled_load <weak> %v[%c0, %k] : !weights[i32, i32] -> tensor<128x64xi8>
    %h = arith.sitofp %a : tensor<128x64xi8> to tensor<128x64xf16>
    %b, %t2 = nv_tileaa.tiled_load <weak> %w[%k, %c0] : !rows[i32, i32] -> tensor<64x128xf16>
    %d = nv_tileaa.dot %h, %b, %acc : tensor<128x64xf16>, tensor<64x128xf16>, tensor<128x128xf32>
    scf.yield %d : tensor<128x128xf32>
  }
  nv_tileaa.return
}

// Of a tile that TMA cannot load, the producer computes the operand.
// CHECK-LABEL: nv_tileaa.func @unaligned(
// CHECK-NOT: own_stages
// CHECK: nv_tileaa.dot {{.*}} {nv_tileas.producer_computed = array<i64: 1, -1>}
nv_tileaa.func @unaligned(%p0: !nv_tileaa.ptr<i8>, %q0: !nv_tileaa.ptr<f16>, %n: i32, %m0: i32, %zero: tensor<128x128xf32>) {
  %p = nv_tileaa.assume #cuda_tile.div_by<8>, %p0 : !nv_tileaa.ptr<i8>
  %q = nv_tileaa.assume #cuda_tile.div_by<16>, %q0 : !nv_tileaa.ptr<f16>
  %m = nv_tileaa.make_memref %p, shape = [%m0 : i32], strides = [] : <i8> -> <?x256xi8, strides = [256, 1]>
  %o = nv_tileaa.make_memref %q, shape = [%m0 : i32], strides = [] : <f16> -> <?x256xf16, strides = [256, 1]>
  %v = nv_tileaa.make_tiled_view %m : <?x256xi8, strides = [256, 1]> -> !weights
  %w = nv_tileaa.make_tiled_view %o : <?x256xf16, strides = [256, 1]> -> !rows
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<128x128xf32>) : i32 {
    %a, %t1 = nv_tileaa.tiled_load <weak> %v[%c0, %k] : !weights[i32, i32] -> tensor<128x64xi8>
    %h = arith.sitofp %a : tensor<128x64xi8> to tensor<128x64xf16>
    %b, %t2 = nv_tileaa.tiled_load <weak> %w[%k, %c0] : !rows[i32, i32] -> tensor<64x128xf16>
    %d = nv_tileaa.dot %h, %b, %acc : tensor<128x64xf16>, tensor<64x128xf16>, tensor<128x128xf32>
    scf.yield %d : tensor<128x128xf32>
  }
  nv_tileaa.return
}
