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
// Units of 32 bytes need 128 bytes along N. Producer warps transpose a smaller tile.
!view = !nv_tileaa.tiled_view<tile = [64, 64], memref<?x256xtf32, strides = [256, 1]>, padding = zero>
!narrow = !nv_tileaa.tiled_view<tile = [64, 16], memref<?x256xtf32, strides = [256, 1]>, padding = zero>
nv_tileaa.func @words(%p0: !nv_tileaa.ptr<tf32>, %n: i32) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<tf32>
  %m = nv_tileaa.make_memref %p, shape = [%n : i32], strides = [] : <tf32> -> <?x256xtf32, strides = [256, 1]>
  %v = nv_tileaa.make_tiled_view %m : <?x256xtf32, strides = [256, 1]> -> !view
  %w = nv_tileaa.make_tiled_view %m : <?x256xtf32, strides = [256, 1]> -> !narrow
  %zero = arith.constant dense<0.0> : tensor<64x16xf32>
  %a, %t1 = nv_tileaa.tiled_load <weak> %v[%n, %n] : !view[i32, i32] -> tensor<64x64xtf32>
  %b, %t2 = nv_tileaa.tiled_load <weak> %w[%n, %n] : !narrow[i32, i32] -> tensor<64x16xtf32>
  // expected-remark @below {{producer warps compute rhs: TMA cannot load it: dimension 1 has 16 elements, but an atom needs 32}}
  %d = nv_tileaa.dot %a, %b, %zero : tensor<64x64xtf32>, tensor<64x16xtf32>, tensor<64x16xf32>
  nv_tileaa.return
}
// -----
!q = !nv_tileaa.tiled_view<tile = [32, 64], memref<?x64xf16, strides = [64, 1]>, padding = zero>
!k = !nv_tileaa.tiled_view<tile = [64, 64], memref<?x64xf16, strides = [64, 1]>, padding = zero>
!o = !nv_tileaa.tiled_view<tile = [32, 64], memref<32x64xf32, strides = [64, 1]>>
nv_tileaa.func @few_rows(%p0: !nv_tileaa.ptr<f16>, %r: !nv_tileaa.ptr<f32>, %n: i32, %m0: i32) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f16>
  %m = nv_tileaa.make_memref %p, shape = [%m0 : i32], strides = [] : <f16> -> <?x64xf16, strides = [64, 1]>
  %vq = nv_tileaa.make_tiled_view %m : <?x64xf16, strides = [64, 1]> -> !q
  %vk = nv_tileaa.make_tiled_view %m : <?x64xf16, strides = [64, 1]> -> !k
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<32x64xf32>
  %low = arith.constant dense<-1.0e30> : tensor<32x1xf32>
  %q, %t0 = nv_tileaa.tiled_load <weak> %vq[%c0, %c0] : !q[i32, i32] -> tensor<32x64xf16>
  %sum:2 = scf.for %i = %c0 to %n step %c1 iter_args(%top = %low, %acc = %zero) -> (tensor<32x1xf32>, tensor<32x64xf32>) : i32 {
    %k, %t1 = nv_tileaa.tiled_load <weak> %vk[%i, %c0] : !k[i32, i32] -> tensor<64x64xf16>
    // expected-remark @below {{dots into tensor memory cannot cover a tile of 32 rows, 64 columns and depth 64}}
    %s = nv_tileaa.dot %q, %k, %zero : tensor<32x64xf16>, tensor<64x64xf16>, tensor<32x64xf32>
    %most = nv_tileaa.reduce %s dim 1 identities [0xFF800000 : f32] : tensor<32x64xf32> -> tensor<32xf32> {
    ^bb0(%a: f32, %b: f32):
      %y = arith.maximumf %a, %b : f32
      nv_tileaa.yield %y : f32
    }
    %column = nv_tileaa.view %most : tensor<32xf32> -> tensor<32x1xf32>
    %next = arith.maximumf %top, %column : tensor<32x1xf32>
    %all = nv_tileaa.broadcast %next : tensor<32x1xf32> -> tensor<32x64xf32>
    %below = arith.subf %s, %all : tensor<32x64xf32>
    %e = math.exp2 %below : tensor<32x64xf32>
    %grown = arith.subf %top, %next : tensor<32x1xf32>
    %shrink = math.exp2 %grown : tensor<32x1xf32>
    %w = arith.truncf %e : tensor<32x64xf32> to tensor<32x64xf16>
    %v, %t2 = nv_tileaa.tiled_load <weak> %vk[%i, %c1] : !k[i32, i32] -> tensor<64x64xf16>
    %spread = nv_tileaa.broadcast %shrink : tensor<32x1xf32> -> tensor<32x64xf32>
    %kept = arith.mulf %acc, %spread : tensor<32x64xf32>
    %d = nv_tileaa.dot %w, %v, %kept : tensor<32x64xf16>, tensor<64x64xf16>, tensor<32x64xf32>
    scf.yield %next, %d : tensor<32x1xf32>, tensor<32x64xf32>
  }
  %to = nv_tileaa.make_memref %r, shape = [], strides = [] : <f32> -> <32x64xf32, strides = [64, 1]>
  %x = nv_tileaa.make_tiled_view %to : <32x64xf32, strides = [64, 1]> -> !o
  %t3 = nv_tileaa.tiled_store <weak> %sum#1, %x[%c0, %c0] : tensor<32x64xf32>, !o[i32, i32]
  nv_tileaa.return
}
