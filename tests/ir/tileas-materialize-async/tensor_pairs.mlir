// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileaa-plan-dots{compute-capability=sm_100 dynamic-persistent=false},convert-tileaa-to-tileas{compute-capability=sm_100},tileas-assign-dot-layouts{compute-capability=sm_100},tileas-assign-load-store-layouts{compute-capability=sm_100},tileas-remove-layout-conversions,tileas-materialize-async)' | FileCheck %s
// Each CTA of a pair loads its rows of the left operand and half of the columns of the right one. The first CTA issues the
// dots, and its barriers count the loads and the reads of both.

// CHECK-LABEL: nv_tileaa.func @pair(
// CHECK: nv_tileas.alloc_tensor : <128x64xf16, {{.*}}, stages = [[S:[0-9]+]], align = 1024>
// CHECK: nv_tileas.alloc_tensor : <64x64xf16, {{.*}}, stages = [[S]], align = 1024>
// CHECK: create_pipeline %{{.*}} phases [full = 1, empty = 1] leader full
// CHECK: create_pipeline %{{.*}} phases [full = 1, empty = 16] leader empty
// CHECK: nv_tileas.tmem_allocate %{{.*}} pair
// CHECK: %[[MAP:.*]] = nv_tileas.make_tiled_tma_desc {{.*}} : <tile = [64, 64]
// CHECK: %[[HALVES:.*]] = nv_tileaa.make_tiled_view {{.*}} -> <tile = [64, 64]
// CHECK-NEXT: %[[RANK:.*]] = nv_tileaa.get_cta_rank
// CHECK: scf.for
// CHECK: %[[TWICE:.*]] = arith.muli %{{.*}}, %{{.*}}
// CHECK-NEXT: %[[AT:.*]] = arith.addi %[[TWICE]], %[[RANK]]
// CHECK: producer_acquire {{.*}} bytes 24576
// CHECK: async.tiled_tma_load %[[HALVES]][%{{.*}}, %[[AT]]] by %[[MAP]]
// CHECK: nv_tileas.async.dot {{.*}} by <tensor_pair, [256, 128, 16]>
// CHECK: nv_tileas.tmem_free pair
!rows = !nv_tileaa.tiled_view<tile = [128, 64], memref<?x256xf16, strides = [256, 1]>, padding = zero>
!columns = !nv_tileaa.tiled_view<tile = [64, 128], memref<?x256xf16, strides = [256, 1]>, padding = zero>
nv_tileaa.func @pair(%p0: !nv_tileaa.ptr<f16>, %q: !nv_tileaa.ptr<f32>, %n: i32, %m0: i32) attributes {nv_tileas.num_ctas = 2 : i64} {
  %rank = nv_tileaa.get_cta_rank
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f16>
  %m = nv_tileaa.make_memref %p, shape = [%m0 : i32], strides = [] : <f16> -> <?x256xf16, strides = [256, 1]>
  %v = nv_tileaa.make_tiled_view %m : <?x256xf16, strides = [256, 1]> -> !rows
  %w = nv_tileaa.make_tiled_view %m : <?x256xf16, strides = [256, 1]> -> !columns
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<128x128xf32>) : i32 {
    %a, %t1 = nv_tileaa.tiled_load <weak> %v[%rank, %k] : !rows[i32, i32] -> tensor<128x64xf16>
    %b, %t2 = nv_tileaa.tiled_load <weak> %w[%k, %c0] : !columns[i32, i32] -> tensor<64x128xf16>
    %d = nv_tileaa.dot %a, %b, %acc : tensor<128x64xf16>, tensor<64x128xf16>, tensor<128x128xf32>
    scf.yield %d : tensor<128x128xf32>
  }
  %o = nv_tileaa.make_memref %q, shape = [], strides = [] : <f32> -> <128x128xf32, strides = [128, 1]>
  %x = nv_tileaa.make_tiled_view %o : <128x128xf32, strides = [128, 1]> -> <tile = [128, 128], memref<128x128xf32, strides = [128, 1]>>
  %t3 = nv_tileaa.tiled_store <weak> %sum, %x[%rank, %c0] : tensor<128x128xf32>, <tile = [128, 128], memref<128x128xf32, strides = [128, 1]>>[i32, i32]
  nv_tileaa.return
}
