// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileas-choose-register-forms,convert-tileas-to-llvm{compute-capability=sm_90})' | FileCheck %s
// A dot of warpgroups is one group of instructions between a fence and a commit. The accumulator registers are tied
// to the operands of each instruction.

#a = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 72, 128, 256, 512]>
#b = #nv_tileas.shared_layout<offset = [8, 16, 32, 64, 1, 2, 68]>
#out = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64, 128, 256]>
#c = #nv_tileas.layout<register = [1, 64], lane = [2, 4, 8, 16, 32], warp = [128, 256]>
!a = !nv_tileas.memdesc<64x16xf16, #a, align = 256>
!b = !nv_tileas.memdesc<16x8xf16, #b, align = 256>
!c = tensor<64x8xf32, #c>
!h = tensor<64x8xbf16, #c>
!out = !nv_tileas.memdesc<64x8xbf16, #out, align = 256>
#panel = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 72, 144, 288, 512, 1024, 2048]>
#rows = #nv_tileas.layout<register = [1, 2, 4, 1024, 2048], lane = [8, 16, 32, 64, 128], warp = [256, 512]>
!a_ring = !nv_tileas.memdesc<64x16xf16, #a, stages = 3, align = 256>

// Four registers. The first instruction of a dot from zero has no accumulator operand. Address, leading offset of one
// unit, stride of 256 bytes, and swizzle of 32 are in one value that LLVM does not take apart.
// CHECK-LABEL: llvm.func @one
// CHECK: llvm.inline_asm has_side_effects {{.*}}"fence.proxy.async.shared::cta;", "~{memory}"
// CHECK: %[[A:.*]] = llvm.ptrtoint %{{.*}} : !llvm.ptr<3> to i32
// CHECK: llvm.and %[[A]]
// CHECK: llvm.lshr
// CHECK: llvm.mlir.constant(-4611685949707845632 : i64)
// CHECK: %[[D:.*]] = llvm.or disjoint
// CHECK: llvm.inline_asm {{.*}}"", "=l,0" %[[D]] : (i64) -> i64
// CHECK: llvm.inline_asm has_side_effects {{.*}}"wgmma.fence.sync.aligned;", "~{memory}"
// CHECK: llvm.inline_asm has_side_effects {{.*}}"{ .reg .pred sum; setp.ne.b32 sum, 0, 0; wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {$0, $1, $2, $3}, $4, $5, sum, 1, 1, 0, 0; }", "=f,=f,=f,=f,l,l,~{memory}"
// CHECK: llvm.inline_asm has_side_effects {{.*}}"wgmma.commit_group.sync.aligned;", "~{memory}"
// CHECK: llvm.inline_asm has_side_effects {{.*}}"wgmma.fence.sync.aligned;"
// CHECK: llvm.inline_asm has_side_effects {{.*}}"{ .reg .pred sum; setp.ne.b32 sum, 1, 0; wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {$0, $1, $2, $3}, $8, $9, sum, 1, 1, 0, 0; }", "=f,=f,=f,=f,0,1,2,3,l,l,~{memory}"
// CHECK: llvm.inline_asm has_side_effects {{.*}}"wgmma.commit_group.sync.aligned;"
// CHECK: llvm.inline_asm has_side_effects {{.*}}"wgmma.wait_group.sync.aligned 1;", "~{memory}" : () -> ()
// CHECK: llvm.inline_asm has_side_effects {{.*}}"wgmma.wait_group.sync.aligned 0;", "~{memory}" : () -> ()
// CHECK: llvm.inline_asm has_side_effects {{.*}}"", "=f,=f,=f,=f,0,1,2,3"
gpu.module @m {
  nv_tileaa.func @one() attributes {numWarps = 4 : i64} {
    %x = nv_tileas.alloc_tensor offset 0 : !a
    %y = nv_tileas.alloc_tensor offset 2048 : !b
    %z = arith.constant dense<0.0> : !c
    nv_tileas.async.fence
    nv_tileas.barrier
    %r = nv_tileas.async.dot %x, %y, %z by <warpgroup, [64, 8, 16]> : !a, !b, !c
    %s = nv_tileas.async.dot %x, %y, %r by <warpgroup, [64, 8, 16]> : !a, !b, !c
    nv_tileas.async.dot_wait pending 1
    %t = nv_tileas.async.dot_wait %s pending 0 : !c -> !c
    nv_tileaa.return
  }
}

