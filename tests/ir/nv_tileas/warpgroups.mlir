// RUN: tileiras-opt %s | tileiras-opt | FileCheck %s
// RUN: tileiras-opt %s --mlir-print-op-generic | tileiras-opt | FileCheck %s
// Dots of warpgroups: round trip through the parser and the printer.

// 32 contiguous bytes per row; chunks are swapped in every second four of eight rows.
#a = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 72, 128, 256, 512]>
#b = #nv_tileas.shared_layout<offset = [8, 16, 32, 64, 1, 2, 68]>
#c = #nv_tileas.layout<register = [1, 64], lane = [2, 4, 8, 16, 32], warp = [128, 256]>
!a = !nv_tileas.memdesc<64x16xf16, #a, align = 256>
!b = !nv_tileas.memdesc<16x8xf16, #b, align = 256>
!c = tensor<64x8xf32, #c>

// CHECK-LABEL: nv_tileaa.func @product
nv_tileaa.func @product(%x: !a, %y: !b, %z: !c) -> !c {
  // CHECK: nv_tileas.async.fence
  nv_tileas.async.fence
  // CHECK: %[[R:.*]] = nv_tileas.async.dot %arg0, %arg1, %arg2 by <warpgroup, [64, 8, 16]> : !nv_tileas.memdesc<64x16xf16, #{{.*}}, align = 256>, <16x8xf16, #{{.*}}, align = 256>, tensor<64x8xf32, #{{.*}}>
  %r = nv_tileas.async.dot %x, %y, %z by <warpgroup, [64, 8, 16]> : !a, !b, !c
  // CHECK: nv_tileas.async.dot_wait pending 1
  nv_tileas.async.dot_wait pending 1
  // CHECK: nv_tileas.async.dot_wait %[[R]] pending 0 : tensor<64x8xf32, #{{.*}}> -> tensor<64x8xf32, #{{.*}}>
  %s = nv_tileas.async.dot_wait %r pending 0 : !c -> !c
  nv_tileaa.return %s : !c
}

// The left operand in registers.
#left = #nv_tileas.layout<register = [1, 128, 8], lane = [2, 4, 16, 32, 64], warp = [256, 512]>
// CHECK-LABEL: nv_tileaa.func @from_registers
nv_tileaa.func @from_registers(%x: tensor<64x16xf16, #left>, %y: !b, %z: !c) -> !c {
  // CHECK: nv_tileas.async.dot %arg0, %arg1, %arg2 by <warpgroup, [64, 8, 16]> : tensor<64x16xf16, #{{.*}}>, <16x8xf16, #{{.*}}, align = 256>, tensor<64x8xf32, #{{.*}}>
  %r = nv_tileas.async.dot %x, %y, %z by <warpgroup, [64, 8, 16]> : tensor<64x16xf16, #left>, !b, !c
  %s = nv_tileas.async.dot_wait %r pending 0 : !c -> !c
  nv_tileaa.return %s : !c
}

// A release that is ordered after computed values.
// CHECK-LABEL: nv_tileaa.func @release
nv_tileaa.func @release(%p: !nv_tileas.pipeline<2>, %i: !nv_tileas.pipeline_iterator, %done: i1, %z: !c) {
  // CHECK: consumer_release %arg0[%arg1] if %arg2 after %arg3 : tensor<64x8xf32, #{{.*}}>, : <2>
  nv_tileas.async.pipeline.consumer_release %p[%i] if %done after %z : !c, : <2>
  // CHECK: consumer_release %arg0[%arg1] after %arg3 : tensor<64x8xf32, #{{.*}}>, : <2>
  nv_tileas.async.pipeline.consumer_release %p[%i] after %z : !c, : <2>
  nv_tileaa.return
}

