// RUN: tileiras-opt %s --pass-pipeline='builtin.module(convert-tileaa-to-tileas{num-warps=4})' | FileCheck %s

// An op that is executed once per element gives its result to the owners, and then the result is distributed to its
// users.

// CHECK-LABEL: nv_tileaa.func @updates(
// CHECK: %[[OLD:.*]], %[[T:.*]] = nv_tileas.atomic_rmw <add> <acq_rel> <device> %{{.*}}, %{{.*}} mask %{{.*}} : {{.*}} vector 1 :
// CHECK: %[[ALL:.*]] = nv_tileas.replicate %[[OLD]] : tensor<1024xi32,
// CHECK: %[[GOT:.*]], %{{.*}} = nv_tileas.atomic_cas <relaxed> <block> %{{.*}}, %[[ALL]], %{{.*}} token %[[T]] :
// CHECK-NOT: replicate
// CHECK: nv_tileas.atomic_rmw <xchg> <relaxed> <system>
// CHECK-NOT: replicate
// CHECK: nv_tileaa.return
nv_tileaa.func @updates(%p: !nv_tileaa.ptr<i32>) {
  %r = nv_tileaa.make_range : tensor<1024xi32>
  %b = nv_tileaa.splat %p : !nv_tileaa.ptr<i32> -> tensor<1024x!nv_tileaa.ptr<i32>>
  %a = nv_tileaa.addptr %b, %r : tensor<1024x!nv_tileaa.ptr<i32>>, tensor<1024xi32>
  %k = arith.cmpi slt, %r, %r : tensor<1024xi32>
  %x, %t1 = nv_tileaa.atomic_rmw <add> <acq_rel> <device> %a, %r mask %k : tensor<1024xi1> : tensor<1024x!nv_tileaa.ptr<i32>>, tensor<1024xi32>
  %y, %t2 = nv_tileaa.atomic_cas <relaxed> <block> %a, %x, %r token %t1 : tensor<1024x!nv_tileaa.ptr<i32>>, tensor<1024xi32>
  %z, %t3 = nv_tileaa.atomic_rmw <xchg> <relaxed> <system> %a, %r token %t2 : tensor<1024x!nv_tileaa.ptr<i32>>, tensor<1024xi32>
  nv_tileaa.return
}

// A scalar is a tensor of one element, and all threads hold copies of it.
// CHECK-LABEL: nv_tileaa.func @scalars(
// CHECK: %[[P:.*]] = nv_tileas.splat %arg0 : !nv_tileaa.ptr<i32> -> tensor<1x!nv_tileaa.ptr<i32>, #nv_tileas.layout<register = [], lane = [0, 0, 0, 0, 0], warp = [0, 0]>>
// CHECK: %[[V:.*]] = nv_tileas.splat %arg1 : i32
// CHECK: %[[K:.*]] = nv_tileas.splat %arg2 : i1
// CHECK: %[[OLD:.*]], %[[T:.*]] = nv_tileas.atomic_rmw <add> <acquire> <device> %[[P]], %[[V]] mask %[[K]]
// CHECK: %[[ALL:.*]] = nv_tileas.replicate %[[OLD]]
// CHECK: %[[S:.*]] = nv_tileas.unsplat %[[ALL]] : {{.*}} -> i32
// CHECK: %[[X:.*]], %[[T2:.*]] = nv_tileas.load <acquire> scope <device> %{{.*}} token %[[T]] vector 1 : tensor<1x
// CHECK: %[[XALL:.*]] = nv_tileas.replicate %[[X]]
// CHECK: %[[XS:.*]] = nv_tileas.unsplat %[[XALL]]
// CHECK: arith.addi %[[S]], %[[XS]] : i32
// Every thread executes a weak load, because its memory cannot be changed concurrently.
// CHECK: nv_tileas.load <weak> %arg0 token %[[T2]] vector 1 : !nv_tileaa.ptr<i32> -> i32
nv_tileaa.func @scalars(%p: !nv_tileaa.ptr<i32>, %v: i32, %k: i1) {
  %x, %t1 = nv_tileaa.atomic_rmw <add> <acquire> <device> %p, %v mask %k : i1 : !nv_tileaa.ptr<i32>, i32
  %y, %t2 = nv_tileaa.load <acquire> scope <device> %p token %t1 : !nv_tileaa.ptr<i32> -> i32
  %s = arith.addi %x, %y : i32
  %z, %t3 = nv_tileaa.load <weak> %p token %t2 : !nv_tileaa.ptr<i32> -> i32
  %t4 = nv_tileaa.store <weak> %p, %s token %t3 : !nv_tileaa.ptr<i32>, i32
  nv_tileaa.return
}

