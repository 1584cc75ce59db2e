// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileaa-plan-dots{compute-capability=sm_90})' | FileCheck %s
// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileaa-plan-dots{compute-capability=sm_80})' | FileCheck %s --check-prefix=WARPS
// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileaa-plan-dots{compute-capability=sm_89})' | FileCheck %s --check-prefix=WARPS
// Targets without TMA have no plan.
// WARPS-NOT: nv_tileas.dot_plan

!view = !nv_tileaa.tiled_view<tile = [64, 64], memref<?x256xf16, strides = [256, 1]>, padding = zero>

// CHECK-LABEL: nv_tileaa.func @loop(
// CHECK-SAME: nv_tileas.dot_plan = #nv_tileas.dot_plan<groups = [1, 1], columns = 64, stages = {{[4-9]|[1-9][0-9]}}, scratch = {{[0-9]+}}, launch_registers = 240, agents = [<"consumers", warps = 4, registers = 240>, <"producer", warps = 4, registers = 40>]>
nv_tileaa.func @loop(%p0: !nv_tileaa.ptr<f16>, %n: i32, %m0: i32) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f16>
  %m = nv_tileaa.make_memref %p, shape = [%m0 : i32], strides = [] : <f16> -> <?x256xf16, strides = [256, 1]>
  %v = nv_tileaa.make_tiled_view %m : <?x256xf16, strides = [256, 1]> -> <tile = [64, 64], memref<?x256xf16, strides = [256, 1]>, padding = zero>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i32 {
    %a, %t1 = nv_tileaa.tiled_load <weak> %v[%c0, %k] : !view[i32, i32] -> tensor<64x64xf16>
    %b, %t2 = nv_tileaa.tiled_load <weak> %v[%k, %c0] : !view[i32, i32] -> tensor<64x64xf16>
    %d = nv_tileaa.dot %a, %b, %acc : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  nv_tileaa.return
}

// Two dots with operands of the same kind share a ring; 128 rows need two warpgroups.
// CHECK-LABEL: nv_tileaa.func @two_loops(
// CHECK-SAME: nv_tileas.dot_plan = #nv_tileas.dot_plan<groups = [2, 1], columns = 128,
// CHECK-SAME: stages = {{[4-7]}},
!rows = !nv_tileaa.tiled_view<tile = [128, 64], memref<?x256xf16, strides = [256, 1]>, padding = zero>
!columns = !nv_tileaa.tiled_view<tile = [64, 128], memref<?x256xf16, strides = [256, 1]>, padding = zero>
nv_tileaa.func @two_loops(%p0: !nv_tileaa.ptr<f16>, %n: i32, %m0: i32) {
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
  %more = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %sum) -> (tensor<128x128xf32>) : i32 {
    %a, %t1 = nv_tileaa.tiled_load <weak> %v[%c1, %k] : !rows[i32, i32] -> tensor<128x64xf16>
    %b, %t2 = nv_tileaa.tiled_load <weak> %w[%k, %c1] : !columns[i32, i32] -> tensor<64x128xf16>
    %d = nv_tileaa.dot %a, %b, %acc : tensor<128x64xf16>, tensor<64x128xf16>, tensor<128x128xf32>
    scf.yield %d : tensor<128x128xf32>
  }
  nv_tileaa.return
}

// 8-bit elements whose accumulators need not be exact.
// CHECK-LABEL: nv_tileaa.func @bytes(
// CHECK-SAME: nv_tileas.dot_plan =
!bytes = !nv_tileaa.tiled_view<tile = [64, 64], memref<?x256xf8E4M3FN, strides = [256, 1]>, padding = zero>
nv_tileaa.func @bytes(%p0: !nv_tileaa.ptr<f8E4M3FN>, %n: i32, %zero: tensor<64x64xf32>) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f8E4M3FN>
  %m = nv_tileaa.make_memref %p, shape = [%n : i32], strides = [] : <f8E4M3FN> -> <?x256xf8E4M3FN, strides = [256, 1]>
  %v = nv_tileaa.make_tiled_view %m : <?x256xf8E4M3FN, strides = [256, 1]> -> !bytes
  %a, %t1 = nv_tileaa.tiled_load <weak> %v[%n, %n] : !bytes[i32, i32] -> tensor<64x64xf8E4M3FN>
  %b, %t2 = nv_tileaa.tiled_load <weak> %v[%n, %n] : !bytes[i32, i32] -> tensor<64x64xf8E4M3FN>
  %bt = nv_tileaa.permute %b [1, 0] : tensor<64x64xf8E4M3FN> -> tensor<64x64xf8E4M3FN>
  %d = nv_tileaa.dot %a, %bt, %zero fast_acc : tensor<64x64xf8E4M3FN>, tensor<64x64xf8E4M3FN>, tensor<64x64xf32>
  nv_tileaa.return
}