// Two warpgroups, one below the other, with two blocks of 64 rows each. The warpgroup number is read from lane zero.
#wide_a = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64, 144, 256, 512, 1024, 2048, 4096]>
#wide_b = #nv_tileas.shared_layout<offset = [8, 16, 32, 64, 128, 1, 2, 132]>
#wide_c = #nv_tileas.layout<register = [1, 64, 512], lane = [2, 4, 8, 16, 32], warp = [128, 256, 1024]>
!wide_a = !nv_tileas.memdesc<256x32xi8, #wide_a, align = 256>
!wide_b = !nv_tileas.memdesc<32x8xi8, #wide_b, align = 256>
!wide_c = tensor<256x8xi32, #wide_c>
// CHECK-LABEL: llvm.func @two
// CHECK: %[[W:.*]] = llvm.lshr
// CHECK: %[[G:.*]] = llvm.lshr %[[W]]
// CHECK: llvm.call_intrinsic "llvm.nvvm.shfl.sync.idx.i32"(%{{.*}}, %[[G]],
// CHECK: "{ .reg .pred sum; setp.ne.b32 sum, 1, 0; wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.u8 {$0, $1, $2, $3}, $8, $9, sum; }", "=r,=r,=r,=r,0,1,2,3,l,l,~{memory}"
// CHECK: llvm.mlir.constant(128 : i64)
// CHECK: "{ .reg .pred sum; setp.ne.b32 sum, 1, 0; wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.u8
// CHECK: "", "=r,=r,=r,=r,=r,=r,=r,=r,0,1,2,3,4,5,6,7"
gpu.module @n {
  nv_tileaa.func @two() attributes {numWarps = 8 : i64} {
    %x = nv_tileas.alloc_tensor offset 0 : !wide_a
    %y = nv_tileas.alloc_tensor offset 8192 : !wide_b
    %z = arith.constant dense<1> : !wide_c
    %r = nv_tileas.async.dot %x, %y, %z by <warpgroup, [64, 8, 32]> rhs_unsigned : !wide_a, !wide_b, !wide_c
    %s = nv_tileas.async.dot_wait %r pending 0 : !wide_c -> !wide_c
    nv_tileaa.return
  }
}

