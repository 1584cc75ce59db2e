// RUN: tileiras-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(tileas-check-synchronization)'
// Programs that lack a barrier: each conflict is reported at the later access, with a note at the earlier one.

#rows = #nv_tileas.layout<register = [1], lane = [2, 4, 8, 16, 32], warp = [64]>
#columns = #nv_tileas.layout<register = [64], lane = [1, 2, 4, 8, 16], warp = [32]>
#s = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64]>
!m = !nv_tileas.memdesc<128xf32, #s>
nv_tileaa.func @no_barrier(%x: tensor<128xf32, #rows>) attributes {numWarps = 2 : i64} {
  %m = nv_tileas.alloc_tensor offset 0 : !m
  // expected-note @+1 {{the earlier access: write of shared bytes [0, 512)}}
  nv_tileas.local_store %x, %m vector 2 : tensor<128xf32, #rows>, !m
  // expected-error @+1 {{read of shared bytes [0, 512) conflicts with a write by other threads: no barrier separates them}}
  %y = nv_tileas.local_load %m vector 1 : !m -> tensor<128xf32, #columns>
  nv_tileaa.return
}

// -----

#rows = #nv_tileas.layout<register = [1], lane = [2, 4, 8, 16, 32], warp = [64]>
#columns = #nv_tileas.layout<register = [64], lane = [1, 2, 4, 8, 16], warp = [32]>
#s = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64]>
!m = !nv_tileas.memdesc<128xf32, #s>
// Allocations that share bytes: the second store may overwrite bytes that slow threads have not read yet.
nv_tileaa.func @reuse(%x: tensor<128xf32, #rows>) attributes {numWarps = 2 : i64} {
  %m = nv_tileas.alloc_tensor offset 0 : !m
  nv_tileas.local_store %x, %m vector 2 : tensor<128xf32, #rows>, !m
  nv_tileas.barrier
  // expected-note @+1 {{the earlier access: read of shared bytes [0, 512)}}
  %y = nv_tileas.local_load %m vector 1 : !m -> tensor<128xf32, #columns>
  %n = nv_tileas.alloc_tensor offset 256 : !m
  // expected-error @+1 {{write of shared bytes [256, 768) conflicts with a read by other threads: no barrier separates them}}
  nv_tileas.local_store %x, %n vector 2 : tensor<128xf32, #rows>, !m
  nv_tileas.barrier
  %z = nv_tileas.local_load %n vector 1 : !m -> tensor<128xf32, #columns>
  nv_tileaa.return
}

// -----

#rows = #nv_tileas.layout<register = [1], lane = [2, 4, 8, 16, 32], warp = [64]>
#columns = #nv_tileas.layout<register = [64], lane = [1, 2, 4, 8, 16], warp = [32]>
#s = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64]>
!m = !nv_tileas.memdesc<128xf32, #s>
// The next iteration stores while other threads still load.
nv_tileaa.func @around(%x: tensor<128xf32, #rows>, %n: i32) attributes {numWarps = 2 : i64} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %m = nv_tileas.alloc_tensor offset 0 : !m
  scf.for %i = %c0 to %n step %c1 : i32 {
    // expected-error @+1 {{write of shared bytes [0, 512) conflicts with a read by other threads of an earlier iteration: no barrier separates them}}
    nv_tileas.local_store %x, %m vector 2 : tensor<128xf32, #rows>, !m
    nv_tileas.barrier
    // expected-note @+1 {{the earlier access: read of shared bytes [0, 512)}}
    %y = nv_tileas.local_load %m vector 1 : !m -> tensor<128xf32, #columns>
  }
  nv_tileaa.return
}

// -----

#rows = #nv_tileas.layout<register = [1], lane = [2, 4, 8, 16, 32], warp = [64]>
#columns = #nv_tileas.layout<register = [64], lane = [1, 2, 4, 8, 16], warp = [32]>
#s = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64]>
!m = !nv_tileas.memdesc<128xf32, #s>
// A barrier in one branch does not synchronize the other branch.
nv_tileaa.func @branch(%x: tensor<128xf32, #rows>, %c: i1) attributes {numWarps = 2 : i64} {
  %m = nv_tileas.alloc_tensor offset 0 : !m
  // expected-note @+1 {{the earlier access: write of shared bytes [0, 512)}}
  nv_tileas.local_store %x, %m vector 2 : tensor<128xf32, #rows>, !m
  scf.if %c {
    nv_tileas.barrier
  }
  // expected-error @+1 {{read of shared bytes [0, 512) conflicts with a write by other threads: no barrier separates them}}
  %y = nv_tileas.local_load %m vector 1 : !m -> tensor<128xf32, #columns>
  nv_tileaa.return
}

