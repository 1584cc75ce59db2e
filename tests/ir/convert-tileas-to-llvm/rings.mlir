// RUN: tileiras-opt %s --pass-pipeline='builtin.module(convert-tileas-to-llvm{compute-capability=sm_90})' | FileCheck %s
// Iterators step from stage to stage. Only a step that can go from the last stage to the first tests for this.

#two = #nv_tileas.shared_layout<offset = [1, 2]>
#four = #nv_tileas.shared_layout<offset = [1, 2, 4]>
#a = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 72, 128, 256, 512]>
#b = #nv_tileas.shared_layout<offset = [8, 16, 32, 64, 1, 2, 68]>
#c = #nv_tileas.layout<register = [1, 64], lane = [2, 4, 8, 16, 32], warp = [128, 256]>
#t = #nv_tileas.layout<register = [1, 2, 4], lane = [8, 16, 32, 64, 128], warp = [256, 512]>
!two = !nv_tileas.memdesc<4xi64, #two>
!four = !nv_tileas.memdesc<8xi64, #four>
!a_ring = !nv_tileas.memdesc<64x16xf16, #a, stages = 2, align = 256>
!a = !nv_tileas.memdesc<64x16xf16, #a, align = 256>
!b = !nv_tileas.memdesc<16x8xf16, #b, align = 256>
!c = tensor<64x8xf32, #c>

gpu.module @steps {
  // The loop starts at the first or the third stage.
  // CHECK-LABEL: llvm.func @two_of_four
  // CHECK: try_wait
  // CHECK-NOT: around
  // CHECK: try_wait
  // CHECK: @around
  nv_tileaa.func @two_of_four(%n: i32) attributes {numWarps = 4 : i64} {
    %bars = nv_tileas.alloc_tensor offset 0 : !four
    %p = nv_tileas.async.pipeline.create_pipeline %bars phases [full = 1, empty = 4] : !four -> <4>
    %first = nv_tileas.async.pipeline.create_iterator %p : <4>
    %end = scf.for %k = %n to %n step %n iter_args(%it = %first) -> (!nv_tileas.pipeline_iterator) : i32 {
      %t = nv_tileas.async.pipeline.consumer_wait %p[%it] : <4>
      %next = nv_tileas.async.pipeline.inc_iter %it of %p : <4>
      %u = nv_tileas.async.pipeline.consumer_wait %p[%next] : <4>
      %last = nv_tileas.async.pipeline.inc_iter %next of %p : <4>
      scf.yield %last : !nv_tileas.pipeline_iterator
    }
    nv_tileaa.return
  }

  // After one step, the loop starts at the second or the fourth stage, so its first step may wrap around.
  // CHECK-LABEL: llvm.func @behind_a_step
  // CHECK-NOT: around
  // CHECK: try_wait
  // CHECK: @around
  // CHECK: try_wait
  // CHECK-NOT: around
  // CHECK: llvm.return
  nv_tileaa.func @behind_a_step(%n: i32) attributes {numWarps = 4 : i64} {
    %bars = nv_tileas.alloc_tensor offset 0 : !four
    %p = nv_tileas.async.pipeline.create_pipeline %bars phases [full = 1, empty = 4] : !four -> <4>
    %zeroth = nv_tileas.async.pipeline.create_iterator %p : <4>
    %first = nv_tileas.async.pipeline.inc_iter %zeroth of %p : <4>
    %end = scf.for %k = %n to %n step %n iter_args(%it = %first) -> (!nv_tileas.pipeline_iterator) : i32 {
      %t = nv_tileas.async.pipeline.consumer_wait %p[%it] : <4>
      %next = nv_tileas.async.pipeline.inc_iter %it of %p : <4>
      %u = nv_tileas.async.pipeline.consumer_wait %p[%next] : <4>
      %last = nv_tileas.async.pipeline.inc_iter %next of %p : <4>
      scf.yield %last : !nv_tileas.pipeline_iterator
    }
    nv_tileaa.return
  }

  // A full round: the stage of each step is known.
  // CHECK-LABEL: llvm.func @two_of_two
  // CHECK-NOT: around
  // CHECK: try_wait
  // CHECK-NOT: around
  // CHECK: try_wait
  // CHECK: llvm.mlir.constant(-8 : i32)
  // CHECK: llvm.xor
  // CHECK-NOT: around
  // CHECK: llvm.return
  nv_tileaa.func @two_of_two(%n: i32) attributes {numWarps = 4 : i64} {
    %bars = nv_tileas.alloc_tensor offset 0 : !two
    %p = nv_tileas.async.pipeline.create_pipeline %bars phases [full = 1, empty = 4] : !two -> <2>
    %first = nv_tileas.async.pipeline.create_iterator %p : <2>
    %end = scf.for %k = %n to %n step %n iter_args(%it = %first) -> (!nv_tileas.pipeline_iterator) : i32 {
      %t = nv_tileas.async.pipeline.consumer_wait %p[%it] : <2>
      %next = nv_tileas.async.pipeline.inc_iter %it of %p : <2>
      %u = nv_tileas.async.pipeline.consumer_wait %p[%next] : <2>
      %last = nv_tileas.async.pipeline.inc_iter %next of %p : <2>
      scf.yield %last : !nv_tileas.pipeline_iterator
    }
    nv_tileaa.return
  }

  // One branch has one more step, so nothing is known after it.
  // CHECK-LABEL: llvm.func @branch
  // CHECK: try_wait
  // CHECK: @around
  // CHECK: try_wait
  // CHECK: @around
  nv_tileaa.func @branch(%n: i32, %c: i1) attributes {numWarps = 4 : i64} {
    %bars = nv_tileas.alloc_tensor offset 0 : !four
    %p = nv_tileas.async.pipeline.create_pipeline %bars phases [full = 1, empty = 4] : !four -> <4>
    %first = nv_tileas.async.pipeline.create_iterator %p : <4>
    %end = scf.for %k = %n to %n step %n iter_args(%it = %first) -> (!nv_tileas.pipeline_iterator) : i32 {
      %t = nv_tileas.async.pipeline.consumer_wait %p[%it] : <4>
      %next = nv_tileas.async.pipeline.inc_iter %it of %p : <4>
      %last = scf.if %c -> (!nv_tileas.pipeline_iterator) {
        %u = nv_tileas.async.pipeline.consumer_wait %p[%next] : <4>
        %more = nv_tileas.async.pipeline.inc_iter %next of %p : <4>
        scf.yield %more : !nv_tileas.pipeline_iterator
      } else {
        scf.yield %next : !nv_tileas.pipeline_iterator
      }
      scf.yield %last : !nv_tileas.pipeline_iterator
    }
    nv_tileaa.return
  }
}

