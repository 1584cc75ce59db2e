// RUN: tileiras-opt %s --pass-pipeline='builtin.module(convert-tileaa-to-tileas{num-warps=4},tileas-slicing)' | FileCheck %s

!r = !nv_tileaa.tiled_view<tile = [32768], memref<65536xf32, strides = [1]>>
!s = !nv_tileaa.tiled_view<tile = [4096], memref<65536xf32, strides = [1]>>
!m = !nv_tileaa.tiled_view<tile = [256, 128], memref<4096x128xf32, strides = [128, 1]>>
!h = !nv_tileaa.tiled_view<tile = [64, 64], memref<64x64xf16, strides = [64, 1]>>
!f = !nv_tileaa.tiled_view<tile = [64, 64], memref<64x64xf32, strides = [64, 1]>>
gpu.module @kernels {
  // 256 elements per thread: eight slices of 32. The last element of a slice is carried to the next one. The first
  // slice is combined with nothing.
  // CHECK-LABEL: nv_tileaa.func @sum(
  // CHECK: %[[X:.*]], %{{.*}} = nv_tileas.tiled_load {{.*}} -> tensor<32768xf32
  // CHECK: %[[POISON:.*]] = ub.poison : tensor<32768xf32
  // CHECK: %[[NOTHING:.*]] = ub.poison : tensor<1xf32
  // CHECK: %[[SLICES:.*]] = arith.constant 8 : i32
  // CHECK: %[[R:.*]]:2 = scf.for %[[I:.*]] = %{{.*}} to %[[SLICES]] {{.*}} iter_args(%[[OUT:.*]] = %[[POISON]], %[[CARRY:.*]] = %[[NOTHING]])
  // CHECK: %[[J:.*]] = arith.andi %[[I]], %{{.*}} : i32
  // CHECK: %[[SLICE:.*]] = nv_tileas.extract_slice %[[X]][%[[J]]] : tensor<32768xf32, {{.*}} -> tensor<4096xf32
  // CHECK: %[[S:.*]] = nv_tileas.scan %[[SLICE]] dim 0
  // CHECK: %[[FIRST:.*]] = arith.cmpi eq, %[[J]], %{{.*}} : i32
  // CHECK: %[[C:.*]] = nv_tileas.convert_layout %[[CARRY]]
  // CHECK: %[[ALL:.*]] = nv_tileas.broadcast %[[C]] : tensor<1xf32, {{.*}} -> tensor<4096xf32
  // CHECK: %[[SUM:.*]] = arith.addf %[[ALL]], %[[S]]
  // CHECK: %[[T:.*]] = arith.select %[[FIRST]], %[[S]], %[[SUM]]
  // CHECK: %[[NEXT:.*]] = nv_tileas.insert_slice %[[T]] into %[[OUT]][%[[J]]]
  // CHECK: %[[LAST:.*]] = arith.constant 4095 : i32
  // CHECK: %[[EDGE:.*]] = nv_tileas.extract_slice %[[T]][%[[LAST]]] : {{.*}} -> tensor<1xf32
  // CHECK: scf.yield %[[NEXT]], %[[EDGE]]
  // CHECK: %[[BACK:.*]] = nv_tileas.convert_layout %[[R]]#0
  // CHECK: nv_tileas.tiled_store <weak> %[[BACK]]
  nv_tileaa.func @sum(%v: !r, %i: i32) {
    %t = nv_tileaa.create_mem_token
    %x, %t1 = nv_tileaa.tiled_load <weak> %v[%i] token %t : !r[i32] -> tensor<32768xf32>
    %y = nv_tileaa.scan %x dim 0 identities [0.0 : f32] : tensor<32768xf32> -> tensor<32768xf32> {
    ^bb0(%a: f32, %b: f32):
      %z = arith.addf %a, %b : f32
      nv_tileaa.yield %z : f32
    }
    %t2 = nv_tileaa.tiled_store <weak> %y, %v[%i] token %t1 : tensor<32768xf32>, !r[i32]
    nv_tileaa.return
  }

  // Backward from the last slice, with the first element of each slice as the carry.
  // CHECK-LABEL: nv_tileaa.func @reverse(
  // CHECK: %[[X:.*]], %{{.*}} = nv_tileas.tiled_load
  // CHECK: scf.for %[[I:.*]] = %{{.*}} iter_args(%[[OUT:.*]] = %{{.*}}, %{{.*}} = %{{.*}})
  // CHECK: %[[STEP:.*]] = arith.andi %[[I]], %{{.*}} : i32
  // CHECK: %[[J:.*]] = arith.subi %{{.*}}, %[[STEP]] : i32
  // CHECK: %[[SLICE:.*]] = nv_tileas.extract_slice %[[X]][%[[J]]]
  // CHECK: nv_tileas.scan %[[SLICE]] dim 0 reverse
  // CHECK: arith.cmpi eq, %[[STEP]], %{{.*}} : i32
  // CHECK: nv_tileas.insert_slice %[[T:.*]] into %[[OUT]][%[[J]]]
  // CHECK: nv_tileas.extract_slice %[[T]][%c0_{{.*}}] : {{.*}} -> tensor<1xf32
  nv_tileaa.func @reverse(%v: !r, %i: i32) {
    %t = nv_tileaa.create_mem_token
    %x, %t1 = nv_tileaa.tiled_load <weak> %v[%i] token %t : !r[i32] -> tensor<32768xf32>
    %y = nv_tileaa.scan %x dim 0 reverse identities [0.0 : f32] : tensor<32768xf32> -> tensor<32768xf32> {
    ^bb0(%a: f32, %b: f32):
      %z = arith.addf %a, %b : f32
      nv_tileaa.yield %z : f32
    }
    %t2 = nv_tileaa.tiled_store <weak> %y, %v[%i] token %t1 : tensor<32768xf32>, !r[i32]
    nv_tileaa.return
  }

  // Along the rows of a matrix: a slice has whole rows, and the carry is a row.
  // CHECK-LABEL: nv_tileaa.func @columns(
  // CHECK: ub.poison : tensor<1x128xf32
  // CHECK: scf.for
  // CHECK: nv_tileas.extract_slice {{.*}} -> tensor<32x128xf32
  // CHECK: nv_tileas.scan %{{.*}} dim 0
  // CHECK: nv_tileas.broadcast {{.*}} : tensor<1x128xf32, {{.*}} -> tensor<32x128xf32
  // CHECK: nv_tileas.extract_slice {{.*}} : tensor<32x128xf32, {{.*}} -> tensor<1x128xf32
  nv_tileaa.func @columns(%v: !m, %i: i32) {
    %t = nv_tileaa.create_mem_token
    %x, %t1 = nv_tileaa.tiled_load <weak> %v[%i, %i] token %t : !m[i32, i32] -> tensor<256x128xf32>
    %y = nv_tileaa.scan %x dim 0 identities [0.0 : f32] : tensor<256x128xf32> -> tensor<256x128xf32> {
    ^bb0(%a: f32, %b: f32):
      %z = arith.addf %a, %b : f32
      nv_tileaa.yield %z : f32
    }
    %t2 = nv_tileaa.tiled_store <weak> %y, %v[%i, %i] token %t1 : tensor<256x128xf32>, !m[i32, i32]
    nv_tileaa.return
  }

  // 32 elements per thread need no loop.
  // CHECK-LABEL: nv_tileaa.func @fits(
  // CHECK-NOT: scf.for
  // CHECK: nv_tileas.scan %{{.*}} dim 0
  // CHECK-NOT: scf.for
  // CHECK: nv_tileaa.return
  nv_tileaa.func @fits(%v: !s, %i: i32) {
    %t = nv_tileaa.create_mem_token
    %x, %t1 = nv_tileaa.tiled_load <weak> %v[%i] token %t : !s[i32] -> tensor<4096xf32>
    %y = nv_tileaa.scan %x dim 0 identities [0.0 : f32] : tensor<4096xf32> -> tensor<4096xf32> {
    ^bb0(%a: f32, %b: f32):
      %z = arith.addf %a, %b : f32
      nv_tileaa.yield %z : f32
    }
    %t2 = nv_tileaa.tiled_store <weak> %y, %v[%i] token %t1 : tensor<4096xf32>, !s[i32]
    nv_tileaa.return
  }

  // A small dot in the same function changes nothing, although its operands are replicated in the registers of scalar
  // arithmetic until it has an instruction.
  // CHECK-LABEL: nv_tileaa.func @beside_product(
  // CHECK: scf.for
  // CHECK: nv_tileas.scan {{.*}} tensor<4096xf32
  // CHECK: nv_tileas.dot
  nv_tileaa.func @beside_product(%v: !r, %w: !h, %o: !f, %i: i32) {
    %t = nv_tileaa.create_mem_token
    %x, %t1 = nv_tileaa.tiled_load <weak> %v[%i] token %t : !r[i32] -> tensor<32768xf32>
    %y = nv_tileaa.scan %x dim 0 identities [0.0 : f32] : tensor<32768xf32> -> tensor<32768xf32> {
    ^bb0(%a: f32, %b: f32):
      %z = arith.addf %a, %b : f32
      nv_tileaa.yield %z : f32
    }
    %t2 = nv_tileaa.tiled_store <weak> %y, %v[%i] token %t1 : tensor<32768xf32>, !r[i32]
    %h, %t3 = nv_tileaa.tiled_load <weak> %w[%i, %i] token %t : !h[i32, i32] -> tensor<64x64xf16>
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    %d = nv_tileaa.dot %h, %h, %zero : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
    %t4 = nv_tileaa.tiled_store <weak> %d, %o[%i, %i] token %t : tensor<64x64xf32>, !f[i32, i32]
    nv_tileaa.return
  }
}
