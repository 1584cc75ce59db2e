// RUN: tileiras-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(tileas-check-synchronization)'
// The protocol of dots that two CTAs run together, and the reports if it is broken: the agents of both CTAs load operands
// and read results, and one thread of the leader issues the dots.

#shared = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 72, 144, 288, 512, 1024, 2048]>
#tall = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 72, 144, 288, 512, 1024, 2048, 4096]>
#rows = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192]>
#sums = #nv_tileas.layout<register = [1, 1024, 8, 16, 32, 64, 2048], lane = [2, 4, 128, 256, 512], warp = [4096, 8192]>
#words = #nv_tileas.shared_layout<offset = [1, 2]>
#word = #nv_tileas.shared_layout<offset = []>
!tall = !nv_tileas.memdesc<128x64xf16, #tall, stages = 2, align = 1024>
!ring = !nv_tileas.memdesc<64x64xf16, #shared, stages = 2, align = 1024>
!left = !nv_tileas.memdesc<128x64xf16, #tall, align = 1024>
!stage = !nv_tileas.memdesc<64x64xf16, #shared, align = 1024>
!words = !nv_tileas.memdesc<4xi64, #words>
!word = !nv_tileas.memdesc<1xi32, #word>
!accs = !nv_tileas.memdesc<128x128xf32, #rows, stages = 2, space = tensor>
!acc = !nv_tileas.memdesc<128x128xf32, #rows, space = tensor>
!sums = tensor<128x128xf32, #sums>
!it = !nv_tileas.pipeline_iterator
!view = !nv_tileaa.tiled_view<tile = [64, 64], memref<64x64xf16, strides = [64, 1]>>
!rows = !nv_tileaa.tiled_view<tile = [128, 64], memref<64x64xf16, strides = [64, 1]>>
!boxes = !nv_tileas.tma_desc<f16, dims = [1, 0], box = [64, 128], steps = [1, 1], swizzle = 128, fill = zero>
!desc = !nv_tileas.tma_desc<f16, dims = [1, 0], box = [64, 64], steps = [1, 1], swizzle = 128, fill = zero>

