// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileas-check-synchronization)' --split-input-file --verify-diagnostics
// Rings that producer warps fill: the correct protocol, and the reports if it is broken.

#registers = #nv_tileas.layout<register = [1, 2, 4, 1024, 2048], lane = [8, 16, 32, 64, 128], warp = [256, 512]>
#shared = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 72, 144, 288, 512, 1024, 2048]>
#sums = #nv_tileas.layout<register = [1, 512, 8, 16, 32], lane = [2, 4, 64, 128, 256], warp = [1024, 2048]>
#words = #nv_tileas.shared_layout<offset = [1, 2]>
!ring = !nv_tileas.memdesc<64x64xf16, #shared, stages = 2, align = 1024>
!stage = !nv_tileas.memdesc<64x64xf16, #shared, align = 1024>
!words = !nv_tileas.memdesc<4xi64, #words>
!sums = tensor<64x64xf32, #sums>
!it = !nv_tileas.pipeline_iterator

nv_tileaa.func @kept(%n: i32) attributes {numWarps = 8 : i64, nv_tileas.max_registers = 240 : i64} {
  %a = nv_tileas.alloc_tensor offset 0 : !ring
  %w = nv_tileas.alloc_tensor offset 32768 : !words
  %p = nv_tileas.async.pipeline.create_pipeline %w phases [full = 4, empty = 4] : <4xi64, #words> -> <2>
  %first = nv_tileas.async.pipeline.create_iterator %p : <2>
  nv_tileas.barrier
  nv_tileas.async.pipeline.agent_switch agents [<"consumers", warps = 4, registers = 240>, <"producer", warps = 4, registers = 40>] {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : !sums
    %all:2 = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero, %it = %first) -> (!sums, !it) : i32 {
      %t = nv_tileas.async.pipeline.consumer_wait %p[%it] : <2>
      %s = nv_tileas.async.pipeline.stage %it
      %x = nv_tileas.memdesc_slot %a[%s] : !ring -> !stage
      %d = nv_tileas.async.dot %x, %x, %acc by <warpgroup, [64, 64, 16]> : !stage, !stage, !sums
      %e = nv_tileas.async.dot_wait %d pending 0 : !sums -> !sums
      nv_tileas.async.pipeline.consumer_release %p[%it] : <2>
      %next = nv_tileas.async.pipeline.inc_iter %it of %p : <2>
      scf.yield %e, %next : !sums, !it
    }
  }, {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %tile = arith.constant dense<1.0> : tensor<64x64xf16, #registers>
    %all = scf.for %k = %c0 to %n step %c1 iter_args(%it = %first) -> (!it) : i32 {
      %t = nv_tileas.async.pipeline.producer_acquire %p[%it] : <2>
      %s = nv_tileas.async.pipeline.stage %it
      %x = nv_tileas.memdesc_slot %a[%s] : !ring -> !stage
      nv_tileas.local_store %tile, %x vector 8 : tensor<64x64xf16, #registers>, !stage
      nv_tileas.async.pipeline.producer_commit %p[%it] : <2>
      %next = nv_tileas.async.pipeline.inc_iter %it of %p : <2>
      scf.yield %next : !it
    }
  }
  nv_tileaa.return
}

// -----

// No one signals that a stage is full.
#registers = #nv_tileas.layout<register = [1, 2, 4, 1024, 2048], lane = [8, 16, 32, 64, 128], warp = [256, 512]>
#shared = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 72, 144, 288, 512, 1024, 2048]>
#sums = #nv_tileas.layout<register = [1, 512, 8, 16, 32], lane = [2, 4, 64, 128, 256], warp = [1024, 2048]>
#words = #nv_tileas.shared_layout<offset = [1, 2]>
!ring = !nv_tileas.memdesc<64x64xf16, #shared, stages = 2, align = 1024>
!stage = !nv_tileas.memdesc<64x64xf16, #shared, align = 1024>
!words = !nv_tileas.memdesc<4xi64, #words>
!sums = tensor<64x64xf32, #sums>
!it = !nv_tileas.pipeline_iterator

