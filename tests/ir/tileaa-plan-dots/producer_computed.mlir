// RUN: tileiras-opt %s --split-input-file --remarks --verify-diagnostics --pass-pipeline='builtin.module(tileaa-plan-dots{compute-capability=sm_90})' | FileCheck %s
// Operands that producer warps compute because TMA cannot load them.

// CHECK-LABEL: @base
// CHECK: nv_tileaa.dot {{.*}} {nv_tileas.or_copied = array<i64: 0, 1>, nv_tileas.producer_computed = array<i64: 1, 1>}
!view = !nv_tileaa.tiled_view<tile = [64, 64], memref<?x256xf16, strides = [256, 1]>, padding = zero>
nv_tileaa.func @base(%p: !nv_tileaa.ptr<f16>, %n: i32, %zero: tensor<64x64xf32>) {
  %m = nv_tileaa.make_memref %p, shape = [%n : i32], strides = [] : <f16> -> <?x256xf16, strides = [256, 1]>
  %v = nv_tileaa.make_tiled_view %m : <?x256xf16, strides = [256, 1]> -> !view
  %a, %t1 = nv_tileaa.tiled_load <weak> %v[%n, %n] : !view[i32, i32] -> tensor<64x64xf16>
  %b, %t2 = nv_tileaa.tiled_load <weak> %v[%n, %n] : !view[i32, i32] -> tensor<64x64xf16>
  // expected-remark @below {{producer warps compute lhs if a run-time test requires it: TMA cannot load it: the base address is not known to be a multiple of 16 bytes; producer warps compute rhs if a run-time test}}
  %d = nv_tileaa.dot %a, %b, %zero : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
  nv_tileaa.return
}
// -----
!view = !nv_tileaa.tiled_view<tile = [64, 64], memref<?x256xf16, strides = [?, 1]>, padding = zero>
nv_tileaa.func @stride(%p0: !nv_tileaa.ptr<f16>, %n: i32, %zero: tensor<64x64xf32>) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f16>
  %m = nv_tileaa.make_memref %p, shape = [%n : i32], strides = [%n : i32] : <f16> -> <?x256xf16, strides = [?, 1]>
  %v = nv_tileaa.make_tiled_view %m : <?x256xf16, strides = [?, 1]> -> !view
  %a, %t1 = nv_tileaa.tiled_load <weak> %v[%n, %n] : !view[i32, i32] -> tensor<64x64xf16>
  %b, %t2 = nv_tileaa.tiled_load <weak> %v[%n, %n] : !view[i32, i32] -> tensor<64x64xf16>
  // expected-remark @below {{producer warps compute lhs if a run-time test requires it: TMA cannot load it: the stride of dimension 0 is not known to be a multiple of 8 elements; producer warps compute rhs if a run-time test}}
  %d = nv_tileaa.dot %a, %b, %zero : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
  nv_tileaa.return
}
// -----
// Rows that a list selects: the tile is contiguous along K, and is computed from a 16-byte load.
// CHECK-LABEL: @gathered
// CHECK-SAME: nv_tileas.dot_plan = #nv_tileas.dot_plan<groups = [2, 1], columns = 128,
// CHECK: nv_tileaa.dot {{.*}} {nv_tileas.producer_computed = array<i64: 1, -1>}
!view = !nv_tileaa.tiled_view<tile = [64, 128], memref<?x256xf16, strides = [256, 1]>, padding = zero>
nv_tileaa.func @gathered(%p0: !nv_tileaa.ptr<f16>, %q: !nv_tileaa.ptr<i32>, %n: i32, %zero: tensor<128x128xf32>) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f16>
  %m = nv_tileaa.make_memref %p, shape = [%n : i32], strides = [] : <f16> -> <?x256xf16, strides = [256, 1]>
  %v = nv_tileaa.make_tiled_view %m : <?x256xf16, strides = [256, 1]> -> !view
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %width = arith.constant dense<1024> : tensor<128x64xi32>
  %slots = nv_tileaa.make_range : tensor<128xi32>
  %list = nv_tileaa.splat %q : !nv_tileaa.ptr<i32> -> tensor<128x!nv_tileaa.ptr<i32>>
  %at = nv_tileaa.addptr %list, %slots : tensor<128x!nv_tileaa.ptr<i32>>, tensor<128xi32>
  %rows, %t0 = nv_tileaa.load <weak> %at : tensor<128x!nv_tileaa.ptr<i32>> -> tensor<128xi32>
  %column = nv_tileaa.view %rows : tensor<128xi32> -> tensor<128x1xi32>
  %all = nv_tileaa.broadcast %column : tensor<128x1xi32> -> tensor<128x64xi32>
  %start = arith.muli %all, %width : tensor<128x64xi32>
  %base = nv_tileaa.splat %p : !nv_tileaa.ptr<f16> -> tensor<128x64x!nv_tileaa.ptr<f16>>
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<128x128xf32>) : i32 {
    %depth = arith.muli %k, %c64 : i32
    %ds = nv_tileaa.splat %depth : i32 -> tensor<64xi32>
    %d0 = nv_tileaa.make_range : tensor<64xi32>
    %d1 = arith.addi %d0, %ds : tensor<64xi32>
    %d2 = nv_tileaa.view %d1 : tensor<64xi32> -> tensor<1x64xi32>
    %d3 = nv_tileaa.broadcast %d2 : tensor<1x64xi32> -> tensor<128x64xi32>
    %offset = arith.addi %start, %d3 : tensor<128x64xi32>
    %address = nv_tileaa.addptr %base, %offset : tensor<128x64x!nv_tileaa.ptr<f16>>, tensor<128x64xi32>
    %a, %t1 = nv_tileaa.load <weak> %address : tensor<128x64x!nv_tileaa.ptr<f16>> -> tensor<128x64xf16>
    %b, %t2 = nv_tileaa.tiled_load <weak> %v[%k, %c0] : !view[i32, i32] -> tensor<64x128xf16>
    // expected-remark @below {{by asynchronous copies}}
    %d = nv_tileaa.dot %a, %b, %acc : tensor<128x64xf16>, tensor<64x128xf16>, tensor<128x128xf32>
    scf.yield %d : tensor<128x128xf32>
  }
  nv_tileaa.return
}
// -----
// CHECK-LABEL: @between
// CHECK-NOT: nv_tileas.dot_plan
!view = !nv_tileaa.tiled_view<tile = [64, 64], memref<?x256xf16, strides = [256, 1]>, padding = zero>
nv_tileaa.func @between(%p0: !nv_tileaa.ptr<f16>, %n: i32, %zero: tensor<64x64xf32>, %h: tensor<64x64xf16>) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f16>
  %m = nv_tileaa.make_memref %p, shape = [%n : i32], strides = [] : <f16> -> <?x256xf16, strides = [256, 1]>
  %v = nv_tileaa.make_tiled_view %m : <?x256xf16, strides = [256, 1]> -> !view
  %x, %t1 = nv_tileaa.tiled_load <weak> %v[%n, %n] : !view[i32, i32] -> tensor<64x64xf16>
  %y, %t2 = nv_tileaa.tiled_load <weak> %v[%n, %n] token %t1 : !view[i32, i32] -> tensor<64x64xf16>
  %t3 = nv_tileaa.tiled_store <weak> %h, %v[%n, %n] token %t2 : tensor<64x64xf16>, !view[i32, i32]
  %a = arith.addf %x, %x : tensor<64x64xf16>
  %b, %t4 = nv_tileaa.tiled_load <weak> %v[%n, %n] : !view[i32, i32] -> tensor<64x64xf16>
  // expected-remark @below {{other accesses are ordered after the load}}
  %d = nv_tileaa.dot %a, %b, %zero : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
  nv_tileaa.return
}
// -----
// Tensors that change in each iteration have no tensor map; threads copy them.
// CHECK-LABEL: @tensor_in_loop
// CHECK: nv_tileaa.dot {{.*}} {nv_tileas.producer_computed = array<i64: 1, 1>}
!view = !nv_tileaa.tiled_view<tile = [64, 64], memref<?x256xf16, strides = [256, 1]>, padding = zero>
nv_tileaa.func @tensor_in_loop(%p0: !nv_tileaa.ptr<f16>, %n: i32, %zero: tensor<64x64xf32>) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f16>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i32 {
    %m = nv_tileaa.make_memref %p, shape = [%k : i32], strides = [] : <f16> -> <?x256xf16, strides = [256, 1]>
    %v = nv_tileaa.make_tiled_view %m : <?x256xf16, strides = [256, 1]> -> !view
    %a, %t1 = nv_tileaa.tiled_load <weak> %v[%n, %k] : !view[i32, i32] -> tensor<64x64xf16>
    %b, %t2 = nv_tileaa.tiled_load <weak> %v[%k, %n] : !view[i32, i32] -> tensor<64x64xf16>
    // expected-remark @below {{4 producer warps compute 16384 bytes of each stage in 132 clocks, by asynchronous copies, with an estimated 40 registers per thread}}
    %d = nv_tileaa.dot %a, %b, %acc : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  nv_tileaa.return
}

