// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileas-materialize-convert-layout)' | FileCheck %s

#rows = #nv_tileas.layout<register = [1, 2, 4, 1024, 2048], lane = [8, 16, 32, 64, 128], warp = [256, 512]>
#columns = #nv_tileas.layout<register = [64, 128, 256, 16, 32], lane = [512, 1024, 2048, 1, 2], warp = [4, 8]>

// Both conversions are merged: one barrier before the stores, and one after them.
// CHECK-LABEL: nv_tileaa.func @two(
// CHECK: scf.for
// CHECK: %[[M:.*]] = nv_tileas.alloc_tensor
// CHECK-NEXT: nv_tileas.barrier {nv_tileas.reuse}
// CHECK-NEXT: nv_tileas.local_store %{{.*}}, %[[M]]
// CHECK-NEXT: %[[N:.*]] = nv_tileas.alloc_tensor
// CHECK-NEXT: nv_tileas.local_store %{{.*}}, %[[N]]
// CHECK-NEXT: nv_tileas.barrier
// CHECK-NEXT: %[[X:.*]] = nv_tileas.local_load %[[M]]
// CHECK-NEXT: %[[Y:.*]] = nv_tileas.local_load %[[N]]
// CHECK-NEXT: arith.addf %[[X]], %[[Y]]
nv_tileaa.func @two(%n: i32) attributes {numWarps = 4 : i64} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %a = arith.constant dense<1.0> : tensor<64x64xf16, #rows>
  %b = arith.constant dense<2.0> : tensor<64x64xf16, #rows>
  %zero = arith.constant dense<0.0> : tensor<64x64xf16, #columns>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %zero) -> (tensor<64x64xf16, #columns>) : i32 {
    %x = nv_tileas.convert_layout %a : tensor<64x64xf16, #rows> -> tensor<64x64xf16, #columns>
    %y = nv_tileas.convert_layout %b : tensor<64x64xf16, #rows> -> tensor<64x64xf16, #columns>
    %z = arith.addf %x, %y : tensor<64x64xf16, #columns>
    scf.yield %z : tensor<64x64xf16, #columns>
  }
  nv_tileaa.return
}

// Uses of the first conversion between the two come after both.
// CHECK-LABEL: nv_tileaa.func @computed(
// CHECK: nv_tileas.local_store %{{.*}}, %[[M:.*]] vector
// CHECK-NEXT: %[[N:.*]] = nv_tileas.alloc_tensor
// CHECK-NEXT: nv_tileas.local_store %{{.*}}, %[[N]]
// CHECK-NEXT: nv_tileas.barrier
// CHECK-NEXT: %[[X:.*]] = nv_tileas.local_load %[[M]]
// CHECK-NEXT: %[[W:.*]] = arith.extf %[[X]]
// CHECK-NEXT: %[[Y:.*]] = nv_tileas.local_load %[[N]]
// CHECK-NEXT: %[[V:.*]] = arith.extf %[[Y]]
// CHECK-NEXT: arith.addf %[[W]], %[[V]]
nv_tileaa.func @computed() attributes {numWarps = 4 : i64} {
  %a = arith.constant dense<1.0> : tensor<64x64xf16, #rows>
  %b = arith.constant dense<2.0> : tensor<64x64xf16, #rows>
  %x = nv_tileas.convert_layout %a : tensor<64x64xf16, #rows> -> tensor<64x64xf16, #columns>
  %w = arith.extf %x : tensor<64x64xf16, #columns> to tensor<64x64xf32, #columns>
  %y = nv_tileas.convert_layout %b : tensor<64x64xf16, #rows> -> tensor<64x64xf16, #columns>
  %v = arith.extf %y : tensor<64x64xf16, #columns> to tensor<64x64xf32, #columns>
  %z = arith.addf %w, %v : tensor<64x64xf32, #columns>
  nv_tileaa.return
}

// The second conversion needs the result of the first.
// CHECK-LABEL: nv_tileaa.func @dependent(
// CHECK: nv_tileas.local_store
// CHECK-NEXT: nv_tileas.barrier
// CHECK-NEXT: nv_tileas.local_load
// CHECK: nv_tileas.barrier {nv_tileas.reuse}
// CHECK-NEXT: nv_tileas.local_store
// CHECK-NEXT: nv_tileas.barrier
// CHECK-NEXT: nv_tileas.local_load
nv_tileaa.func @dependent() attributes {numWarps = 4 : i64} {
  %a = arith.constant dense<1.0> : tensor<64x64xf16, #rows>
  %x = nv_tileas.convert_layout %a : tensor<64x64xf16, #rows> -> tensor<64x64xf16, #columns>
  %y = nv_tileas.convert_layout %x : tensor<64x64xf16, #columns> -> tensor<64x64xf16, #rows>
  nv_tileaa.return
}

// The second conversion needs a value that is computed from the first.
// CHECK-LABEL: nv_tileaa.func @dependent_computation(
// CHECK: nv_tileas.local_load
// CHECK-NEXT: arith.extf
// CHECK: nv_tileas.barrier {nv_tileas.reuse}
// CHECK-NEXT: nv_tileas.local_store
nv_tileaa.func @dependent_computation() attributes {numWarps = 4 : i64} {
  %a = arith.constant dense<1.0> : tensor<64x64xf16, #rows>
  %x = nv_tileas.convert_layout %a : tensor<64x64xf16, #rows> -> tensor<64x64xf16, #columns>
  %w = arith.extf %x : tensor<64x64xf16, #columns> to tensor<64x64xf32, #columns>
  %y = nv_tileas.convert_layout %w : tensor<64x64xf32, #columns> -> tensor<64x64xf32, #rows>
  nv_tileaa.return
}

// Together, they exceed the storage limit of conversions.
// CHECK-LABEL: nv_tileaa.func @large(
// CHECK: nv_tileas.local_load
// CHECK: nv_tileas.barrier {nv_tileas.reuse}
// CHECK: nv_tileas.local_load
nv_tileaa.func @large() attributes {numWarps = 4 : i64} {
  %a = arith.constant dense<1.0> : tensor<4096xf64, #rows>
  %b = arith.constant dense<2.0> : tensor<4096xf64, #rows>
  %x = nv_tileas.convert_layout %a : tensor<4096xf64, #rows> -> tensor<4096xf64, #columns>
  %y = nv_tileas.convert_layout %b : tensor<4096xf64, #rows> -> tensor<4096xf64, #columns>
  nv_tileaa.return
}
