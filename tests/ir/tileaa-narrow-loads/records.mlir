// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileaa-narrow-loads{compute-capability=sm_90})' | FileCheck %s
// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileaa-narrow-loads{compute-capability=sm_80})' | FileCheck %s --check-prefix=OTHERS

!record = !nv_tileaa.tiled_view<tile = [1, 8], memref<?x5xi64, strides = [5, 1]>>
!rows = !nv_tileaa.tiled_view<tile = [2, 4], memref<8x7xi64, strides = [7, 1]>, padding = zero>
!edge = !nv_tileaa.tiled_view<tile = [2, 4], memref<?x5xi64, strides = [5, 1]>, padding = zero>

// Each field of a record is loaded separately. In dimensions where the tile has one element, the index stays the
// same; in others, it is the tile's start plus the index in the tile.
// CHECK-LABEL: nv_tileaa.func @fields(
// CHECK: %[[V:.*]] = nv_tileaa.make_tiled_view %[[M:.*]] : {{.*}} -> <tile = [1, 1], memref<?x5xi64, strides = [5, 1]>>
// CHECK-NEXT: %[[C3:.*]] = arith.constant 3 : i32
// CHECK-NEXT: nv_tileaa.tiled_load <weak> %[[V]][%arg1, %[[C3]]] {{.*}} -> tensor<1x1xi64>
// CHECK-NEXT: %[[V:.*]] = nv_tileaa.make_tiled_view %[[M]]
// CHECK-NEXT: %[[C0:.*]] = arith.constant 0 : i32
// CHECK-NEXT: nv_tileaa.tiled_load <weak> %[[V]][%arg1, %[[C0]]] {{.*}} -> tensor<1x1xi64>
// CHECK-NOT: extract_slice
// CHECK: %[[R:.*]] = nv_tileaa.make_tiled_view {{.*}} -> <tile = [1, 1], memref<8x7xi64, strides = [7, 1]>, padding = zero>
// CHECK-NEXT: %[[C7:.*]] = arith.constant 7 : i32
// CHECK-NEXT: %[[C6:.*]] = arith.constant 6 : i32
// CHECK-NEXT: nv_tileaa.tiled_load <weak> %[[R]][%[[C7]], %[[C6]]] {{.*}} -> tensor<1x1xi64>
// OTHERS-LABEL: nv_tileaa.func @fields(
// OTHERS: -> tensor<1x8xi64>
// OTHERS: extract_slice
nv_tileaa.func @fields(%list: !nv_tileaa.ptr<i64>, %g: i32, %zero: tensor<64x64xf32>, %tile: tensor<64x64xf16>) -> (i64, i64, i64) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %c3 = arith.constant 3 : i32
  %m = nv_tileaa.make_memref %list, shape = [%g : i32], strides = [] : <i64> -> <?x5xi64, strides = [5, 1]>
  %v = nv_tileaa.make_tiled_view %m : <?x5xi64, strides = [5, 1]> -> !record
  %l, %t = nv_tileaa.tiled_load <weak> %v[%g, %c0] : !record[i32, i32] -> tensor<1x8xi64>
  %a = nv_tileaa.extract_slice %l[%c0, %c0] : tensor<1x8xi64> -> tensor<1x1xi64>
  %b = nv_tileaa.extract_slice %l[%c0, %c3] : tensor<1x8xi64> -> tensor<1x1xi64>
  %x = nv_tileaa.unsplat %a : tensor<1x1xi64> -> i64
  %y = nv_tileaa.unsplat %b : tensor<1x1xi64> -> i64
  %n = nv_tileaa.make_memref %list, shape = [], strides = [] : <i64> -> <8x7xi64, strides = [7, 1]>
  %w = nv_tileaa.make_tiled_view %n : <8x7xi64, strides = [7, 1]> -> !rows
  %k, %s = nv_tileaa.tiled_load <weak> %w[%c3, %c1] : !rows[i32, i32] -> tensor<2x4xi64>
  %e = nv_tileaa.extract_slice %k[%c1, %c2] : tensor<2x4xi64> -> tensor<1x1xi64>
  %z = nv_tileaa.unsplat %e : tensor<1x1xi64> -> i64
  %d = nv_tileaa.dot %tile, %tile, %zero : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
  nv_tileaa.return %x, %y, %z : i64, i64, i64
}

