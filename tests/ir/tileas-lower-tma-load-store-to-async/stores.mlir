// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileaa-plan-dots{compute-capability=sm_90},convert-tileaa-to-tileas{compute-capability=sm_90},tileas-assign-dot-layouts{compute-capability=sm_90},tileas-assign-load-store-layouts{compute-capability=sm_90},tileas-remove-layout-conversions,tileas-materialize-async,tileas-specialize-agents,tileas-lower-tma-load-store-to-async{compute-capability=sm_90})' | FileCheck %s
!view = !nv_tileaa.tiled_view<tile = [64, 64], memref<?x256xf16, strides = [256, 1]>, padding = zero>
!out = !nv_tileaa.tiled_view<tile = [64, 64], memref<?x256xf16, strides = [256, 1]>>
!any = !nv_tileaa.tiled_view<tile = [64, 64], memref<?x?xf16, strides = [256, 1]>>
!words = !nv_tileaa.tiled_view<tile = [64, 64], memref<?x256xf32, strides = [256, 1]>>

// Tile after tile: storage and map are created before the loop, each store waits for the previous one, and the agent
// waits for the last one. The first barrier ends earlier uses of the map's scratch memory; after the second, all
// warps continue together.
// CHECK-LABEL: nv_tileaa.func @tiles(
// CHECK: agent_switch agents [<"consumers", warps = 4, {{.*}}>, <"producer", warps = 4, {{.*}}>]
// CHECK-DAG: %[[X:.*]] = nv_tileas.alloc_tensor : <128xi8>
// CHECK-DAG: %[[S:.*]] = nv_tileas.alloc_tensor : <64x64xf16, {{.*}}, align = 1024>
// CHECK: nv_tileas.barrier {nv_tileas.reuse}
// CHECK-NEXT: %[[MAP:.*]] = nv_tileas.make_tiled_tma_desc %{{.*}} scratch %[[X]] {{.*}} -> <f16, box = [64, 64], swizzle = 128>
// CHECK-NEXT: nv_tileas.barrier
// CHECK-NOT: {nv_tileas.reuse}
// CHECK: scf.for
// CHECK: scf.for
// CHECK: %[[Y:.*]] = arith.truncf
// CHECK-NOT: convert_layout
// CHECK: nv_tileas.async.tma_store_wait %[[S]] : !
// CHECK-NEXT: nv_tileas.barrier {nv_tileas.reuse}
// CHECK-NEXT: nv_tileas.local_store %[[Y]], %[[S]] vector 2
// CHECK-NEXT: nv_tileas.async.fence
// CHECK-NEXT: nv_tileas.barrier
// CHECK-NEXT: nv_tileas.async.tiled_tma_store %[[S]] to %{{.*}}[%{{.*}}, %{{.*}}] by %[[MAP]]
// CHECK-NOT: nv_tileas.tiled_store
// CHECK: nv_tileas.async.tma_store_wait %[[S]] read
// CHECK: }, {
nv_tileaa.func @tiles(%p0: !nv_tileaa.ptr<f16>, %q0: !nv_tileaa.ptr<f16>, %n: i32, %m0: i32, %x: i32) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f16>
  %q = nv_tileaa.assume #cuda_tile.div_by<16>, %q0 : !nv_tileaa.ptr<f16>
  %m = nv_tileaa.make_memref %p, shape = [%m0 : i32], strides = [] : <f16> -> <?x256xf16, strides = [256, 1]>
  %v = nv_tileaa.make_tiled_view %m : <?x256xf16, strides = [256, 1]> -> !view
  %o = nv_tileaa.make_memref %q, shape = [%m0 : i32], strides = [] : <f16> -> <?x256xf16, strides = [256, 1]>
  %w = nv_tileaa.make_tiled_view %o : <?x256xf16, strides = [256, 1]> -> !out
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %t0 = nv_tileaa.create_mem_token
  %last = scf.for %i = %x to %n step %c1 iter_args(%t = %t0) -> (!nv_tileaa.mem_token) : i32 {
    %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i32 {
      %a, %t1 = nv_tileaa.tiled_load <weak> %v[%i, %k] : !view[i32, i32] -> tensor<64x64xf16>
      %b, %t2 = nv_tileaa.tiled_load <weak> %v[%k, %i] : !view[i32, i32] -> tensor<64x64xf16>
      %d = nv_tileaa.dot %a, %b, %acc : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
      scf.yield %d : tensor<64x64xf32>
    }
    %y = arith.truncf %sum : tensor<64x64xf32> to tensor<64x64xf16>
    %t3 = nv_tileaa.tiled_store <weak> %y, %w[%i, %c0] token %t : tensor<64x64xf16>, !out[i32, i32]
    scf.yield %t3 : !nv_tileaa.mem_token
  }
  nv_tileaa.return
}

