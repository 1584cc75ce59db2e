// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileaa-transpose-dots{compute-capability=sm_100})' | FileCheck %s
// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileaa-transpose-dots{compute-capability=sm_90})' | FileCheck %s
// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileaa-transpose-dots{compute-capability=sm_120})' | FileCheck %s --check-prefix=OTHERS

// A right operand that is computed becomes the left one. The accumulator that the loop carries is transposed, its flags
// are exchanged, and the result is transposed back. Other targets keep the program.
// CHECK-LABEL: nv_tileaa.func @weights(
// CHECK: %[[ZERO:.*]] = arith.constant dense<0> : tensor<128x32xi32>
// CHECK: %[[SUM:.*]] = scf.for {{.*}} iter_args(%[[ACC:.*]] = %[[ZERO]]) -> (tensor<128x32xi32>)
// CHECK: %[[X:.*]], %{{.*}} = nv_tileaa.tiled_load
// CHECK: %[[W:.*]] = arith.andi
// CHECK-NOT: permute %[[W]]
// CHECK: %[[R:.*]] = nv_tileaa.permute %[[X]] [1, 0] : tensor<32x64xi8> -> tensor<64x32xi8>
// CHECK: %[[NEXT:.*]] = nv_tileaa.dot %[[W]], %[[R]], %[[ACC]] lhs_unsigned : tensor<128x64xi8>, tensor<64x32xi8>, tensor<128x32xi32>
// CHECK: scf.yield %[[NEXT]] : tensor<128x32xi32>
// CHECK: nv_tileaa.permute %[[SUM]] [1, 0] : tensor<128x32xi32> -> tensor<32x128xi32>
// OTHERS-LABEL: nv_tileaa.func @weights(
// OTHERS: nv_tileaa.dot {{.*}} rhs_unsigned : tensor<32x64xi8>, tensor<64x128xi8>, tensor<32x128xi32>
nv_tileaa.func @weights(%x: !nv_tileaa.ptr<i8>, %w: !nv_tileaa.ptr<i8>, %c: !nv_tileaa.ptr<i32>, %n: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %mask = arith.constant dense<15> : tensor<128x64xi8>
  %init = arith.constant dense<0> : tensor<32x128xi32>
  %mx = nv_tileaa.make_memref %x, shape = [%n : i32], strides = [] : <i8> -> <?x256xi8, strides = [256, 1]>
  %mw = nv_tileaa.make_memref %w, shape = [%n : i32], strides = [] : <i8> -> <?x256xi8, strides = [256, 1]>
  %mc = nv_tileaa.make_memref %c, shape = [%n : i32], strides = [] : <i32> -> <?x128xi32, strides = [128, 1]>
  %vx = nv_tileaa.make_tiled_view %mx : <?x256xi8, strides = [256, 1]> -> <tile = [32, 64], memref<?x256xi8, strides = [256, 1]>, padding = zero>
  %vw = nv_tileaa.make_tiled_view %mw : <?x256xi8, strides = [256, 1]> -> <tile = [128, 64], memref<?x256xi8, strides = [256, 1]>, padding = zero>
  %vc = nv_tileaa.make_tiled_view %mc : <?x128xi32, strides = [128, 1]> -> <tile = [32, 128], memref<?x128xi32, strides = [128, 1]>>
  %sum = scf.for %k = %zero to %n step %one iter_args(%acc = %init) -> (tensor<32x128xi32>) : i32 {
    %a, %ta = nv_tileaa.tiled_load <weak> %vx[%zero, %k] : <tile = [32, 64], memref<?x256xi8, strides = [256, 1]>, padding = zero>[i32, i32] -> tensor<32x64xi8>
    %b, %tb = nv_tileaa.tiled_load <weak> %vw[%zero, %k] : <tile = [128, 64], memref<?x256xi8, strides = [256, 1]>, padding = zero>[i32, i32] -> tensor<128x64xi8>
    %low = arith.andi %b, %mask : tensor<128x64xi8>
    %turned = nv_tileaa.permute %low [1, 0] : tensor<128x64xi8> -> tensor<64x128xi8>
    %next = nv_tileaa.dot %a, %turned, %acc rhs_unsigned : tensor<32x64xi8>, tensor<64x128xi8>, tensor<32x128xi32>
    scf.yield %next : tensor<32x128xi32>
  }
  %t = nv_tileaa.tiled_store <weak> %sum, %vc[%zero, %zero] : tensor<32x128xi32>, <tile = [32, 128], memref<?x128xi32, strides = [128, 1]>>[i32, i32]
  nv_tileaa.return
}

// Both operands are loaded, so they stay.
// CHECK-LABEL: nv_tileaa.func @loaded(
// CHECK: nv_tileaa.dot %{{.*}}, %{{.*}}, %{{.*}} : tensor<32x64xi8>, tensor<64x128xi8>, tensor<32x128xi32>
nv_tileaa.func @loaded(%x: !nv_tileaa.ptr<i8>, %w: !nv_tileaa.ptr<i8>, %c: !nv_tileaa.ptr<i32>, %n: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %init = arith.constant dense<0> : tensor<32x128xi32>
  %mx = nv_tileaa.make_memref %x, shape = [%n : i32], strides = [] : <i8> -> <?x256xi8, strides = [256, 1]>
  %mw = nv_tileaa.make_memref %w, shape = [%n : i32], strides = [] : <i8> -> <?x256xi8, strides = [256, 1]>
  %mc = nv_tileaa.make_memref %c, shape = [%n : i32], strides = [] : <i32> -> <?x128xi32, strides = [128, 1]>
  %vx = nv_tileaa.make_tiled_view %mx : <?x256xi8, strides = [256, 1]> -> <tile = [32, 64], memref<?x256xi8, strides = [256, 1]>, padding = zero>
  %vw = nv_tileaa.make_tiled_view %mw : <?x256xi8, strides = [256, 1]> -> <tile = [128, 64], memref<?x256xi8, strides = [256, 1]>, padding = zero>
  %vc = nv_tileaa.make_tiled_view %mc : <?x128xi32, strides = [128, 1]> -> <tile = [32, 128], memref<?x128xi32, strides = [128, 1]>>
  %sum = scf.for %k = %zero to %n step %one iter_args(%acc = %init) -> (tensor<32x128xi32>) : i32 {
    %a, %ta = nv_tileaa.tiled_load <weak> %vx[%zero, %k] : <tile = [32, 64], memref<?x256xi8, strides = [256, 1]>, padding = zero>[i32, i32] -> tensor<32x64xi8>
    %b, %tb = nv_tileaa.tiled_load <weak> %vw[%zero, %k] : <tile = [128, 64], memref<?x256xi8, strides = [256, 1]>, padding = zero>[i32, i32] -> tensor<128x64xi8>
    %turned = nv_tileaa.permute %b [1, 0] : tensor<128x64xi8> -> tensor<64x128xi8>
    %next = nv_tileaa.dot %a, %turned, %acc : tensor<32x64xi8>, tensor<64x128xi8>, tensor<32x128xi32>
    scf.yield %next : tensor<32x128xi32>
  }
  %t = nv_tileaa.tiled_store <weak> %sum, %vc[%zero, %zero] : tensor<32x128xi32>, <tile = [32, 128], memref<?x128xi32, strides = [128, 1]>>[i32, i32]
  nv_tileaa.return
}
