// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileas-check-synchronization)' --split-input-file --verify-diagnostics
#l = #nv_tileas.layout<register = [1, 2], lane = [4, 8, 16, 32, 64], warp = []>

#s = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64]>

// Stages in turn: the copy and the read belong to different ones, and a barrier stands between a read and the next copy.
nv_tileaa.func @ring(%v: !nv_tileaa.tiled_view<tile = [128], memref<?xf32, strides = [1]>>, %n: i32, %i: i32, %j: i32) attributes {numWarps = 1 : i64} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r = nv_tileas.alloc_tensor offset 0 : !nv_tileas.memdesc<128xf32, #s, stages = 3>
  %p = nv_tileas.memdesc_slot %r[%c0] : !nv_tileas.memdesc<128xf32, #s, stages = 3> -> !nv_tileas.memdesc<128xf32, #s>
  %d, %t1 = nv_tileas.async.tiled_load %v[%c0] into %p layout #l vector 4 bounds <none> : <tile = [128], memref<?xf32, strides = [1]>>[i32] -> !nv_tileas.memdesc<128xf32, #s>
  %g = nv_tileas.async.commit of %d
  scf.for %k = %c0 to %n step %c1 : i32 {
    nv_tileas.async.wait %g pending 1
    nv_tileas.barrier
    %w = nv_tileas.memdesc_slot %r[%i] : !nv_tileas.memdesc<128xf32, #s, stages = 3> -> !nv_tileas.memdesc<128xf32, #s>
    %e, %t2 = nv_tileas.async.tiled_load %v[%k] into %w layout #l vector 4 bounds <none> : <tile = [128], memref<?xf32, strides = [1]>>[i32] -> !nv_tileas.memdesc<128xf32, #s>
    %h = nv_tileas.async.commit of %e
    %q = nv_tileas.memdesc_slot %r[%j] : !nv_tileas.memdesc<128xf32, #s, stages = 3> -> !nv_tileas.memdesc<128xf32, #s>
    %x = nv_tileas.local_load %q vector 4 : !nv_tileas.memdesc<128xf32, #s> -> tensor<128xf32, #l>
  }
  nv_tileas.async.wait %g pending 0
  // Other storage in the same bytes, behind a wait for all and a barrier.
  nv_tileas.barrier
  %o = nv_tileas.alloc_tensor offset 0 : !nv_tileas.memdesc<128xf32, #s>
  %y = arith.constant dense<1.0> : tensor<128xf32, #l>
  nv_tileas.local_store %y, %o vector 4 : tensor<128xf32, #l>, !nv_tileas.memdesc<128xf32, #s>
  nv_tileaa.return
}

// -----

#l = #nv_tileas.layout<register = [1, 2], lane = [4, 8, 16, 32, 64], warp = []>
#s = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64]>

// A stage is filled again while it may still be read.
nv_tileaa.func @reuse(%v: !nv_tileaa.tiled_view<tile = [128], memref<?xf32, strides = [1]>>, %n: i32, %i: i32) attributes {numWarps = 1 : i64} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r = nv_tileas.alloc_tensor offset 0 : !nv_tileas.memdesc<128xf32, #s, stages = 3>
  scf.for %k = %c0 to %n step %c1 : i32 {
    %w = nv_tileas.memdesc_slot %r[%i] : !nv_tileas.memdesc<128xf32, #s, stages = 3> -> !nv_tileas.memdesc<128xf32, #s>
    // expected-error @+1 {{write of shared bytes [0, 1536) conflicts with a read by other threads of an earlier iteration}}
    %e, %t2 = nv_tileas.async.tiled_load %v[%k] into %w layout #l vector 4 bounds <none> : <tile = [128], memref<?xf32, strides = [1]>>[i32] -> !nv_tileas.memdesc<128xf32, #s>
    %h = nv_tileas.async.commit of %e
    nv_tileas.async.wait %h pending 1
    nv_tileas.barrier
    %q = nv_tileas.memdesc_slot %r[%k] : !nv_tileas.memdesc<128xf32, #s, stages = 3> -> !nv_tileas.memdesc<128xf32, #s>
    // expected-note @+1 {{the earlier access: read of shared bytes [0, 1536)}}
    %x = nv_tileas.local_load %q vector 4 : !nv_tileas.memdesc<128xf32, #s> -> tensor<128xf32, #l>
  }
  nv_tileaa.return
}

// -----

#l = #nv_tileas.layout<register = [1, 2], lane = [4, 8, 16, 32, 64], warp = []>
#s = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64]>

// A barrier does not end a copy that is under way.
nv_tileaa.func @unfinished(%v: !nv_tileaa.tiled_view<tile = [128], memref<?xf32, strides = [1]>>, %i: i32) attributes {numWarps = 1 : i64} {
  %r = nv_tileas.alloc_tensor offset 0 : !nv_tileas.memdesc<128xf32, #s, stages = 2>
  %w = nv_tileas.memdesc_slot %r[%i] : !nv_tileas.memdesc<128xf32, #s, stages = 2> -> !nv_tileas.memdesc<128xf32, #s>
  // expected-note @+1 {{the earlier access: write of shared bytes [0, 1024)}}
  %e, %t2 = nv_tileas.async.tiled_load %v[%i] into %w layout #l vector 4 bounds <none> : <tile = [128], memref<?xf32, strides = [1]>>[i32] -> !nv_tileas.memdesc<128xf32, #s>
  %h = nv_tileas.async.commit of %e
  nv_tileas.async.wait %h pending 1
  nv_tileas.barrier
  %o = nv_tileas.alloc_tensor offset 512 : !nv_tileas.memdesc<128xf32, #s>
  %y = arith.constant dense<1.0> : tensor<128xf32, #l>
  // expected-error @+1 {{write of shared bytes [512, 1024) conflicts with a write by other threads}}
  nv_tileas.local_store %y, %o vector 4 : tensor<128xf32, #l>, !nv_tileas.memdesc<128xf32, #s>
  nv_tileaa.return
}
