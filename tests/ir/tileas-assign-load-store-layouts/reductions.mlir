// RUN: tileiras-opt %s --pass-pipeline='builtin.module(convert-tileaa-to-tileas{num-warps=4},tileas-assign-load-store-layouts)' | FileCheck %s

// If memory has no preference, loads get the layout that makes the following ops cheap.

// Rows of 4096 elements that are reduced: each warp has one row, instead of a part of all four rows.
// CHECK-LABEL: @rows(
// CHECK: nv_tileas.load {{.*}} vector 8 along 1 {{.*}} -> tensor<4x4096xf16, #nv_tileas.layout<register = [1, 2, 4, 256, 512, 1024, 2048], lane = [8, 16, 32, 64, 128], warp = [4096, 8192]>>
nv_tileaa.func @rows(%p0: !nv_tileaa.ptr<f16>) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f16>
  %r = nv_tileaa.make_range : tensor<16384xi32>
  %i = nv_tileaa.view %r : tensor<16384xi32> -> tensor<4x4096xi32>
  %s = nv_tileaa.splat %p : !nv_tileaa.ptr<f16> -> tensor<4x4096x!nv_tileaa.ptr<f16>>
  %q = nv_tileaa.addptr %s, %i : tensor<4x4096x!nv_tileaa.ptr<f16>>, tensor<4x4096xi32>
  %x, %t = nv_tileaa.load <weak> %q : tensor<4x4096x!nv_tileaa.ptr<f16>> -> tensor<4x4096xf16>
  %w = arith.extf %x : tensor<4x4096xf16> to tensor<4x4096xf32>
  %m = nv_tileaa.reduce %w dim 1 identities [0.0 : f32] : tensor<4x4096xf32> -> tensor<4xf32> {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    nv_tileaa.yield %c : f32
  }
  nv_tileaa.return
}
// Columns that are reduced: adjacent threads have adjacent columns, and rows are in registers. The view drops a
// dimension of 1.
// CHECK-LABEL: @columns(
// CHECK: nv_tileas.load {{.*}} -> tensor<1x64x512xf32, #nv_tileas.layout<register = [1, 2, 512, 1024, 2048, 4096, 8192, 16384], lane = [4, 8, 16, 32, 64], warp = [128, 256]>>
nv_tileaa.func @columns(%p0: !nv_tileaa.ptr<f32>) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f32>
  %r = nv_tileaa.make_range : tensor<32768xi32>
  %i = nv_tileaa.view %r : tensor<32768xi32> -> tensor<1x64x512xi32>
  %s = nv_tileaa.splat %p : !nv_tileaa.ptr<f32> -> tensor<1x64x512x!nv_tileaa.ptr<f32>>
  %q = nv_tileaa.addptr %s, %i : tensor<1x64x512x!nv_tileaa.ptr<f32>>, tensor<1x64x512xi32>
  %x, %t = nv_tileaa.load <weak> %q : tensor<1x64x512x!nv_tileaa.ptr<f32>> -> tensor<1x64x512xf32>
  %v = nv_tileaa.view %x : tensor<1x64x512xf32> -> tensor<64x512xf32>
  %m = nv_tileaa.reduce %v dim 0 identities [0.0 : f32] : tensor<64x512xf32> -> tensor<512xf32> {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    nv_tileaa.yield %c : f32
  }
  nv_tileaa.return
}
// The same through a transposition.
// CHECK-LABEL: @transposed(
// CHECK: nv_tileas.load {{.*}} -> tensor<64x512xf32, #nv_tileas.layout<register = [1, 2, 512, 1024, 2048, 4096, 8192, 16384], lane = [4, 8, 16, 32, 64], warp = [128, 256]>>
nv_tileaa.func @transposed(%p0: !nv_tileaa.ptr<f32>) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f32>
  %r = nv_tileaa.make_range : tensor<32768xi32>
  %i = nv_tileaa.view %r : tensor<32768xi32> -> tensor<64x512xi32>
  %s = nv_tileaa.splat %p : !nv_tileaa.ptr<f32> -> tensor<64x512x!nv_tileaa.ptr<f32>>
  %q = nv_tileaa.addptr %s, %i : tensor<64x512x!nv_tileaa.ptr<f32>>, tensor<64x512xi32>
  %x, %t = nv_tileaa.load <weak> %q : tensor<64x512x!nv_tileaa.ptr<f32>> -> tensor<64x512xf32>
  %v = nv_tileaa.permute %x [1, 0] : tensor<64x512xf32> -> tensor<512x64xf32>
  %m = nv_tileaa.scan %v dim 1 identities [0.0 : f32] : tensor<512x64xf32> -> tensor<512x64xf32> {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    nv_tileaa.yield %c : f32
  }
  nv_tileaa.return
}
// Without a reduction, lanes fill a line of memory and continue in the next row.
// CHECK-LABEL: @plain(
// CHECK: nv_tileas.load {{.*}} -> tensor<4x4096xf16, #nv_tileas.layout<register = [1, 2, 4, 256, 512, 1024, 2048], lane = [8, 16, 32, 4096, 8192], warp = [64, 128]>>
nv_tileaa.func @plain(%p0: !nv_tileaa.ptr<f16>) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f16>
  %r = nv_tileaa.make_range : tensor<16384xi32>
  %i = nv_tileaa.view %r : tensor<16384xi32> -> tensor<4x4096xi32>
  %s = nv_tileaa.splat %p : !nv_tileaa.ptr<f16> -> tensor<4x4096x!nv_tileaa.ptr<f16>>
  %q = nv_tileaa.addptr %s, %i : tensor<4x4096x!nv_tileaa.ptr<f16>>, tensor<4x4096xi32>
  %x, %t = nv_tileaa.load <weak> %q : tensor<4x4096x!nv_tileaa.ptr<f16>> -> tensor<4x4096xf16>
  nv_tileaa.return
}
