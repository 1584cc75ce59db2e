// RUN: tileiras-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(tileas-unspecialized-pipeline{compute-capability=sm_90})' | FileCheck %s
// RUN: tileiras-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(tileas-unspecialized-pipeline{compute-capability=sm_90},tileas-materialize-convert-layout{compute-capability=sm_90},tileas-order-memory,tileas-optimize-alloc-tensor,tileas-check-synchronization)' -o /dev/null

// A schedule that loads have is followed exactly: copies of the left operand start three iterations ahead, and those
// of the right operand two. The first group has no copy of the right operand. An iteration waits for its own copies,
// the later of which are in the second of three groups.
// CHECK-LABEL: nv_tileaa.func @uneven(
// CHECK: %[[A:.*]] = nv_tileas.alloc_tensor : <64x64xf16, {{.*}}, stages = 4>
// CHECK: %[[B:.*]] = nv_tileas.alloc_tensor : <64x64xf16, {{.*}}, stages = 3>
// CHECK: nv_tileas.memdesc_slot %[[A]][%c0
// CHECK: %[[A0:.*]], %{{.*}} = nv_tileas.async.tiled_load
// CHECK: %[[G0:.*]] = nv_tileas.async.commit of %[[A0]]{{$}}
// CHECK: nv_tileas.memdesc_slot %[[A]][%c1
// CHECK: %[[A1:.*]], %{{.*}} = nv_tileas.async.tiled_load
// CHECK: nv_tileas.memdesc_slot %[[B]][%c0
// CHECK: %[[B0:.*]], %{{.*}} = nv_tileas.async.tiled_load
// CHECK: %[[G1:.*]] = nv_tileas.async.commit of %[[A1]], %[[B0]]{{$}}
// CHECK: nv_tileas.memdesc_slot %[[A]][%c2
// CHECK: nv_tileas.memdesc_slot %[[B]][%c1
// CHECK: %[[G2:.*]] = nv_tileas.async.commit of %{{.*}}, %{{.*}}{{$}}
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}, %[[RA:.*]] = %c0{{.*}}, %[[WA:.*]] = %c3{{.*}}, %[[RB:.*]] = %c0{{.*}}, %[[WB:.*]] = %c2{{.*}}, %[[H0:.*]] = %[[G0]], %[[H1:.*]] = %[[G1]], %[[H2:.*]] = %[[G2]])
// CHECK-NEXT: nv_tileas.async.wait %[[H0]], %[[H1]] pending 1
// CHECK-NEXT: nv_tileas.barrier
// CHECK: nv_tileas.memdesc_slot %[[A]][%[[WA]]]
// CHECK: nv_tileas.memdesc_slot %[[B]][%[[WB]]]
// CHECK: %[[G3:.*]] = nv_tileas.async.commit
// CHECK: nv_tileas.memdesc_slot %[[A]][%[[RA]]]
// CHECK: nv_tileas.memdesc_slot %[[B]][%[[RB]]]
// CHECK: scf.yield {{.*}}, %[[H1]], %[[H2]], %[[G3]] :
// CHECK: nv_tileas.async.wait %{{.*}}, %{{.*}}, %{{.*}} pending 0
#l0 = #nv_tileas.layout<register = [1, 512, 8, 16, 1024], lane = [2, 4, 64, 128, 256], warp = [2048, 32]>
#l1 = #nv_tileas.layout<register = [1, 2, 4, 1024, 2048], lane = [8, 16, 32, 64, 128], warp = [256, 512]>
#l2 = #nv_tileas.layout<register = [1, 512, 8, 16, 32, 1024], lane = [2, 4, 64, 128, 256], warp = [2048, 0]>
#l3 = #nv_tileas.layout<register = [64, 512, 8, 1024, 2048, 16], lane = [128, 256, 1, 2, 4], warp = [0, 32]>
nv_tileaa.func @uneven(%arg0: !nv_tileaa.ptr<f16>, %arg1: !nv_tileaa.ptr<f32>, %arg2: i32, %arg3: i32) attributes {numWarps = 4 : i64} {
  %cst = arith.constant dense<0.000000e+00> : tensor<64x64xf32, #l0>
  %c1_i32 = arith.constant 1 : i32
  %c0_i32 = arith.constant 0 : i32
  %0 = nv_tileaa.assume #cuda_tile.div_by<16>, %arg0 : !nv_tileaa.ptr<f16>
  %1 = nv_tileaa.make_memref %0, shape = [%arg3 : i32], strides = [] : <f16> -> <?x256xf16, strides = [256, 1]>
  %2 = nv_tileaa.make_tiled_view %1 : <?x256xf16, strides = [256, 1]> -> <tile = [64, 64], memref<?x256xf16, strides = [256, 1]>, padding = zero>
  %3 = scf.for %arg4 = %c0_i32 to %arg2 step %c1_i32 iter_args(%arg5 = %cst) -> (tensor<64x64xf32, #l0>)  : i32 {
    %a, %ta = nv_tileas.tiled_load <weak> %2[%c0_i32, %arg4] vector 8 bounds <vector> in_bounds [false, true] {nv_tileas.ahead = 3 : i64} : <tile = [64, 64], memref<?x256xf16, strides = [256, 1]>, padding = zero>[i32, i32] -> tensor<64x64xf16, #l1>
    %b, %tb = nv_tileas.tiled_load <weak> %2[%arg4, %c0_i32] vector 8 bounds <vector> in_bounds [false, true] {nv_tileas.ahead = 2 : i64} : <tile = [64, 64], memref<?x256xf16, strides = [256, 1]>, padding = zero>[i32, i32] -> tensor<64x64xf16, #l1>
    %7 = nv_tileas.convert_layout %a : tensor<64x64xf16, #l1> -> tensor<64x64xf16, #l2>
    %8 = nv_tileas.convert_layout %b : tensor<64x64xf16, #l1> -> tensor<64x64xf16, #l3>
    %9 = nv_tileas.dot %7, %8, %arg5 by <sync, [16, 8, 16]> : tensor<64x64xf16, #l2>, tensor<64x64xf16, #l3>, tensor<64x64xf32, #l0>
    scf.yield %9 : tensor<64x64xf32, #l0>
  }
  %4 = nv_tileaa.make_memref %arg1, shape = [], strides = [] : <f32> -> <64x64xf32, strides = [64, 1]>
  %5 = nv_tileaa.make_tiled_view %4 : <64x64xf32, strides = [64, 1]> -> <tile = [64, 64], memref<64x64xf32, strides = [64, 1]>>
  %6 = nv_tileas.tiled_store <weak> %3, %5[%c0_i32, %c0_i32] vector 1 bounds <none> in_bounds [true, true] : tensor<64x64xf32, #l0>, <tile = [64, 64], memref<64x64xf32, strides = [64, 1]>>[i32, i32]
  nv_tileaa.return
}

