// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileas-check-synchronization)' --split-input-file --verify-diagnostics
// The protocol of a ring between a producer and a consumer, and the reports if it is broken.

#shared = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 72, 144, 288, 512, 1024, 2048]>
#sums = #nv_tileas.layout<register = [1, 512, 8, 16, 32], lane = [2, 4, 64, 128, 256], warp = [1024, 2048]>
#words = #nv_tileas.shared_layout<offset = [1, 2]>
!ring = !nv_tileas.memdesc<64x64xf16, #shared, stages = 2, align = 1024>
!stage = !nv_tileas.memdesc<64x64xf16, #shared, align = 1024>
!words = !nv_tileas.memdesc<4xi64, #words>
!sums = tensor<64x64xf32, #sums>
!it = !nv_tileas.pipeline_iterator
!view = !nv_tileaa.tiled_view<tile = [64, 64], memref<64x64xf16, strides = [64, 1]>>
!desc = !nv_tileas.tma_desc<f16, dims = [1, 0], box = [64, 64], steps = [1, 1], swizzle = 128, fill = zero>

// The protocol as tileas-materialize-async and tileas-specialize-agents create it, tile after tile.
nv_tileaa.func @kept(%view: !view, %desc: !desc, %n: i32, %m: i32) attributes {numWarps = 8 : i64, nv_tileas.max_registers = 240 : i64} {
  %a = nv_tileas.alloc_tensor offset 0 : !ring
  %b = nv_tileas.alloc_tensor offset 16384 : !ring
  %w = nv_tileas.alloc_tensor offset 32768 : !words
  %p = nv_tileas.async.pipeline.create_pipeline %w phases [full = 1, empty = 4] : <4xi64, #words> -> <2>
  %first = nv_tileas.async.pipeline.create_iterator %p : <2>
  nv_tileas.barrier
  nv_tileas.async.pipeline.agent_switch agents [<"consumers", warps = 4, registers = 240>, <"producer", warps = 4, registers = 40>] {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : !sums
    %never = arith.constant false
    %always = arith.constant true
    %tiles = scf.for %i = %c0 to %m step %c1 iter_args(%outer = %first) -> (!it) : i32 {
      %all:4 = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero, %it = %outer, %last = %outer, %started = %never) -> (!sums, !it, !it, i1) : i32 {
        %t = nv_tileas.async.pipeline.consumer_wait %p[%it] : <2>
        %s = nv_tileas.async.pipeline.stage %it
        %x = nv_tileas.memdesc_slot %a[%s] : !ring -> !stage
        %y = nv_tileas.memdesc_slot %b[%s] : !ring -> !stage
        %d = nv_tileas.async.dot %x, %y, %acc by <warpgroup, [64, 64, 16]> : !stage, !stage, !sums
        nv_tileas.async.dot_wait pending 1
        nv_tileas.async.pipeline.consumer_release %p[%last] if %started : <2>
        %next = nv_tileas.async.pipeline.inc_iter %it of %p : <2>
        scf.yield %d, %next, %it, %always : !sums, !it, !it, i1
      }
      %sum = nv_tileas.async.dot_wait %all#0 pending 0 : !sums -> !sums
      nv_tileas.async.pipeline.consumer_release %p[%all#2] if %all#3 : <2>
      scf.yield %all#1 : !it
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
          nv_tileas.async.tiled_tma_load %view[%i, %k] by %desc into %x arrive %t : <tile = [64, 64], memref<64x64xf16, strides = [64, 1]>>[i32, i32], <f16, dims = [1, 0], box = [64, 64], steps = [1, 1], swizzle = 128, fill = zero> -> !stage
          nv_tileas.async.tiled_tma_load %view[%k, %i] by %desc into %y arrive %t : <tile = [64, 64], memref<64x64xf16, strides = [64, 1]>>[i32, i32], <f16, dims = [1, 0], box = [64, 64], steps = [1, 1], swizzle = 128, fill = zero> -> !stage
          %next = nv_tileas.async.pipeline.inc_iter %it of %p : <2>
          scf.yield %next : !it
        }
        scf.yield %all : !it
      }
    }
  }
  nv_tileaa.return
}

// -----

#shared = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 72, 144, 288, 512, 1024, 2048]>
#sums = #nv_tileas.layout<register = [1, 512, 8, 16, 32], lane = [2, 4, 64, 128, 256], warp = [1024, 2048]>
#words = #nv_tileas.shared_layout<offset = [1, 2]>
!ring = !nv_tileas.memdesc<64x64xf16, #shared, stages = 2, align = 1024>
!stage = !nv_tileas.memdesc<64x64xf16, #shared, align = 1024>
!words = !nv_tileas.memdesc<4xi64, #words>
!sums = tensor<64x64xf32, #sums>
!it = !nv_tileas.pipeline_iterator
!view = !nv_tileaa.tiled_view<tile = [64, 64], memref<64x64xf16, strides = [64, 1]>>
!desc = !nv_tileas.tma_desc<f16, dims = [1, 0], box = [64, 64], steps = [1, 1], swizzle = 128, fill = zero>

// A stage that is never released stops the producer.
nv_tileaa.func @no_release(%view: !view, %desc: !desc, %n: i32, %m: i32) attributes {numWarps = 8 : i64, nv_tileas.max_registers = 240 : i64} {
  %a = nv_tileas.alloc_tensor offset 0 : !ring
  %b = nv_tileas.alloc_tensor offset 16384 : !ring
  %w = nv_tileas.alloc_tensor offset 32768 : !words
  // expected-error @below {{deadlock}}
  %p = nv_tileas.async.pipeline.create_pipeline %w phases [full = 1, empty = 4] : <4xi64, #words> -> <2>
  %first = nv_tileas.async.pipeline.create_iterator %p : <2>
  nv_tileas.barrier
  nv_tileas.async.pipeline.agent_switch agents [<"consumers", warps = 4, registers = 240>, <"producer", warps = 4, registers = 40>] {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : !sums
    %never = arith.constant false
    %always = arith.constant true
    %tiles = scf.for %i = %c0 to %m step %c1 iter_args(%outer = %first) -> (!it) : i32 {
      %all:4 = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero, %it = %outer, %last = %outer, %started = %never) -> (!sums, !it, !it, i1) : i32 {
        %t = nv_tileas.async.pipeline.consumer_wait %p[%it] : <2>
        %s = nv_tileas.async.pipeline.stage %it
        %x = nv_tileas.memdesc_slot %a[%s] : !ring -> !stage
        %y = nv_tileas.memdesc_slot %b[%s] : !ring -> !stage
        %d = nv_tileas.async.dot %x, %y, %acc by <warpgroup, [64, 64, 16]> : !stage, !stage, !sums
        nv_tileas.async.dot_wait pending 1
        %next = nv_tileas.async.pipeline.inc_iter %it of %p : <2>
        scf.yield %d, %next, %it, %always : !sums, !it, !it, i1
      }
      %sum = nv_tileas.async.dot_wait %all#0 pending 0 : !sums -> !sums
      nv_tileas.async.pipeline.consumer_release %p[%all#2] if %all#3 : <2>
      scf.yield %all#1 : !it
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
          nv_tileas.async.tiled_tma_load %view[%i, %k] by %desc into %x arrive %t : <tile = [64, 64], memref<64x64xf16, strides = [64, 1]>>[i32, i32], <f16, dims = [1, 0], box = [64, 64], steps = [1, 1], swizzle = 128, fill = zero> -> !stage
          nv_tileas.async.tiled_tma_load %view[%k, %i] by %desc into %y arrive %t : <tile = [64, 64], memref<64x64xf16, strides = [64, 1]>>[i32, i32], <f16, dims = [1, 0], box = [64, 64], steps = [1, 1], swizzle = 128, fill = zero> -> !stage
          %next = nv_tileas.async.pipeline.inc_iter %it of %p : <2>
          scf.yield %next : !it
        }
        scf.yield %all : !it
      }
    }
  }
  nv_tileaa.return
}

