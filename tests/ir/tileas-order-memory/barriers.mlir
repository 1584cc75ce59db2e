// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileas-order-memory)' | FileCheck %s

// A barrier is inserted if a token leads from an access to another, at least one of them writes, and there is no
// barrier between them.

// CHECK-LABEL: nv_tileaa.func @write_then_read(
// CHECK: nv_tileas.store
// CHECK-NEXT: nv_tileas.barrier
// CHECK-NEXT: nv_tileas.load
nv_tileaa.func @write_then_read(%p: !nv_tileaa.ptr<i32>, %v: i32) {
  %t = nv_tileaa.create_mem_token
  %t1 = nv_tileas.store <weak> %p, %v token %t vector 1 : !nv_tileaa.ptr<i32>, i32
  %x, %t2 = nv_tileas.load <weak> %p token %t1 vector 1 : !nv_tileaa.ptr<i32> -> i32
  nv_tileaa.return
}
// CHECK-LABEL: nv_tileaa.func @read_then_write(
// CHECK: nv_tileas.load
// CHECK-NEXT: nv_tileas.barrier
// CHECK-NEXT: nv_tileas.store
nv_tileaa.func @read_then_write(%p: !nv_tileaa.ptr<i32>, %v: i32) {
  %x, %t1 = nv_tileas.load <weak> %p vector 1 : !nv_tileaa.ptr<i32> -> i32
  %t2 = nv_tileas.store <weak> %p, %v token %t1 vector 1 : !nv_tileaa.ptr<i32>, i32
  nv_tileaa.return
}
// CHECK-LABEL: nv_tileaa.func @read_then_read(
// CHECK-NOT: barrier
// CHECK: nv_tileaa.return
nv_tileaa.func @read_then_read(%p: !nv_tileaa.ptr<i32>) {
  %x, %t1 = nv_tileas.load <weak> %p vector 1 : !nv_tileaa.ptr<i32> -> i32
  %y, %t2 = nv_tileas.load <weak> %p token %t1 vector 1 : !nv_tileaa.ptr<i32> -> i32
  nv_tileaa.return
}
// No token leads from one to the other.
// CHECK-LABEL: nv_tileaa.func @unordered(
// CHECK-NOT: barrier
// CHECK: nv_tileaa.return
nv_tileaa.func @unordered(%p: !nv_tileaa.ptr<i32>, %v: i32) {
  %t = nv_tileaa.create_mem_token
  %t1 = nv_tileas.store <weak> %p, %v token %t vector 1 : !nv_tileaa.ptr<i32>, i32
  %x, %t2 = nv_tileas.load <weak> %p token %t vector 1 : !nv_tileaa.ptr<i32> -> i32
  nv_tileaa.return
}
// Accesses before the barrier are complete for accesses after it.
// CHECK-LABEL: nv_tileaa.func @settled(
// CHECK: nv_tileas.barrier
// CHECK-NEXT: nv_tileas.load
// CHECK-NEXT: nv_tileas.load
// CHECK-NEXT: nv_tileaa.return
nv_tileaa.func @settled(%p: !nv_tileaa.ptr<i32>, %v: i32) {
  %t1 = nv_tileas.store <weak> %p, %v vector 1 : !nv_tileaa.ptr<i32>, i32
  %x, %t2 = nv_tileas.load <weak> %p token %t1 vector 1 : !nv_tileaa.ptr<i32> -> i32
  %y, %t3 = nv_tileas.load <weak> %p token %t2 vector 1 : !nv_tileaa.ptr<i32> -> i32
  nv_tileaa.return
}
// CHECK-LABEL: nv_tileaa.func @joined(
// CHECK: nv_tileaa.join_mem_token
// CHECK-NEXT: nv_tileas.barrier
// CHECK-NEXT: nv_tileas.load
nv_tileaa.func @joined(%p: !nv_tileaa.ptr<i32>, %v: i32) {
  %t1 = nv_tileas.store <weak> %p, %v vector 1 : !nv_tileaa.ptr<i32>, i32
  %x, %t2 = nv_tileas.load <weak> %p vector 1 : !nv_tileaa.ptr<i32> -> i32
  %t3 = nv_tileaa.join_mem_token %t1, %t2
  %y, %t4 = nv_tileas.load <weak> %p token %t3 vector 1 : !nv_tileaa.ptr<i32> -> i32
  nv_tileaa.return
}
// The store of one iteration comes before the load of the next.
// CHECK-LABEL: nv_tileaa.func @around_a_loop(
// CHECK: scf.for
// CHECK-NEXT: nv_tileas.barrier
// CHECK-NEXT: nv_tileas.load
nv_tileaa.func @around_a_loop(%p: !nv_tileaa.ptr<i32>, %n: i32) {
  %t = nv_tileaa.create_mem_token
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %t) -> (!nv_tileaa.mem_token) : i32 {
    %x, %t1 = nv_tileas.load <weak> %p token %a vector 1 : !nv_tileaa.ptr<i32> -> i32
    %t2 = nv_tileas.store <weak> %p, %x token %a vector 1 : !nv_tileaa.ptr<i32>, i32
    scf.yield %t2 : !nv_tileaa.mem_token
  }
  nv_tileaa.return
}
// CHECK-LABEL: nv_tileaa.func @out_of_an_if(
// CHECK: nv_tileaa.create_mem_token
// CHECK-NOT: barrier
// CHECK: } else {
// CHECK-NEXT: scf.yield
// CHECK-NEXT: }
// CHECK-NEXT: nv_tileas.barrier
// CHECK-NEXT: nv_tileas.load
nv_tileaa.func @out_of_an_if(%p: !nv_tileaa.ptr<i32>, %c: i1, %v: i32) {
  %t = nv_tileaa.create_mem_token
  %r = scf.if %c -> (!nv_tileaa.mem_token) {
    %t1 = nv_tileas.store <weak> %p, %v token %t vector 1 : !nv_tileaa.ptr<i32>, i32
    scf.yield %t1 : !nv_tileaa.mem_token
  } else {
    scf.yield %t : !nv_tileaa.mem_token
  }
  %x, %t2 = nv_tileas.load <weak> %p token %r vector 1 : !nv_tileaa.ptr<i32> -> i32
  nv_tileaa.return
}

