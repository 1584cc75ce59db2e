// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileas-dynamic-persistent)' | FileCheck %s
// The program of a marked kernel runs in a loop over tile blocks.

// Ops that do not depend on the tile block stay before the loop.
// CHECK-LABEL: nv_tileaa.func @marked(
// CHECK-NOT: dynamic_persistent
// CHECK-DAG: %[[C2:.*]] = arith.constant 2 : i32
// CHECK-DAG: %[[M:.*]] = nv_tileaa.make_memref
// CHECK-DAG: %[[V:.*]] = nv_tileaa.make_tiled_view %[[M]]
// CHECK: %[[X0:.*]], %[[Y0:.*]], %[[Z0:.*]] = nv_tileaa.get_program_id
// CHECK: scf.while (%[[X:.*]] = %[[X0]], %[[Y:.*]] = %[[Y0]], %[[Z:.*]] = %[[Z0]]) : (i32, i32, i32) -> (i32, i32, i32) {
// CHECK: %[[I:.*]] = arith.muli %[[X]], %[[C2]]
// CHECK: nv_tileaa.tiled_load <weak> %[[V]][%[[I]], %[[Y]]]
// CHECK: scf.if
// CHECK-NOT: get_program_id
// CHECK: nv_tileaa.tiled_store <weak> %{{.*}}, %[[V]][%[[X]], %[[Z]]]
// CHECK: %[[NX:.*]], %[[NY:.*]], %[[NZ:.*]], %[[MORE:.*]] = nv_tileas.async.next_tile_block
// CHECK-NEXT: scf.condition(%[[MORE]]) %[[NX]], %[[NY]], %[[NZ]]
// CHECK: } do {
// CHECK-NEXT: ^bb0(%[[A:.*]]: i32, %[[B:.*]]: i32, %[[C:.*]]: i32):
// CHECK-NEXT: scf.yield %[[A]], %[[B]], %[[C]]
// CHECK: nv_tileaa.return
!view = !nv_tileaa.tiled_view<tile = [16, 16], memref<64x64xf32, strides = [64, 1]>>
nv_tileaa.func @marked(%p: !nv_tileaa.ptr<f32>, %flag: i1) attributes {nv_tileas.dynamic_persistent} {
  %c2 = arith.constant 2 : i32
  %x, %y, %z = nv_tileaa.get_program_id
  %i = arith.muli %x, %c2 : i32
  %m = nv_tileaa.make_memref %p, shape = [], strides = [] : <f32> -> <64x64xf32, strides = [64, 1]>
  %v = nv_tileaa.make_tiled_view %m : <64x64xf32, strides = [64, 1]> -> !view
  %a, %t = nv_tileaa.tiled_load <weak> %v[%i, %y] : !view[i32, i32] -> tensor<16x16xf32>
  scf.if %flag {
    %x1, %y1, %z1 = nv_tileaa.get_program_id
    %u = nv_tileaa.tiled_store <weak> %a, %v[%x1, %z1] : tensor<16x16xf32>, !view[i32, i32]
  }
  nv_tileaa.return
}

// CHECK-LABEL: nv_tileaa.func @unmarked(
// CHECK-NOT: scf.while
// CHECK: nv_tileaa.return
nv_tileaa.func @unmarked(%p: !nv_tileaa.ptr<f32>) {
  %x, %y, %z = nv_tileaa.get_program_id
  %m = nv_tileaa.make_memref %p, shape = [], strides = [] : <f32> -> <64x64xf32, strides = [64, 1]>
  %v = nv_tileaa.make_tiled_view %m : <64x64xf32, strides = [64, 1]> -> !view
  %a, %t = nv_tileaa.tiled_load <weak> %v[%x, %y] : !view[i32, i32] -> tensor<16x16xf32>
  %u = nv_tileaa.tiled_store <weak> %a, %v[%y, %x] : tensor<16x16xf32>, !view[i32, i32]
  nv_tileaa.return
}