// As tileas-materialize-async and tileas-specialize-agents create it, tile after tile.
nv_tileaa.func @kept(%lines: !rows, %boxes: !boxes, %view: !view, %desc: !desc, %n: i32, %m: i32) attributes {numWarps = 6 : i64} {
  %a = nv_tileas.alloc_tensor offset 0 : !tall
  %b = nv_tileas.alloc_tensor offset 32768 : !ring
  %w = nv_tileas.alloc_tensor offset 49152 : !words
  %p = nv_tileas.async.pipeline.create_pipeline %w phases [full = 1, empty = 1] leader full : <4xi64, #words> -> <2>
  %first = nv_tileas.async.pipeline.create_iterator %p : <2>
  %v = nv_tileas.alloc_tensor offset 49280 : !words
  %q = nv_tileas.async.pipeline.create_pipeline %v phases [full = 1, empty = 8] leader empty : <4xi64, #words> -> <2>
  %start = nv_tileas.async.pipeline.create_iterator %q : <2>
  %slot = nv_tileas.alloc_tensor offset 49408 : !word
  nv_tileas.tmem_allocate %slot columns 256 pair : !word
  nv_tileas.barrier
  %accs = nv_tileas.alloc_tensor offset 0 : !accs
  nv_tileas.async.pipeline.agent_switch agents [<"consumers", warps = 4>, <"producer", warps = 1>, <"matrix", warps = 1 on rank 0>] {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : !sums
    %none = arith.cmpi sle, %n, %c0 : i32
    %tiles:2 = scf.for %i = %c0 to %m step %c1 iter_args(%outer = %first, %j = %start) -> (!it, !it) : i32 {
      %s = nv_tileas.async.pipeline.stage %j
      %acc = nv_tileas.memdesc_slot %accs[%s] : !accs -> !acc
      %all = scf.for %k = %c0 to %n step %c1 iter_args(%it = %outer) -> (!it) : i32 {
        %next = nv_tileas.async.pipeline.inc_iter %it of %p : <2>
        scf.yield %next : !it
      }
      %t = nv_tileas.async.pipeline.consumer_wait %q[%j] : <2>
      nv_tileas.tmem_fence after
      scf.if %none {
        nv_tileas.tmem_store %zero, %acc : !sums, !acc
      }
      %sum = nv_tileas.tmem_load %acc : !acc -> !sums
      nv_tileas.tmem_fence
      nv_tileas.async.pipeline.consumer_release %q[%j] : <2>
      %more = nv_tileas.async.pipeline.inc_iter %j of %q : <2>
      scf.yield %all, %more : !it, !it
    }
  }, {
    nv_tileas.async.elect {
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %tiles = scf.for %i = %c0 to %m step %c1 iter_args(%outer = %first) -> (!it) : i32 {
        %all = scf.for %k = %c0 to %n step %c1 iter_args(%it = %outer) -> (!it) : i32 {
          %t = nv_tileas.async.pipeline.producer_acquire %p[%it] bytes 24576 : <2>
          %s = nv_tileas.async.pipeline.stage %it
          %x = nv_tileas.memdesc_slot %a[%s] : !tall -> !left
          %y = nv_tileas.memdesc_slot %b[%s] : !ring -> !stage
          nv_tileas.async.tiled_tma_load %lines[%i, %k] by %boxes into %x arrive %t : !rows[i32, i32], !boxes -> !left
          nv_tileas.async.tiled_tma_load %view[%k, %i] by %desc into %y arrive %t : !view[i32, i32], !desc -> !stage
          %next = nv_tileas.async.pipeline.inc_iter %it of %p : <2>
          scf.yield %next : !it
        }
        scf.yield %all : !it
      }
    }
  }, {
    nv_tileas.async.elect {
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %tiles:2 = scf.for %i = %c0 to %m step %c1 iter_args(%outer = %first, %j = %start) -> (!it, !it) : i32 {
        %s = nv_tileas.async.pipeline.stage %j
        %acc = nv_tileas.memdesc_slot %accs[%s] : !accs -> !acc
        %t = nv_tileas.async.pipeline.producer_acquire %q[%j] : <2>
        nv_tileas.tmem_fence after
        %all = scf.for %k = %c0 to %n step %c1 iter_args(%it = %outer) -> (!it) : i32 {
          %more = arith.cmpi ne, %k, %c0 : i32
          %full = nv_tileas.async.pipeline.consumer_wait %p[%it] : <2>
          %u = nv_tileas.async.pipeline.stage %it
          %x = nv_tileas.memdesc_slot %a[%u] : !tall -> !left
          %y = nv_tileas.memdesc_slot %b[%u] : !ring -> !stage
          nv_tileas.async.dot %x, %y, %acc accumulate %more by <tensor_pair, [256, 128, 16]> : !left, !stage, !acc
          nv_tileas.async.pipeline.consumer_release %p[%it] dots : <2>
          %next = nv_tileas.async.pipeline.inc_iter %it of %p : <2>
          scf.yield %next : !it
        }
        nv_tileas.async.pipeline.producer_commit %q[%j] dots : <2>
        %again = nv_tileas.async.pipeline.inc_iter %j of %q : <2>
        scf.yield %all, %again : !it, !it
      }
    }
  }
  nv_tileas.tmem_free columns 256 pair
  nv_tileaa.return
}

// -----

#shared = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 72, 144, 288, 512, 1024, 2048]>
#tall = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 72, 144, 288, 512, 1024, 2048, 4096]>
#rows = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192]>
#sums = #nv_tileas.layout<register = [1, 1024, 8, 16, 32, 64, 2048], lane = [2, 4, 128, 256, 512], warp = [4096, 8192]>
#words = #nv_tileas.shared_layout<offset = [1, 2]>
#word = #nv_tileas.shared_layout<offset = []>
!tall = !nv_tileas.memdesc<128x64xf16, #tall, stages = 2, align = 1024>
!ring = !nv_tileas.memdesc<64x64xf16, #shared, stages = 2, align = 1024>
!left = !nv_tileas.memdesc<128x64xf16, #tall, align = 1024>
!stage = !nv_tileas.memdesc<64x64xf16, #shared, align = 1024>
!words = !nv_tileas.memdesc<4xi64, #words>
!word = !nv_tileas.memdesc<1xi32, #word>
!accs = !nv_tileas.memdesc<128x128xf32, #rows, stages = 2, space = tensor>
!acc = !nv_tileas.memdesc<128x128xf32, #rows, space = tensor>
!sums = tensor<128x128xf32, #sums>
!it = !nv_tileas.pipeline_iterator
!view = !nv_tileaa.tiled_view<tile = [64, 64], memref<64x64xf16, strides = [64, 1]>>
!rows = !nv_tileaa.tiled_view<tile = [128, 64], memref<64x64xf16, strides = [64, 1]>>
!boxes = !nv_tileas.tma_desc<f16, dims = [1, 0], box = [64, 128], steps = [1, 1], swizzle = 128, fill = zero>
!desc = !nv_tileas.tma_desc<f16, dims = [1, 0], box = [64, 64], steps = [1, 1], swizzle = 128, fill = zero>