// A load with distance 0 stays in its place.
// CHECK-LABEL: nv_tileaa.func @one(
// CHECK: nv_tileas.alloc_tensor : <64x64xf16, {{.*}}, stages = 2>
// CHECK-NOT: nv_tileas.alloc_tensor
// CHECK: scf.for
// CHECK: nv_tileas.async.tiled_load
// CHECK: nv_tileas.tiled_load
// CHECK: nv_tileas.local_load
nv_tileaa.func @one(%arg0: !nv_tileaa.ptr<f16>, %arg1: !nv_tileaa.ptr<f32>, %arg2: i32, %arg3: i32) attributes {numWarps = 4 : i64} {
  %cst = arith.constant dense<0.000000e+00> : tensor<64x64xf32, #l0>
  %c1_i32 = arith.constant 1 : i32
  %c0_i32 = arith.constant 0 : i32
  %0 = nv_tileaa.assume #cuda_tile.div_by<16>, %arg0 : !nv_tileaa.ptr<f16>
  %1 = nv_tileaa.make_memref %0, shape = [%arg3 : i32], strides = [] : <f16> -> <?x256xf16, strides = [256, 1]>
  %2 = nv_tileaa.make_tiled_view %1 : <?x256xf16, strides = [256, 1]> -> <tile = [64, 64], memref<?x256xf16, strides = [256, 1]>, padding = zero>
  %3 = scf.for %arg4 = %c0_i32 to %arg2 step %c1_i32 iter_args(%arg5 = %cst) -> (tensor<64x64xf32, #l0>)  : i32 {
    %a, %ta = nv_tileas.tiled_load <weak> %2[%c0_i32, %arg4] vector 8 bounds <vector> in_bounds [false, true] {nv_tileas.ahead = 1 : i64} : <tile = [64, 64], memref<?x256xf16, strides = [256, 1]>, padding = zero>[i32, i32] -> tensor<64x64xf16, #l1>
    %b, %tb = nv_tileas.tiled_load <weak> %2[%arg4, %c0_i32] vector 8 bounds <vector> in_bounds [false, true] {nv_tileas.ahead = 0 : i64} : <tile = [64, 64], memref<?x256xf16, strides = [256, 1]>, padding = zero>[i32, i32] -> tensor<64x64xf16, #l1>
    %7 = nv_tileas.convert_layout %a : tensor<64x64xf16, #l1> -> tensor<64x64xf16, #l2>
    %8 = nv_tileas.convert_layout %b : tensor<64x64xf16, #l1> -> tensor<64x64xf16, #l3>
    %9 = nv_tileas.dot %7, %8, %arg5 by <sync, [16, 8, 16]> : tensor<64x64xf16, #l2>, tensor<64x64xf16, #l3>, tensor<64x64xf32, #l0>
    scf.yield %9 : tensor<64x64xf32, #l0>
  }
  %4 = nv_tileaa.make_memref %arg1, shape = [], strides = [] : <f32> -> <64x64xf32, strides = [64, 1]>
  %5 = nv_tileaa.make_tiled_view %4 : <64x64xf32, strides = [64, 1]> -> <tile = [64, 64], memref<64x64xf32, strides = [64, 1]>>
  %6 = nv_tileas.tiled_store <weak> %3, %5[%c0_i32, %c0_i32] vector 1 bounds <none> in_bounds [true, true] : tensor<64x64xf32, #l0>, <tile = [64, 64], memref<64x64xf32, strides = [64, 1]>>[i32, i32]
  nv_tileaa.return
}

