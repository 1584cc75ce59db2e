// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileaa-plan-products{compute-capability=sm_90},convert-tileaa-to-tileas{compute-capability=sm_90},tileas-assign-dot-layouts{compute-capability=sm_90},tileas-assign-load-store-layouts{compute-capability=sm_90},tileas-remove-layout-conversions,tileas-materialize-async)' | FileCheck %s
!view = !nv_tileaa.tiled_view<tile = [64, 64], memref<?x256xf32, strides = [256, 1]>, padding = zero>

// The left operand is rounded where it lies, by each thread what it has read; the right one is turned as well, which
// takes a barrier between reads and writes. Then a fence, since products read by a proxy of their own.
// CHECK-LABEL: nv_tileaa.func @rounded(
// CHECK: nv_tileas.async.pipeline.consumer_wait
// CHECK: %[[A:.*]] = nv_tileas.memdesc_slot
// CHECK: %[[B:.*]] = nv_tileas.memdesc_slot
// CHECK-NEXT: %[[FROM:.*]] = nv_tileas.memdesc_reinterpret %[[A]] : <64x64xf32, {{.*}}> -> <4096xf32,
// CHECK-NEXT: %[[TO:.*]] = nv_tileas.memdesc_reinterpret %[[A]] : <64x64xf32, {{.*}}> -> <4096xtf32,
// CHECK-NEXT: %[[X:.*]] = nv_tileas.local_load %[[FROM]] vector 4
// CHECK-NEXT: %[[Y:.*]] = nv_tileaa.fp_cast %[[X]] : tensor<4096xf32, {{.*}}> -> tensor<4096xtf32,
// CHECK-NEXT: nv_tileas.local_store %[[Y]], %[[TO]] vector 4
// CHECK-NEXT: %[[LEFT:.*]] = nv_tileas.memdesc_reinterpret %[[A]] : {{.*}} -> <64x64xtf32,
// CHECK: nv_tileas.memdesc_reinterpret %[[B]]
// CHECK: nv_tileas.local_load
// CHECK-NEXT: nv_tileaa.fp_cast
// CHECK-NEXT: nv_tileas.barrier
// CHECK: nv_tileas.local_store
// CHECK: %[[RIGHT:.*]] = nv_tileas.memdesc_reinterpret %[[B]] : {{.*}} -> <64x64xtf32,
// CHECK-NEXT: nv_tileas.async.fence
// CHECK-NEXT: nv_tileas.barrier
// CHECK-NEXT: nv_tileas.async.dot %[[LEFT]], %[[RIGHT]],
nv_tileaa.func @rounded(%p0: !nv_tileaa.ptr<f32>, %n: i32, %m0: i32) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f32>
  %m = nv_tileaa.make_memref %p, shape = [%m0 : i32], strides = [] : <f32> -> <?x256xf32, strides = [256, 1]>
  %v = nv_tileaa.make_tiled_view %m : <?x256xf32, strides = [256, 1]> -> !view
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i32 {
    %a, %t1 = nv_tileaa.tiled_load <weak> %v[%c0, %k] : !view[i32, i32] -> tensor<64x64xf32>
    %b, %t2 = nv_tileaa.tiled_load <weak> %v[%k, %c0] : !view[i32, i32] -> tensor<64x64xf32>
    %x = nv_tileaa.fp_cast %a : tensor<64x64xf32> -> tensor<64x64xtf32>
    %y = nv_tileaa.fp_cast %b : tensor<64x64xf32> -> tensor<64x64xtf32>
    %d = nv_tileaa.dot %x, %y, %acc : tensor<64x64xtf32>, tensor<64x64xtf32>, tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  nv_tileaa.return
}

// Sums of 8-bit floats that must be exact: the product is waited for, and its stage released at once.
// CHECK-LABEL: nv_tileaa.func @exact(
// CHECK: %[[D:.*]] = nv_tileas.promoted_dot %{{.*}}, %{{.*}}, %{{.*}} by <warpgroup, [64, {{[0-9]+}}, 32]> depth 64
// CHECK-NEXT: nv_tileas.async.pipeline.consumer_release %{{[0-9a-z]*}}[%{{[0-9a-z]*}}] :
// CHECK-NOT: nv_tileas.async.dot_wait
!bytes = !nv_tileaa.tiled_view<tile = [64, 64], memref<?x256xf8E4M3FN, strides = [256, 1]>, padding = zero>
nv_tileaa.func @exact(%p0: !nv_tileaa.ptr<f8E4M3FN>, %n: i32, %m0: i32) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f8E4M3FN>
  %m = nv_tileaa.make_memref %p, shape = [%m0 : i32], strides = [] : <f8E4M3FN> -> <?x256xf8E4M3FN, strides = [256, 1]>
  %v = nv_tileaa.make_tiled_view %m : <?x256xf8E4M3FN, strides = [256, 1]> -> !bytes
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i32 {
    %a, %t1 = nv_tileaa.tiled_load <weak> %v[%c0, %k] : !bytes[i32, i32] -> tensor<64x64xf8E4M3FN>
    %b, %t2 = nv_tileaa.tiled_load <weak> %v[%c0, %k] : !bytes[i32, i32] -> tensor<64x64xf8E4M3FN>
    %bt = nv_tileaa.permute %b [1, 0] : tensor<64x64xf8E4M3FN> -> tensor<64x64xf8E4M3FN>
    %d = nv_tileaa.dot %a, %bt, %acc : tensor<64x64xf8E4M3FN>, tensor<64x64xf8E4M3FN>, tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  nv_tileaa.return
}