nv_tileaa.func @no_commit(%n: i32) attributes {numWarps = 8 : i64, nv_tileas.max_registers = 240 : i64} {
  %a = nv_tileas.alloc_tensor offset 0 : !ring
  %w = nv_tileas.alloc_tensor offset 32768 : !words
  // expected-error @below {{reads ring0[0], which was never written}}
  %p = nv_tileas.async.pipeline.create_pipeline %w phases [full = 4, empty = 4] : <4xi64, #words> -> <2>
  %first = nv_tileas.async.pipeline.create_iterator %p : <2>
  nv_tileas.barrier
  nv_tileas.async.pipeline.agent_switch agents [<"consumers", warps = 4, registers = 240>, <"producer", warps = 4, registers = 40>] {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : !sums
    %all:2 = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero, %it = %first) -> (!sums, !it) : i32 {
      %t = nv_tileas.async.pipeline.consumer_wait %p[%it] : <2>
      %s = nv_tileas.async.pipeline.stage %it
      %x = nv_tileas.memdesc_slot %a[%s] : !ring -> !stage
      %d = nv_tileas.async.dot %x, %x, %acc by <warpgroup, [64, 64, 16]> : !stage, !stage, !sums
      %e = nv_tileas.async.dot_wait %d pending 0 : !sums -> !sums
      nv_tileas.async.pipeline.consumer_release %p[%it] : <2>
      %next = nv_tileas.async.pipeline.inc_iter %it of %p : <2>
      scf.yield %e, %next : !sums, !it
    }
  }, {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %tile = arith.constant dense<1.0> : tensor<64x64xf16, #registers>
    %all = scf.for %k = %c0 to %n step %c1 iter_args(%it = %first) -> (!it) : i32 {
      %t = nv_tileas.async.pipeline.producer_acquire %p[%it] : <2>
      %s = nv_tileas.async.pipeline.stage %it
      %x = nv_tileas.memdesc_slot %a[%s] : !ring -> !stage
      nv_tileas.local_store %tile, %x vector 8 : tensor<64x64xf16, #registers>, !stage
      %next = nv_tileas.async.pipeline.inc_iter %it of %p : <2>
      scf.yield %next : !it
    }
  }
  nv_tileaa.return
}

// -----

// The barrier expects more arrivals than there are, so a stage is never full.
#registers = #nv_tileas.layout<register = [1, 2, 4, 1024, 2048], lane = [8, 16, 32, 64, 128], warp = [256, 512]>
#shared = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 72, 144, 288, 512, 1024, 2048]>
#sums = #nv_tileas.layout<register = [1, 512, 8, 16, 32], lane = [2, 4, 64, 128, 256], warp = [1024, 2048]>
#words = #nv_tileas.shared_layout<offset = [1, 2]>
!ring = !nv_tileas.memdesc<64x64xf16, #shared, stages = 2, align = 1024>
!stage = !nv_tileas.memdesc<64x64xf16, #shared, align = 1024>
!words = !nv_tileas.memdesc<4xi64, #words>
!sums = tensor<64x64xf32, #sums>
!it = !nv_tileas.pipeline_iterator

nv_tileaa.func @too_few(%n: i32) attributes {numWarps = 8 : i64, nv_tileas.max_registers = 240 : i64} {
  %a = nv_tileas.alloc_tensor offset 0 : !ring
  %w = nv_tileas.alloc_tensor offset 32768 : !words
  // expected-error @below {{deadlock}}
  %p = nv_tileas.async.pipeline.create_pipeline %w phases [full = 5, empty = 4] : <4xi64, #words> -> <2>
  %first = nv_tileas.async.pipeline.create_iterator %p : <2>
  nv_tileas.barrier
  nv_tileas.async.pipeline.agent_switch agents [<"consumers", warps = 4, registers = 240>, <"producer", warps = 4, registers = 40>] {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : !sums
    %all:2 = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero, %it = %first) -> (!sums, !it) : i32 {
      %t = nv_tileas.async.pipeline.consumer_wait %p[%it] : <2>
      %s = nv_tileas.async.pipeline.stage %it
      %x = nv_tileas.memdesc_slot %a[%s] : !ring -> !stage
      %d = nv_tileas.async.dot %x, %x, %acc by <warpgroup, [64, 64, 16]> : !stage, !stage, !sums
      %e = nv_tileas.async.dot_wait %d pending 0 : !sums -> !sums
      nv_tileas.async.pipeline.consumer_release %p[%it] : <2>
      %next = nv_tileas.async.pipeline.inc_iter %it of %p : <2>
      scf.yield %e, %next : !sums, !it
    }
  }, {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %tile = arith.constant dense<1.0> : tensor<64x64xf16, #registers>
    %all = scf.for %k = %c0 to %n step %c1 iter_args(%it = %first) -> (!it) : i32 {
      %t = nv_tileas.async.pipeline.producer_acquire %p[%it] : <2>
      %s = nv_tileas.async.pipeline.stage %it
      %x = nv_tileas.memdesc_slot %a[%s] : !ring -> !stage
      nv_tileas.local_store %tile, %x vector 8 : tensor<64x64xf16, #registers>, !stage
      nv_tileas.async.pipeline.producer_commit %p[%it] : <2>
      %next = nv_tileas.async.pipeline.inc_iter %it of %p : <2>
      scf.yield %next : !it
    }
  }
  nv_tileaa.return
}

