// RUN: tileiras-opt %s --pass-pipeline='builtin.module(convert-tileas-to-llvm{compute-capability=sm_100})' | FileCheck %s
// Two CTAs that run dots together. The barriers of the first one count the loads and the reads of both.
#a = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 72, 144, 288, 512, 1024, 2048, 4096]>
#b = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 72, 144, 256, 512, 1024]>
#m = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096]>
#l = #nv_tileas.layout<register = [1, 512, 8, 16, 32, 1024], lane = [2, 4, 64, 128, 256], warp = [2048, 4096]>
!a = !nv_tileas.memdesc<128x64xbf16, #a, align = 1024>
!b = !nv_tileas.memdesc<64x32xbf16, #b, align = 1024>
!m = !nv_tileas.memdesc<128x64xf32, #m, space = tensor>
!t = tensor<128x64xf32, #l>
!slot = !nv_tileas.memdesc<1xi32, #nv_tileas.shared_layout<offset = []>>
!words = !nv_tileas.memdesc<2xi64, #nv_tileas.shared_layout<offset = [1]>>
!view = !nv_tileaa.tiled_view<tile = [128, 64], memref<128x64xbf16, strides = [64, 1]>>
!scratch = !nv_tileas.memdesc<128xi8, #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64]>>
!desc = !nv_tileas.tma_desc<bf16, dims = [1, 0], box = [64, 128], steps = [1, 1], swizzle = 128, fill = zero>

// CHECK-LABEL: llvm.func @f
// The CTAs meet after their barriers are initialized, and before they allocate.
// CHECK: "fence.mbarrier_init.release.cluster;"
// CHECK: "barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;"
// CHECK: "tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [$0], 64;", "r,~{memory}"
// CHECK: "tcgen05.relinquish_alloc_permit.cta_group::2.sync.aligned;"
// The consumers arrive at the barrier of the first CTA.
// CHECK: "mapa.shared::cluster.u32 $0, $1, 0;", "=r,r"
// CHECK: "@$1 mbarrier.arrive.release.cluster.shared::cluster.b64 _, [$0];", "r,b,~{memory}"
// The first CTA announces the bytes of both. Copies arrive at its barrier.
// CHECK: "@$1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [$0], 32768;", "r,b,~{memory}"
// CHECK: "mapa.shared::cluster.u32 $0, $1, 0;", "=r,r"
// CHECK: complete_tx::bytes.cta_group::2 [$0]
// Only the first CTA runs the agent that issues dots. It waits for what both CTAs did.
// CHECK: llvm.icmp "eq" %{{.*}}, %{{.*}} : i32
// CHECK: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 done, [$0], $1;
// CHECK: "{ .reg .pred more; setp.eq.b32 more, 0, 0; tcgen05.mma.cta_group::2.kind::f16 [$0], $1, $2, $3, more; }", "r,l,l,r,~{memory}"
// CHECK: tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [a], both; }", "r,~{memory}"
// CHECK: "barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;"
// CHECK: "tcgen05.dealloc.cta_group::2.sync.aligned.b32 $0, 64;", "r,~{memory}"
gpu.module @m {
  nv_tileaa.func @f(%p: !nv_tileaa.ptr<bf16>) attributes {numWarps = 6 : i64, nv_tileas.num_ctas = 2 : i64} {
    %memref = nv_tileaa.make_memref %p, shape = [], strides = [] : <bf16> -> <128x64xbf16, strides = [64, 1]>
    %view = nv_tileaa.make_tiled_view %memref : <128x64xbf16, strides = [64, 1]> -> !view
    %scratch = nv_tileas.alloc_tensor offset 24960 : !scratch
    %a = nv_tileas.alloc_tensor offset 0 : !a
    %b = nv_tileas.alloc_tensor offset 16384 : !b
    %w = nv_tileas.alloc_tensor offset 24576 : !words
    %p1 = nv_tileas.async.pipeline.create_pipeline %w phases [full = 1, empty = 1] leader full : !words -> <1>
    %i = nv_tileas.async.pipeline.create_iterator %p1 : <1>
    %v = nv_tileas.alloc_tensor offset 24704 : !words
    %q = nv_tileas.async.pipeline.create_pipeline %v phases [full = 1, empty = 8] leader empty : !words -> <1>
    %j = nv_tileas.async.pipeline.create_iterator %q : <1>
    %slot = nv_tileas.alloc_tensor offset 24832 : !slot
    nv_tileas.tmem_allocate %slot columns 64 pair : !slot
    nv_tileas.barrier
    %m = nv_tileas.alloc_tensor offset 0 : !m
    nv_tileas.async.pipeline.agent_switch agents [<"consumers", warps = 4>, <"producer", warps = 1>, <"matrix", warps = 1 on rank 0>] {
      %t = nv_tileas.async.pipeline.consumer_wait %q[%j] : <1>
      nv_tileas.tmem_fence after
      %x = nv_tileas.tmem_load %m : !m -> !t
      nv_tileas.tmem_fence
      nv_tileas.async.pipeline.consumer_release %q[%j] : <1>
    }, {
      %desc = nv_tileas.make_tiled_tma_desc %view scratch %scratch : !view, !scratch -> !desc
      nv_tileas.async.elect {
        %c0 = arith.constant 0 : i32
        %t = nv_tileas.async.pipeline.producer_acquire %p1[%i] bytes 16384 : <1>
        nv_tileas.async.tiled_tma_load %view[%c0, %c0] by %desc into %a arrive %t : !view[i32, i32], !desc -> !a
      }
    }, {
      nv_tileas.async.elect {
        %t = nv_tileas.async.pipeline.producer_acquire %q[%j] : <1>
        nv_tileas.tmem_fence after
        %u = nv_tileas.async.pipeline.consumer_wait %p1[%i] : <1>
        nv_tileas.async.dot %a, %b, %m by <tensor_pair, [256, 64, 16]> : !a, !b, !m
        nv_tileas.async.pipeline.consumer_release %p1[%i] dots : <1>
        nv_tileas.async.pipeline.producer_commit %q[%j] dots : <1>
      }
    }
    nv_tileas.tmem_free columns 64 pair
    nv_tileaa.return
  }
}
