// RUN: tileiras-opt %s --pass-pipeline='builtin.module(convert-tileaa-to-tileas{num-warps=4},tileas-assign-dot-layouts{compute-capability=sm_80},tileas-assign-load-store-layouts,tileas-remove-layout-conversions)' | FileCheck %s

// The accumulator keeps the layout of the dot around the whole loop, its later users take that layout, and each
// operand is converted once.
// CHECK-LABEL: nv_tileaa.func @loop(
// CHECK-NOT: convert_layout
// CHECK: %[[Z:.*]] = arith.constant dense<0.000000e+00> : tensor<64x64xf32, [[ACC:#nv_tileas.layout<register = .1, 512, 8, 16, 1024., lane = .2, 4, 64, 128, 256., warp = .2048, 32.>]]>
// CHECK: %[[R:.*]] = scf.for {{.*}} iter_args(%[[A:.*]] = %[[Z]]) -> (tensor<64x64xf32, [[ACC]]>)
// CHECK: %[[X:.*]], %{{.*}} = nv_tileas.tiled_load
// CHECK: %[[Y:.*]], %{{.*}} = nv_tileas.tiled_load
// CHECK: %[[L:.*]] = nv_tileas.convert_layout %[[X]]
// CHECK-NEXT: %[[M:.*]] = nv_tileas.convert_layout %[[Y]]
// CHECK-NEXT: %[[D:.*]] = nv_tileas.dot %[[L]], %[[M]], %[[A]]
// CHECK-NEXT: scf.yield %[[D]]
// CHECK-NOT: convert_layout
// CHECK: arith.mulf %[[R]], %{{.*}} : tensor<64x64xf32, [[ACC]]>
// CHECK: nv_tileas.tiled_store {{.*}} : tensor<64x64xf32, [[ACC]]>
nv_tileaa.func @loop(%p0: !nv_tileaa.ptr<f16>, %q0: !nv_tileaa.ptr<f32>, %n: i32) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f16>
  %q = nv_tileaa.assume #cuda_tile.div_by<16>, %q0 : !nv_tileaa.ptr<f32>
  %m = nv_tileaa.make_memref %p, shape = [], strides = [] : <f16> -> <256x256xf16, strides = [256, 1]>
  %v = nv_tileaa.make_tiled_view %m : <256x256xf16, strides = [256, 1]> -> <tile = [64, 64], memref<256x256xf16, strides = [256, 1]>>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %two = arith.constant dense<2.0> : tensor<64x64xf32>
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i32 {
    %a, %t1 = nv_tileaa.tiled_load <weak> %v[%c0, %k] : <tile = [64, 64], memref<256x256xf16, strides = [256, 1]>>[i32, i32] -> tensor<64x64xf16>
    %b, %t2 = nv_tileaa.tiled_load <weak> %v[%k, %c0] : <tile = [64, 64], memref<256x256xf16, strides = [256, 1]>>[i32, i32] -> tensor<64x64xf16>
    %d = nv_tileaa.dot %a, %b, %acc : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  %scaled = arith.mulf %sum, %two : tensor<64x64xf32>
  %o = nv_tileaa.make_memref %q, shape = [], strides = [] : <f32> -> <64x64xf32, strides = [64, 1]>
  %w = nv_tileaa.make_tiled_view %o : <64x64xf32, strides = [64, 1]> -> <tile = [64, 64], memref<64x64xf32, strides = [64, 1]>>
  %t3 = nv_tileaa.tiled_store <weak> %scaled, %w[%c0, %c0] : tensor<64x64xf32>, <tile = [64, 64], memref<64x64xf32, strides = [64, 1]>>[i32, i32]
  nv_tileaa.return
}

// Narrow elements are moved and then widened: the conversion comes before the cast. The columns of an instruction are
// not adjacent here, so the accumulator can be stored without a conversion.
// CHECK-LABEL: nv_tileaa.func @widened(
// CHECK: nv_tileas.convert_layout {{.*}} : tensor<64x64xf8E4M3FN,
// CHECK: nv_tileas.convert_layout {{.*}} : tensor<64x64xf8E4M3FN,
// CHECK: nv_tileaa.fp_cast
// CHECK: nv_tileas.dot
// CHECK: %[[H:.*]] = arith.truncf
// CHECK-NOT: convert_layout
// CHECK: nv_tileas.tiled_store <weak> %[[H]], {{.*}} vector 8
nv_tileaa.func @widened(%p0: !nv_tileaa.ptr<f8E4M3FN>, %q0: !nv_tileaa.ptr<f16>) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f8E4M3FN>
  %q = nv_tileaa.assume #cuda_tile.div_by<16>, %q0 : !nv_tileaa.ptr<f16>
  %m = nv_tileaa.make_memref %p, shape = [], strides = [] : <f8E4M3FN> -> <256x256xf8E4M3FN, strides = [256, 1]>
  %v = nv_tileaa.make_tiled_view %m : <256x256xf8E4M3FN, strides = [256, 1]> -> <tile = [64, 64], memref<256x256xf8E4M3FN, strides = [256, 1]>>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %a, %t1 = nv_tileaa.tiled_load <weak> %v[%c0, %c1] : <tile = [64, 64], memref<256x256xf8E4M3FN, strides = [256, 1]>>[i32, i32] -> tensor<64x64xf8E4M3FN>
  %b, %t2 = nv_tileaa.tiled_load <weak> %v[%c1, %c0] : <tile = [64, 64], memref<256x256xf8E4M3FN, strides = [256, 1]>>[i32, i32] -> tensor<64x64xf8E4M3FN>
  %d = nv_tileaa.dot %a, %b, %zero : tensor<64x64xf8E4M3FN>, tensor<64x64xf8E4M3FN>, tensor<64x64xf32>
  %h = arith.truncf %d : tensor<64x64xf32> to tensor<64x64xf16>
  %o = nv_tileaa.make_memref %q, shape = [], strides = [] : <f16> -> <64x64xf16, strides = [64, 1]>
  %w = nv_tileaa.make_tiled_view %o : <64x64xf16, strides = [64, 1]> -> <tile = [64, 64], memref<64x64xf16, strides = [64, 1]>>
  %t3 = nv_tileaa.tiled_store <weak> %h, %w[%c0, %c0] : tensor<64x64xf16>, <tile = [64, 64], memref<64x64xf16, strides = [64, 1]>>[i32, i32]
  nv_tileaa.return
}

