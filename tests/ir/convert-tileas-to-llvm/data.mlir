// RUN: tileiras-opt %s --pass-pipeline='builtin.module(convert-tileas-to-llvm)' | FileCheck %s
#one = #nv_tileas.layout<register = [], lane = [0, 0, 0, 0, 0], warp = [0, 0]>
#regs = #nv_tileas.layout<register = [1, 2], lane = [0, 0, 0, 0, 0], warp = [0, 0]>
#lanes = #nv_tileas.layout<register = [], lane = [1, 2, 0, 0, 0], warp = [0, 0]>
#wide = #nv_tileas.layout<register = [1, 2], lane = [4, 8, 0, 0, 0], warp = [0, 0]>
#half = #nv_tileas.layout<register = [8], lane = [1, 2, 4, 0, 0], warp = [0, 0]>
gpu.module @kernels {
  // A table is created once, even if several ops read it.
  // CHECK: llvm.mlir.global internal constant @__tileir_data_0(dense<[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 99]> : tensor<16xi32>) {addr_space = 1 : i32, alignment = 16 : i64} : !llvm.array<16 x i32>
  // CHECK-NOT: @__tileir_data_1

  // Globals keep their names and are aligned to 16 bytes. An i1 is a byte, and a tf32 has the four bytes of an f32.
  // CHECK: llvm.mlir.global external @ints(dense<[1, -1]> : tensor<2xi32>) {addr_space = 1 : i32, alignment = 16 : i64} : !llvm.array<2 x i32>
  nv_tileaa.global @ints = dense<[1, -1]> : tensor<2xi32>
  // CHECK: llvm.mlir.global internal constant @bits(dense<[1, 0, 1]> : tensor<3xi8>) {addr_space = 1 : i32, alignment = 64 : i64}
  nv_tileaa.global constant @bits alignment = 64 = dense<[1, 0, 1]> : tensor<3xi1> {sym_visibility = "private"}
  // CHECK: llvm.mlir.global external @ones(dense<1> : tensor<4xi8>)
  nv_tileaa.global @ones = dense<true> : tensor<4xi1>
  // CHECK: llvm.mlir.global external @f8(dense<[60, -64]> : tensor<2xi8>)
  nv_tileaa.global @f8 = dense<[1.5, -2.0]> : tensor<2xf8E4M3FN>
  // CHECK: llvm.mlir.global external @tf32(dense<[1065353216, -1073741824]> : tensor<2xi32>)
  nv_tileaa.global @tf32 = dense<[1.0, -2.0]> : tensor<2xtf32>
  // CHECK: llvm.mlir.global external @half(dense<15360> : tensor<3xi16>)
  nv_tileaa.global @half = dense<1.0> : tensor<3xf16>

  // CHECK-LABEL: llvm.func @address(
  // CHECK: %[[P:.*]] = llvm.mlir.addressof @ints : !llvm.ptr<1>
  // CHECK: llvm.load %[[P]] {alignment = 4 : i64} : !llvm.ptr<1> -> i32
  nv_tileaa.func @address() attributes {numWarps = 4 : i64} {
    %p = nv_tileaa.get_global @ints : <i32>
    %x, %t = nv_tileas.load <weak> %p vector 1 : !nv_tileaa.ptr<i32> -> i32
    nv_tileaa.return
  }
  // Every register has a constant element.
  // CHECK-LABEL: llvm.func @registers(
  // CHECK-DAG: llvm.mlir.constant(7 : i32) : i32
  // CHECK-DAG: llvm.mlir.constant(-8 : i32) : i32
  // CHECK-DAG: llvm.mlir.constant(9 : i32) : i32
  // CHECK-DAG: llvm.mlir.constant(10 : i32) : i32
  // CHECK-NOT: llvm.load
  // CHECK: llvm.return
  nv_tileaa.func @registers() attributes {numWarps = 4 : i64} {
    %c = arith.constant dense<[7, -8, 9, 10]> : tensor<4xi32, #regs>
    nv_tileaa.return
  }
  // All elements fit into one integer, which is shifted by the lane.
  // CHECK-LABEL: llvm.func @shifted(
  // CHECK: %[[ALL:.*]] = llvm.mlir.constant(1125912791875585 : i64) : i64
  // CHECK: %[[LANE:.*]] = llvm.zext %{{.*}} : i32 to i64
  // CHECK: %[[WIDTH:.*]] = llvm.mlir.constant(16 : i64) : i64
  // CHECK: %[[BY:.*]] = llvm.mul %[[LANE]], %[[WIDTH]] : i64
  // CHECK: %[[REST:.*]] = llvm.lshr %[[ALL]], %[[BY]] : i64
  // CHECK: llvm.trunc %[[REST]] : i64 to i16
  nv_tileaa.func @shifted() attributes {numWarps = 4 : i64} {
    %c = arith.constant dense<[1, 2, 3, 4]> : tensor<4xi16, #lanes>
    nv_tileaa.return
  }
  // Larger tables are loaded, with as many contiguous elements per load as possible.
  // CHECK-LABEL: llvm.func @table(
  // CHECK: %[[T:.*]] = llvm.mlir.addressof @__tileir_data_0 : !llvm.ptr<1>
  // CHECK: %[[P:.*]] = llvm.getelementptr %[[T]][%{{.*}}] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i8
  // CHECK: llvm.load %[[P]] {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xi32>
  // CHECK: llvm.mlir.addressof @__tileir_data_0 : !llvm.ptr<1>
  // CHECK-COUNT-2: llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr<1> -> i32
  nv_tileaa.func @table() attributes {numWarps = 4 : i64} {
    %c = arith.constant dense<[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 99]> : tensor<16xi32, #wide>
    %d = arith.constant dense<[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 99]> : tensor<16xi32, #half>
    nv_tileaa.return
  }
  // Narrow formats are bytes, and tf32 is an f32. The bits are kept unchanged, also those of a NaN.
  // CHECK-LABEL: llvm.func @narrow(
  // CHECK: llvm.mlir.constant(60 : i8) : i8
  // CHECK: llvm.mlir.constant(125 : i8) : i8
  // CHECK: llvm.mlir.constant(127 : i8) : i8
  // CHECK: llvm.mlir.constant(3 : i8) : i8
  // CHECK: %[[T:.*]] = llvm.mlir.constant(1069547520 : i32) : i32
  // CHECK: llvm.bitcast %[[T]] : i32 to f32
  // CHECK: llvm.mlir.constant(-64 : i8) : i8
  nv_tileaa.func @narrow() attributes {numWarps = 4 : i64} {
    %a = arith.constant 1.5 : f8E4M3FN
    %b = arith.constant dense<0x7D> : tensor<4xf8E5M2, #regs>
    %c = arith.constant 1.0 : f8E8M0FNU
    %d = arith.constant 1.5 : f4E2M1FN
    %e = arith.constant 1.5 : tf32
    %f = arith.constant -2.0 : f8E4M3FN
    nv_tileaa.return
  }
  // The owner of the pointer allocates, and traps if there is no memory left.
  // CHECK-LABEL: llvm.func @heap(
  // CHECK: llvm.cond_br %{{.*}}, ^[[ALLOCATE:.*]], ^
  // CHECK: ^[[ALLOCATE]]:
  // CHECK: %[[P:.*]] = llvm.call @malloc(%{{.*}}) : (i64) -> !llvm.ptr
  // CHECK: %[[NULL:.*]] = llvm.icmp "eq" %[[P]], %{{.*}} : !llvm.ptr
  // CHECK: llvm.cond_br %[[NULL]], ^[[TRAP:.*]], ^
  // CHECK: ^[[TRAP]]:
  // CHECK: llvm.call_intrinsic "llvm.trap"()
  // CHECK: llvm.addrspacecast %[[P]] : !llvm.ptr to !llvm.ptr<1>
  // CHECK: %[[Q:.*]] = llvm.addrspacecast %{{.*}} : !llvm.ptr<1> to !llvm.ptr
  // CHECK: llvm.call @free(%[[Q]]) : (!llvm.ptr) -> ()
  nv_tileaa.func @heap() attributes {numWarps = 4 : i64} {
    %p = nv_tileas.heap_alloc 256 : tensor<1x!nv_tileaa.ptr<i32>, #one>
    %q = nv_tileas.unsplat %p : tensor<1x!nv_tileaa.ptr<i32>, #one> -> !nv_tileaa.ptr<i32>
    nv_tileas.heap_free %q : !nv_tileaa.ptr<i32>
    nv_tileaa.return
  }
}
