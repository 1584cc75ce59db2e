// RUN: tileiras-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(convert-tileaa-to-tileas{num-warps=1})' | FileCheck %s

// Elements are along one dimension and numbers along the other; ones are added along the first.
// CHECK-LABEL: nv_tileaa.func @narrow(
// CHECK: %[[X:.*]] = arith.extui %{{.*}} : tensor<32xi8, {{.*}}> to tensor<32xi32
// CHECK: %[[R:.*]] = nv_tileas.make_range : tensor<16xi32
// CHECK: %[[E:.*]] = arith.cmpi eq, %{{.*}}, %{{.*}} : tensor<32x16xi32
// CHECK: %[[M:.*]] = arith.andi %[[E]], %{{.*}} : tensor<32x16xi1
// CHECK: %[[O:.*]] = arith.extui %[[M]] : tensor<32x16xi1, {{.*}}> to tensor<32x16xi64
// CHECK: nv_tileas.reduce %[[O]] dim 0 identities [0] : {{.*}} -> tensor<16xi64
// CHECK-NOT: histogram
nv_tileaa.func @narrow(%p: !nv_tileaa.ptr<i64>) {
  %x = nv_tileaa.make_range : tensor<32xi8>
  %m = arith.trunci %x : tensor<32xi8> to tensor<32xi1>
  %h = nv_tileaa.histogram %x mask %m : tensor<32xi1> : tensor<32xi8> -> tensor<16xi64>
  %r = nv_tileaa.make_range : tensor<16xi32>
  %q = nv_tileaa.splat %p : !nv_tileaa.ptr<i64> -> tensor<16x!nv_tileaa.ptr<i64>>
  %a = nv_tileaa.addptr %q, %r : tensor<16x!nv_tileaa.ptr<i64>>, tensor<16xi32>
  %t = nv_tileaa.store <weak> %a, %h : tensor<16x!nv_tileaa.ptr<i64>>, tensor<16xi64>
  nv_tileaa.return
}
// -----
nv_tileaa.func @huge() {
  %x = nv_tileaa.make_range : tensor<65536xi32>
  // expected-error @below {{a histogram compares each element with each bin, and these 33554432 pairs exceed the limit of 16777216 elements per tensor}}
  %h = nv_tileaa.histogram %x : tensor<65536xi32> -> tensor<512xi32>
  nv_tileaa.return
}
