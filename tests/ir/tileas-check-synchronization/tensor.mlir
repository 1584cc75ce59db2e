// RUN: tileiras-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(tileas-check-synchronization)'
// The protocol of dots that accumulate in tensor memory, with two accumulators, and the reports if it is broken: one
// agent loads operands, one thread issues dots, and the consumers read the results.

#shared = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 72, 144, 288, 512, 1024, 2048]>
#rows = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048]>
#sums = #nv_tileas.layout<register = [1, 512, 8, 16, 32], lane = [2, 4, 64, 128, 256], warp = [1024, 2048]>
#words = #nv_tileas.shared_layout<offset = [1, 2]>
#word = #nv_tileas.shared_layout<offset = []>
!ring = !nv_tileas.memdesc<64x64xf16, #shared, stages = 2, align = 1024>
!stage = !nv_tileas.memdesc<64x64xf16, #shared, align = 1024>
!words = !nv_tileas.memdesc<4xi64, #words>
!word = !nv_tileas.memdesc<1xi32, #word>
!accs = !nv_tileas.memdesc<64x64xf32, #rows, stages = 2, space = tensor>
!acc = !nv_tileas.memdesc<64x64xf32, #rows, space = tensor>
!sums = tensor<64x64xf32, #sums>
!it = !nv_tileas.pipeline_iterator
!view = !nv_tileaa.tiled_view<tile = [64, 64], memref<64x64xf16, strides = [64, 1]>>
!desc = !nv_tileas.tma_desc<f16, dims = [1, 0], box = [64, 64], steps = [1, 1], swizzle = 128, fill = zero>

// The protocol as tileas-materialize-async and tileas-specialize-agents create it, tile after tile.
nv_tileaa.func @kept(%view: !view, %desc: !desc, %n: i32, %m: i32) attributes {numWarps = 6 : i64} {
  %a = nv_tileas.alloc_tensor offset 0 : !ring
  %b = nv_tileas.alloc_tensor offset 16384 : !ring
  %w = nv_tileas.alloc_tensor offset 32768 : !words
  %p = nv_tileas.async.pipeline.create_pipeline %w phases [full = 1, empty = 1] : <4xi64, #words> -> <2>
  %first = nv_tileas.async.pipeline.create_iterator %p : <2>
  %v = nv_tileas.alloc_tensor offset 32896 : !words
  %q = nv_tileas.async.pipeline.create_pipeline %v phases [full = 1, empty = 4] : <4xi64, #words> -> <2>
  %start = nv_tileas.async.pipeline.create_iterator %q : <2>
  %slot = nv_tileas.alloc_tensor offset 33024 : !word
  nv_tileas.tmem_allocate %slot columns 128 : !word
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
          %t = nv_tileas.async.pipeline.producer_acquire %p[%it] bytes 16384 : <2>
          %s = nv_tileas.async.pipeline.stage %it
          %x = nv_tileas.memdesc_slot %a[%s] : !ring -> !stage
          %y = nv_tileas.memdesc_slot %b[%s] : !ring -> !stage
          nv_tileas.async.tiled_tma_load %view[%i, %k] by %desc into %x arrive %t : !view[i32, i32], !desc -> !stage
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
          %x = nv_tileas.memdesc_slot %a[%u] : !ring -> !stage
          %y = nv_tileas.memdesc_slot %b[%u] : !ring -> !stage
          nv_tileas.async.dot %x, %y, %acc accumulate %more by <tensor, [64, 64, 16]> : !stage, !stage, !acc
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
  nv_tileas.tmem_free columns 128
  nv_tileaa.return
}

// -----