// Adjacent 16-bit elements of an accumulator would be stored in pieces of four bytes, so their layout is converted
// first.
// CHECK-LABEL: nv_tileaa.func @pieces(
// CHECK: nv_tileas.dot
// CHECK: %[[H:.*]] = arith.truncf
// CHECK: %[[S:.*]] = nv_tileas.convert_layout %[[H]] : tensor<64x64xf16,
// CHECK: nv_tileas.tiled_store <weak> %[[S]], {{.*}} vector 8
nv_tileaa.func @pieces(%q0: !nv_tileaa.ptr<f16>) {
  %q = nv_tileaa.assume #cuda_tile.div_by<16>, %q0 : !nv_tileaa.ptr<f16>
  %c0 = arith.constant 0 : i32
  %a = arith.constant dense<1.0> : tensor<64x64xf16>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %d = nv_tileaa.dot %a, %a, %zero : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
  %h = arith.truncf %d : tensor<64x64xf32> to tensor<64x64xf16>
  %o = nv_tileaa.make_memref %q, shape = [], strides = [] : <f16> -> <64x64xf16, strides = [64, 1]>
  %w = nv_tileaa.make_tiled_view %o : <64x64xf16, strides = [64, 1]> -> <tile = [64, 64], memref<64x64xf16, strides = [64, 1]>>
  %t3 = nv_tileaa.tiled_store <weak> %h, %w[%c0, %c0] : tensor<64x64xf16>, <tile = [64, 64], memref<64x64xf16, strides = [64, 1]>>[i32, i32]
  nv_tileaa.return
}

// The same for a store to rows that a table names. Addresses and mask are computed in the layout of the store, so that
// only the values are converted.
// CHECK-LABEL: nv_tileaa.func @rows_of_a_table(
// CHECK: %[[H:.*]] = arith.truncf
// CHECK-NOT: convert_layout
// CHECK: %[[S:.*]] = nv_tileas.convert_layout %[[H]] : tensor<64x64xf16,
// CHECK-NEXT: nv_tileas.store <weak> %{{.*}}, %[[S]] mask %{{.*}} vector 8
nv_tileaa.func @rows_of_a_table(%q0: !nv_tileaa.ptr<f16>, %r0: !nv_tileaa.ptr<i32>, %n: i64) {
  %q = nv_tileaa.assume #cuda_tile.div_by<16>, %q0 : !nv_tileaa.ptr<f16>
  %c64 = arith.constant dense<64> : tensor<64x64xi64>
  %r = nv_tileaa.splat %r0 : !nv_tileaa.ptr<i32> -> tensor<64x!nv_tileaa.ptr<i32>>
  %i = nv_tileaa.make_range : tensor<64xi32>
  %e = nv_tileaa.addptr %r, %i : tensor<64x!nv_tileaa.ptr<i32>>, tensor<64xi32>
  %rows, %t = nv_tileaa.load <weak> %e : tensor<64x!nv_tileaa.ptr<i32>> -> tensor<64xi32>
  %a = arith.constant dense<1.0> : tensor<64x64xf16>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %d = nv_tileaa.dot %a, %a, %zero : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
  %h = arith.truncf %d : tensor<64x64xf32> to tensor<64x64xf16>
  %v = nv_tileaa.view %rows : tensor<64xi32> -> tensor<64x1xi32>
  %x = arith.extsi %v : tensor<64x1xi32> to tensor<64x1xi64>
  %row = nv_tileaa.broadcast %x : tensor<64x1xi64> -> tensor<64x64xi64>
  %end = nv_tileaa.splat %n : i64 -> tensor<64x64xi64>
  %mask = arith.cmpi ult, %row, %end : tensor<64x64xi64>
  %first = arith.muli %row, %c64 : tensor<64x64xi64>
  %c = nv_tileaa.view %i : tensor<64xi32> -> tensor<1x64xi32>
  %y = arith.extsi %c : tensor<1x64xi32> to tensor<1x64xi64>
  %column = nv_tileaa.broadcast %y : tensor<1x64xi64> -> tensor<64x64xi64>
  %at = arith.addi %first, %column : tensor<64x64xi64>
  %p = nv_tileaa.splat %q : !nv_tileaa.ptr<f16> -> tensor<64x64x!nv_tileaa.ptr<f16>>
  %to = nv_tileaa.addptr %p, %at : tensor<64x64x!nv_tileaa.ptr<f16>>, tensor<64x64xi64>
  %t3 = nv_tileaa.store <weak> %to, %h mask %mask : tensor<64x64xi1> : tensor<64x64x!nv_tileaa.ptr<f16>>, tensor<64x64xf16>
  nv_tileaa.return
}
