// RUN: tileiras-opt %s --remarks --verify-diagnostics --pass-pipeline='builtin.module(convert-tileaa-to-tileas,tileas-assign-load-store-layouts,tileas-remove-layout-conversions)'

// Reasons why an access does not move 16 bytes at a time, and remedies.
!aligned = !nv_tileaa.tiled_view<tile = [512], memref<?xf32, strides = [1]>>
!strided = !nv_tileaa.tiled_view<tile = [512], memref<?xf32, strides = [?]>>
!rows = !nv_tileaa.tiled_view<tile = [4, 128], memref<?x?xf32, strides = [?, 1]>>
nv_tileaa.func @views(%p: !nv_tileaa.ptr<f32>, %n: i32, %i: i32) {
  %base = nv_tileaa.assume #cuda_tile.div_by<16>, %p : !nv_tileaa.ptr<f32>
  %m0 = nv_tileaa.make_memref %base, shape = [%n : i32], strides = [] : <f32> -> <?xf32, strides = [1]>
  %v0 = nv_tileaa.make_tiled_view %m0 : <?xf32, strides = [1]> -> !aligned
  %x0, %t0 = nv_tileaa.tiled_load <weak> %v0[%i] : !aligned[i32] -> tensor<512xf32>

  %m1 = nv_tileaa.make_memref %p, shape = [%n : i32], strides = [] : <f32> -> <?xf32, strides = [1]>
  %v1 = nv_tileaa.make_tiled_view %m1 : <?xf32, strides = [1]> -> !aligned
  // expected-remark @+1 {{NarrowAccess: 4 bytes at a time instead of 16: the view's base is only known to be a multiple of 1 byte; promise its alignment with assume div_by<16>}}
  %x1, %t1 = nv_tileaa.tiled_load <weak> %v1[%i] : !aligned[i32] -> tensor<512xf32>

  %m2 = nv_tileaa.make_memref %base, shape = [%n : i32], strides = [%n : i32] : <f32> -> <?xf32, strides = [?]>
  %v2 = nv_tileaa.make_tiled_view %m2 : <?xf32, strides = [?]> -> !strided
  // expected-remark @+1 {{4 bytes at a time instead of 16: no dimension of the view is known to be contiguous; give one dimension the constant stride 1}}
  %x2, %t2 = nv_tileaa.tiled_load <weak> %v2[%i] : !strided[i32] -> tensor<512xf32>

  %m3 = nv_tileaa.make_memref %base, shape = [%n, %n : i32, i32], strides = [%n : i32] : <f32> -> <?x?xf32, strides = [?, 1]>
  %v3 = nv_tileaa.make_tiled_view %m3 : <?x?xf32, strides = [?, 1]> -> !rows
  %y = arith.constant dense<0.0> : tensor<4x128xf32>
  // expected-remark @+1 {{4 bytes at a time instead of 16: the stride of dimension 0 is only known to be a multiple of 4 bytes; promise its divisibility with assume div_by}}
  %t3 = nv_tileaa.tiled_store <weak> %y, %v3[%i, %i] : tensor<4x128xf32>, !rows[i32, i32]
  nv_tileaa.return
}
