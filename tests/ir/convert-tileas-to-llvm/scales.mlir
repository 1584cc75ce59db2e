// RUN: tileiras-opt %s --pass-pipeline='builtin.module(convert-tileas-to-llvm{compute-capability=sm_100})' | FileCheck %s
// One thread copies scale factors, 512 bytes at a time, and issues the dot that reads them.
#a = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64, 144, 288, 576, 1024, 2048, 4096, 8192]>
#b = #nv_tileas.shared_layout<offset = [256, 512, 1024, 2048, 4096, 8192, 16384, 4097, 8194, 16388, 8, 16, 32, 64, 128]>
#m = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384]>
#s = #nv_tileas.shared_layout<offset = [1, 2, 128, 256, 4, 8, 16, 32, 64]>
#t = #nv_tileas.shared_layout<offset = [256, 512, 32, 64, 1, 2, 4, 8, 16, 128]>
#u = #nv_tileas.shared_layout<offset = [256, 512, 32, 64, 128, 1, 2, 4, 8, 16]>
!a = !nv_tileas.memdesc<128x128xf8E4M3FN, #a, align = 1024>
!b = !nv_tileas.memdesc<128x256xf8E4M3FN, #b, align = 1024>
!m = !nv_tileas.memdesc<128x256xf32, #m, space = tensor>
!s = !nv_tileas.memdesc<128x4xf8E8M0FNU, #s>
!t = !nv_tileas.memdesc<4x256xf8E8M0FNU, #t>
!cs = !nv_tileas.memdesc<128x4xf8E8M0FNU, #s, space = scales>
!ct = !nv_tileas.memdesc<4x256xf8E8M0FNU, #u, space = scales>
!slot = !nv_tileas.memdesc<1xi32, #nv_tileas.shared_layout<offset = []>>
!blocks = !nv_tileaa.tiled_view<tile = [2, 512], memref<?x?xf8E8M0FNU, strides = [?, 1]>>
#r = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512]>
!rows = !nv_tileas.memdesc<2x512xf8E8M0FNU, #r>

// CHECK-LABEL: llvm.func @f
// Each row of a tile is contiguous.
// CHECK-COUNT-2: "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [$0], [$1], 512, [$2];", "r,l,r,~{memory}"
// Rows of 16 bytes without a swizzle: groups of eight are 128 bytes apart.
// CHECK: llvm.mlir.constant(70403103981568 : i64)
// CHECK-COUNT-3: "tcgen05.cp.cta_group::1.32x128b.warpx4 [$0], $1;", "r,l,~{memory}"
// The four instructions take the four bytes of a word: bits 29 and 4 of their descriptors.
// CHECK: llvm.mlir.constant(146800640 : i32)
// CHECK-NEXT: "tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale.scale_vec::1X [$0], $1, $2, $3, [$4], [$5], $6;", "r,l,l,r,r,r,b,~{memory}"
// CHECK: llvm.mlir.constant(683671568 : i32)
// CHECK-NEXT: "{ .reg .pred more; setp.eq.b32 more, 0, 0; tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale.scale_vec::1X [$0], $1, $2, $3, [$4], [$5], more; }", "r,l,l,r,r,r,~{memory}"
// CHECK: llvm.mlir.constant(1220542496 : i32)
// CHECK-NEXT: "{ .reg .pred more; setp.eq.b32 more, 0, 0; tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale.scale_vec::1X [$0], $1, $2, $3, [$4], [$5], more; }", "r,l,l,r,r,r,~{memory}"
// CHECK: llvm.mlir.constant(1757413424 : i32)
// CHECK-NEXT: "{ .reg .pred more; setp.eq.b32 more, 0, 0; tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale.scale_vec::1X [$0], $1, $2, $3, [$4], [$5], more; }", "r,l,l,r,r,r,~{memory}"
gpu.module @m {
  nv_tileaa.func @f(%more: i1, %p: !nv_tileaa.ptr<f8E8M0FNU>, %n: i32) attributes {numWarps = 4 : i64} {
    %a = nv_tileas.alloc_tensor offset 0 : !a
    %b = nv_tileas.alloc_tensor offset 16384 : !b
    %s = nv_tileas.alloc_tensor offset 49152 : !s
    %t = nv_tileas.alloc_tensor offset 49664 : !t
    %rows = nv_tileas.alloc_tensor offset 51200 : !rows
    %w = nv_tileas.alloc_tensor offset 50688 : !nv_tileas.memdesc<2xi64, #nv_tileas.shared_layout<offset = [1]>>
    %q = nv_tileas.async.pipeline.create_pipeline %w phases [full = 1, empty = 4] : <2xi64, #nv_tileas.shared_layout<offset = [1]>> -> <1>
    %j = nv_tileas.async.pipeline.create_iterator %q : <1>
    %slot = nv_tileas.alloc_tensor offset 50816 : !slot
    nv_tileas.tmem_allocate %slot columns 512 : !slot
    nv_tileas.barrier
    %m = nv_tileas.alloc_tensor offset 0 : !m
    %cs = nv_tileas.alloc_tensor offset 256 : !cs
    %ct = nv_tileas.alloc_tensor offset 260 : !ct
    %mem = nv_tileaa.make_memref %p, shape = [%n, %n : i32, i32], strides = [%n : i32] : <f8E8M0FNU> -> <?x?xf8E8M0FNU, strides = [?, 1]>
    %view = nv_tileaa.make_tiled_view %mem : <?x?xf8E8M0FNU, strides = [?, 1]> -> !blocks
    nv_tileas.async.elect {
      %token = nv_tileas.async.pipeline.producer_acquire %q[%j] bytes 1024 : <1>
      nv_tileas.async.bulk_load %view[%n, %n] into %rows arrive %token : !blocks[i32, i32] -> !rows
      nv_tileas.tmem_copy %s, %cs : !s, !cs
      nv_tileas.tmem_copy %t, %ct : !t, !ct
      nv_tileas.async.dot %a, %b, %m accumulate %more scales %cs, %ct per 32 by <tensor, [128, 256, 32]> : !a, !b, !m scaled by !cs, !ct
      nv_tileas.async.pipeline.producer_commit %q[%j] dots : <1>
    }
    nv_tileas.tmem_free columns 512
    nv_tileaa.return
  }
}
