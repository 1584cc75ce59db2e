// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileaa-slice-dots{compute-capability=sm_80})' | FileCheck %s --check-prefixes=CHECK,SMALL
// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileaa-slice-dots{compute-capability=sm_90})' | FileCheck %s --check-prefixes=CHECK,LARGE

// 48 KiB hold the 32 KiB of both operands once, and halves of them three times. They are aligned, so they can be
// copied asynchronously.
// CHECK-LABEL: nv_tileaa.func @halves(
// LARGE: scf.for {{.*}} : i32 {
// LARGE: tile = [128, 64]
// SMALL: %[[L:.*]] = arith.extsi %c0_i32 : i32 to i64
// SMALL: %[[LF:.*]] = arith.muli %[[L]], %c2_i64
// SMALL: %[[U:.*]] = arith.extsi %arg1 : i32 to i64
// SMALL: %[[UF:.*]] = arith.muli %[[U]], %c2_i64
// SMALL: scf.for %[[I:.*]] = %[[LF]] to %[[UF]] step %c1_i64{{.*}} iter_args(%[[ACC:.*]] = %{{.*}}) -> (tensor<128x128xf32>) : i64 {
// SMALL-NEXT: %[[V:.*]] = nv_tileaa.make_tiled_view {{.*}} -> <tile = [128, 32], {{.*}}, padding = zero>
// SMALL-NEXT: %[[A:.*]], %{{.*}} = nv_tileaa.tiled_load <weak> %[[V]][%arg2, %[[I]]] : {{.*}}[i32, i64] -> tensor<128x32xf16>
// SMALL-NEXT: %[[W:.*]] = nv_tileaa.make_tiled_view {{.*}} -> <tile = [32, 128], {{.*}}, padding = zero>
// SMALL-NEXT: %[[B:.*]], %{{.*}} = nv_tileaa.tiled_load <weak> %[[W]][%[[I]], %arg2] : {{.*}}[i64, i32] -> tensor<32x128xf16>
// SMALL-NEXT: %[[D:.*]] = nv_tileaa.dot %[[A]], %[[B]], %[[ACC]] : tensor<128x32xf16>, tensor<32x128xf16>, tensor<128x128xf32>
// SMALL-NEXT: scf.yield %[[D]]
nv_tileaa.func @halves(%p: !nv_tileaa.ptr<f16>, %n: i32, %j: i32) {
  %pa = nv_tileaa.assume #cuda_tile.div_by<16>, %p : !nv_tileaa.ptr<f16>
  %m = nv_tileaa.make_memref %pa, shape = [%n : i32], strides = [] : <f16> -> <?x256xf16, strides = [256, 1]>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<128x128xf32>) : i32 {
    %v = nv_tileaa.make_tiled_view %m : <?x256xf16, strides = [256, 1]> -> <tile = [128, 64], memref<?x256xf16, strides = [256, 1]>, padding = zero>
    %a, %t1 = nv_tileaa.tiled_load <weak> %v[%j, %k] : <tile = [128, 64], memref<?x256xf16, strides = [256, 1]>, padding = zero>[i32, i32] -> tensor<128x64xf16>
    %w = nv_tileaa.make_tiled_view %m : <?x256xf16, strides = [256, 1]> -> <tile = [64, 128], memref<?x256xf16, strides = [256, 1]>, padding = zero>
    %b, %t2 = nv_tileaa.tiled_load <weak> %w[%k, %j] : <tile = [64, 128], memref<?x256xf16, strides = [256, 1]>, padding = zero>[i32, i32] -> tensor<64x128xf16>
    %d = nv_tileaa.dot %a, %b, %acc : tensor<128x64xf16>, tensor<64x128xf16>, tensor<128x128xf32>
    scf.yield %d : tensor<128x128xf32>
  }
  nv_tileaa.return
}

