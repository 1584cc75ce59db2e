// RUN: tileiras-opt %s --pass-pipeline='builtin.module(convert-tileas-to-llvm,cse)' | FileCheck %s

#lanes = #nv_tileas.layout<register = [1], lane = [2, 4, 16, 32, 8], warp = []>
#segments = #nv_tileas.layout<register = [16], lane = [1, 2, 4, 8, 0], warp = [32]>
#totals = #nv_tileas.layout<register = [1, 2], lane = [0, 0, 0, 0, 0], warp = [0]>
#picked = #nv_tileas.layout<register = [], lane = [0, 0, 1, 2, 0], warp = []>
gpu.module @kernels {
  // Sixteen columns: a register bit, and lane bits 0, 1 and 4. First, each thread scans its own pair. Then, for
  // blocks of two, four and eight lanes, the upper half adds the last value of the lower half. Last, the prefix of
  // the thread is combined with its first element.
  // CHECK-LABEL: llvm.func @forward(
  // CHECK: %[[L:.*]] = llvm.and %{{.*}}, %{{.*}} : i32
  // CHECK: %[[T:.*]] = llvm.add %[[X:.*]], %[[Y:.*]] : i32
  // CHECK: %[[B0:.*]] = llvm.and %[[L]], %{{.*}} : i32
  // CHECK: llvm.icmp "ne"
  // CHECK: llvm.or disjoint
  // CHECK: llvm.call_intrinsic "llvm.nvvm.shfl.sync.idx.i32"(%{{.*}}, %[[T]], %[[B0]], %{{.*}})
  // CHECK: llvm.add
  // CHECK: llvm.select
  // CHECK-COUNT-3: llvm.call_intrinsic "llvm.nvvm.shfl.sync.idx.i32"
  // CHECK: %[[F:.*]] = llvm.add %{{.*}}, %[[X]] : i32
  // CHECK: llvm.select %{{.*}}, %[[F]], %[[X]]
  // CHECK-NOT: shfl
  // CHECK: llvm.return
  nv_tileaa.func @forward(%p: !nv_tileaa.ptr<i32>) attributes {numWarps = 1 : i64} {
    %x = nv_tileas.make_range : tensor<64xi32, #lanes>
    %v = nv_tileas.view %x : tensor<64xi32, #lanes> -> tensor<4x16xi32, #lanes>
    %y = nv_tileas.scan %v dim 1 identities [0 : i32] : tensor<4x16xi32, #lanes> -> tensor<4x16xi32, #lanes> {
    ^bb0(%a: i32, %b: i32):
      %c = arith.addi %a, %b : i32
      nv_tileas.yield %c : i32
    }
    %q = nv_tileas.splat %p : !nv_tileaa.ptr<i32> -> tensor<4x16x!nv_tileaa.ptr<i32>, #lanes>
    %t = nv_tileas.store <weak> %q, %y vector 1 : tensor<4x16x!nv_tileaa.ptr<i32>, #lanes>, tensor<4x16xi32, #lanes>
    nv_tileaa.return
  }
  // The last element of each segment is read from the lane that has it.
  // CHECK-LABEL: llvm.func @pick(
  // CHECK: %[[LAST:.*]] = llvm.mlir.constant(19 : i32) : i32
  // CHECK: %[[S:.*]] = llvm.or disjoint %{{.*}}, %[[LAST]] : i32
  // CHECK: llvm.call_intrinsic "llvm.nvvm.shfl.sync.idx.i32"(%{{.*}}, %{{.*}}, %[[S]], %{{.*}})
  // CHECK-NOT: shfl
  // CHECK: llvm.return
  nv_tileaa.func @pick(%p: !nv_tileaa.ptr<i32>) attributes {numWarps = 1 : i64} {
    %x = nv_tileas.make_range : tensor<64xi32, #lanes>
    %v = nv_tileas.view %x : tensor<64xi32, #lanes> -> tensor<4x16xi32, #lanes>
    %y = nv_tileas.pick %v dim 1 at 15 : tensor<4x16xi32, #lanes> -> tensor<4xi32, #picked>
    %q = nv_tileas.splat %p : !nv_tileaa.ptr<i32> -> tensor<4x!nv_tileaa.ptr<i32>, #picked>
    %t = nv_tileas.store <weak> %q, %y vector 1 : tensor<4x!nv_tileaa.ptr<i32>, #picked>, tensor<4xi32, #picked>
    nv_tileaa.return
  }
  // Four segments of sixteen, two in registers and two in warps: register 0 has segment 0 or 2, and register 1 has
  // segment 1 or 3. Only segment 0 has no prefix.
  // CHECK-LABEL: llvm.func @carry(
  // CHECK: %[[P2:.*]] = llvm.mul %[[T0:.*]], %[[T1:.*]] : i32
  // CHECK: %[[P3:.*]] = llvm.mul %[[P2]], %[[T2:.*]] : i32
  // CHECK: %[[LATE:.*]] = llvm.icmp "ne"
  // CHECK: %[[A:.*]] = llvm.mul %[[P2]], %[[X0:.*]] : i32
  // CHECK: llvm.select %[[LATE]], %[[A]], %[[X0]]
  // CHECK: %[[UPPER:.*]] = llvm.icmp "eq"
  // CHECK: %[[P:.*]] = llvm.select %[[UPPER]], %[[P3]], %[[T0]]
  // CHECK: llvm.mul %[[P]], %{{.*}} : i32
  nv_tileaa.func @carry(%p: !nv_tileaa.ptr<i32>) attributes {numWarps = 2 : i64} {
    %x = nv_tileas.make_range : tensor<64xi32, #segments>
    %v = nv_tileas.view %x : tensor<64xi32, #segments> -> tensor<4x16xi32, #segments>
    %u = nv_tileas.make_range : tensor<4xi32, #totals>
    %y = nv_tileas.carry %v totals %u dim 0 : tensor<4x16xi32, #segments> totals tensor<4xi32, #totals> -> tensor<4x16xi32, #segments> {
    ^bb0(%a: i32, %b: i32):
      %c = arith.muli %a, %b : i32
      nv_tileas.yield %c : i32
    }
    %q = nv_tileas.splat %p : !nv_tileaa.ptr<i32> -> tensor<4x16x!nv_tileaa.ptr<i32>, #segments>
    %t = nv_tileas.store <weak> %q, %y vector 1 : tensor<4x16x!nv_tileaa.ptr<i32>, #segments>, tensor<4x16xi32, #segments>
    nv_tileaa.return
  }
}