// f16 accumulators stay packed in pairs, also around loops.
// CHECK-LABEL: llvm.func @pairs
// CHECK: llvm.br ^bb[[HEAD:[0-9]+]](%{{.*}} : i32, i32, i32)
// CHECK: ^bb[[HEAD]](%{{.*}}: i32, %[[P:.*]]: i32, %[[Q:.*]]: i32):
// CHECK: wgmma.mma_async.sync.aligned.m64n8k16.f16.f16.f16 {$0, $1}, $4, $5, sum, 1, 1, 0, 0; }", "=r,=r,0,1,l,l,~{memory}" %[[P]], %[[Q]],
// The loop is not unrolled or peeled, because that would copy accumulators that are being written.
// CHECK: llvm.br ^bb[[HEAD]]({{.*}}) {loop_annotation =
// CHECK: "wgmma.wait_group.sync.aligned 0;"
// CHECK: "", "=r,=r,0,1"
// CHECK: llvm.bitcast %{{.*}} : i32 to vector<2xf16>
gpu.module @o {
  nv_tileaa.func @pairs(%n: i32) attributes {numWarps = 4 : i64} {
    %x = nv_tileas.alloc_tensor offset 0 : !a
    %y = nv_tileas.alloc_tensor offset 2048 : !b
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %z = arith.constant dense<0.0> : tensor<64x8xf16, #c>
    %out = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %z) -> (tensor<64x8xf16, #c>) : i32 {
      %r = nv_tileas.async.dot %x, %y, %acc by <warpgroup, [64, 8, 16]> : !a, !b, tensor<64x8xf16, #c>
      nv_tileas.async.dot_wait pending 1
      scf.yield %r : tensor<64x8xf16, #c>
    }
    %s = nv_tileas.async.dot_wait %out pending 0 : tensor<64x8xf16, #c> -> tensor<64x8xf16, #c>
    nv_tileaa.return
  }

  // The left operand comes from registers: four words, and no transpose flag. Code after the release waits for the
  // computed values: the highest bit of a barrier's address is never set.
  // CHECK-LABEL: llvm.func @from_registers
  // CHECK-COUNT-4: llvm.bitcast %{{.*}} : vector<2xf16> to i32
  // CHECK: llvm.inline_asm has_side_effects {{.*}}"{ .reg .pred sum; setp.ne.b32 sum, 0, 0; wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {$0, $1, $2, $3}, {$4, $5, $6, $7}, $8, sum, 1, 1, 0; }", "=f,=f,=f,=f,r,r,r,r,l,~{memory}"
  // CHECK: llvm.inline_asm has_side_effects {{.*}}"{ .reg .b32 a; or.b32 a, $2, $3; and.b32 a, a, $0; and.b32 a, a, 0x80000000; add.u32 a, a, $0; @$1 mbarrier.arrive.shared::cta.b64 _, [a+16]; }", "r,b,r,r,~{memory}"
  nv_tileaa.func @from_registers() attributes {numWarps = 4 : i64} {
    %y = nv_tileas.alloc_tensor offset 2048 : !b
    %barriers = nv_tileas.alloc_tensor offset 4096 : !nv_tileas.memdesc<4xi64, #nv_tileas.shared_layout<offset = [1, 2]>>
    %p = nv_tileas.async.pipeline.create_pipeline %barriers phases [full = 1, empty = 4] : !nv_tileas.memdesc<4xi64, #nv_tileas.shared_layout<offset = [1, 2]>> -> <2>
    %i = nv_tileas.async.pipeline.create_iterator %p : <2>
    %x = arith.constant dense<1.0> : tensor<64x16xf16, #nv_tileas.layout<register = [1, 128, 8], lane = [2, 4, 16, 32, 64], warp = [256, 512]>>
    %z = arith.constant dense<0.0> : !c
    %r = nv_tileas.async.dot %x, %y, %z by <warpgroup, [64, 8, 16]> : tensor<64x16xf16, #nv_tileas.layout<register = [1, 128, 8], lane = [2, 4, 16, 32, 64], warp = [256, 512]>>, !b, !c
    %s = nv_tileas.async.dot_wait %r pending 0 : !c -> !c
    nv_tileas.async.pipeline.consumer_release %p[%i] after %s : !c, : <2>
    nv_tileaa.return
  }

  // Threads copy by themselves: each thread arrives when its copies are done, and the barrier expects this arrival.
  // CHECK-LABEL: llvm.func @copied
  // CHECK: "mbarrier.init.shared::cta.b64 [$0], 128;"
  // CHECK-COUNT-4: llvm.inline_asm has_side_effects {{.*}}"cp.async.cg.shared.global.L2::128B [$0], [$1], 16;"
  // CHECK-NOT: mbarrier.arrive.shared::cta
  // CHECK: llvm.inline_asm has_side_effects {{.*}}"cp.async.mbarrier.arrive.noinc.shared::cta.b64 [$0];", "r,~{memory}"
  // CHECK-NOT: mbarrier.arrive
  // CHECK: llvm.return
  nv_tileaa.func @copied(%q: !nv_tileaa.ptr<f16>) attributes {numWarps = 4 : i64} {
    %x = nv_tileas.alloc_tensor offset 0 : !nv_tileas.memdesc<64x64xf16, #panel, stages = 2, align = 1024>
    %barriers = nv_tileas.alloc_tensor offset 16384 : !nv_tileas.memdesc<4xi64, #nv_tileas.shared_layout<offset = [1, 2]>>
    %p = nv_tileas.async.pipeline.create_pipeline %barriers phases [full = 128, empty = 4] : !nv_tileas.memdesc<4xi64, #nv_tileas.shared_layout<offset = [1, 2]>> -> <2>
    %i = nv_tileas.async.pipeline.create_iterator %p : <2>
    %a = nv_tileas.splat %q : !nv_tileaa.ptr<f16> -> tensor<64x64x!nv_tileaa.ptr<f16>, #rows>
    %t = nv_tileas.async.pipeline.producer_acquire %p[%i] : <2>
    %n = nv_tileas.async.pipeline.stage %i
    %s = nv_tileas.memdesc_slot %x[%n] : !nv_tileas.memdesc<64x64xf16, #panel, stages = 2, align = 1024> -> <64x64xf16, #panel, align = 1024>
    %c, %o = nv_tileas.async.load %a into %s vector 8 along 1 : tensor<64x64x!nv_tileaa.ptr<f16>, #rows> -> <64x64xf16, #panel, align = 1024>
    nv_tileas.async.pipeline.producer_commit %p[%i] copies : <2>
    nv_tileaa.return
  }

  // An iterator is the address of its stage's barrier and the parity of its round, and loops carry both. The
  // descriptor of a stage is computed from the barrier's address with one multiplication and one addition: 128 units
  // of 16 bytes per 8 bytes.
  // CHECK-LABEL: llvm.func @around_a_ring
  // CHECK: %[[FIRST:.*]] = llvm.inline_asm {{.*}}"", "=r,0" %{{.*}} : (i32) -> i32
  // CHECK: llvm.br ^bb[[HEAD:[0-9]+]](%{{.*}}, %{{.*}}, %[[FIRST]], %{{.*}} : i32, f32, i32, i32)
  // CHECK: ^bb[[HEAD]](%{{.*}}: i32, %{{.*}}: f32, %[[FULL:.*]]: i32, %[[PARITY:.*]]: i32):
  // CHECK: llvm.inline_asm has_side_effects {{.*}}mbarrier.try_wait.parity.shared::cta.b64 done, [$0], $1;{{.*}} %[[FULL]], %[[PARITY]]
  // CHECK: llvm.inline_asm {{.*}}"{ .reg .b64 a; mul.wide.u32 a, $1, 16; add.s64 $0, a, $2; }", "=l,r,l" %[[FULL]], %{{.*}} : (i32, i64) -> i64
  // CHECK: wgmma.mma_async
  // CHECK: %[[NEXT:.*]] = llvm.inline_asm {{.*}}"{ .reg .pred around; add.u32 $0, $2, 8; mov.b32 $1, $3; setp.eq.u32 around, $0, $4; @around sub.u32 $0, $0, 24; @around xor.b32 $1, $1, 1; }", "=&r,=&r,r,r,r" %[[FULL]], %[[PARITY]],
  // CHECK: %[[FULL2:.*]] = llvm.extractvalue %[[NEXT]][0]
  // CHECK: %[[PARITY2:.*]] = llvm.extractvalue %[[NEXT]][1]
  // CHECK: llvm.br ^bb[[HEAD]](%{{.*}}, %{{.*}}, %[[FULL2]], %[[PARITY2]] : i32, f32, i32, i32)
  nv_tileaa.func @around_a_ring(%n: i32) attributes {numWarps = 4 : i64} {
    %ring = nv_tileas.alloc_tensor offset 0 : !a_ring
    %y = nv_tileas.alloc_tensor offset 8192 : !b
    %barriers = nv_tileas.alloc_tensor offset 9216 : !nv_tileas.memdesc<8xi64, #nv_tileas.shared_layout<offset = [1, 2, 4]>>
    %p = nv_tileas.async.pipeline.create_pipeline %barriers phases [full = 1, empty = 4] : !nv_tileas.memdesc<8xi64, #nv_tileas.shared_layout<offset = [1, 2, 4]>> -> <3>
    %first = nv_tileas.async.pipeline.create_iterator %p : <3>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %f = arith.constant 0.0 : f32
    %z = arith.constant dense<0.0> : !c
    %out:2 = scf.for %i = %c0 to %n step %c1 iter_args(%g = %f, %it = %first) -> (f32, !nv_tileas.pipeline_iterator) : i32 {
      %token = nv_tileas.async.pipeline.consumer_wait %p[%it] : <3>
      %at = nv_tileas.async.pipeline.stage %it
      %x = nv_tileas.memdesc_slot %ring[%at] : !a_ring -> !a
      %r = nv_tileas.async.dot %x, %y, %z by <warpgroup, [64, 8, 16]> : !a, !b, !c
      %s = nv_tileas.async.dot_wait %r pending 0 : !c -> !c
      nv_tileas.async.pipeline.consumer_release %p[%it] : <3>
      %next = nv_tileas.async.pipeline.inc_iter %it of %p : <3>
      scf.yield %g, %next : f32, !nv_tileas.pipeline_iterator
    }
    nv_tileaa.return
  }
}