// CHECK-LABEL: nv_tileaa.func @views(
// CHECK: %[[X:.*]], %{{.*}} = nv_tileas.tiled_load <relaxed> scope <device>
// CHECK: %[[ALL:.*]] = nv_tileas.replicate %[[X]] : tensor<64xf32,
// CHECK: nv_tileas.tiled_atomic_rmw <addf> <relaxed> <device> %[[ALL]], %{{.*}}[%arg1] token %{{.*}} vector 1 bounds <split> :
nv_tileaa.func @views(%p: !nv_tileaa.ptr<f32>, %i: i32) {
  %m = nv_tileaa.make_memref %p, shape = [], strides = [] : <f32> -> <1000xf32, strides = [1]>
  %v = nv_tileaa.make_tiled_view %m : <1000xf32, strides = [1]> -> <tile = [64], memref<1000xf32, strides = [1]>>
  %x, %t1 = nv_tileaa.tiled_load <relaxed> scope <device> %v[%i] : <tile = [64], memref<1000xf32, strides = [1]>>[i32] -> tensor<64xf32>
  %t2 = nv_tileaa.tiled_atomic_rmw <addf> <relaxed> <device> %x, %v[%i] token %t1 : tensor<64xf32>, <tile = [64], memref<1000xf32, strides = [1]>>[i32]
  nv_tileaa.return
}

// The index of a sparse dimension has the layout of the tile's rows.
// CHECK-LABEL: nv_tileaa.func @sparse(
// CHECK: %[[R:.*]] = nv_tileas.make_range
// CHECK: %[[C:.*]] = nv_tileas.convert_layout %[[R]] : tensor<16xi32, {{.*}}> -> tensor<16xi32, #nv_tileas.layout<register = [0, 0, 0], lane = [0, 0, 0, 1, 2], warp = [4, 8]>>
// CHECK: nv_tileas.tiled_load <weak> %{{.*}}[%[[C]], %arg1] {{.*}} -> tensor<16x64xf32, #nv_tileas.layout<register = [1, 2, 32], lane = [4, 8, 16, 64, 128], warp = [256, 512]>>
// CHECK: %[[D:.*]] = nv_tileas.convert_layout %[[R]]
// CHECK: nv_tileas.tiled_store <weak> %{{.*}}, %{{.*}}[%[[D]], %arg1]
nv_tileaa.func @sparse(%p: !nv_tileaa.ptr<f32>, %i: i32) {
  %m = nv_tileaa.make_memref %p, shape = [], strides = [] : <f32> -> <64x100xf32, strides = [100, 1]>
  %v = nv_tileaa.make_tiled_view %m : <64x100xf32, strides = [100, 1]> -> <tile = [16, 64], memref<64x100xf32, strides = [100, 1]>, steps = [1, 1], sparse_dim = 0>
  %r = nv_tileaa.make_range : tensor<16xi32>
  %x, %t1 = nv_tileaa.tiled_load <weak> %v[%r, %i] : <tile = [16, 64], memref<64x100xf32, strides = [100, 1]>, steps = [1, 1], sparse_dim = 0>[tensor<16xi32>, i32] -> tensor<16x64xf32>
  %t2 = nv_tileaa.tiled_store <weak> %x, %v[%r, %i] token %t1 : tensor<16x64xf32>, <tile = [16, 64], memref<64x100xf32, strides = [100, 1]>, steps = [1, 1], sparse_dim = 0>[tensor<16xi32>, i32]
  nv_tileaa.return
}

// Scratch memory is freed at the end of its block. The heap aligns to 16 bytes.
// CHECK-LABEL: nv_tileaa.func @scratch(
// CHECK: scf.for
// CHECK: %[[H:.*]] = nv_tileas.heap_alloc 304 : tensor<1x!nv_tileaa.ptr<f32>,
// CHECK: %[[ALL:.*]] = nv_tileas.replicate %[[H]]
// CHECK: %[[P:.*]] = nv_tileas.unsplat %[[ALL]]
// CHECK: %[[A:.*]] = nv_tileaa.ptr_to_int %[[P]]
// CHECK: %[[B:.*]] = arith.addi %[[A]], %c63_i64 : i64
// CHECK: %[[C:.*]] = arith.andi %[[B]], %c-64_i64 : i64
// CHECK: %[[Q:.*]] = nv_tileaa.int_to_ptr %[[C]]
// CHECK: nv_tileas.store <weak> %[[Q]],
// CHECK-NEXT: nv_tileas.barrier
// CHECK-NEXT: nv_tileas.heap_free %[[P]] : <f32>
// CHECK-NEXT: }
// CHECK: %[[H1:.*]] = nv_tileas.heap_alloc 7 : tensor<1x!nv_tileaa.ptr<i1>,
// CHECK-NOT: ptr_to_int
// CHECK: nv_tileas.barrier
// CHECK-NEXT: nv_tileas.heap_free
// CHECK-NEXT: nv_tileaa.return
nv_tileaa.func @scratch(%n: i32, %x: f32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %i = %c0 to %n step %c1 : i32 {
    %q = nv_tileaa.alloca 64 align 64 : <f32>
    %t = nv_tileaa.store <weak> %q, %x : !nv_tileaa.ptr<f32>, f32
  }
  %s = nv_tileaa.alloca 7 align 1 : <i1>
  nv_tileaa.return
}

// CHECK-LABEL: nv_tileaa.func @print(
// CHECK: nv_tileas.print "%d %d\0A", %arg0, %{{.*}} : i32, tensor<8xi32, {{.*}}> token %{{.*}}
nv_tileaa.func @print(%n: i32) {
  %t = nv_tileaa.create_mem_token
  %r = nv_tileaa.make_range : tensor<8xi32>
  %t1 = nv_tileaa.print "%d %d\n", %n, %r : i32, tensor<8xi32> token %t
  nv_tileaa.return
}
