// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileaa-plan-dots{compute-capability=sm_100})' | FileCheck %s
// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileaa-plan-dots{compute-capability=sm_100},tileaa-outline-producers)' | FileCheck %s --check-prefix=OUTLINED

// Warps of a converter compute a left operand from a tile that TMA loads, and two dots of an iteration add to the same
// accumulator.
// CHECK-LABEL: nv_tileaa.func @halves(
// CHECK-SAME: <"converter", warps = {{4|8}}, registers = {{[0-9]+}}>, <"producer", warps = 2, registers = 40>, <"matrix", warps = 2, registers = 40>
// CHECK: nv_tileaa.tiled_load {{.*}}nv_tileas.staged
// CHECK-COUNT-2: nv_tileaa.dot {{.*}}nv_tileas.converted = array<i64: 0>
// OUTLINED-LABEL: nv_tileaa.func @halves(
// OUTLINED: nv_tileas.async.pipeline.produce_one warps {{4|8}} fast 1 of converter
// OUTLINED: nv_tileaa.tiled_load {{.*}}nv_tileas.staged
// OUTLINED: nv_tileas.yield
// OUTLINED: nv_tileas.async.pipeline.produce_one warps {{4|8}} fast 1 of converter
nv_tileaa.func @halves(%w: !nv_tileaa.ptr<i8>, %b: !nv_tileaa.ptr<i8>, %c: !nv_tileaa.ptr<i32>, %n: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %two = arith.constant 2 : i32
  %mask = arith.constant dense<15> : tensor<128x64xi8>
  %four = arith.constant dense<4> : tensor<128x64xi8>
  %init = arith.constant dense<0> : tensor<128x64xi32>
  %pw = nv_tileaa.assume #cuda_tile.div_by<16>, %w : !nv_tileaa.ptr<i8>
  %pb = nv_tileaa.assume #cuda_tile.div_by<16>, %b : !nv_tileaa.ptr<i8>
  %mw = nv_tileaa.make_memref %pw, shape = [%n : i32], strides = [] : <i8> -> <?x256xi8, strides = [256, 1]>
  %mb = nv_tileaa.make_memref %pb, shape = [%n : i32], strides = [] : <i8> -> <?x512xi8, strides = [512, 1]>
  %mc = nv_tileaa.make_memref %c, shape = [%n : i32], strides = [] : <i32> -> <?x64xi32, strides = [64, 1]>
  %vw = nv_tileaa.make_tiled_view %mw : <?x256xi8, strides = [256, 1]> -> <tile = [128, 64], memref<?x256xi8, strides = [256, 1]>, padding = zero>
  %vb = nv_tileaa.make_tiled_view %mb : <?x512xi8, strides = [512, 1]> -> <tile = [64, 64], memref<?x512xi8, strides = [512, 1]>, padding = zero>
  %vc = nv_tileaa.make_tiled_view %mc : <?x64xi32, strides = [64, 1]> -> <tile = [128, 64], memref<?x64xi32, strides = [64, 1]>>
  %sum = scf.for %k = %zero to %n step %one iter_args(%acc = %init) -> (tensor<128x64xi32>) : i32 {
    %x, %tx = nv_tileaa.tiled_load <weak> %vw[%zero, %k] : <tile = [128, 64], memref<?x256xi8, strides = [256, 1]>, padding = zero>[i32, i32] -> tensor<128x64xi8>
    // One op reads the tile.
    %y = arith.xori %x, %mask : tensor<128x64xi8>
    %low = arith.andi %y, %mask : tensor<128x64xi8>
    %high = arith.shrui %y, %four : tensor<128x64xi8>
    %i = arith.muli %k, %two : i32
    %j = arith.addi %i, %one : i32
    %b0, %t0 = nv_tileaa.tiled_load <weak> %vb[%zero, %i] : <tile = [64, 64], memref<?x512xi8, strides = [512, 1]>, padding = zero>[i32, i32] -> tensor<64x64xi8>
    %r0 = nv_tileaa.permute %b0 [1, 0] : tensor<64x64xi8> -> tensor<64x64xi8>
    %b1, %t1 = nv_tileaa.tiled_load <weak> %vb[%zero, %j] : <tile = [64, 64], memref<?x512xi8, strides = [512, 1]>, padding = zero>[i32, i32] -> tensor<64x64xi8>
    %r1 = nv_tileaa.permute %b1 [1, 0] : tensor<64x64xi8> -> tensor<64x64xi8>
    %d0 = nv_tileaa.dot %low, %r0, %acc : tensor<128x64xi8>, tensor<64x64xi8>, tensor<128x64xi32>
    %d1 = nv_tileaa.dot %high, %r1, %d0 : tensor<128x64xi8>, tensor<64x64xi8>, tensor<128x64xi32>
    scf.yield %d1 : tensor<128x64xi32>
  }
  %t = nv_tileaa.tiled_store <weak> %sum, %vc[%zero, %zero] : tensor<128x64xi32>, <tile = [128, 64], memref<?x64xi32, strides = [64, 1]>>[i32, i32]
  nv_tileaa.return
}