// -----

#shared = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 72, 144, 288, 512, 1024, 2048]>
#sums = #nv_tileas.layout<register = [1, 512, 8, 16, 32], lane = [2, 4, 64, 128, 256], warp = [1024, 2048]>
#words = #nv_tileas.shared_layout<offset = [1, 2]>
!ring = !nv_tileas.memdesc<64x64xf16, #shared, stages = 2, align = 1024>
!stage = !nv_tileas.memdesc<64x64xf16, #shared, align = 1024>
!words = !nv_tileas.memdesc<4xi64, #words>
!sums = tensor<64x64xf32, #sums>
!it = !nv_tileas.pipeline_iterator
!view = !nv_tileaa.tiled_view<tile = [64, 64], memref<64x64xf16, strides = [64, 1]>>
!desc = !nv_tileas.tma_desc<f16, dims = [1, 0], box = [64, 64], steps = [1, 1], swizzle = 128, fill = zero>

// The last stage of a tile must be released after the loop, or the next tile waits for it forever.
nv_tileaa.func @no_last_release(%view: !view, %desc: !desc, %n: i32, %m: i32) attributes {numWarps = 8 : i64, nv_tileas.max_registers = 240 : i64} {
  %a = nv_tileas.alloc_tensor offset 0 : !ring
  %b = nv_tileas.alloc_tensor offset 16384 : !ring
  %w = nv_tileas.alloc_tensor offset 32768 : !words
  // expected-error @below {{deadlock}}
  %p = nv_tileas.async.pipeline.create_pipeline %w phases [full = 1, empty = 4] : <4xi64, #words> -> <2>
  %first = nv_tileas.async.pipeline.create_iterator %p : <2>
  nv_tileas.barrier
  nv_tileas.async.pipeline.agent_switch agents [<"consumers", warps = 4, registers = 240>, <"producer", warps = 4, registers = 40>] {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : !sums
    %never = arith.constant false
    %always = arith.constant true
    %tiles = scf.for %i = %c0 to %m step %c1 iter_args(%outer = %first) -> (!it) : i32 {
      %all:4 = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero, %it = %outer, %last = %outer, %started = %never) -> (!sums, !it, !it, i1) : i32 {
        %t = nv_tileas.async.pipeline.consumer_wait %p[%it] : <2>
        %s = nv_tileas.async.pipeline.stage %it
        %x = nv_tileas.memdesc_slot %a[%s] : !ring -> !stage
        %y = nv_tileas.memdesc_slot %b[%s] : !ring -> !stage
        %d = nv_tileas.async.dot %x, %y, %acc by <warpgroup, [64, 64, 16]> : !stage, !stage, !sums
        nv_tileas.async.dot_wait pending 1
        nv_tileas.async.pipeline.consumer_release %p[%last] if %started : <2>
        %next = nv_tileas.async.pipeline.inc_iter %it of %p : <2>
        scf.yield %d, %next, %it, %always : !sums, !it, !it, i1
      }
      %sum = nv_tileas.async.dot_wait %all#0 pending 0 : !sums -> !sums
      scf.yield %all#1 : !it
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
          nv_tileas.async.tiled_tma_load %view[%i, %k] by %desc into %x arrive %t : <tile = [64, 64], memref<64x64xf16, strides = [64, 1]>>[i32, i32], <f16, dims = [1, 0], box = [64, 64], steps = [1, 1], swizzle = 128, fill = zero> -> !stage
          nv_tileas.async.tiled_tma_load %view[%k, %i] by %desc into %y arrive %t : <tile = [64, 64], memref<64x64xf16, strides = [64, 1]>>[i32, i32], <f16, dims = [1, 0], box = [64, 64], steps = [1, 1], swizzle = 128, fill = zero> -> !stage
          %next = nv_tileas.async.pipeline.inc_iter %it of %p : <2>
          scf.yield %next : !it
        }
        scf.yield %all : !it
      }
    }
  }
  nv_tileaa.return
}

// -----

#shared = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 72, 144, 288, 512, 1024, 2048]>
#sums = #nv_tileas.layout<register = [1, 512, 8, 16, 32], lane = [2, 4, 64, 128, 256], warp = [1024, 2048]>
#words = #nv_tileas.shared_layout<offset = [1, 2]>
!ring = !nv_tileas.memdesc<64x64xf16, #shared, stages = 2, align = 1024>
!stage = !nv_tileas.memdesc<64x64xf16, #shared, align = 1024>
!words = !nv_tileas.memdesc<4xi64, #words>
!sums = tensor<64x64xf32, #sums>
!it = !nv_tileas.pipeline_iterator
!view = !nv_tileaa.tiled_view<tile = [64, 64], memref<64x64xf16, strides = [64, 1]>>
!desc = !nv_tileas.tma_desc<f16, dims = [1, 0], box = [64, 64], steps = [1, 1], swizzle = 128, fill = zero>

// A stage is free only when the dot that reads it is complete.
nv_tileaa.func @release_before_the_product(%view: !view, %desc: !desc, %n: i32, %m: i32) attributes {numWarps = 8 : i64, nv_tileas.max_registers = 240 : i64} {
  %a = nv_tileas.alloc_tensor offset 0 : !ring
  %b = nv_tileas.alloc_tensor offset 16384 : !ring
  %w = nv_tileas.alloc_tensor offset 32768 : !words
  // expected-error @below {{may overwrite ring0[0] while it is in use}}
  %p = nv_tileas.async.pipeline.create_pipeline %w phases [full = 1, empty = 4] : <4xi64, #words> -> <2>
  %first = nv_tileas.async.pipeline.create_iterator %p : <2>
  nv_tileas.barrier
  nv_tileas.async.pipeline.agent_switch agents [<"consumers", warps = 4, registers = 240>, <"producer", warps = 4, registers = 40>] {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : !sums
    %never = arith.constant false
    %always = arith.constant true
    %tiles = scf.for %i = %c0 to %m step %c1 iter_args(%outer = %first) -> (!it) : i32 {
      %all:4 = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero, %it = %outer, %last = %outer, %started = %never) -> (!sums, !it, !it, i1) : i32 {
        %t = nv_tileas.async.pipeline.consumer_wait %p[%it] : <2>
        %s = nv_tileas.async.pipeline.stage %it
        %x = nv_tileas.memdesc_slot %a[%s] : !ring -> !stage
        %y = nv_tileas.memdesc_slot %b[%s] : !ring -> !stage
        %d = nv_tileas.async.dot %x, %y, %acc by <warpgroup, [64, 64, 16]> : !stage, !stage, !sums
        nv_tileas.async.pipeline.consumer_release %p[%last] if %started : <2>
        nv_tileas.async.dot_wait pending 1
        %next = nv_tileas.async.pipeline.inc_iter %it of %p : <2>
        scf.yield %d, %next, %it, %always : !sums, !it, !it, i1
      }
      %sum = nv_tileas.async.dot_wait %all#0 pending 0 : !sums -> !sums
      nv_tileas.async.pipeline.consumer_release %p[%all#2] if %all#3 : <2>
      scf.yield %all#1 : !it
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
          nv_tileas.async.tiled_tma_load %view[%i, %k] by %desc into %x arrive %t : <tile = [64, 64], memref<64x64xf16, strides = [64, 1]>>[i32, i32], <f16, dims = [1, 0], box = [64, 64], steps = [1, 1], swizzle = 128, fill = zero> -> !stage
          nv_tileas.async.tiled_tma_load %view[%k, %i] by %desc into %y arrive %t : <tile = [64, 64], memref<64x64xf16, strides = [64, 1]>>[i32, i32], <f16, dims = [1, 0], box = [64, 64], steps = [1, 1], swizzle = 128, fill = zero> -> !stage
          %next = nv_tileas.async.pipeline.inc_iter %it of %p : <2>
          scf.yield %next : !it
        }
        scf.yield %all : !it
      }
    }
  }
  nv_tileaa.return
}

