// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileas-materialize-convert-layout)' | FileCheck %s

#rows = #nv_tileas.layout<register = [1, 2, 512], lane = [4, 8, 16, 32, 64], warp = [128, 256]>
#swapped = #nv_tileas.layout<register = [2, 1, 512], lane = [4, 8, 16, 32, 64], warp = [128, 256]>
#columns = #nv_tileas.layout<register = [32, 64, 16], lane = [128, 256, 512, 1, 2], warp = [4, 8]>
// Only registers are exchanged: the conversion stays and costs nothing.
// CHECK-LABEL: nv_tileaa.func @registers(
// CHECK: nv_tileas.convert_layout
// CHECK-NOT: alloc_tensor
// CHECK: nv_tileaa.return
nv_tileaa.func @registers(%x: f32) attributes {numWarps = 4 : i64} {
  %a = nv_tileas.splat %x : f32 -> tensor<32x32xf32, #rows>
  %b = nv_tileas.convert_layout %a : tensor<32x32xf32, #rows> -> tensor<32x32xf32, #swapped>
  nv_tileaa.return
}
// Shared memory was not used before the first conversion, so it needs no barrier before it; the second one does. The
// storage is swizzled (bases with several bits), and the side that can use vectors does.
// CHECK-LABEL: nv_tileaa.func @first(
// CHECK-NOT: convert_layout
// CHECK: %[[A:.*]] = nv_tileas.alloc_tensor : <32x32xf32, #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64, 132, 264, 528]>>
// CHECK-NEXT: nv_tileas.local_store %{{.*}}, %[[A]] vector 4 :
// CHECK-NEXT: nv_tileas.barrier
// CHECK-NEXT: %[[B:.*]] = nv_tileas.local_load %[[A]] vector 1 :
// CHECK-NEXT: %[[C:.*]] = arith.negf %[[B]]
// CHECK-NEXT: %[[D:.*]] = nv_tileas.alloc_tensor
// CHECK-NEXT: nv_tileas.barrier
// CHECK-NEXT: nv_tileas.local_store %[[C]], %[[D]] vector 1 :
// CHECK-NEXT: nv_tileas.barrier
// CHECK-NEXT: nv_tileas.local_load %[[D]] vector 4 :
nv_tileaa.func @first(%x: f32) attributes {numWarps = 4 : i64} {
  %a = nv_tileas.splat %x : f32 -> tensor<32x32xf32, #rows>
  %b = nv_tileas.convert_layout %a : tensor<32x32xf32, #rows> -> tensor<32x32xf32, #columns>
  %c = arith.negf %b : tensor<32x32xf32, #columns>
  %d = nv_tileas.convert_layout %c : tensor<32x32xf32, #columns> -> tensor<32x32xf32, #rows>
  nv_tileaa.return
}
// Threads may still be reading in the previous iteration.
// CHECK-LABEL: nv_tileaa.func @in_a_loop(
// CHECK: scf.for
// CHECK: nv_tileas.alloc_tensor
// CHECK-NEXT: nv_tileas.barrier
// CHECK-NEXT: nv_tileas.local_store
// CHECK-NEXT: nv_tileas.barrier
// CHECK-NEXT: nv_tileas.local_load
nv_tileaa.func @in_a_loop(%x: f32, %n: i32) attributes {numWarps = 4 : i64} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %i = %c0 to %n step %c1 : i32 {
    %a = nv_tileas.splat %x : f32 -> tensor<32x32xf32, #rows>
    %b = nv_tileas.convert_layout %a : tensor<32x32xf32, #rows> -> tensor<32x32xf32, #columns>
  }
  nv_tileaa.return
}