// -----

#rows = #nv_tileas.layout<register = [1], lane = [2, 4, 8, 16, 32], warp = [64]>
#s = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64]>
!m = !nv_tileas.memdesc<128xf32, #s>
// A while loop: the accesses of the condition come before both the body and the code after the loop.
nv_tileaa.func @while(%x: tensor<128xf32, #rows>, %c: i1, %i: i32) attributes {numWarps = 2 : i64} {
  %m = nv_tileas.alloc_tensor offset 0 : !m
  scf.while : () -> () {
    nv_tileas.barrier
    // expected-note @+1 {{the earlier access: write of shared bytes [0, 512)}}
    nv_tileas.local_store %x, %m vector 2 : tensor<128xf32, #rows>, !m
    scf.condition(%c)
  } do {
    nv_tileas.barrier
    scf.yield
  }
  // A slice may be in any thread.
  // expected-error @+1 {{read of shared bytes [0, 512) conflicts with a write by other threads: no barrier separates them}}
  %y = nv_tileas.local_load_slice %m[%i] vector 1 : !m -> tensor<64xf32, #nv_tileas.layout<register = [], lane = [1, 2, 4, 8, 16], warp = [32]>>
  nv_tileaa.return
}

// -----

#rows = #nv_tileas.layout<register = [1], lane = [2, 4, 8, 16, 32], warp = [64]>
#copies = #nv_tileas.layout<register = [1, 64], lane = [2, 4, 8, 16, 32], warp = [0]>
#s = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64]>
!m = !nv_tileas.memdesc<128xf32, #s>
// Both warps load all elements.
nv_tileaa.func @replicas(%x: tensor<128xf32, #rows>) attributes {numWarps = 2 : i64} {
  %m = nv_tileas.alloc_tensor offset 0 : !m
  // expected-note @+1 {{the earlier access: write}}
  nv_tileas.local_store %x, %m vector 2 : tensor<128xf32, #rows>, !m
  // expected-error @+1 {{conflicts with a write by other threads}}
  %y = nv_tileas.local_load %m vector 1 : !m -> tensor<128xf32, #copies>
  nv_tileaa.return
}

// -----

#rows = #nv_tileas.layout<register = [1], lane = [2, 4, 8, 16, 32], warp = [64]>
#columns = #nv_tileas.layout<register = [64], lane = [1, 2, 4, 8, 16], warp = [32]>
#s = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32]>
!m = !nv_tileas.memdesc<64xf32, #s>
// An exchange in parts ends with loads.
nv_tileaa.func @exchange(%x: tensor<128xf32, #rows>, %z: tensor<64xf32, #nv_tileas.layout<register = [], lane = [1, 2, 4, 8, 16], warp = [32]>>) attributes {numWarps = 2 : i64} {
  %m = nv_tileas.alloc_tensor offset 0 : !m
  // expected-note @+1 {{the earlier access: read of shared bytes [0, 256)}}
  %y = nv_tileas.exchange %x, %m : tensor<128xf32, #rows>, !m -> tensor<128xf32, #columns>
  // expected-error @+1 {{write of shared bytes [0, 256) conflicts with a read by other threads}}
  nv_tileas.local_store %z, %m vector 1 : tensor<64xf32, #nv_tileas.layout<register = [], lane = [1, 2, 4, 8, 16], warp = [32]>>, !m
  nv_tileaa.return
}

// -----

#rows = #nv_tileas.layout<register = [1], lane = [2, 4, 8, 16, 32], warp = [64]>
#s = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64]>
!m = !nv_tileas.memdesc<128xf32, #s>
// Storage without an offset can be anywhere.
nv_tileaa.func @anywhere(%x: tensor<128xf32, #rows>) attributes {numWarps = 2 : i64} {
  %m = nv_tileas.alloc_tensor : !m
  %n = nv_tileas.alloc_tensor : !m
  // expected-note @+1 {{the earlier access: write}}
  nv_tileas.local_store %x, %m vector 2 : tensor<128xf32, #rows>, !m
  // expected-error @+1 {{conflicts with a write by other threads}}
  nv_tileas.local_store %x, %n vector 2 : tensor<128xf32, #rows>, !m
  nv_tileaa.return
}