// -----

#shared = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 72, 144, 288, 512, 1024, 2048]>
#sums = #nv_tileas.layout<register = [1, 512, 8, 16, 32], lane = [2, 4, 64, 128, 256], warp = [1024, 2048]>
#words = #nv_tileas.shared_layout<offset = [1, 2]>
!ring = !nv_tileas.memdesc<64x64xf16, #shared, stages = 2, align = 1024>
!stage = !nv_tileas.memdesc<64x64xf16, #shared, align = 1024>
!words = !nv_tileas.memdesc<4xi64, #words>
!sums = tensor<64x64xf32, #sums>
!it = !nv_tileas.pipeline_iterator
!view = !nv_tileaa.tiled_view<tile = [64, 64], memref<64x64xf16, strides = [64, 1]>>
!desc = !nv_tileas.tma_desc<f16, dims = [1, 0], box = [64, 64], steps = [1, 1], swizzle = 128, fill = zero>

// Two dots may be in flight, and the stage of the first is released.
nv_tileaa.func @too_many_pending(%view: !view, %desc: !desc, %n: i32, %m: i32) attributes {numWarps = 8 : i64, nv_tileas.max_registers = 240 : i64} {
  %a = nv_tileas.alloc_tensor offset 0 : !ring
  %b = nv_tileas.alloc_tensor offset 16384 : !ring
  %w = nv_tileas.alloc_tensor offset 32768 : !words
  // expected-error @below {{may overwrite ring0[0] while it is in use}}
  %p = nv_tileas.async.pipeline.create_pipeline %w phases [full = 1, empty = 4] : <4xi64, #words> -> <2>
  %first = nv_tileas.async.pipeline.create_iterator %p : <2>
  nv_tileas.barrier
  nv_tileas.async.pipeline.agent_switch agents [<"consumers", warps = 4, registers = 240>, <"producer", warps = 4, registers = 40>] {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : !sums
    %never = arith.constant false
    %always = arith.constant true
    %tiles = scf.for %i = %c0 to %m step %c1 iter_args(%outer = %first) -> (!it) : i32 {
      %all:4 = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero, %it = %outer, %last = %outer, %started = %never) -> (!sums, !it, !it, i1) : i32 {
        %t = nv_tileas.async.pipeline.consumer_wait %p[%it] : <2>
        %s = nv_tileas.async.pipeline.stage %it
        %x = nv_tileas.memdesc_slot %a[%s] : !ring -> !stage
        %y = nv_tileas.memdesc_slot %b[%s] : !ring -> !stage
        %d = nv_tileas.async.dot %x, %y, %acc by <warpgroup, [64, 64, 16]> : !stage, !stage, !sums
        nv_tileas.async.dot_wait pending 2
        nv_tileas.async.pipeline.consumer_release %p[%last] if %started : <2>
        %next = nv_tileas.async.pipeline.inc_iter %it of %p : <2>
        scf.yield %d, %next, %it, %always : !sums, !it, !it, i1
      }
      %sum = nv_tileas.async.dot_wait %all#0 pending 0 : !sums -> !sums
      nv_tileas.async.pipeline.consumer_release %p[%all#2] if %all#3 : <2>
      scf.yield %all#1 : !it
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
          nv_tileas.async.tiled_tma_load %view[%i, %k] by %desc into %x arrive %t : <tile = [64, 64], memref<64x64xf16, strides = [64, 1]>>[i32, i32], <f16, dims = [1, 0], box = [64, 64], steps = [1, 1], swizzle = 128, fill = zero> -> !stage
          nv_tileas.async.tiled_tma_load %view[%k, %i] by %desc into %y arrive %t : <tile = [64, 64], memref<64x64xf16, strides = [64, 1]>>[i32, i32], <f16, dims = [1, 0], box = [64, 64], steps = [1, 1], swizzle = 128, fill = zero> -> !stage
          %next = nv_tileas.async.pipeline.inc_iter %it of %p : <2>
          scf.yield %next : !it
        }
        scf.yield %all : !it
      }
    }
  }
  nv_tileaa.return
}

// -----

#shared = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 72, 144, 288, 512, 1024, 2048]>
#sums = #nv_tileas.layout<register = [1, 512, 8, 16, 32], lane = [2, 4, 64, 128, 256], warp = [1024, 2048]>
#words = #nv_tileas.shared_layout<offset = [1, 2]>
!ring = !nv_tileas.memdesc<64x64xf16, #shared, stages = 2, align = 1024>
!stage = !nv_tileas.memdesc<64x64xf16, #shared, align = 1024>
!words = !nv_tileas.memdesc<4xi64, #words>
!sums = tensor<64x64xf32, #sums>
!it = !nv_tileas.pipeline_iterator
!view = !nv_tileaa.tiled_view<tile = [64, 64], memref<64x64xf16, strides = [64, 1]>>
!desc = !nv_tileas.tma_desc<f16, dims = [1, 0], box = [64, 64], steps = [1, 1], swizzle = 128, fill = zero>

// The stage of the dot that has just started is released.
nv_tileaa.func @release_of_its_own(%view: !view, %desc: !desc, %n: i32, %m: i32) attributes {numWarps = 8 : i64, nv_tileas.max_registers = 240 : i64} {
  %a = nv_tileas.alloc_tensor offset 0 : !ring
  %b = nv_tileas.alloc_tensor offset 16384 : !ring
  %w = nv_tileas.alloc_tensor offset 32768 : !words
  // expected-error @below {{pipelines:}}
  %p = nv_tileas.async.pipeline.create_pipeline %w phases [full = 1, empty = 4] : <4xi64, #words> -> <2>
  %first = nv_tileas.async.pipeline.create_iterator %p : <2>
  nv_tileas.barrier
  nv_tileas.async.pipeline.agent_switch agents [<"consumers", warps = 4, registers = 240>, <"producer", warps = 4, registers = 40>] {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : !sums
    %never = arith.constant false
    %always = arith.constant true
    %tiles = scf.for %i = %c0 to %m step %c1 iter_args(%outer = %first) -> (!it) : i32 {
      %all:4 = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero, %it = %outer, %last = %outer, %started = %never) -> (!sums, !it, !it, i1) : i32 {
        %t = nv_tileas.async.pipeline.consumer_wait %p[%it] : <2>
        %s = nv_tileas.async.pipeline.stage %it
        %x = nv_tileas.memdesc_slot %a[%s] : !ring -> !stage
        %y = nv_tileas.memdesc_slot %b[%s] : !ring -> !stage
        %d = nv_tileas.async.dot %x, %y, %acc by <warpgroup, [64, 64, 16]> : !stage, !stage, !sums
        nv_tileas.async.dot_wait pending 1
        nv_tileas.async.pipeline.consumer_release %p[%it] : <2>
        %next = nv_tileas.async.pipeline.inc_iter %it of %p : <2>
        scf.yield %d, %next, %it, %always : !sums, !it, !it, i1
      }
      %sum = nv_tileas.async.dot_wait %all#0 pending 0 : !sums -> !sums
      nv_tileas.async.pipeline.consumer_release %p[%all#2] if %all#3 : <2>
      scf.yield %all#1 : !it
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
          nv_tileas.async.tiled_tma_load %view[%i, %k] by %desc into %x arrive %t : <tile = [64, 64], memref<64x64xf16, strides = [64, 1]>>[i32, i32], <f16, dims = [1, 0], box = [64, 64], steps = [1, 1], swizzle = 128, fill = zero> -> !stage
          nv_tileas.async.tiled_tma_load %view[%k, %i] by %desc into %y arrive %t : <tile = [64, 64], memref<64x64xf16, strides = [64, 1]>>[i32, i32], <f16, dims = [1, 0], box = [64, 64], steps = [1, 1], swizzle = 128, fill = zero> -> !stage
          %next = nv_tileas.async.pipeline.inc_iter %it of %p : <2>
          scf.yield %next : !it
        }
        scf.yield %all : !it
      }
    }
  }
  nv_tileaa.return
}

