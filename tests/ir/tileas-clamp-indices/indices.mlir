// RUN: tileiras-opt %s --pass-pipeline='builtin.module(convert-tileaa-to-tileas,tileas-assign-load-store-layouts{compute-capability=sm_80},tileas-clamp-indices)' | FileCheck %s
!view = !nv_tileaa.tiled_view<tile = [32], memref<?xf32, strides = [1]>, padding = zero>
!whole = !nv_tileaa.tiled_view<tile = [32], memref<64xf32, strides = [1]>, padding = zero>
!ragged = !nv_tileaa.tiled_view<tile = [32], memref<50xf32, strides = [1]>, padding = zero>

// An argument may be negative. The result is the number of a tile outside the view.
// CHECK-LABEL: nv_tileaa.func @argument(
// CHECK-SAME: %[[N:[a-z0-9]+]]: i32, %[[I:[a-z0-9]+]]: i32
// CHECK: %[[TILES:.*]] = arith.divui %[[N]], %c32_i32 : i32
// CHECK: %[[OUTSIDE:.*]] = arith.addi %[[TILES]], %c1_i32 : i32
// CHECK: %[[CLAMPED:.*]] = arith.minui %[[I]], %[[OUTSIDE]] : i32
// CHECK: nv_tileas.tiled_load <weak> %{{[a-z0-9_]+}}[%[[CLAMPED]]]
nv_tileaa.func @argument(%p: !nv_tileaa.ptr<f32>, %n: i32, %i: i32) {
  %m = nv_tileaa.make_memref %p, shape = [%n : i32], strides = [] : <f32> -> <?xf32, strides = [1]>
  %v = nv_tileaa.make_tiled_view %m : <?xf32, strides = [1]> -> !view
  %t, %k = nv_tileaa.tiled_load <weak> %v[%i] : !view[i32] -> tensor<32xf32>
  %s = nv_tileaa.tiled_store <weak> %t, %v[%i] token %k : tensor<32xf32>, !view[i32]
  nv_tileaa.return
}

// A constant extent gives a constant. A number of 64 bits keeps its width.
// CHECK-LABEL: nv_tileaa.func @constant_extent(
// CHECK-SAME: %[[I:[a-z0-9]+]]: i64
// CHECK: arith.minui %[[I]], %c2_i64 : i64
nv_tileaa.func @constant_extent(%p: !nv_tileaa.ptr<f32>, %i: i64) {
  %m = nv_tileaa.make_memref %p, shape = [], strides = [] : <f32> -> <50xf32, strides = [1]>
  %v = nv_tileaa.make_tiled_view %m : <50xf32, strides = [1]> -> !ragged
  %t, %k = nv_tileaa.tiled_load <weak> %v[%i] : !ragged[i64] -> tensor<32xf32>
  %s = nv_tileaa.tiled_store <weak> %t, %v[%i] token %k : tensor<32xf32>, !ragged[i64]
  nv_tileaa.return
}

// A negative number is huge after its zero extension.
// CHECK-LABEL: nv_tileaa.func @extended(
// CHECK: %[[WIDE:.*]] = arith.extui
// CHECK: arith.minui %[[WIDE]], %c2_i64 : i64
nv_tileaa.func @extended(%p: !nv_tileaa.ptr<f32>, %i: i32) {
  %wide = arith.extui %i : i32 to i64
  %m = nv_tileaa.make_memref %p, shape = [], strides = [] : <f32> -> <50xf32, strides = [1]>
  %v = nv_tileaa.make_tiled_view %m : <50xf32, strides = [1]> -> !ragged
  %t, %k = nv_tileaa.tiled_load <weak> %v[%wide] : !ragged[i64] -> tensor<32xf32>
  %s = nv_tileaa.tiled_store <weak> %t, %v[%wide] token %k : tensor<32xf32>, !ragged[i64]
  nv_tileaa.return
}

// Nothing changes where nothing is tested, for program numbers, induction variables, and sums of these.
// CHECK-LABEL: nv_tileaa.func @known(
// CHECK-NOT: arith.minui
// CHECK: nv_tileaa.return
nv_tileaa.func @known(%p: !nv_tileaa.ptr<f32>, %n: i32, %i: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %m = nv_tileaa.make_memref %p, shape = [%n : i32], strides = [] : <f32> -> <?xf32, strides = [1]>
  %v = nv_tileaa.make_tiled_view %m : <?xf32, strides = [1]> -> !view
  %x, %y, %z = nv_tileaa.get_program_id
  %t, %k = nv_tileaa.tiled_load <weak> %v[%x] : !view[i32] -> tensor<32xf32>
  scf.for %j = %zero to %n step %one : i32 {
    %next = arith.addi %j, %x : i32
    %s = nv_tileaa.tiled_store <weak> %t, %v[%next] token %k : tensor<32xf32>, !view[i32]
  }
  %w = nv_tileaa.make_memref %p, shape = [], strides = [] : <f32> -> <64xf32, strides = [1]>
  %wv = nv_tileaa.make_tiled_view %w : <64xf32, strides = [1]> -> !whole
  %s2 = nv_tileaa.tiled_store <weak> %t, %wv[%i] token %k : tensor<32xf32>, !whole[i32]
  nv_tileaa.return
}