// Exact accumulators, with one operand that threads transpose; and operands that are rounded.
// CHECK-LABEL: nv_tileaa.func @exact(
// CHECK-SAME: nv_tileas.dot_plan =
nv_tileaa.func @exact(%p0: !nv_tileaa.ptr<f8E4M3FN>, %n: i32, %zero: tensor<64x64xf32>) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f8E4M3FN>
  %m = nv_tileaa.make_memref %p, shape = [%n : i32], strides = [] : <f8E4M3FN> -> <?x256xf8E4M3FN, strides = [256, 1]>
  %v = nv_tileaa.make_tiled_view %m : <?x256xf8E4M3FN, strides = [256, 1]> -> !bytes
  %a, %t1 = nv_tileaa.tiled_load <weak> %v[%n, %n] : !bytes[i32, i32] -> tensor<64x64xf8E4M3FN>
  %b, %t2 = nv_tileaa.tiled_load <weak> %v[%n, %n] : !bytes[i32, i32] -> tensor<64x64xf8E4M3FN>
  %d = nv_tileaa.dot %a, %b, %zero : tensor<64x64xf8E4M3FN>, tensor<64x64xf8E4M3FN>, tensor<64x64xf32>
  nv_tileaa.return
}
// CHECK-LABEL: nv_tileaa.func @rounded(
// CHECK-SAME: nv_tileas.dot_plan =
!words = !nv_tileaa.tiled_view<tile = [64, 64], memref<?x256xf32, strides = [256, 1]>, padding = zero>
nv_tileaa.func @rounded(%p0: !nv_tileaa.ptr<f32>, %n: i32, %zero: tensor<64x64xf32>) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f32>
  %m = nv_tileaa.make_memref %p, shape = [%n : i32], strides = [] : <f32> -> <?x256xf32, strides = [256, 1]>
  %v = nv_tileaa.make_tiled_view %m : <?x256xf32, strides = [256, 1]> -> !words
  %a, %t1 = nv_tileaa.tiled_load <weak> %v[%n, %n] : !words[i32, i32] -> tensor<64x64xf32>
  %b, %t2 = nv_tileaa.tiled_load <weak> %v[%n, %n] : !words[i32, i32] -> tensor<64x64xf32>
  %x = nv_tileaa.fp_cast %a : tensor<64x64xf32> -> tensor<64x64xtf32>
  %y = nv_tileaa.fp_cast %b : tensor<64x64xf32> -> tensor<64x64xtf32>
  %d = nv_tileaa.dot %x, %y, %zero : tensor<64x64xtf32>, tensor<64x64xtf32>, tensor<64x64xf32>
  nv_tileaa.return
}

// Two CTAs per SM, as the program requests: they share registers and shared memory.
// CHECK-LABEL: nv_tileaa.func @two_blocks(
// CHECK-SAME: nv_tileas.dot_plan = #nv_tileas.dot_plan<groups = [1, 1], columns = 128, stages = 3, scratch = {{[0-9]+}}, launch_registers = 128,
nv_tileaa.func @two_blocks(%p0: !nv_tileaa.ptr<f16>, %n: i32, %m0: i32) attributes {hints = {sm_90 = {occupancy = 2 : i32}}} {
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
  nv_tileaa.return
}