// -----

#shared = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 72, 144, 288, 512, 1024, 2048]>
#sums = #nv_tileas.layout<register = [1, 512, 8, 16, 32], lane = [2, 4, 64, 128, 256], warp = [1024, 2048]>
#words = #nv_tileas.shared_layout<offset = [1, 2]>
!ring = !nv_tileas.memdesc<64x64xf16, #shared, stages = 2, align = 1024>
!stage = !nv_tileas.memdesc<64x64xf16, #shared, align = 1024>
!words = !nv_tileas.memdesc<4xi64, #words>
!sums = tensor<64x64xf32, #sums>
!it = !nv_tileas.pipeline_iterator
!view = !nv_tileaa.tiled_view<tile = [64, 64], memref<64x64xf16, strides = [64, 1]>>
!desc = !nv_tileas.tma_desc<f16, dims = [1, 0], box = [64, 64], steps = [1, 1], swizzle = 128, fill = zero>

// The stage may not be full.
nv_tileaa.func @no_wait(%view: !view, %desc: !desc, %n: i32, %m: i32) attributes {numWarps = 8 : i64, nv_tileas.max_registers = 240 : i64} {
  %a = nv_tileas.alloc_tensor offset 0 : !ring
  %b = nv_tileas.alloc_tensor offset 16384 : !ring
  %w = nv_tileas.alloc_tensor offset 32768 : !words
  // expected-error @below {{reads ring0[0], which was never written}}
  %p = nv_tileas.async.pipeline.create_pipeline %w phases [full = 1, empty = 4] : <4xi64, #words> -> <2>
  %first = nv_tileas.async.pipeline.create_iterator %p : <2>
  nv_tileas.barrier
  nv_tileas.async.pipeline.agent_switch agents [<"consumers", warps = 4, registers = 240>, <"producer", warps = 4, registers = 40>] {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : !sums
    %never = arith.constant false
    %always = arith.constant true
    %tiles = scf.for %i = %c0 to %m step %c1 iter_args(%outer = %first) -> (!it) : i32 {
      %all:4 = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero, %it = %outer, %last = %outer, %started = %never) -> (!sums, !it, !it, i1) : i32 {
        %s = nv_tileas.async.pipeline.stage %it
        %x = nv_tileas.memdesc_slot %a[%s] : !ring -> !stage
        %y = nv_tileas.memdesc_slot %b[%s] : !ring -> !stage
        %d = nv_tileas.async.dot %x, %y, %acc by <warpgroup, [64, 64, 16]> : !stage, !stage, !sums
        nv_tileas.async.dot_wait pending 1
        nv_tileas.async.pipeline.consumer_release %p[%last] if %started : <2>
        %next = nv_tileas.async.pipeline.inc_iter %it of %p : <2>
        scf.yield %d, %next, %it, %always : !sums, !it, !it, i1
      }
      %sum = nv_tileas.async.dot_wait %all#0 pending 0 : !sums -> !sums
      nv_tileas.async.pipeline.consumer_release %p[%all#2] if %all#3 : <2>
      scf.yield %all#1 : !it
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
          nv_tileas.async.tiled_tma_load %view[%i, %k] by %desc into %x arrive %t : <tile = [64, 64], memref<64x64xf16, strides = [64, 1]>>[i32, i32], <f16, dims = [1, 0], box = [64, 64], steps = [1, 1], swizzle = 128, fill = zero> -> !stage
          nv_tileas.async.tiled_tma_load %view[%k, %i] by %desc into %y arrive %t : <tile = [64, 64], memref<64x64xf16, strides = [64, 1]>>[i32, i32], <f16, dims = [1, 0], box = [64, 64], steps = [1, 1], swizzle = 128, fill = zero> -> !stage
          %next = nv_tileas.async.pipeline.inc_iter %it of %p : <2>
          scf.yield %next : !it
        }
        scf.yield %all : !it
      }
    }
  }
  nv_tileaa.return
}

// -----

#shared = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 72, 144, 288, 512, 1024, 2048]>
#sums = #nv_tileas.layout<register = [1, 512, 8, 16, 32], lane = [2, 4, 64, 128, 256], warp = [1024, 2048]>
#words = #nv_tileas.shared_layout<offset = [1, 2]>
!ring = !nv_tileas.memdesc<64x64xf16, #shared, stages = 2, align = 1024>
!stage = !nv_tileas.memdesc<64x64xf16, #shared, align = 1024>
!words = !nv_tileas.memdesc<4xi64, #words>
!sums = tensor<64x64xf32, #sums>
!it = !nv_tileas.pipeline_iterator
!view = !nv_tileaa.tiled_view<tile = [64, 64], memref<64x64xf16, strides = [64, 1]>>
!desc = !nv_tileas.tma_desc<f16, dims = [1, 0], box = [64, 64], steps = [1, 1], swizzle = 128, fill = zero>

// A wait for the stage of the previous iteration does not cover this one.
nv_tileaa.func @wait_for_the_last(%view: !view, %desc: !desc, %n: i32, %m: i32) attributes {numWarps = 8 : i64, nv_tileas.max_registers = 240 : i64} {
  %a = nv_tileas.alloc_tensor offset 0 : !ring
  %b = nv_tileas.alloc_tensor offset 16384 : !ring
  %w = nv_tileas.alloc_tensor offset 32768 : !words
  // expected-error @below {{before its write is done}}
  %p = nv_tileas.async.pipeline.create_pipeline %w phases [full = 1, empty = 4] : <4xi64, #words> -> <2>
  %first = nv_tileas.async.pipeline.create_iterator %p : <2>
  nv_tileas.barrier
  nv_tileas.async.pipeline.agent_switch agents [<"consumers", warps = 4, registers = 240>, <"producer", warps = 4, registers = 40>] {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : !sums
    %never = arith.constant false
    %always = arith.constant true
    %tiles = scf.for %i = %c0 to %m step %c1 iter_args(%outer = %first) -> (!it) : i32 {
      %all:4 = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero, %it = %outer, %last = %outer, %started = %never) -> (!sums, !it, !it, i1) : i32 {
        %t = nv_tileas.async.pipeline.consumer_wait %p[%last] : <2>
        %s = nv_tileas.async.pipeline.stage %it
        %x = nv_tileas.memdesc_slot %a[%s] : !ring -> !stage
        %y = nv_tileas.memdesc_slot %b[%s] : !ring -> !stage
        %d = nv_tileas.async.dot %x, %y, %acc by <warpgroup, [64, 64, 16]> : !stage, !stage, !sums
        nv_tileas.async.dot_wait pending 1
        nv_tileas.async.pipeline.consumer_release %p[%last] if %started : <2>
        %next = nv_tileas.async.pipeline.inc_iter %it of %p : <2>
        scf.yield %d, %next, %it, %always : !sums, !it, !it, i1
      }
      %sum = nv_tileas.async.dot_wait %all#0 pending 0 : !sums -> !sums
      nv_tileas.async.pipeline.consumer_release %p[%all#2] if %all#3 : <2>
      scf.yield %all#1 : !it
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
          nv_tileas.async.tiled_tma_load %view[%i, %k] by %desc into %x arrive %t : <tile = [64, 64], memref<64x64xf16, strides = [64, 1]>>[i32, i32], <f16, dims = [1, 0], box = [64, 64], steps = [1, 1], swizzle = 128, fill = zero> -> !stage
          nv_tileas.async.tiled_tma_load %view[%k, %i] by %desc into %y arrive %t : <tile = [64, 64], memref<64x64xf16, strides = [64, 1]>>[i32, i32], <f16, dims = [1, 0], box = [64, 64], steps = [1, 1], swizzle = 128, fill = zero> -> !stage
          %next = nv_tileas.async.pipeline.inc_iter %it of %p : <2>
          scf.yield %next : !it
        }
        scf.yield %all : !it
      }
    }
  }
  nv_tileaa.return
}

