// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileaa-plan-dots{compute-capability=sm_100})' | FileCheck %s
// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileaa-plan-dots{compute-capability=sm_103})' | FileCheck %s
// Dots of targets with `tcgen05.mma` accumulate in tensor memory.

// Eight warps read the accumulator, one loads the operands, and one issues the dots.
// CHECK-LABEL: nv_tileaa.func @loop(
// CHECK-SAME: nv_tileas.dot_plan<groups = [1, 2], columns = 128, stages = 6, scratch = {{[0-9]+}}, launch_registers = 200, agents = [<"consumers", warps = 8>, <"producer", warps = 1>, <"matrix", warps = 1>], unit = tensor>
!rows = !nv_tileaa.tiled_view<tile = [128, 64], memref<?x256xf16, strides = [256, 1]>, padding = zero>
!columns = !nv_tileaa.tiled_view<tile = [64, 128], memref<?x256xf16, strides = [256, 1]>, padding = zero>
nv_tileaa.func @loop(%p0: !nv_tileaa.ptr<f16>, %q: !nv_tileaa.ptr<f32>, %n: i32, %m0: i32) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f16>
  %m = nv_tileaa.make_memref %p, shape = [%m0 : i32], strides = [] : <f16> -> <?x256xf16, strides = [256, 1]>
  %v = nv_tileaa.make_tiled_view %m : <?x256xf16, strides = [256, 1]> -> !rows
  %w = nv_tileaa.make_tiled_view %m : <?x256xf16, strides = [256, 1]> -> !columns
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<128x128xf32>) : i32 {
    %a, %t1 = nv_tileaa.tiled_load <weak> %v[%c0, %k] : !rows[i32, i32] -> tensor<128x64xf16>
    %b, %t2 = nv_tileaa.tiled_load <weak> %w[%k, %c0] : !columns[i32, i32] -> tensor<64x128xf16>
    %d = nv_tileaa.dot %a, %b, %acc : tensor<128x64xf16>, tensor<64x128xf16>, tensor<128x128xf32>
    scf.yield %d : tensor<128x128xf32>
  }
  %o = nv_tileaa.make_memref %q, shape = [], strides = [] : <f32> -> <128x128xf32, strides = [128, 1]>
  %x = nv_tileaa.make_tiled_view %o : <128x128xf32, strides = [128, 1]> -> <tile = [128, 128], memref<128x128xf32, strides = [128, 1]>>
  %t3 = nv_tileaa.tiled_store <weak> %sum, %x[%c0, %c0] : tensor<128x128xf32>, <tile = [128, 128], memref<128x128xf32, strides = [128, 1]>>[i32, i32]
  nv_tileaa.return
}

// A loop over tiles has two accumulators, so that one is read while dots add to the other.
// CHECK-LABEL: nv_tileaa.func @tiles(
// CHECK-SAME: unit = tensor, accumulators = 2>
nv_tileaa.func @tiles(%p0: !nv_tileaa.ptr<f16>, %q: !nv_tileaa.ptr<f32>, %n: i32, %m0: i32) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f16>
  %m = nv_tileaa.make_memref %p, shape = [%m0 : i32], strides = [] : <f16> -> <?x256xf16, strides = [256, 1]>
  %v = nv_tileaa.make_tiled_view %m : <?x256xf16, strides = [256, 1]> -> !rows
  %w = nv_tileaa.make_tiled_view %m : <?x256xf16, strides = [256, 1]> -> !columns
  %o = nv_tileaa.make_memref %q, shape = [], strides = [] : <f32> -> <128x128xf32, strides = [128, 1]>
  %x = nv_tileaa.make_tiled_view %o : <128x128xf32, strides = [128, 1]> -> <tile = [128, 128], memref<128x128xf32, strides = [128, 1]>>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  scf.for %i = %c0 to %n step %c1 : i32 {
    %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<128x128xf32>) : i32 {
      %a, %t1 = nv_tileaa.tiled_load <weak> %v[%i, %k] : !rows[i32, i32] -> tensor<128x64xf16>
      %b, %t2 = nv_tileaa.tiled_load <weak> %w[%k, %c0] : !columns[i32, i32] -> tensor<64x128xf16>
      %d = nv_tileaa.dot %a, %b, %acc : tensor<128x64xf16>, tensor<64x128xf16>, tensor<128x128xf32>
      scf.yield %d : tensor<128x128xf32>
    }
    %t3 = nv_tileaa.tiled_store <weak> %sum, %x[%i, %c0] : tensor<128x128xf32>, <tile = [128, 128], memref<128x128xf32, strides = [128, 1]>>[i32, i32]
  }
  nv_tileaa.return
}

