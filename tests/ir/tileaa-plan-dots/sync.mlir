// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileaa-plan-dots{compute-capability=sm_120})' | FileCheck %s
// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileaa-plan-dots{compute-capability=sm_121})' | FileCheck %s
// Targets with TMA, but without dots that read shared memory: warps of the consumers read fragments of the stages.

// Nine warps get the registers of twelve.
// CHECK-LABEL: nv_tileaa.func @loop(
// CHECK-SAME: nv_tileas.dot_plan<groups = [2, 1], columns = 128, stages = 3, scratch = {{[0-9]+}}, launch_registers = 168, agents = [<"consumers", warps = 8>, <"producer", warps = 1>], unit = sync>
!rows_loop = !nv_tileaa.tiled_view<tile = [128, 64], memref<?x256xf16, strides = [256, 1]>, padding = zero>
!columns_loop = !nv_tileaa.tiled_view<tile = [64, 128], memref<?x256xf16, strides = [256, 1]>, padding = zero>
nv_tileaa.func @loop(%p0: !nv_tileaa.ptr<f16>, %q: !nv_tileaa.ptr<f32>, %n: i32, %m0: i32) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f16>
  %m = nv_tileaa.make_memref %p, shape = [%m0 : i32], strides = [] : <f16> -> <?x256xf16, strides = [256, 1]>
  %v = nv_tileaa.make_tiled_view %m : <?x256xf16, strides = [256, 1]> -> !rows_loop
  %w = nv_tileaa.make_tiled_view %m : <?x256xf16, strides = [256, 1]> -> !columns_loop
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<128x128xf32>) : i32 {
    %a, %t1 = nv_tileaa.tiled_load <weak> %v[%c0, %k] : !rows_loop[i32, i32] -> tensor<128x64xf16>
    %b, %t2 = nv_tileaa.tiled_load <weak> %w[%k, %c0] : !columns_loop[i32, i32] -> tensor<64x128xf16>
    %d = nv_tileaa.dot %a, %b, %acc : tensor<128x64xf16>, tensor<64x128xf16>, tensor<128x128xf32>
    scf.yield %d : tensor<128x128xf32>
  }
  %o = nv_tileaa.make_memref %q, shape = [], strides = [] : <f32> -> <128x128xf32, strides = [128, 1]>
  %x = nv_tileaa.make_tiled_view %o : <128x128xf32, strides = [128, 1]> -> <tile = [128, 128], memref<128x128xf32, strides = [128, 1]>>
  %t3 = nv_tileaa.tiled_store <weak> %sum, %x[%c0, %c0] : tensor<128x128xf32>, <tile = [128, 128], memref<128x128xf32, strides = [128, 1]>>[i32, i32]
  nv_tileaa.return
}

// The accumulators need more, so that the producer has a whole warpgroup, whose registers the consumers take.
// CHECK-LABEL: nv_tileaa.func @many_registers(
// CHECK-SAME: nv_tileas.dot_plan<groups = [2, 1], columns = 256, stages = 2, scratch = {{[0-9]+}}, launch_registers = 168, agents = [<"consumers", warps = 8, registers = 224>, <"producer", warps = 4, registers = 56>], unit = sync>
!rows_many_registers = !nv_tileaa.tiled_view<tile = [128, 64], memref<?x256xf16, strides = [256, 1]>, padding = zero>
!columns_many_registers = !nv_tileaa.tiled_view<tile = [64, 256], memref<?x256xf16, strides = [256, 1]>, padding = zero>
nv_tileaa.func @many_registers(%p0: !nv_tileaa.ptr<f16>, %q: !nv_tileaa.ptr<f32>, %n: i32, %m0: i32) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f16>
  %m = nv_tileaa.make_memref %p, shape = [%m0 : i32], strides = [] : <f16> -> <?x256xf16, strides = [256, 1]>
  %v = nv_tileaa.make_tiled_view %m : <?x256xf16, strides = [256, 1]> -> !rows_many_registers
  %w = nv_tileaa.make_tiled_view %m : <?x256xf16, strides = [256, 1]> -> !columns_many_registers
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<128x256xf32>
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<128x256xf32>) : i32 {
    %a, %t1 = nv_tileaa.tiled_load <weak> %v[%c0, %k] : !rows_many_registers[i32, i32] -> tensor<128x64xf16>
    %b, %t2 = nv_tileaa.tiled_load <weak> %w[%k, %c0] : !columns_many_registers[i32, i32] -> tensor<64x256xf16>
    %d = nv_tileaa.dot %a, %b, %acc : tensor<128x64xf16>, tensor<64x256xf16>, tensor<128x256xf32>
    scf.yield %d : tensor<128x256xf32>
  }
  %o = nv_tileaa.make_memref %q, shape = [], strides = [] : <f32> -> <128x256xf32, strides = [256, 1]>
  %x = nv_tileaa.make_tiled_view %o : <128x256xf32, strides = [256, 1]> -> <tile = [128, 256], memref<128x256xf32, strides = [256, 1]>>
  %t3 = nv_tileaa.tiled_store <weak> %sum, %x[%c0, %c0] : tensor<128x256xf32>, <tile = [128, 256], memref<128x256xf32, strides = [256, 1]>>[i32, i32]
  nv_tileaa.return
}