// A store writes eight elements at a time. If rows can end within these eight, a test selects stores by threads
// instead. The tokens keep the order of the stores.
// CHECK-LABEL: nv_tileaa.func @tiles_of_any_width(
// CHECK: agent_switch agents [<"consumers", warps = 4, {{.*}}>, <"producer", warps = 4, {{.*}}>]
// CHECK: scf.for {{.*}} iter_args(%[[BEFORE:.*]] = %{{[a-z0-9]*}}, {{.*}}) -> (!nv_tileaa.mem_token,
// CHECK: %[[REST:.*]] = arith.andi %{{.*}}, %c7_i32
// CHECK: %[[WHOLE:.*]] = arith.cmpi eq, %[[REST]],
// CHECK: %[[AFTER:.*]] = scf.if %[[WHOLE]] -> (!nv_tileaa.mem_token) {
// CHECK: nv_tileas.async.tma_store_wait
// CHECK: nv_tileas.async.tiled_tma_store
// CHECK: scf.yield
// CHECK: } else {
// CHECK: %[[TOKEN:.*]] = nv_tileas.tiled_store <weak> {{.*}} token %[[BEFORE]]
// CHECK-NEXT: scf.yield %[[TOKEN]]
// CHECK: scf.yield %[[AFTER]]
// CHECK: nv_tileas.async.tma_store_wait %{{.*}} read
nv_tileaa.func @tiles_of_any_width(%p0: !nv_tileaa.ptr<f16>, %q0: !nv_tileaa.ptr<f16>, %n: i32, %m0: i32, %x: i32, %width: i32) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f16>
  %q = nv_tileaa.assume #cuda_tile.div_by<16>, %q0 : !nv_tileaa.ptr<f16>
  %m = nv_tileaa.make_memref %p, shape = [%m0 : i32], strides = [] : <f16> -> <?x256xf16, strides = [256, 1]>
  %v = nv_tileaa.make_tiled_view %m : <?x256xf16, strides = [256, 1]> -> !view
  %o = nv_tileaa.make_memref %q, shape = [%m0, %width : i32, i32], strides = [] : <f16> -> <?x?xf16, strides = [256, 1]>
  %w = nv_tileaa.make_tiled_view %o : <?x?xf16, strides = [256, 1]> -> !any
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %t0 = nv_tileaa.create_mem_token
  %last = scf.for %i = %x to %n step %c1 iter_args(%t = %t0) -> (!nv_tileaa.mem_token) : i32 {
    %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i32 {
      %a, %t1 = nv_tileaa.tiled_load <weak> %v[%i, %k] : !view[i32, i32] -> tensor<64x64xf16>
      %b, %t2 = nv_tileaa.tiled_load <weak> %v[%k, %i] : !view[i32, i32] -> tensor<64x64xf16>
      %d = nv_tileaa.dot %a, %b, %acc : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
      scf.yield %d : tensor<64x64xf32>
    }
    %y = arith.truncf %sum : tensor<64x64xf32> to tensor<64x64xf16>
    %t3 = nv_tileaa.tiled_store <weak> %y, %w[%i, %c0] token %t : tensor<64x64xf16>, !any[i32, i32]
    scf.yield %t3 : !nv_tileaa.mem_token
  }
  nv_tileaa.return
}