// The accumulator starts at zero in tensor memory, and the consumers add the tensor that the program names.
// CHECK-LABEL: nv_tileaa.func @start(
// CHECK-SAME: unit = tensor>
!view = !nv_tileaa.tiled_view<tile = [64, 64], memref<?x256xf16, strides = [256, 1]>, padding = zero>
nv_tileaa.func @start(%p0: !nv_tileaa.ptr<f16>, %n: i32, %start: tensor<64x64xf32>) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f16>
  %m = nv_tileaa.make_memref %p, shape = [%n : i32], strides = [] : <f16> -> <?x256xf16, strides = [256, 1]>
  %v = nv_tileaa.make_tiled_view %m : <?x256xf16, strides = [256, 1]> -> !view
  %a, %t1 = nv_tileaa.tiled_load <weak> %v[%n, %n] : !view[i32, i32] -> tensor<64x64xf16>
  %b, %t2 = nv_tileaa.tiled_load <weak> %v[%n, %n] : !view[i32, i32] -> tensor<64x64xf16>
  %d = nv_tileaa.dot %a, %b, %start : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
  nv_tileaa.return
}

// Two CTAs with different rows of the left operand run the dots together.
// CHECK-LABEL: nv_tileaa.func @pair(
// CHECK-SAME: agents = [<"consumers", warps = 8>, <"producer", warps = 1>, <"matrix", warps = 1 on rank 0>], unit = tensor_pair>
nv_tileaa.func @pair(%p0: !nv_tileaa.ptr<f16>, %q: !nv_tileaa.ptr<f32>, %n: i32, %m0: i32) attributes {nv_tileas.num_ctas = 2 : i64} {
  %rank = nv_tileaa.get_cta_rank
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f16>
  %m = nv_tileaa.make_memref %p, shape = [%m0 : i32], strides = [] : <f16> -> <?x256xf16, strides = [256, 1]>
  %v = nv_tileaa.make_tiled_view %m : <?x256xf16, strides = [256, 1]> -> !rows
  %w = nv_tileaa.make_tiled_view %m : <?x256xf16, strides = [256, 1]> -> !columns
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<128x128xf32>) : i32 {
    %a, %t1 = nv_tileaa.tiled_load <weak> %v[%rank, %k] : !rows[i32, i32] -> tensor<128x64xf16>
    %b, %t2 = nv_tileaa.tiled_load <weak> %w[%k, %c0] : !columns[i32, i32] -> tensor<64x128xf16>
    %d = nv_tileaa.dot %a, %b, %acc : tensor<128x64xf16>, tensor<64x128xf16>, tensor<128x128xf32>
    scf.yield %d : tensor<128x128xf32>
  }
  %o = nv_tileaa.make_memref %q, shape = [], strides = [] : <f32> -> <128x128xf32, strides = [128, 1]>
  %x = nv_tileaa.make_tiled_view %o : <128x128xf32, strides = [128, 1]> -> <tile = [128, 128], memref<128x128xf32, strides = [128, 1]>>
  %t3 = nv_tileaa.tiled_store <weak> %sum, %x[%rank, %c0] : tensor<128x128xf32>, <tile = [128, 128], memref<128x128xf32, strides = [128, 1]>>[i32, i32]
  nv_tileaa.return
}

// They do not if their right operands differ.
// CHECK-LABEL: nv_tileaa.func @columns(
// CHECK-SAME: <"matrix", warps = 1>], unit = tensor>
nv_tileaa.func @columns(%p0: !nv_tileaa.ptr<f16>, %q: !nv_tileaa.ptr<f32>, %n: i32, %m0: i32) attributes {nv_tileas.num_ctas = 2 : i64} {
  %rank = nv_tileaa.get_cta_rank
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f16>
  %m = nv_tileaa.make_memref %p, shape = [%m0 : i32], strides = [] : <f16> -> <?x256xf16, strides = [256, 1]>
  %v = nv_tileaa.make_tiled_view %m : <?x256xf16, strides = [256, 1]> -> !rows
  %w = nv_tileaa.make_tiled_view %m : <?x256xf16, strides = [256, 1]> -> !columns
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<128x128xf32>) : i32 {
    %a, %t1 = nv_tileaa.tiled_load <weak> %v[%c0, %k] : !rows[i32, i32] -> tensor<128x64xf16>
    %b, %t2 = nv_tileaa.tiled_load <weak> %w[%k, %rank] : !columns[i32, i32] -> tensor<64x128xf16>
    %d = nv_tileaa.dot %a, %b, %acc : tensor<128x64xf16>, tensor<64x128xf16>, tensor<128x128xf32>
    scf.yield %d : tensor<128x128xf32>
  }
  %o = nv_tileaa.make_memref %q, shape = [], strides = [] : <f32> -> <128x128xf32, strides = [128, 1]>
  %x = nv_tileaa.make_tiled_view %o : <128x128xf32, strides = [128, 1]> -> <tile = [128, 128], memref<128x128xf32, strides = [128, 1]>>
  %t3 = nv_tileaa.tiled_store <weak> %sum, %x[%rank, %c0] : tensor<128x128xf32>, <tile = [128, 128], memref<128x128xf32, strides = [128, 1]>>[i32, i32]
  nv_tileaa.return
}
