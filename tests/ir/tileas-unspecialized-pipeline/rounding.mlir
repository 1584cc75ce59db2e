// RUN: tileiras-opt %s --pass-pipeline='builtin.module(convert-tileaa-to-tileas{num-warps=4},tileas-assign-dot-layouts{compute-capability=sm_80},tileas-assign-load-store-layouts,tileas-remove-layout-conversions,tileas-unspecialized-pipeline{compute-capability=sm_80})' | FileCheck %s
// RUN: tileiras-opt %s --pass-pipeline='builtin.module(convert-tileaa-to-tileas{num-warps=4},tileas-assign-dot-layouts{compute-capability=sm_90},tileas-assign-load-store-layouts,tileas-remove-layout-conversions,tileas-unspecialized-pipeline{compute-capability=sm_90})' | FileCheck %s --check-prefix=INSTRUCTION
// Targets without an instruction that rounds to tf32 round each number once, in its stage. The others round fragments.

// CHECK-LABEL: nv_tileaa.func @loop(
// CHECK: scf.for
// CHECK-NEXT: nv_tileas.async.wait
// CHECK-NEXT: nv_tileas.barrier
// CHECK-NEXT: %[[A:.*]] = nv_tileas.memdesc_slot
// CHECK-NEXT: %[[X:.*]] = nv_tileas.local_load %[[A]] vector 4
// CHECK-NEXT: %[[R:.*]] = nv_tileaa.fp_cast %[[X]] : tensor<64x32xf32, {{.*}}> -> tensor<64x32xtf32
// CHECK-NEXT: %[[T:.*]] = nv_tileas.memdesc_reinterpret %[[A]]
// CHECK-NEXT: %[[B:.*]] = nv_tileas.memdesc_slot
// CHECK-NEXT: %[[Y:.*]] = nv_tileas.local_load %[[B]] vector 4
// CHECK-NEXT: %[[S:.*]] = nv_tileaa.fp_cast %[[Y]] : tensor<32x64xf32, {{.*}}> -> tensor<32x64xtf32
// CHECK-NEXT: %[[U:.*]] = nv_tileas.memdesc_reinterpret %[[B]]
// CHECK-NEXT: nv_tileas.barrier
// CHECK-NEXT: nv_tileas.local_store %[[R]], %[[T]] vector 4
// CHECK-NEXT: nv_tileas.local_store %[[S]], %[[U]] vector 4
// CHECK-NEXT: nv_tileas.barrier
// CHECK-NOT: fp_cast
// CHECK: %[[F:.*]] = nv_tileas.local_load {{.*}} -> tensor<64x32xtf32
// CHECK: %[[G:.*]] = nv_tileas.local_load {{.*}} -> tensor<32x64xtf32
// CHECK: nv_tileas.dot %[[F]], %[[G]]
// INSTRUCTION-LABEL: nv_tileaa.func @loop(
// INSTRUCTION: scf.for
// INSTRUCTION-NOT: local_store
// INSTRUCTION: %[[X:.*]] = nv_tileas.local_load {{.*}} -> tensor<64x32xf32
// INSTRUCTION-NEXT: nv_tileaa.fp_cast %[[X]]
nv_tileaa.func @loop(%p0: !nv_tileaa.ptr<f32>, %q: !nv_tileaa.ptr<f32>, %n: i32, %m0: i32) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f32>
  %m = nv_tileaa.make_memref %p, shape = [%m0 : i32], strides = [] : <f32> -> <?x256xf32, strides = [256, 1]>
  %v = nv_tileaa.make_tiled_view %m : <?x256xf32, strides = [256, 1]> -> <tile = [64, 32], memref<?x256xf32, strides = [256, 1]>, padding = zero>
  %w = nv_tileaa.make_tiled_view %m : <?x256xf32, strides = [256, 1]> -> <tile = [32, 64], memref<?x256xf32, strides = [256, 1]>, padding = zero>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i32 {
    %a, %t1 = nv_tileaa.tiled_load <weak> %v[%c0, %k] : <tile = [64, 32], memref<?x256xf32, strides = [256, 1]>, padding = zero>[i32, i32] -> tensor<64x32xf32>
    %b, %t2 = nv_tileaa.tiled_load <weak> %w[%k, %c0] : <tile = [32, 64], memref<?x256xf32, strides = [256, 1]>, padding = zero>[i32, i32] -> tensor<32x64xf32>
    %x = nv_tileaa.fp_cast %a : tensor<64x32xf32> -> tensor<64x32xtf32>
    %y = nv_tileaa.fp_cast %b : tensor<32x64xf32> -> tensor<32x64xtf32>
    %d = nv_tileaa.dot %x, %y, %acc : tensor<64x32xtf32>, tensor<32x64xtf32>, tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  %o = nv_tileaa.make_memref %q, shape = [], strides = [] : <f32> -> <64x64xf32, strides = [64, 1]>
  %z = nv_tileaa.make_tiled_view %o : <64x64xf32, strides = [64, 1]> -> <tile = [64, 64], memref<64x64xf32, strides = [64, 1]>>
  %t3 = nv_tileaa.tiled_store <weak> %sum, %z[%c0, %c0] : tensor<64x64xf32>, <tile = [64, 64], memref<64x64xf32, strides = [64, 1]>>[i32, i32]
  nv_tileaa.return
}
