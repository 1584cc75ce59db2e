// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileas-order-memory)' | FileCheck %s
#l = #nv_tileas.layout<register = [], lane = [1, 2, 4, 8, 16], warp = [32, 64]>
#one = #nv_tileas.layout<register = [], lane = [0, 0, 0, 0, 0], warp = [0, 0]>
!p = tensor<128x!nv_tileaa.ptr<i32>, #l>
!v = tensor<128xi32, #l>
!p1 = tensor<1x!nv_tileaa.ptr<i32>, #one>
!v1 = tensor<1xi32, #one>

// After a barrier, the other threads see what one thread acquired, even if they only read.
// CHECK-LABEL: nv_tileaa.func @acquire(
// CHECK: nv_tileas.atomic_rmw <add> <acquire>
// CHECK-NEXT: nv_tileas.barrier
// CHECK-NEXT: nv_tileas.load <weak>
nv_tileaa.func @acquire(%f: !p1, %o: !v1, %p: !p) {
  %x, %t1 = nv_tileas.atomic_rmw <add> <acquire> <device> %f, %o vector 1 : !p1, !v1
  %y, %t2 = nv_tileas.load <weak> %p token %t1 vector 1 : !p -> !v
  nv_tileaa.return
}
// The same for a load that acquires.
// CHECK-LABEL: nv_tileaa.func @acquiring_load(
// CHECK: nv_tileas.load <acquire>
// CHECK-NEXT: nv_tileas.barrier
// CHECK-NEXT: nv_tileas.load <weak>
nv_tileaa.func @acquiring_load(%f: !p1, %p: !p) {
  %x, %t1 = nv_tileas.load <acquire> scope <device> %f vector 1 : !p1 -> !v1
  %y, %t2 = nv_tileas.load <weak> %p token %t1 vector 1 : !p -> !v
  nv_tileaa.return
}
// A relaxed load acquires nothing.
// CHECK-LABEL: nv_tileaa.func @relaxed_load(
// CHECK-NOT: barrier
// CHECK: nv_tileaa.return
nv_tileaa.func @relaxed_load(%f: !p1, %p: !p) {
  %x, %t1 = nv_tileas.load <relaxed> scope <device> %f vector 1 : !p1 -> !v1
  %y, %t2 = nv_tileas.load <weak> %p token %t1 vector 1 : !p -> !v
  nv_tileaa.return
}
// What is released must have happened in all threads, even if they only read.
// CHECK-LABEL: nv_tileaa.func @release(
// CHECK: nv_tileas.load <weak>
// CHECK-NEXT: nv_tileas.barrier
// CHECK-NEXT: nv_tileas.store <release>
nv_tileaa.func @release(%f: !p1, %o: !v1, %p: !p) {
  %y, %t1 = nv_tileas.load <weak> %p vector 1 : !p -> !v
  %t2 = nv_tileas.store <release> scope <device> %f, %o token %t1 vector 1 : !p1, !v1
  nv_tileaa.return
}
// CHECK-LABEL: nv_tileaa.func @lock(
// CHECK: nv_tileas.atomic_cas <acquire>
// CHECK-NEXT: nv_tileas.barrier
// CHECK-NEXT: nv_tileas.load <weak>
// CHECK-NEXT: nv_tileas.barrier
// CHECK-NEXT: nv_tileas.store <weak>
// CHECK-NEXT: nv_tileas.barrier
// CHECK-NEXT: nv_tileas.atomic_rmw <xchg> <release>
nv_tileaa.func @lock(%f: !p1, %o: !v1, %p: !p) {
  %x, %t1 = nv_tileas.atomic_cas <acquire> <device> %f, %o, %o : !p1, !v1
  %y, %t2 = nv_tileas.load <weak> %p token %t1 vector 1 : !p -> !v
  %t3 = nv_tileas.store <weak> %p, %y token %t2 vector 1 : !p, !v
  %z, %t4 = nv_tileas.atomic_rmw <xchg> <release> <device> %f, %o token %t3 vector 1 : !p1, !v1
  nv_tileaa.return
}
// The first thread makes all of these accesses, in program order.
// CHECK-LABEL: nv_tileaa.func @first_thread(
// CHECK-NOT: barrier
// CHECK: nv_tileaa.return
nv_tileaa.func @first_thread(%f: !p1, %o: !v1, %q: !nv_tileaa.ptr<i32>, %s: i32) {
  %t1 = nv_tileas.store <weak> %q, %s vector 1 : !nv_tileaa.ptr<i32>, i32
  %x, %t2 = nv_tileas.atomic_rmw <add> <acq_rel> <device> %f, %o token %t1 vector 1 : !p1, !v1
  %y, %t3 = nv_tileas.atomic_cas <acq_rel> <device> %f, %o, %o token %t2 : !p1, !v1
  %t4 = nv_tileas.store <release> scope <device> %f, %o token %t3 vector 1 : !p1, !v1
  nv_tileaa.return
}
// Every thread makes a weak load of a scalar.
// CHECK-LABEL: nv_tileaa.func @scalar_load(
// CHECK: nv_tileas.store
// CHECK-NEXT: nv_tileas.barrier
// CHECK-NEXT: nv_tileas.load
nv_tileaa.func @scalar_load(%q: !nv_tileaa.ptr<i32>, %s: i32) {
  %t1 = nv_tileas.store <weak> %q, %s vector 1 : !nv_tileaa.ptr<i32>, i32
  %y, %t2 = nv_tileas.load <weak> %q token %t1 vector 1 : !nv_tileaa.ptr<i32> -> i32
  nv_tileaa.return
}
// One barrier suffices for both uses of a token.
// CHECK-LABEL: nv_tileaa.func @two_users(
// CHECK: nv_tileas.store <weak>
// CHECK-NEXT: nv_tileas.barrier
// CHECK-NEXT: nv_tileas.load <weak>
// CHECK-NEXT: nv_tileas.load <weak>
// CHECK-NEXT: nv_tileaa.return
nv_tileaa.func @two_users(%p: !p, %x: !v) {
  %t1 = nv_tileas.store <weak> %p, %x vector 1 : !p, !v
  %a, %t2 = nv_tileas.load <weak> %p token %t1 vector 1 : !p -> !v
  %b, %t3 = nv_tileas.load <weak> %p token %t1 vector 1 : !p -> !v
  nv_tileaa.return
}
// An existing barrier suffices too, unless it guards only the reuse of shared storage, because then it may be removed
// later.
// CHECK-LABEL: nv_tileaa.func @there_already(
// CHECK: nv_tileas.store <weak>
// CHECK-NEXT: nv_tileas.barrier
// CHECK-NEXT: nv_tileas.load <weak>
// CHECK-NEXT: nv_tileas.barrier {nv_tileas.reuse}
// CHECK-NEXT: nv_tileas.barrier
// CHECK-NEXT: nv_tileas.store <weak>
nv_tileaa.func @there_already(%p: !p, %x: !v) {
  %t1 = nv_tileas.store <weak> %p, %x vector 1 : !p, !v
  nv_tileas.barrier
  %a, %t2 = nv_tileas.load <weak> %p token %t1 vector 1 : !p -> !v
  nv_tileas.barrier {nv_tileas.reuse}
  %t3 = nv_tileas.store <weak> %p, %x token %t2 vector 1 : !p, !v
  nv_tileaa.return
}
// A barrier in only one branch does not order accesses in the other.
// CHECK-LABEL: nv_tileaa.func @branch(
// CHECK: scf.if
// CHECK-NEXT: nv_tileas.barrier
// CHECK-NEXT: nv_tileas.load
// CHECK-NEXT: }
// CHECK-NEXT: nv_tileas.barrier
// CHECK-NEXT: nv_tileas.load
nv_tileaa.func @branch(%p: !p, %x: !v, %c: i1) {
  %t1 = nv_tileas.store <weak> %p, %x vector 1 : !p, !v
  scf.if %c {
    %a, %t2 = nv_tileas.load <weak> %p token %t1 vector 1 : !p -> !v
  }
  %b, %t3 = nv_tileas.load <weak> %p token %t1 vector 1 : !p -> !v
  nv_tileaa.return
}
// The first thread tries the lock and distributes the result between barriers, which make the acquired memory visible
// to all.
// CHECK-LABEL: nv_tileaa.func @spin(
// CHECK: scf.while
// CHECK-NEXT: nv_tileas.atomic_cas <acquire>
// CHECK-NEXT: nv_tileas.local_store
// CHECK-NEXT: nv_tileas.barrier
// CHECK-NEXT: nv_tileas.local_load
// CHECK-NOT: barrier
// CHECK: nv_tileas.load <weak>
nv_tileaa.func @spin(%f: !p1, %o: !v1, %p: !p) {
  %m = nv_tileas.alloc_tensor : !nv_tileas.memdesc<1xi32, #nv_tileas.shared_layout<offset = []>>
  %t = nv_tileaa.create_mem_token
  %c1 = arith.constant 1 : i32
  %r = scf.while (%a = %t) : (!nv_tileaa.mem_token) -> !nv_tileaa.mem_token {
    %x, %t1 = nv_tileas.atomic_cas <acquire> <device> %f, %o, %o token %a : !p1, !v1
    nv_tileas.local_store %x, %m vector 1 : !v1, !nv_tileas.memdesc<1xi32, #nv_tileas.shared_layout<offset = []>>
    nv_tileas.barrier
    %y = nv_tileas.local_load %m vector 1 : !nv_tileas.memdesc<1xi32, #nv_tileas.shared_layout<offset = []>> -> !v1
    %s = nv_tileas.unsplat %y : !v1 -> i32
    %k = arith.cmpi eq, %s, %c1 : i32
    scf.condition(%k) %t1 : !nv_tileaa.mem_token
  } do {
  ^bb0(%a: !nv_tileaa.mem_token):
    scf.yield %a : !nv_tileaa.mem_token
  }
  %z, %t2 = nv_tileas.load <weak> %p token %r vector 1 : !p -> !v
  nv_tileaa.return
}
// Ordering that nobody can observe is removed: an update whose result is not distributed need not acquire, and if
// nothing was done before it, it need not release.
// CHECK-LABEL: nv_tileaa.func @weaker(
// CHECK: nv_tileas.atomic_rmw <add> <relaxed>
// CHECK: %{{.*}}, %[[T:.*]] = nv_tileas.atomic_rmw <add> <acquire>
// CHECK: nv_tileas.atomic_rmw <add> <release> <device> %{{.*}}, %{{.*}} token %[[T]]
// CHECK: nv_tileas.store <relaxed>
// CHECK: nv_tileas.atomic_cas <acquire>
// CHECK: nv_tileas.atomic_rmw <add> <acq_rel>
// CHECK: nv_tileas.load <acquire>
nv_tileaa.func @weaker(%f: !p1, %o: !v1, %p: !p) {
  %a, %t1 = nv_tileas.atomic_rmw <add> <acq_rel> <device> %f, %o vector 1 : !p1, !v1
  %b, %t2 = nv_tileas.atomic_rmw <add> <acq_rel> <device> %f, %o vector 1 : !p1, !v1
  %c, %t3 = nv_tileas.atomic_rmw <add> <acq_rel> <device> %f, %o token %t2 vector 1 : !p1, !v1
  %t4 = nv_tileas.store <release> scope <device> %f, %o vector 1 : !p1, !v1
  %d, %t5 = nv_tileas.atomic_cas <acq_rel> <device> %f, %o, %o : !p1, !v1
  %e = nv_tileas.replicate %d : !v1
  %g, %t6 = nv_tileas.atomic_rmw <add> <acq_rel> <device> %f, %e token %t5 vector 1 : !p1, !v1
  %h, %t7 = nv_tileas.load <acquire> scope <device> %p token %t6 vector 1 : !p -> !v
  %i = nv_tileas.replicate %h : !v
  nv_tileaa.return
}
