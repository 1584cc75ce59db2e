// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileas-materialize-convert-layout)' | FileCheck %s

// Arguments and results of library functions move through shared memory, in the order in which fragments count.

#rows = #nv_tileas.layout<register = [], lane = [1, 2, 4, 8, 16], warp = [32, 64]>
#one = #nv_tileas.layout<register = [], lane = [0, 0, 0, 0, 0], warp = [0, 0]>

// Column-major order: the bits of the row in the row-major index, 32 and 64, come first. The result has the storage of
// the argument, and barriers surround the call.
// CHECK-LABEL: nv_tileaa.func @inout(
// CHECK: %[[M:.*]] = nv_tileas.alloc_tensor : <4x32xi32, #nv_tileas.shared_layout<offset = [32, 64, 1, 2, 4, 8, 16]>>
// CHECK: nv_tileas.local_store %arg0, %[[M]]
// CHECK-NEXT: nv_tileas.barrier
// CHECK-NEXT: nv_tileas.extern_call "sort_row"() storage %[[M]] :
// CHECK-NEXT: nv_tileas.barrier
// CHECK-NEXT: %[[Y:.*]] = nv_tileas.local_load %[[M]]
// CHECK-NEXT: arith.addi %[[Y]], %[[Y]]
nv_tileaa.func @inout(%x: tensor<4x32xi32, #rows>) attributes {numWarps = 4 : i64} {
  %y, %t = nv_tileas.extern_call "sort_row"(%x) {access = array<i32: 2>, fragments = [!cuda_tile<preview$fragment<1xi32, local, mem_layout = <(1):(1)>, fragmap = <(4, 32, 1):(1, 4, 0)>>>], scratchAlignment = 1 : i64, scratchSize = 0 : i64, synchronization = 1 : i32} : (tensor<4x32xi32, #rows>) -> tensor<4x32xi32, #rows>
  %z = arith.addi %y, %y : tensor<4x32xi32, #rows>
  nv_tileaa.return
}

// An argument that is only read has no result. Scratch memory is the last storage; its size is a power of two.
// CHECK-LABEL: nv_tileaa.func @scratch(
// CHECK: %[[A:.*]] = nv_tileas.alloc_tensor : <128xi32>
// CHECK: %[[B:.*]] = nv_tileas.alloc_tensor : <128xi32>
// CHECK: %[[S:.*]] = nv_tileas.alloc_tensor : <1024xi8, align = 256>
// CHECK: nv_tileas.extern_call "f"() storage %[[A]], %[[B]], %[[S]] :
// CHECK: nv_tileas.local_load %[[B]]
// CHECK-NOT: local_load
// CHECK: nv_tileaa.return
nv_tileaa.func @scratch(%x: tensor<128xi32, #rows>) attributes {numWarps = 4 : i64} {
  %y, %t = nv_tileas.extern_call "f"(%x, %x) {access = array<i32: 0, 1>, fragments = [!cuda_tile<preview$fragment<1xi32, local, mem_layout = <(1):(1)>, fragmap = <(1, 128, 1):(0, 1, 0)>>>, !cuda_tile<preview$fragment<1xi32, local, mem_layout = <(1):(1)>, fragmap = <(1, 128, 1):(0, 1, 0)>>>], scratchAlignment = 256 : i64, scratchSize = 600 : i64, synchronization = 3 : i32} : (tensor<128xi32, #rows>, tensor<128xi32, #rows>) -> tensor<128xi32, #rows>
  nv_tileaa.return
}

// All threads change a scalar, so its result has a storage of its own: later threads still read the argument.
// CHECK-LABEL: nv_tileaa.func @shared_scalar(
// CHECK: %[[A:.*]] = nv_tileas.alloc_tensor : <1xi32>
// CHECK: %[[R:.*]] = nv_tileas.alloc_tensor : <1xi32>
// CHECK: nv_tileas.local_store %arg0, %[[A]]
// CHECK: nv_tileas.extern_call "g"() storage %[[A]], %[[R]] :
// CHECK: nv_tileas.local_load %[[R]]
nv_tileaa.func @shared_scalar(%x: tensor<1xi32, #one>) attributes {numWarps = 4 : i64} {
  %y, %t = nv_tileas.extern_call "g"(%x) {access = array<i32: 2>, fragments = [!cuda_tile<preview$fragment<1xi32, local, mem_layout = <(1):(1)>, fragmap = <(1, 128, 1):(0, 0, 0)>>>], scratchAlignment = 1 : i64, scratchSize = 0 : i64, synchronization = 0 : i32} : (tensor<1xi32, #one>) -> tensor<1xi32, #one>
  nv_tileaa.return
}

// The storage of a fragment in shared memory is the fragment.
// CHECK-LABEL: nv_tileaa.func @shared_fragment(
// CHECK: %[[A:.*]] = nv_tileas.alloc_tensor : <128xi32>
// CHECK: nv_tileas.extern_call "h"() storage %[[A]] :
// CHECK: nv_tileas.local_load %[[A]]
nv_tileaa.func @shared_fragment(%x: tensor<128xi32, #rows>) attributes {numWarps = 4 : i64} {
  %y, %t = nv_tileas.extern_call "h"(%x) {access = array<i32: 2>, fragments = [!cuda_tile<preview$fragment<128xi32, smem, mem_layout = <(128):(1)>, fragmap = <(1, 128, 128):(0, 0, 1)>>>], scratchAlignment = 1 : i64, scratchSize = 0 : i64, synchronization = 3 : i32} : (tensor<128xi32, #rows>) -> tensor<128xi32, #rows>
  nv_tileaa.return
}
