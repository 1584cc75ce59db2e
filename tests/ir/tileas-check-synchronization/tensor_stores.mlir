// RUN: tileiras-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(tileas-check-synchronization)'
// A TMA store reads its storage until it has been waited for; earlier barriers do not change that.
#s = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 72, 144, 288]>
#l = #nv_tileas.layout<register = [1, 2, 4, 256], lane = [8, 16, 32, 64, 128], warp = [0, 0]>
!s = !nv_tileas.memdesc<8x64xbf16, #s, align = 1024>
!x = tensor<8x64xbf16, #l>
!view = !nv_tileaa.tiled_view<tile = [8, 64], memref<64x64xbf16, strides = [64, 1]>>
!desc = !nv_tileas.tma_desc<bf16, dims = [1, 0], box = [64, 8], steps = [1, 1], swizzle = 128, fill = zero>

nv_tileaa.func @waited(%x: !x, %v: !view, %d: !desc, %n: i32) attributes {numWarps = 4 : i64} {
  %s = nv_tileas.alloc_tensor offset 0 : !s
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %i = %c0 to %n step %c1 : i32 {
    nv_tileas.async.tma_store_wait %s : !s
    nv_tileas.barrier
    nv_tileas.local_store %x, %s vector 8 : !x, !s
    nv_tileas.async.fence
    nv_tileas.barrier
    nv_tileas.async.tiled_tma_store %s to %v[%i, %c0] by %d : !s -> !view[i32, i32], !desc
  }
  nv_tileas.async.tma_store_wait %s read : !s
  nv_tileaa.return
}

// -----
#s = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 72, 144, 288]>
#l = #nv_tileas.layout<register = [1, 2, 4, 256], lane = [8, 16, 32, 64, 128], warp = [0, 0]>
!s = !nv_tileas.memdesc<8x64xbf16, #s, align = 1024>
!x = tensor<8x64xbf16, #l>
!view = !nv_tileaa.tiled_view<tile = [8, 64], memref<64x64xbf16, strides = [64, 1]>>
!desc = !nv_tileas.tma_desc<bf16, dims = [1, 0], box = [64, 8], steps = [1, 1], swizzle = 128, fill = zero>

nv_tileaa.func @not_waited(%x: !x, %v: !view, %d: !desc, %n: i32) attributes {numWarps = 4 : i64} {
  %s = nv_tileas.alloc_tensor offset 0 : !s
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %i = %c0 to %n step %c1 : i32 {
    nv_tileas.barrier
    // expected-error @below {{write of shared bytes [0, 1024) conflicts with a read by an asynchronous copy of an earlier iteration: no wait and barrier separate them}}
    nv_tileas.local_store %x, %s vector 8 : !x, !s
    nv_tileas.async.fence
    nv_tileas.barrier
    // expected-note @below {{the earlier access: read of shared bytes [0, 1024)}}
    nv_tileas.async.tiled_tma_store %s to %v[%i, %c0] by %d : !s -> !view[i32, i32], !desc
  }
  nv_tileas.async.tma_store_wait %s read : !s
  nv_tileaa.return
}

// -----
#s = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 72, 144, 288]>
#l = #nv_tileas.layout<register = [1, 2, 4, 256], lane = [8, 16, 32, 64, 128], warp = [0, 0]>
!s = !nv_tileas.memdesc<8x64xbf16, #s, align = 1024>
!x = tensor<8x64xbf16, #l>
!view = !nv_tileaa.tiled_view<tile = [8, 64], memref<64x64xbf16, strides = [64, 1]>>
!desc = !nv_tileas.tma_desc<bf16, dims = [1, 0], box = [64, 8], steps = [1, 1], swizzle = 128, fill = zero>

// The thread that started the store knows that it is complete; the others know it after the barrier.
nv_tileaa.func @not_told(%x: !x, %v: !view, %d: !desc, %n: i32) attributes {numWarps = 4 : i64} {
  %s = nv_tileas.alloc_tensor offset 0 : !s
  %c0 = arith.constant 0 : i32
  // expected-note @below {{the earlier access: read of shared bytes [0, 1024)}}
  nv_tileas.async.tiled_tma_store %s to %v[%n, %c0] by %d : !s -> !view[i32, i32], !desc
  nv_tileas.barrier
  nv_tileas.async.tma_store_wait %s : !s
  // expected-error @below {{write of shared bytes [0, 1024) conflicts with a read by other threads: no barrier separates them}}
  nv_tileas.local_store %x, %s vector 8 : !x, !s
  nv_tileaa.return
}

// -----
#s = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 72, 144, 288]>
#l = #nv_tileas.layout<register = [1, 2, 4, 256], lane = [8, 16, 32, 64, 128], warp = [0, 0]>
!s = !nv_tileas.memdesc<8x64xbf16, #s, align = 1024>
!x = tensor<8x64xbf16, #l>
!view = !nv_tileaa.tiled_view<tile = [8, 64], memref<64x64xbf16, strides = [64, 1]>>
!desc = !nv_tileas.tma_desc<bf16, dims = [1, 0], box = [64, 8], steps = [1, 1], swizzle = 128, fill = zero>

nv_tileaa.func @not_complete(%x: !x, %v: !view, %d: !desc, %n: i32) attributes {numWarps = 4 : i64} {
  %s = nv_tileas.alloc_tensor offset 0 : !s
  %c0 = arith.constant 0 : i32
  // expected-note @below {{the earlier access: write of shared bytes [0, 1024)}}
  nv_tileas.local_store %x, %s vector 8 : !x, !s
  nv_tileas.async.fence
  // expected-error @below {{read of shared bytes [0, 1024) conflicts with a write by other threads: no barrier separates them}}
  nv_tileas.async.tiled_tma_store %s to %v[%n, %c0] by %d : !s -> !view[i32, i32], !desc
  nv_tileaa.return
}
