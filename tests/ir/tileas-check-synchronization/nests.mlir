// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileas-check-synchronization)' --split-input-file --verify-diagnostics
// Nested loops: a loop over lists and a loop over the tiles of a list act as one loop if iterators continue from one
// list to the next.

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

// The tiles of one list after those of another.
nv_tileaa.func @lists(%view: !view, %desc: !desc, %n: i32, %m: i32) attributes {numWarps = 8 : i64, nv_tileas.max_registers = 240 : i64} {
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
    %lists:2 = scf.for %l = %c0 to %m step %c1 iter_args(%j = %c0, %outer = %first) -> (i32, !it) : i32 {
      %tiles:2 = scf.while (%i = %j, %from = %outer) : (i32, !it) -> (i32, !it) {
        %all:4 = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero, %it = %from, %last = %from, %started = %never) -> (!sums, !it, !it, i1) : i32 {
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
        %i1 = arith.addi %i, %c1 : i32
        %more = arith.cmpi slt, %i1, %l : i32
        scf.condition(%more) %i1, %all#1 : i32, !it
      } do {
      ^bb0(%i: i32, %from: !it):
        scf.yield %i, %from : i32, !it
      }
      scf.yield %tiles#0, %tiles#1 : i32, !it
    }
  }, {
    nv_tileas.async.elect {
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %lists:2 = scf.for %l = %c0 to %m step %c1 iter_args(%j = %c0, %outer = %first) -> (i32, !it) : i32 {
        %tiles:2 = scf.while (%i = %j, %from = %outer) : (i32, !it) -> (i32, !it) {
          %all = scf.for %k = %c0 to %n step %c1 iter_args(%it = %from) -> (!it) : i32 {
            %t = nv_tileas.async.pipeline.producer_acquire %p[%it] bytes 16384 : <2>
            %s = nv_tileas.async.pipeline.stage %it
            %x = nv_tileas.memdesc_slot %a[%s] : !ring -> !stage
            %y = nv_tileas.memdesc_slot %b[%s] : !ring -> !stage
            nv_tileas.async.tiled_tma_load %view[%i, %k] by %desc into %x arrive %t : <tile = [64, 64], memref<64x64xf16, strides = [64, 1]>>[i32, i32], <f16, dims = [1, 0], box = [64, 64], steps = [1, 1], swizzle = 128, fill = zero> -> !stage
            nv_tileas.async.tiled_tma_load %view[%k, %i] by %desc into %y arrive %t : <tile = [64, 64], memref<64x64xf16, strides = [64, 1]>>[i32, i32], <f16, dims = [1, 0], box = [64, 64], steps = [1, 1], swizzle = 128, fill = zero> -> !stage
            %next = nv_tileas.async.pipeline.inc_iter %it of %p : <2>
            scf.yield %next : !it
          }
          %i1 = arith.addi %i, %c1 : i32
          %more = arith.cmpi slt, %i1, %l : i32
          scf.condition(%more) %i1, %all : i32, !it
        } do {
        ^bb0(%i: i32, %from: !it):
          scf.yield %i, %from : i32, !it
        }
        scf.yield %tiles#0, %tiles#1 : i32, !it
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

// The error shows at the third tile, in whichever list it is: the two loops are counted as one.
nv_tileaa.func @lists_without_release(%view: !view, %desc: !desc, %n: i32, %m: i32) attributes {numWarps = 8 : i64, nv_tileas.max_registers = 240 : i64} {
  %a = nv_tileas.alloc_tensor offset 0 : !ring
  %b = nv_tileas.alloc_tensor offset 16384 : !ring
  %w = nv_tileas.alloc_tensor offset 32768 : !words
  // expected-error @below {{for trips0 = 3, trips1 = 0, trips2 = 1}}
  %p = nv_tileas.async.pipeline.create_pipeline %w phases [full = 1, empty = 4] : <4xi64, #words> -> <2>
  %first = nv_tileas.async.pipeline.create_iterator %p : <2>
  nv_tileas.barrier
  nv_tileas.async.pipeline.agent_switch agents [<"consumers", warps = 4, registers = 240>, <"producer", warps = 4, registers = 40>] {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : !sums
    %never = arith.constant false
    %always = arith.constant true
    %lists:2 = scf.for %l = %c0 to %m step %c1 iter_args(%j = %c0, %outer = %first) -> (i32, !it) : i32 {
      %tiles:2 = scf.while (%i = %j, %from = %outer) : (i32, !it) -> (i32, !it) {
        %all:4 = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero, %it = %from, %last = %from, %started = %never) -> (!sums, !it, !it, i1) : i32 {
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
        %i1 = arith.addi %i, %c1 : i32
        %more = arith.cmpi slt, %i1, %l : i32
        scf.condition(%more) %i1, %all#1 : i32, !it
      } do {
      ^bb0(%i: i32, %from: !it):
        scf.yield %i, %from : i32, !it
      }
      scf.yield %tiles#0, %tiles#1 : i32, !it
    }
  }, {
    nv_tileas.async.elect {
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %lists:2 = scf.for %l = %c0 to %m step %c1 iter_args(%j = %c0, %outer = %first) -> (i32, !it) : i32 {
        %tiles:2 = scf.while (%i = %j, %from = %outer) : (i32, !it) -> (i32, !it) {
          %all = scf.for %k = %c0 to %n step %c1 iter_args(%it = %from) -> (!it) : i32 {
            %t = nv_tileas.async.pipeline.producer_acquire %p[%it] bytes 16384 : <2>
            %s = nv_tileas.async.pipeline.stage %it
            %x = nv_tileas.memdesc_slot %a[%s] : !ring -> !stage
            %y = nv_tileas.memdesc_slot %b[%s] : !ring -> !stage
            nv_tileas.async.tiled_tma_load %view[%i, %k] by %desc into %x arrive %t : <tile = [64, 64], memref<64x64xf16, strides = [64, 1]>>[i32, i32], <f16, dims = [1, 0], box = [64, 64], steps = [1, 1], swizzle = 128, fill = zero> -> !stage
            nv_tileas.async.tiled_tma_load %view[%k, %i] by %desc into %y arrive %t : <tile = [64, 64], memref<64x64xf16, strides = [64, 1]>>[i32, i32], <f16, dims = [1, 0], box = [64, 64], steps = [1, 1], swizzle = 128, fill = zero> -> !stage
            %next = nv_tileas.async.pipeline.inc_iter %it of %p : <2>
            scf.yield %next : !it
          }
          %i1 = arith.addi %i, %c1 : i32
          %more = arith.cmpi slt, %i1, %l : i32
          scf.condition(%more) %i1, %all : i32, !it
        } do {
        ^bb0(%i: i32, %from: !it):
          scf.yield %i, %from : i32, !it
        }
        scf.yield %tiles#0, %tiles#1 : i32, !it
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

// Iterators that start over for each list are another protocol, in which the second list fails.
nv_tileaa.func @lists_from_the_start(%view: !view, %desc: !desc, %n: i32, %m: i32) attributes {numWarps = 8 : i64, nv_tileas.max_registers = 240 : i64} {
  %a = nv_tileas.alloc_tensor offset 0 : !ring
  %b = nv_tileas.alloc_tensor offset 16384 : !ring
  %w = nv_tileas.alloc_tensor offset 32768 : !words
  // expected-error @below {{for trips0 = 2, trips1 = 0, trips2 = 1}}
  %p = nv_tileas.async.pipeline.create_pipeline %w phases [full = 1, empty = 4] : <4xi64, #words> -> <2>
  %first = nv_tileas.async.pipeline.create_iterator %p : <2>
  nv_tileas.barrier
  nv_tileas.async.pipeline.agent_switch agents [<"consumers", warps = 4, registers = 240>, <"producer", warps = 4, registers = 40>] {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : !sums
    %never = arith.constant false
    %always = arith.constant true
    %lists:2 = scf.for %l = %c0 to %m step %c1 iter_args(%j = %c0, %outer = %first) -> (i32, !it) : i32 {
      %tiles:2 = scf.while (%i = %j, %from = %outer) : (i32, !it) -> (i32, !it) {
        %all:4 = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero, %it = %from, %last = %from, %started = %never) -> (!sums, !it, !it, i1) : i32 {
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
        %i1 = arith.addi %i, %c1 : i32
        %more = arith.cmpi slt, %i1, %l : i32
        scf.condition(%more) %i1, %all#1 : i32, !it
      } do {
      ^bb0(%i: i32, %from: !it):
        scf.yield %i, %from : i32, !it
      }
      scf.yield %tiles#0, %first : i32, !it
    }
  }, {
    nv_tileas.async.elect {
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %lists:2 = scf.for %l = %c0 to %m step %c1 iter_args(%j = %c0, %outer = %first) -> (i32, !it) : i32 {
        %tiles:2 = scf.while (%i = %j, %from = %outer) : (i32, !it) -> (i32, !it) {
          %all = scf.for %k = %c0 to %n step %c1 iter_args(%it = %from) -> (!it) : i32 {
            %t = nv_tileas.async.pipeline.producer_acquire %p[%it] bytes 16384 : <2>
            %s = nv_tileas.async.pipeline.stage %it
            %x = nv_tileas.memdesc_slot %a[%s] : !ring -> !stage
            %y = nv_tileas.memdesc_slot %b[%s] : !ring -> !stage
            nv_tileas.async.tiled_tma_load %view[%i, %k] by %desc into %x arrive %t : <tile = [64, 64], memref<64x64xf16, strides = [64, 1]>>[i32, i32], <f16, dims = [1, 0], box = [64, 64], steps = [1, 1], swizzle = 128, fill = zero> -> !stage
            nv_tileas.async.tiled_tma_load %view[%k, %i] by %desc into %y arrive %t : <tile = [64, 64], memref<64x64xf16, strides = [64, 1]>>[i32, i32], <f16, dims = [1, 0], box = [64, 64], steps = [1, 1], swizzle = 128, fill = zero> -> !stage
            %next = nv_tileas.async.pipeline.inc_iter %it of %p : <2>
            scf.yield %next : !it
          }
          %i1 = arith.addi %i, %c1 : i32
          %more = arith.cmpi slt, %i1, %l : i32
          scf.condition(%more) %i1, %all : i32, !it
        } do {
        ^bb0(%i: i32, %from: !it):
          scf.yield %i, %from : i32, !it
        }
        scf.yield %tiles#0, %first : i32, !it
      }
    }
  }
  nv_tileaa.return
}