// The leader waits for the consumers of one CTA only.
nv_tileaa.func @half_of_the_consumers(%lines: !rows, %boxes: !boxes, %view: !view, %desc: !desc, %n: i32, %m: i32) attributes {numWarps = 6 : i64} {
  %a = nv_tileas.alloc_tensor offset 0 : !tall
  %b = nv_tileas.alloc_tensor offset 32768 : !ring
  %w = nv_tileas.alloc_tensor offset 49152 : !words
  // expected-error @below {{an operation for phase 1 of empty1 of CTA 0[0] may come before phase 0 is complete}}
  %p = nv_tileas.async.pipeline.create_pipeline %w phases [full = 1, empty = 1] leader full : <4xi64, #words> -> <2>
  %first = nv_tileas.async.pipeline.create_iterator %p : <2>
  %v = nv_tileas.alloc_tensor offset 49280 : !words
  %q = nv_tileas.async.pipeline.create_pipeline %v phases [full = 1, empty = 4] leader empty : <4xi64, #words> -> <2>
  %start = nv_tileas.async.pipeline.create_iterator %q : <2>
  %slot = nv_tileas.alloc_tensor offset 49408 : !word
  nv_tileas.tmem_allocate %slot columns 256 pair : !word
  nv_tileas.barrier
  %accs = nv_tileas.alloc_tensor offset 0 : !accs
  nv_tileas.async.pipeline.agent_switch agents [<"consumers", warps = 4>, <"producer", warps = 1>, <"matrix", warps = 1 on rank 0>] {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : !sums
    %none = arith.cmpi sle, %n, %c0 : i32
    %tiles:2 = scf.for %i = %c0 to %m step %c1 iter_args(%outer = %first, %j = %start) -> (!it, !it) : i32 {
      %s = nv_tileas.async.pipeline.stage %j
      %acc = nv_tileas.memdesc_slot %accs[%s] : !accs -> !acc
      %all = scf.for %k = %c0 to %n step %c1 iter_args(%it = %outer) -> (!it) : i32 {
        %next = nv_tileas.async.pipeline.inc_iter %it of %p : <2>
        scf.yield %next : !it
      }
      %t = nv_tileas.async.pipeline.consumer_wait %q[%j] : <2>
      nv_tileas.tmem_fence after
      scf.if %none {
        nv_tileas.tmem_store %zero, %acc : !sums, !acc
      }
      %sum = nv_tileas.tmem_load %acc : !acc -> !sums
      nv_tileas.tmem_fence
      nv_tileas.async.pipeline.consumer_release %q[%j] : <2>
      %more = nv_tileas.async.pipeline.inc_iter %j of %q : <2>
      scf.yield %all, %more : !it, !it
    }
  }, {
    nv_tileas.async.elect {
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %tiles = scf.for %i = %c0 to %m step %c1 iter_args(%outer = %first) -> (!it) : i32 {
        %all = scf.for %k = %c0 to %n step %c1 iter_args(%it = %outer) -> (!it) : i32 {
          %t = nv_tileas.async.pipeline.producer_acquire %p[%it] bytes 24576 : <2>
          %s = nv_tileas.async.pipeline.stage %it
          %x = nv_tileas.memdesc_slot %a[%s] : !tall -> !left
          %y = nv_tileas.memdesc_slot %b[%s] : !ring -> !stage
          nv_tileas.async.tiled_tma_load %lines[%i, %k] by %boxes into %x arrive %t : !rows[i32, i32], !boxes -> !left
          nv_tileas.async.tiled_tma_load %view[%k, %i] by %desc into %y arrive %t : !view[i32, i32], !desc -> !stage
          %next = nv_tileas.async.pipeline.inc_iter %it of %p : <2>
          scf.yield %next : !it
        }
        scf.yield %all : !it
      }
    }
  }, {
    nv_tileas.async.elect {
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %tiles:2 = scf.for %i = %c0 to %m step %c1 iter_args(%outer = %first, %j = %start) -> (!it, !it) : i32 {
        %s = nv_tileas.async.pipeline.stage %j
        %acc = nv_tileas.memdesc_slot %accs[%s] : !accs -> !acc
        %t = nv_tileas.async.pipeline.producer_acquire %q[%j] : <2>
        nv_tileas.tmem_fence after
        %all = scf.for %k = %c0 to %n step %c1 iter_args(%it = %outer) -> (!it) : i32 {
          %more = arith.cmpi ne, %k, %c0 : i32
          %full = nv_tileas.async.pipeline.consumer_wait %p[%it] : <2>
          %u = nv_tileas.async.pipeline.stage %it
          %x = nv_tileas.memdesc_slot %a[%u] : !tall -> !left
          %y = nv_tileas.memdesc_slot %b[%u] : !ring -> !stage
          nv_tileas.async.dot %x, %y, %acc accumulate %more by <tensor_pair, [256, 128, 16]> : !left, !stage, !acc
          nv_tileas.async.pipeline.consumer_release %p[%it] dots : <2>
          %next = nv_tileas.async.pipeline.inc_iter %it of %p : <2>
          scf.yield %next : !it
        }
        nv_tileas.async.pipeline.producer_commit %q[%j] dots : <2>
        %again = nv_tileas.async.pipeline.inc_iter %j of %q : <2>
        scf.yield %all, %again : !it, !it
      }
    }
  }
  nv_tileas.tmem_free columns 256 pair
  nv_tileaa.return
}