// Two CTAs share an SM if each has enough stages.
// CHECK-LABEL: nv_tileaa.func @two_blocks(
// CHECK-SAME: nv_tileas.dot_plan<groups = [2, 1], columns = 64, stages = 5, scratch = {{[0-9]+}}, launch_registers = 80, agents = [<"consumers", warps = 8>, <"producer", warps = 1>], unit = sync>
!rows_two_blocks = !nv_tileaa.tiled_view<tile = [64, 32], memref<?x256xf16, strides = [256, 1]>, padding = zero>
!columns_two_blocks = !nv_tileaa.tiled_view<tile = [32, 64], memref<?x256xf16, strides = [256, 1]>, padding = zero>
nv_tileaa.func @two_blocks(%p0: !nv_tileaa.ptr<f16>, %q: !nv_tileaa.ptr<f32>, %n: i32, %m0: i32) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f16>
  %m = nv_tileaa.make_memref %p, shape = [%m0 : i32], strides = [] : <f16> -> <?x256xf16, strides = [256, 1]>
  %v = nv_tileaa.make_tiled_view %m : <?x256xf16, strides = [256, 1]> -> !rows_two_blocks
  %w = nv_tileaa.make_tiled_view %m : <?x256xf16, strides = [256, 1]> -> !columns_two_blocks
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i32 {
    %a, %t1 = nv_tileaa.tiled_load <weak> %v[%c0, %k] : !rows_two_blocks[i32, i32] -> tensor<64x32xf16>
    %b, %t2 = nv_tileaa.tiled_load <weak> %w[%k, %c0] : !columns_two_blocks[i32, i32] -> tensor<32x64xf16>
    %d = nv_tileaa.dot %a, %b, %acc : tensor<64x32xf16>, tensor<32x64xf16>, tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  %o = nv_tileaa.make_memref %q, shape = [], strides = [] : <f32> -> <64x64xf32, strides = [64, 1]>
  %x = nv_tileaa.make_tiled_view %o : <64x64xf32, strides = [64, 1]> -> <tile = [64, 64], memref<64x64xf32, strides = [64, 1]>>
  %t3 = nv_tileaa.tiled_store <weak> %sum, %x[%c0, %c0] : tensor<64x64xf32>, <tile = [64, 64], memref<64x64xf32, strides = [64, 1]>>[i32, i32]
  nv_tileaa.return
}

