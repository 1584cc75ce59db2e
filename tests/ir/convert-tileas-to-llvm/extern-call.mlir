// RUN: tileiras-opt %s --pass-pipeline='builtin.module(convert-tileas-to-llvm)' | FileCheck %s

#columns = #nv_tileas.shared_layout<offset = [32, 64, 1, 2, 4, 8, 16]>
#s1 = #nv_tileas.shared_layout<offset = []>
#s128 = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64]>
#s16 = #nv_tileas.shared_layout<offset = [1, 2, 4, 8]>
// Functions of libraries synchronize threads. The code of the library defines them.
// CHECK-DAG: llvm.func @sort_row(!llvm.ptr) attributes {convergent, nv_tileas.library_function}
// CHECK-DAG: llvm.func @h(i32, i32) attributes {convergent, nv_tileas.library_function}
gpu.module @kernels {
  // Thread q is participant q mod 32 of invocation q div 32: element q div 32 + 4 (q mod 32) of the tile.
  // CHECK-LABEL: llvm.func @each_warp(
  // CHECK: %[[OWN:.*]] = llvm.alloca %{{.*}} x i8 {alignment = 4 : i64} : (i32) -> !llvm.ptr
  // CHECK: %[[I:.*]] = llvm.udiv %[[Q:.*]], %{{.*}} : i32
  // CHECK: %[[P:.*]] = llvm.urem %[[Q]], %{{.*}} : i32
  // CHECK: %[[FOUR:.*]] = llvm.mlir.constant(4 : i32) : i32
  // CHECK: llvm.mul %[[P]], %[[FOUR]] : i32
  // CHECK: %[[IN:.*]] = llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr<3> -> i32
  // CHECK: llvm.store %[[IN]], %{{.*}} {alignment = 4 : i64} : i32, !llvm.ptr{{$}}
  // CHECK: llvm.call @sort_row(%[[OWN]]) : (!llvm.ptr) -> ()
  // CHECK: %[[OUT:.*]] = llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr -> i32
  // CHECK: llvm.store %[[OUT]], %{{.*}} {alignment = 4 : i64} : i32, !llvm.ptr<3>
  // CHECK-NOT: llvm.call
  // CHECK: llvm.return
  nv_tileaa.func @each_warp() attributes {numWarps = 4 : i64} {
    %m = nv_tileas.alloc_tensor offset 0 : !nv_tileas.memdesc<4x32xi32, #columns>
    %t = nv_tileas.extern_call "sort_row"() storage %m : !nv_tileas.memdesc<4x32xi32, #columns> {access = array<i32: 2>, fragments = [!cuda_tile<preview$fragment<1xi32, local, mem_layout = <(1):(1)>, fragmap = <(4, 32, 1):(1, 4, 0)>>>], scratchAlignment = 1 : i64, scratchSize = 0 : i64, synchronization = 1 : i32} : () -> ()
    nv_tileaa.return
  }
  // Threads from 16 skip the call. An argument that is only written is not read before.
  // CHECK-LABEL: llvm.func @some_threads(
  // CHECK: %[[SIXTEEN:.*]] = llvm.mlir.constant(16 : i32) : i32
  // CHECK: %[[TAKES:.*]] = llvm.icmp "ult" %{{.*}}, %[[SIXTEEN]] : i32
  // CHECK: llvm.cond_br %[[TAKES]], ^[[CALL:.*]], ^[[AFTER:[^ ]*]]
  // CHECK: ^[[CALL]]:
  // CHECK-NOT: llvm.load
  // CHECK: llvm.call @f(
  // CHECK: llvm.store %{{.*}} : i32, !llvm.ptr<3>
  // CHECK: ^[[AFTER]]:
  nv_tileaa.func @some_threads() attributes {numWarps = 4 : i64} {
    %m = nv_tileas.alloc_tensor offset 0 : !nv_tileas.memdesc<16xi32, #s16>
    %t = nv_tileas.extern_call "f"() storage %m : !nv_tileas.memdesc<16xi32, #s16> {access = array<i32: 1>, fragments = [!cuda_tile<preview$fragment<1xi32, local, mem_layout = <(1):(1)>, fragmap = <(1, 16, 1):(0, 1, 0)>>>], scratchAlignment = 1 : i64, scratchSize = 0 : i64, synchronization = 0 : i32} : () -> ()
    nv_tileaa.return
  }
  // A fragment in shared memory and scratch memory are passed as 32-bit addresses. No element is copied.
  // CHECK-LABEL: llvm.func @shared(
  // CHECK: %[[M:.*]] = llvm.mlir.addressof @__tileir_shared : !llvm.ptr<3>
  // CHECK: %[[S:.*]] = llvm.getelementptr %[[M]][512]
  // CHECK-DAG: %[[ADDRESS:.*]] = llvm.ptrtoint %[[M]] : !llvm.ptr<3> to i32
  // CHECK-DAG: %[[SCRATCH:.*]] = llvm.ptrtoint %[[S]] : !llvm.ptr<3> to i32
  // CHECK: llvm.call @h(%[[ADDRESS]], %[[SCRATCH]]) : (i32, i32) -> ()
  // CHECK-NOT: llvm.store
  // CHECK: llvm.return
  nv_tileaa.func @shared() attributes {numWarps = 4 : i64} {
    %m = nv_tileas.alloc_tensor offset 0 : !nv_tileas.memdesc<128xi32, #s128>
    %s = nv_tileas.alloc_tensor offset 512 : !nv_tileas.memdesc<128xi8, #s128>
    %t = nv_tileas.extern_call "h"() storage %m, %s : !nv_tileas.memdesc<128xi32, #s128>, !nv_tileas.memdesc<128xi8, #s128> {access = array<i32: 2>, fragments = [!cuda_tile<preview$fragment<128xi32, smem, mem_layout = <(128):(1)>, fragmap = <(1, 128, 128):(0, 0, 1)>>>], scratchAlignment = 16 : i64, scratchSize = 128 : i64, synchronization = 3 : i32} : () -> ()
    nv_tileaa.return
  }
  // All threads have the scalar; the first one's result is stored, apart from the argument.
  // CHECK-LABEL: llvm.func @first_holder(
  // CHECK: %[[R:.*]] = llvm.getelementptr %{{.*}}[128] : (!llvm.ptr<3>)
  // CHECK: llvm.call @g(
  // CHECK: %[[FIRST:.*]] = llvm.icmp "eq"
  // CHECK: llvm.cond_br %[[FIRST]], ^[[STORE:.*]], ^{{.*}}
  // CHECK: ^[[STORE]]:
  // CHECK: %[[TO:.*]] = llvm.getelementptr %[[R]][
  // CHECK: llvm.store %{{.*}}, %[[TO]] {alignment = 4 : i64} : i32, !llvm.ptr<3>
  nv_tileaa.func @first_holder() attributes {numWarps = 4 : i64} {
    %m = nv_tileas.alloc_tensor offset 0 : !nv_tileas.memdesc<1xi32, #s1>
    %r = nv_tileas.alloc_tensor offset 128 : !nv_tileas.memdesc<1xi32, #s1>
    %t = nv_tileas.extern_call "g"() storage %m, %r : !nv_tileas.memdesc<1xi32, #s1>, !nv_tileas.memdesc<1xi32, #s1> {access = array<i32: 2>, fragments = [!cuda_tile<preview$fragment<1xi32, local, mem_layout = <(1):(1)>, fragmap = <(1, 128, 1):(0, 0, 0)>>>], scratchAlignment = 1 : i64, scratchSize = 0 : i64, synchronization = 0 : i32} : () -> ()
    nv_tileaa.return
  }
}
