// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileas-check-synchronization)' --split-input-file --verify-diagnostics
// Rings of asynchronous copies: stages and groups are loop-carried values.
#l = #nv_tileas.layout<register = [1, 2], lane = [4, 8, 16, 32, 64], warp = []>
#s = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64]>
!view = !nv_tileaa.tiled_view<tile = [128], memref<?xf32, strides = [1]>>
!ring = !nv_tileas.memdesc<128xf32, #s, stages = 3>
!stage = !nv_tileas.memdesc<128xf32, #s>
!group = !nv_tileas.async_token

// The pipeline as tileas-unspecialized-pipeline creates it: no conflict.
nv_tileaa.func @ring(%v: !view, %n: i32) attributes {numWarps = 1 : i64} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %c3 = arith.constant 3 : i32
  %r = nv_tileas.alloc_tensor offset 0 : !ring
  %s0 = nv_tileas.memdesc_slot %r[%c0] : !ring -> !stage
  %d0, %t0 = nv_tileas.async.tiled_load %v[%c0] into %s0 layout #l vector 4 bounds <none> : <tile = [128], memref<?xf32, strides = [1]>>[i32] -> !stage
  %a = nv_tileas.async.commit of %d0
  %s1 = nv_tileas.memdesc_slot %r[%c1] : !ring -> !stage
  %d1, %t1 = nv_tileas.async.tiled_load %v[%c1] into %s1 layout #l vector 4 bounds <none> : <tile = [128], memref<?xf32, strides = [1]>>[i32] -> !stage
  %b = nv_tileas.async.commit of %d1
  %out:4 = scf.for %k = %c0 to %n step %c1 iter_args(%read = %c0, %write = %c2, %g0 = %a, %g1 = %b) -> (i32, i32, !group, !group) : i32 {
    nv_tileas.async.wait %g0 pending 1
    nv_tileas.barrier
    %w = nv_tileas.memdesc_slot %r[%write] : !ring -> !stage
    %e, %te = nv_tileas.async.tiled_load %v[%k] into %w layout #l vector 4 bounds <none> : <tile = [128], memref<?xf32, strides = [1]>>[i32] -> !stage
    %h = nv_tileas.async.commit of %e
    %q = nv_tileas.memdesc_slot %r[%read] : !ring -> !stage
    %x = nv_tileas.local_load %q vector 4 : !stage -> tensor<128xf32, #l>
    %r1 = arith.addi %read, %c1 : i32
    %r_end = arith.cmpi eq, %r1, %c3 : i32
    %next_r = arith.select %r_end, %c0, %r1 : i32
    %w1 = arith.addi %write, %c1 : i32
    %w_end = arith.cmpi eq, %w1, %c3 : i32
    %next_w = arith.select %w_end, %c0, %w1 : i32
    scf.yield %next_r, %next_w, %g1, %h : i32, i32, !group, !group
  }
  // Other storage in the same bytes, after a wait for all groups and a barrier.
  nv_tileas.async.wait %out#2, %out#3 pending 0
  nv_tileas.barrier
  %o = nv_tileas.alloc_tensor offset 0 : !stage
  %y = arith.constant dense<1.0> : tensor<128xf32, #l>
  nv_tileas.local_store %y, %o vector 4 : tensor<128xf32, #l>, !stage
  nv_tileaa.return
}

// -----

#l = #nv_tileas.layout<register = [1, 2], lane = [4, 8, 16, 32, 64], warp = []>
#s = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64]>
!view = !nv_tileaa.tiled_view<tile = [128], memref<?xf32, strides = [1]>>
!ring = !nv_tileas.memdesc<128xf32, #s, stages = 3>
!stage = !nv_tileas.memdesc<128xf32, #s>
!group = !nv_tileas.async_token

