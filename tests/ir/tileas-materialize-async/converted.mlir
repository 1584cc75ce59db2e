// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileaa-plan-dots{compute-capability=sm_90},convert-tileaa-to-tileas{compute-capability=sm_90},tileas-assign-dot-layouts{compute-capability=sm_90},tileas-assign-load-store-layouts{compute-capability=sm_90},tileas-remove-layout-conversions,tileas-materialize-async)' | FileCheck %s
!view = !nv_tileaa.tiled_view<tile = [64, 64], memref<?x256xf32, strides = [256, 1]>, padding = zero>

// TMA rounds f32 to tf32, so the left operand is used directly. The right operand is transposed in place, which needs
// a barrier between reads and writes, and then a fence because dots read through another proxy.
// CHECK-LABEL: nv_tileaa.func @rounded(
// CHECK: nv_tileas.async.tiled_tma_load {{.*}}, <tf32, {{.*}} -> <64x64xtf32,
// CHECK: nv_tileas.async.pipeline.consumer_wait
// CHECK: %[[A:.*]] = nv_tileas.memdesc_slot
// CHECK: %[[B:.*]] = nv_tileas.memdesc_slot
// CHECK: nv_tileas.memdesc_reinterpret %[[B]]
// CHECK: nv_tileas.local_load
// CHECK-NEXT: nv_tileas.barrier
// CHECK: nv_tileas.local_store
// CHECK: %[[RIGHT:.*]] = nv_tileas.memdesc_reinterpret %[[B]] : {{.*}} -> <64x64xtf32,
// CHECK-NEXT: nv_tileas.async.fence
// CHECK-NEXT: nv_tileas.barrier
// CHECK-NEXT: nv_tileas.async.dot %[[A]], %[[RIGHT]],
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

// If TMA cannot convert, each thread converts the elements that it reads.
// CHECK-LABEL: nv_tileaa.func @negated(
// CHECK: nv_tileas.async.tiled_tma_load {{.*}}, <f32, {{.*}} -> <64x64xf32,
// CHECK: nv_tileas.async.pipeline.consumer_wait
// CHECK: %[[A:.*]] = nv_tileas.memdesc_slot
// CHECK: %[[FROM:.*]] = nv_tileas.memdesc_reinterpret %[[A]] : <64x64xf32, {{.*}}> -> <2048xf32, stages = 2>
// CHECK-NEXT: %[[TO:.*]] = nv_tileas.memdesc_reinterpret %[[A]] : <64x64xf32, {{.*}}> -> <2048xtf32, stages = 2>
// CHECK: %[[PART:.*]] = nv_tileas.memdesc_slot %[[FROM]]
// CHECK-NEXT: %[[X:.*]] = nv_tileas.local_load %[[PART]] vector 4
// CHECK-NEXT: %[[Y:.*]] = arith.negf %[[X]]
// CHECK-NEXT: %[[Z:.*]] = nv_tileaa.fp_cast %[[Y]] : tensor<2048xf32, {{.*}}> -> tensor<2048xtf32,
// CHECK: %[[SAME:.*]] = nv_tileas.memdesc_slot %[[TO]]
// CHECK-NEXT: nv_tileas.local_store %[[Z]], %[[SAME]] vector 4
// CHECK: %[[LEFT:.*]] = nv_tileas.memdesc_reinterpret %[[A]] : {{.*}} -> <64x64xtf32,
// CHECK-NEXT: nv_tileas.async.fence
// CHECK-NEXT: nv_tileas.barrier
// CHECK: nv_tileas.async.dot %[[LEFT]],
nv_tileaa.func @negated(%p0: !nv_tileaa.ptr<f32>, %n: i32, %m0: i32) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f32>
  %m = nv_tileaa.make_memref %p, shape = [%m0 : i32], strides = [] : <f32> -> <?x256xf32, strides = [256, 1]>
  %v = nv_tileaa.make_tiled_view %m : <?x256xf32, strides = [256, 1]> -> !view
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i32 {
    %a, %t1 = nv_tileaa.tiled_load <weak> %v[%c0, %k] : !view[i32, i32] -> tensor<64x64xf32>
    %b, %t2 = nv_tileaa.tiled_load <weak> %v[%c0, %k] : !view[i32, i32] -> tensor<64x64xf32>
    %bt = nv_tileaa.permute %b [1, 0] : tensor<64x64xf32> -> tensor<64x64xf32>
    %m1 = arith.negf %a : tensor<64x64xf32>
    %x = nv_tileaa.fp_cast %m1 : tensor<64x64xf32> -> tensor<64x64xtf32>
    %y = nv_tileaa.fp_cast %bt : tensor<64x64xf32> -> tensor<64x64xtf32>
    %d = nv_tileaa.dot %x, %y, %acc : tensor<64x64xtf32>, tensor<64x64xtf32>, tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  nv_tileaa.return
}

// Exact accumulators of 8-bit floats: the dot is waited for, and its stage is released at once.
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
