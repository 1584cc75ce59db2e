// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileaa-slice-keys{compute-capability=sm_89 extended-smem=true})' | FileCheck %s --check-prefixes=CHECK,SLICED
// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileaa-slice-keys{compute-capability=sm_120})' | FileCheck %s --check-prefixes=CHECK,SLICED,ORDERED
// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileaa-slice-keys{compute-capability=sm_80 extended-smem=true})' | FileCheck %s --check-prefixes=CHECK,WHOLE
// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileaa-slice-keys{compute-capability=sm_90 extended-smem=true})' | FileCheck %s --check-prefixes=CHECK,WHOLE

!mem = !nv_tileaa.memref<?x128xbf16, strides = [128, 1]>
!tile = !nv_tileaa.tiled_view<tile = [128, 128], memref<?x128xbf16, strides = [128, 1]>, padding = zero>
!part = !nv_tileaa.tiled_view<tile = [64, 128], memref<?x128xbf16, strides = [128, 1]>, padding = zero>

// 99 KB hold three tiles of 32 KB, or six halves. 163 KB hold five tiles.
// CHECK-LABEL: nv_tileaa.func @large(
// WHOLE-NOT: nv_tileaa.cat
// WHOLE: return
// SLICED: scf.for %[[I:.*]] = {{.*}} iter_args(%[[ACC:.*]] = %{{.*}})
// SLICED: %[[W:.*]] = arith.extsi %[[I]] : i32 to i64
// SLICED: %[[J:.*]] = arith.muli %[[W]], %c2_i64
// SLICED: %[[K0:.*]], %{{.*}} = nv_tileaa.tiled_load <weak> %{{.*}}[%[[J]], %c0_i32] : <tile = [64, 128]{{.*}} -> tensor<64x128xbf16>
// SLICED: %[[T0:.*]] = nv_tileaa.permute %[[K0]] [1, 0] : tensor<64x128xbf16> -> tensor<128x64xbf16>
// SLICED: %[[J1:.*]] = arith.addi %[[J]], %c1_i64
// SLICED: %[[K1:.*]], %{{.*}} = nv_tileaa.tiled_load <weak> %{{.*}}[%[[J1]], %c0_i32]
// SLICED: %[[T1:.*]] = nv_tileaa.permute %[[K1]] [1, 0]
// SLICED: %[[S0:.*]] = nv_tileaa.dot %{{.*}}, %[[T0]], %cst{{.*}} : tensor<128x128xbf16>, tensor<128x64xbf16>, tensor<128x64xf32>
// SLICED: %[[S1:.*]] = nv_tileaa.dot %{{.*}}, %[[T1]], %cst{{.*}} : tensor<128x128xbf16>, tensor<128x64xbf16>, tensor<128x64xf32>
// SLICED: %[[S:.*]] = nv_tileaa.cat %[[S0]], %[[S1]], 1 : tensor<128x64xf32>, tensor<128x64xf32> -> tensor<128x128xf32>
// SLICED: %[[P:.*]] = nv_tileaa.fp_cast {{.*}}%[[S]]
// SLICED: %[[V0:.*]], %{{.*}} = nv_tileaa.tiled_load <weak> {{.*}} -> tensor<64x128xbf16>
// SLICED: %[[V1:.*]], %{{.*}} = nv_tileaa.tiled_load <weak> {{.*}} -> tensor<64x128xbf16>
// SLICED: %[[P0:.*]] = nv_tileaa.extract_slice %[[P]][%c0_i32{{.*}}, %c0_i32{{.*}}] : tensor<128x128xbf16> -> tensor<128x64xbf16>
// SLICED: %[[O0:.*]] = nv_tileaa.dot %[[P0]], %[[V0]], %[[ACC]] : tensor<128x64xbf16>, tensor<64x128xbf16>, tensor<128x128xf32>
// SLICED: %[[P1:.*]] = nv_tileaa.extract_slice %[[P]][%c0_i32{{.*}}, %c1_i32{{.*}}] : tensor<128x128xbf16> -> tensor<128x64xbf16>
// SLICED: %[[O1:.*]] = nv_tileaa.dot %[[P1]], %[[V1]], %[[O0]] : tensor<128x64xbf16>, tensor<64x128xbf16>, tensor<128x128xf32>
// SLICED: scf.yield %[[O1]]
nv_tileaa.func @large(%p: !nv_tileaa.ptr<bf16>, %rows: i32, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %m = nv_tileaa.make_memref %p, shape = [%rows : i32], strides = [] : <bf16> -> <?x128xbf16, strides = [128, 1]>
  %v = nv_tileaa.make_tiled_view %m : <?x128xbf16, strides = [128, 1]> -> !tile
  %q, %t0 = nv_tileaa.tiled_load <weak> %v[%c0, %c0] : !tile[i32, i32] -> tensor<128x128xbf16>
  %out = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<128x128xf32>) : i32 {
    %k, %t1 = nv_tileaa.tiled_load <weak> %v[%i, %c0] : !tile[i32, i32] -> tensor<128x128xbf16>
    %kt = nv_tileaa.permute %k [1, 0] : tensor<128x128xbf16> -> tensor<128x128xbf16>
    %s = nv_tileaa.dot %q, %kt, %zero : tensor<128x128xbf16>, tensor<128x128xbf16>, tensor<128x128xf32>
    %w = nv_tileaa.fp_cast %s : tensor<128x128xf32> -> tensor<128x128xbf16>
    %x, %t2 = nv_tileaa.tiled_load <weak> %v[%i, %c0] : !tile[i32, i32] -> tensor<128x128xbf16>
    %o = nv_tileaa.dot %w, %x, %acc : tensor<128x128xbf16>, tensor<128x128xbf16>, tensor<128x128xf32>
    scf.yield %o : tensor<128x128xf32>
  }
  nv_tileaa.return
}