// -----

#shared = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 72, 144, 288, 512, 1024, 2048]>
#tall = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 72, 144, 288, 512, 1024, 2048, 4096]>
#rows = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192]>
#sums = #nv_tileas.layout<register = [1, 1024, 8, 16, 32, 64, 2048], lane = [2, 4, 128, 256, 512], warp = [4096, 8192]>
#words = #nv_tileas.shared_layout<offset = [1, 2]>
#word = #nv_tileas.shared_layout<offset = []>
!tall = !nv_tileas.memdesc<128x64xf16, #tall, stages = 2, align = 1024>
!ring = !nv_tileas.memdesc<64x64xf16, #shared, stages = 2, align = 1024>
!left = !nv_tileas.memdesc<128x64xf16, #tall, align = 1024>
!stage = !nv_tileas.memdesc<64x64xf16, #shared, align = 1024>
!words = !nv_tileas.memdesc<4xi64, #words>
!word = !nv_tileas.memdesc<1xi32, #word>
!accs = !nv_tileas.memdesc<128x128xf32, #rows, stages = 2, space = tensor>
!acc = !nv_tileas.memdesc<128x128xf32, #rows, space = tensor>
!sums = tensor<128x128xf32, #sums>
!it = !nv_tileas.pipeline_iterator
!view = !nv_tileaa.tiled_view<tile = [64, 64], memref<64x64xf16, strides = [64, 1]>>
!rows = !nv_tileaa.tiled_view<tile = [128, 64], memref<64x64xf16, strides = [64, 1]>>
!boxes = !nv_tileas.tma_desc<f16, dims = [1, 0], box = [64, 128], steps = [1, 1], swizzle = 128, fill = zero>
!desc = !nv_tileas.tma_desc<f16, dims = [1, 0], box = [64, 64], steps = [1, 1], swizzle = 128, fill = zero>

