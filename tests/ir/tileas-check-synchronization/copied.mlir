// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileas-check-synchronization)' --split-input-file --verify-diagnostics
// Rings that producer threads fill with their own copies: the correct protocol, and the reports if it is broken.

#registers = #nv_tileas.layout<register = [1, 2, 4, 1024, 2048], lane = [8, 16, 32, 64, 128], warp = [256, 512]>
#shared = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 72, 144, 288, 512, 1024, 2048]>
#sums = #nv_tileas.layout<register = [1, 512, 8, 16, 32], lane = [2, 4, 64, 128, 256], warp = [1024, 2048]>
#words = #nv_tileas.shared_layout<offset = [1, 2]>
!ring = !nv_tileas.memdesc<64x64xf16, #shared, stages = 2, align = 1024>
!stage = !nv_tileas.memdesc<64x64xf16, #shared, align = 1024>
!words = !nv_tileas.memdesc<4xi64, #words>
!sums = tensor<64x64xf32, #sums>
!it = !nv_tileas.pipeline_iterator

nv_tileaa.func @kept(%n: i32, %q0: !nv_tileaa.ptr<f16>) attributes {numWarps = 8 : i64, nv_tileas.max_registers = 240 : i64} {
  %a = nv_tileas.alloc_tensor offset 0 : !ring
  %w = nv_tileas.alloc_tensor offset 32768 : !words
  %p = nv_tileas.async.pipeline.create_pipeline %w phases [full = 128, empty = 4] : <4xi64, #words> -> <2>
  %first = nv_tileas.async.pipeline.create_iterator %p : <2>
  nv_tileas.barrier
  nv_tileas.async.pipeline.agent_switch agents [<"consumers", warps = 4, registers = 240>, <"producer", warps = 4, registers = 40>] {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : !sums
    %all:2 = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero, %it = %first) -> (!sums, !it) : i32 {
      %t = nv_tileas.async.pipeline.consumer_wait %p[%it] : <2>
      nv_tileas.async.fence
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
    %q = nv_tileas.splat %q0 : !nv_tileaa.ptr<f16> -> tensor<64x64x!nv_tileaa.ptr<f16>, #registers>
    %all = scf.for %k = %c0 to %n step %c1 iter_args(%it = %first) -> (!it) : i32 {
      %t = nv_tileas.async.pipeline.producer_acquire %p[%it] : <2>
      %s = nv_tileas.async.pipeline.stage %it
      %x = nv_tileas.memdesc_slot %a[%s] : !ring -> !stage
      %c, %o = nv_tileas.async.load %q into %x vector 8 along 1 : tensor<64x64x!nv_tileaa.ptr<f16>, #registers> -> !stage
      nv_tileas.async.pipeline.producer_commit %p[%it] copies : <2>
      %next = nv_tileas.async.pipeline.inc_iter %it of %p : <2>
      scf.yield %next : !it
    }
  }
  nv_tileaa.return
}

// -----

// Copies by threads are like their stores: without a fence, dots do not see them.
#registers = #nv_tileas.layout<register = [1, 2, 4, 1024, 2048], lane = [8, 16, 32, 64, 128], warp = [256, 512]>
#shared = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 72, 144, 288, 512, 1024, 2048]>
#sums = #nv_tileas.layout<register = [1, 512, 8, 16, 32], lane = [2, 4, 64, 128, 256], warp = [1024, 2048]>
#words = #nv_tileas.shared_layout<offset = [1, 2]>
!ring = !nv_tileas.memdesc<64x64xf16, #shared, stages = 2, align = 1024>
!stage = !nv_tileas.memdesc<64x64xf16, #shared, align = 1024>
!words = !nv_tileas.memdesc<4xi64, #words>
!sums = tensor<64x64xf32, #sums>
!it = !nv_tileas.pipeline_iterator

nv_tileaa.func @no_fence(%n: i32, %q0: !nv_tileaa.ptr<f16>) attributes {numWarps = 8 : i64, nv_tileas.max_registers = 240 : i64} {
  %a = nv_tileas.alloc_tensor offset 0 : !ring
  %w = nv_tileas.alloc_tensor offset 32768 : !words
  // expected-error @below {{no proxy fence after the ordinary write}}
  %p = nv_tileas.async.pipeline.create_pipeline %w phases [full = 128, empty = 4] : <4xi64, #words> -> <2>
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
    %q = nv_tileas.splat %q0 : !nv_tileaa.ptr<f16> -> tensor<64x64x!nv_tileaa.ptr<f16>, #registers>
    %all = scf.for %k = %c0 to %n step %c1 iter_args(%it = %first) -> (!it) : i32 {
      %t = nv_tileas.async.pipeline.producer_acquire %p[%it] : <2>
      %s = nv_tileas.async.pipeline.stage %it
      %x = nv_tileas.memdesc_slot %a[%s] : !ring -> !stage
      %c, %o = nv_tileas.async.load %q into %x vector 8 along 1 : tensor<64x64x!nv_tileaa.ptr<f16>, #registers> -> !stage
      nv_tileas.async.pipeline.producer_commit %p[%it] copies : <2>
      %next = nv_tileas.async.pipeline.inc_iter %it of %p : <2>
      scf.yield %next : !it
    }
  }
  nv_tileaa.return
}

