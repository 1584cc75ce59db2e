// RUN: tileiras-opt %s --split-input-file --remarks --verify-diagnostics --pass-pipeline='builtin.module(tileaa-plan-dots{compute-capability=sm_100})'
// Dots that cannot accumulate in tensor memory.
!view = !nv_tileaa.tiled_view<tile = [32, 32], memref<?x256xf16, strides = [256, 1]>, padding = zero>
nv_tileaa.func @rows(%p0: !nv_tileaa.ptr<f16>, %n: i32) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f16>
  %m = nv_tileaa.make_memref %p, shape = [%n : i32], strides = [] : <f16> -> <?x256xf16, strides = [256, 1]>
  %v = nv_tileaa.make_tiled_view %m : <?x256xf16, strides = [256, 1]> -> !view
  %zero = arith.constant dense<0.0> : tensor<32x32xf32>
  %a, %t1 = nv_tileaa.tiled_load <weak> %v[%n, %n] : !view[i32, i32] -> tensor<32x32xf16>
  %b, %t2 = nv_tileaa.tiled_load <weak> %v[%n, %n] : !view[i32, i32] -> tensor<32x32xf16>
  // expected-remark @below {{dots into tensor memory cannot cover a tile of 32 rows, 32 columns and depth 32}}
  %d = nv_tileaa.dot %a, %b, %zero : tensor<32x32xf16>, tensor<32x32xf16>, tensor<32x32xf32>
  nv_tileaa.return
}
// -----
!view = !nv_tileaa.tiled_view<tile = [64, 64], memref<?x256xf16, strides = [256, 1]>, padding = zero>
nv_tileaa.func @halves(%p0: !nv_tileaa.ptr<f16>, %n: i32) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f16>
  %m = nv_tileaa.make_memref %p, shape = [%n : i32], strides = [] : <f16> -> <?x256xf16, strides = [256, 1]>
  %v = nv_tileaa.make_tiled_view %m : <?x256xf16, strides = [256, 1]> -> !view
  %zero = arith.constant dense<0.0> : tensor<64x64xf16>
  %a, %t1 = nv_tileaa.tiled_load <weak> %v[%n, %n] : !view[i32, i32] -> tensor<64x64xf16>
  %b, %t2 = nv_tileaa.tiled_load <weak> %v[%n, %n] : !view[i32, i32] -> tensor<64x64xf16>
  // expected-remark @below {{no instruction multiplies these types into tensor memory}}
  %d = nv_tileaa.dot %a, %b, %zero : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf16>
  nv_tileaa.return
}
// -----
!view = !nv_tileaa.tiled_view<tile = [64, 64], memref<?x256xtf32, strides = [256, 1]>, padding = zero>
nv_tileaa.func @words(%p0: !nv_tileaa.ptr<tf32>, %n: i32) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<tf32>
  %m = nv_tileaa.make_memref %p, shape = [%n : i32], strides = [] : <tf32> -> <?x256xtf32, strides = [256, 1]>
  %v = nv_tileaa.make_tiled_view %m : <?x256xtf32, strides = [256, 1]> -> !view
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %a, %t1 = nv_tileaa.tiled_load <weak> %v[%n, %n] : !view[i32, i32] -> tensor<64x64xtf32>
  %b, %t2 = nv_tileaa.tiled_load <weak> %v[%n, %n] : !view[i32, i32] -> tensor<64x64xtf32>
  // expected-remark @below {{an operand must be converted in shared memory}}
  %d = nv_tileaa.dot %a, %b, %zero : tensor<64x64xtf32>, tensor<64x64xtf32>, tensor<64x64xf32>
  nv_tileaa.return
}