#shared = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 72, 144, 288, 512, 1024, 2048]>
#rows = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048]>
#sums = #nv_tileas.layout<register = [1, 512, 8, 16, 32], lane = [2, 4, 64, 128, 256], warp = [1024, 2048]>
#words = #nv_tileas.shared_layout<offset = [1, 2]>
#word = #nv_tileas.shared_layout<offset = []>
!ring = !nv_tileas.memdesc<64x64xf16, #shared, stages = 2, align = 1024>
!stage = !nv_tileas.memdesc<64x64xf16, #shared, align = 1024>
!words = !nv_tileas.memdesc<4xi64, #words>
!word = !nv_tileas.memdesc<1xi32, #word>
!accs = !nv_tileas.memdesc<64x64xf32, #rows, stages = 2, space = tensor>
!acc = !nv_tileas.memdesc<64x64xf32, #rows, space = tensor>
!sums = tensor<64x64xf32, #sums>
!it = !nv_tileas.pipeline_iterator
!view = !nv_tileaa.tiled_view<tile = [64, 64], memref<64x64xf16, strides = [64, 1]>>
!desc = !nv_tileas.tma_desc<f16, dims = [1, 0], box = [64, 64], steps = [1, 1], swizzle = 128, fill = zero>

// No dot releases its stage.
nv_tileaa.func @stage_not_released(%view: !view, %desc: !desc, %n: i32, %m: i32) attributes {numWarps = 6 : i64} {
  %a = nv_tileas.alloc_tensor offset 0 : !ring
  %b = nv_tileas.alloc_tensor offset 16384 : !ring
  %w = nv_tileas.alloc_tensor offset 32768 : !words
  // expected-error @below {{deadlock: agent 0 waits for full1[0]}}
  %p = nv_tileas.async.pipeline.create_pipeline %w phases [full = 1, empty = 1] : <4xi64, #words> -> <2>
  %first = nv_tileas.async.pipeline.create_iterator %p : <2>
  %v = nv_tileas.alloc_tensor offset 32896 : !words
  %q = nv_tileas.async.pipeline.create_pipeline %v phases [full = 1, empty = 4] : <4xi64, #words> -> <2>
  %start = nv_tileas.async.pipeline.create_iterator %q : <2>
  %slot = nv_tileas.alloc_tensor offset 33024 : !word
  nv_tileas.tmem_allocate %slot columns 128 : !word
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
          %t = nv_tileas.async.pipeline.producer_acquire %p[%it] bytes 16384 : <2>
          %s = nv_tileas.async.pipeline.stage %it
          %x = nv_tileas.memdesc_slot %a[%s] : !ring -> !stage
          %y = nv_tileas.memdesc_slot %b[%s] : !ring -> !stage
          nv_tileas.async.tiled_tma_load %view[%i, %k] by %desc into %x arrive %t : !view[i32, i32], !desc -> !stage
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
          %x = nv_tileas.memdesc_slot %a[%u] : !ring -> !stage
          %y = nv_tileas.memdesc_slot %b[%u] : !ring -> !stage
          nv_tileas.async.dot %x, %y, %acc accumulate %more by <tensor, [64, 64, 16]> : !stage, !stage, !acc
          %next = nv_tileas.async.pipeline.inc_iter %it of %p : <2>
          scf.yield %next : !it
        }
        nv_tileas.async.pipeline.producer_commit %q[%j] dots : <2>
        %again = nv_tileas.async.pipeline.inc_iter %j of %q : <2>
        scf.yield %all, %again : !it, !it
      }
    }
  }
  nv_tileas.tmem_free columns 128
  nv_tileaa.return
}

// -----

#shared = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 72, 144, 288, 512, 1024, 2048]>
#rows = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048]>
#sums = #nv_tileas.layout<register = [1, 512, 8, 16, 32], lane = [2, 4, 64, 128, 256], warp = [1024, 2048]>
#words = #nv_tileas.shared_layout<offset = [1, 2]>
#word = #nv_tileas.shared_layout<offset = []>
!ring = !nv_tileas.memdesc<64x64xf16, #shared, stages = 2, align = 1024>
!stage = !nv_tileas.memdesc<64x64xf16, #shared, align = 1024>
!words = !nv_tileas.memdesc<4xi64, #words>
!word = !nv_tileas.memdesc<1xi32, #word>
!accs = !nv_tileas.memdesc<64x64xf32, #rows, stages = 2, space = tensor>
!acc = !nv_tileas.memdesc<64x64xf32, #rows, space = tensor>
!sums = tensor<64x64xf32, #sums>
!it = !nv_tileas.pipeline_iterator
!view = !nv_tileaa.tiled_view<tile = [64, 64], memref<64x64xf16, strides = [64, 1]>>
!desc = !nv_tileas.tma_desc<f16, dims = [1, 0], box = [64, 64], steps = [1, 1], swizzle = 128, fill = zero>