// Scales are sliced too, in whole blocks: two of four scales cover 64 of 128 elements.
// CHECK-LABEL: nv_tileaa.func @scaled(
// LARGE: scf.for {{.*}} : i32 {
// LARGE: nv_tileaa.dot_scaled {{.*}} tensor<128x128xf8E4M3FN>
// SMALL: scf.for %[[I:.*]] = {{.*}} iter_args(%[[ACC:.*]] = %{{.*}}) -> (tensor<128x128xf32>) : i64 {
// SMALL: %[[A:.*]], %{{.*}} = nv_tileaa.tiled_load <weak> {{.*}}[%arg3, %[[I]]] : {{.*}} -> tensor<128x64xf8E4M3FN>
// SMALL: %[[B:.*]], %{{.*}} = nv_tileaa.tiled_load <weak> {{.*}}[%[[I]], %arg3] : {{.*}} -> tensor<64x128xf8E4M3FN>
// SMALL: %[[X:.*]], %{{.*}} = nv_tileaa.tiled_load <weak> {{.*}}[%arg3, %[[I]]] : {{.*}} -> tensor<128x2xf8E8M0FNU>
// SMALL: %[[Y:.*]], %{{.*}} = nv_tileaa.tiled_load <weak> {{.*}}[%[[I]], %arg3] : {{.*}} -> tensor<2x128xf8E8M0FNU>
// SMALL: %[[D:.*]] = nv_tileaa.dot_scaled %[[A]] scale %[[X]], %[[B]] scale %[[Y]], %[[ACC]] : tensor<128x64xf8E4M3FN>
// SMALL-NEXT: scf.yield %[[D]]
nv_tileaa.func @scaled(%p: !nv_tileaa.ptr<f8E4M3FN>, %q: !nv_tileaa.ptr<f8E8M0FNU>, %n: i32, %j: i32) {
  %pa = nv_tileaa.assume #cuda_tile.div_by<16>, %p : !nv_tileaa.ptr<f8E4M3FN>
  %qa = nv_tileaa.assume #cuda_tile.div_by<16>, %q : !nv_tileaa.ptr<f8E8M0FNU>
  %m = nv_tileaa.make_memref %pa, shape = [%n, %n : i32, i32], strides = [] : <f8E4M3FN> -> <?x?xf8E4M3FN, strides = [65536, 1]>
  %s = nv_tileaa.make_memref %qa, shape = [%n, %n : i32, i32], strides = [] : <f8E8M0FNU> -> <?x?xf8E8M0FNU, strides = [65536, 1]>
  %v = nv_tileaa.make_tiled_view %m : <?x?xf8E4M3FN, strides = [65536, 1]> -> <tile = [128, 128], memref<?x?xf8E4M3FN, strides = [65536, 1]>>
  %l = nv_tileaa.make_tiled_view %s : <?x?xf8E8M0FNU, strides = [65536, 1]> -> <tile = [128, 4], memref<?x?xf8E8M0FNU, strides = [65536, 1]>>
  %r = nv_tileaa.make_tiled_view %s : <?x?xf8E8M0FNU, strides = [65536, 1]> -> <tile = [4, 128], memref<?x?xf8E8M0FNU, strides = [65536, 1]>>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<128x128xf32>) : i32 {
    %a, %t1 = nv_tileaa.tiled_load <weak> %v[%j, %k] : <tile = [128, 128], memref<?x?xf8E4M3FN, strides = [65536, 1]>>[i32, i32] -> tensor<128x128xf8E4M3FN>
    %b, %t2 = nv_tileaa.tiled_load <weak> %v[%k, %j] : <tile = [128, 128], memref<?x?xf8E4M3FN, strides = [65536, 1]>>[i32, i32] -> tensor<128x128xf8E4M3FN>
    %x, %t3 = nv_tileaa.tiled_load <weak> %l[%j, %k] : <tile = [128, 4], memref<?x?xf8E8M0FNU, strides = [65536, 1]>>[i32, i32] -> tensor<128x4xf8E8M0FNU>
    %y, %t4 = nv_tileaa.tiled_load <weak> %r[%k, %j] : <tile = [4, 128], memref<?x?xf8E8M0FNU, strides = [65536, 1]>>[i32, i32] -> tensor<4x128xf8E8M0FNU>
    %d = nv_tileaa.dot_scaled %a scale %x, %b scale %y, %acc : tensor<128x128xf8E4M3FN>, tensor<128x4xf8E8M0FNU>, tensor<128x128xf8E4M3FN>, tensor<4x128xf8E8M0FNU>, tensor<128x128xf32>
    scf.yield %d : tensor<128x128xf32>
  }
  nv_tileaa.return
}