// Without the wait, a copy may be in flight when its stage is read.
nv_tileaa.func @no_wait(%v: !view, %n: i32) attributes {numWarps = 1 : i64} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %c3 = arith.constant 3 : i32
  %r = nv_tileas.alloc_tensor offset 0 : !ring
  %s0 = nv_tileas.memdesc_slot %r[%c0] : !ring -> !stage
  // expected-note @below {{the earlier access: write of shared bytes [0, 1536)}}
  %d0, %t0 = nv_tileas.async.tiled_load %v[%c0] into %s0 layout #l vector 4 bounds <none> : <tile = [128], memref<?xf32, strides = [1]>>[i32] -> !stage
  %a = nv_tileas.async.commit of %d0
  %s1 = nv_tileas.memdesc_slot %r[%c1] : !ring -> !stage
  // expected-note @below {{the earlier access: write of shared bytes [0, 1536)}}
  %d1, %t1 = nv_tileas.async.tiled_load %v[%c1] into %s1 layout #l vector 4 bounds <none> : <tile = [128], memref<?xf32, strides = [1]>>[i32] -> !stage
  %b = nv_tileas.async.commit of %d1
  %out:4 = scf.for %k = %c0 to %n step %c1 iter_args(%read = %c0, %write = %c2, %g0 = %a, %g1 = %b) -> (i32, i32, !group, !group) : i32 {
    nv_tileas.barrier
    %w = nv_tileas.memdesc_slot %r[%write] : !ring -> !stage
  // expected-error @below {{write of shared bytes [0, 1536) conflicts with a write by an asynchronous copy: no wait and barrier separate them}}
  // expected-note @below {{the earlier access: write of shared bytes [0, 1536)}}
  // expected-error @below {{write of shared bytes [0, 1536) conflicts with a write by an asynchronous copy of an earlier iteration: no wait and barrier separate them}}
    %e, %te = nv_tileas.async.tiled_load %v[%k] into %w layout #l vector 4 bounds <none> : <tile = [128], memref<?xf32, strides = [1]>>[i32] -> !stage
    %h = nv_tileas.async.commit of %e
    %q = nv_tileas.memdesc_slot %r[%read] : !ring -> !stage
  // expected-error @below {{read of shared bytes [0, 1536) conflicts with a write by an asynchronous copy: no wait and barrier separate them}}
    %x = nv_tileas.local_load %q vector 4 : !stage -> tensor<128xf32, #l>
    %r1 = arith.addi %read, %c1 : i32
    %r_end = arith.cmpi eq, %r1, %c3 : i32
    %next_r = arith.select %r_end, %c0, %r1 : i32
    %w1 = arith.addi %write, %c1 : i32
    %w_end = arith.cmpi eq, %w1, %c3 : i32
    %next_w = arith.select %w_end, %c0, %w1 : i32
    scf.yield %next_r, %next_w, %g1, %h : i32, i32, !group, !group
  }
  nv_tileas.async.wait %out#2, %out#3 pending 0
  nv_tileaa.return
}

// -----

#l = #nv_tileas.layout<register = [1, 2], lane = [4, 8, 16, 32, 64], warp = []>
#s = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64]>
!view = !nv_tileaa.tiled_view<tile = [128], memref<?xf32, strides = [1]>>
!ring = !nv_tileas.memdesc<128xf32, #s, stages = 3>
!stage = !nv_tileas.memdesc<128xf32, #s>
!group = !nv_tileas.async_token