// Six tiles of 64 keys fit as they are.
// CHECK-LABEL: nv_tileaa.func @small(
// CHECK-NOT: nv_tileaa.cat
// CHECK: return
nv_tileaa.func @small(%p: !nv_tileaa.ptr<bf16>, %rows: i32, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<128x64xf32>
  %none = arith.constant dense<0.0> : tensor<128x128xf32>
  %m = nv_tileaa.make_memref %p, shape = [%rows : i32], strides = [] : <bf16> -> <?x128xbf16, strides = [128, 1]>
  %u = nv_tileaa.make_tiled_view %m : <?x128xbf16, strides = [128, 1]> -> !tile
  %v = nv_tileaa.make_tiled_view %m : <?x128xbf16, strides = [128, 1]> -> !part
  %q, %t0 = nv_tileaa.tiled_load <weak> %u[%c0, %c0] : !tile[i32, i32] -> tensor<128x128xbf16>
  %out = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %none) -> (tensor<128x128xf32>) : i32 {
    %k, %t1 = nv_tileaa.tiled_load <weak> %v[%i, %c0] : !part[i32, i32] -> tensor<64x128xbf16>
    %kt = nv_tileaa.permute %k [1, 0] : tensor<64x128xbf16> -> tensor<128x64xbf16>
    %s = nv_tileaa.dot %q, %kt, %zero : tensor<128x128xbf16>, tensor<128x64xbf16>, tensor<128x64xf32>
    %w = nv_tileaa.fp_cast %s : tensor<128x64xf32> -> tensor<128x64xbf16>
    %x, %t2 = nv_tileaa.tiled_load <weak> %v[%i, %c0] : !part[i32, i32] -> tensor<64x128xbf16>
    %o = nv_tileaa.dot %w, %x, %acc : tensor<128x64xbf16>, tensor<64x128xbf16>, tensor<128x128xf32>
    scf.yield %o : tensor<128x128xf32>
  }
  nv_tileaa.return
}

