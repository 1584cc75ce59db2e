// RUN: tileiras-opt %s --pass-pipeline='builtin.module(convert-tileas-to-llvm{compute-capability=sm_90},cse)' | FileCheck %s
// RUN: tileiras-opt %s --pass-pipeline='builtin.module(convert-tileas-to-llvm{compute-capability=sm_100},cse)' | FileCheck %s --check-prefix=SM100

#warp = #nv_tileas.layout<register = [1, 2], lane = [4, 8, 16, 32, 64], warp = []>
#rows = #nv_tileas.layout<register = [1, 16], lane = [2, 4, 32, 64, 8], warp = []>
#row = #nv_tileas.layout<register = [1], lane = [0, 0, 2, 4, 0], warp = []>
#half = #nv_tileas.layout<register = [], lane = [1, 2, 4, 8, 0], warp = []>
gpu.module @kernels {
  // A balanced tree over four registers, then one instruction that reduces across the warp.
  // CHECK-LABEL: llvm.func @sum(
  // CHECK: %[[A:.*]] = llvm.add
  // CHECK: %[[B:.*]] = llvm.add
  // CHECK: %[[C:.*]] = llvm.add %[[A]], %[[B]] : i32
  // CHECK: llvm.call_intrinsic "llvm.nvvm.redux.sync.add"(%[[C]], %{{.*}}) : (i32, i32) -> i32
  // CHECK-NOT: shfl
  // CHECK: llvm.return
  nv_tileaa.func @sum(%p: !nv_tileaa.ptr<i32>) attributes {numWarps = 1 : i64} {
    %x = nv_tileas.make_range : tensor<128xi32, #warp>
    %y = arith.muli %x, %x : tensor<128xi32, #warp>
    %z = nv_tileas.reduce %y dim 0 identities [0 : i32] : tensor<128xi32, #warp> -> i32 {
    ^bb0(%a: i32, %b: i32):
      %c = arith.addi %a, %b : i32
      nv_tileas.yield %c : i32
    }
    %t = nv_tileas.store <weak> %p, %z vector 1 : !nv_tileaa.ptr<i32>, i32
    nv_tileaa.return
  }
  // The same for floats if the target supports it, and otherwise five shuffles.
  // CHECK-LABEL: llvm.func @max(
  // CHECK-COUNT-5: llvm.call_intrinsic "llvm.nvvm.shfl.sync.bfly.i32"
  // CHECK-NOT: shfl
  // CHECK: llvm.return
  // SM100-LABEL: llvm.func @max(
  // SM100: llvm.call_intrinsic "llvm.nvvm.redux.sync.fmax"(%{{.*}}, %{{.*}}) : (f32, i32) -> f32
  // SM100-NOT: shfl
  // SM100: llvm.return
  nv_tileaa.func @max(%p: !nv_tileaa.ptr<f32>) attributes {numWarps = 1 : i64} {
    %x = nv_tileas.make_range : tensor<128xi32, #warp>
    %y = arith.sitofp %x : tensor<128xi32, #warp> to tensor<128xf32, #warp>
    %z = nv_tileas.reduce %y dim 0 identities [0.0 : f32] : tensor<128xf32, #warp> -> f32 {
    ^bb0(%a: f32, %b: f32):
      %c = nv_tileaa.fp <max> %a, %b : f32
      nv_tileas.yield %c : f32
    }
    %t = nv_tileas.store <weak> %p, %z vector 1 : !nv_tileaa.ptr<f32>, f32
    nv_tileaa.return
  }
  // Sixteen lanes hold elements, and the others hold replicas. A sum must not count them twice, but a maximum may.
  // CHECK-LABEL: llvm.func @replicas(
  // CHECK-COUNT-4: llvm.call_intrinsic "llvm.nvvm.shfl.sync.bfly.i32"
  // CHECK-NOT: shfl
  // CHECK: llvm.call_intrinsic "llvm.nvvm.redux.sync.umax"
  // CHECK-NOT: shfl
  // CHECK: llvm.return
  nv_tileaa.func @replicas(%p: !nv_tileaa.ptr<i32>) attributes {numWarps = 1 : i64} {
    %x = nv_tileas.make_range : tensor<16xi32, #half>
    %y = nv_tileas.reduce %x dim 0 identities [0 : i32] : tensor<16xi32, #half> -> i32 {
    ^bb0(%a: i32, %b: i32):
      %c = arith.addi %a, %b : i32
      nv_tileas.yield %c : i32
    }
    %z = nv_tileas.reduce %x dim 0 identities [0 : i32] : tensor<16xi32, #half> -> i32 {
    ^bb0(%a: i32, %b: i32):
      %c = arith.maxui %a, %b : i32
      nv_tileas.yield %c : i32
    }
    %s = arith.addi %y, %z : i32
    %t = nv_tileas.store <weak> %p, %s vector 1 : !nv_tileaa.ptr<i32>, i32
    nv_tileaa.return
  }
  // Columns are in one register bit and in lane bits 0, 1 and 4. Two rows of 16-bit elements share the shuffled word.
  // The body is not commutative, so the lane that combined in order sends its result to the other lane.
  // CHECK-LABEL: llvm.func @ordered(
  // CHECK: %[[L:.*]] = llvm.and
  // CHECK: %[[A:.*]] = llvm.sub %{{.*}}, %{{.*}} : i16
  // CHECK: %[[B:.*]] = llvm.sub %{{.*}}, %{{.*}} : i16
  // CHECK: llvm.insertelement %[[A]]
  // CHECK: llvm.insertelement %[[B]]
  // CHECK-COUNT-3: llvm.call_intrinsic "llvm.nvvm.shfl.sync.bfly.i32"
  // CHECK: %[[M:.*]] = llvm.mlir.constant(-20 : i32) : i32
  // CHECK: %[[LEADER:.*]] = llvm.and %[[L]], %[[M]] : i32
  // CHECK: llvm.call_intrinsic "llvm.nvvm.shfl.sync.idx.i32"(%{{.*}}, %{{.*}}, %[[LEADER]], %{{.*}})
  // CHECK-NOT: shfl
  // CHECK: llvm.return
  nv_tileaa.func @ordered(%p: !nv_tileaa.ptr<i16>) attributes {numWarps = 1 : i64} {
    %x = nv_tileas.make_range : tensor<128xi16, #rows>
    %v = nv_tileas.view %x : tensor<128xi16, #rows> -> tensor<8x16xi16, #rows>
    %y = nv_tileas.reduce %v dim 1 identities [0 : i16] : tensor<8x16xi16, #rows> -> tensor<8xi16, #nv_tileas.layout<register = [1], lane = [0, 0, 2, 4, 0], warp = []>> {
    ^bb0(%a: i16, %b: i16):
      %c = arith.subi %a, %b : i16
      nv_tileas.yield %c : i16
    }
    %q = nv_tileas.splat %p : !nv_tileaa.ptr<i16> -> tensor<8x!nv_tileaa.ptr<i16>, #row>
    %t = nv_tileas.store <weak> %q, %y vector 1 : tensor<8x!nv_tileaa.ptr<i16>, #row>, tensor<8xi16, #row>
    nv_tileaa.return
  }
}