// A loop that is known to be short: two CTAs hide each other's start and end.
// CHECK-LABEL: nv_tileaa.func @short_loop(
// CHECK-SAME: nv_tileas.dot_plan = #nv_tileas.dot_plan<groups = [1, 1], columns = 128, stages = 3, scratch = {{[0-9]+}}, launch_registers = 128,
nv_tileaa.func @short_loop(%p0: !nv_tileaa.ptr<f16>, %m0: i32) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f16>
  %m = nv_tileaa.make_memref %p, shape = [%m0 : i32], strides = [] : <f16> -> <?x256xf16, strides = [256, 1]>
  %v = nv_tileaa.make_tiled_view %m : <?x256xf16, strides = [256, 1]> -> !rows
  %w = nv_tileaa.make_tiled_view %m : <?x256xf16, strides = [256, 1]> -> !columns
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %n = arith.constant 16 : i32
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<128x128xf32>) : i32 {
    %a, %t1 = nv_tileaa.tiled_load <weak> %v[%c0, %k] : !rows[i32, i32] -> tensor<128x64xf16>
    %b, %t2 = nv_tileaa.tiled_load <weak> %w[%k, %c0] : !columns[i32, i32] -> tensor<64x128xf16>
    %d = nv_tileaa.dot %a, %b, %acc : tensor<128x64xf16>, tensor<64x128xf16>, tensor<128x128xf32>
    scf.yield %d : tensor<128x128xf32>
  }
  nv_tileaa.return
}

// The program asks for one CTA.
// CHECK-LABEL: nv_tileaa.func @short_loop_alone(
// CHECK-SAME: nv_tileas.dot_plan = #nv_tileas.dot_plan<groups = [2, 1], columns = 128, stages = {{[4-7]}}, scratch = {{[0-9]+}}, launch_registers = 168,
nv_tileaa.func @short_loop_alone(%p0: !nv_tileaa.ptr<f16>, %m0: i32) attributes {hints = {sm_90 = {occupancy = 1 : i32}}} {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f16>
  %m = nv_tileaa.make_memref %p, shape = [%m0 : i32], strides = [] : <f16> -> <?x256xf16, strides = [256, 1]>
  %v = nv_tileaa.make_tiled_view %m : <?x256xf16, strides = [256, 1]> -> !rows
  %w = nv_tileaa.make_tiled_view %m : <?x256xf16, strides = [256, 1]> -> !columns
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %n = arith.constant 16 : i32
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<128x128xf32>) : i32 {
    %a, %t1 = nv_tileaa.tiled_load <weak> %v[%c0, %k] : !rows[i32, i32] -> tensor<128x64xf16>
    %b, %t2 = nv_tileaa.tiled_load <weak> %w[%k, %c0] : !columns[i32, i32] -> tensor<64x128xf16>
    %d = nv_tileaa.dot %a, %b, %acc : tensor<128x64xf16>, tensor<64x128xf16>, tensor<128x128xf32>
    scf.yield %d : tensor<128x128xf32>
  }
  nv_tileaa.return
}

// A loop that is known to be long.
// CHECK-LABEL: nv_tileaa.func @long_loop(
// CHECK-SAME: nv_tileas.dot_plan = #nv_tileas.dot_plan<groups = [2, 1], columns = 128, stages = {{[4-7]}}, scratch = {{[0-9]+}}, launch_registers = 168,
nv_tileaa.func @long_loop(%p0: !nv_tileaa.ptr<f16>, %m0: i32) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f16>
  %m = nv_tileaa.make_memref %p, shape = [%m0 : i32], strides = [] : <f16> -> <?x256xf16, strides = [256, 1]>
  %v = nv_tileaa.make_tiled_view %m : <?x256xf16, strides = [256, 1]> -> !rows
  %w = nv_tileaa.make_tiled_view %m : <?x256xf16, strides = [256, 1]> -> !columns
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %n = arith.constant 256 : i32
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<128x128xf32>) : i32 {
    %a, %t1 = nv_tileaa.tiled_load <weak> %v[%c0, %k] : !rows[i32, i32] -> tensor<128x64xf16>
    %b, %t2 = nv_tileaa.tiled_load <weak> %w[%k, %c0] : !columns[i32, i32] -> tensor<64x128xf16>
    %d = nv_tileaa.dot %a, %b, %acc : tensor<128x64xf16>, tensor<64x128xf16>, tensor<128x128xf32>
    scf.yield %d : tensor<128x128xf32>
  }
  nv_tileaa.return
}