// Each CTA has its own ring, so the dots do not wait for the operands of the other CTA.
nv_tileaa.func @separate_rings(%lines: !rows, %boxes: !boxes, %view: !view, %desc: !desc, %n: i32, %m: i32) attributes {numWarps = 6 : i64} {
  %a = nv_tileas.alloc_tensor offset 0 : !tall
  %b = nv_tileas.alloc_tensor offset 32768 : !ring
  %w = nv_tileas.alloc_tensor offset 49152 : !words
  // expected-error @below {{agent 2 of CTA 0 may read ring3[0] before its write is done}}
  %p = nv_tileas.async.pipeline.create_pipeline %w phases [full = 1, empty = 1] : <4xi64, #words> -> <2>
  %first = nv_tileas.async.pipeline.create_iterator %p : <2>
  %v = nv_tileas.alloc_tensor offset 49280 : !words
  %q = nv_tileas.async.pipeline.create_pipeline %v phases [full = 1, empty = 8] leader empty : <4xi64, #words> -> <2>
  %start = nv_tileas.async.pipeline.create_iterator %q : <2>
  %slot = nv_tileas.alloc_tensor offset 49408 : !word
  nv_tileas.tmem_allocate %slot columns 256 pair : !word
  nv_tileas.barrier
  %accs = nv_tileas.alloc_tensor offset 0 : !accs
  nv_tileas.async.pipeline.agent_switch agents [<"consumers", warps = 4>, <"producer", warps = 1>, <"matrix", warps = 1 on rank 0>] {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : !sums
    %none = arith.cmpi sle, %n, %c0 : i32
    %tiles:2 = scf.for %i = %c0 to %m step %c1 iter_args(%outer = %first, %j = %start) -> (!it, !it) : i32 {
      %s = nv_tileas.async.pipeline.stage %j
      %acc = nv_tileas.memdesc_slot %accs[%s] : !accs -> !acc
      %all = scf.for %k = %c0 to %n step %c1 iter_args(%it = %outer) -> (!it) : i32 {
        %next = nv_tileas.async.pipeline.inc_iter %it of %p : <2>
        scf.yield %next : !it
      }
      %t = nv_tileas.async.pipeline.consumer_wait %q[%j] : <2>
      nv_tileas.tmem_fence after
      scf.if %none {
        nv_tileas.tmem_store %zero, %acc : !sums, !acc
      }
      %sum = nv_tileas.tmem_load %acc : !acc -> !sums
      nv_tileas.tmem_fence
      nv_tileas.async.pipeline.consumer_release %q[%j] : <2>
      %more = nv_tileas.async.pipeline.inc_iter %j of %q : <2>
      scf.yield %all, %more : !it, !it
    }
  }, {
    nv_tileas.async.elect {
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %tiles = scf.for %i = %c0 to %m step %c1 iter_args(%outer = %first) -> (!it) : i32 {
        %all = scf.for %k = %c0 to %n step %c1 iter_args(%it = %outer) -> (!it) : i32 {
          %t = nv_tileas.async.pipeline.producer_acquire %p[%it] bytes 24576 : <2>
          %s = nv_tileas.async.pipeline.stage %it
          %x = nv_tileas.memdesc_slot %a[%s] : !tall -> !left
          %y = nv_tileas.memdesc_slot %b[%s] : !ring -> !stage
          nv_tileas.async.tiled_tma_load %lines[%i, %k] by %boxes into %x arrive %t : !rows[i32, i32], !boxes -> !left
          nv_tileas.async.tiled_tma_load %view[%k, %i] by %desc into %y arrive %t : !view[i32, i32], !desc -> !stage
          %next = nv_tileas.async.pipeline.inc_iter %it of %p : <2>
          scf.yield %next : !it
        }
        scf.yield %all : !it
      }
    }
  }, {
    nv_tileas.async.elect {
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %tiles:2 = scf.for %i = %c0 to %m step %c1 iter_args(%outer = %first, %j = %start) -> (!it, !it) : i32 {
        %s = nv_tileas.async.pipeline.stage %j
        %acc = nv_tileas.memdesc_slot %accs[%s] : !accs -> !acc
        %t = nv_tileas.async.pipeline.producer_acquire %q[%j] : <2>
        nv_tileas.tmem_fence after
        %all = scf.for %k = %c0 to %n step %c1 iter_args(%it = %outer) -> (!it) : i32 {
          %more = arith.cmpi ne, %k, %c0 : i32
          %full = nv_tileas.async.pipeline.consumer_wait %p[%it] : <2>
          %u = nv_tileas.async.pipeline.stage %it
          %x = nv_tileas.memdesc_slot %a[%u] : !tall -> !left
          %y = nv_tileas.memdesc_slot %b[%u] : !ring -> !stage
          nv_tileas.async.dot %x, %y, %acc accumulate %more by <tensor_pair, [256, 128, 16]> : !left, !stage, !acc
          nv_tileas.async.pipeline.consumer_release %p[%it] dots : <2>
          %next = nv_tileas.async.pipeline.inc_iter %it of %p : <2>
          scf.yield %next : !it
        }
        nv_tileas.async.pipeline.producer_commit %q[%j] dots : <2>
        %again = nv_tileas.async.pipeline.inc_iter %j of %q : <2>
        scf.yield %all, %again : !it, !it
      }
    }
  }
  nv_tileas.tmem_free columns 256 pair
  nv_tileaa.return
}

// -----

