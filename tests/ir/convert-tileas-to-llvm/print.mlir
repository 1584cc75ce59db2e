// RUN: tileiras-opt %s --pass-pipeline='builtin.module(convert-tileas-to-llvm)' | FileCheck %s
#l = #nv_tileas.layout<register = [128], lane = [1, 2, 4, 8, 16], warp = [32, 64]>
#four = #nv_tileas.layout<register = [], lane = [1, 2, 0, 0, 0], warp = [0, 0]>
#s4 = #nv_tileas.shared_layout<offset = [1, 2]>
#s128 = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64]>
gpu.module @kernels {
  // CHECK-DAG: llvm.func @vprintf(!llvm.ptr, !llvm.ptr) -> i32
  // CHECK-DAG: llvm.func @__assertfail(!llvm.ptr, !llvm.ptr, i32, !llvm.ptr, i64)
  // One thread prints scalars with one call. Its arguments are in local memory at their natural alignment.
  // CHECK-LABEL: llvm.func @scalars(
  // CHECK: %[[B:.*]] = llvm.alloca %{{.*}} x !llvm.array<256 x i8> {alignment = 8 : i64} : (i32) -> !llvm.ptr
  // CHECK: %[[FIRST:.*]] = llvm.icmp "eq" %{{.*}}, %{{.*}} : i32
  // CHECK: llvm.cond_br %[[FIRST]], ^[[PRINT:.*]], ^[[DONE:[^ ]*]]
  // CHECK: ^[[PRINT]]:
  // CHECK: %[[I:.*]] = llvm.sext %arg0 : i16 to i32
  // CHECK: %[[F:.*]] = llvm.fpext %arg1 : f16 to f64
  // CHECK: llvm.store %[[I]], %[[B]] {alignment = 4 : i64} : i32, !llvm.ptr
  // CHECK: %[[B8:.*]] = llvm.getelementptr %[[B]][8] :
  // CHECK: llvm.store %[[F]], %[[B8]] {alignment = 8 : i64} : f64, !llvm.ptr
  // CHECK: %[[B16:.*]] = llvm.getelementptr %[[B]][16] :
  // CHECK: llvm.store %arg2, %[[B16]] {alignment = 8 : i64} : i64, !llvm.ptr
  // CHECK: llvm.call @vprintf(%{{.*}}, %[[B]]) : (!llvm.ptr, !llvm.ptr) -> i32
  // CHECK-NOT: barrier
  // CHECK: ^[[DONE]]:
  nv_tileaa.func @scalars(%i: i16, %f: f16, %n: i64) attributes {numWarps = 4 : i64} {
    %t = nv_tileas.print "%d %f %d\n", %i, %f, %n : i16, f16, i64
    nv_tileaa.return
  }
  // A few elements are collected and printed with one call.
  // CHECK-LABEL: llvm.func @few(
  // CHECK: nv_tileas.barrier
  // CHECK: llvm.store %{{.*}}, %{{.*}} {alignment = 4 : i64} : i32, !llvm.ptr<3>
  // CHECK: nv_tileas.barrier
  // CHECK-COUNT-4: llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr<3> -> i32
  // CHECK: llvm.call @vprintf(
  // CHECK-NOT: vprintf
  // CHECK: nv_tileas.barrier
  nv_tileaa.func @few() attributes {numWarps = 4 : i64} {
    %r = nv_tileas.make_range : tensor<4xi32, #four>
    %m = nv_tileas.alloc_tensor offset 0 : !nv_tileas.memdesc<4xi32, #s4>
    %t = nv_tileas.print "%d\n", %r : tensor<4xi32, #four> scratch %m : !nv_tileas.memdesc<4xi32, #s4>
    nv_tileaa.return
  }
  // Many elements are printed in parts that fit into shared memory: a loop over the parts, and a loop over the
  // elements of a part.
  // CHECK-LABEL: llvm.func @many(
  // CHECK: llvm.call @vprintf(
  // CHECK: llvm.br ^[[PART:.*]](
  // CHECK: ^[[PART]](
  // CHECK: nv_tileas.barrier
  // CHECK-COUNT-2: llvm.store %{{.*}}, %{{.*}} {alignment = 4 : i64} : i32, !llvm.ptr<3>
  // CHECK: nv_tileas.barrier
  // CHECK: llvm.br ^[[ELEMENT:.*]](
  // CHECK: ^[[ELEMENT]](
  // CHECK: llvm.call @__tileir_print_element(
  // CHECK: llvm.cond_br %{{.*}}, ^[[ELEMENT]](
  // CHECK: llvm.cond_br %{{.*}}, ^[[PART]](
  // CHECK: nv_tileas.barrier
  // CHECK: llvm.call @vprintf(
  // CHECK-NOT: vprintf
  nv_tileaa.func @many(%n: i32) attributes {numWarps = 4 : i64} {
    %r = nv_tileas.make_range : tensor<256xi32, #l>
    %m = nv_tileas.alloc_tensor offset 0 : !nv_tileas.memdesc<128xi32, #s128>
    %t = nv_tileas.print "%d: %x\n", %n, %r : i32, tensor<256xi32, #l> scratch %m : !nv_tileas.memdesc<128xi32, #s128>
    nv_tileaa.return
  }
  // CHECK-LABEL: llvm.func @assert_scalar(
  // CHECK-NOT: barrier
  // CHECK: llvm.call @vprintf(
  // CHECK: llvm.call @__assertfail(
  // CHECK: nv_tileas.barrier
  nv_tileaa.func @assert_scalar(%c: i1) attributes {numWarps = 4 : i64} {
    nv_tileaa.assert %c, "no" : i1
    nv_tileaa.return
  }
  // Every thread reports its elements, then all threads decide together.
  // CHECK-LABEL: llvm.func @assert_tile(
  // CHECK: llvm.call @__tileir_print_failures(
  // CHECK: %[[ANY:.*]] = llvm.call_intrinsic "llvm.nvvm.barrier0.or"(%{{.*}}) : (i32) -> i32
  // CHECK: llvm.icmp "ne" %[[ANY]],
  // CHECK: llvm.call @__assertfail(
  nv_tileaa.func @assert_tile() attributes {numWarps = 4 : i64} {
    %r = nv_tileas.make_range : tensor<256xi32, #l>
    %c = arith.cmpi slt, %r, %r : tensor<256xi32, #l>
    nv_tileaa.assert %c, "no" : tensor<256xi1, #l>
    nv_tileaa.return
  }
}