// -----

#shared = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 72, 144, 288, 512, 1024, 2048]>
#sums = #nv_tileas.layout<register = [1, 512, 8, 16, 32], lane = [2, 4, 64, 128, 256], warp = [1024, 2048]>
#words = #nv_tileas.shared_layout<offset = [1, 2]>
!ring = !nv_tileas.memdesc<64x64xf16, #shared, stages = 2, align = 1024>
!stage = !nv_tileas.memdesc<64x64xf16, #shared, align = 1024>
!words = !nv_tileas.memdesc<4xi64, #words>
!sums = tensor<64x64xf32, #sums>
!it = !nv_tileas.pipeline_iterator
!view = !nv_tileaa.tiled_view<tile = [64, 64], memref<64x64xf16, strides = [64, 1]>>
!desc = !nv_tileas.tma_desc<f16, dims = [1, 0], box = [64, 64], steps = [1, 1], swizzle = 128, fill = zero>

// The dot reads another stage than the one that was waited for.
nv_tileaa.func @other_stage(%view: !view, %desc: !desc, %n: i32, %m: i32) attributes {numWarps = 8 : i64, nv_tileas.max_registers = 240 : i64} {
  %a = nv_tileas.alloc_tensor offset 0 : !ring
  %b = nv_tileas.alloc_tensor offset 16384 : !ring
  %w = nv_tileas.alloc_tensor offset 32768 : !words
  // expected-error @below {{pipelines:}}
  %p = nv_tileas.async.pipeline.create_pipeline %w phases [full = 1, empty = 4] : <4xi64, #words> -> <2>
  %first = nv_tileas.async.pipeline.create_iterator %p : <2>
  nv_tileas.barrier
  nv_tileas.async.pipeline.agent_switch agents [<"consumers", warps = 4, registers = 240>, <"producer", warps = 4, registers = 40>] {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : !sums
    %never = arith.constant false
    %always = arith.constant true
    %tiles = scf.for %i = %c0 to %m step %c1 iter_args(%outer = %first) -> (!it) : i32 {
      %all:4 = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero, %it = %outer, %last = %outer, %started = %never) -> (!sums, !it, !it, i1) : i32 {
        %t = nv_tileas.async.pipeline.consumer_wait %p[%it] : <2>
        %s = nv_tileas.async.pipeline.stage %last
        %x = nv_tileas.memdesc_slot %a[%s] : !ring -> !stage
        %y = nv_tileas.memdesc_slot %b[%s] : !ring -> !stage
        %d = nv_tileas.async.dot %x, %y, %acc by <warpgroup, [64, 64, 16]> : !stage, !stage, !sums
        nv_tileas.async.dot_wait pending 1
        nv_tileas.async.pipeline.consumer_release %p[%last] if %started : <2>
        %next = nv_tileas.async.pipeline.inc_iter %it of %p : <2>
        scf.yield %d, %next, %it, %always : !sums, !it, !it, i1
      }
      %sum = nv_tileas.async.dot_wait %all#0 pending 0 : !sums -> !sums
      nv_tileas.async.pipeline.consumer_release %p[%all#2] if %all#3 : <2>
      scf.yield %all#1 : !it
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
          nv_tileas.async.tiled_tma_load %view[%i, %k] by %desc into %x arrive %t : <tile = [64, 64], memref<64x64xf16, strides = [64, 1]>>[i32, i32], <f16, dims = [1, 0], box = [64, 64], steps = [1, 1], swizzle = 128, fill = zero> -> !stage
          nv_tileas.async.tiled_tma_load %view[%k, %i] by %desc into %y arrive %t : <tile = [64, 64], memref<64x64xf16, strides = [64, 1]>>[i32, i32], <f16, dims = [1, 0], box = [64, 64], steps = [1, 1], swizzle = 128, fill = zero> -> !stage
          %next = nv_tileas.async.pipeline.inc_iter %it of %p : <2>
          scf.yield %next : !it
        }
        scf.yield %all : !it
      }
    }
  }
  nv_tileaa.return
}

// -----

#shared = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 72, 144, 288, 512, 1024, 2048]>
#sums = #nv_tileas.layout<register = [1, 512, 8, 16, 32], lane = [2, 4, 64, 128, 256], warp = [1024, 2048]>
#words = #nv_tileas.shared_layout<offset = [1, 2]>
!ring = !nv_tileas.memdesc<64x64xf16, #shared, stages = 2, align = 1024>
!stage = !nv_tileas.memdesc<64x64xf16, #shared, align = 1024>
!words = !nv_tileas.memdesc<4xi64, #words>
!sums = tensor<64x64xf32, #sums>
!it = !nv_tileas.pipeline_iterator
!view = !nv_tileaa.tiled_view<tile = [64, 64], memref<64x64xf16, strides = [64, 1]>>
!desc = !nv_tileas.tma_desc<f16, dims = [1, 0], box = [64, 64], steps = [1, 1], swizzle = 128, fill = zero>

