// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileaa-plan-dots{compute-capability=sm_100 dynamic-persistent=false},convert-tileaa-to-tileas{compute-capability=sm_100},tileas-assign-dot-layouts{compute-capability=sm_100},tileas-assign-load-store-layouts{compute-capability=sm_100},tileas-remove-layout-conversions,tileas-materialize-async)' | FileCheck %s
// Elements of 32 bits of the right operand are contiguous along N. Their stage is in units of 32 bytes, which a row
// flips (136 is row 1 and the flip of bit 3 of the column), and the map of the copy too.

// CHECK-LABEL: nv_tileaa.func @words(
// CHECK: nv_tileas.alloc_tensor : <128x32xtf32, {{.*}}offset = [1, 2, 4, 8, 16, 36, 72, 144, {{.*}}, stages = [[S:[0-9]+]], align = 1024>
// CHECK: nv_tileas.alloc_tensor : <32x128xtf32, {{.*}}offset = [1, 2, 4, 8, 16, 136, 272, 512, {{.*}}, stages = [[S]], align = 1024>
// CHECK: nv_tileas.make_tiled_tma_desc {{.*}} -> <f32, box = [32, 32], swizzle = 128, unit = 32>
// CHECK: nv_tileas.make_tiled_tma_desc {{.*}} -> <f32, box = [32, 128], swizzle = 128>
// CHECK: nv_tileas.async.dot {{.*}} by <tensor, [128, 128, 8]>

!rows = !nv_tileaa.tiled_view<tile = [128, 32], memref<?x256xtf32, strides = [256, 1]>, padding = zero>
!columns = !nv_tileaa.tiled_view<tile = [32, 128], memref<?x256xtf32, strides = [256, 1]>, padding = zero>
nv_tileaa.func @words(%p0: !nv_tileaa.ptr<tf32>, %q: !nv_tileaa.ptr<f32>, %n: i32, %m0: i32) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<tf32>
  %m = nv_tileaa.make_memref %p, shape = [%m0 : i32], strides = [] : <tf32> -> <?x256xtf32, strides = [256, 1]>
  %v = nv_tileaa.make_tiled_view %m : <?x256xtf32, strides = [256, 1]> -> !rows
  %w = nv_tileaa.make_tiled_view %m : <?x256xtf32, strides = [256, 1]> -> !columns
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<128x128xf32>) : i32 {
    %a, %t1 = nv_tileaa.tiled_load <weak> %v[%c0, %k] : !rows[i32, i32] -> tensor<128x32xtf32>
    %b, %t2 = nv_tileaa.tiled_load <weak> %w[%k, %c0] : !columns[i32, i32] -> tensor<32x128xtf32>
    %d = nv_tileaa.dot %a, %b, %acc : tensor<128x32xtf32>, tensor<32x128xtf32>, tensor<128x128xf32>
    scf.yield %d : tensor<128x128xf32>
  }
  %o = nv_tileaa.make_memref %q, shape = [], strides = [] : <f32> -> <128x128xf32, strides = [128, 1]>
  %x = nv_tileaa.make_tiled_view %o : <128x128xf32, strides = [128, 1]> -> <tile = [128, 128], memref<128x128xf32, strides = [128, 1]>>
  %t3 = nv_tileaa.tiled_store <weak> %sum, %x[%c0, %c0] : tensor<128x128xf32>, <tile = [128, 128], memref<128x128xf32, strides = [128, 1]>>[i32, i32]
  nv_tileaa.return
}