// The end of the dots is not signaled.
nv_tileaa.func @never_complete(%view: !view, %desc: !desc, %n: i32, %m: i32) attributes {numWarps = 6 : i64} {
  %a = nv_tileas.alloc_tensor offset 0 : !ring
  %b = nv_tileas.alloc_tensor offset 16384 : !ring
  %w = nv_tileas.alloc_tensor offset 32768 : !words
  // expected-error @below {{deadlock: agent 0 waits for full1[0]}}
  %p = nv_tileas.async.pipeline.create_pipeline %w phases [full = 1, empty = 1] : <4xi64, #words> -> <2>
  %first = nv_tileas.async.pipeline.create_iterator %p : <2>
  %v = nv_tileas.alloc_tensor offset 32896 : !words
  %q = nv_tileas.async.pipeline.create_pipeline %v phases [full = 1, empty = 4] : <4xi64, #words> -> <2>
  %start = nv_tileas.async.pipeline.create_iterator %q : <2>
  %slot = nv_tileas.alloc_tensor offset 33024 : !word
  nv_tileas.tmem_allocate %slot columns 128 : !word
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
          %t = nv_tileas.async.pipeline.producer_acquire %p[%it] bytes 16384 : <2>
          %s = nv_tileas.async.pipeline.stage %it
          %x = nv_tileas.memdesc_slot %a[%s] : !ring -> !stage
          %y = nv_tileas.memdesc_slot %b[%s] : !ring -> !stage
          nv_tileas.async.tiled_tma_load %view[%i, %k] by %desc into %x arrive %t : !view[i32, i32], !desc -> !stage
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
          %x = nv_tileas.memdesc_slot %a[%u] : !ring -> !stage
          %y = nv_tileas.memdesc_slot %b[%u] : !ring -> !stage
          nv_tileas.async.dot %x, %y, %acc accumulate %more by <tensor, [64, 64, 16]> : !stage, !stage, !acc
          nv_tileas.async.pipeline.consumer_release %p[%it] dots : <2>
          %next = nv_tileas.async.pipeline.inc_iter %it of %p : <2>
          scf.yield %next : !it
        }
        %again = nv_tileas.async.pipeline.inc_iter %j of %q : <2>
        scf.yield %all, %again : !it, !it
      }
    }
  }
  nv_tileas.tmem_free columns 128
  nv_tileaa.return
}

// -----

#shared = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 72, 144, 288, 512, 1024, 2048]>
#rows = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048]>
#sums = #nv_tileas.layout<register = [1, 512, 8, 16, 32], lane = [2, 4, 64, 128, 256], warp = [1024, 2048]>
#words = #nv_tileas.shared_layout<offset = [1, 2]>
#word = #nv_tileas.shared_layout<offset = []>
!ring = !nv_tileas.memdesc<64x64xf16, #shared, stages = 2, align = 1024>
!stage = !nv_tileas.memdesc<64x64xf16, #shared, align = 1024>
!words = !nv_tileas.memdesc<4xi64, #words>
!word = !nv_tileas.memdesc<1xi32, #word>
!accs = !nv_tileas.memdesc<64x64xf32, #rows, stages = 2, space = tensor>
!acc = !nv_tileas.memdesc<64x64xf32, #rows, space = tensor>
!sums = tensor<64x64xf32, #sums>
!it = !nv_tileas.pipeline_iterator
!view = !nv_tileaa.tiled_view<tile = [64, 64], memref<64x64xf16, strides = [64, 1]>>
!desc = !nv_tileas.tma_desc<f16, dims = [1, 0], box = [64, 64], steps = [1, 1], swizzle = 128, fill = zero>