// The producer fills the same stage again.
nv_tileaa.func @no_step(%view: !view, %desc: !desc, %n: i32, %m: i32) attributes {numWarps = 8 : i64, nv_tileas.max_registers = 240 : i64} {
  %a = nv_tileas.alloc_tensor offset 0 : !ring
  %b = nv_tileas.alloc_tensor offset 16384 : !ring
  %w = nv_tileas.alloc_tensor offset 32768 : !words
  // expected-error @below {{pipelines:}}
  %p = nv_tileas.async.pipeline.create_pipeline %w phases [full = 1, empty = 4] : <4xi64, #words> -> <2>
  %first = nv_tileas.async.pipeline.create_iterator %p : <2>
  nv_tileas.barrier
  nv_tileas.async.pipeline.agent_switch agents [<"consumers", warps = 4, registers = 240>, <"producer", warps = 4, registers = 40>] {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : !sums
    %never = arith.constant false
    %always = arith.constant true
    %tiles = scf.for %i = %c0 to %m step %c1 iter_args(%outer = %first) -> (!it) : i32 {
      %all:4 = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero, %it = %outer, %last = %outer, %started = %never) -> (!sums, !it, !it, i1) : i32 {
        %t = nv_tileas.async.pipeline.consumer_wait %p[%it] : <2>
        %s = nv_tileas.async.pipeline.stage %it
        %x = nv_tileas.memdesc_slot %a[%s] : !ring -> !stage
        %y = nv_tileas.memdesc_slot %b[%s] : !ring -> !stage
        %d = nv_tileas.async.dot %x, %y, %acc by <warpgroup, [64, 64, 16]> : !stage, !stage, !sums
        nv_tileas.async.dot_wait pending 1
        nv_tileas.async.pipeline.consumer_release %p[%last] if %started : <2>
        %next = nv_tileas.async.pipeline.inc_iter %it of %p : <2>
        scf.yield %d, %next, %it, %always : !sums, !it, !it, i1
      }
      %sum = nv_tileas.async.dot_wait %all#0 pending 0 : !sums -> !sums
      nv_tileas.async.pipeline.consumer_release %p[%all#2] if %all#3 : <2>
      scf.yield %all#1 : !it
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
          nv_tileas.async.tiled_tma_load %view[%i, %k] by %desc into %x arrive %t : <tile = [64, 64], memref<64x64xf16, strides = [64, 1]>>[i32, i32], <f16, dims = [1, 0], box = [64, 64], steps = [1, 1], swizzle = 128, fill = zero> -> !stage
          nv_tileas.async.tiled_tma_load %view[%k, %i] by %desc into %y arrive %t : <tile = [64, 64], memref<64x64xf16, strides = [64, 1]>>[i32, i32], <f16, dims = [1, 0], box = [64, 64], steps = [1, 1], swizzle = 128, fill = zero> -> !stage
          %next = nv_tileas.async.pipeline.inc_iter %it of %p : <2>
          scf.yield %it : !it
        }
        scf.yield %all : !it
      }
    }
  }
  nv_tileaa.return
}

// -----

#shared = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 72, 144, 288, 512, 1024, 2048]>
#sums = #nv_tileas.layout<register = [1, 512, 8, 16, 32], lane = [2, 4, 64, 128, 256], warp = [1024, 2048]>
#words = #nv_tileas.shared_layout<offset = [1, 2]>
!ring = !nv_tileas.memdesc<64x64xf16, #shared, stages = 2, align = 1024>
!stage = !nv_tileas.memdesc<64x64xf16, #shared, align = 1024>
!words = !nv_tileas.memdesc<4xi64, #words>
!sums = tensor<64x64xf32, #sums>
!it = !nv_tileas.pipeline_iterator
!view = !nv_tileaa.tiled_view<tile = [64, 64], memref<64x64xf16, strides = [64, 1]>>
!desc = !nv_tileas.tma_desc<f16, dims = [1, 0], box = [64, 64], steps = [1, 1], swizzle = 128, fill = zero>

// Each tile starts with the first stage, but the ring continues.
nv_tileaa.func @iterator_of_the_tile(%view: !view, %desc: !desc, %n: i32, %m: i32) attributes {numWarps = 8 : i64, nv_tileas.max_registers = 240 : i64} {
  %a = nv_tileas.alloc_tensor offset 0 : !ring
  %b = nv_tileas.alloc_tensor offset 16384 : !ring
  %w = nv_tileas.alloc_tensor offset 32768 : !words
  // expected-error @below {{pipelines:}}
  %p = nv_tileas.async.pipeline.create_pipeline %w phases [full = 1, empty = 4] : <4xi64, #words> -> <2>
  %first = nv_tileas.async.pipeline.create_iterator %p : <2>
  nv_tileas.barrier
  nv_tileas.async.pipeline.agent_switch agents [<"consumers", warps = 4, registers = 240>, <"producer", warps = 4, registers = 40>] {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : !sums
    %never = arith.constant false
    %always = arith.constant true
    %tiles = scf.for %i = %c0 to %m step %c1 iter_args(%outer = %first) -> (!it) : i32 {
      %all:4 = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero, %it = %outer, %last = %outer, %started = %never) -> (!sums, !it, !it, i1) : i32 {
        %t = nv_tileas.async.pipeline.consumer_wait %p[%it] : <2>
        %s = nv_tileas.async.pipeline.stage %it
        %x = nv_tileas.memdesc_slot %a[%s] : !ring -> !stage
        %y = nv_tileas.memdesc_slot %b[%s] : !ring -> !stage
        %d = nv_tileas.async.dot %x, %y, %acc by <warpgroup, [64, 64, 16]> : !stage, !stage, !sums
        nv_tileas.async.dot_wait pending 1
        nv_tileas.async.pipeline.consumer_release %p[%last] if %started : <2>
        %next = nv_tileas.async.pipeline.inc_iter %it of %p : <2>
        scf.yield %d, %next, %it, %always : !sums, !it, !it, i1
      }
      %sum = nv_tileas.async.dot_wait %all#0 pending 0 : !sums -> !sums
      nv_tileas.async.pipeline.consumer_release %p[%all#2] if %all#3 : <2>
      scf.yield %all#1 : !it
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
          nv_tileas.async.tiled_tma_load %view[%i, %k] by %desc into %x arrive %t : <tile = [64, 64], memref<64x64xf16, strides = [64, 1]>>[i32, i32], <f16, dims = [1, 0], box = [64, 64], steps = [1, 1], swizzle = 128, fill = zero> -> !stage
          nv_tileas.async.tiled_tma_load %view[%k, %i] by %desc into %y arrive %t : <tile = [64, 64], memref<64x64xf16, strides = [64, 1]>>[i32, i32], <f16, dims = [1, 0], box = [64, 64], steps = [1, 1], swizzle = 128, fill = zero> -> !stage
          %next = nv_tileas.async.pipeline.inc_iter %it of %p : <2>
          scf.yield %next : !it
        }
        scf.yield %outer : !it
      }
    }
  }
  nv_tileaa.return
}

// -----

#shared = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 72, 144, 288, 512, 1024, 2048]>
#sums = #nv_tileas.layout<register = [1, 512, 8, 16, 32], lane = [2, 4, 64, 128, 256], warp = [1024, 2048]>
#words = #nv_tileas.shared_layout<offset = [1, 2]>
!ring = !nv_tileas.memdesc<64x64xf16, #shared, stages = 2, align = 1024>
!stage = !nv_tileas.memdesc<64x64xf16, #shared, align = 1024>
!words = !nv_tileas.memdesc<4xi64, #words>
!sums = tensor<64x64xf32, #sums>
!it = !nv_tileas.pipeline_iterator
!view = !nv_tileaa.tiled_view<tile = [64, 64], memref<64x64xf16, strides = [64, 1]>>
!desc = !nv_tileas.tma_desc<f16, dims = [1, 0], box = [64, 64], steps = [1, 1], swizzle = 128, fill = zero>

