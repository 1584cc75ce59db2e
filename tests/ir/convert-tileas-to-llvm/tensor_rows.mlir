// RUN: tileiras-opt %s --pass-pipeline='builtin.module(convert-tileas-to-llvm{compute-capability=sm_100})' | FileCheck %s
// Threads read whole rows of an accumulator, scale rows in place, and store a left operand.
#b = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 72, 144, 288, 512, 1024, 2048]>
#m = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096]>
#l = #nv_tileas.layout<register = [1, 2, 4, 8, 16, 32], lane = [64, 128, 256, 512, 1024], warp = [2048, 4096]>
#factor = #nv_tileas.layout<register = [], lane = [1, 2, 4, 8, 16], warp = [32, 64]>
!b = !nv_tileas.memdesc<64x64xbf16, #b, align = 1024>
!m = !nv_tileas.memdesc<128x64xf32, #m, space = tensor>
!w = !nv_tileas.memdesc<128x64xbf16, #m, space = tensor>
!slot = !nv_tileas.memdesc<1xi32, #nv_tileas.shared_layout<offset = []>>

// CHECK-LABEL: llvm.func @f
// CHECK: %[[BASE:.*]] = llvm.inline_asm has_side_effects {{.*}}"ld.shared.b32 $0, [$1];", "=r,r,~{memory}"
// 64 columns of a row, 32 at a time.
// CHECK-COUNT-2: "tcgen05.ld.sync.aligned.32x32b.x32.b32
// CHECK: "tcgen05.wait::ld.sync.aligned;", "=f,
// A warp scales its rows if a factor is not one.
// CHECK: %[[NOT:.*]] = llvm.fcmp "une" %{{.*}}, %{{.*}} : f32
// CHECK: %[[ANY:.*]] = llvm.call_intrinsic "llvm.nvvm.vote.any.sync"(%{{.*}}, %[[NOT]])
// CHECK: %[[SCALES:.*]] = llvm.and %{{.*}}, %[[ANY]] : i1
// CHECK: llvm.cond_br %[[SCALES]]
// CHECK-COUNT-4: "tcgen05.st.sync.aligned.32x32b.x16.b32
// CHECK: "tcgen05.wait::st.sync.aligned;"
// Two elements of 16 bits share a column, so 64 of them take 32 columns.
// CHECK: "tcgen05.st.sync.aligned.32x32b.x32.b32 [$0],
// CHECK-NOT: tcgen05.st
// CHECK: "tcgen05.wait::st.sync.aligned;"
// The left operand in tensor memory: eight columns for each of four steps along K.
// CHECK: "{ .reg .pred more; setp.eq.b32 more, 0, 0; tcgen05.mma.cta_group::1.kind::f16 [$0], [$1], $2, $3, more; }", "r,r,l,r,~{memory}"
// CHECK: llvm.mlir.constant(8 : i32)
// CHECK: "{ .reg .pred more; setp.eq.b32 more, 0, 0; tcgen05.mma.cta_group::1.kind::f16 [$0], [$1], $2, $3, more; }"
// CHECK: llvm.mlir.constant(16 : i32)
// CHECK: llvm.mlir.constant(24 : i32)
// CHECK: nv_tileas.barrier
gpu.module @m {
  nv_tileaa.func @f(%more: i1, %x: f32) attributes {numWarps = 4 : i64} {
    %b = nv_tileas.alloc_tensor offset 0 : !b
    %slot = nv_tileas.alloc_tensor offset 8192 : !slot
    nv_tileas.tmem_allocate %slot columns 128 : !slot
    nv_tileas.barrier
    %s = nv_tileas.alloc_tensor offset 0 : !m
    %acc = nv_tileas.alloc_tensor offset 64 : !m
    %rows = nv_tileas.tmem_load %s : !m -> tensor<128x64xf32, #l>
    %factor = nv_tileas.splat %x : f32 -> tensor<128x1xf32, #factor>
    nv_tileas.tmem_scale %acc by %factor if %more : !m, tensor<128x1xf32, #factor>
    %p = arith.truncf %rows : tensor<128x64xf32, #l> to tensor<128x64xbf16, #l>
    %left = nv_tileas.memdesc_reinterpret %s : !m -> !w
    nv_tileas.tmem_store %p, %left : tensor<128x64xbf16, #l>, !w
    nv_tileas.async.elect {
      nv_tileas.async.dot %left, %b, %acc by <tensor, [128, 64, 16]> : !w, !b, !m
    }
    nv_tileas.tmem_free columns 128
    nv_tileaa.return
  }
}
