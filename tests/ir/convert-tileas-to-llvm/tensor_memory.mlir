// RUN: tileiras-opt %s --pass-pipeline='builtin.module(convert-tileas-to-llvm{compute-capability=sm_100})' | FileCheck %s
// One thread issues a dot; each thread of four warps reads its fragments of the accumulator.
#a = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 72, 144, 288, 512, 1024, 2048, 4096]>
#b = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 72, 144, 288, 512, 1024, 2048]>
#m = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096]>
#l = #nv_tileas.layout<register = [1, 512, 8, 16, 32, 1024], lane = [2, 4, 64, 128, 256], warp = [2048, 4096]>
!a = !nv_tileas.memdesc<128x64xbf16, #a, align = 1024>
!b = !nv_tileas.memdesc<64x64xbf16, #b, align = 1024>
!m = !nv_tileas.memdesc<128x64xf32, #m, space = tensor>
!t = tensor<128x64xf32, #l>
!slot = !nv_tileas.memdesc<1xi32, #nv_tileas.shared_layout<offset = []>>

// CHECK-LABEL: llvm.func @f
// One warp allocates. All threads read the address after the barrier.
// CHECK: llvm.inline_asm has_side_effects {{.*}}"tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [$0], 64;", "r,~{memory}"
// CHECK: "tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;"
// CHECK: "tcgen05.fence::before_thread_sync;"
// CHECK: nv_tileas.barrier
// CHECK: "tcgen05.fence::after_thread_sync;"
// CHECK: %[[BASE:.*]] = llvm.inline_asm has_side_effects {{.*}}"ld.shared.b32 $0, [$1];", "=r,r,~{memory}"
// Descriptors have version 1 in bit 46, strides of 1024 bytes, and the swizzle of 128 bytes. The first of four steps along K starts the accumulator, unless %more holds.
// CHECK: llvm.mlir.constant(4611756662049538048 : i64)
// CHECK: llvm.inline_asm has_side_effects {{.*}}"tcgen05.mma.cta_group::1.kind::f16 [$0], $1, $2, $3, $4;", "r,l,l,r,b,~{memory}" %[[BASE]],
// CHECK-COUNT-3: "{ .reg .pred more; setp.eq.b32 more, 0, 0; tcgen05.mma.cta_group::1.kind::f16 [$0], $1, $2, $3, more; }", "r,l,l,r,~{memory}"
// CHECK: "{ .reg .b64 a; cvt.u64.u32 a, $0; tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [a]; }", "r,~{memory}"
// CHECK: "tcgen05.st.sync.aligned.16x256b.x8.b32 [$0],
// CHECK: "tcgen05.st.sync.aligned.16x256b.x8.b32 [$0],
// CHECK: "tcgen05.wait::st.sync.aligned;"
// Sixteen lanes each, 64 columns.
// CHECK: "tcgen05.ld.sync.aligned.16x256b.x8.b32
// CHECK: "tcgen05.ld.sync.aligned.16x256b.x8.b32
// The wait takes the registers, so that their users stay after it.
// CHECK: "tcgen05.wait::ld.sync.aligned;", "=f,{{.*}},0,1,2,{{.*}}~{memory}"
// CHECK: "bar.warp.sync -1;"
// CHECK: nv_tileas.barrier
// CHECK: "tcgen05.dealloc.cta_group::1.sync.aligned.b32 $0, 64;", "r,~{memory}" %[[BASE]]
gpu.module @m {
  nv_tileaa.func @f(%more: i1, %p: !nv_tileaa.ptr<f32>) attributes {numWarps = 4 : i64} {
    %a = nv_tileas.alloc_tensor offset 0 : !a
    %b = nv_tileas.alloc_tensor offset 16384 : !b
    %w = nv_tileas.alloc_tensor offset 24576 : !nv_tileas.memdesc<2xi64, #nv_tileas.shared_layout<offset = [1]>>
    %q = nv_tileas.async.pipeline.create_pipeline %w phases [full = 1, empty = 4] : <2xi64, #nv_tileas.shared_layout<offset = [1]>> -> <1>
    %j = nv_tileas.async.pipeline.create_iterator %q : <1>
    %slot = nv_tileas.alloc_tensor offset 24704 : !slot
    nv_tileas.tmem_allocate %slot columns 64 : !slot
    nv_tileas.barrier
    %m = nv_tileas.alloc_tensor offset 0 : !m
    nv_tileas.async.elect {
      nv_tileas.async.dot %a, %b, %m accumulate %more by <tensor, [128, 64, 16]> : !a, !b, !m
      nv_tileas.async.pipeline.producer_commit %q[%j] dots : <1>
    }
    %zero = arith.constant dense<0.0> : !t
    nv_tileas.tmem_store %zero, %m : !t, !m
    %x = nv_tileas.tmem_load %m : !m -> !t
    %out = nv_tileas.alloc_tensor offset 32768 : !nv_tileas.memdesc<128x64xf32, #m>
    nv_tileas.local_store %x, %out vector 2 : !t, !nv_tileas.memdesc<128x64xf32, #m>
    nv_tileas.tmem_free columns 64
    nv_tileaa.return
  }
}
