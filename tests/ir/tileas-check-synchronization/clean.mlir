// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileas-check-synchronization)' | FileCheck %s --check-prefixes=CHECK,KEEP
// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileas-check-synchronization{remove-redundant-barriers=true})' | FileCheck %s --check-prefixes=CHECK,DROP

#rows = #nv_tileas.layout<register = [1], lane = [2, 4, 8, 16, 32], warp = [64]>
#swapped = #nv_tileas.layout<register = [], lane = [2, 4, 8, 16, 32], warp = [64]>
#columns = #nv_tileas.layout<register = [64], lane = [1, 2, 4, 8, 16], warp = [32]>
#s = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64]>
!m = !nv_tileas.memdesc<128xf32, #s>
// Every thread loads what it stored, so no barrier is needed.
// CHECK-LABEL: nv_tileaa.func @own(
nv_tileaa.func @own(%x: tensor<128xf32, #rows>) attributes {numWarps = 2 : i64} {
  %m = nv_tileas.alloc_tensor offset 0 : !m
  nv_tileas.local_store %x, %m vector 2 : tensor<128xf32, #rows>, !m
  %y = nv_tileas.local_load %m vector 2 : !m -> tensor<128xf32, #rows>
  nv_tileaa.return
}
// Different bytes: the barrier that guards their reuse is removed. The other barrier stays, and so does one that may
// order global memory.
// CHECK-LABEL: nv_tileaa.func @other_bytes(
// KEEP-COUNT-5: nv_tileas.barrier
// DROP-NOT: nv_tileas.reuse
// DROP-COUNT-3: nv_tileas.barrier{{$}}
// CHECK-NOT: nv_tileas.barrier
// CHECK: nv_tileaa.return
nv_tileaa.func @other_bytes(%x: tensor<128xf32, #rows>) attributes {numWarps = 2 : i64} {
  %m = nv_tileas.alloc_tensor offset 0 : !m
  nv_tileas.barrier {nv_tileas.reuse}
  nv_tileas.local_store %x, %m vector 2 : tensor<128xf32, #rows>, !m
  nv_tileas.barrier
  nv_tileas.barrier
  %y = nv_tileas.local_load %m vector 1 : !m -> tensor<128xf32, #columns>
  %n = nv_tileas.alloc_tensor offset 512 : !m
  nv_tileas.barrier {nv_tileas.reuse}
  nv_tileas.local_store %x, %n vector 2 : tensor<128xf32, #rows>, !m
  nv_tileas.barrier
  %z = nv_tileas.local_load %n vector 1 : !m -> tensor<128xf32, #columns>
  nv_tileaa.return
}
// Alternating between two allocations: the barrier between store and load of one guards the reuse of the other.
// CHECK-LABEL: nv_tileaa.func @in_turn(
// DROP: scf.for
// DROP-NEXT: alloc_tensor
// DROP-NEXT: local_store
// DROP-NEXT: barrier
// DROP-NEXT: local_load
// DROP-NEXT: alloc_tensor
// DROP-NEXT: local_store
// DROP-NEXT: barrier
// DROP-NEXT: local_load
// DROP-NEXT: }
nv_tileaa.func @in_turn(%x: tensor<128xf32, #rows>, %n: i32) attributes {numWarps = 2 : i64} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %i = %c0 to %n step %c1 : i32 {
    %a = nv_tileas.alloc_tensor offset 0 : !m
    nv_tileas.barrier {nv_tileas.reuse}
    nv_tileas.local_store %x, %a vector 2 : tensor<128xf32, #rows>, !m
    nv_tileas.barrier
    %y = nv_tileas.local_load %a vector 1 : !m -> tensor<128xf32, #columns>
    %b = nv_tileas.alloc_tensor offset 512 : !m
    nv_tileas.barrier {nv_tileas.reuse}
    nv_tileas.local_store %x, %b vector 2 : tensor<128xf32, #rows>, !m
    nv_tileas.barrier
    %z = nv_tileas.local_load %b vector 1 : !m -> tensor<128xf32, #columns>
  }
  nv_tileaa.return
}
// One allocation around a loop: the guard is needed.
// CHECK-LABEL: nv_tileaa.func @guarded(
// CHECK: nv_tileas.barrier {nv_tileas.reuse}
nv_tileaa.func @guarded(%x: tensor<128xf32, #rows>, %n: i32) attributes {numWarps = 2 : i64} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %i = %c0 to %n step %c1 : i32 {
    %a = nv_tileas.alloc_tensor offset 0 : !m
    nv_tileas.barrier {nv_tileas.reuse}
    nv_tileas.local_store %x, %a vector 2 : tensor<128xf32, #rows>, !m
    nv_tileas.barrier
    %y = nv_tileas.local_load %a vector 1 : !m -> tensor<128xf32, #columns>
  }
  nv_tileaa.return
}
// If several threads hold an element, one of them stores it. Replicas of its register in other lanes do not store.
// CHECK-LABEL: nv_tileaa.func @one_of_several(
nv_tileaa.func @one_of_several(%x: tensor<32xf32, #nv_tileas.layout<register = [], lane = [1, 2, 4, 8, 16], warp = [0]>>) attributes {numWarps = 2 : i64} {
  %a = nv_tileas.alloc_tensor offset 0 : !nv_tileas.memdesc<32xf32, #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16]>>
  nv_tileas.local_store %x, %a vector 1 : tensor<32xf32, #nv_tileas.layout<register = [], lane = [1, 2, 4, 8, 16], warp = [0]>>, !nv_tileas.memdesc<32xf32, #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16]>>
  nv_tileas.local_store %x, %a vector 1 : tensor<32xf32, #nv_tileas.layout<register = [], lane = [1, 2, 4, 8, 16], warp = [0]>>, !nv_tileas.memdesc<32xf32, #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16]>>
  nv_tileaa.return
}
