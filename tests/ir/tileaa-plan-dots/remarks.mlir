// RUN: tileiras-opt %s --split-input-file --remarks --verify-diagnostics --pass-pipeline='builtin.module(tileaa-plan-dots{compute-capability=sm_90})' | FileCheck %s
// Reasons why dots use single-warp instructions.
// CHECK-NOT: nv_tileas.dot_plan

!view = !nv_tileaa.tiled_view<tile = [64, 64], memref<?x256xf16, strides = [256, 1]>, padding = neg_inf>
nv_tileaa.func @padding(%p0: !nv_tileaa.ptr<f16>, %n: i32, %zero: tensor<64x64xf32>) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f16>
  %m = nv_tileaa.make_memref %p, shape = [%n : i32], strides = [] : <f16> -> <?x256xf16, strides = [256, 1]>
  %v = nv_tileaa.make_tiled_view %m : <?x256xf16, strides = [256, 1]> -> !view
  // expected-remark @below {{producer warps compute lhs: TMA cannot load it: elements outside of the view have a value that tensor maps cannot fill with; producer warps would take 530 clocks for a stage, but an iteration without them only 312}}
  %a, %t1 = nv_tileaa.tiled_load <weak> %v[%n, %n] : !view[i32, i32] -> tensor<64x64xf16>
  %b, %t2 = nv_tileaa.tiled_load <weak> %v[%n, %n] : !view[i32, i32] -> tensor<64x64xf16>
  %d = nv_tileaa.dot %a, %b, %zero : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
  nv_tileaa.return
}
// -----
!view = !nv_tileaa.tiled_view<tile = [64, 64], memref<?x256xf16, strides = [256, 1]>, padding = neg_inf>
nv_tileaa.func @used_otherwise(%p0: !nv_tileaa.ptr<f16>, %n: i32, %zero: tensor<64x64xf32>) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f16>
  %m = nv_tileaa.make_memref %p, shape = [%n : i32], strides = [] : <f16> -> <?x256xf16, strides = [256, 1]>
  %v = nv_tileaa.make_tiled_view %m : <?x256xf16, strides = [256, 1]> -> !view
  %a, %t1 = nv_tileaa.tiled_load <weak> %v[%n, %n] : !view[i32, i32] -> tensor<64x64xf16>
  // expected-remark @below {{it is not a tile that is loaded only for dots; }}
  %d = nv_tileaa.dot %a, %a, %zero : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
  %b = arith.negf %a : tensor<64x64xf16>
  nv_tileaa.return
}
// -----
!view = !nv_tileaa.tiled_view<tile = [64, 64], memref<?x256xf16, strides = [256, 1]>, padding = zero>
nv_tileaa.func @computed(%p0: !nv_tileaa.ptr<f16>, %n: i32, %zero: tensor<64x64xf32>, %x: tensor<64x64xf16>) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f16>
  %m = nv_tileaa.make_memref %p, shape = [%n : i32], strides = [] : <f16> -> <?x256xf16, strides = [256, 1]>
  %v = nv_tileaa.make_tiled_view %m : <?x256xf16, strides = [256, 1]> -> !view
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i32 {
    %a = arith.addf %x, %x : tensor<64x64xf16>
    %b, %t2 = nv_tileaa.tiled_load <weak> %v[%n, %k] : !view[i32, i32] -> tensor<64x64xf16>
    // expected-remark @below {{it is not a tile that is loaded only for dots; }}
    %d = nv_tileaa.dot %a, %b, %acc : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  nv_tileaa.return
}
// -----
!view = !nv_tileaa.tiled_view<tile = [64, 64], memref<?x256xf16, strides = [256, 1]>, padding = zero>
nv_tileaa.func @ordered(%p0: !nv_tileaa.ptr<f16>, %n: i32, %zero: tensor<64x64xf32>, %h: tensor<64x64xf16>) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f16>
  %m = nv_tileaa.make_memref %p, shape = [%n : i32], strides = [] : <f16> -> <?x256xf16, strides = [256, 1]>
  %v = nv_tileaa.make_tiled_view %m : <?x256xf16, strides = [256, 1]> -> !view
  %t = nv_tileaa.tiled_store <weak> %h, %v[%n, %n] : tensor<64x64xf16>, !view[i32, i32]
  // expected-remark @below {{the load is ordered after another access}}
  %a, %t1 = nv_tileaa.tiled_load <weak> %v[%n, %n] token %t : !view[i32, i32] -> tensor<64x64xf16>
  %b, %t2 = nv_tileaa.tiled_load <weak> %v[%n, %n] : !view[i32, i32] -> tensor<64x64xf16>
  %d = nv_tileaa.dot %a, %b, %zero : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
  nv_tileaa.return
}
// -----
!view = !nv_tileaa.tiled_view<tile = [64, 64], memref<?x256xf16, strides = [256, 1]>, padding = zero>
nv_tileaa.func @before_others(%p0: !nv_tileaa.ptr<f16>, %n: i32, %zero: tensor<64x64xf32>, %h: tensor<64x64xf16>) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f16>
  %m = nv_tileaa.make_memref %p, shape = [%n : i32], strides = [] : <f16> -> <?x256xf16, strides = [256, 1]>
  %v = nv_tileaa.make_tiled_view %m : <?x256xf16, strides = [256, 1]> -> !view
  %a, %t1 = nv_tileaa.tiled_load <weak> %v[%n, %n] : !view[i32, i32] -> tensor<64x64xf16>
  // expected-remark @below {{other accesses are ordered after the load}}
  %b, %t2 = nv_tileaa.tiled_load <weak> %v[%n, %n] : !view[i32, i32] -> tensor<64x64xf16>
  %t = nv_tileaa.tiled_store <weak> %h, %v[%n, %n] token %t2 : tensor<64x64xf16>, !view[i32, i32]
  %d = nv_tileaa.dot %a, %b, %zero : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
  nv_tileaa.return
}
// -----
!view = !nv_tileaa.tiled_view<tile = [64, 64], memref<?x256xf32, strides = [256, 1]>, padding = zero>
nv_tileaa.func @types(%p0: !nv_tileaa.ptr<f32>, %n: i32, %zero: tensor<64x64xf32>) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f32>
  %m = nv_tileaa.make_memref %p, shape = [%n : i32], strides = [] : <f32> -> <?x256xf32, strides = [256, 1]>
  %v = nv_tileaa.make_tiled_view %m : <?x256xf32, strides = [256, 1]> -> !view
  %a, %t1 = nv_tileaa.tiled_load <weak> %v[%n, %n] : !view[i32, i32] -> tensor<64x64xf32>
  %b, %t2 = nv_tileaa.tiled_load <weak> %v[%n, %n] : !view[i32, i32] -> tensor<64x64xf32>
  // expected-remark @below {{no warpgroup instruction multiplies these types}}
  %d = nv_tileaa.dot %a, %b, %zero : tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>
  nv_tileaa.return
}
// -----
!view = !nv_tileaa.tiled_view<tile = [64, 64], memref<?x256xtf32, strides = [256, 1]>, padding = zero>
nv_tileaa.func @two(%p0: !nv_tileaa.ptr<tf32>, %n: i32, %zero: tensor<64x64xf32>) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<tf32>
  %m = nv_tileaa.make_memref %p, shape = [%n : i32], strides = [] : <tf32> -> <?x256xtf32, strides = [256, 1]>
  %v = nv_tileaa.make_tiled_view %m : <?x256xtf32, strides = [256, 1]> -> !view
  %a, %t1 = nv_tileaa.tiled_load <weak> %v[%n, %n] : !view[i32, i32] -> tensor<64x64xtf32>
  %b, %t2 = nv_tileaa.tiled_load <weak> %v[%n, %n] : !view[i32, i32] -> tensor<64x64xtf32>
  // expected-remark @below {{dots of 32-bit elements depend on each other or are in the same block}}
  %d = nv_tileaa.dot %a, %b, %zero : tensor<64x64xtf32>, tensor<64x64xtf32>, tensor<64x64xf32>
  %e, %t3 = nv_tileaa.tiled_load <weak> %v[%n, %n] : !view[i32, i32] -> tensor<64x64xtf32>
  %f, %t4 = nv_tileaa.tiled_load <weak> %v[%n, %n] : !view[i32, i32] -> tensor<64x64xtf32>
  %g = nv_tileaa.dot %e, %f, %d : tensor<64x64xtf32>, tensor<64x64xtf32>, tensor<64x64xf32>
  nv_tileaa.return
}
// -----
!view = !nv_tileaa.tiled_view<tile = [64, 64], memref<?x256xf16, strides = [256, 1]>, padding = zero>
nv_tileaa.func @while(%p0: !nv_tileaa.ptr<f16>, %n: i32, %zero: tensor<64x64xf32>, %go: i1) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f16>
  %m = nv_tileaa.make_memref %p, shape = [%n : i32], strides = [] : <f16> -> <?x256xf16, strides = [256, 1]>
  %v = nv_tileaa.make_tiled_view %m : <?x256xf16, strides = [256, 1]> -> !view
  %sum = scf.while (%acc = %zero) : (tensor<64x64xf32>) -> tensor<64x64xf32> {
    scf.condition(%go) %acc : tensor<64x64xf32>
  } do {
  ^bb0(%acc: tensor<64x64xf32>):
    // expected-remark @below {{the load is in a loop with ops after its condition}}
    %a, %t1 = nv_tileaa.tiled_load <weak> %v[%n, %n] : !view[i32, i32] -> tensor<64x64xf16>
    %b, %t2 = nv_tileaa.tiled_load <weak> %v[%n, %n] : !view[i32, i32] -> tensor<64x64xf16>
    %d = nv_tileaa.dot %a, %b, %acc : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  nv_tileaa.return
}
// -----
// Copies by threads cannot fill this padding either.
!view = !nv_tileaa.tiled_view<tile = [64, 64], memref<?x256xf16, strides = [256, 1]>, padding = neg_inf>
nv_tileaa.func @tensor_in_loop(%p0: !nv_tileaa.ptr<f16>, %n: i32, %zero: tensor<64x64xf32>) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f16>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i32 {
    %m = nv_tileaa.make_memref %p, shape = [%k : i32], strides = [] : <f16> -> <?x256xf16, strides = [256, 1]>
    %v = nv_tileaa.make_tiled_view %m : <?x256xf16, strides = [256, 1]> -> !view
    // expected-remark @below {{its tensor differs between iterations}}
    %a, %t1 = nv_tileaa.tiled_load <weak> %v[%n, %k] : !view[i32, i32] -> tensor<64x64xf16>
    %b, %t2 = nv_tileaa.tiled_load <weak> %v[%k, %n] : !view[i32, i32] -> tensor<64x64xf16>
    %d = nv_tileaa.dot %a, %b, %acc : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  nv_tileaa.return
}
// -----
// Dots of the same size are planned together, and each must be at least as deep as an instruction.
nv_tileaa.func @shallow(%p0: !nv_tileaa.ptr<f8E4M3FN>, %n: i32, %zero: tensor<64x16xf32>) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f8E4M3FN>
  %m = nv_tileaa.make_memref %p, shape = [%n : i32], strides = [] : <f8E4M3FN> -> <?x256xf8E4M3FN, strides = [256, 1]>
  %va = nv_tileaa.make_tiled_view %m : <?x256xf8E4M3FN, strides = [256, 1]> -> <tile = [64, 32], memref<?x256xf8E4M3FN, strides = [256, 1]>, padding = zero>
  %vb = nv_tileaa.make_tiled_view %m : <?x256xf8E4M3FN, strides = [256, 1]> -> <tile = [32, 16], memref<?x256xf8E4M3FN, strides = [256, 1]>, padding = zero>
  %vc = nv_tileaa.make_tiled_view %m : <?x256xf8E4M3FN, strides = [256, 1]> -> <tile = [64, 16], memref<?x256xf8E4M3FN, strides = [256, 1]>, padding = zero>
  %vd = nv_tileaa.make_tiled_view %m : <?x256xf8E4M3FN, strides = [256, 1]> -> <tile = [16, 16], memref<?x256xf8E4M3FN, strides = [256, 1]>, padding = zero>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %deep = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x16xf32>) : i32 {
    %a, %t1 = nv_tileaa.tiled_load <weak> %va[%c0, %k] : <tile = [64, 32], memref<?x256xf8E4M3FN, strides = [256, 1]>, padding = zero>[i32, i32] -> tensor<64x32xf8E4M3FN>
    %b, %t2 = nv_tileaa.tiled_load <weak> %vb[%k, %c0] : <tile = [32, 16], memref<?x256xf8E4M3FN, strides = [256, 1]>, padding = zero>[i32, i32] -> tensor<32x16xf8E4M3FN>
    %d = nv_tileaa.dot %a, %b, %acc : tensor<64x32xf8E4M3FN>, tensor<32x16xf8E4M3FN>, tensor<64x16xf32>
    scf.yield %d : tensor<64x16xf32>
  }
  %flat = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %deep) -> (tensor<64x16xf32>) : i32 {
    %a, %t1 = nv_tileaa.tiled_load <weak> %vc[%c0, %k] : <tile = [64, 16], memref<?x256xf8E4M3FN, strides = [256, 1]>, padding = zero>[i32, i32] -> tensor<64x16xf8E4M3FN>
    %b, %t2 = nv_tileaa.tiled_load <weak> %vd[%k, %c0] : <tile = [16, 16], memref<?x256xf8E4M3FN, strides = [256, 1]>, padding = zero>[i32, i32] -> tensor<16x16xf8E4M3FN>
    // expected-remark @below {{a tile of 64 rows, 16 columns and depth 16}}
    %d = nv_tileaa.dot %a, %b, %acc : tensor<64x16xf8E4M3FN>, tensor<16x16xf8E4M3FN>, tensor<64x16xf32>
    scf.yield %d : tensor<64x16xf32>
  }
  nv_tileaa.return
}
