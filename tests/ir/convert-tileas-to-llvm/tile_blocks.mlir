// RUN: tileiras-opt %s --pass-pipeline='builtin.module(convert-tileas-to-llvm{compute-capability=sm_100})' | FileCheck %s
// Tile blocks that a CTA takes over: the request of one thread, and the answer that each agent reads.
!slot = !nv_tileas.memdesc<4xi32, #nv_tileas.shared_layout<offset = [1, 2]>>
!words = !nv_tileas.memdesc<2xi64, #nv_tileas.shared_layout<offset = [1]>>

// CHECK-LABEL: llvm.func @one(
// All threads of an agent of several warps have read the answer when one of them arrives.
// CHECK: "{ .reg .b128 answer; {{.*}} ld.shared.b128 answer, [$4]; clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 more, answer; {{.*}} @more clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 {$0, $1, $2, none}, answer;
// CHECK: "fence.proxy.async.shared::cta;"
// CHECK: nv_tileas.barrier
// CHECK: "@$1 mbarrier.arrive.shared::cta.b64 _, [$0];", "r,b,~{memory}"
// CHECK: "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [$0], [$1];", "r,r,~{memory}"
// CHECK: ld.shared.b128 answer
// CHECK-NOT: nv_tileas.barrier
// CHECK: "@$1 mbarrier.arrive.shared::cta.b64 _, [$0];", "r,b,~{memory}"

// The first CTA of a pair asks for both, after both have read the last answer. Coordinates count clusters.
// CHECK-LABEL: llvm.func @pair(
// CHECK: ld.shared.b128 answer
// CHECK: llvm.lshr
// CHECK: "@$1 mbarrier.arrive.release.cluster.shared::cluster.b64 _, [$0];", "r,b,~{memory}"
// CHECK: mbarrier.try_wait.parity.acquire.cluster
// CHECK: "mbarrier.arrive.expect_tx.shared::cta.b64 _, [$0], 16;", "r,~{memory}"
// CHECK: "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.multicast::cluster::all.b128 [$0], [$1];", "r,r,~{memory}"
gpu.module @m {
  nv_tileaa.func @one() attributes {numWarps = 5 : i64} {
    %w = nv_tileas.alloc_tensor offset 0 : !words
    %slot = nv_tileas.alloc_tensor offset 128 : !slot
    %p = nv_tileas.async.pipeline.create_pipeline %w phases [full = 1, empty = 2] : !words -> <1>
    %i = nv_tileas.async.pipeline.create_iterator %p : <1>
    nv_tileas.barrier
    nv_tileas.async.pipeline.agent_switch agents [<"consumers", warps = 4>, <"producer", warps = 1>] {
      %x, %y, %z, %more = nv_tileas.async.next_tile_block from %slot at %p[%i] : !slot, !nv_tileas.pipeline<1>, !nv_tileas.pipeline_iterator
    }, {
      nv_tileas.async.elect {
        %t = nv_tileas.async.pipeline.producer_acquire %p[%i] bytes 16 : <1>
        nv_tileas.async.cancel_tile_block into %slot arrive %t : !slot
        %x, %y, %z, %more = nv_tileas.async.next_tile_block from %slot at %p[%i] : !slot, !nv_tileas.pipeline<1>, !nv_tileas.pipeline_iterator
      }
    }
    nv_tileaa.return
  }
  nv_tileaa.func @pair() attributes {numWarps = 5 : i64, nv_tileas.num_ctas = 2 : i64} {
    %w = nv_tileas.alloc_tensor offset 0 : !words
    %slot = nv_tileas.alloc_tensor offset 128 : !slot
    %p = nv_tileas.async.pipeline.create_pipeline %w phases [full = 1, empty = 4] leader empty : !words -> <1>
    %i = nv_tileas.async.pipeline.create_iterator %p : <1>
    nv_tileas.barrier
    nv_tileas.async.pipeline.agent_switch agents [<"consumers", warps = 4>, <"producer", warps = 1>] {
      %x, %y, %z, %more = nv_tileas.async.next_tile_block from %slot at %p[%i] : !slot, !nv_tileas.pipeline<1>, !nv_tileas.pipeline_iterator
    }, {
      nv_tileas.async.elect {
        %t = nv_tileas.async.pipeline.producer_acquire %p[%i] bytes 16 : <1>
        nv_tileas.async.cancel_tile_block into %slot arrive %t : !slot
        %x, %y, %z, %more = nv_tileas.async.next_tile_block from %slot at %p[%i] : !slot, !nv_tileas.pipeline<1>, !nv_tileas.pipeline_iterator
      }
    }
    nv_tileaa.return
  }
}
