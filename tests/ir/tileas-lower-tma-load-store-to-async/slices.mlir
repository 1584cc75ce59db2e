// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileaa-plan-dots{compute-capability=sm_100},tileaa-slice-epilogues,convert-tileaa-to-tileas{compute-capability=sm_100},tileas-assign-dot-layouts{compute-capability=sm_100},tileas-assign-load-store-layouts{compute-capability=sm_100},tileas-remove-layout-conversions,tileas-materialize-async,tileas-specialize-agents,tileas-lower-tma-load-store-to-async{compute-capability=sm_100})' | FileCheck %s
!left = !nv_tileaa.tiled_view<tile = [128, 64], memref<?x256xf16, strides = [256, 1]>, padding = zero>
!right = !nv_tileaa.tiled_view<tile = [64, 256], memref<?x256xf16, strides = [256, 1]>, padding = zero>
!out = !nv_tileaa.tiled_view<tile = [128, 256], memref<?x256xf16, strides = [256, 1]>>

// The stores of four slices take two storages in turn. A slice waits until the slice before the last one has been
// read, and the first slice of a tile for those of the previous tile.
// CHECK-LABEL: nv_tileaa.func @slices(
// CHECK-DAG: %[[A:.*]] = nv_tileas.alloc_tensor : <128x64xf16, {{.*}}, align = 1024>
// CHECK-DAG: %[[B:.*]] = nv_tileas.alloc_tensor : <128x64xf16, {{.*}}, align = 1024>
// CHECK: scf.for
// CHECK: nv_tileas.async.tma_store_wait %[[X:.*]] read pending 1
// CHECK-NEXT: nv_tileas.barrier {nv_tileas.reuse}
// CHECK-NEXT: nv_tileas.local_store %{{.*}}, %[[X]] vector
// CHECK-NEXT: nv_tileas.async.fence
// CHECK-NEXT: nv_tileas.barrier
// CHECK-NEXT: nv_tileas.async.tiled_tma_store %[[X]] {{.*}} counted
// CHECK: nv_tileas.async.tma_store_wait %[[Y:.*]] read pending 1
// CHECK: nv_tileas.async.tiled_tma_store %[[Y]] {{.*}} counted
// CHECK: nv_tileas.async.tma_store_wait %[[X]] read pending 1
// CHECK: nv_tileas.async.tiled_tma_store %[[X]] {{.*}} counted
// CHECK: nv_tileas.async.tma_store_wait %[[Y]] read pending 1
// CHECK: nv_tileas.async.tiled_tma_store %[[Y]] {{.*}} counted
// CHECK: nv_tileas.async.tma_store_wait %{{.*}}, %{{.*}} read :
nv_tileaa.func @slices(%p0: !nv_tileaa.ptr<f16>, %q0: !nv_tileaa.ptr<f16>, %n: i32, %m0: i32, %x: i32) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f16>
  %q = nv_tileaa.assume #cuda_tile.div_by<16>, %q0 : !nv_tileaa.ptr<f16>
  %m = nv_tileaa.make_memref %p, shape = [%m0 : i32], strides = [] : <f16> -> <?x256xf16, strides = [256, 1]>
  %v = nv_tileaa.make_tiled_view %m : <?x256xf16, strides = [256, 1]> -> !left
  %u = nv_tileaa.make_tiled_view %m : <?x256xf16, strides = [256, 1]> -> !right
  %o = nv_tileaa.make_memref %q, shape = [%m0 : i32], strides = [] : <f16> -> <?x256xf16, strides = [256, 1]>
  %w = nv_tileaa.make_tiled_view %o : <?x256xf16, strides = [256, 1]> -> !out
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<128x256xf32>
  %t0 = nv_tileaa.create_mem_token
  scf.for %i = %x to %n step %c1 : i32 {
    %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<128x256xf32>) : i32 {
      %a, %t1 = nv_tileaa.tiled_load <weak> %v[%i, %k] : !left[i32, i32] -> tensor<128x64xf16>
      %b, %t2 = nv_tileaa.tiled_load <weak> %u[%k, %c0] : !right[i32, i32] -> tensor<64x256xf16>
      %d = nv_tileaa.dot %a, %b, %acc : tensor<128x64xf16>, tensor<64x256xf16>, tensor<128x256xf32>
      scf.yield %d : tensor<128x256xf32>
    }
    %y = arith.truncf %sum : tensor<128x256xf32> to tensor<128x256xf16>
    %t3 = nv_tileaa.tiled_store <weak> %y, %w[%i, %c0] token %t0 : tensor<128x256xf16>, !out[i32, i32]
  }
  nv_tileaa.return
}
