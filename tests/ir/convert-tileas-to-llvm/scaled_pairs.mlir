// RUN: tileiras-opt %s --pass-pipeline='builtin.module(convert-tileas-to-llvm{compute-capability=sm_100})' | FileCheck %s
// Scale factors of two CTAs that run dots together: copies arrive at barriers of their own CTA, warps of both CTAs arrive at
// the leader's barriers, and one instruction copies a block in both CTAs.
#a = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64, 144, 288, 576, 1024, 2048, 4096, 8192]>
#b = #nv_tileas.shared_layout<offset = [128, 256, 512, 1024, 2048, 4096, 8192, 2049, 4098, 8196, 8, 16, 32, 64]>
#m = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384]>
#s = #nv_tileas.shared_layout<offset = [1, 2, 128, 256, 4, 8, 16, 32, 64]>
#t = #nv_tileas.shared_layout<offset = [256, 512, 32, 64, 1, 2, 4, 8, 16, 128]>
#u = #nv_tileas.shared_layout<offset = [256, 512, 32, 64, 128, 1, 2, 4, 8, 16]>
!a = !nv_tileas.memdesc<128x128xf8E4M3FN, #a, align = 1024>
!b = !nv_tileas.memdesc<128x128xf8E4M3FN, #b, align = 1024>
!m = !nv_tileas.memdesc<128x256xf32, #m, space = tensor>
!s = !nv_tileas.memdesc<128x4xf8E8M0FNU, #s>
!t = !nv_tileas.memdesc<4x256xf8E8M0FNU, #t>
!cs = !nv_tileas.memdesc<128x4xf8E8M0FNU, #s, space = scales>
!ct = !nv_tileas.memdesc<4x256xf8E8M0FNU, #u, space = scales>
!slot = !nv_tileas.memdesc<1xi32, #nv_tileas.shared_layout<offset = []>>
!words = !nv_tileas.memdesc<4xi64, #nv_tileas.shared_layout<offset = [1, 2]>>
!blocks = !nv_tileaa.tiled_view<tile = [2, 512], memref<?x?xf8E8M0FNU, strides = [?, 1]>>
#r = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512]>
!rows = !nv_tileas.memdesc<2x512xf8E8M0FNU, #r>

// CHECK-LABEL: llvm.func @f
// CHECK: "mbarrier.init.shared::cta.b64 [$0], 8;"
// The bytes of this CTA, at its own barrier.
// CHECK: "mbarrier.arrive.expect_tx.shared::cta.b64 _, [$0], 1024;", "r,~{memory}"
// CHECK-NOT: mapa
// CHECK-COUNT-2: "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [$0], [$1], 512, [$2];", "r,l,r,~{memory}"
// The converter waits for them, and arrives at the barrier of the leader.
// CHECK: again: mbarrier.try_wait.parity.shared::cta.b64 done, [$0], $1;
// CHECK: "fence.proxy.async.shared::cta;"
// CHECK: "mapa.shared::cluster.u32 $0, $1, 0;", "=r,r"
// CHECK-NEXT: "@$1 mbarrier.arrive.release.cluster.shared::cluster.b64 _, [$0];", "r,b,~{memory}"
// The leader waits for both CTAs.
// CHECK-COUNT-2: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 done, [$0], $1;
// CHECK-COUNT-3: "tcgen05.cp.cta_group::2.32x128b.warpx4 [$0], $1;", "r,l,~{memory}"
// CHECK: tcgen05.mma.cta_group::2.kind::mxf8f6f4.block_scale.scale_vec::1X [$0], $1, $2, $3, [$4], [$5], more;
// CHECK: tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64
gpu.module @m {
  nv_tileaa.func @f(%p: !nv_tileaa.ptr<f8E8M0FNU>, %n: i32) attributes {numWarps = 6 : i64, nv_tileas.num_ctas = 2 : i64} {
    %a = nv_tileas.alloc_tensor offset 0 : !a
    %b = nv_tileas.alloc_tensor offset 16384 : !b
    %s = nv_tileas.alloc_tensor offset 32768 : !s
    %t = nv_tileas.alloc_tensor offset 33280 : !t
    %rows = nv_tileas.alloc_tensor offset 34816 : !rows
    %w = nv_tileas.alloc_tensor offset 34304 : !words
    %q = nv_tileas.async.pipeline.create_pipeline %w phases [full = 1, empty = 1, converted = 8, scales = 1] leader full, converted : !words -> <1>
    %j = nv_tileas.async.pipeline.create_iterator %q : <1>
    %slot = nv_tileas.alloc_tensor offset 34432 : !slot
    nv_tileas.tmem_allocate %slot columns 512 pair : !slot
    nv_tileas.barrier
    %m = nv_tileas.alloc_tensor offset 0 : !m
    %cs = nv_tileas.alloc_tensor offset 256 : !cs
    %ct = nv_tileas.alloc_tensor offset 260 : !ct
    nv_tileas.async.pipeline.agent_switch agents [<"producer", warps = 1>, <"converter", warps = 4>, <"matrix", warps = 1 on rank 0>] {
      %mem = nv_tileaa.make_memref %p, shape = [%n, %n : i32, i32], strides = [%n : i32] : <f8E8M0FNU> -> <?x?xf8E8M0FNU, strides = [?, 1]>
      %view = nv_tileaa.make_tiled_view %mem : <?x?xf8E8M0FNU, strides = [?, 1]> -> !blocks
      nv_tileas.async.elect {
        %token = nv_tileas.async.pipeline.producer_acquire %q[%j] bytes 1024 fills scales : <1>
        nv_tileas.async.bulk_load %view[%n, %n] into %rows arrive %token : !blocks[i32, i32] -> !rows
      }
    }, {
      %own = nv_tileas.async.pipeline.consumer_wait %q[%j] at scales : <1>
      nv_tileas.async.pipeline.producer_commit %q[%j] at converted : <1>
    }, {
      nv_tileas.async.elect {
        %full = nv_tileas.async.pipeline.consumer_wait %q[%j] : <1>
        %converted = nv_tileas.async.pipeline.consumer_wait %q[%j] at converted : <1>
        nv_tileas.tmem_copy %s, %cs pair : !s, !cs
        nv_tileas.tmem_copy %t, %ct pair : !t, !ct
        nv_tileas.async.dot %a, %b, %m scales %cs, %ct per 32 by <tensor_pair, [256, 256, 32]> : !a, !b, !m scaled by !cs, !ct
        nv_tileas.async.pipeline.consumer_release %q[%j] dots : <1>
      }
    }
    nv_tileas.tmem_free columns 512 pair
    nv_tileaa.return
  }
}
