// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileaa-hoist-views{compute-capability=sm_90})' | FileCheck %s
// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileaa-hoist-views{compute-capability=sm_80})' | FileCheck %s --check-prefix=OTHERS

// A view and the ops that compute its base, with their assumptions, are moved before the branch; other ops in the
// branch are not.
// CHECK-LABEL: nv_tileaa.func @packed(
// CHECK: %[[O:.*]] = arith.muli %arg1, %arg2
// CHECK-NEXT: %[[P:.*]] = nv_tileaa.addptr %arg0, %[[O]]
// CHECK-NEXT: %[[A:.*]] = nv_tileaa.assume #cuda_tile.div_by<16>, %[[P]]
// CHECK-NEXT: %[[M:.*]] = nv_tileaa.make_memref %[[A]], shape = [%arg1 : i32]
// CHECK-NEXT: scf.if
// CHECK-NEXT: %[[X:.*]] = arith.addi %arg1, %arg2
// CHECK-NEXT: nv_tileaa.make_tiled_view %[[M]]
// OTHERS-LABEL: nv_tileaa.func @packed(
// OTHERS: scf.if
// OTHERS: nv_tileaa.make_memref
nv_tileaa.func @packed(%p: !nv_tileaa.ptr<f16>, %n: i32, %s: i32, %c: i1) {
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  scf.if %c {
    %o = arith.muli %n, %s : i32
    %x = arith.addi %n, %s : i32
    %q = nv_tileaa.addptr %p, %o : !nv_tileaa.ptr<f16>, i32
    %a = nv_tileaa.assume #cuda_tile.div_by<16>, %q : !nv_tileaa.ptr<f16>
    %m = nv_tileaa.make_memref %a, shape = [%n : i32], strides = [] : <f16> -> <?x64xf16, strides = [64, 1]>
    %v = nv_tileaa.make_tiled_view %m : <?x64xf16, strides = [64, 1]> -> <tile = [64, 64], memref<?x64xf16, strides = [64, 1]>, padding = zero>
    %l, %t = nv_tileaa.tiled_load <weak> %v[%x, %n] : <tile = [64, 64], memref<?x64xf16, strides = [64, 1]>, padding = zero>[i32, i32] -> tensor<64x64xf16>
    %d = nv_tileaa.dot %l, %l, %zero : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
  }
  nv_tileaa.return
}

// Ops that depend on the iteration, load, or divide by a value that may be zero are not moved. A view in a loop that
// needs none of them is.
// CHECK-LABEL: nv_tileaa.func @stays(
// CHECK: nv_tileaa.make_memref %arg0, shape = [%arg1 : i32]
// CHECK-NEXT: scf.for
// CHECK: arith.divsi
// CHECK: nv_tileaa.make_memref
// CHECK: nv_tileaa.make_memref
// CHECK: nv_tileaa.tiled_load
// CHECK: nv_tileaa.make_memref
nv_tileaa.func @stays(%p: !nv_tileaa.ptr<f16>, %n: i32, %s: i32) {
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %i = %c0 to %n step %c1 : i32 {
    %m = nv_tileaa.make_memref %p, shape = [%n : i32], strides = [] : <f16> -> <?x64xf16, strides = [64, 1]>
    %o = arith.divsi %n, %s : i32
    %q = nv_tileaa.addptr %p, %o : !nv_tileaa.ptr<f16>, i32
    %divided = nv_tileaa.make_memref %q, shape = [%n : i32], strides = [] : <f16> -> <?x64xf16, strides = [64, 1]>
    %r = nv_tileaa.addptr %p, %i : !nv_tileaa.ptr<f16>, i32
    %moving = nv_tileaa.make_memref %r, shape = [%n : i32], strides = [] : <f16> -> <?x64xf16, strides = [64, 1]>
    %v = nv_tileaa.make_tiled_view %m : <?x64xf16, strides = [64, 1]> -> <tile = [64, 64], memref<?x64xf16, strides = [64, 1]>, padding = zero>
    %l, %t = nv_tileaa.tiled_load <weak> %v[%i, %c0] : <tile = [64, 64], memref<?x64xf16, strides = [64, 1]>, padding = zero>[i32, i32] -> tensor<64x64xf16>
    %lengths = nv_tileaa.make_tiled_view %m : <?x64xf16, strides = [64, 1]> -> <tile = [1, 1], memref<?x64xf16, strides = [64, 1]>>
    %e, %te = nv_tileaa.tiled_load <weak> %lengths[%i, %c0] : <tile = [1, 1], memref<?x64xf16, strides = [64, 1]>>[i32, i32] -> tensor<1x1xf16>
    %f = nv_tileaa.unsplat %e : tensor<1x1xf16> -> f16
    %k = arith.fptosi %f : f16 to i32
    %loaded = nv_tileaa.make_memref %p, shape = [%k : i32], strides = [] : <f16> -> <?x64xf16, strides = [64, 1]>
    %d = nv_tileaa.dot %l, %l, %zero : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
  }
  nv_tileaa.return
}

// There are no dots here.
// CHECK-LABEL: nv_tileaa.func @rows(
// CHECK: scf.if
// CHECK-NEXT: nv_tileaa.make_memref
nv_tileaa.func @rows(%p: !nv_tileaa.ptr<f16>, %n: i32, %c: i1) {
  scf.if %c {
    %m = nv_tileaa.make_memref %p, shape = [%n : i32], strides = [] : <f16> -> <?xf16, strides = [1]>
    %v = nv_tileaa.make_tiled_view %m : <?xf16, strides = [1]> -> <tile = [64], memref<?xf16, strides = [1]>>
    %l, %t = nv_tileaa.tiled_load <weak> %v[%n] : <tile = [64], memref<?xf16, strides = [1]>>[i32] -> tensor<64xf16>
  }
  nv_tileaa.return
}