// A product whose left operand is computed from no dot is left to `tileaa-slice-dots`.
// CHECK-LABEL: nv_tileaa.func @other(
// CHECK-NOT: nv_tileaa.cat
// CHECK: return
nv_tileaa.func @other(%p: !nv_tileaa.ptr<bf16>, %rows: i32, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %m = nv_tileaa.make_memref %p, shape = [%rows : i32], strides = [] : <bf16> -> <?x128xbf16, strides = [128, 1]>
  %v = nv_tileaa.make_tiled_view %m : <?x128xbf16, strides = [128, 1]> -> !tile
  %q, %t0 = nv_tileaa.tiled_load <weak> %v[%c0, %c0] : !tile[i32, i32] -> tensor<128x128xbf16>
  %out:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %zero, %b = %zero) -> (tensor<128x128xf32>, tensor<128x128xf32>) : i32 {
    %k, %t1 = nv_tileaa.tiled_load <weak> %v[%i, %c0] : !tile[i32, i32] -> tensor<128x128xbf16>
    %s = nv_tileaa.dot %q, %k, %a : tensor<128x128xbf16>, tensor<128x128xbf16>, tensor<128x128xf32>
    %x, %t2 = nv_tileaa.tiled_load <weak> %v[%i, %c0] : !tile[i32, i32] -> tensor<128x128xbf16>
    %o = nv_tileaa.dot %q, %x, %b : tensor<128x128xbf16>, tensor<128x128xbf16>, tensor<128x128xf32>
    scf.yield %s, %o : tensor<128x128xf32>, tensor<128x128xf32>
  }
  nv_tileaa.return
}

!columns = !nv_tileaa.tiled_view<tile = [128, 128], memref<?x128xbf16, strides = [128, 1]>, dim_map = [1, 0], padding = zero>

// Keys that are loaded as columns are loaded in memory order, so that they share a ring with the values.
// CHECK-LABEL: nv_tileaa.func @columns(
// SLICED: nv_tileaa.tiled_load <weak> %{{.*}} : <tile = [64, 128], memref<?x128xbf16, strides = [128, 1]>, padding = zero>[i64, i32]
// SLICED: nv_tileaa.permute
// CHECK: return
nv_tileaa.func @columns(%p: !nv_tileaa.ptr<bf16>, %rows: i32, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %m = nv_tileaa.make_memref %p, shape = [%rows : i32], strides = [] : <bf16> -> <?x128xbf16, strides = [128, 1]>
  %v = nv_tileaa.make_tiled_view %m : <?x128xbf16, strides = [128, 1]> -> !tile
  %u = nv_tileaa.make_tiled_view %m : <?x128xbf16, strides = [128, 1]> -> !columns
  %q, %t0 = nv_tileaa.tiled_load <weak> %v[%c0, %c0] : !tile[i32, i32] -> tensor<128x128xbf16>
  %out = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<128x128xf32>) : i32 {
    %k, %t1 = nv_tileaa.tiled_load <weak> %u[%c0, %i] : !columns[i32, i32] -> tensor<128x128xbf16>
    %s = nv_tileaa.dot %q, %k, %zero : tensor<128x128xbf16>, tensor<128x128xbf16>, tensor<128x128xf32>
    %w = nv_tileaa.fp_cast %s : tensor<128x128xf32> -> tensor<128x128xbf16>
    %x, %t2 = nv_tileaa.tiled_load <weak> %v[%i, %c0] : !tile[i32, i32] -> tensor<128x128xbf16>
    %o = nv_tileaa.dot %w, %x, %acc : tensor<128x128xbf16>, tensor<128x128xbf16>, tensor<128x128xf32>
    scf.yield %o : tensor<128x128xf32>
  }
  nv_tileaa.return
}

!wide = !nv_tileaa.tiled_view<tile = [64, 256], memref<?x256xbf16, strides = [256, 1]>, padding = zero>
!rows = !nv_tileaa.tiled_view<tile = [128, 256], memref<?x256xbf16, strides = [256, 1]>, padding = zero>