// A tile is loaded whole if its index is not constant in a dimension with several elements, if another access is
// ordered after the load, if the whole tile is used too, or if an element's index is out of the tile or does not fit
// its type.
// CHECK-LABEL: nv_tileaa.func @whole(
// CHECK-NOT: tensor<1x1xi64>, !nv_tileaa
// CHECK-COUNT-5: nv_tileaa.tiled_load {{.*}} -> tensor<1x8xi64>
// CHECK-COUNT-5: nv_tileaa.extract_slice
nv_tileaa.func @whole(%list: !nv_tileaa.ptr<i64>, %g: i32, %zero: tensor<64x64xf32>, %tile: tensor<64x64xf16>) -> (tensor<1x1xi64>, tensor<1x1xi64>, tensor<1x1xi64>, tensor<1x1xi64>, tensor<1x1xi64>, tensor<1x8xi64>, !nv_tileaa.mem_token) {
  %c0 = arith.constant 0 : i32
  %c8 = arith.constant 8 : i32
  %far = arith.constant 1000000000 : i32
  %m = nv_tileaa.make_memref %list, shape = [%g : i32], strides = [] : <i64> -> <?x5xi64, strides = [5, 1]>
  %v = nv_tileaa.make_tiled_view %m : <?x5xi64, strides = [5, 1]> -> !record
  %l0, %t0 = nv_tileaa.tiled_load <weak> %v[%g, %g] : !record[i32, i32] -> tensor<1x8xi64>
  %l1, %t1 = nv_tileaa.tiled_load <weak> %v[%g, %c0] : !record[i32, i32] -> tensor<1x8xi64>
  %l2, %t2 = nv_tileaa.tiled_load <weak> %v[%g, %c0] : !record[i32, i32] -> tensor<1x8xi64>
  %l3, %t3 = nv_tileaa.tiled_load <weak> %v[%g, %c0] : !record[i32, i32] -> tensor<1x8xi64>
  %l4, %t4 = nv_tileaa.tiled_load <weak> %v[%g, %far] : !record[i32, i32] -> tensor<1x8xi64>
  %a0 = nv_tileaa.extract_slice %l0[%c0, %c0] : tensor<1x8xi64> -> tensor<1x1xi64>
  %a1 = nv_tileaa.extract_slice %l1[%c0, %c0] : tensor<1x8xi64> -> tensor<1x1xi64>
  %a2 = nv_tileaa.extract_slice %l2[%c0, %c0] : tensor<1x8xi64> -> tensor<1x1xi64>
  %a3 = nv_tileaa.extract_slice %l3[%c0, %c8] : tensor<1x8xi64> -> tensor<1x1xi64>
  %a4 = nv_tileaa.extract_slice %l4[%c0, %c0] : tensor<1x8xi64> -> tensor<1x1xi64>
  %d = nv_tileaa.dot %tile, %tile, %zero : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
  nv_tileaa.return %a0, %a1, %a2, %a3, %a4, %l1, %t2 : tensor<1x1xi64>, tensor<1x1xi64>, tensor<1x1xi64>, tensor<1x1xi64>, tensor<1x1xi64>, tensor<1x8xi64>, !nv_tileaa.mem_token
}

// The same if an element may be after the end of the view, unless the program guarantees that none is.
// CHECK-LABEL: nv_tileaa.func @edge(
// CHECK-COUNT-2: nv_tileaa.tiled_load {{.*}} -> tensor<2x4xi64>
// CHECK: nv_tileaa.tiled_load {{.*}} in_bounds [true, false] {{.*}} -> tensor<1x1xi64>
// CHECK-NOT: nv_tileaa.tiled_load
nv_tileaa.func @edge(%list: !nv_tileaa.ptr<i64>, %g: i32, %zero: tensor<64x64xf32>, %tile: tensor<64x64xf16>) -> (tensor<1x1xi64>, tensor<1x1xi64>, tensor<1x1xi64>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %m = nv_tileaa.make_memref %list, shape = [%g : i32], strides = [] : <i64> -> <?x5xi64, strides = [5, 1]>
  %v = nv_tileaa.make_tiled_view %m : <?x5xi64, strides = [5, 1]> -> !edge
  %rows, %t0 = nv_tileaa.tiled_load <weak> %v[%c0, %c0] : !edge[i32, i32] -> tensor<2x4xi64>
  %columns, %t1 = nv_tileaa.tiled_load <weak> %v[%c0, %c1] in_bounds [true, false] : !edge[i32, i32] -> tensor<2x4xi64>
  %promised, %t2 = nv_tileaa.tiled_load <weak> %v[%c0, %c1] in_bounds [true, false] : !edge[i32, i32] -> tensor<2x4xi64>
  %a = nv_tileaa.extract_slice %rows[%c1, %c0] : tensor<2x4xi64> -> tensor<1x1xi64>
  %b = nv_tileaa.extract_slice %columns[%c0, %c1] : tensor<2x4xi64> -> tensor<1x1xi64>
  %c = nv_tileaa.extract_slice %promised[%c1, %c0] : tensor<2x4xi64> -> tensor<1x1xi64>
  %d = nv_tileaa.dot %tile, %tile, %zero : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
  nv_tileaa.return %a, %b, %c : tensor<1x1xi64>, tensor<1x1xi64>, tensor<1x1xi64>
}