// One lane signals that the whole warp has read a stage. Dots read the stage for all lanes, but loads of other lanes
// must be waited for.
gpu.module @releases {
  // CHECK-LABEL: llvm.func @products
  // CHECK: wgmma.wait_group
  // CHECK-NOT: bar.warp.sync
  // CHECK: mbarrier.arrive.shared::cta.b64
  nv_tileaa.func @products() attributes {numWarps = 4 : i64} {
    %bars = nv_tileas.alloc_tensor offset 0 : !two
    %ring = nv_tileas.alloc_tensor offset 1024 : !a_ring
    %y = nv_tileas.alloc_tensor offset 8192 : !b
    %z = arith.constant dense<0.0> : !c
    %p = nv_tileas.async.pipeline.create_pipeline %bars phases [full = 1, empty = 4] : !two -> <2>
    %it = nv_tileas.async.pipeline.create_iterator %p : <2>
    %t = nv_tileas.async.pipeline.consumer_wait %p[%it] : <2>
    %s = nv_tileas.async.pipeline.stage %it
    %x = nv_tileas.memdesc_slot %ring[%s] : !a_ring -> !a
    %r = nv_tileas.async.dot %x, %y, %z by <warpgroup, [64, 8, 16]> : !a, !b, !c
    %w = nv_tileas.async.dot_wait %r pending 0 : !c -> !c
    nv_tileas.async.pipeline.consumer_release %p[%it] : <2>
    nv_tileaa.return
  }

  // CHECK-LABEL: llvm.func @loads
  // CHECK: wgmma.wait_group
  // CHECK: bar.warp.sync
  // CHECK: mbarrier.arrive.shared::cta.b64
  nv_tileaa.func @loads() attributes {numWarps = 4 : i64} {
    %bars = nv_tileas.alloc_tensor offset 0 : !two
    %ring = nv_tileas.alloc_tensor offset 1024 : !a_ring
    %y = nv_tileas.alloc_tensor offset 8192 : !b
    %z = arith.constant dense<0.0> : !c
    %p = nv_tileas.async.pipeline.create_pipeline %bars phases [full = 1, empty = 4] : !two -> <2>
    %it = nv_tileas.async.pipeline.create_iterator %p : <2>
    %t = nv_tileas.async.pipeline.consumer_wait %p[%it] : <2>
    %s = nv_tileas.async.pipeline.stage %it
    %x = nv_tileas.memdesc_slot %ring[%s] : !a_ring -> !a
    %v = nv_tileas.local_load %x vector 1 : !a -> tensor<64x16xf16, #t>
    %r = nv_tileas.async.dot %x, %y, %z by <warpgroup, [64, 8, 16]> : !a, !b, !c
    %w = nv_tileas.async.dot_wait %r pending 0 : !c -> !c
    nv_tileas.async.pipeline.consumer_release %p[%it] : <2>
    nv_tileaa.return
  }
}