#shared = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 72, 144, 288, 512, 1024, 2048]>
#tall = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 72, 144, 288, 512, 1024, 2048, 4096]>
#rows = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192]>
#sums = #nv_tileas.layout<register = [1, 1024, 8, 16, 32, 64, 2048], lane = [2, 4, 128, 256, 512], warp = [4096, 8192]>
#words = #nv_tileas.shared_layout<offset = [1, 2]>
#word = #nv_tileas.shared_layout<offset = []>
!tall = !nv_tileas.memdesc<128x64xf16, #tall, stages = 2, align = 1024>
!ring = !nv_tileas.memdesc<64x64xf16, #shared, stages = 2, align = 1024>
!left = !nv_tileas.memdesc<128x64xf16, #tall, align = 1024>
!stage = !nv_tileas.memdesc<64x64xf16, #shared, align = 1024>
!words = !nv_tileas.memdesc<4xi64, #words>
!word = !nv_tileas.memdesc<1xi32, #word>
!accs = !nv_tileas.memdesc<128x128xf32, #rows, stages = 2, space = tensor>
!acc = !nv_tileas.memdesc<128x128xf32, #rows, space = tensor>
!sums = tensor<128x128xf32, #sums>
!it = !nv_tileas.pipeline_iterator
!view = !nv_tileaa.tiled_view<tile = [64, 64], memref<64x64xf16, strides = [64, 1]>>
!rows = !nv_tileaa.tiled_view<tile = [128, 64], memref<64x64xf16, strides = [64, 1]>>
!boxes = !nv_tileas.tma_desc<f16, dims = [1, 0], box = [64, 128], steps = [1, 1], swizzle = 128, fill = zero>
!desc = !nv_tileas.tma_desc<f16, dims = [1, 0], box = [64, 64], steps = [1, 1], swizzle = 128, fill = zero>

// The dots run in both CTAs.
nv_tileaa.func @both_issue_dots(%lines: !rows, %boxes: !boxes, %view: !view, %desc: !desc, %n: i32, %m: i32) attributes {numWarps = 6 : i64} {
  %a = nv_tileas.alloc_tensor offset 0 : !tall
  %b = nv_tileas.alloc_tensor offset 32768 : !ring
  %w = nv_tileas.alloc_tensor offset 49152 : !words
  %p = nv_tileas.async.pipeline.create_pipeline %w phases [full = 1, empty = 1] leader full : <4xi64, #words> -> <2>
  %first = nv_tileas.async.pipeline.create_iterator %p : <2>
  %v = nv_tileas.alloc_tensor offset 49280 : !words
  %q = nv_tileas.async.pipeline.create_pipeline %v phases [full = 1, empty = 8] leader empty : <4xi64, #words> -> <2>
  %start = nv_tileas.async.pipeline.create_iterator %q : <2>
  %slot = nv_tileas.alloc_tensor offset 49408 : !word
  nv_tileas.tmem_allocate %slot columns 256 pair : !word
  nv_tileas.barrier
  %accs = nv_tileas.alloc_tensor offset 0 : !accs
  nv_tileas.async.pipeline.agent_switch agents [<"consumers", warps = 4>, <"producer", warps = 1>, <"matrix", warps = 1>] {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : !sums
    %none = arith.cmpi sle, %n, %c0 : i32
    %tiles:2 = scf.for %i = %c0 to %m step %c1 iter_args(%outer = %first, %j = %start) -> (!it, !it) : i32 {
      %s = nv_tileas.async.pipeline.stage %j
      %acc = nv_tileas.memdesc_slot %accs[%s] : !accs -> !acc
      %all = scf.for %k = %c0 to %n step %c1 iter_args(%it = %outer) -> (!it) : i32 {
        %next = nv_tileas.async.pipeline.inc_iter %it of %p : <2>
        scf.yield %next : !it
      }
      %t = nv_tileas.async.pipeline.consumer_wait %q[%j] : <2>
      nv_tileas.tmem_fence after
      scf.if %none {
        nv_tileas.tmem_store %zero, %acc : !sums, !acc
      }
      %sum = nv_tileas.tmem_load %acc : !acc -> !sums
      nv_tileas.tmem_fence
      nv_tileas.async.pipeline.consumer_release %q[%j] : <2>
      %more = nv_tileas.async.pipeline.inc_iter %j of %q : <2>
      scf.yield %all, %more : !it, !it
    }
  }, {
    nv_tileas.async.elect {
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %tiles = scf.for %i = %c0 to %m step %c1 iter_args(%outer = %first) -> (!it) : i32 {
        %all = scf.for %k = %c0 to %n step %c1 iter_args(%it = %outer) -> (!it) : i32 {
          %t = nv_tileas.async.pipeline.producer_acquire %p[%it] bytes 24576 : <2>
          %s = nv_tileas.async.pipeline.stage %it
          %x = nv_tileas.memdesc_slot %a[%s] : !tall -> !left
          %y = nv_tileas.memdesc_slot %b[%s] : !ring -> !stage
          nv_tileas.async.tiled_tma_load %lines[%i, %k] by %boxes into %x arrive %t : !rows[i32, i32], !boxes -> !left
          nv_tileas.async.tiled_tma_load %view[%k, %i] by %desc into %y arrive %t : !view[i32, i32], !desc -> !stage
          %next = nv_tileas.async.pipeline.inc_iter %it of %p : <2>
          scf.yield %next : !it
        }
        scf.yield %all : !it
      }
    }
  }, {
    nv_tileas.async.elect {
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %tiles:2 = scf.for %i = %c0 to %m step %c1 iter_args(%outer = %first, %j = %start) -> (!it, !it) : i32 {
        %s = nv_tileas.async.pipeline.stage %j
        %acc = nv_tileas.memdesc_slot %accs[%s] : !accs -> !acc
  // expected-error @below {{only the leader of the pair can wait for the phase 'empty'}}
        %t = nv_tileas.async.pipeline.producer_acquire %q[%j] : <2>
        nv_tileas.tmem_fence after
        %all = scf.for %k = %c0 to %n step %c1 iter_args(%it = %outer) -> (!it) : i32 {
          %more = arith.cmpi ne, %k, %c0 : i32
          %full = nv_tileas.async.pipeline.consumer_wait %p[%it] : <2>
          %u = nv_tileas.async.pipeline.stage %it
          %x = nv_tileas.memdesc_slot %a[%u] : !tall -> !left
          %y = nv_tileas.memdesc_slot %b[%u] : !ring -> !stage
          nv_tileas.async.dot %x, %y, %acc accumulate %more by <tensor_pair, [256, 128, 16]> : !left, !stage, !acc
          nv_tileas.async.pipeline.consumer_release %p[%it] dots : <2>
          %next = nv_tileas.async.pipeline.inc_iter %it of %p : <2>
          scf.yield %next : !it
        }
        nv_tileas.async.pipeline.producer_commit %q[%j] dots : <2>
        %again = nv_tileas.async.pipeline.inc_iter %j of %q : <2>
        scf.yield %all, %again : !it, !it
      }
    }
  }
  nv_tileas.tmem_free columns 256 pair
  nv_tileaa.return
}