// The accumulator is read while dots may add to it.
nv_tileaa.func @read_in_flight(%view: !view, %desc: !desc, %n: i32, %m: i32) attributes {numWarps = 6 : i64} {
  %a = nv_tileas.alloc_tensor offset 0 : !ring
  %b = nv_tileas.alloc_tensor offset 16384 : !ring
  %w = nv_tileas.alloc_tensor offset 32768 : !words
  // expected-error @below {{deadlock: agent 2 waits for empty1[0]}}
  %p = nv_tileas.async.pipeline.create_pipeline %w phases [full = 1, empty = 1] : <4xi64, #words> -> <2>
  %first = nv_tileas.async.pipeline.create_iterator %p : <2>
  %v = nv_tileas.alloc_tensor offset 32896 : !words
  %q = nv_tileas.async.pipeline.create_pipeline %v phases [full = 1, empty = 4] : <4xi64, #words> -> <2>
  %start = nv_tileas.async.pipeline.create_iterator %q : <2>
  %slot = nv_tileas.alloc_tensor offset 33024 : !word
  nv_tileas.tmem_allocate %slot columns 128 : !word
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
          %t = nv_tileas.async.pipeline.producer_acquire %p[%it] bytes 16384 : <2>
          %s = nv_tileas.async.pipeline.stage %it
          %x = nv_tileas.memdesc_slot %a[%s] : !ring -> !stage
          %y = nv_tileas.memdesc_slot %b[%s] : !ring -> !stage
          nv_tileas.async.tiled_tma_load %view[%i, %k] by %desc into %x arrive %t : !view[i32, i32], !desc -> !stage
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
          %x = nv_tileas.memdesc_slot %a[%u] : !ring -> !stage
          %y = nv_tileas.memdesc_slot %b[%u] : !ring -> !stage
          nv_tileas.async.dot %x, %y, %acc accumulate %more by <tensor, [64, 64, 16]> : !stage, !stage, !acc
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
  nv_tileas.tmem_free columns 128
  nv_tileaa.return
}

// -----

#shared = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 72, 144, 288, 512, 1024, 2048]>
#rows = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048]>
#sums = #nv_tileas.layout<register = [1, 512, 8, 16, 32], lane = [2, 4, 64, 128, 256], warp = [1024, 2048]>
#words = #nv_tileas.shared_layout<offset = [1, 2]>
#word = #nv_tileas.shared_layout<offset = []>
!ring = !nv_tileas.memdesc<64x64xf16, #shared, stages = 2, align = 1024>
!stage = !nv_tileas.memdesc<64x64xf16, #shared, align = 1024>
!words = !nv_tileas.memdesc<4xi64, #words>
!word = !nv_tileas.memdesc<1xi32, #word>
!accs = !nv_tileas.memdesc<64x64xf32, #rows, stages = 2, space = tensor>
!acc = !nv_tileas.memdesc<64x64xf32, #rows, space = tensor>
!sums = tensor<64x64xf32, #sums>
!it = !nv_tileas.pipeline_iterator
!view = !nv_tileaa.tiled_view<tile = [64, 64], memref<64x64xf16, strides = [64, 1]>>
!desc = !nv_tileas.tma_desc<f16, dims = [1, 0], box = [64, 64], steps = [1, 1], swizzle = 128, fill = zero>