// Eight warps cannot divide the tile.
// CHECK-LABEL: nv_tileaa.func @four_warps(
// CHECK-SAME: agents = [<"consumers", warps = 4>, <"producer", warps = 1>], unit = sync>
!rows_four_warps = !nv_tileaa.tiled_view<tile = [32, 64], memref<?x256xf16, strides = [256, 1]>, padding = zero>
!columns_four_warps = !nv_tileaa.tiled_view<tile = [64, 16], memref<?x256xf16, strides = [256, 1]>, padding = zero>
nv_tileaa.func @four_warps(%p0: !nv_tileaa.ptr<f16>, %q: !nv_tileaa.ptr<f32>, %n: i32, %m0: i32) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f16>
  %m = nv_tileaa.make_memref %p, shape = [%m0 : i32], strides = [] : <f16> -> <?x256xf16, strides = [256, 1]>
  %v = nv_tileaa.make_tiled_view %m : <?x256xf16, strides = [256, 1]> -> !rows_four_warps
  %w = nv_tileaa.make_tiled_view %m : <?x256xf16, strides = [256, 1]> -> !columns_four_warps
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<32x16xf32>
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<32x16xf32>) : i32 {
    %a, %t1 = nv_tileaa.tiled_load <weak> %v[%c0, %k] : !rows_four_warps[i32, i32] -> tensor<32x64xf16>
    %b, %t2 = nv_tileaa.tiled_load <weak> %w[%k, %c0] : !columns_four_warps[i32, i32] -> tensor<64x16xf16>
    %d = nv_tileaa.dot %a, %b, %acc : tensor<32x64xf16>, tensor<64x16xf16>, tensor<32x16xf32>
    scf.yield %d : tensor<32x16xf32>
  }
  %o = nv_tileaa.make_memref %q, shape = [], strides = [] : <f32> -> <32x16xf32, strides = [16, 1]>
  %x = nv_tileaa.make_tiled_view %o : <32x16xf32, strides = [16, 1]> -> <tile = [32, 16], memref<32x16xf32, strides = [16, 1]>>
  %t3 = nv_tileaa.tiled_store <weak> %sum, %x[%c0, %c0] : tensor<32x16xf32>, <tile = [32, 16], memref<32x16xf32, strides = [16, 1]>>[i32, i32]
  nv_tileaa.return
}

// `ldmatrix` transposes bytes by 16x16.
// CHECK-LABEL: nv_tileaa.func @bytes_across_depth(
// CHECK-SAME: agents = [<"consumers", warps = 8>, <"producer", warps = 1>], unit = sync>
!bytes = !nv_tileaa.tiled_view<tile = [128, 128], memref<?x256xf8E4M3FN, strides = [256, 1]>, padding = zero>
nv_tileaa.func @bytes_across_depth(%p0: !nv_tileaa.ptr<f8E4M3FN>, %n: i32, %m0: i32) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f8E4M3FN>
  %m = nv_tileaa.make_memref %p, shape = [%m0 : i32], strides = [] : <f8E4M3FN> -> <?x256xf8E4M3FN, strides = [256, 1]>
  %v = nv_tileaa.make_tiled_view %m : <?x256xf8E4M3FN, strides = [256, 1]> -> !bytes
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<128x128xf32>) : i32 {
    %a, %t1 = nv_tileaa.tiled_load <weak> %v[%c0, %k] : !bytes[i32, i32] -> tensor<128x128xf8E4M3FN>
    %b, %t2 = nv_tileaa.tiled_load <weak> %v[%k, %c0] : !bytes[i32, i32] -> tensor<128x128xf8E4M3FN>
    %d = nv_tileaa.dot %a, %b, %acc : tensor<128x128xf8E4M3FN>, tensor<128x128xf8E4M3FN>, tensor<128x128xf32>
    scf.yield %d : tensor<128x128xf32>
  }
  nv_tileaa.return
}