// The initial accumulators of a loop are moved to registers that nothing else uses. Otherwise LLVM would use a
// register that also holds a zero, and would copy it at the end of the loop while the dot is in flight.
// CHECK-LABEL: llvm.func @carried
// CHECK: llvm.inline_asm has_side_effects {{.*}}"mov.b32 $0, $4; mov.b32 $1, $5; mov.b32 $2, $6; mov.b32 $3, $7;", "=&f,=&f,=&f,=&f,f,f,f,f"
// Both branches use the words of the value that is rounded before them.
// CHECK: llvm.inline_asm has_side_effects {{.*}}"wgmma.wait_group.sync.aligned 0;"
// CHECK-COUNT-2: llvm.fptrunc %{{.*}} : vector<2xf32> to vector<2xbf16>
// CHECK: llvm.cond_br
// CHECK-NOT: llvm.fptrunc
gpu.module @p {
  nv_tileaa.func @carried(%n: i32, %which: i1) attributes {numWarps = 4 : i64} {
    %x = nv_tileas.alloc_tensor offset 0 : !a
    %y = nv_tileas.alloc_tensor offset 2048 : !b
    %out = nv_tileas.alloc_tensor offset 4096 : !out
    %z = arith.constant dense<0.0> : !c
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %z) -> (!c) : i32 {
      %r = nv_tileas.async.dot %x, %y, %acc by <warpgroup, [64, 8, 16]> : !a, !b, !c
      nv_tileas.async.dot_wait pending 1
      scf.yield %r : !c
    }
    %t = nv_tileas.async.dot_wait %sum pending 0 : !c -> !c
    %h = arith.truncf %t : !c to !h
    scf.if %which {
      nv_tileas.local_store %h, %out vector 2 : !h, !out
    } else {
      nv_tileas.local_store %h, %out vector 2 : !h, !out
    }
    nv_tileaa.return
  }
}