#own = #nv_tileas.layout<register = [], lane = [1, 2, 4, 8, 16], warp = [32, 64]>
#two = #nv_tileas.layout<register = [1], lane = [2, 4, 8, 16, 32], warp = [64, 0]>
!m1 = !nv_tileaa.memref<?xf32, strides = [1]>
!w1 = !nv_tileaa.tiled_view<tile = [128], memref<?xf32, strides = [1]>>
!t1 = tensor<128xf32, #own>

// An update in place: each thread stores only elements that it alone has loaded.
// CHECK-LABEL: nv_tileaa.func @in_place(
// CHECK-NOT: barrier
// CHECK: nv_tileaa.return
nv_tileaa.func @in_place(%v: !w1, %i: i32) {
  %x, %t = nv_tileas.tiled_load <weak> %v[%i] vector 1 bounds <vector> : !w1[i32] -> !t1
  %u = nv_tileas.tiled_store <weak> %x, %v[%i] token %t vector 1 bounds <vector> : !t1, !w1[i32]
  %y, %w = nv_tileas.tiled_load <weak> %v[%i] token %u vector 1 bounds <vector> : !w1[i32] -> !t1
  nv_tileaa.return
}
// Another tile, whose elements other threads have if views overlap.
// CHECK-LABEL: nv_tileaa.func @another_tile(
// CHECK: nv_tileas.tiled_load
// CHECK-NEXT: nv_tileas.barrier
// CHECK-NEXT: nv_tileas.tiled_store
nv_tileaa.func @another_tile(%v: !w1, %i: i32, %j: i32) {
  %x, %t = nv_tileas.tiled_load <weak> %v[%i] vector 1 bounds <vector> : !w1[i32] -> !t1
  %u = nv_tileas.tiled_store <weak> %x, %v[%j] token %t vector 1 bounds <vector> : !t1, !w1[i32]
  nv_tileaa.return
}
// Two threads have each element, and one of them stores it.
// CHECK-LABEL: nv_tileaa.func @copies(
// CHECK: nv_tileas.tiled_load
// CHECK-NEXT: nv_tileas.barrier
// CHECK-NEXT: nv_tileas.tiled_store
nv_tileaa.func @copies(%v: !w1, %i: i32) {
  %x, %t = nv_tileas.tiled_load <weak> %v[%i] vector 1 bounds <vector> : !w1[i32] -> tensor<128xf32, #two>
  %u = nv_tileas.tiled_store <weak> %x, %v[%i] token %t vector 1 bounds <vector> : tensor<128xf32, #two>, !w1[i32]
  nv_tileaa.return
}
// Elements may overlap, because the stride is unknown.
// CHECK-LABEL: nv_tileaa.func @any_stride(
// CHECK: nv_tileas.tiled_load
// CHECK-NEXT: nv_tileas.barrier
// CHECK-NEXT: nv_tileas.tiled_store
nv_tileaa.func @any_stride(%v: !nv_tileaa.tiled_view<tile = [128], memref<?xf32, strides = [?]>>, %i: i32) {
  %x, %t = nv_tileas.tiled_load <weak> %v[%i] vector 1 bounds <vector>
    : !nv_tileaa.tiled_view<tile = [128], memref<?xf32, strides = [?]>>[i32] -> !t1
  %u = nv_tileas.tiled_store <weak> %x, %v[%i] token %t vector 1 bounds <vector>
    : !t1, !nv_tileaa.tiled_view<tile = [128], memref<?xf32, strides = [?]>>[i32]
  nv_tileaa.return
}
// In the next iteration, the same index is another tile.
// CHECK-LABEL: nv_tileaa.func @next_iteration(
// CHECK: scf.for
// CHECK: nv_tileas.barrier
// CHECK-NEXT: nv_tileas.tiled_load
// CHECK-NOT: barrier
// CHECK: nv_tileas.tiled_store
nv_tileaa.func @next_iteration(%v: !w1, %a: i32, %b: i32, %c: i32, %t0: !nv_tileaa.mem_token) {
  %r = scf.for %i = %a to %b step %c iter_args(%t = %t0) -> (!nv_tileaa.mem_token) : i32 {
    %x, %t1 = nv_tileas.tiled_load <weak> %v[%i] token %t vector 1 bounds <vector> : !w1[i32] -> !t1
    %t2 = nv_tileas.tiled_store <weak> %x, %v[%i] token %t1 vector 1 bounds <vector> : !t1, !w1[i32]
    scf.yield %t2 : !nv_tileaa.mem_token
  }
  nv_tileaa.return
}