// Dots overwrite an accumulator that may still be read.
nv_tileaa.func @not_acquired(%view: !view, %desc: !desc, %n: i32, %m: i32) attributes {numWarps = 6 : i64} {
  %a = nv_tileas.alloc_tensor offset 0 : !ring
  %b = nv_tileas.alloc_tensor offset 16384 : !ring
  %w = nv_tileas.alloc_tensor offset 32768 : !words
  // expected-error @below {{phase 0 of full1[0] ends while a copy that counts on it is in flight}}
  %p = nv_tileas.async.pipeline.create_pipeline %w phases [full = 1, empty = 1] : <4xi64, #words> -> <2>
  %first = nv_tileas.async.pipeline.create_iterator %p : <2>
  %v = nv_tileas.alloc_tensor offset 32896 : !words
  %q = nv_tileas.async.pipeline.create_pipeline %v phases [full = 1, empty = 4] : <4xi64, #words> -> <2>
  %start = nv_tileas.async.pipeline.create_iterator %q : <2>
  %slot = nv_tileas.alloc_tensor offset 33024 : !word
  nv_tileas.tmem_allocate %slot columns 128 : !word
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
          %t = nv_tileas.async.pipeline.producer_acquire %p[%it] bytes 16384 : <2>
          %s = nv_tileas.async.pipeline.stage %it
          %x = nv_tileas.memdesc_slot %a[%s] : !ring -> !stage
          %y = nv_tileas.memdesc_slot %b[%s] : !ring -> !stage
          nv_tileas.async.tiled_tma_load %view[%i, %k] by %desc into %x arrive %t : !view[i32, i32], !desc -> !stage
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
        nv_tileas.tmem_fence after
        %all = scf.for %k = %c0 to %n step %c1 iter_args(%it = %outer) -> (!it) : i32 {
          %more = arith.cmpi ne, %k, %c0 : i32
          %full = nv_tileas.async.pipeline.consumer_wait %p[%it] : <2>
          %u = nv_tileas.async.pipeline.stage %it
          %x = nv_tileas.memdesc_slot %a[%u] : !ring -> !stage
          %y = nv_tileas.memdesc_slot %b[%u] : !ring -> !stage
          nv_tileas.async.dot %x, %y, %acc accumulate %more by <tensor, [64, 64, 16]> : !stage, !stage, !acc
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
  nv_tileas.tmem_free columns 128
  nv_tileaa.return
}

// -----

#shared = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 72, 144, 288, 512, 1024, 2048]>
#rows = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048]>
#sums = #nv_tileas.layout<register = [1, 512, 8, 16, 32], lane = [2, 4, 64, 128, 256], warp = [1024, 2048]>
#words = #nv_tileas.shared_layout<offset = [1, 2]>
#word = #nv_tileas.shared_layout<offset = []>
!ring = !nv_tileas.memdesc<64x64xf16, #shared, stages = 2, align = 1024>
!stage = !nv_tileas.memdesc<64x64xf16, #shared, align = 1024>
!words = !nv_tileas.memdesc<4xi64, #words>
!word = !nv_tileas.memdesc<1xi32, #word>
!accs = !nv_tileas.memdesc<64x64xf32, #rows, stages = 2, space = tensor>
!acc = !nv_tileas.memdesc<64x64xf32, #rows, space = tensor>
!sums = tensor<64x64xf32, #sums>
!it = !nv_tileas.pipeline_iterator
!view = !nv_tileaa.tiled_view<tile = [64, 64], memref<64x64xf16, strides = [64, 1]>>
!desc = !nv_tileas.tma_desc<f16, dims = [1, 0], box = [64, 64], steps = [1, 1], swizzle = 128, fill = zero>

// The readers do not release the accumulator.
nv_tileaa.func @not_released(%view: !view, %desc: !desc, %n: i32, %m: i32) attributes {numWarps = 6 : i64} {
  %a = nv_tileas.alloc_tensor offset 0 : !ring
  %b = nv_tileas.alloc_tensor offset 16384 : !ring
  %w = nv_tileas.alloc_tensor offset 32768 : !words
  // expected-error @below {{deadlock: agent 0 waits for full1[0]}}
  %p = nv_tileas.async.pipeline.create_pipeline %w phases [full = 1, empty = 1] : <4xi64, #words> -> <2>
  %first = nv_tileas.async.pipeline.create_iterator %p : <2>
  %v = nv_tileas.alloc_tensor offset 32896 : !words
  %q = nv_tileas.async.pipeline.create_pipeline %v phases [full = 1, empty = 4] : <4xi64, #words> -> <2>
  %start = nv_tileas.async.pipeline.create_iterator %q : <2>
  %slot = nv_tileas.alloc_tensor offset 33024 : !word
  nv_tileas.tmem_allocate %slot columns 128 : !word
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
      %more = nv_tileas.async.pipeline.inc_iter %j of %q : <2>
      scf.yield %all, %more : !it, !it
    }
  }, {
    nv_tileas.async.elect {
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %tiles = scf.for %i = %c0 to %m step %c1 iter_args(%outer = %first) -> (!it) : i32 {
        %all = scf.for %k = %c0 to %n step %c1 iter_args(%it = %outer) -> (!it) : i32 {
          %t = nv_tileas.async.pipeline.producer_acquire %p[%it] bytes 16384 : <2>
          %s = nv_tileas.async.pipeline.stage %it
          %x = nv_tileas.memdesc_slot %a[%s] : !ring -> !stage
          %y = nv_tileas.memdesc_slot %b[%s] : !ring -> !stage
          nv_tileas.async.tiled_tma_load %view[%i, %k] by %desc into %x arrive %t : !view[i32, i32], !desc -> !stage
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
          %x = nv_tileas.memdesc_slot %a[%u] : !ring -> !stage
          %y = nv_tileas.memdesc_slot %b[%u] : !ring -> !stage
          nv_tileas.async.dot %x, %y, %acc accumulate %more by <tensor, [64, 64, 16]> : !stage, !stage, !acc
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
  nv_tileas.tmem_free columns 128
  nv_tileaa.return
}

// -----

#shared = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 72, 144, 288, 512, 1024, 2048]>
#rows = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048]>
#sums = #nv_tileas.layout<register = [1, 512, 8, 16, 32], lane = [2, 4, 64, 128, 256], warp = [1024, 2048]>
#words = #nv_tileas.shared_layout<offset = [1, 2]>
#word = #nv_tileas.shared_layout<offset = []>
!ring = !nv_tileas.memdesc<64x64xf16, #shared, stages = 2, align = 1024>
!stage = !nv_tileas.memdesc<64x64xf16, #shared, align = 1024>
!words = !nv_tileas.memdesc<4xi64, #words>
!word = !nv_tileas.memdesc<1xi32, #word>
!accs = !nv_tileas.memdesc<64x64xf32, #rows, stages = 2, space = tensor>
!acc = !nv_tileas.memdesc<64x64xf32, #rows, space = tensor>
!sums = tensor<64x64xf32, #sums>
!it = !nv_tileas.pipeline_iterator
!view = !nv_tileaa.tiled_view<tile = [64, 64], memref<64x64xf16, strides = [64, 1]>>
!desc = !nv_tileas.tma_desc<f16, dims = [1, 0], box = [64, 64], steps = [1, 1], swizzle = 128, fill = zero>

// Dots do not wait for their operands.
nv_tileaa.func @not_full(%view: !view, %desc: !desc, %n: i32, %m: i32) attributes {numWarps = 6 : i64} {
  %a = nv_tileas.alloc_tensor offset 0 : !ring
  %b = nv_tileas.alloc_tensor offset 16384 : !ring
  %w = nv_tileas.alloc_tensor offset 32768 : !words
  // expected-error @below {{agent 2 may read ring1[0] before its write is done}}
  %p = nv_tileas.async.pipeline.create_pipeline %w phases [full = 1, empty = 1] : <4xi64, #words> -> <2>
  %first = nv_tileas.async.pipeline.create_iterator %p : <2>
  %v = nv_tileas.alloc_tensor offset 32896 : !words
  %q = nv_tileas.async.pipeline.create_pipeline %v phases [full = 1, empty = 4] : <4xi64, #words> -> <2>
  %start = nv_tileas.async.pipeline.create_iterator %q : <2>
  %slot = nv_tileas.alloc_tensor offset 33024 : !word
  nv_tileas.tmem_allocate %slot columns 128 : !word
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
          %t = nv_tileas.async.pipeline.producer_acquire %p[%it] bytes 16384 : <2>
          %s = nv_tileas.async.pipeline.stage %it
          %x = nv_tileas.memdesc_slot %a[%s] : !ring -> !stage
          %y = nv_tileas.memdesc_slot %b[%s] : !ring -> !stage
          nv_tileas.async.tiled_tma_load %view[%i, %k] by %desc into %x arrive %t : !view[i32, i32], !desc -> !stage
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
          %u = nv_tileas.async.pipeline.stage %it
          %x = nv_tileas.memdesc_slot %a[%u] : !ring -> !stage
          %y = nv_tileas.memdesc_slot %b[%u] : !ring -> !stage
          nv_tileas.async.dot %x, %y, %acc accumulate %more by <tensor, [64, 64, 16]> : !stage, !stage, !acc
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
  nv_tileas.tmem_free columns 128
  nv_tileaa.return
}
