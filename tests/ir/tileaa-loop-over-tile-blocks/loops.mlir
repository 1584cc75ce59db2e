// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileaa-loop-over-tile-blocks{compute-capability=sm_90})' | FileCheck %s
// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileaa-loop-over-tile-blocks{compute-capability=sm_100})' | FileCheck %s --check-prefix=OTHERS

// The first CTAs run all tile blocks of large grids, if the loop is short. Views stay before the loop.
// CHECK-LABEL: nv_tileaa.func @rows(
// CHECK: %[[VC:.*]] = nv_tileaa.make_tiled_view {{.*}} -> <tile = [128, 128]
// CHECK: %[[MOST:.*]] = arith.constant 104 : i32
// CHECK: %[[MANY:.*]] = arith.cmpi ule, %arg3, %[[MOST]] : i32
// CHECK: %[[COUNT:.*]] = nv_tileaa.num_programs_of_cta %[[MANY]]
// CHECK: scf.for %[[I:.*]] = %{{.*}} to %[[COUNT]] step
// CHECK: %x, %y, %z = nv_tileaa.program_of_cta %[[I]], %[[MANY]]
// CHECK: scf.for
// CHECK: nv_tileaa.tiled_load <weak> %{{.*}}[%x,
// CHECK: nv_tileaa.tiled_load <weak> %{{.*}}, %y]
// CHECK: nv_tileaa.dot
// CHECK: nv_tileaa.tiled_store <weak> %{{.*}}, %[[VC]][%x, %y]
// CHECK: nv_tileaa.return
// OTHERS-LABEL: nv_tileaa.func @rows(
// OTHERS-NOT: num_programs_of_cta
nv_tileaa.func @rows(%a: !nv_tileaa.ptr<f16>, %b: !nv_tileaa.ptr<f16>, %c: !nv_tileaa.ptr<f32>, %n: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %init = arith.constant dense<0.0> : tensor<128x128xf32>
  %pa = nv_tileaa.assume #cuda_tile.div_by<16>, %a : !nv_tileaa.ptr<f16>
  %pb = nv_tileaa.assume #cuda_tile.div_by<16>, %b : !nv_tileaa.ptr<f16>
  %ma = nv_tileaa.make_memref %pa, shape = [%n : i32], strides = [] : <f16> -> <?x4096xf16, strides = [4096, 1]>
  %mb = nv_tileaa.make_memref %pb, shape = [%n : i32], strides = [] : <f16> -> <?x4096xf16, strides = [4096, 1]>
  %mc = nv_tileaa.make_memref %c, shape = [%n : i32], strides = [] : <f32> -> <?x4096xf32, strides = [4096, 1]>
  %va = nv_tileaa.make_tiled_view %ma : <?x4096xf16, strides = [4096, 1]> -> <tile = [128, 64], memref<?x4096xf16, strides = [4096, 1]>, padding = zero>
  %vb = nv_tileaa.make_tiled_view %mb : <?x4096xf16, strides = [4096, 1]> -> <tile = [64, 128], memref<?x4096xf16, strides = [4096, 1]>, padding = zero>
  %vc = nv_tileaa.make_tiled_view %mc : <?x4096xf32, strides = [4096, 1]> -> <tile = [128, 128], memref<?x4096xf32, strides = [4096, 1]>>
  %x, %y, %z = nv_tileaa.get_program_id
  %sum = scf.for %k = %zero to %n step %one iter_args(%acc = %init) -> (tensor<128x128xf32>) : i32 {
    %l, %tl = nv_tileaa.tiled_load <weak> %va[%x, %k] : <tile = [128, 64], memref<?x4096xf16, strides = [4096, 1]>, padding = zero>[i32, i32] -> tensor<128x64xf16>
    %r, %tr = nv_tileaa.tiled_load <weak> %vb[%k, %y] : <tile = [64, 128], memref<?x4096xf16, strides = [4096, 1]>, padding = zero>[i32, i32] -> tensor<64x128xf16>
    %d = nv_tileaa.dot %l, %r, %acc : tensor<128x64xf16>, tensor<64x128xf16>, tensor<128x128xf32>
    scf.yield %d : tensor<128x128xf32>
  }
  %t = nv_tileaa.tiled_store <weak> %sum, %vc[%x, %y] : tensor<128x128xf32>, <tile = [128, 128], memref<?x4096xf32, strides = [4096, 1]>>[i32, i32]
  nv_tileaa.return
}

