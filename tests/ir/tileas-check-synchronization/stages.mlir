// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileas-check-synchronization)' --split-input-file --verify-diagnostics
// Accesses of threads to a stage of a pipeline between the wait and the dot.

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
#row = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048]>
#held = #nv_tileas.layout<register = [1, 2, 4, 1024, 2048], lane = [8, 16, 32, 64, 128], warp = [256, 512]>
#other = #nv_tileas.layout<register = [1, 2, 4, 1024, 2048], lane = [8, 16, 32, 64, 256], warp = [128, 512]>
#half = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024]>
#few = #nv_tileas.layout<register = [1, 2, 4, 1024], lane = [8, 16, 32, 64, 128], warp = [256, 512]>
!row = !nv_tileas.memdesc<4096xf16, #row>
!halves = !nv_tileas.memdesc<2048xf16, #half, stages = 2>
!half = !nv_tileas.memdesc<2048xf16, #half>

// Each thread writes the elements that it has read, with any type, and dots wait for all threads.
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
        %r = nv_tileas.memdesc_reinterpret %x : !stage -> !row
        %q = nv_tileas.memdesc_reinterpret %x : !stage -> !row
        %v = nv_tileas.local_load %r vector 8 : !row -> tensor<4096xf16, #held>
        nv_tileas.local_store %v, %q vector 8 : tensor<4096xf16, #held>, !row
        nv_tileas.async.fence
        nv_tileas.barrier
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
#row = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048]>
#held = #nv_tileas.layout<register = [1, 2, 4, 1024, 2048], lane = [8, 16, 32, 64, 128], warp = [256, 512]>
#other = #nv_tileas.layout<register = [1, 2, 4, 1024, 2048], lane = [8, 16, 32, 64, 256], warp = [128, 512]>
#half = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024]>
#few = #nv_tileas.layout<register = [1, 2, 4, 1024], lane = [8, 16, 32, 64, 128], warp = [256, 512]>
!row = !nv_tileas.memdesc<4096xf16, #row>
!halves = !nv_tileas.memdesc<2048xf16, #half, stages = 2>
!half = !nv_tileas.memdesc<2048xf16, #half>

// Parts of a stage do not overlap.
nv_tileaa.func @parts(%view: !view, %desc: !desc, %n: i32, %m: i32) attributes {numWarps = 8 : i64, nv_tileas.max_registers = 240 : i64} {
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
        %r = nv_tileas.memdesc_reinterpret %x : !stage -> !halves
        %h0 = nv_tileas.memdesc_slot %r[%c0] : !halves -> !half
        %h1 = nv_tileas.memdesc_slot %r[%c1] : !halves -> !half
        %v = nv_tileas.local_load %h0 vector 8 : !half -> tensor<2048xf16, #few>
        nv_tileas.local_store %v, %h0 vector 8 : tensor<2048xf16, #few>, !half
        %u = nv_tileas.local_load %h1 vector 8 : !half -> tensor<2048xf16, #few>
        nv_tileas.local_store %u, %h1 vector 8 : tensor<2048xf16, #few>, !half
        nv_tileas.async.fence
        nv_tileas.barrier
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
#row = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048]>
#held = #nv_tileas.layout<register = [1, 2, 4, 1024, 2048], lane = [8, 16, 32, 64, 128], warp = [256, 512]>
#other = #nv_tileas.layout<register = [1, 2, 4, 1024, 2048], lane = [8, 16, 32, 64, 256], warp = [128, 512]>
#half = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024]>
#few = #nv_tileas.layout<register = [1, 2, 4, 1024], lane = [8, 16, 32, 64, 128], warp = [256, 512]>
!row = !nv_tileas.memdesc<4096xf16, #row>
!halves = !nv_tileas.memdesc<2048xf16, #half, stages = 2>
!half = !nv_tileas.memdesc<2048xf16, #half>

// Other threads read what a thread writes, so a barrier is needed in between.
nv_tileaa.func @moved(%view: !view, %desc: !desc, %n: i32, %m: i32) attributes {numWarps = 8 : i64, nv_tileas.max_registers = 240 : i64} {
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
        %r = nv_tileas.memdesc_reinterpret %x : !stage -> !row
        %v = nv_tileas.local_load %r vector 8 : !row -> tensor<4096xf16, #held>
        %u = nv_tileas.local_load %r vector 8 : !row -> tensor<4096xf16, #other>
        nv_tileas.barrier
        nv_tileas.local_store %u, %r vector 8 : tensor<4096xf16, #other>, !row
        nv_tileas.async.fence
        nv_tileas.barrier
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
#row = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048]>
#held = #nv_tileas.layout<register = [1, 2, 4, 1024, 2048], lane = [8, 16, 32, 64, 128], warp = [256, 512]>
#other = #nv_tileas.layout<register = [1, 2, 4, 1024, 2048], lane = [8, 16, 32, 64, 256], warp = [128, 512]>
#half = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024]>
#few = #nv_tileas.layout<register = [1, 2, 4, 1024], lane = [8, 16, 32, 64, 128], warp = [256, 512]>
!row = !nv_tileas.memdesc<4096xf16, #row>
!halves = !nv_tileas.memdesc<2048xf16, #half, stages = 2>
!half = !nv_tileas.memdesc<2048xf16, #half>

nv_tileaa.func @unread(%view: !view, %desc: !desc, %n: i32, %m: i32) attributes {numWarps = 8 : i64, nv_tileas.max_registers = 240 : i64} {
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
        %r = nv_tileas.memdesc_reinterpret %x : !stage -> !row
        // expected-note @+1 {{the earlier access}}
        %v = nv_tileas.local_load %r vector 8 : !row -> tensor<4096xf16, #held>
        %u = nv_tileas.local_load %r vector 8 : !row -> tensor<4096xf16, #other>
        // expected-error @+1 {{conflicts with a read by other threads: no barrier separates them}}
        nv_tileas.local_store %u, %r vector 8 : tensor<4096xf16, #other>, !row
        nv_tileas.async.fence
        nv_tileas.barrier
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
#row = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048]>
#held = #nv_tileas.layout<register = [1, 2, 4, 1024, 2048], lane = [8, 16, 32, 64, 128], warp = [256, 512]>
#other = #nv_tileas.layout<register = [1, 2, 4, 1024, 2048], lane = [8, 16, 32, 64, 256], warp = [128, 512]>
#half = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024]>
#few = #nv_tileas.layout<register = [1, 2, 4, 1024], lane = [8, 16, 32, 64, 128], warp = [256, 512]>
!row = !nv_tileas.memdesc<4096xf16, #row>
!halves = !nv_tileas.memdesc<2048xf16, #half, stages = 2>
!half = !nv_tileas.memdesc<2048xf16, #half>

nv_tileaa.func @unfinished(%view: !view, %desc: !desc, %n: i32, %m: i32) attributes {numWarps = 8 : i64, nv_tileas.max_registers = 240 : i64} {
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
        %r = nv_tileas.memdesc_reinterpret %x : !stage -> !row
        %q = nv_tileas.memdesc_reinterpret %x : !stage -> !row
        %v = nv_tileas.local_load %r vector 8 : !row -> tensor<4096xf16, #held>
        // expected-note @+1 {{the earlier access}}
        nv_tileas.local_store %v, %q vector 8 : tensor<4096xf16, #held>, !row
        nv_tileas.async.fence
        // expected-error @+1 {{conflicts with a write by other threads: no barrier separates them}}
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