// -----

#shared = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 72, 144, 288, 512, 1024, 2048]>
#tall = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 72, 144, 288, 512, 1024, 2048, 4096]>
#rows = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192]>
#sums = #nv_tileas.layout<register = [1, 1024, 8, 16, 32, 64, 2048], lane = [2, 4, 128, 256, 512], warp = [4096, 8192]>
#words = #nv_tileas.shared_layout<offset = [1, 2]>
#word = #nv_tileas.shared_layout<offset = []>
!tall = !nv_tileas.memdesc<128x64xf16, #tall, stages = 2, align = 1024>
!ring = !nv_tileas.memdesc<64x64xf16, #shared, stages = 2, align = 1024>
!left = !nv_tileas.memdesc<128x64xf16, #tall, align = 1024>
!stage = !nv_tileas.memdesc<64x64xf16, #shared, align = 1024>
!words = !nv_tileas.memdesc<4xi64, #words>
!word = !nv_tileas.memdesc<1xi32, #word>
!accs = !nv_tileas.memdesc<128x128xf32, #rows, stages = 2, space = tensor>
!acc = !nv_tileas.memdesc<128x128xf32, #rows, space = tensor>
!sums = tensor<128x128xf32, #sums>
!it = !nv_tileas.pipeline_iterator
!view = !nv_tileaa.tiled_view<tile = [64, 64], memref<64x64xf16, strides = [64, 1]>>
!rows = !nv_tileaa.tiled_view<tile = [128, 64], memref<64x64xf16, strides = [64, 1]>>
!boxes = !nv_tileas.tma_desc<f16, dims = [1, 0], box = [64, 128], steps = [1, 1], swizzle = 128, fill = zero>
!desc = !nv_tileas.tma_desc<f16, dims = [1, 0], box = [64, 64], steps = [1, 1], swizzle = 128, fill = zero>

