// RUN: tileiras-opt %s --pass-pipeline='builtin.module(convert-tileaa-to-tileas{num-warps=4},tileas-assign-dot-layouts{compute-capability=sm_80},tileas-assign-load-store-layouts,tileas-remove-layout-conversions,tileas-unspecialized-pipeline{compute-capability=sm_80 unspecialized-pipeline-num-stages=3})' | FileCheck %s
// RUN: tileiras-opt %s --pass-pipeline='builtin.module(convert-tileaa-to-tileas{num-warps=4},tileas-assign-dot-layouts{compute-capability=sm_80},tileas-assign-load-store-layouts,tileas-remove-layout-conversions,tileas-unspecialized-pipeline{compute-capability=sm_80})' | FileCheck %s --check-prefix=FITS
// RUN: tileiras-opt %s --pass-pipeline='builtin.module(convert-tileaa-to-tileas{num-warps=4},tileas-assign-dot-layouts{compute-capability=sm_80},tileas-assign-load-store-layouts,tileas-remove-layout-conversions,tileas-unspecialized-pipeline{compute-capability=sm_80 unspecialized-pipeline-num-stages=1})' | FileCheck %s --check-prefix=ONE
// RUN: not tileiras-opt %s --pass-pipeline='builtin.module(tileas-unspecialized-pipeline{unspecialized-pipeline-num-stages=0})' 2>&1 | FileCheck %s --check-prefix=ZERO
// ZERO: unspecialized-pipeline-num-stages must be positive, got 0
// With one stage, no copy starts ahead.
// ONE-NOT: async

// Two operands of 8 KiB each: three stages fill the 48 KiB of a block of sm_80.
// FITS: nv_tileas.alloc_tensor : <64x64xf16, {{.*}}, stages = 3>

// CHECK-LABEL: nv_tileaa.func @loop(
// CHECK: %[[A:.*]] = nv_tileas.alloc_tensor : <64x64xf16, {{.*}}, stages = 3>
// CHECK: %[[B:.*]] = nv_tileas.alloc_tensor : <64x64xf16, {{.*}}, stages = 3>
// Shared memory was not used before, so no barrier is needed.
// CHECK-NOT: nv_tileas.barrier
// CHECK: %[[ANY:.*]] = arith.cmpi slt, {{.*}} : i64
// CHECK: nv_tileas.memdesc_slot %[[A]]
// CHECK: %[[D0:.*]], %{{.*}} = nv_tileas.async.tiled_load {{.*}} if %[[ANY]] {{.*}} vector 8
// CHECK: %[[D1:.*]], %{{.*}} = nv_tileas.async.tiled_load {{.*}} if %[[ANY]] {{.*}} vector 8
// CHECK: %[[G0:.*]] = nv_tileas.async.commit of %[[D0]], %[[D1]]
// CHECK: %[[G1:.*]] = nv_tileas.async.commit
// CHECK-NOT: nv_tileas.async.commit
// CHECK: %[[R:.*]]:5 = scf.for {{.*}} iter_args(%[[ACC:.*]] = %{{.*}}, %[[READ:.*]] = %{{.*}}, %[[WRITE:.*]] = %{{.*}}, %[[H0:.*]] = %[[G0]], %[[H1:.*]] = %[[G1]])
// CHECK-NEXT: nv_tileas.async.wait %[[H0]] pending 1
// CHECK-NEXT: nv_tileas.barrier
// CHECK: %[[MORE:.*]] = arith.cmpi ult,
// CHECK: %[[S:.*]] = nv_tileas.memdesc_slot %[[A]][%[[WRITE]]]
// CHECK: nv_tileas.async.tiled_load {{.*}} into %[[S]] if %[[MORE]]
// CHECK: nv_tileas.memdesc_slot %[[B]][%[[WRITE]]]
// CHECK: %[[G2:.*]] = nv_tileas.async.commit
// CHECK-NOT: nv_tileas.barrier
// CHECK: %[[SA:.*]] = nv_tileas.memdesc_slot %[[A]][%[[READ]]]
// CHECK: %[[X:.*]] = nv_tileas.local_load %[[SA]]
// CHECK: %[[SB:.*]] = nv_tileas.memdesc_slot %[[B]][%[[READ]]]
// CHECK: %[[Y:.*]] = nv_tileas.local_load %[[SB]]
// CHECK: %[[C:.*]] = nv_tileas.dot %[[X]], %[[Y]], %[[ACC]]
// CHECK: scf.yield %[[C]], %{{.*}}, %{{.*}}, %[[H1]], %[[G2]]
// CHECK: nv_tileas.async.wait %[[R]]#3, %[[R]]#4 pending 0
nv_tileaa.func @loop(%p0: !nv_tileaa.ptr<f16>, %q: !nv_tileaa.ptr<f32>, %n: i32, %m0: i32) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f16>
  %m = nv_tileaa.make_memref %p, shape = [%m0 : i32], strides = [] : <f16> -> <?x256xf16, strides = [256, 1]>
  %v = nv_tileaa.make_tiled_view %m : <?x256xf16, strides = [256, 1]> -> <tile = [64, 64], memref<?x256xf16, strides = [256, 1]>, padding = zero>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i32 {
    %a, %t1 = nv_tileaa.tiled_load <weak> %v[%c0, %k] : <tile = [64, 64], memref<?x256xf16, strides = [256, 1]>, padding = zero>[i32, i32] -> tensor<64x64xf16>
    %b, %t2 = nv_tileaa.tiled_load <weak> %v[%k, %c0] : <tile = [64, 64], memref<?x256xf16, strides = [256, 1]>, padding = zero>[i32, i32] -> tensor<64x64xf16>
    %d = nv_tileaa.dot %a, %b, %acc : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  %o = nv_tileaa.make_memref %q, shape = [], strides = [] : <f32> -> <64x64xf32, strides = [64, 1]>
  %w = nv_tileaa.make_tiled_view %o : <64x64xf32, strides = [64, 1]> -> <tile = [64, 64], memref<64x64xf32, strides = [64, 1]>>
  %t3 = nv_tileaa.tiled_store <weak> %sum, %w[%c0, %c0] : tensor<64x64xf32>, <tile = [64, 64], memref<64x64xf32, strides = [64, 1]>>[i32, i32]
  nv_tileaa.return
}
