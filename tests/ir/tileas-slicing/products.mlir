// RUN: tileiras-opt %s --pass-pipeline='builtin.module(convert-tileaa-to-tileas{num-warps=4},tileas-slicing)' | FileCheck %s

// A slice of the accumulator has 32 words per thread, which is 64x64 with four warps, and a slice of the operands has
// 32 elements along K.
!a = !nv_tileaa.tiled_view<tile = [256, 64], memref<4096x4096xf16, strides = [4096, 1]>>
!b = !nv_tileaa.tiled_view<tile = [64, 256], memref<4096x4096xf16, strides = [4096, 1]>>
!c = !nv_tileaa.tiled_view<tile = [256, 256], memref<4096x4096xf32, strides = [4096, 1]>>
!n = !nv_tileaa.tiled_view<tile = [128, 128], memref<4096x4096xf32, strides = [4096, 1]>>
!h = !nv_tileaa.tiled_view<tile = [128, 128], memref<4096x4096xf16, strides = [4096, 1]>>
gpu.module @kernels {
  // A 256x256 accumulator has 512 words per thread: 16 slices of the result, each with a loop over two slices along
  // K.
  // CHECK-LABEL: nv_tileaa.func @loaded(
  // CHECK: %[[A:.*]], %{{.*}} = nv_tileas.tiled_load {{.*}} -> tensor<256x64xf16
  // CHECK: %[[B:.*]], %{{.*}} = nv_tileas.tiled_load {{.*}} -> tensor<64x256xf16
  // CHECK: %[[C:.*]], %{{.*}} = nv_tileas.tiled_load {{.*}} -> tensor<256x256xf32
  // CHECK: %[[POISON:.*]] = ub.poison : tensor<256x256xf32
  // CHECK: %[[SLICES:.*]] = arith.constant 16 : i32
  // CHECK: %[[R:.*]] = scf.for %[[I:.*]] = %{{.*}} to %[[SLICES]] step %{{.*}} iter_args(%[[OUT:.*]] = %[[POISON]])
  // CHECK: %[[N:.*]] = arith.andi %[[I]], %{{.*}} : i32
  // CHECK: %[[HIGH:.*]] = arith.shrui %[[I]], %{{.*}} : i32
  // CHECK: %[[M:.*]] = arith.andi %[[HIGH]], %{{.*}} : i32
  // CHECK: %[[START:.*]] = nv_tileas.extract_slice %[[C]][%[[M]], %[[N]]] : tensor<256x256xf32, {{.*}} -> tensor<64x64xf32
  // CHECK: %[[STEPS:.*]] = arith.constant 2 : i32
  // CHECK: %[[SUM:.*]] = scf.for %[[K:.*]] = %{{.*}} to %[[STEPS]] step %{{.*}} iter_args(%[[ACC:.*]] = %[[START]])
  // CHECK-NEXT: %[[SA:.*]] = nv_tileas.extract_slice %[[A]][%[[M]], %[[K]]] : {{.*}} -> tensor<64x32xf16
  // CHECK-NEXT: %[[X:.*]] = nv_tileas.convert_layout %[[SA]]
  // CHECK-NEXT: %[[SB:.*]] = nv_tileas.extract_slice %[[B]][%[[K]], %[[N]]] : {{.*}} -> tensor<32x64xf16
  // CHECK-NEXT: %[[Y:.*]] = nv_tileas.convert_layout %[[SB]]
  // CHECK-NEXT: %[[D:.*]] = nv_tileas.dot %[[X]], %[[Y]], %[[ACC]] by <fma> : tensor<64x32xf16
  // CHECK-NEXT: scf.yield %[[D]] : tensor<64x64xf32
  // CHECK: %[[INSERTED:.*]] = nv_tileas.insert_slice %[[SUM]] into %[[OUT]][%[[M]], %[[N]]]
  // CHECK-NEXT: scf.yield %[[INSERTED]]
  // CHECK: %[[BACK:.*]] = nv_tileas.convert_layout %[[R]]
  // CHECK: nv_tileas.tiled_store <weak> %[[BACK]]
  nv_tileaa.func @loaded(%va: !a, %vb: !b, %vc: !c, %i: i32) {
    %t = nv_tileaa.create_mem_token
    %a, %t1 = nv_tileaa.tiled_load <weak> %va[%i, %i] token %t : !a[i32, i32] -> tensor<256x64xf16>
    %b, %t2 = nv_tileaa.tiled_load <weak> %vb[%i, %i] token %t : !b[i32, i32] -> tensor<64x256xf16>
    %c, %t3 = nv_tileaa.tiled_load <weak> %vc[%i, %i] token %t : !c[i32, i32] -> tensor<256x256xf32>
    %d = nv_tileaa.dot %a, %b, %c : tensor<256x64xf16>, tensor<64x256xf16>, tensor<256x256xf32>
    %t4 = nv_tileaa.tiled_store <weak> %d, %vc[%i, %i] token %t3 : tensor<256x256xf32>, !c[i32, i32]
    nv_tileaa.return
  }

  // A slice of a splat is a smaller splat.
  // CHECK-LABEL: nv_tileaa.func @zeros(
  // CHECK: scf.for
  // CHECK-NOT: nv_tileas.extract_slice
  // CHECK: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : tensor<64x64xf32
  // CHECK: scf.for {{.*}} iter_args(%{{.*}} = %[[ZERO]])
  // CHECK: nv_tileas.dot {{.*}} tensor<64x64xf32
  nv_tileaa.func @zeros(%va: !a, %vb: !b, %vc: !c, %i: i32) {
    %t = nv_tileaa.create_mem_token
    %a, %t1 = nv_tileaa.tiled_load <weak> %va[%i, %i] token %t : !a[i32, i32] -> tensor<256x64xf16>
    %b, %t2 = nv_tileaa.tiled_load <weak> %vb[%i, %i] token %t : !b[i32, i32] -> tensor<64x256xf16>
    %c = arith.constant dense<0.0> : tensor<256x256xf32>
    %d = nv_tileaa.dot %a, %b, %c : tensor<256x64xf16>, tensor<64x256xf16>, tensor<256x256xf32>
    %t4 = nv_tileaa.tiled_store <weak> %d, %vc[%i, %i] token %t : tensor<256x256xf32>, !c[i32, i32]
    nv_tileaa.return
  }

  // Accumulators of 128 words per thread are not sliced, nor is a dot whose operands are replicated in registers.
  // CHECK-LABEL: nv_tileaa.func @fits(
  // CHECK-NOT: scf.for
  // CHECK: nv_tileas.dot {{.*}} : tensor<128x128xf16
  // CHECK-NOT: scf.for
  // CHECK: nv_tileaa.return
  nv_tileaa.func @fits(%va: !h, %vc: !n, %i: i32) {
    %t = nv_tileaa.create_mem_token
    %a, %t1 = nv_tileaa.tiled_load <weak> %va[%i, %i] token %t : !h[i32, i32] -> tensor<128x128xf16>
    %c = arith.constant dense<0.0> : tensor<128x128xf32>
    %d = nv_tileaa.dot %a, %a, %c : tensor<128x128xf16>, tensor<128x128xf16>, tensor<128x128xf32>
    %t4 = nv_tileaa.tiled_store <weak> %d, %vc[%i, %i] token %t : tensor<128x128xf32>, !n[i32, i32]
    nv_tileaa.return
  }
}