// -----

#l0 = #nv_tileas.layout<register = [1, 512, 8, 16, 1024], lane = [2, 4, 64, 128, 256], warp = [2048, 32]>
#l1 = #nv_tileas.layout<register = [1, 2, 4, 1024, 2048], lane = [8, 16, 32, 64, 128], warp = [256, 512]>
#l2 = #nv_tileas.layout<register = [1, 512, 8, 16, 32, 1024], lane = [2, 4, 64, 128, 256], warp = [2048, 0]>
#l3 = #nv_tileas.layout<register = [64, 512, 8, 1024, 2048, 16], lane = [128, 256, 1, 2, 4], warp = [0, 32]>
nv_tileaa.func @backwards(%arg0: !nv_tileaa.ptr<f16>, %arg1: !nv_tileaa.ptr<f32>, %arg2: i32, %arg3: i32) attributes {numWarps = 4 : i64} {
  %cst = arith.constant dense<0.000000e+00> : tensor<64x64xf32, #l0>
  %c1_i32 = arith.constant 1 : i32
  %c0_i32 = arith.constant 0 : i32
  %0 = nv_tileaa.assume #cuda_tile.div_by<16>, %arg0 : !nv_tileaa.ptr<f16>
  %1 = nv_tileaa.make_memref %0, shape = [%arg3 : i32], strides = [] : <f16> -> <?x256xf16, strides = [256, 1]>
  %2 = nv_tileaa.make_tiled_view %1 : <?x256xf16, strides = [256, 1]> -> <tile = [64, 64], memref<?x256xf16, strides = [256, 1]>, padding = zero>
  %3 = scf.for %arg4 = %c0_i32 to %arg2 step %c1_i32 iter_args(%arg5 = %cst) -> (tensor<64x64xf32, #l0>)  : i32 {
    // expected-error @+1 {{a copy cannot start -1 iterations ahead}}
    %a, %ta = nv_tileas.tiled_load <weak> %2[%c0_i32, %arg4] vector 8 bounds <vector> in_bounds [false, true] {nv_tileas.ahead = -1 : i64} : <tile = [64, 64], memref<?x256xf16, strides = [256, 1]>, padding = zero>[i32, i32] -> tensor<64x64xf16, #l1>
    %b, %tb = nv_tileas.tiled_load <weak> %2[%arg4, %c0_i32] vector 8 bounds <vector> in_bounds [false, true] {nv_tileas.ahead = 1 : i64} : <tile = [64, 64], memref<?x256xf16, strides = [256, 1]>, padding = zero>[i32, i32] -> tensor<64x64xf16, #l1>
    %7 = nv_tileas.convert_layout %a : tensor<64x64xf16, #l1> -> tensor<64x64xf16, #l2>
    %8 = nv_tileas.convert_layout %b : tensor<64x64xf16, #l1> -> tensor<64x64xf16, #l3>
    %9 = nv_tileas.dot %7, %8, %arg5 by <sync, [16, 8, 16]> : tensor<64x64xf16, #l2>, tensor<64x64xf16, #l3>, tensor<64x64xf32, #l0>
    scf.yield %9 : tensor<64x64xf32, #l0>
  }
  %4 = nv_tileaa.make_memref %arg1, shape = [], strides = [] : <f32> -> <64x64xf32, strides = [64, 1]>
  %5 = nv_tileaa.make_tiled_view %4 : <64x64xf32, strides = [64, 1]> -> <tile = [64, 64], memref<64x64xf32, strides = [64, 1]>>
  %6 = nv_tileas.tiled_store <weak> %3, %5[%c0_i32, %c0_i32] vector 1 bounds <none> in_bounds [true, true] : tensor<64x64xf32, #l0>, <tile = [64, 64], memref<64x64xf32, strides = [64, 1]>>[i32, i32]
  nv_tileaa.return
}