// -----

// Warps arrive, but their copies are not complete.
#registers = #nv_tileas.layout<register = [1, 2, 4, 1024, 2048], lane = [8, 16, 32, 64, 128], warp = [256, 512]>
#shared = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 72, 144, 288, 512, 1024, 2048]>
#sums = #nv_tileas.layout<register = [1, 512, 8, 16, 32], lane = [2, 4, 64, 128, 256], warp = [1024, 2048]>
#words = #nv_tileas.shared_layout<offset = [1, 2]>
!ring = !nv_tileas.memdesc<64x64xf16, #shared, stages = 2, align = 1024>
!stage = !nv_tileas.memdesc<64x64xf16, #shared, align = 1024>
!words = !nv_tileas.memdesc<4xi64, #words>
!sums = tensor<64x64xf32, #sums>
!it = !nv_tileas.pipeline_iterator

nv_tileaa.func @at_once(%n: i32, %q0: !nv_tileaa.ptr<f16>) attributes {numWarps = 8 : i64, nv_tileas.max_registers = 240 : i64} {
  %a = nv_tileas.alloc_tensor offset 0 : !ring
  %w = nv_tileas.alloc_tensor offset 32768 : !words
  // expected-error @below {{may read ring0[0] before its write is done}}
  %p = nv_tileas.async.pipeline.create_pipeline %w phases [full = 4, empty = 4] : <4xi64, #words> -> <2>
  %first = nv_tileas.async.pipeline.create_iterator %p : <2>
  nv_tileas.barrier
  nv_tileas.async.pipeline.agent_switch agents [<"consumers", warps = 4, registers = 240>, <"producer", warps = 4, registers = 40>] {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : !sums
    %all:2 = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero, %it = %first) -> (!sums, !it) : i32 {
      %t = nv_tileas.async.pipeline.consumer_wait %p[%it] : <2>
      nv_tileas.async.fence
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
    %q = nv_tileas.splat %q0 : !nv_tileaa.ptr<f16> -> tensor<64x64x!nv_tileaa.ptr<f16>, #registers>
    %all = scf.for %k = %c0 to %n step %c1 iter_args(%it = %first) -> (!it) : i32 {
      %t = nv_tileas.async.pipeline.producer_acquire %p[%it] : <2>
      %s = nv_tileas.async.pipeline.stage %it
      %x = nv_tileas.memdesc_slot %a[%s] : !ring -> !stage
      %c, %o = nv_tileas.async.load %q into %x vector 8 along 1 : tensor<64x64x!nv_tileaa.ptr<f16>, #registers> -> !stage
      nv_tileas.async.pipeline.producer_commit %p[%it] : <2>
      %next = nv_tileas.async.pipeline.inc_iter %it of %p : <2>
      scf.yield %next : !it
    }
  }
  nv_tileaa.return
}

// -----

// Each thread arrives, instead of each warp.
#registers = #nv_tileas.layout<register = [1, 2, 4, 1024, 2048], lane = [8, 16, 32, 64, 128], warp = [256, 512]>
#shared = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 72, 144, 288, 512, 1024, 2048]>
#sums = #nv_tileas.layout<register = [1, 512, 8, 16, 32], lane = [2, 4, 64, 128, 256], warp = [1024, 2048]>
#words = #nv_tileas.shared_layout<offset = [1, 2]>
!ring = !nv_tileas.memdesc<64x64xf16, #shared, stages = 2, align = 1024>
!stage = !nv_tileas.memdesc<64x64xf16, #shared, align = 1024>
!words = !nv_tileas.memdesc<4xi64, #words>
!sums = tensor<64x64xf32, #sums>
!it = !nv_tileas.pipeline_iterator