// -----
// Each conversion processes a quarter of the lanes at a time, also from narrow floats: one warpgroup would be slower
// than the loads from L2.
// CHECK-LABEL: @weights
// CHECK: nv_tileaa.dot {{.*}} {nv_tileas.producer_computed = array<i64: 1, -1>}
!weights = !nv_tileaa.tiled_view<tile = [128, 128], memref<?x256xf8E4M3FN, strides = [256, 1]>, padding = zero>
!rows = !nv_tileaa.tiled_view<tile = [128, 128], memref<?x256xbf16, strides = [256, 1]>, padding = zero>
nv_tileaa.func @weights(%p0: !nv_tileaa.ptr<f8E4M3FN>, %q0: !nv_tileaa.ptr<bf16>, %n: i32, %m0: i32, %zero: tensor<128x128xf32>) {
  %p = nv_tileaa.assume #cuda_tile.div_by<8>, %p0 : !nv_tileaa.ptr<f8E4M3FN>
  %q = nv_tileaa.assume #cuda_tile.div_by<16>, %q0 : !nv_tileaa.ptr<bf16>
  %m = nv_tileaa.make_memref %p, shape = [%m0 : i32], strides = [] : <f8E4M3FN> -> <?x256xf8E4M3FN, strides = [256, 1]>
  %o = nv_tileaa.make_memref %q, shape = [%m0 : i32], strides = [] : <bf16> -> <?x256xbf16, strides = [256, 1]>
  %v = nv_tileaa.make_tiled_view %m : <?x256xf8E4M3FN, strides = [256, 1]> -> !weights
  %w = nv_tileaa.make_tiled_view %o : <?x256xbf16, strides = [256, 1]> -> !rows
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<128x128xf32>) : i32 {
    %a, %t1 = nv_tileaa.tiled_load <weak> %v[%c0, %k] : !weights[i32, i32] -> tensor<128x128xf8E4M3FN>
    %f = nv_tileaa.fp_cast %a : tensor<128x128xf8E4M3FN> -> tensor<128x128xf32>
    %g = arith.addf %f, %f : tensor<128x128xf32>
    %h = arith.truncf %g : tensor<128x128xf32> to tensor<128x128xbf16>
    %b, %t2 = nv_tileaa.tiled_load <weak> %w[%k, %c0] : !rows[i32, i32] -> tensor<128x128xbf16>
    // expected-remark @below {{8 producer warps compute}}
    %d = nv_tileaa.dot %h, %b, %acc : tensor<128x128xbf16>, tensor<128x128xbf16>, tensor<128x128xf32>
    scf.yield %d : tensor<128x128xf32>
  }
  nv_tileaa.return
}
// -----
// Several dots use one tile only if the loop does nothing with their accumulators except add to them.
!view = !nv_tileaa.tiled_view<tile = [64, 64], memref<?x256xf16, strides = [256, 1]>, padding = zero>
// CHECK-LABEL: @sum_is_used
// CHECK: nv_tileaa.dot {{.*}} {nv_tileas.producer_computed = array<i64: 1, -1>
// CHECK: nv_tileaa.dot {{.*}} {nv_tileas.producer_computed = array<i64: 1, -1>
nv_tileaa.func @sum_is_used(%p0: !nv_tileaa.ptr<f16>, %n: i32, %zero: tensor<64x64xf32>) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f16>
  %m = nv_tileaa.make_memref %p, shape = [%n : i32], strides = [] : <f16> -> <?x256xf16, strides = [256, 1]>
  %v = nv_tileaa.make_tiled_view %m : <?x256xf16, strides = [256, 1]> -> !view
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %sums:2 = scf.for %k = %c0 to %n step %c1 iter_args(%x = %zero, %y = %zero) -> (tensor<64x64xf32>, tensor<64x64xf32>) : i32 {
    %a, %t1 = nv_tileaa.tiled_load <weak> %v[%n, %k] : !view[i32, i32] -> tensor<64x64xf16>
    %b, %t2 = nv_tileaa.tiled_load <weak> %v[%k, %n] : !view[i32, i32] -> tensor<64x64xf16>
    // expected-remark @below {{producer warps compute lhs: it is not a tile that is loaded only for dots}}
    %d = nv_tileaa.dot %a, %b, %x : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
    %c, %t3 = nv_tileaa.tiled_load <weak> %v[%k, %k] : !view[i32, i32] -> tensor<64x64xf16>
    %e = nv_tileaa.dot %a, %c, %y : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
    %f = arith.addf %e, %d : tensor<64x64xf32>
    scf.yield %d, %f : tensor<64x64xf32>, tensor<64x64xf32>
  }
  nv_tileaa.return
}
// -----
// A carried value is computed from its initial value and a step, but only if each iteration yields such a sum. It may
// yield the result of another op: of one operand, of a branch, or of no operand.
// CHECK-LABEL: @carried
// CHECK-NOT: nv_tileas.dot_plan
!view = !nv_tileaa.tiled_view<tile = [64, 64], memref<?x256xf16, strides = [256, 1]>, padding = zero>
nv_tileaa.func @carried(%p0: !nv_tileaa.ptr<f16>, %n: i32, %q: i1, %zero: tensor<64x64xf32>, %h: tensor<64x64xf16>) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f16>
  %m = nv_tileaa.make_memref %p, shape = [%n : i32], strides = [] : <f16> -> <?x256xf16, strides = [256, 1]>
  %v = nv_tileaa.make_tiled_view %m : <?x256xf16, strides = [256, 1]> -> !view
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %one = scf.for %k = %c0 to %n step %c1 iter_args(%a = %h) -> (tensor<64x64xf16>) : i32 {
    %b, %t = nv_tileaa.tiled_load <weak> %v[%k, %c0] : !view[i32, i32] -> tensor<64x64xf16>
    // expected-remark @below {{lhs: it is not a tile that is loaded only for dots; it depends on a loop-carried tensor that does not advance by a loop-invariant step}}
    %d = nv_tileaa.dot %a, %b, %zero : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
    %next = arith.negf %a : tensor<64x64xf16>
    scf.yield %next : tensor<64x64xf16>
  }
  nv_tileaa.return
}
nv_tileaa.func @carried_from_a_branch(%p0: !nv_tileaa.ptr<f16>, %n: i32, %q: i1, %zero: tensor<64x64xf32>, %h: tensor<64x64xf16>) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f16>
  %m = nv_tileaa.make_memref %p, shape = [%n : i32], strides = [] : <f16> -> <?x256xf16, strides = [256, 1]>
  %v = nv_tileaa.make_tiled_view %m : <?x256xf16, strides = [256, 1]> -> !view
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %one = scf.for %k = %c0 to %n step %c1 iter_args(%a = %h) -> (tensor<64x64xf16>) : i32 {
    %b, %t = nv_tileaa.tiled_load <weak> %v[%k, %c0] : !view[i32, i32] -> tensor<64x64xf16>
    // expected-remark @below {{it depends on a loop-carried tensor that does not advance by a loop-invariant step}}
    %d = nv_tileaa.dot %a, %b, %zero : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
    %next = scf.if %q -> tensor<64x64xf16> {
      scf.yield %h : tensor<64x64xf16>
    } else {
      scf.yield %a : tensor<64x64xf16>
    }
    scf.yield %next : tensor<64x64xf16>
  }
  nv_tileaa.return
}
nv_tileaa.func @carried_constant(%p0: !nv_tileaa.ptr<f16>, %n: i32, %zero: tensor<64x64xf32>, %h: tensor<64x64xf16>) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f16>
  %m = nv_tileaa.make_memref %p, shape = [%n : i32], strides = [] : <f16> -> <?x256xf16, strides = [256, 1]>
  %v = nv_tileaa.make_tiled_view %m : <?x256xf16, strides = [256, 1]> -> !view
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %none = arith.constant dense<0.0> : tensor<64x64xf16>
  %one = scf.for %k = %c0 to %n step %c1 iter_args(%a = %h) -> (tensor<64x64xf16>) : i32 {
    %b, %t = nv_tileaa.tiled_load <weak> %v[%k, %c0] : !view[i32, i32] -> tensor<64x64xf16>
    // expected-remark @below {{it depends on a loop-carried tensor that does not advance by a loop-invariant step}}
    %d = nv_tileaa.dot %a, %b, %zero : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
    scf.yield %none : tensor<64x64xf16>
  }
  nv_tileaa.return
}
