// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileas-materialize-convert-layout)' | FileCheck %s
#full = #nv_tileas.layout<register = [], lane = [1, 2, 4, 8, 16], warp = [32, 64]>
#half = #nv_tileas.layout<register = [16], lane = [1, 2, 4, 8, 0], warp = [32, 64]>
#one = #nv_tileas.layout<register = [], lane = [0, 0, 0, 0, 0], warp = [0, 0]>
#odd = #nv_tileas.layout<register = [], lane = [1, 2, 4, 4, 0], warp = [8, 16]>

// CHECK-LABEL: nv_tileaa.func @kinds(
nv_tileaa.func @kinds(%a: tensor<128xi32, #full>, %b: tensor<128xi32, #half>, %c: tensor<1xi64, #one>, %d: tensor<32xi8, #odd>) attributes {numWarps = 4 : i64} {
  // The owners are the only holders.
  // CHECK-NOT: replicate
  // CHECK: arith.addi %arg0, %arg0
  %a1 = nv_tileas.replicate %a : tensor<128xi32, #full>
  %a2 = arith.addi %a1, %a1 : tensor<128xi32, #full>
  // The upper half of each warp has replicas of the lower half, so shuffles suffice.
  // CHECK-NEXT: %[[B:.*]] = nv_tileas.replicate %arg1
  // CHECK-NEXT: arith.addi %[[B]], %[[B]]
  %b1 = nv_tileas.replicate %b : tensor<128xi32, #half>
  %b2 = arith.addi %b1, %b1 : tensor<128xi32, #half>
  // The first thread sends the value to all warps. Shared memory has not been used before.
  // CHECK-NEXT: %[[M:.*]] = nv_tileas.alloc_tensor : <1xi64>
  // CHECK-NEXT: nv_tileas.local_store %arg2, %[[M]] vector 1
  %c1 = nv_tileas.replicate %c : tensor<1xi64, #one>
  %c2 = arith.addi %c1, %c1 : tensor<1xi64, #one>
  // Lanes whose basis is a sum of others are not simple replicas. Both values are sent at once.
  // CHECK-NEXT: %[[N:.*]] = nv_tileas.alloc_tensor : <32xi8>
  // CHECK-NEXT: nv_tileas.local_store %arg3, %[[N]]
  // CHECK-NEXT: nv_tileas.barrier
  // CHECK-NEXT: %[[C:.*]] = nv_tileas.local_load %[[M]] vector 1
  // CHECK-NEXT: arith.addi %[[C]], %[[C]]
  // CHECK-NEXT: %[[D:.*]] = nv_tileas.local_load %[[N]]
  // CHECK-NEXT: arith.addi %[[D]], %[[D]]
  %d1 = nv_tileas.replicate %d : tensor<32xi8, #odd>
  %d2 = arith.addi %d1, %d1 : tensor<32xi8, #odd>
  nv_tileaa.return
}
// CHECK-LABEL: nv_tileaa.func @print(
// CHECK: nv_tileas.print "%d", %arg1 : i32
// CHECK: %[[M:.*]] = nv_tileas.alloc_tensor : <128xi32>
// CHECK-NEXT: %[[N:.*]] = nv_tileas.alloc_tensor : <1024xf16>
// CHECK-NEXT: nv_tileas.print "%d %d %f", %arg1, %arg0, %arg2 : {{.*}} scratch %[[M]], %[[N]] : {{.*}} token
nv_tileaa.func @print(%a: tensor<128xi32, #full>, %n: i32, %x: tensor<64x64xf16, #nv_tileas.layout<register = [1, 2, 4, 1024, 2048], lane = [8, 16, 32, 64, 128], warp = [256, 512]>>) attributes {numWarps = 4 : i64} {
  %t = nv_tileas.print "%d", %n : i32
  %t1 = nv_tileas.print "%d %d %f", %n, %a, %x : i32, tensor<128xi32, #full>, tensor<64x64xf16, #nv_tileas.layout<register = [1, 2, 4, 1024, 2048], lane = [8, 16, 32, 64, 128], warp = [256, 512]>> token %t
  nv_tileaa.return
}