// The dots do not wait for the consumers of the other CTA.
nv_tileaa.func @separate_accumulators(%lines: !rows, %boxes: !boxes, %view: !view, %desc: !desc, %n: i32, %m: i32) attributes {numWarps = 6 : i64} {
  %a = nv_tileas.alloc_tensor offset 0 : !tall
  %b = nv_tileas.alloc_tensor offset 32768 : !ring
  %w = nv_tileas.alloc_tensor offset 49152 : !words
  // expected-error @below {{deadlock: agent 0 of CTA 1 waits for full1 of CTA 1[0] to leave phase 0, which lacks 1 of }}
  %p = nv_tileas.async.pipeline.create_pipeline %w phases [full = 1, empty = 1] leader full : <4xi64, #words> -> <2>
  %first = nv_tileas.async.pipeline.create_iterator %p : <2>
  %v = nv_tileas.alloc_tensor offset 49280 : !words
  %q = nv_tileas.async.pipeline.create_pipeline %v phases [full = 1, empty = 4] : <4xi64, #words> -> <2>
  %start = nv_tileas.async.pipeline.create_iterator %q : <2>
  %slot = nv_tileas.alloc_tensor offset 49408 : !word
  nv_tileas.tmem_allocate %slot columns 256 pair : !word
  nv_tileas.barrier
  %accs = nv_tileas.alloc_tensor offset 0 : !accs
  nv_tileas.async.pipeline.agent_switch agents [<"consumers", warps = 4>, <"producer", warps = 1>, <"matrix", warps = 1 on rank 0>] {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : !sums
    %none = arith.cmpi sle, %n, %c0 : i32
    %tiles:2 = scf.for %i = %c0 to %m step %c1 iter_args(%outer = %first, %j = %start) -> (!it, !it) : i32 {
      %s = nv_tileas.async.pipeline.stage %j
      %acc = nv_tileas.memdesc_slot %accs[%s] : !accs -> !acc
      %all = scf.for %k = %c0 to %n step %c1 iter_args(%it = %outer) -> (!it) : i32 {
        %next = nv_tileas.async.pipeline.inc_iter %it of %p : <2>
        scf.yield %next : !it
      }
      %t = nv_tileas.async.pipeline.consumer_wait %q[%j] : <2>
      nv_tileas.tmem_fence after
      scf.if %none {
        nv_tileas.tmem_store %zero, %acc : !sums, !acc
      }
      %sum = nv_tileas.tmem_load %acc : !acc -> !sums
      nv_tileas.tmem_fence
      nv_tileas.async.pipeline.consumer_release %q[%j] : <2>
      %more = nv_tileas.async.pipeline.inc_iter %j of %q : <2>
      scf.yield %all, %more : !it, !it
    }
  }, {
    nv_tileas.async.elect {
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %tiles = scf.for %i = %c0 to %m step %c1 iter_args(%outer = %first) -> (!it) : i32 {
        %all = scf.for %k = %c0 to %n step %c1 iter_args(%it = %outer) -> (!it) : i32 {
          %t = nv_tileas.async.pipeline.producer_acquire %p[%it] bytes 24576 : <2>
          %s = nv_tileas.async.pipeline.stage %it
          %x = nv_tileas.memdesc_slot %a[%s] : !tall -> !left
          %y = nv_tileas.memdesc_slot %b[%s] : !ring -> !stage
          nv_tileas.async.tiled_tma_load %lines[%i, %k] by %boxes into %x arrive %t : !rows[i32, i32], !boxes -> !left
          nv_tileas.async.tiled_tma_load %view[%k, %i] by %desc into %y arrive %t : !view[i32, i32], !desc -> !stage
          %next = nv_tileas.async.pipeline.inc_iter %it of %p : <2>
          scf.yield %next : !it
        }
        scf.yield %all : !it
      }
    }
  }, {
    nv_tileas.async.elect {
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %tiles:2 = scf.for %i = %c0 to %m step %c1 iter_args(%outer = %first, %j = %start) -> (!it, !it) : i32 {
        %s = nv_tileas.async.pipeline.stage %j
        %acc = nv_tileas.memdesc_slot %accs[%s] : !accs -> !acc
        %t = nv_tileas.async.pipeline.producer_acquire %q[%j] : <2>
        nv_tileas.tmem_fence after
        %all = scf.for %k = %c0 to %n step %c1 iter_args(%it = %outer) -> (!it) : i32 {
          %more = arith.cmpi ne, %k, %c0 : i32
          %full = nv_tileas.async.pipeline.consumer_wait %p[%it] : <2>
          %u = nv_tileas.async.pipeline.stage %it
          %x = nv_tileas.memdesc_slot %a[%u] : !tall -> !left
          %y = nv_tileas.memdesc_slot %b[%u] : !ring -> !stage
          nv_tileas.async.dot %x, %y, %acc accumulate %more by <tensor_pair, [256, 128, 16]> : !left, !stage, !acc
          nv_tileas.async.pipeline.consumer_release %p[%it] dots : <2>
          %next = nv_tileas.async.pipeline.inc_iter %it of %p : <2>
          scf.yield %next : !it
        }
        nv_tileas.async.pipeline.producer_commit %q[%j] dots : <2>
        %again = nv_tileas.async.pipeline.inc_iter %j of %q : <2>
        scf.yield %all, %again : !it, !it
      }
    }
  }
  nv_tileas.tmem_free columns 256 pair
  nv_tileaa.return
}