// -----

// A stage is filled while dots read it.
#registers = #nv_tileas.layout<register = [1, 2, 4, 1024, 2048], lane = [8, 16, 32, 64, 128], warp = [256, 512]>
#shared = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 72, 144, 288, 512, 1024, 2048]>
#sums = #nv_tileas.layout<register = [1, 512, 8, 16, 32], lane = [2, 4, 64, 128, 256], warp = [1024, 2048]>
#words = #nv_tileas.shared_layout<offset = [1, 2]>
!ring = !nv_tileas.memdesc<64x64xf16, #shared, stages = 2, align = 1024>
!stage = !nv_tileas.memdesc<64x64xf16, #shared, align = 1024>
!words = !nv_tileas.memdesc<4xi64, #words>
!sums = tensor<64x64xf32, #sums>
!it = !nv_tileas.pipeline_iterator

nv_tileaa.func @no_acquire(%n: i32) attributes {numWarps = 8 : i64, nv_tileas.max_registers = 240 : i64} {
  %a = nv_tileas.alloc_tensor offset 0 : !ring
  %w = nv_tileas.alloc_tensor offset 32768 : !words
  // expected-error @below {{ring0}}
  %p = nv_tileas.async.pipeline.create_pipeline %w phases [full = 4, empty = 4] : <4xi64, #words> -> <2>
  %first = nv_tileas.async.pipeline.create_iterator %p : <2>
  nv_tileas.barrier
  nv_tileas.async.pipeline.agent_switch agents [<"consumers", warps = 4, registers = 240>, <"producer", warps = 4, registers = 40>] {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : !sums
    %all:2 = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero, %it = %first) -> (!sums, !it) : i32 {
      %t = nv_tileas.async.pipeline.consumer_wait %p[%it] : <2>
      %s = nv_tileas.async.pipeline.stage %it
      %x = nv_tileas.memdesc_slot %a[%s] : !ring -> !stage
      %d = nv_tileas.async.dot %x, %x, %acc by <warpgroup, [64, 64, 16]> : !stage, !stage, !sums
      %e = nv_tileas.async.dot_wait %d pending 0 : !sums -> !sums
      nv_tileas.async.pipeline.consumer_release %p[%it] : <2>
      %next = nv_tileas.async.pipeline.inc_iter %it of %p : <2>
      scf.yield %e, %next : !sums, !it
    }
  }, {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %tile = arith.constant dense<1.0> : tensor<64x64xf16, #registers>
    %all = scf.for %k = %c0 to %n step %c1 iter_args(%it = %first) -> (!it) : i32 {
      %s = nv_tileas.async.pipeline.stage %it
      %x = nv_tileas.memdesc_slot %a[%s] : !ring -> !stage
      nv_tileas.local_store %tile, %x vector 8 : tensor<64x64xf16, #registers>, !stage
      nv_tileas.async.pipeline.producer_commit %p[%it] : <2>
      %next = nv_tileas.async.pipeline.inc_iter %it of %p : <2>
      scf.yield %next : !it
    }
  }
  nv_tileaa.return
}