// An accumulator that a loop carries, followed by the accumulator of another dot.
// CHECK-LABEL: nv_tileaa.func @carried
nv_tileaa.func @carried(%x: !a, %y: !b, %z: !c, %n: i32) -> !c {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %first = nv_tileas.async.dot %x, %y, %z by <warpgroup, [64, 8, 16]> : !a, !b, !c
  %out = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %first) -> (!c) : i32 {
    %r = nv_tileas.async.dot %x, %y, %acc by <warpgroup, [64, 8, 16]> : !a, !b, !c
    nv_tileas.async.dot_wait pending 1
    scf.yield %r : !c
  }
  %last = nv_tileas.async.dot %x, %y, %out by <warpgroup, [64, 8, 16]> : !a, !b, !c
  %s = nv_tileas.async.dot_wait %last pending 0 : !c -> !c
  nv_tileaa.return %s : !c
}

// Two warpgroups, one below the other, with two blocks of 64 rows each; signed and unsigned bytes.
#wide_a = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64, 144, 256, 512, 1024, 2048, 4096]>
#wide_b = #nv_tileas.shared_layout<offset = [8, 16, 32, 64, 128, 1, 2, 132]>
#wide_c = #nv_tileas.layout<register = [1, 64, 512], lane = [2, 4, 8, 16, 32], warp = [128, 256, 1024]>
!wide_a = !nv_tileas.memdesc<256x32xi8, #wide_a, align = 256>
!wide_b = !nv_tileas.memdesc<32x8xi8, #wide_b, align = 256>
// CHECK-LABEL: nv_tileaa.func @bytes
nv_tileaa.func @bytes(%x: !wide_a, %y: !wide_b, %z: tensor<256x8xi32, #wide_c>) -> tensor<256x8xi32, #wide_c> {
  // CHECK: nv_tileas.async.dot %arg0, %arg1, %arg2 by <warpgroup, [64, 8, 32]> rhs_unsigned :
  %r = nv_tileas.async.dot %x, %y, %z by <warpgroup, [64, 8, 32]> rhs_unsigned : !wide_a, !wide_b, tensor<256x8xi32, #wide_c>
  %s = nv_tileas.async.dot_wait %r pending 0 : tensor<256x8xi32, #wide_c> -> tensor<256x8xi32, #wide_c>
  nv_tileaa.return %s : tensor<256x8xi32, #wide_c>
}

// Promoted accumulators of 8-bit floats; the result is available at once.
!float_a = !nv_tileas.memdesc<256x32xf8E4M3FN, #wide_a, align = 256>
!float_b = !nv_tileas.memdesc<32x8xf8E4M3FN, #wide_b, align = 256>
// CHECK-LABEL: nv_tileaa.func @promoted
nv_tileaa.func @promoted(%x: !float_a, %y: !float_b, %z: tensor<256x8xf32, #wide_c>) -> tensor<256x8xf32, #wide_c> {
  // CHECK: nv_tileas.promoted_dot %arg0, %arg1, %arg2 by <warpgroup, [64, 8, 32]> depth 32 :
  %r = nv_tileas.promoted_dot %x, %y, %z by <warpgroup, [64, 8, 32]> depth 32 : !float_a, !float_b, tensor<256x8xf32, #wide_c>
  nv_tileaa.return %r : tensor<256x8xf32, #wide_c>
}

// A stage viewed with other types: as a row of elements in two parts, and as words of another type.
#row = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64, 128, 256]>
// CHECK-LABEL: nv_tileaa.func @reinterpreted
nv_tileaa.func @reinterpreted(%x: !a) {
  // CHECK: nv_tileas.memdesc_reinterpret %arg0 : <64x16xf16, #{{.*}}, align = 256> -> <512xf16, stages = 2>
  %r = nv_tileas.memdesc_reinterpret %x : !a -> !nv_tileas.memdesc<512xf16, #row, stages = 2>
  // CHECK: nv_tileas.memdesc_reinterpret %arg0 : <64x16xf16, #{{.*}}, align = 256> -> <64x16xi16, #{{.*}}, align = 256>
  %s = nv_tileas.memdesc_reinterpret %x : !a -> !nv_tileas.memdesc<64x16xi16, #a, align = 256>
  nv_tileaa.return
}