// The accumulator is read while a dot is in flight.
nv_tileaa.func @never_done(%view: !view, %desc: !desc, %n: i32, %m: i32) attributes {numWarps = 8 : i64, nv_tileas.max_registers = 240 : i64} {
  %a = nv_tileas.alloc_tensor offset 0 : !ring
  %b = nv_tileas.alloc_tensor offset 16384 : !ring
  %w = nv_tileas.alloc_tensor offset 32768 : !words
  // expected-error @below {{pipelines:}}
  %p = nv_tileas.async.pipeline.create_pipeline %w phases [full = 1, empty = 4] : <4xi64, #words> -> <2>
  %first = nv_tileas.async.pipeline.create_iterator %p : <2>
  nv_tileas.barrier
  nv_tileas.async.pipeline.agent_switch agents [<"consumers", warps = 4, registers = 240>, <"producer", warps = 4, registers = 40>] {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : !sums
    %never = arith.constant false
    %always = arith.constant true
    %tiles = scf.for %i = %c0 to %m step %c1 iter_args(%outer = %first) -> (!it) : i32 {
      %all:4 = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero, %it = %outer, %last = %outer, %started = %never) -> (!sums, !it, !it, i1) : i32 {
        %t = nv_tileas.async.pipeline.consumer_wait %p[%it] : <2>
        %s = nv_tileas.async.pipeline.stage %it
        %x = nv_tileas.memdesc_slot %a[%s] : !ring -> !stage
        %y = nv_tileas.memdesc_slot %b[%s] : !ring -> !stage
        %d = nv_tileas.async.dot %x, %y, %acc by <warpgroup, [64, 64, 16]> : !stage, !stage, !sums
        nv_tileas.async.dot_wait pending 1
        nv_tileas.async.pipeline.consumer_release %p[%last] if %started : <2>
        %next = nv_tileas.async.pipeline.inc_iter %it of %p : <2>
        scf.yield %d, %next, %it, %always : !sums, !it, !it, i1
      }
      %sum = nv_tileas.async.dot_wait %all#0 pending 1 : !sums -> !sums
      nv_tileas.async.pipeline.consumer_release %p[%all#2] if %all#3 : <2>
      scf.yield %all#1 : !it
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
          nv_tileas.async.tiled_tma_load %view[%i, %k] by %desc into %x arrive %t : <tile = [64, 64], memref<64x64xf16, strides = [64, 1]>>[i32, i32], <f16, dims = [1, 0], box = [64, 64], steps = [1, 1], swizzle = 128, fill = zero> -> !stage
          nv_tileas.async.tiled_tma_load %view[%k, %i] by %desc into %y arrive %t : <tile = [64, 64], memref<64x64xf16, strides = [64, 1]>>[i32, i32], <f16, dims = [1, 0], box = [64, 64], steps = [1, 1], swizzle = 128, fill = zero> -> !stage
          %next = nv_tileas.async.pipeline.inc_iter %it of %p : <2>
          scf.yield %next : !it
        }
        scf.yield %all : !it
      }
    }
  }
  nv_tileaa.return
}

// -----

#shared = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 72, 144, 288, 512, 1024, 2048]>
#sums = #nv_tileas.layout<register = [1, 512, 8, 16, 32], lane = [2, 4, 64, 128, 256], warp = [1024, 2048]>
#words = #nv_tileas.shared_layout<offset = [1, 2]>
!ring = !nv_tileas.memdesc<64x64xf16, #shared, stages = 2, align = 1024>
!stage = !nv_tileas.memdesc<64x64xf16, #shared, align = 1024>
!words = !nv_tileas.memdesc<4xi64, #words>
!sums = tensor<64x64xf32, #sums>
!it = !nv_tileas.pipeline_iterator
!view = !nv_tileaa.tiled_view<tile = [64, 64], memref<64x64xf16, strides = [64, 1]>>
!desc = !nv_tileas.tma_desc<f16, dims = [1, 0], box = [64, 64], steps = [1, 1], swizzle = 128, fill = zero>

// The phase completes before all copies have arrived.
nv_tileaa.func @few_bytes(%view: !view, %desc: !desc, %n: i32, %m: i32) attributes {numWarps = 8 : i64, nv_tileas.max_registers = 240 : i64} {
  %a = nv_tileas.alloc_tensor offset 0 : !ring
  %b = nv_tileas.alloc_tensor offset 16384 : !ring
  %w = nv_tileas.alloc_tensor offset 32768 : !words
  // expected-error @below {{ends while a copy that counts on it is in flight}}
  %p = nv_tileas.async.pipeline.create_pipeline %w phases [full = 1, empty = 4] : <4xi64, #words> -> <2>
  %first = nv_tileas.async.pipeline.create_iterator %p : <2>
  nv_tileas.barrier
  nv_tileas.async.pipeline.agent_switch agents [<"consumers", warps = 4, registers = 240>, <"producer", warps = 4, registers = 40>] {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : !sums
    %never = arith.constant false
    %always = arith.constant true
    %tiles = scf.for %i = %c0 to %m step %c1 iter_args(%outer = %first) -> (!it) : i32 {
      %all:4 = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero, %it = %outer, %last = %outer, %started = %never) -> (!sums, !it, !it, i1) : i32 {
        %t = nv_tileas.async.pipeline.consumer_wait %p[%it] : <2>
        %s = nv_tileas.async.pipeline.stage %it
        %x = nv_tileas.memdesc_slot %a[%s] : !ring -> !stage
        %y = nv_tileas.memdesc_slot %b[%s] : !ring -> !stage
        %d = nv_tileas.async.dot %x, %y, %acc by <warpgroup, [64, 64, 16]> : !stage, !stage, !sums
        nv_tileas.async.dot_wait pending 1
        nv_tileas.async.pipeline.consumer_release %p[%last] if %started : <2>
        %next = nv_tileas.async.pipeline.inc_iter %it of %p : <2>
        scf.yield %d, %next, %it, %always : !sums, !it, !it, i1
      }
      %sum = nv_tileas.async.dot_wait %all#0 pending 0 : !sums -> !sums
      nv_tileas.async.pipeline.consumer_release %p[%all#2] if %all#3 : <2>
      scf.yield %all#1 : !it
    }
  }, {
    nv_tileas.async.elect {
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %tiles = scf.for %i = %c0 to %m step %c1 iter_args(%outer = %first) -> (!it) : i32 {
        %all = scf.for %k = %c0 to %n step %c1 iter_args(%it = %outer) -> (!it) : i32 {
          %t = nv_tileas.async.pipeline.producer_acquire %p[%it] bytes 8192 : <2>
          %s = nv_tileas.async.pipeline.stage %it
          %x = nv_tileas.memdesc_slot %a[%s] : !ring -> !stage
          %y = nv_tileas.memdesc_slot %b[%s] : !ring -> !stage
          nv_tileas.async.tiled_tma_load %view[%i, %k] by %desc into %x arrive %t : <tile = [64, 64], memref<64x64xf16, strides = [64, 1]>>[i32, i32], <f16, dims = [1, 0], box = [64, 64], steps = [1, 1], swizzle = 128, fill = zero> -> !stage
          nv_tileas.async.tiled_tma_load %view[%k, %i] by %desc into %y arrive %t : <tile = [64, 64], memref<64x64xf16, strides = [64, 1]>>[i32, i32], <f16, dims = [1, 0], box = [64, 64], steps = [1, 1], swizzle = 128, fill = zero> -> !stage
          %next = nv_tileas.async.pipeline.inc_iter %it of %p : <2>
          scf.yield %next : !it
        }
        scf.yield %all : !it
      }
    }
  }
  nv_tileaa.return
}

// -----

#shared = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 72, 144, 288, 512, 1024, 2048]>
#sums = #nv_tileas.layout<register = [1, 512, 8, 16, 32], lane = [2, 4, 64, 128, 256], warp = [1024, 2048]>
#words = #nv_tileas.shared_layout<offset = [1, 2]>
!ring = !nv_tileas.memdesc<64x64xf16, #shared, stages = 2, align = 1024>
!stage = !nv_tileas.memdesc<64x64xf16, #shared, align = 1024>
!words = !nv_tileas.memdesc<4xi64, #words>
!sums = tensor<64x64xf32, #sums>
!it = !nv_tileas.pipeline_iterator
!view = !nv_tileaa.tiled_view<tile = [64, 64], memref<64x64xf16, strides = [64, 1]>>
!desc = !nv_tileas.tma_desc<f16, dims = [1, 0], box = [64, 64], steps = [1, 1], swizzle = 128, fill = zero>

