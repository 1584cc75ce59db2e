// RUN: tileiras-opt %s --pass-pipeline='builtin.module(convert-tileaa-to-tileas{num-warps=4},tileas-assign-dot-layouts{compute-capability=sm_90},tileas-assign-load-store-layouts,tileas-remove-layout-conversions,tileas-unspecialized-pipeline{compute-capability=sm_90 unspecialized-pipeline-num-stages=3})' | FileCheck %s
// RUN: tileiras-opt %s --pass-pipeline='builtin.module(convert-tileaa-to-tileas{num-warps=4},tileas-assign-dot-layouts{compute-capability=sm_80},tileas-assign-load-store-layouts,tileas-remove-layout-conversions,tileas-unspecialized-pipeline{compute-capability=sm_80})' | FileCheck %s --check-prefix=FULL

// 128 accumulator registers, and 64 registers of a loop-invariant left operand: the operand stays in shared memory
// and is read for the dot, after the barrier of the iteration.
// CHECK-LABEL: nv_tileaa.func @large(
// CHECK: %[[RING:.*]] = nv_tileas.alloc_tensor : <64x128xf16, {{.*}}, stages = 3>
// CHECK: %[[Q:.*]] = nv_tileas.alloc_tensor : <128x64xf16, {{.*}}>
// CHECK-NEXT: nv_tileas.local_store %{{.*}}, %[[Q]] vector 8
// CHECK: scf.for
// CHECK-NEXT: nv_tileas.async.wait
// CHECK-NEXT: nv_tileas.barrier
// CHECK: %[[A:.*]] = nv_tileas.local_load %[[Q]]
// CHECK: nv_tileas.dot %[[A]],

// With its 16 KiB, 48 KiB also hold two stages of 16 KiB, but not three.
// FULL-LABEL: nv_tileaa.func @large(
// FULL: nv_tileas.alloc_tensor : <64x128xf16, {{.*}}, stages = 2>
// FULL: nv_tileas.local_store
nv_tileaa.func @large(%p0: !nv_tileaa.ptr<f16>, %q: !nv_tileaa.ptr<f32>, %n: i32, %m0: i32) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f16>
  %m = nv_tileaa.make_memref %p, shape = [%m0 : i32], strides = [] : <f16> -> <?x256xf16, strides = [256, 1]>
  %u = nv_tileaa.make_tiled_view %m : <?x256xf16, strides = [256, 1]> -> <tile = [128, 64], memref<?x256xf16, strides = [256, 1]>, padding = zero>
  %v = nv_tileaa.make_tiled_view %m : <?x256xf16, strides = [256, 1]> -> <tile = [64, 128], memref<?x256xf16, strides = [256, 1]>, padding = zero>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %a, %t1 = nv_tileaa.tiled_load <weak> %u[%c0, %c0] : <tile = [128, 64], memref<?x256xf16, strides = [256, 1]>, padding = zero>[i32, i32] -> tensor<128x64xf16>
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<128x128xf32>) : i32 {
    %b, %t2 = nv_tileaa.tiled_load <weak> %v[%k, %c0] : <tile = [64, 128], memref<?x256xf16, strides = [256, 1]>, padding = zero>[i32, i32] -> tensor<64x128xf16>
    %d = nv_tileaa.dot %a, %b, %acc : tensor<128x64xf16>, tensor<64x128xf16>, tensor<128x128xf32>
    scf.yield %d : tensor<128x128xf32>
  }
  %o = nv_tileaa.make_memref %q, shape = [], strides = [] : <f32> -> <128x128xf32, strides = [128, 1]>
  %w = nv_tileaa.make_tiled_view %o : <128x128xf32, strides = [128, 1]> -> <tile = [128, 128], memref<128x128xf32, strides = [128, 1]>>
  %t3 = nv_tileaa.tiled_store <weak> %sum, %w[%c0, %c0] : tensor<128x128xf32>, <tile = [128, 128], memref<128x128xf32, strides = [128, 1]>>[i32, i32]
  nv_tileaa.return
}

// Half as many accumulators: the operand stays in registers.
// CHECK-LABEL: nv_tileaa.func @small(
// CHECK: nv_tileas.convert_layout
// CHECK: scf.for
// CHECK: nv_tileas.barrier
// CHECK-COUNT-1: nv_tileas.local_load
// CHECK-NOT: nv_tileas.local_load
nv_tileaa.func @small(%p0: !nv_tileaa.ptr<f16>, %q: !nv_tileaa.ptr<f32>, %n: i32, %m0: i32) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f16>
  %m = nv_tileaa.make_memref %p, shape = [%m0 : i32], strides = [] : <f16> -> <?x256xf16, strides = [256, 1]>
  %u = nv_tileaa.make_tiled_view %m : <?x256xf16, strides = [256, 1]> -> <tile = [64, 64], memref<?x256xf16, strides = [256, 1]>, padding = zero>
  %v = nv_tileaa.make_tiled_view %m : <?x256xf16, strides = [256, 1]> -> <tile = [64, 64], memref<?x256xf16, strides = [256, 1]>, padding = zero>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %a, %t1 = nv_tileaa.tiled_load <weak> %u[%c0, %c0] : <tile = [64, 64], memref<?x256xf16, strides = [256, 1]>, padding = zero>[i32, i32] -> tensor<64x64xf16>
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i32 {
    %b, %t2 = nv_tileaa.tiled_load <weak> %v[%k, %c0] : <tile = [64, 64], memref<?x256xf16, strides = [256, 1]>, padding = zero>[i32, i32] -> tensor<64x64xf16>
    %d = nv_tileaa.dot %a, %b, %acc : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  %o = nv_tileaa.make_memref %q, shape = [], strides = [] : <f32> -> <64x64xf32, strides = [64, 1]>
  %w = nv_tileaa.make_tiled_view %o : <64x64xf32, strides = [64, 1]> -> <tile = [64, 64], memref<64x64xf32, strides = [64, 1]>>
  %t3 = nv_tileaa.tiled_store <weak> %sum, %w[%c0, %c0] : tensor<64x64xf32>, <tile = [64, 64], memref<64x64xf32, strides = [64, 1]>>[i32, i32]
  nv_tileaa.return
}