// -----

#l0 = #nv_tileas.layout<register = [1, 512, 8, 16, 1024], lane = [2, 4, 64, 128, 256], warp = [2048, 32]>
#l1 = #nv_tileas.layout<register = [1, 2, 4, 1024, 2048], lane = [8, 16, 32, 64, 128], warp = [256, 512]>
#l2 = #nv_tileas.layout<register = [1, 512, 8, 16, 32, 1024], lane = [2, 4, 64, 128, 256], warp = [2048, 0]>
#l3 = #nv_tileas.layout<register = [64, 512, 8, 1024, 2048, 16], lane = [128, 256, 1, 2, 4], warp = [0, 32]>
nv_tileaa.func @too_deep(%arg0: !nv_tileaa.ptr<f16>, %arg1: !nv_tileaa.ptr<f32>, %arg2: i32, %arg3: i32) attributes {numWarps = 4 : i64} {
  %cst = arith.constant dense<0.000000e+00> : tensor<64x64xf32, #l0>
  %c1_i32 = arith.constant 1 : i32
  %c0_i32 = arith.constant 0 : i32
  %0 = nv_tileaa.assume #cuda_tile.div_by<16>, %arg0 : !nv_tileaa.ptr<f16>
  %1 = nv_tileaa.make_memref %0, shape = [%arg3 : i32], strides = [] : <f16> -> <?x256xf16, strides = [256, 1]>
  %2 = nv_tileaa.make_tiled_view %1 : <?x256xf16, strides = [256, 1]> -> <tile = [64, 64], memref<?x256xf16, strides = [256, 1]>, padding = zero>
  // expected-error @+1 {{the schedule needs 352256 bytes of shared memory, but only 232448 are available}}
  %3 = scf.for %arg4 = %c0_i32 to %arg2 step %c1_i32 iter_args(%arg5 = %cst) -> (tensor<64x64xf32, #l0>)  : i32 {
    %a, %ta = nv_tileas.tiled_load <weak> %2[%c0_i32, %arg4] vector 8 bounds <vector> in_bounds [false, true] {nv_tileas.ahead = 40 : i64} : <tile = [64, 64], memref<?x256xf16, strides = [256, 1]>, padding = zero>[i32, i32] -> tensor<64x64xf16, #l1>
    %b, %tb = nv_tileas.tiled_load <weak> %2[%arg4, %c0_i32] vector 8 bounds <vector> in_bounds [false, true] {nv_tileas.ahead = 1 : i64} : <tile = [64, 64], memref<?x256xf16, strides = [256, 1]>, padding = zero>[i32, i32] -> tensor<64x64xf16, #l1>
    %7 = nv_tileas.convert_layout %a : tensor<64x64xf16, #l1> -> tensor<64x64xf16, #l2>
    %8 = nv_tileas.convert_layout %b : tensor<64x64xf16, #l1> -> tensor<64x64xf16, #l3>
    %9 = nv_tileas.dot %7, %8, %arg5 by <sync, [16, 8, 16]> : tensor<64x64xf16, #l2>, tensor<64x64xf16, #l3>, tensor<64x64xf32, #l0>
    scf.yield %9 : tensor<64x64xf32, #l0>
  }
  %4 = nv_tileaa.make_memref %arg1, shape = [], strides = [] : <f32> -> <64x64xf32, strides = [64, 1]>
  %5 = nv_tileaa.make_tiled_view %4 : <64x64xf32, strides = [64, 1]> -> <tile = [64, 64], memref<64x64xf32, strides = [64, 1]>>
  %6 = nv_tileas.tiled_store <weak> %3, %5[%c0_i32, %c0_i32] vector 1 bounds <none> in_bounds [true, true] : tensor<64x64xf32, #l0>, <tile = [64, 64], memref<64x64xf32, strides = [64, 1]>>[i32, i32]
  nv_tileaa.return
}