// A known number of iterations needs no test.
// CHECK-LABEL: nv_tileaa.func @known(
// CHECK: %[[MANY:.*]] = arith.constant true
// CHECK: nv_tileaa.num_programs_of_cta %[[MANY]]
nv_tileaa.func @known(%a: !nv_tileaa.ptr<f16>, %b: !nv_tileaa.ptr<f16>, %c: !nv_tileaa.ptr<f32>, %n: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %all = arith.constant 16 : i32
  %init = arith.constant dense<0.0> : tensor<128x128xf32>
  %pa = nv_tileaa.assume #cuda_tile.div_by<16>, %a : !nv_tileaa.ptr<f16>
  %pb = nv_tileaa.assume #cuda_tile.div_by<16>, %b : !nv_tileaa.ptr<f16>
  %ma = nv_tileaa.make_memref %pa, shape = [%n : i32], strides = [] : <f16> -> <?x4096xf16, strides = [4096, 1]>
  %mb = nv_tileaa.make_memref %pb, shape = [%n : i32], strides = [] : <f16> -> <?x4096xf16, strides = [4096, 1]>
  %mc = nv_tileaa.make_memref %c, shape = [%n : i32], strides = [] : <f32> -> <?x4096xf32, strides = [4096, 1]>
  %va = nv_tileaa.make_tiled_view %ma : <?x4096xf16, strides = [4096, 1]> -> <tile = [128, 64], memref<?x4096xf16, strides = [4096, 1]>, padding = zero>
  %vb = nv_tileaa.make_tiled_view %mb : <?x4096xf16, strides = [4096, 1]> -> <tile = [64, 128], memref<?x4096xf16, strides = [4096, 1]>, padding = zero>
  %vc = nv_tileaa.make_tiled_view %mc : <?x4096xf32, strides = [4096, 1]> -> <tile = [128, 128], memref<?x4096xf32, strides = [4096, 1]>>
  %x, %y, %z = nv_tileaa.get_program_id
  %sum = scf.for %k = %zero to %all step %one iter_args(%acc = %init) -> (tensor<128x128xf32>) : i32 {
    %l, %tl = nv_tileaa.tiled_load <weak> %va[%x, %k] : <tile = [128, 64], memref<?x4096xf16, strides = [4096, 1]>, padding = zero>[i32, i32] -> tensor<128x64xf16>
    %r, %tr = nv_tileaa.tiled_load <weak> %vb[%k, %y] : <tile = [64, 128], memref<?x4096xf16, strides = [4096, 1]>, padding = zero>[i32, i32] -> tensor<64x128xf16>
    %d = nv_tileaa.dot %l, %r, %acc : tensor<128x64xf16>, tensor<64x128xf16>, tensor<128x128xf32>
    scf.yield %d : tensor<128x128xf32>
  }
  %t = nv_tileaa.tiled_store <weak> %sum, %vc[%x, %y] : tensor<128x128xf32>, <tile = [128, 128], memref<?x4096xf32, strides = [4096, 1]>>[i32, i32]
  nv_tileaa.return
}