// Changes of shape, order and type between the load and the dot.
// CHECK-LABEL: nv_tileaa.func @through(
// SMALL: -> tensor<1x128x32xf16>
// SMALL: nv_tileaa.view {{.*}} -> tensor<128x32xf16>
// SMALL: -> tensor<1x128x32xf16>
// SMALL: nv_tileaa.view {{.*}} -> tensor<128x32xf16>
// SMALL: nv_tileaa.permute {{.*}} [1, 0] : tensor<128x32xf16> -> tensor<32x128xf16>
// SMALL: nv_tileaa.dot
nv_tileaa.func @through(%p: !nv_tileaa.ptr<f16>, %n: i32, %j: i32) {
  %m = nv_tileaa.make_memref %p, shape = [%n, %n : i32, i32], strides = [] : <f16> -> <?x?x256xf16, strides = [65536, 256, 1]>
  %v = nv_tileaa.make_tiled_view %m : <?x?x256xf16, strides = [65536, 256, 1]> -> <tile = [1, 128, 64], memref<?x?x256xf16, strides = [65536, 256, 1]>>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<128x128xf32>) : i32 {
    %x, %t1 = nv_tileaa.tiled_load <weak> %v[%j, %j, %k] : <tile = [1, 128, 64], memref<?x?x256xf16, strides = [65536, 256, 1]>>[i32, i32, i32] -> tensor<1x128x64xf16>
    %a = nv_tileaa.view %x : tensor<1x128x64xf16> -> tensor<128x64xf16>
    %y, %t2 = nv_tileaa.tiled_load <weak> %v[%j, %c0, %k] : <tile = [1, 128, 64], memref<?x?x256xf16, strides = [65536, 256, 1]>>[i32, i32, i32] -> tensor<1x128x64xf16>
    %z = nv_tileaa.view %y : tensor<1x128x64xf16> -> tensor<128x64xf16>
    %b = nv_tileaa.permute %z [1, 0] : tensor<128x64xf16> -> tensor<64x128xf16>
    %d = nv_tileaa.dot %a, %b, %acc : tensor<128x64xf16>, tensor<64x128xf16>, tensor<128x128xf32>
    scf.yield %d : tensor<128x128xf32>
  }
  nv_tileaa.return
}

// The tile index has another use, so the loop is unchanged.
// CHECK-LABEL: nv_tileaa.func @counted(
// CHECK: scf.for {{.*}} : i32 {
// CHECK: tile = [128, 64]
nv_tileaa.func @counted(%p: !nv_tileaa.ptr<f16>, %n: i32, %j: i32) {
  %m = nv_tileaa.make_memref %p, shape = [%n : i32], strides = [] : <f16> -> <?x256xf16, strides = [256, 1]>
  %v = nv_tileaa.make_tiled_view %m : <?x256xf16, strides = [256, 1]> -> <tile = [128, 64], memref<?x256xf16, strides = [256, 1]>>
  %w = nv_tileaa.make_tiled_view %m : <?x256xf16, strides = [256, 1]> -> <tile = [64, 128], memref<?x256xf16, strides = [256, 1]>>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<128x128xf32>) : i32 {
    %i = arith.addi %k, %j : i32
    %a, %t1 = nv_tileaa.tiled_load <weak> %v[%j, %i] : <tile = [128, 64], memref<?x256xf16, strides = [256, 1]>>[i32, i32] -> tensor<128x64xf16>
    %b, %t2 = nv_tileaa.tiled_load <weak> %w[%k, %j] : <tile = [64, 128], memref<?x256xf16, strides = [256, 1]>>[i32, i32] -> tensor<64x128xf16>
    %d = nv_tileaa.dot %a, %b, %acc : tensor<128x64xf16>, tensor<64x128xf16>, tensor<128x128xf32>
    scf.yield %d : tensor<128x128xf32>
  }
  nv_tileaa.return
}

// Slices of overlapping tiles are not tiles.
// CHECK-LABEL: nv_tileaa.func @overlapping(
// CHECK: scf.for {{.*}} : i32 {
nv_tileaa.func @overlapping(%p: !nv_tileaa.ptr<f16>, %n: i32, %j: i32) {
  %m = nv_tileaa.make_memref %p, shape = [%n : i32], strides = [] : <f16> -> <?x256xf16, strides = [256, 1]>
  %v = nv_tileaa.make_tiled_view %m : <?x256xf16, strides = [256, 1]> -> <tile = [128, 64], memref<?x256xf16, strides = [256, 1]>, steps = [128, 32]>
  %w = nv_tileaa.make_tiled_view %m : <?x256xf16, strides = [256, 1]> -> <tile = [64, 128], memref<?x256xf16, strides = [256, 1]>>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<128x128xf32>) : i32 {
    %a, %t1 = nv_tileaa.tiled_load <weak> %v[%j, %k] : <tile = [128, 64], memref<?x256xf16, strides = [256, 1]>, steps = [128, 32]>[i32, i32] -> tensor<128x64xf16>
    %b, %t2 = nv_tileaa.tiled_load <weak> %w[%k, %j] : <tile = [64, 128], memref<?x256xf16, strides = [256, 1]>>[i32, i32] -> tensor<64x128xf16>
    %d = nv_tileaa.dot %a, %b, %acc : tensor<128x64xf16>, tensor<64x128xf16>, tensor<128x128xf32>
    scf.yield %d : tensor<128x128xf32>
  }
  nv_tileaa.return
}