// A wait that leaves too many groups pending does not wait for the group that it names.
nv_tileaa.func @weak_wait(%v: !view, %n: i32) attributes {numWarps = 1 : i64} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %c3 = arith.constant 3 : i32
  %r = nv_tileas.alloc_tensor offset 0 : !ring
  %s0 = nv_tileas.memdesc_slot %r[%c0] : !ring -> !stage
  // expected-note @below {{the earlier access: write of shared bytes [0, 1536)}}
  %d0, %t0 = nv_tileas.async.tiled_load %v[%c0] into %s0 layout #l vector 4 bounds <none> : <tile = [128], memref<?xf32, strides = [1]>>[i32] -> !stage
  %a = nv_tileas.async.commit of %d0
  %s1 = nv_tileas.memdesc_slot %r[%c1] : !ring -> !stage
  // expected-note @below {{the earlier access: write of shared bytes [0, 1536)}}
  %d1, %t1 = nv_tileas.async.tiled_load %v[%c1] into %s1 layout #l vector 4 bounds <none> : <tile = [128], memref<?xf32, strides = [1]>>[i32] -> !stage
  %b = nv_tileas.async.commit of %d1
  %out:4 = scf.for %k = %c0 to %n step %c1 iter_args(%read = %c0, %write = %c2, %g0 = %a, %g1 = %b) -> (i32, i32, !group, !group) : i32 {
  // expected-error @below {{leaves 2 groups pending, which may include a group that it waits for}}
    nv_tileas.async.wait %g0 pending 2
    nv_tileas.barrier
    %w = nv_tileas.memdesc_slot %r[%write] : !ring -> !stage
  // expected-note @below {{the earlier access: write of shared bytes [0, 1536)}}
    %e, %te = nv_tileas.async.tiled_load %v[%k] into %w layout #l vector 4 bounds <none> : <tile = [128], memref<?xf32, strides = [1]>>[i32] -> !stage
    %h = nv_tileas.async.commit of %e
    %q = nv_tileas.memdesc_slot %r[%read] : !ring -> !stage
  // expected-error @below {{read of shared bytes [0, 1536) conflicts with a write by an asynchronous copy: no wait and barrier separate them}}
    %x = nv_tileas.local_load %q vector 4 : !stage -> tensor<128xf32, #l>
    %r1 = arith.addi %read, %c1 : i32
    %r_end = arith.cmpi eq, %r1, %c3 : i32
    %next_r = arith.select %r_end, %c0, %r1 : i32
    %w1 = arith.addi %write, %c1 : i32
    %w_end = arith.cmpi eq, %w1, %c3 : i32
    %next_w = arith.select %w_end, %c0, %w1 : i32
    scf.yield %next_r, %next_w, %g1, %h : i32, i32, !group, !group
  }
  nv_tileas.async.wait %out#2, %out#3 pending 0
  nv_tileaa.return
}

// -----

#l = #nv_tileas.layout<register = [1, 2], lane = [4, 8, 16, 32, 64], warp = []>
#s = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64]>
!view = !nv_tileaa.tiled_view<tile = [128], memref<?xf32, strides = [1]>>
!ring = !nv_tileas.memdesc<128xf32, #s, stages = 3>
!stage = !nv_tileas.memdesc<128xf32, #s>
!group = !nv_tileas.async_token