nv_tileaa.func @of_warps(%n: i32, %q0: !nv_tileaa.ptr<f16>) attributes {numWarps = 8 : i64, nv_tileas.max_registers = 240 : i64} {
  %a = nv_tileas.alloc_tensor offset 0 : !ring
  %w = nv_tileas.alloc_tensor offset 32768 : !words
  // expected-error @below {{128 arrivals at full0[0], but phase 0 expects only 4}}
  %p = nv_tileas.async.pipeline.create_pipeline %w phases [full = 4, empty = 4] : <4xi64, #words> -> <2>
  %first = nv_tileas.async.pipeline.create_iterator %p : <2>
  nv_tileas.barrier
  nv_tileas.async.pipeline.agent_switch agents [<"consumers", warps = 4, registers = 240>, <"producer", warps = 4, registers = 40>] {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : !sums
    %all:2 = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero, %it = %first) -> (!sums, !it) : i32 {
      %t = nv_tileas.async.pipeline.consumer_wait %p[%it] : <2>
      nv_tileas.async.fence
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
    %q = nv_tileas.splat %q0 : !nv_tileaa.ptr<f16> -> tensor<64x64x!nv_tileaa.ptr<f16>, #registers>
    %all = scf.for %k = %c0 to %n step %c1 iter_args(%it = %first) -> (!it) : i32 {
      %t = nv_tileas.async.pipeline.producer_acquire %p[%it] : <2>
      %s = nv_tileas.async.pipeline.stage %it
      %x = nv_tileas.memdesc_slot %a[%s] : !ring -> !stage
      %c, %o = nv_tileas.async.load %q into %x vector 8 along 1 : tensor<64x64x!nv_tileaa.ptr<f16>, #registers> -> !stage
      nv_tileas.async.pipeline.producer_commit %p[%it] copies : <2>
      %next = nv_tileas.async.pipeline.inc_iter %it of %p : <2>
      scf.yield %next : !it
    }
  }
  nv_tileaa.return
}

// -----

// The arrival of copies does not publish other stores.
#registers = #nv_tileas.layout<register = [1, 2, 4, 1024, 2048], lane = [8, 16, 32, 64, 128], warp = [256, 512]>
#shared = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 72, 144, 288, 512, 1024, 2048]>
#sums = #nv_tileas.layout<register = [1, 512, 8, 16, 32], lane = [2, 4, 64, 128, 256], warp = [1024, 2048]>
#words = #nv_tileas.shared_layout<offset = [1, 2]>
!ring = !nv_tileas.memdesc<64x64xf16, #shared, stages = 2, align = 1024>
!stage = !nv_tileas.memdesc<64x64xf16, #shared, align = 1024>
!words = !nv_tileas.memdesc<4xi64, #words>
!sums = tensor<64x64xf32, #sums>
!it = !nv_tileas.pipeline_iterator

nv_tileaa.func @stored(%n: i32, %q0: !nv_tileaa.ptr<f16>) attributes {numWarps = 8 : i64, nv_tileas.max_registers = 240 : i64} {
  %a = nv_tileas.alloc_tensor offset 0 : !ring
  %w = nv_tileas.alloc_tensor offset 32768 : !words
  %p = nv_tileas.async.pipeline.create_pipeline %w phases [full = 128, empty = 4] : <4xi64, #words> -> <2>
  %first = nv_tileas.async.pipeline.create_iterator %p : <2>
  nv_tileas.barrier
  nv_tileas.async.pipeline.agent_switch agents [<"consumers", warps = 4, registers = 240>, <"producer", warps = 4, registers = 40>] {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : !sums
    %all:2 = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero, %it = %first) -> (!sums, !it) : i32 {
      %t = nv_tileas.async.pipeline.consumer_wait %p[%it] : <2>
      nv_tileas.async.fence
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
    %q = nv_tileas.splat %q0 : !nv_tileaa.ptr<f16> -> tensor<64x64x!nv_tileaa.ptr<f16>, #registers>
    %all = scf.for %k = %c0 to %n step %c1 iter_args(%it = %first) -> (!it) : i32 {
      %t = nv_tileas.async.pipeline.producer_acquire %p[%it] : <2>
      %s = nv_tileas.async.pipeline.stage %it
      %x = nv_tileas.memdesc_slot %a[%s] : !ring -> !stage
      nv_tileas.local_store %tile, %x vector 8 : tensor<64x64xf16, #registers>, !stage
      // expected-error @below {{not committed before their copies}}
      nv_tileas.async.pipeline.producer_commit %p[%it] copies : <2>
      %next = nv_tileas.async.pipeline.inc_iter %it of %p : <2>
      scf.yield %next : !it
    }
  }
  nv_tileaa.return
}