// The first store waits for nothing. The second one waits, because it may write the same elements.
// CHECK-LABEL: nv_tileaa.func @two(
// CHECK: agent_switch
// CHECK: scf.for
// CHECK-NOT: tma_store_wait
// CHECK: nv_tileas.async.tiled_tma_store %[[A:[0-9]+]]
// CHECK: nv_tileas.async.tma_store_wait %[[A]], %[[B:[0-9]+]] : !
// CHECK: nv_tileas.async.tiled_tma_store %[[B]]
// CHECK: nv_tileas.async.tma_store_wait %[[A]], %[[B]] read
nv_tileaa.func @two(%p0: !nv_tileaa.ptr<f16>, %q0: !nv_tileaa.ptr<f16>, %n: i32, %m0: i32, %i: i32) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f16>
  %q = nv_tileaa.assume #cuda_tile.div_by<16>, %q0 : !nv_tileaa.ptr<f16>
  %m = nv_tileaa.make_memref %p, shape = [%m0 : i32], strides = [] : <f16> -> <?x256xf16, strides = [256, 1]>
  %v = nv_tileaa.make_tiled_view %m : <?x256xf16, strides = [256, 1]> -> !view
  %o = nv_tileaa.make_memref %q, shape = [%m0 : i32], strides = [] : <f16> -> <?x256xf16, strides = [256, 1]>
  %w = nv_tileaa.make_tiled_view %o : <?x256xf16, strides = [256, 1]> -> !out
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i32 {
    %a, %t1 = nv_tileaa.tiled_load <weak> %v[%i, %k] : !view[i32, i32] -> tensor<64x64xf16>
    %b, %t2 = nv_tileaa.tiled_load <weak> %v[%k, %i] : !view[i32, i32] -> tensor<64x64xf16>
    %d = nv_tileaa.dot %a, %b, %acc : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  %y = arith.truncf %sum : tensor<64x64xf32> to tensor<64x64xf16>
  %t3 = nv_tileaa.tiled_store <weak> %y, %w[%i, %c0] : tensor<64x64xf16>, !out[i32, i32]
  %t4 = nv_tileaa.tiled_store <weak> %y, %w[%c0, %i] token %t3 : tensor<64x64xf16>, !out[i32, i32]
  nv_tileaa.return
}

// A later access reads the stored elements, ordered by tokens, so the previous store is not replaced either.
// CHECK-LABEL: nv_tileaa.func @ordered(
// CHECK-NOT: tma_store
// CHECK: nv_tileas.tiled_store
// CHECK-NOT: tma_store
// CHECK: nv_tileas.tiled_store
// CHECK-NOT: tma_store
nv_tileaa.func @ordered(%p0: !nv_tileaa.ptr<f16>, %q0: !nv_tileaa.ptr<f16>, %n: i32, %m0: i32, %i: i32) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f16>
  %q = nv_tileaa.assume #cuda_tile.div_by<16>, %q0 : !nv_tileaa.ptr<f16>
  %m = nv_tileaa.make_memref %p, shape = [%m0 : i32], strides = [] : <f16> -> <?x256xf16, strides = [256, 1]>
  %v = nv_tileaa.make_tiled_view %m : <?x256xf16, strides = [256, 1]> -> !view
  %o = nv_tileaa.make_memref %q, shape = [%m0 : i32], strides = [] : <f16> -> <?x256xf16, strides = [256, 1]>
  %w = nv_tileaa.make_tiled_view %o : <?x256xf16, strides = [256, 1]> -> !out
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i32 {
    %a, %t1 = nv_tileaa.tiled_load <weak> %v[%i, %k] : !view[i32, i32] -> tensor<64x64xf16>
    %b, %t2 = nv_tileaa.tiled_load <weak> %v[%k, %i] : !view[i32, i32] -> tensor<64x64xf16>
    %d = nv_tileaa.dot %a, %b, %acc : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  %y = arith.truncf %sum : tensor<64x64xf32> to tensor<64x64xf16>
  %t3 = nv_tileaa.tiled_store <weak> %y, %w[%i, %c0] : tensor<64x64xf16>, !out[i32, i32]
  %t4 = nv_tileaa.tiled_store <weak> %y, %w[%c0, %i] token %t3 : tensor<64x64xf16>, !out[i32, i32]
  %z, %t5 = nv_tileaa.tiled_load <weak> %w[%c0, %c0] token %t4 : !out[i32, i32] -> tensor<64x64xf16>
  %t6 = nv_tileaa.tiled_store <relaxed> scope <device> %z, %w[%c1, %c1] token %t5 : tensor<64x64xf16>, !out[i32, i32]
  nv_tileaa.return
}