// Words that are not contiguous along K are in units of 32 bytes, which loads of words read without conflicts.
// CHECK-LABEL: nv_tileaa.func @words(
// CHECK-SAME: nv_tileas.dot_plan<groups = [2, 1], columns = 128, stages = 3, scratch = {{[0-9]+}}, launch_registers = 168, agents = [<"consumers", warps = 8>, <"producer", warps = 1>], unit = sync>
!rows_words = !nv_tileaa.tiled_view<tile = [128, 32], memref<?x256xtf32, strides = [256, 1]>, padding = zero>
!columns_words = !nv_tileaa.tiled_view<tile = [32, 128], memref<?x256xtf32, strides = [256, 1]>, padding = zero>
nv_tileaa.func @words(%p0: !nv_tileaa.ptr<tf32>, %q: !nv_tileaa.ptr<f32>, %n: i32, %m0: i32) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<tf32>
  %m = nv_tileaa.make_memref %p, shape = [%m0 : i32], strides = [] : <tf32> -> <?x256xtf32, strides = [256, 1]>
  %v = nv_tileaa.make_tiled_view %m : <?x256xtf32, strides = [256, 1]> -> !rows_words
  %w = nv_tileaa.make_tiled_view %m : <?x256xtf32, strides = [256, 1]> -> !columns_words
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<128x128xf32>) : i32 {
    %a, %t1 = nv_tileaa.tiled_load <weak> %v[%c0, %k] : !rows_words[i32, i32] -> tensor<128x32xtf32>
    %b, %t2 = nv_tileaa.tiled_load <weak> %w[%k, %c0] : !columns_words[i32, i32] -> tensor<32x128xtf32>
    %d = nv_tileaa.dot %a, %b, %acc : tensor<128x32xtf32>, tensor<32x128xtf32>, tensor<128x128xf32>
    scf.yield %d : tensor<128x128xf32>
  }
  %o = nv_tileaa.make_memref %q, shape = [], strides = [] : <f32> -> <128x128xf32, strides = [128, 1]>
  %x = nv_tileaa.make_tiled_view %o : <128x128xf32, strides = [128, 1]> -> <tile = [128, 128], memref<128x128xf32, strides = [128, 1]>>
  %t3 = nv_tileaa.tiled_store <weak> %sum, %x[%c0, %c0] : tensor<128x128xf32>, <tile = [128, 128], memref<128x128xf32, strides = [128, 1]>>[i32, i32]
  nv_tileaa.return
}

// 8-bit floats that are summed in f16.
// CHECK-LABEL: nv_tileaa.func @half_sums(
// CHECK-SAME: unit = sync
!rows_half_sums = !nv_tileaa.tiled_view<tile = [64, 128], memref<?x256xf8E4M3FN, strides = [256, 1]>, padding = zero>
nv_tileaa.func @half_sums(%p0: !nv_tileaa.ptr<f8E4M3FN>, %q: !nv_tileaa.ptr<f16>, %n: i32, %m0: i32) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f8E4M3FN>
  %m = nv_tileaa.make_memref %p, shape = [%m0 : i32], strides = [] : <f8E4M3FN> -> <?x256xf8E4M3FN, strides = [256, 1]>
  %v = nv_tileaa.make_tiled_view %m : <?x256xf8E4M3FN, strides = [256, 1]> -> !rows_half_sums
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf16>
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf16>) : i32 {
    %a, %t1 = nv_tileaa.tiled_load <weak> %v[%c0, %k] : !rows_half_sums[i32, i32] -> tensor<64x128xf8E4M3FN>
    %b0, %t2 = nv_tileaa.tiled_load <weak> %v[%c1, %k] : !rows_half_sums[i32, i32] -> tensor<64x128xf8E4M3FN>
    %b = nv_tileaa.permute %b0 [1, 0] : tensor<64x128xf8E4M3FN> -> tensor<128x64xf8E4M3FN>
    %d = nv_tileaa.dot %a, %b, %acc : tensor<64x128xf8E4M3FN>, tensor<128x64xf8E4M3FN>, tensor<64x64xf16>
    scf.yield %d : tensor<64x64xf16>
  }
  %o = nv_tileaa.make_memref %q, shape = [], strides = [] : <f16> -> <64x64xf16, strides = [64, 1]>
  %x = nv_tileaa.make_tiled_view %o : <64x64xf16, strides = [64, 1]> -> <tile = [64, 64], memref<64x64xf16, strides = [64, 1]>>
  %t3 = nv_tileaa.tiled_store <weak> %sum, %x[%c0, %c0] : tensor<64x64xf16>, <tile = [64, 64], memref<64x64xf16, strides = [64, 1]>>[i32, i32]
  nv_tileaa.return
}