// Without the barrier, other threads may not see the copy, and may still read the stage that is filled next.
nv_tileaa.func @no_barrier(%v: !view, %n: i32) attributes {numWarps = 1 : i64} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %c3 = arith.constant 3 : i32
  %r = nv_tileas.alloc_tensor offset 0 : !ring
  %s0 = nv_tileas.memdesc_slot %r[%c0] : !ring -> !stage
  // expected-note @below {{the earlier access: write of shared bytes [0, 1536)}}
  %d0, %t0 = nv_tileas.async.tiled_load %v[%c0] into %s0 layout #l vector 4 bounds <none> : <tile = [128], memref<?xf32, strides = [1]>>[i32] -> !stage
  %a = nv_tileas.async.commit of %d0
  %s1 = nv_tileas.memdesc_slot %r[%c1] : !ring -> !stage
  // expected-note @below {{the earlier access: write of shared bytes [0, 1536)}}
  %d1, %t1 = nv_tileas.async.tiled_load %v[%c1] into %s1 layout #l vector 4 bounds <none> : <tile = [128], memref<?xf32, strides = [1]>>[i32] -> !stage
  %b = nv_tileas.async.commit of %d1
  %out:4 = scf.for %k = %c0 to %n step %c1 iter_args(%read = %c0, %write = %c2, %g0 = %a, %g1 = %b) -> (i32, i32, !group, !group) : i32 {
    nv_tileas.async.wait %g0 pending 1
    %w = nv_tileas.memdesc_slot %r[%write] : !ring -> !stage
  // expected-error @below {{write of shared bytes [0, 1536) conflicts with a write by other threads: no barrier separates them}}
  // expected-error @below {{write of shared bytes [0, 1536) conflicts with a read by other threads of an earlier iteration: no barrier separates them}}
  // expected-note @below {{the earlier access: write of shared bytes [0, 1536)}}
  // expected-error @below {{write of shared bytes [0, 1536) conflicts with a write by other threads of an earlier iteration: no barrier separates them}}
    %e, %te = nv_tileas.async.tiled_load %v[%k] into %w layout #l vector 4 bounds <none> : <tile = [128], memref<?xf32, strides = [1]>>[i32] -> !stage
    %h = nv_tileas.async.commit of %e
    %q = nv_tileas.memdesc_slot %r[%read] : !ring -> !stage
  // expected-error @below {{read of shared bytes [0, 1536) conflicts with a write by other threads: no barrier separates them}}
  // expected-note @below {{the earlier access: read of shared bytes [0, 1536)}}
    %x = nv_tileas.local_load %q vector 4 : !stage -> tensor<128xf32, #l>
    %r1 = arith.addi %read, %c1 : i32
    %r_end = arith.cmpi eq, %r1, %c3 : i32
    %next_r = arith.select %r_end, %c0, %r1 : i32
    %w1 = arith.addi %write, %c1 : i32
    %w_end = arith.cmpi eq, %w1, %c3 : i32
    %next_w = arith.select %w_end, %c0, %w1 : i32
    scf.yield %next_r, %next_w, %g1, %h : i32, i32, !group, !group
  }
  nv_tileas.async.wait %out#2, %out#3 pending 0
  nv_tileaa.return
}

// -----

#l = #nv_tileas.layout<register = [1, 2], lane = [4, 8, 16, 32, 64], warp = []>
#s = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64]>
!view = !nv_tileaa.tiled_view<tile = [128], memref<?xf32, strides = [1]>>
!ring = !nv_tileas.memdesc<128xf32, #s, stages = 3>
!stage = !nv_tileas.memdesc<128xf32, #s>
!group = !nv_tileas.async_token

// A barrier after the start of a copy does not protect the readers of its stage.
nv_tileaa.func @late_barrier(%v: !view, %n: i32) attributes {numWarps = 1 : i64} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %c3 = arith.constant 3 : i32
  %r = nv_tileas.alloc_tensor offset 0 : !ring
  %s0 = nv_tileas.memdesc_slot %r[%c0] : !ring -> !stage
  %d0, %t0 = nv_tileas.async.tiled_load %v[%c0] into %s0 layout #l vector 4 bounds <none> : <tile = [128], memref<?xf32, strides = [1]>>[i32] -> !stage
  %a = nv_tileas.async.commit of %d0
  %s1 = nv_tileas.memdesc_slot %r[%c1] : !ring -> !stage
  %d1, %t1 = nv_tileas.async.tiled_load %v[%c1] into %s1 layout #l vector 4 bounds <none> : <tile = [128], memref<?xf32, strides = [1]>>[i32] -> !stage
  %b = nv_tileas.async.commit of %d1
  %out:4 = scf.for %k = %c0 to %n step %c1 iter_args(%read = %c0, %write = %c2, %g0 = %a, %g1 = %b) -> (i32, i32, !group, !group) : i32 {
    nv_tileas.async.wait %g0 pending 1
    %w = nv_tileas.memdesc_slot %r[%write] : !ring -> !stage
  // expected-error @below {{write of shared bytes [0, 1536) conflicts with a read by other threads of an earlier iteration: no barrier separates them}}
    %e, %te = nv_tileas.async.tiled_load %v[%k] into %w layout #l vector 4 bounds <none> : <tile = [128], memref<?xf32, strides = [1]>>[i32] -> !stage
    %h = nv_tileas.async.commit of %e
    nv_tileas.barrier
    %q = nv_tileas.memdesc_slot %r[%read] : !ring -> !stage
  // expected-note @below {{the earlier access: read of shared bytes [0, 1536)}}
    %x = nv_tileas.local_load %q vector 4 : !stage -> tensor<128xf32, #l>
    %r1 = arith.addi %read, %c1 : i32
    %r_end = arith.cmpi eq, %r1, %c3 : i32
    %next_r = arith.select %r_end, %c0, %r1 : i32
    %w1 = arith.addi %write, %c1 : i32
    %w_end = arith.cmpi eq, %w1, %c3 : i32
    %next_w = arith.select %w_end, %c0, %w1 : i32
    scf.yield %next_r, %next_w, %g1, %h : i32, i32, !group, !group
  }
  nv_tileas.async.wait %out#2, %out#3 pending 0
  nv_tileaa.return
}