// The accumulator of an inner loop is in flight when that loop ends, and the outer loop carries it. LLVM would copy
// it to the registers of the carried value before the wait, so it is moved to its own registers after the wait.
// CHECK-LABEL: llvm.func @passed_on
// CHECK: "wgmma.wait_group.sync.aligned 1;"
// CHECK: "wgmma.wait_group.sync.aligned 0;"
// CHECK: llvm.inline_asm has_side_effects {{.*}}"mov.b32 $0, $4; mov.b32 $1, $5; mov.b32 $2, $6; mov.b32 $3, $7;", "=&f,=&f,=&f,=&f,f,f,f,f"
// One side of a branch yields another value.
// CHECK: "wgmma.wait_group.sync.aligned 0;"
// CHECK: llvm.inline_asm has_side_effects {{.*}}"mov.b32 $0, $4; mov.b32 $1, $5; mov.b32 $2, $6; mov.b32 $3, $7;", "=&f,=&f,=&f,=&f,f,f,f,f"
gpu.module @passed_on {
  nv_tileaa.func @passed_on(%n: i32, %which: i1) attributes {numWarps = 4 : i64} {
    %c = arith.constant dense<1.0> : !c
    %x = nv_tileas.alloc_tensor offset 0 : !a
    %y = nv_tileas.alloc_tensor offset 2048 : !b
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %all = scf.for %j = %c0 to %n step %c1 iter_args(%start = %c) -> (!c) : i32 {
      %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %start) -> (!c) : i32 {
        %r = nv_tileas.async.dot %x, %y, %acc by <warpgroup, [64, 8, 16]> : !a, !b, !c
        nv_tileas.async.dot_wait pending 1
        scf.yield %r : !c
      }
      %t = nv_tileas.async.dot_wait %sum pending 0 : !c -> !c
      scf.yield %t : !c
    }
    %one = scf.if %which -> !c {
      %r = nv_tileas.async.dot %x, %y, %all by <warpgroup, [64, 8, 16]> : !a, !b, !c
      %t = nv_tileas.async.dot_wait %r pending 0 : !c -> !c
      scf.yield %t : !c
    } else {
      scf.yield %c : !c
    }
    nv_tileaa.return
  }
}

// A loop that waits for the dot that updates its accumulator uses one value for both.
// CHECK-LABEL: llvm.func @in_place
// CHECK: "wgmma.wait_group.sync.aligned 0;"
// CHECK-NOT: mov.b32
gpu.module @in_place {
  nv_tileaa.func @in_place(%n: i32) attributes {numWarps = 4 : i64} {
    %c = arith.constant dense<1.0> : !c
    %x = nv_tileas.alloc_tensor offset 0 : !a
    %y = nv_tileas.alloc_tensor offset 2048 : !b
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %all = scf.for %j = %c0 to %n step %c1 iter_args(%acc = %c) -> (!c) : i32 {
      %r = nv_tileas.async.dot %x, %y, %acc by <warpgroup, [64, 8, 16]> : !a, !b, !c
      %t = nv_tileas.async.dot_wait %r pending 0 : !c -> !c
      scf.yield %t : !c
    }
    nv_tileaa.return
  }
}