// The queries stay in shared memory, because the accumulators leave no registers for them: 35 KB are left, for quarters.
// CHECK-LABEL: nv_tileaa.func @deep(
// SLICED-COUNT-4: nv_tileaa.dot {{.*}} tensor<256x16xbf16>, tensor<128x16xf32>
// SLICED: nv_tileaa.cat {{.*}} -> tensor<128x32xf32>
// SLICED: nv_tileaa.cat {{.*}} -> tensor<128x32xf32>
// SLICED: nv_tileaa.cat {{.*}} -> tensor<128x64xf32>
// SLICED-COUNT-4: nv_tileaa.dot {{.*}} tensor<128x16xbf16>, tensor<16x256xbf16>
// CHECK: return
nv_tileaa.func @deep(%p: !nv_tileaa.ptr<bf16>, %rows: i32, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<128x256xf32>
  %none = arith.constant dense<0.0> : tensor<128x64xf32>
  %m = nv_tileaa.make_memref %p, shape = [%rows : i32], strides = [] : <bf16> -> <?x256xbf16, strides = [256, 1]>
  %v = nv_tileaa.make_tiled_view %m : <?x256xbf16, strides = [256, 1]> -> !wide
  %u = nv_tileaa.make_tiled_view %m : <?x256xbf16, strides = [256, 1]> -> !rows
  %q, %t0 = nv_tileaa.tiled_load <weak> %u[%c0, %c0] : !rows[i32, i32] -> tensor<128x256xbf16>
  %out = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<128x256xf32>) : i32 {
    %k, %t1 = nv_tileaa.tiled_load <weak> %v[%i, %c0] : !wide[i32, i32] -> tensor<64x256xbf16>
    %kt = nv_tileaa.permute %k [1, 0] : tensor<64x256xbf16> -> tensor<256x64xbf16>
    %s = nv_tileaa.dot %q, %kt, %none : tensor<128x256xbf16>, tensor<256x64xbf16>, tensor<128x64xf32>
    %w = nv_tileaa.fp_cast %s : tensor<128x64xf32> -> tensor<128x64xbf16>
    %x, %t2 = nv_tileaa.tiled_load <weak> %v[%i, %c0] : !wide[i32, i32] -> tensor<64x256xbf16>
    %o = nv_tileaa.dot %w, %x, %acc : tensor<128x64xbf16>, tensor<64x256xbf16>, tensor<128x256xf32>
    scf.yield %o : tensor<128x256xf32>
  }
  nv_tileaa.return
}

!small_columns = !nv_tileaa.tiled_view<tile = [128, 64], memref<?x128xbf16, strides = [128, 1]>, dim_map = [1, 0], padding = zero>

// Six tiles of 64 keys fit. If a producer loads them, keys are loaded in memory order and share a ring with the values.
// CHECK-LABEL: nv_tileaa.func @small_columns(
// ORDERED: scf.for %[[I:.*]] = {{.*}} iter_args
// ORDERED: %[[K:.*]], %{{.*}} = nv_tileaa.tiled_load <weak> %{{.*}}[%[[I]], %c0_i32] : <tile = [64, 128], memref<?x128xbf16, strides = [128, 1]>, padding = zero>[i32, i32]
// ORDERED: %[[T:.*]] = nv_tileaa.permute %[[K]] [1, 0]
// ORDERED: nv_tileaa.dot %{{.*}}, %[[T]], %cst
// CHECK-NOT: nv_tileaa.cat
// CHECK: return
nv_tileaa.func @small_columns(%p: !nv_tileaa.ptr<bf16>, %rows: i32, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %none = arith.constant dense<0.0> : tensor<128x64xf32>
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %m = nv_tileaa.make_memref %p, shape = [%rows : i32], strides = [] : <bf16> -> <?x128xbf16, strides = [128, 1]>
  %v = nv_tileaa.make_tiled_view %m : <?x128xbf16, strides = [128, 1]> -> !part
  %u = nv_tileaa.make_tiled_view %m : <?x128xbf16, strides = [128, 1]> -> !small_columns
  %w0 = nv_tileaa.make_tiled_view %m : <?x128xbf16, strides = [128, 1]> -> !tile
  %q, %t0 = nv_tileaa.tiled_load <weak> %w0[%c0, %c0] : !tile[i32, i32] -> tensor<128x128xbf16>
  %out = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<128x128xf32>) : i32 {
    %k, %t1 = nv_tileaa.tiled_load <weak> %u[%c0, %i] : !small_columns[i32, i32] -> tensor<128x64xbf16>
    %s = nv_tileaa.dot %q, %k, %none : tensor<128x128xbf16>, tensor<128x64xbf16>, tensor<128x64xf32>
    %w = nv_tileaa.fp_cast %s : tensor<128x64xf32> -> tensor<128x64xbf16>
    %x, %t2 = nv_tileaa.tiled_load <weak> %v[%i, %c0] : !part[i32, i32] -> tensor<64x128xbf16>
    %o = nv_tileaa.dot %w, %x, %acc : tensor<128x64xbf16>, tensor<64x128xbf16>, tensor<128x128xf32>
    scf.yield %o : tensor<128x128xf32>
  }
  nv_tileaa.return
}