// The iterations of two loops are added.
// CHECK-LABEL: nv_tileaa.func @two_loops(
// CHECK: %[[BETWEEN:.*]] = arith.subi %arg3, %{{.*}} : i32
// CHECK: %[[TRIPS:.*]] = arith.divui
// CHECK: %[[A:.*]] = arith.extui %arg3 : i32 to i64
// CHECK: %[[B:.*]] = arith.extui %[[TRIPS]] : i32 to i64
// CHECK: %[[ALL:.*]] = arith.addi %[[A]], %[[B]] : i64
// CHECK: %[[MANY:.*]] = arith.cmpi ule, %[[ALL]], %{{.*}} : i64
// CHECK: nv_tileaa.num_programs_of_cta %[[MANY]]
nv_tileaa.func @two_loops(%a: !nv_tileaa.ptr<f16>, %b: !nv_tileaa.ptr<f16>, %c: !nv_tileaa.ptr<f32>, %n: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %two = arith.constant 2 : i32
  %init = arith.constant dense<0.0> : tensor<128x128xf32>
  %pa = nv_tileaa.assume #cuda_tile.div_by<16>, %a : !nv_tileaa.ptr<f16>
  %pb = nv_tileaa.assume #cuda_tile.div_by<16>, %b : !nv_tileaa.ptr<f16>
  %ma = nv_tileaa.make_memref %pa, shape = [%n : i32], strides = [] : <f16> -> <?x4096xf16, strides = [4096, 1]>
  %mb = nv_tileaa.make_memref %pb, shape = [%n : i32], strides = [] : <f16> -> <?x4096xf16, strides = [4096, 1]>
  %mc = nv_tileaa.make_memref %c, shape = [%n : i32], strides = [] : <f32> -> <?x4096xf32, strides = [4096, 1]>
  %va = nv_tileaa.make_tiled_view %ma : <?x4096xf16, strides = [4096, 1]> -> <tile = [128, 64], memref<?x4096xf16, strides = [4096, 1]>, padding = zero>
  %vb = nv_tileaa.make_tiled_view %mb : <?x4096xf16, strides = [4096, 1]> -> <tile = [64, 128], memref<?x4096xf16, strides = [4096, 1]>, padding = zero>
  %vc = nv_tileaa.make_tiled_view %mc : <?x4096xf32, strides = [4096, 1]> -> <tile = [128, 128], memref<?x4096xf32, strides = [4096, 1]>>
  %x, %y, %z = nv_tileaa.get_program_id
  %sum = scf.for %k = %zero to %n step %one iter_args(%acc = %init) -> (tensor<128x128xf32>) : i32 {
    %l, %tl = nv_tileaa.tiled_load <weak> %va[%x, %k] : <tile = [128, 64], memref<?x4096xf16, strides = [4096, 1]>, padding = zero>[i32, i32] -> tensor<128x64xf16>
    %r, %tr = nv_tileaa.tiled_load <weak> %vb[%k, %y] : <tile = [64, 128], memref<?x4096xf16, strides = [4096, 1]>, padding = zero>[i32, i32] -> tensor<64x128xf16>
    %d = nv_tileaa.dot %l, %r, %acc : tensor<128x64xf16>, tensor<64x128xf16>, tensor<128x128xf32>
    scf.yield %d : tensor<128x128xf32>
  }
  %more = scf.for %k = %one to %n step %two iter_args(%acc = %sum) -> (tensor<128x128xf32>) : i32 {
    %l, %tl = nv_tileaa.tiled_load <weak> %va[%x, %k] : <tile = [128, 64], memref<?x4096xf16, strides = [4096, 1]>, padding = zero>[i32, i32] -> tensor<128x64xf16>
    %r, %tr = nv_tileaa.tiled_load <weak> %vb[%k, %y] : <tile = [64, 128], memref<?x4096xf16, strides = [4096, 1]>, padding = zero>[i32, i32] -> tensor<64x128xf16>
    %d = nv_tileaa.dot %l, %r, %acc : tensor<128x64xf16>, tensor<64x128xf16>, tensor<128x128xf32>
    scf.yield %d : tensor<128x128xf32>
  }
  %t = nv_tileaa.tiled_store <weak> %more, %vc[%x, %y] : tensor<128x128xf32>, <tile = [128, 128], memref<?x4096xf32, strides = [4096, 1]>>[i32, i32]
  nv_tileaa.return
}