// An extent of three slices: the second half of the second tile would be read out of bounds without a check.
// CHECK-LABEL: nv_tileaa.func @half_a_tile_behind_the_end(
// CHECK: scf.for {{.*}} : i32 {
// CHECK: tile = [128, 64]
nv_tileaa.func @half_a_tile_behind_the_end(%p: !nv_tileaa.ptr<f16>, %n: i32, %j: i32) {
  %m = nv_tileaa.make_memref %p, shape = [%n : i32], strides = [] : <f16> -> <?x96xf16, strides = [96, 1]>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %sum = scf.for %k = %c0 to %c2 step %c1 iter_args(%acc = %zero) -> (tensor<128x128xf32>) : i32 {
    %v = nv_tileaa.make_tiled_view %m : <?x96xf16, strides = [96, 1]> -> <tile = [128, 64], memref<?x96xf16, strides = [96, 1]>, padding = zero>
    %a, %t1 = nv_tileaa.tiled_load <weak> %v[%j, %k] : <tile = [128, 64], memref<?x96xf16, strides = [96, 1]>, padding = zero>[i32, i32] -> tensor<128x64xf16>
    %w = nv_tileaa.make_tiled_view %m : <?x96xf16, strides = [96, 1]> -> <tile = [64, 128], memref<?x96xf16, strides = [96, 1]>, padding = zero>
    %b, %t2 = nv_tileaa.tiled_load <weak> %w[%k, %j] : <tile = [64, 128], memref<?x96xf16, strides = [96, 1]>, padding = zero>[i32, i32] -> tensor<64x128xf16>
    %d = nv_tileaa.dot %a, %b, %acc : tensor<128x64xf16>, tensor<64x128xf16>, tensor<128x128xf32>
    scf.yield %d : tensor<128x128xf32>
  }
  nv_tileaa.return
}

// Unaligned halves are loaded element by element and cannot be copied asynchronously. Without slices, they would need
// 128 registers in each of 128 threads, in addition to 128 accumulators.
// CHECK-LABEL: nv_tileaa.func @through_registers(
// CHECK: scf.for {{.*}} : i64 {
// CHECK: nv_tileaa.tiled_load {{.*}} -> tensor<128x32xf16>
// CHECK: nv_tileaa.tiled_load {{.*}} -> tensor<32x128xf16>
nv_tileaa.func @through_registers(%p: !nv_tileaa.ptr<f16>, %s: i32, %n: i32, %j: i32) {
  %m = nv_tileaa.make_memref %p, shape = [%n, %n : i32, i32], strides = [%s : i32] : <f16> -> <?x?xf16, strides = [?, 1]>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<128x128xf32>) : i32 {
    %v = nv_tileaa.make_tiled_view %m : <?x?xf16, strides = [?, 1]> -> <tile = [128, 64], memref<?x?xf16, strides = [?, 1]>>
    %a, %t1 = nv_tileaa.tiled_load <weak> %v[%j, %k] : <tile = [128, 64], memref<?x?xf16, strides = [?, 1]>>[i32, i32] -> tensor<128x64xf16>
    %w = nv_tileaa.make_tiled_view %m : <?x?xf16, strides = [?, 1]> -> <tile = [64, 128], memref<?x?xf16, strides = [?, 1]>>
    %b, %t2 = nv_tileaa.tiled_load <weak> %w[%k, %j] : <tile = [64, 128], memref<?x?xf16, strides = [?, 1]>>[i32, i32] -> tensor<64x128xf16>
    %d = nv_tileaa.dot %a, %b, %acc : tensor<128x64xf16>, tensor<64x128xf16>, tensor<128x128xf32>
    scf.yield %d : tensor<128x128xf32>
  }
  nv_tileaa.return
}

// With fewer accumulators, the registers suffice: slices gain nothing if shared memory is large enough.
// CHECK-LABEL: nv_tileaa.func @small(
// LARGE: tensor<64x64xf16>
nv_tileaa.func @small(%p: !nv_tileaa.ptr<f16>, %s: i32, %n: i32, %j: i32) {
  %m = nv_tileaa.make_memref %p, shape = [%n, %n : i32, i32], strides = [%s : i32] : <f16> -> <?x?xf16, strides = [?, 1]>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i32 {
    %v = nv_tileaa.make_tiled_view %m : <?x?xf16, strides = [?, 1]> -> <tile = [64, 64], memref<?x?xf16, strides = [?, 1]>>
    %a, %t1 = nv_tileaa.tiled_load <weak> %v[%j, %k] : <tile = [64, 64], memref<?x?xf16, strides = [?, 1]>>[i32, i32] -> tensor<64x64xf16>
    %b, %t2 = nv_tileaa.tiled_load <weak> %v[%k, %j] : <tile = [64, 64], memref<?x?xf16, strides = [?, 1]>>[i32, i32] -> tensor<64x64xf16>
    %d = nv_tileaa.dot %a, %b, %acc : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  nv_tileaa.return
}
