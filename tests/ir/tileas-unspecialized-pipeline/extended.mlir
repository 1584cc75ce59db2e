// RUN: tileiras-opt %s --split-input-file --remarks --verify-diagnostics --pass-pipeline='builtin.module(convert-tileaa-to-tileas{num-warps=4},tileas-assign-dot-layouts{compute-capability=sm_80},tileas-assign-load-store-layouts,tileas-remove-layout-conversions,tileas-unspecialized-pipeline{compute-capability=sm_80 extended-smem=true})'

// All the shared memory of a block holds a stage of 64 KiB twice.
!out = !nv_tileaa.tiled_view<tile = [128, 128], memref<128x128xf32, strides = [128, 1]>>
!view = !nv_tileaa.tiled_view<tile = [128, 128], memref<?x256xf16, strides = [256, 1]>, padding = zero>
nv_tileaa.func @two(%p0: !nv_tileaa.ptr<f16>, %n: i32, %m0: i32, %o0: !nv_tileaa.ptr<f32>) {
  %o1 = nv_tileaa.assume #cuda_tile.div_by<16>, %o0 : !nv_tileaa.ptr<f32>
  %o2 = nv_tileaa.make_memref %o1, shape = [], strides = [] : <f32> -> <128x128xf32, strides = [128, 1]>
  %o = nv_tileaa.make_tiled_view %o2 : <128x128xf32, strides = [128, 1]> -> !out
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f16>
  %m = nv_tileaa.make_memref %p, shape = [%m0 : i32], strides = [] : <f16> -> <?x256xf16, strides = [256, 1]>
  %v = nv_tileaa.make_tiled_view %m : <?x256xf16, strides = [256, 1]> -> !view
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  // expected-remark @below {{FewerStages: 2 stages instead of 4: each takes 65536 of 166912 bytes of shared memory; take smaller tiles}}
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<128x128xf32>) : i32 {
    %a, %t1 = nv_tileaa.tiled_load <weak> %v[%c0, %k] : !view[i32, i32] -> tensor<128x128xf16>
    %b, %t2 = nv_tileaa.tiled_load <weak> %v[%k, %c0] : !view[i32, i32] -> tensor<128x128xf16>
    %d = nv_tileaa.dot %a, %b, %acc : tensor<128x128xf16>, tensor<128x128xf16>, tensor<128x128xf32>
    scf.yield %d : tensor<128x128xf32>
  }
  // expected-remark @+1 {{NarrowAccess: 8 bytes at a time instead of 16: the tile has the layout that a heavier access needs}}
  %done = nv_tileaa.tiled_store <weak> %sum, %o[%c0, %c0] : tensor<128x128xf32>, !out[i32, i32]
  nv_tileaa.return
}
