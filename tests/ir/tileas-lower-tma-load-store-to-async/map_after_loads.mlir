// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileaa-plan-dots{compute-capability=sm_90},convert-tileaa-to-tileas{compute-capability=sm_90},tileas-assign-dot-layouts{compute-capability=sm_90},tileas-assign-load-store-layouts{compute-capability=sm_90},tileas-remove-layout-conversions,tileas-materialize-async,tileas-specialize-agents,tileas-lower-tma-load-store-to-async{compute-capability=sm_90})' | FileCheck %s
!view = !nv_tileaa.tiled_view<tile = [64, 64], memref<?x256xf16, strides = [256, 1]>, padding = zero>
!out = !nv_tileaa.tiled_view<tile = [64, 64], memref<?x256xf16, strides = [256, 1]>>

// The map of the result is looked up while a tile that the consumers add is loaded.
// CHECK-LABEL: nv_tileaa.func @added(
// CHECK: agent_switch
// CHECK: %[[ADDED:.*]], %{{.*}} = nv_tileas.tiled_load <weak>
// CHECK-NOT: scf.for
// CHECK: nv_tileas.barrier {nv_tileas.reuse}
// CHECK-NEXT: %[[MAP:.*]] = nv_tileas.make_tiled_tma_desc
// CHECK-NEXT: nv_tileas.barrier
// CHECK: scf.for
// CHECK: nv_tileas.async.tiled_tma_store %{{.*}} by %[[MAP]]
nv_tileaa.func @added(%p0: !nv_tileaa.ptr<f16>, %q0: !nv_tileaa.ptr<f16>, %n: i32, %m0: i32, %x: i32) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f16>
  %q = nv_tileaa.assume #cuda_tile.div_by<16>, %q0 : !nv_tileaa.ptr<f16>
  %m = nv_tileaa.make_memref %p, shape = [%m0 : i32], strides = [] : <f16> -> <?x256xf16, strides = [256, 1]>
  %v = nv_tileaa.make_tiled_view %m : <?x256xf16, strides = [256, 1]> -> !view
  %o = nv_tileaa.make_memref %q, shape = [%m0 : i32], strides = [] : <f16> -> <?x256xf16, strides = [256, 1]>
  %w = nv_tileaa.make_tiled_view %o : <?x256xf16, strides = [256, 1]> -> !out
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %added, %t0 = nv_tileaa.tiled_load <weak> %v[%x, %x] : !view[i32, i32] -> tensor<64x64xf16>
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i32 {
    %a, %t1 = nv_tileaa.tiled_load <weak> %v[%x, %k] : !view[i32, i32] -> tensor<64x64xf16>
    %b, %t2 = nv_tileaa.tiled_load <weak> %v[%k, %c0] : !view[i32, i32] -> tensor<64x64xf16>
    %d = nv_tileaa.dot %a, %b, %acc : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  %e = arith.truncf %sum : tensor<64x64xf32> to tensor<64x64xf16>
  %f = arith.addf %e, %added : tensor<64x64xf16>
  %t = nv_tileaa.tiled_store <weak> %f, %w[%x, %c0] : tensor<64x64xf16>, !out[i32, i32]
  nv_tileaa.return
}
