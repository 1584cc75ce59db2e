// RUN: tileiras-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(tileas-check-synchronization)'
// A dot reads its operands until it has been waited for; earlier barriers do not change that.
#b = #nv_tileas.shared_layout<offset = [8, 16, 32, 64, 1, 2, 68]>
#c = #nv_tileas.layout<register = [1, 64], lane = [2, 4, 8, 16, 32], warp = [128, 256]>
#left = #nv_tileas.layout<register = [1, 128, 8], lane = [2, 4, 16, 32, 64], warp = [256, 512]>
#v = #nv_tileas.layout<register = [1], lane = [0, 2, 4, 8, 16], warp = [32, 64]>
#plain = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64]>
!b = !nv_tileas.memdesc<16x8xf16, #b, align = 256>
!s = !nv_tileas.memdesc<128xf16, #plain>
!left = tensor<64x16xf16, #left>
!c = tensor<64x8xf32, #c>
!v = tensor<128xf16, #v>

nv_tileaa.func @waited(%x: !left, %z: !c, %v: !v) attributes {numWarps = 4 : i64} {
  %y = nv_tileas.alloc_tensor offset 0 : !b
  %s = nv_tileas.alloc_tensor offset 0 : !s
  %r = nv_tileas.async.dot %x, %y, %z by <warpgroup, [64, 8, 16]> : !left, !b, !c
  %d = nv_tileas.async.dot_wait %r pending 0 : !c -> !c
  nv_tileas.barrier
  nv_tileas.local_store %v, %s vector 2 : !v, !s
  nv_tileaa.return
}

// -----
#b = #nv_tileas.shared_layout<offset = [8, 16, 32, 64, 1, 2, 68]>
#c = #nv_tileas.layout<register = [1, 64], lane = [2, 4, 8, 16, 32], warp = [128, 256]>
#left = #nv_tileas.layout<register = [1, 128, 8], lane = [2, 4, 16, 32, 64], warp = [256, 512]>
#v = #nv_tileas.layout<register = [1], lane = [0, 2, 4, 8, 16], warp = [32, 64]>
#plain = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64]>
!b = !nv_tileas.memdesc<16x8xf16, #b, align = 256>
!s = !nv_tileas.memdesc<128xf16, #plain>
!left = tensor<64x16xf16, #left>
!c = tensor<64x8xf32, #c>
!v = tensor<128xf16, #v>

nv_tileaa.func @barrier_before_the_wait(%x: !left, %z: !c, %v: !v) attributes {numWarps = 4 : i64} {
  %y = nv_tileas.alloc_tensor offset 0 : !b
  %s = nv_tileas.alloc_tensor offset 0 : !s
  // expected-note @below {{the earlier access: read of shared bytes [0, 256)}}
  %r = nv_tileas.async.dot %x, %y, %z by <warpgroup, [64, 8, 16]> : !left, !b, !c
  nv_tileas.barrier
  %d = nv_tileas.async.dot_wait %r pending 0 : !c -> !c
  // expected-error @below {{write of shared bytes [0, 256) conflicts with a read by other threads: no barrier separates them}}
  nv_tileas.local_store %v, %s vector 2 : !v, !s
  nv_tileaa.return
}

// -----
#b = #nv_tileas.shared_layout<offset = [8, 16, 32, 64, 1, 2, 68]>
#c = #nv_tileas.layout<register = [1, 64], lane = [2, 4, 8, 16, 32], warp = [128, 256]>
#left = #nv_tileas.layout<register = [1, 128, 8], lane = [2, 4, 16, 32, 64], warp = [256, 512]>
#v = #nv_tileas.layout<register = [1], lane = [0, 2, 4, 8, 16], warp = [32, 64]>
#plain = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64]>
!b = !nv_tileas.memdesc<16x8xf16, #b, align = 256>
!s = !nv_tileas.memdesc<128xf16, #plain>
!left = tensor<64x16xf16, #left>
!c = tensor<64x8xf32, #c>
!v = tensor<128xf16, #v>

// The later of two dots is still in flight.
nv_tileaa.func @younger(%x: !left, %z: !c, %v: !v) attributes {numWarps = 4 : i64} {
  %y = nv_tileas.alloc_tensor offset 0 : !b
  %w = nv_tileas.alloc_tensor offset 256 : !b
  %s = nv_tileas.alloc_tensor offset 0 : !s
  %t = nv_tileas.alloc_tensor offset 256 : !s
  %r = nv_tileas.async.dot %x, %y, %z by <warpgroup, [64, 8, 16]> : !left, !b, !c
  // expected-note @below {{the earlier access: read of shared bytes [256, 512)}}
  %q = nv_tileas.async.dot %x, %w, %r by <warpgroup, [64, 8, 16]> : !left, !b, !c
  nv_tileas.async.dot_wait pending 1
  nv_tileas.barrier
  nv_tileas.local_store %v, %s vector 2 : !v, !s
  // expected-error @below {{write of shared bytes [256, 512) conflicts with a read by a dot: no wait and barrier separate them}}
  nv_tileas.local_store %v, %t vector 2 : !v, !s
  %d = nv_tileas.async.dot_wait %q pending 0 : !c -> !c
  nv_tileaa.return
}