// -----

#l0 = #nv_tileas.layout<register = [1, 512, 8, 16, 1024], lane = [2, 4, 64, 128, 256], warp = [2048, 32]>
#l1 = #nv_tileas.layout<register = [1, 2, 4, 1024, 2048], lane = [8, 16, 32, 64, 128], warp = [256, 512]>
#l2 = #nv_tileas.layout<register = [1, 512, 8, 16, 32, 1024], lane = [2, 4, 64, 128, 256], warp = [2048, 0]>
#l3 = #nv_tileas.layout<register = [64, 512, 8, 1024, 2048, 16], lane = [128, 256, 1, 2, 4], warp = [0, 32]>
// The scheduler considers each loop separately. The rings of an inner loop already exist, so copies of the outer loop
// start fewer iterations ahead, so that all rings fit.
// CHECK-LABEL: nv_tileaa.func @beside_an_inner_ring(
// CHECK: nv_tileas.alloc_tensor : <64x64xf16, {{.*}}, stages = 3>
// CHECK: nv_tileas.alloc_tensor : <64x64xf16, {{.*}}, stages = 3>
// CHECK: scf.for
// CHECK: nv_tileas.alloc_tensor : <64x64xf16, {{.*}}, stages = 11>
// CHECK: nv_tileas.alloc_tensor : <64x64xf16, {{.*}}, stages = 11>
// CHECK: scf.for
nv_tileaa.func @beside_an_inner_ring(%arg0: !nv_tileaa.ptr<f16>, %arg1: !nv_tileaa.ptr<f32>, %arg2: i32, %arg3: i32) attributes {numWarps = 4 : i64} {
  %cst = arith.constant dense<0.000000e+00> : tensor<64x64xf32, #l0>
  %c1_i32 = arith.constant 1 : i32
  %c0_i32 = arith.constant 0 : i32
  %0 = nv_tileaa.assume #cuda_tile.div_by<16>, %arg0 : !nv_tileaa.ptr<f16>
  %1 = nv_tileaa.make_memref %0, shape = [%arg3 : i32], strides = [] : <f16> -> <?x256xf16, strides = [256, 1]>
  %2 = nv_tileaa.make_tiled_view %1 : <?x256xf16, strides = [256, 1]> -> <tile = [64, 64], memref<?x256xf16, strides = [256, 1]>, padding = zero>
  %3 = scf.for %arg4 = %c0_i32 to %arg2 step %c1_i32 iter_args(%arg5 = %cst) -> (tensor<64x64xf32, #l0>)  : i32 {
    %a, %ta = nv_tileas.tiled_load <weak> %2[%c0_i32, %arg4] vector 8 bounds <vector> in_bounds [false, true] {nv_tileas.ahead = 3 : i64} : <tile = [64, 64], memref<?x256xf16, strides = [256, 1]>, padding = zero>[i32, i32] -> tensor<64x64xf16, #l1>
    %b, %tb = nv_tileas.tiled_load <weak> %2[%arg4, %c0_i32] vector 8 bounds <vector> in_bounds [false, true] {nv_tileas.ahead = 3 : i64} : <tile = [64, 64], memref<?x256xf16, strides = [256, 1]>, padding = zero>[i32, i32] -> tensor<64x64xf16, #l1>
    %7 = nv_tileas.convert_layout %a : tensor<64x64xf16, #l1> -> tensor<64x64xf16, #l2>
    %8 = nv_tileas.convert_layout %b : tensor<64x64xf16, #l1> -> tensor<64x64xf16, #l3>
    %9 = nv_tileas.dot %7, %8, %arg5 by <sync, [16, 8, 16]> : tensor<64x64xf16, #l2>, tensor<64x64xf16, #l3>, tensor<64x64xf32, #l0>
    %13 = scf.for %arg6 = %c0_i32 to %arg2 step %c1_i32 iter_args(%arg7 = %9) -> (tensor<64x64xf32, #l0>)  : i32 {
      %c, %tc = nv_tileas.tiled_load <weak> %2[%c0_i32, %arg6] vector 8 bounds <vector> in_bounds [false, true] {nv_tileas.ahead = 10 : i64} : <tile = [64, 64], memref<?x256xf16, strides = [256, 1]>, padding = zero>[i32, i32] -> tensor<64x64xf16, #l1>
      %d, %td = nv_tileas.tiled_load <weak> %2[%arg6, %c0_i32] vector 8 bounds <vector> in_bounds [false, true] {nv_tileas.ahead = 10 : i64} : <tile = [64, 64], memref<?x256xf16, strides = [256, 1]>, padding = zero>[i32, i32] -> tensor<64x64xf16, #l1>
      %10 = nv_tileas.convert_layout %c : tensor<64x64xf16, #l1> -> tensor<64x64xf16, #l2>
      %11 = nv_tileas.convert_layout %d : tensor<64x64xf16, #l1> -> tensor<64x64xf16, #l3>
      %12 = nv_tileas.dot %10, %11, %arg7 by <sync, [16, 8, 16]> : tensor<64x64xf16, #l2>, tensor<64x64xf16, #l3>, tensor<64x64xf32, #l0>
      scf.yield %12 : tensor<64x64xf32, #l0>
    }
    scf.yield %13 : tensor<64x64xf32, #l0>
  }
  %4 = nv_tileaa.make_memref %arg1, shape = [], strides = [] : <f32> -> <64x64xf32, strides = [64, 1]>
  %5 = nv_tileaa.make_tiled_view %4 : <64x64xf32, strides = [64, 1]> -> <tile = [64, 64], memref<64x64xf32, strides = [64, 1]>>
  %6 = nv_tileas.tiled_store <weak> %3, %5[%c0_i32, %c0_i32] vector 1 bounds <none> in_bounds [true, true] : tensor<64x64xf32, #l0>, <tile = [64, 64], memref<64x64xf32, strides = [64, 1]>>[i32, i32]
  nv_tileaa.return
}