// -----

#l = #nv_tileas.layout<register = [1, 2], lane = [4, 8, 16, 32, 64], warp = []>
#s = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64]>
!view = !nv_tileaa.tiled_view<tile = [128], memref<?xf32, strides = [1]>>
!ring = !nv_tileas.memdesc<128xf32, #s, stages = 3>
!stage = !nv_tileas.memdesc<128xf32, #s>
!group = !nv_tileas.async_token

// A copy that starts after the commit belongs to the next group, for which the wait does not wait.
nv_tileaa.func @early_commit(%v: !view, %n: i32) attributes {numWarps = 1 : i64} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %c3 = arith.constant 3 : i32
  %r = nv_tileas.alloc_tensor offset 0 : !ring
  %s0 = nv_tileas.memdesc_slot %r[%c0] : !ring -> !stage
  %d0, %t0 = nv_tileas.async.tiled_load %v[%c0] into %s0 layout #l vector 4 bounds <none> : <tile = [128], memref<?xf32, strides = [1]>>[i32] -> !stage
  %a = nv_tileas.async.commit of %d0
  %s1 = nv_tileas.memdesc_slot %r[%c1] : !ring -> !stage
  %d1, %t1 = nv_tileas.async.tiled_load %v[%c1] into %s1 layout #l vector 4 bounds <none> : <tile = [128], memref<?xf32, strides = [1]>>[i32] -> !stage
  %b = nv_tileas.async.commit of %d1
  %out:4 = scf.for %k = %c0 to %n step %c1 iter_args(%read = %c0, %write = %c2, %g0 = %a, %g1 = %b) -> (i32, i32, !group, !group) : i32 {
    nv_tileas.async.wait %g0 pending 1
    nv_tileas.barrier
    %h = nv_tileas.async.commit
    %w = nv_tileas.memdesc_slot %r[%write] : !ring -> !stage
  // expected-note @below {{the earlier access: write of shared bytes [0, 1536)}}
    %e, %te = nv_tileas.async.tiled_load %v[%k] into %w layout #l vector 4 bounds <none> : <tile = [128], memref<?xf32, strides = [1]>>[i32] -> !stage
    %q = nv_tileas.memdesc_slot %r[%read] : !ring -> !stage
  // expected-error @below {{read of shared bytes [0, 1536) conflicts with a write by an asynchronous copy: no wait and barrier separate them}}
    %x = nv_tileas.local_load %q vector 4 : !stage -> tensor<128xf32, #l>
    %r1 = arith.addi %read, %c1 : i32
    %r_end = arith.cmpi eq, %r1, %c3 : i32
    %next_r = arith.select %r_end, %c0, %r1 : i32
    %w1 = arith.addi %write, %c1 : i32
    %w_end = arith.cmpi eq, %w1, %c3 : i32
    %next_w = arith.select %w_end, %c0, %w1 : i32
    scf.yield %next_r, %next_w, %g1, %h : i32, i32, !group, !group
  }
  nv_tileas.async.wait %out#2, %out#3 pending 0
  nv_tileaa.return
}