// The program forbids it. Also, threads that store f32 results of a dot fill whole sectors, but in shared memory they
// would conflict in one bank.
// CHECK-LABEL: nv_tileaa.func @forbidden(
// CHECK-NOT: tma_store
// CHECK: nv_tileas.tiled_store
// CHECK-NOT: tma_store
// CHECK: nv_tileas.tiled_store
// CHECK-NOT: tma_store
nv_tileaa.func @forbidden(%p0: !nv_tileaa.ptr<f16>, %q0: !nv_tileaa.ptr<f16>, %r0: !nv_tileaa.ptr<f32>, %n: i32, %m0: i32, %i: i32) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f16>
  %q = nv_tileaa.assume #cuda_tile.div_by<16>, %q0 : !nv_tileaa.ptr<f16>
  %r = nv_tileaa.assume #cuda_tile.div_by<16>, %r0 : !nv_tileaa.ptr<f32>
  %m = nv_tileaa.make_memref %p, shape = [%m0 : i32], strides = [] : <f16> -> <?x256xf16, strides = [256, 1]>
  %v = nv_tileaa.make_tiled_view %m : <?x256xf16, strides = [256, 1]> -> !view
  %o = nv_tileaa.make_memref %q, shape = [%m0 : i32], strides = [] : <f16> -> <?x256xf16, strides = [256, 1]>
  %w = nv_tileaa.make_tiled_view %o : <?x256xf16, strides = [256, 1]> -> !out
  %e = nv_tileaa.make_memref %r, shape = [%m0 : i32], strides = [] : <f32> -> <?x256xf32, strides = [256, 1]>
  %u = nv_tileaa.make_tiled_view %e : <?x256xf32, strides = [256, 1]> -> !words
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i32 {
    %a, %t1 = nv_tileaa.tiled_load <weak> %v[%i, %k] : !view[i32, i32] -> tensor<64x64xf16>
    %b, %t2 = nv_tileaa.tiled_load <weak> %v[%k, %i] : !view[i32, i32] -> tensor<64x64xf16>
    %d = nv_tileaa.dot %a, %b, %acc : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  %y = arith.truncf %sum : tensor<64x64xf32> to tensor<64x64xf16>
  %t3 = nv_tileaa.tiled_store <weak> %y, %w[%i, %c0] hints {sm_90 = {allow_tma = false}} : tensor<64x64xf16>, !out[i32, i32]
  %t4 = nv_tileaa.tiled_store <weak> %sum, %u[%i, %c0] : tensor<64x64xf32>, !words[i32, i32]
  nv_tileaa.return
}

// In a branch with its loop: the storage may reuse the bytes of the ring, and the store is waited for in the branch.
// CHECK-LABEL: nv_tileaa.func @branch(
// CHECK: nv_tileas.async.pipeline.agent_switch
// CHECK: scf.if
// CHECK: scf.for
// CHECK: nv_tileas.async.tiled_tma_store
// CHECK-NEXT: create_mem_token
// CHECK-NEXT: nv_tileas.async.tma_store_wait {{.*}} read
// CHECK-NEXT: scf.yield
nv_tileaa.func @branch(%p0: !nv_tileaa.ptr<f16>, %q0: !nv_tileaa.ptr<f16>, %n: i32, %m0: i32, %i: i32, %some: i1) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f16>
  %q = nv_tileaa.assume #cuda_tile.div_by<16>, %q0 : !nv_tileaa.ptr<f16>
  %m = nv_tileaa.make_memref %p, shape = [%m0 : i32], strides = [] : <f16> -> <?x256xf16, strides = [256, 1]>
  %v = nv_tileaa.make_tiled_view %m : <?x256xf16, strides = [256, 1]> -> !view
  %o = nv_tileaa.make_memref %q, shape = [%m0 : i32], strides = [] : <f16> -> <?x256xf16, strides = [256, 1]>
  %w = nv_tileaa.make_tiled_view %o : <?x256xf16, strides = [256, 1]> -> !out
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  scf.if %some {
    %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i32 {
      %a, %t1 = nv_tileaa.tiled_load <weak> %v[%i, %k] : !view[i32, i32] -> tensor<64x64xf16>
      %b, %t2 = nv_tileaa.tiled_load <weak> %v[%k, %i] : !view[i32, i32] -> tensor<64x64xf16>
      %d = nv_tileaa.dot %a, %b, %acc : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
      scf.yield %d : tensor<64x64xf32>
    }
    %y = arith.truncf %sum : tensor<64x64xf32> to tensor<64x64xf16>
    %t3 = nv_tileaa.tiled_store <weak> %y, %w[%i, %c0] : tensor<64x64xf16>, !out[i32, i32]
  }
  nv_tileaa.return
}