// The phase never completes.
nv_tileaa.func @many_bytes(%view: !view, %desc: !desc, %n: i32, %m: i32) attributes {numWarps = 8 : i64, nv_tileas.max_registers = 240 : i64} {
  %a = nv_tileas.alloc_tensor offset 0 : !ring
  %b = nv_tileas.alloc_tensor offset 16384 : !ring
  %w = nv_tileas.alloc_tensor offset 32768 : !words
  // expected-error @below {{deadlock}}
  %p = nv_tileas.async.pipeline.create_pipeline %w phases [full = 1, empty = 4] : <4xi64, #words> -> <2>
  %first = nv_tileas.async.pipeline.create_iterator %p : <2>
  nv_tileas.barrier
  nv_tileas.async.pipeline.agent_switch agents [<"consumers", warps = 4, registers = 240>, <"producer", warps = 4, registers = 40>] {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : !sums
    %never = arith.constant false
    %always = arith.constant true
    %tiles = scf.for %i = %c0 to %m step %c1 iter_args(%outer = %first) -> (!it) : i32 {
      %all:4 = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero, %it = %outer, %last = %outer, %started = %never) -> (!sums, !it, !it, i1) : i32 {
        %t = nv_tileas.async.pipeline.consumer_wait %p[%it] : <2>
        %s = nv_tileas.async.pipeline.stage %it
        %x = nv_tileas.memdesc_slot %a[%s] : !ring -> !stage
        %y = nv_tileas.memdesc_slot %b[%s] : !ring -> !stage
        %d = nv_tileas.async.dot %x, %y, %acc by <warpgroup, [64, 64, 16]> : !stage, !stage, !sums
        nv_tileas.async.dot_wait pending 1
        nv_tileas.async.pipeline.consumer_release %p[%last] if %started : <2>
        %next = nv_tileas.async.pipeline.inc_iter %it of %p : <2>
        scf.yield %d, %next, %it, %always : !sums, !it, !it, i1
      }
      %sum = nv_tileas.async.dot_wait %all#0 pending 0 : !sums -> !sums
      nv_tileas.async.pipeline.consumer_release %p[%all#2] if %all#3 : <2>
      scf.yield %all#1 : !it
    }
  }, {
    nv_tileas.async.elect {
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %tiles = scf.for %i = %c0 to %m step %c1 iter_args(%outer = %first) -> (!it) : i32 {
        %all = scf.for %k = %c0 to %n step %c1 iter_args(%it = %outer) -> (!it) : i32 {
          %t = nv_tileas.async.pipeline.producer_acquire %p[%it] bytes 32768 : <2>
          %s = nv_tileas.async.pipeline.stage %it
          %x = nv_tileas.memdesc_slot %a[%s] : !ring -> !stage
          %y = nv_tileas.memdesc_slot %b[%s] : !ring -> !stage
          nv_tileas.async.tiled_tma_load %view[%i, %k] by %desc into %x arrive %t : <tile = [64, 64], memref<64x64xf16, strides = [64, 1]>>[i32, i32], <f16, dims = [1, 0], box = [64, 64], steps = [1, 1], swizzle = 128, fill = zero> -> !stage
          nv_tileas.async.tiled_tma_load %view[%k, %i] by %desc into %y arrive %t : <tile = [64, 64], memref<64x64xf16, strides = [64, 1]>>[i32, i32], <f16, dims = [1, 0], box = [64, 64], steps = [1, 1], swizzle = 128, fill = zero> -> !stage
          %next = nv_tileas.async.pipeline.inc_iter %it of %p : <2>
          scf.yield %next : !it
        }
        scf.yield %all : !it
      }
    }
  }
  nv_tileaa.return
}

// -----

#shared = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 72, 144, 288, 512, 1024, 2048]>
#sums = #nv_tileas.layout<register = [1, 512, 8, 16, 32], lane = [2, 4, 64, 128, 256], warp = [1024, 2048]>
#words = #nv_tileas.shared_layout<offset = [1, 2]>
!ring = !nv_tileas.memdesc<64x64xf16, #shared, stages = 2, align = 1024>
!stage = !nv_tileas.memdesc<64x64xf16, #shared, align = 1024>
!words = !nv_tileas.memdesc<4xi64, #words>
!sums = tensor<64x64xf32, #sums>
!it = !nv_tileas.pipeline_iterator
!view = !nv_tileaa.tiled_view<tile = [64, 64], memref<64x64xf16, strides = [64, 1]>>
!desc = !nv_tileas.tma_desc<f16, dims = [1, 0], box = [64, 64], steps = [1, 1], swizzle = 128, fill = zero>

// Each warp of the agent arrives, but the barrier expects fewer arrivals.
nv_tileaa.func @fewer_consumers(%view: !view, %desc: !desc, %n: i32, %m: i32) attributes {numWarps = 8 : i64, nv_tileas.max_registers = 240 : i64} {
  %a = nv_tileas.alloc_tensor offset 0 : !ring
  %b = nv_tileas.alloc_tensor offset 16384 : !ring
  %w = nv_tileas.alloc_tensor offset 32768 : !words
  // expected-error @below {{pipelines:}}
  %p = nv_tileas.async.pipeline.create_pipeline %w phases [full = 1, empty = 2] : <4xi64, #words> -> <2>
  %first = nv_tileas.async.pipeline.create_iterator %p : <2>
  nv_tileas.barrier
  nv_tileas.async.pipeline.agent_switch agents [<"consumers", warps = 4, registers = 240>, <"producer", warps = 4, registers = 40>] {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : !sums
    %never = arith.constant false
    %always = arith.constant true
    %tiles = scf.for %i = %c0 to %m step %c1 iter_args(%outer = %first) -> (!it) : i32 {
      %all:4 = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero, %it = %outer, %last = %outer, %started = %never) -> (!sums, !it, !it, i1) : i32 {
        %t = nv_tileas.async.pipeline.consumer_wait %p[%it] : <2>
        %s = nv_tileas.async.pipeline.stage %it
        %x = nv_tileas.memdesc_slot %a[%s] : !ring -> !stage
        %y = nv_tileas.memdesc_slot %b[%s] : !ring -> !stage
        %d = nv_tileas.async.dot %x, %y, %acc by <warpgroup, [64, 64, 16]> : !stage, !stage, !sums
        nv_tileas.async.dot_wait pending 1
        nv_tileas.async.pipeline.consumer_release %p[%last] if %started : <2>
        %next = nv_tileas.async.pipeline.inc_iter %it of %p : <2>
        scf.yield %d, %next, %it, %always : !sums, !it, !it, i1
      }
      %sum = nv_tileas.async.dot_wait %all#0 pending 0 : !sums -> !sums
      nv_tileas.async.pipeline.consumer_release %p[%all#2] if %all#3 : <2>
      scf.yield %all#1 : !it
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
          nv_tileas.async.tiled_tma_load %view[%i, %k] by %desc into %x arrive %t : <tile = [64, 64], memref<64x64xf16, strides = [64, 1]>>[i32, i32], <f16, dims = [1, 0], box = [64, 64], steps = [1, 1], swizzle = 128, fill = zero> -> !stage
          nv_tileas.async.tiled_tma_load %view[%k, %i] by %desc into %y arrive %t : <tile = [64, 64], memref<64x64xf16, strides = [64, 1]>>[i32, i32], <f16, dims = [1, 0], box = [64, 64], steps = [1, 1], swizzle = 128, fill = zero> -> !stage
          %next = nv_tileas.async.pipeline.inc_iter %it of %p : <2>
          scf.yield %next : !it
        }
        scf.yield %all : !it
      }
    }
  }
  nv_tileaa.return
}
