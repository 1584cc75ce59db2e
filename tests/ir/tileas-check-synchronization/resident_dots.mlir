// RUN: tileiras-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(tileas-check-synchronization)'
// The protocol of dots in loops without operands from rings, whose counts are known at run time only, and the reports if
// it is broken. One thread issues the dots, and the consumers read the results.

#shared = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 72, 144, 288, 512, 1024, 2048]>
#rows = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048]>
#sums = #nv_tileas.layout<register = [1, 512, 8, 16, 32], lane = [2, 4, 64, 128, 256], warp = [1024, 2048]>
#words = #nv_tileas.shared_layout<offset = [1, 2]>
#word = #nv_tileas.shared_layout<offset = []>
!tile = !nv_tileas.memdesc<64x64xf16, #shared, align = 1024>
!words = !nv_tileas.memdesc<4xi64, #words>
!word = !nv_tileas.memdesc<1xi32, #word>
!accs = !nv_tileas.memdesc<64x64xf32, #rows, stages = 2, space = tensor>
!acc = !nv_tileas.memdesc<64x64xf32, #rows, space = tensor>
!sums = tensor<64x64xf32, #sums>
!it = !nv_tileas.pipeline_iterator

// A loop that may not run. The consumers then set the accumulator to zero.
nv_tileaa.func @kept(%n: i32, %m: i32, %l: i32) attributes {numWarps = 5 : i64} {
  %a = nv_tileas.alloc_tensor offset 0 : !tile
  %b = nv_tileas.alloc_tensor offset 8192 : !tile
  %v = nv_tileas.alloc_tensor offset 16384 : !words
  %q = nv_tileas.async.pipeline.create_pipeline %v phases [full = 1, empty = 4] : <4xi64, #words> -> <2>
  %start = nv_tileas.async.pipeline.create_iterator %q : <2>
  %slot = nv_tileas.alloc_tensor offset 16512 : !word
  nv_tileas.tmem_allocate %slot columns 128 : !word
  nv_tileas.barrier
  %accs = nv_tileas.alloc_tensor offset 0 : !accs
  nv_tileas.async.pipeline.agent_switch agents [<"consumers", warps = 4>, <"matrix", warps = 1>] {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : !sums
    %tiles = scf.for %i = %c0 to %m step %c1 iter_args(%j = %start) -> (!it) : i32 {
      %s = nv_tileas.async.pipeline.stage %j
      %acc = nv_tileas.memdesc_slot %accs[%s] : !accs -> !acc
      %t = nv_tileas.async.pipeline.consumer_wait %q[%j] : <2>
      nv_tileas.tmem_fence after
      %none = arith.cmpi sle, %n, %c0 : i32
      scf.if %none {
        nv_tileas.tmem_store %zero, %acc : !sums, !acc
      }
      %sum = nv_tileas.tmem_load %acc : !acc -> !sums
      nv_tileas.tmem_fence
      nv_tileas.async.pipeline.consumer_release %q[%j] : <2>
      %next = nv_tileas.async.pipeline.inc_iter %j of %q : <2>
      scf.yield %next : !it
    }
  }, {
    nv_tileas.async.elect {
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %tiles = scf.for %i = %c0 to %m step %c1 iter_args(%j = %start) -> (!it) : i32 {
        %s = nv_tileas.async.pipeline.stage %j
        %acc = nv_tileas.memdesc_slot %accs[%s] : !accs -> !acc
        %t = nv_tileas.async.pipeline.producer_acquire %q[%j] : <2>
        nv_tileas.tmem_fence after
        scf.for %k = %c0 to %n step %c1 : i32 {
          %more = arith.cmpi ne, %k, %c0 : i32
          nv_tileas.async.dot %a, %b, %acc accumulate %more by <tensor, [64, 64, 16]> : !tile, !tile, !acc
        }
        nv_tileas.async.pipeline.producer_commit %q[%j] dots : <2>
        %next = nv_tileas.async.pipeline.inc_iter %j of %q : <2>
        scf.yield %next : !it
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
!tile = !nv_tileas.memdesc<64x64xf16, #shared, align = 1024>
!words = !nv_tileas.memdesc<4xi64, #words>
!word = !nv_tileas.memdesc<1xi32, #word>
!accs = !nv_tileas.memdesc<64x64xf32, #rows, stages = 2, space = tensor>
!acc = !nv_tileas.memdesc<64x64xf32, #rows, space = tensor>
!sums = tensor<64x64xf32, #sums>
!it = !nv_tileas.pipeline_iterator

// The consumers read an accumulator to which the loop has added nothing.
nv_tileaa.func @nothing_stored(%n: i32, %m: i32, %l: i32) attributes {numWarps = 5 : i64} {
  %a = nv_tileas.alloc_tensor offset 0 : !tile
  %b = nv_tileas.alloc_tensor offset 8192 : !tile
  %v = nv_tileas.alloc_tensor offset 16384 : !words
  // expected-error @below {{for trips0 = 1, resident0 = 0}}
  %q = nv_tileas.async.pipeline.create_pipeline %v phases [full = 1, empty = 4] : <4xi64, #words> -> <2>
  %start = nv_tileas.async.pipeline.create_iterator %q : <2>
  %slot = nv_tileas.alloc_tensor offset 16512 : !word
  nv_tileas.tmem_allocate %slot columns 128 : !word
  nv_tileas.barrier
  %accs = nv_tileas.alloc_tensor offset 0 : !accs
  nv_tileas.async.pipeline.agent_switch agents [<"consumers", warps = 4>, <"matrix", warps = 1>] {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : !sums
    %tiles = scf.for %i = %c0 to %m step %c1 iter_args(%j = %start) -> (!it) : i32 {
      %s = nv_tileas.async.pipeline.stage %j
      %acc = nv_tileas.memdesc_slot %accs[%s] : !accs -> !acc
      %t = nv_tileas.async.pipeline.consumer_wait %q[%j] : <2>
      nv_tileas.tmem_fence after
      %sum = nv_tileas.tmem_load %acc : !acc -> !sums
      nv_tileas.tmem_fence
      nv_tileas.async.pipeline.consumer_release %q[%j] : <2>
      %next = nv_tileas.async.pipeline.inc_iter %j of %q : <2>
      scf.yield %next : !it
    }
  }, {
    nv_tileas.async.elect {
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %tiles = scf.for %i = %c0 to %m step %c1 iter_args(%j = %start) -> (!it) : i32 {
        %s = nv_tileas.async.pipeline.stage %j
        %acc = nv_tileas.memdesc_slot %accs[%s] : !accs -> !acc
        %t = nv_tileas.async.pipeline.producer_acquire %q[%j] : <2>
        nv_tileas.tmem_fence after
        scf.for %k = %c0 to %n step %c1 : i32 {
          %more = arith.cmpi ne, %k, %c0 : i32
          nv_tileas.async.dot %a, %b, %acc accumulate %more by <tensor, [64, 64, 16]> : !tile, !tile, !acc
        }
        nv_tileas.async.pipeline.producer_commit %q[%j] dots : <2>
        %next = nv_tileas.async.pipeline.inc_iter %j of %q : <2>
        scf.yield %next : !it
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
!tile = !nv_tileas.memdesc<64x64xf16, #shared, align = 1024>
!words = !nv_tileas.memdesc<4xi64, #words>
!word = !nv_tileas.memdesc<1xi32, #word>
!accs = !nv_tileas.memdesc<64x64xf32, #rows, stages = 2, space = tensor>
!acc = !nv_tileas.memdesc<64x64xf32, #rows, space = tensor>
!sums = tensor<64x64xf32, #sums>
!it = !nv_tileas.pipeline_iterator

// The consumers do not wait for the dots.
nv_tileaa.func @not_awaited(%n: i32, %m: i32, %l: i32) attributes {numWarps = 5 : i64} {
  %a = nv_tileas.alloc_tensor offset 0 : !tile
  %b = nv_tileas.alloc_tensor offset 8192 : !tile
  %v = nv_tileas.alloc_tensor offset 16384 : !words
  // expected-error @below {{deadlock: agent 1 waits for empty0[0]}}
  %q = nv_tileas.async.pipeline.create_pipeline %v phases [full = 1, empty = 4] : <4xi64, #words> -> <2>
  %start = nv_tileas.async.pipeline.create_iterator %q : <2>
  %slot = nv_tileas.alloc_tensor offset 16512 : !word
  nv_tileas.tmem_allocate %slot columns 128 : !word
  nv_tileas.barrier
  %accs = nv_tileas.alloc_tensor offset 0 : !accs
  nv_tileas.async.pipeline.agent_switch agents [<"consumers", warps = 4>, <"matrix", warps = 1>] {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : !sums
    %tiles = scf.for %i = %c0 to %m step %c1 iter_args(%j = %start) -> (!it) : i32 {
      %s = nv_tileas.async.pipeline.stage %j
      %acc = nv_tileas.memdesc_slot %accs[%s] : !accs -> !acc
      nv_tileas.tmem_fence after
      %none = arith.cmpi sle, %n, %c0 : i32
      scf.if %none {
        nv_tileas.tmem_store %zero, %acc : !sums, !acc
      }
      %sum = nv_tileas.tmem_load %acc : !acc -> !sums
      nv_tileas.tmem_fence
      nv_tileas.async.pipeline.consumer_release %q[%j] : <2>
      %next = nv_tileas.async.pipeline.inc_iter %j of %q : <2>
      scf.yield %next : !it
    }
  }, {
    nv_tileas.async.elect {
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %tiles = scf.for %i = %c0 to %m step %c1 iter_args(%j = %start) -> (!it) : i32 {
        %s = nv_tileas.async.pipeline.stage %j
        %acc = nv_tileas.memdesc_slot %accs[%s] : !accs -> !acc
        %t = nv_tileas.async.pipeline.producer_acquire %q[%j] : <2>
        nv_tileas.tmem_fence after
        scf.for %k = %c0 to %n step %c1 : i32 {
          %more = arith.cmpi ne, %k, %c0 : i32
          nv_tileas.async.dot %a, %b, %acc accumulate %more by <tensor, [64, 64, 16]> : !tile, !tile, !acc
        }
        nv_tileas.async.pipeline.producer_commit %q[%j] dots : <2>
        %next = nv_tileas.async.pipeline.inc_iter %j of %q : <2>
        scf.yield %next : !it
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
!tile = !nv_tileas.memdesc<64x64xf16, #shared, align = 1024>
!words = !nv_tileas.memdesc<4xi64, #words>
!word = !nv_tileas.memdesc<1xi32, #word>
!accs = !nv_tileas.memdesc<64x64xf32, #rows, stages = 2, space = tensor>
!acc = !nv_tileas.memdesc<64x64xf32, #rows, space = tensor>
!sums = tensor<64x64xf32, #sums>
!it = !nv_tileas.pipeline_iterator

// The dots of the third tile do not wait for the read of the first one.
nv_tileaa.func @not_acquired(%n: i32, %m: i32, %l: i32) attributes {numWarps = 5 : i64} {
  %a = nv_tileas.alloc_tensor offset 0 : !tile
  %b = nv_tileas.alloc_tensor offset 8192 : !tile
  %v = nv_tileas.alloc_tensor offset 16384 : !words
  // expected-error @below {{for trips0 = 3, resident0 = 0}}
  %q = nv_tileas.async.pipeline.create_pipeline %v phases [full = 1, empty = 4] : <4xi64, #words> -> <2>
  %start = nv_tileas.async.pipeline.create_iterator %q : <2>
  %slot = nv_tileas.alloc_tensor offset 16512 : !word
  nv_tileas.tmem_allocate %slot columns 128 : !word
  nv_tileas.barrier
  %accs = nv_tileas.alloc_tensor offset 0 : !accs
  nv_tileas.async.pipeline.agent_switch agents [<"consumers", warps = 4>, <"matrix", warps = 1>] {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : !sums
    %tiles = scf.for %i = %c0 to %m step %c1 iter_args(%j = %start) -> (!it) : i32 {
      %s = nv_tileas.async.pipeline.stage %j
      %acc = nv_tileas.memdesc_slot %accs[%s] : !accs -> !acc
      %t = nv_tileas.async.pipeline.consumer_wait %q[%j] : <2>
      nv_tileas.tmem_fence after
      %none = arith.cmpi sle, %n, %c0 : i32
      scf.if %none {
        nv_tileas.tmem_store %zero, %acc : !sums, !acc
      }
      %sum = nv_tileas.tmem_load %acc : !acc -> !sums
      nv_tileas.tmem_fence
      nv_tileas.async.pipeline.consumer_release %q[%j] : <2>
      %next = nv_tileas.async.pipeline.inc_iter %j of %q : <2>
      scf.yield %next : !it
    }
  }, {
    nv_tileas.async.elect {
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %tiles = scf.for %i = %c0 to %m step %c1 iter_args(%j = %start) -> (!it) : i32 {
        %s = nv_tileas.async.pipeline.stage %j
        %acc = nv_tileas.memdesc_slot %accs[%s] : !accs -> !acc
        nv_tileas.tmem_fence after
        scf.for %k = %c0 to %n step %c1 : i32 {
          %more = arith.cmpi ne, %k, %c0 : i32
          nv_tileas.async.dot %a, %b, %acc accumulate %more by <tensor, [64, 64, 16]> : !tile, !tile, !acc
        }
        nv_tileas.async.pipeline.producer_commit %q[%j] dots : <2>
        %next = nv_tileas.async.pipeline.inc_iter %j of %q : <2>
        scf.yield %next : !it
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
!tile = !nv_tileas.memdesc<64x64xf16, #shared, align = 1024>
!words = !nv_tileas.memdesc<4xi64, #words>
!word = !nv_tileas.memdesc<1xi32, #word>
!accs = !nv_tileas.memdesc<64x64xf32, #rows, stages = 2, space = tensor>
!acc = !nv_tileas.memdesc<64x64xf32, #rows, space = tensor>
!sums = tensor<64x64xf32, #sums>
!it = !nv_tileas.pipeline_iterator

// Nothing tells the consumers that the dots are complete.
nv_tileaa.func @not_committed(%n: i32, %m: i32, %l: i32) attributes {numWarps = 5 : i64} {
  %a = nv_tileas.alloc_tensor offset 0 : !tile
  %b = nv_tileas.alloc_tensor offset 8192 : !tile
  %v = nv_tileas.alloc_tensor offset 16384 : !words
  // expected-error @below {{deadlock: agent 0 waits for full0[0]}}
  %q = nv_tileas.async.pipeline.create_pipeline %v phases [full = 1, empty = 4] : <4xi64, #words> -> <2>
  %start = nv_tileas.async.pipeline.create_iterator %q : <2>
  %slot = nv_tileas.alloc_tensor offset 16512 : !word
  nv_tileas.tmem_allocate %slot columns 128 : !word
  nv_tileas.barrier
  %accs = nv_tileas.alloc_tensor offset 0 : !accs
  nv_tileas.async.pipeline.agent_switch agents [<"consumers", warps = 4>, <"matrix", warps = 1>] {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : !sums
    %tiles = scf.for %i = %c0 to %m step %c1 iter_args(%j = %start) -> (!it) : i32 {
      %s = nv_tileas.async.pipeline.stage %j
      %acc = nv_tileas.memdesc_slot %accs[%s] : !accs -> !acc
      %t = nv_tileas.async.pipeline.consumer_wait %q[%j] : <2>
      nv_tileas.tmem_fence after
      %none = arith.cmpi sle, %n, %c0 : i32
      scf.if %none {
        nv_tileas.tmem_store %zero, %acc : !sums, !acc
      }
      %sum = nv_tileas.tmem_load %acc : !acc -> !sums
      nv_tileas.tmem_fence
      nv_tileas.async.pipeline.consumer_release %q[%j] : <2>
      %next = nv_tileas.async.pipeline.inc_iter %j of %q : <2>
      scf.yield %next : !it
    }
  }, {
    nv_tileas.async.elect {
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %tiles = scf.for %i = %c0 to %m step %c1 iter_args(%j = %start) -> (!it) : i32 {
        %s = nv_tileas.async.pipeline.stage %j
        %acc = nv_tileas.memdesc_slot %accs[%s] : !accs -> !acc
        %t = nv_tileas.async.pipeline.producer_acquire %q[%j] : <2>
        nv_tileas.tmem_fence after
        scf.for %k = %c0 to %n step %c1 : i32 {
          %more = arith.cmpi ne, %k, %c0 : i32
          nv_tileas.async.dot %a, %b, %acc accumulate %more by <tensor, [64, 64, 16]> : !tile, !tile, !acc
        }
        %next = nv_tileas.async.pipeline.inc_iter %j of %q : <2>
        scf.yield %next : !it
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
!tile = !nv_tileas.memdesc<64x64xf16, #shared, align = 1024>
!words = !nv_tileas.memdesc<4xi64, #words>
!word = !nv_tileas.memdesc<1xi32, #word>
!accs = !nv_tileas.memdesc<64x64xf32, #rows, stages = 2, space = tensor>
!acc = !nv_tileas.memdesc<64x64xf32, #rows, space = tensor>
!sums = tensor<64x64xf32, #sums>
!it = !nv_tileas.pipeline_iterator

// The consumers set the accumulator to zero if another loop would not run.
nv_tileaa.func @other_bound(%n: i32, %m: i32, %l: i32) attributes {numWarps = 5 : i64} {
  %a = nv_tileas.alloc_tensor offset 0 : !tile
  %b = nv_tileas.alloc_tensor offset 8192 : !tile
  %v = nv_tileas.alloc_tensor offset 16384 : !words
  // expected-error @below {{agent 0 reads ring0[0], which was never written}}
  %q = nv_tileas.async.pipeline.create_pipeline %v phases [full = 1, empty = 4] : <4xi64, #words> -> <2>
  %start = nv_tileas.async.pipeline.create_iterator %q : <2>
  %slot = nv_tileas.alloc_tensor offset 16512 : !word
  nv_tileas.tmem_allocate %slot columns 128 : !word
  nv_tileas.barrier
  %accs = nv_tileas.alloc_tensor offset 0 : !accs
  nv_tileas.async.pipeline.agent_switch agents [<"consumers", warps = 4>, <"matrix", warps = 1>] {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : !sums
    %tiles = scf.for %i = %c0 to %m step %c1 iter_args(%j = %start) -> (!it) : i32 {
      %s = nv_tileas.async.pipeline.stage %j
      %acc = nv_tileas.memdesc_slot %accs[%s] : !accs -> !acc
      %t = nv_tileas.async.pipeline.consumer_wait %q[%j] : <2>
      nv_tileas.tmem_fence after
      %none = arith.cmpi sle, %l, %c0 : i32
      scf.if %none {
        nv_tileas.tmem_store %zero, %acc : !sums, !acc
      }
      %sum = nv_tileas.tmem_load %acc : !acc -> !sums
      nv_tileas.tmem_fence
      nv_tileas.async.pipeline.consumer_release %q[%j] : <2>
      %next = nv_tileas.async.pipeline.inc_iter %j of %q : <2>
      scf.yield %next : !it
    }
  }, {
    nv_tileas.async.elect {
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %tiles = scf.for %i = %c0 to %m step %c1 iter_args(%j = %start) -> (!it) : i32 {
        %s = nv_tileas.async.pipeline.stage %j
        %acc = nv_tileas.memdesc_slot %accs[%s] : !accs -> !acc
        %t = nv_tileas.async.pipeline.producer_acquire %q[%j] : <2>
        nv_tileas.tmem_fence after
        scf.for %k = %c0 to %n step %c1 : i32 {
          %more = arith.cmpi ne, %k, %c0 : i32
          nv_tileas.async.dot %a, %b, %acc accumulate %more by <tensor, [64, 64, 16]> : !tile, !tile, !acc
        }
        nv_tileas.async.pipeline.producer_commit %q[%j] dots : <2>
        %next = nv_tileas.async.pipeline.inc_iter %j of %q : <2>
        scf.yield %next : !it
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
!tile = !nv_tileas.memdesc<64x64xf16, #shared, align = 1024>
!words = !nv_tileas.memdesc<4xi64, #words>
!word = !nv_tileas.memdesc<1xi32, #word>
!accs = !nv_tileas.memdesc<64x64xf32, #rows, stages = 2, space = tensor>
!acc = !nv_tileas.memdesc<64x64xf32, #rows, space = tensor>
!sums = tensor<64x64xf32, #sums>
!it = !nv_tileas.pipeline_iterator

// Each iteration computes the count, which is zero in some of them.
nv_tileaa.func @kept_by_iteration(%n: i32, %m: i32, %l: i32) attributes {numWarps = 5 : i64} {
  %a = nv_tileas.alloc_tensor offset 0 : !tile
  %b = nv_tileas.alloc_tensor offset 8192 : !tile
  %v = nv_tileas.alloc_tensor offset 16384 : !words
  %q = nv_tileas.async.pipeline.create_pipeline %v phases [full = 1, empty = 4] : <4xi64, #words> -> <2>
  %start = nv_tileas.async.pipeline.create_iterator %q : <2>
  %slot = nv_tileas.alloc_tensor offset 16512 : !word
  nv_tileas.tmem_allocate %slot columns 128 : !word
  nv_tileas.barrier
  %accs = nv_tileas.alloc_tensor offset 0 : !accs
  nv_tileas.async.pipeline.agent_switch agents [<"consumers", warps = 4>, <"matrix", warps = 1>] {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : !sums
    %tiles = scf.for %i = %c0 to %m step %c1 iter_args(%j = %start) -> (!it) : i32 {
      %s = nv_tileas.async.pipeline.stage %j
      %acc = nv_tileas.memdesc_slot %accs[%s] : !accs -> !acc
      %t = nv_tileas.async.pipeline.consumer_wait %q[%j] : <2>
      nv_tileas.tmem_fence after
      %none = arith.cmpi sle, %i, %c0 : i32
      scf.if %none {
        nv_tileas.tmem_store %zero, %acc : !sums, !acc
      }
      %sum = nv_tileas.tmem_load %acc : !acc -> !sums
      nv_tileas.tmem_fence
      nv_tileas.async.pipeline.consumer_release %q[%j] : <2>
      %next = nv_tileas.async.pipeline.inc_iter %j of %q : <2>
      scf.yield %next : !it
    }
  }, {
    nv_tileas.async.elect {
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %tiles = scf.for %i = %c0 to %m step %c1 iter_args(%j = %start) -> (!it) : i32 {
        %s = nv_tileas.async.pipeline.stage %j
        %acc = nv_tileas.memdesc_slot %accs[%s] : !accs -> !acc
        %t = nv_tileas.async.pipeline.producer_acquire %q[%j] : <2>
        nv_tileas.tmem_fence after
        scf.for %k = %c0 to %i step %c1 : i32 {
          %more = arith.cmpi ne, %k, %c0 : i32
          nv_tileas.async.dot %a, %b, %acc accumulate %more by <tensor, [64, 64, 16]> : !tile, !tile, !acc
        }
        nv_tileas.async.pipeline.producer_commit %q[%j] dots : <2>
        %next = nv_tileas.async.pipeline.inc_iter %j of %q : <2>
        scf.yield %next : !it
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
!tile = !nv_tileas.memdesc<64x64xf16, #shared, align = 1024>
!words = !nv_tileas.memdesc<4xi64, #words>
!word = !nv_tileas.memdesc<1xi32, #word>
!accs = !nv_tileas.memdesc<64x64xf32, #rows, stages = 2, space = tensor>
!acc = !nv_tileas.memdesc<64x64xf32, #rows, space = tensor>
!sums = tensor<64x64xf32, #sums>
!it = !nv_tileas.pipeline_iterator

// The count may be zero in any iteration.
nv_tileaa.func @nothing_stored_by_iteration(%n: i32, %m: i32, %l: i32) attributes {numWarps = 5 : i64} {
  %a = nv_tileas.alloc_tensor offset 0 : !tile
  %b = nv_tileas.alloc_tensor offset 8192 : !tile
  %v = nv_tileas.alloc_tensor offset 16384 : !words
  // expected-error @below {{agent 0 reads ring0[0], which was never written}}
  %q = nv_tileas.async.pipeline.create_pipeline %v phases [full = 1, empty = 4] : <4xi64, #words> -> <2>
  %start = nv_tileas.async.pipeline.create_iterator %q : <2>
  %slot = nv_tileas.alloc_tensor offset 16512 : !word
  nv_tileas.tmem_allocate %slot columns 128 : !word
  nv_tileas.barrier
  %accs = nv_tileas.alloc_tensor offset 0 : !accs
  nv_tileas.async.pipeline.agent_switch agents [<"consumers", warps = 4>, <"matrix", warps = 1>] {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : !sums
    %tiles = scf.for %i = %c0 to %m step %c1 iter_args(%j = %start) -> (!it) : i32 {
      %s = nv_tileas.async.pipeline.stage %j
      %acc = nv_tileas.memdesc_slot %accs[%s] : !accs -> !acc
      %t = nv_tileas.async.pipeline.consumer_wait %q[%j] : <2>
      nv_tileas.tmem_fence after
      %sum = nv_tileas.tmem_load %acc : !acc -> !sums
      nv_tileas.tmem_fence
      nv_tileas.async.pipeline.consumer_release %q[%j] : <2>
      %next = nv_tileas.async.pipeline.inc_iter %j of %q : <2>
      scf.yield %next : !it
    }
  }, {
    nv_tileas.async.elect {
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %tiles = scf.for %i = %c0 to %m step %c1 iter_args(%j = %start) -> (!it) : i32 {
        %s = nv_tileas.async.pipeline.stage %j
        %acc = nv_tileas.memdesc_slot %accs[%s] : !accs -> !acc
        %t = nv_tileas.async.pipeline.producer_acquire %q[%j] : <2>
        nv_tileas.tmem_fence after
        scf.for %k = %c0 to %i step %c1 : i32 {
          %more = arith.cmpi ne, %k, %c0 : i32
          nv_tileas.async.dot %a, %b, %acc accumulate %more by <tensor, [64, 64, 16]> : !tile, !tile, !acc
        }
        nv_tileas.async.pipeline.producer_commit %q[%j] dots : <2>
        %next = nv_tileas.async.pipeline.inc_iter %j of %q : <2>
        scf.yield %next : !it
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
!tile = !nv_tileas.memdesc<64x64xf16, #shared, align = 1024>
!words = !nv_tileas.memdesc<4xi64, #words>
!word = !nv_tileas.memdesc<1xi32, #word>
!accs = !nv_tileas.memdesc<64x64xf32, #rows, stages = 2, space = tensor>
!acc = !nv_tileas.memdesc<64x64xf32, #rows, space = tensor>
!sums = tensor<64x64xf32, #sums>
!it = !nv_tileas.pipeline_iterator

// Two loops whose counts differ.
nv_tileaa.func @kept_in_two_loops(%n: i32, %m: i32, %l: i32) attributes {numWarps = 5 : i64} {
  %a = nv_tileas.alloc_tensor offset 0 : !tile
  %b = nv_tileas.alloc_tensor offset 8192 : !tile
  %v = nv_tileas.alloc_tensor offset 16384 : !words
  %q = nv_tileas.async.pipeline.create_pipeline %v phases [full = 1, empty = 4] : <4xi64, #words> -> <2>
  %start = nv_tileas.async.pipeline.create_iterator %q : <2>
  %slot = nv_tileas.alloc_tensor offset 16512 : !word
  nv_tileas.tmem_allocate %slot columns 128 : !word
  nv_tileas.barrier
  %accs = nv_tileas.alloc_tensor offset 0 : !accs
  nv_tileas.async.pipeline.agent_switch agents [<"consumers", warps = 4>, <"matrix", warps = 1>] {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : !sums
    %tiles = scf.for %i = %c0 to %m step %c1 iter_args(%j = %start) -> (!it) : i32 {
      %s = nv_tileas.async.pipeline.stage %j
      %acc = nv_tileas.memdesc_slot %accs[%s] : !accs -> !acc
      %t = nv_tileas.async.pipeline.consumer_wait %q[%j] : <2>
      nv_tileas.tmem_fence after
      %none = arith.cmpi sle, %n, %c0 : i32
      scf.if %none {
        nv_tileas.tmem_store %zero, %acc : !sums, !acc
      }
      %sum = nv_tileas.tmem_load %acc : !acc -> !sums
      nv_tileas.tmem_fence
      nv_tileas.async.pipeline.consumer_release %q[%j] : <2>
      %next = nv_tileas.async.pipeline.inc_iter %j of %q : <2>
      %s2 = nv_tileas.async.pipeline.stage %next
      %acc2 = nv_tileas.memdesc_slot %accs[%s2] : !accs -> !acc
      %t2 = nv_tileas.async.pipeline.consumer_wait %q[%next] : <2>
      nv_tileas.tmem_fence after
      %none2 = arith.cmpi sle, %l, %c0 : i32
      scf.if %none2 {
        nv_tileas.tmem_store %zero, %acc2 : !sums, !acc
      }
      %sum2 = nv_tileas.tmem_load %acc2 : !acc -> !sums
      nv_tileas.tmem_fence
      nv_tileas.async.pipeline.consumer_release %q[%next] : <2>
      %next2 = nv_tileas.async.pipeline.inc_iter %next of %q : <2>
      scf.yield %next2 : !it
    }
  }, {
    nv_tileas.async.elect {
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %tiles = scf.for %i = %c0 to %m step %c1 iter_args(%j = %start) -> (!it) : i32 {
        %s = nv_tileas.async.pipeline.stage %j
        %acc = nv_tileas.memdesc_slot %accs[%s] : !accs -> !acc
        %t = nv_tileas.async.pipeline.producer_acquire %q[%j] : <2>
        nv_tileas.tmem_fence after
        scf.for %k = %c0 to %n step %c1 : i32 {
          %more = arith.cmpi ne, %k, %c0 : i32
          nv_tileas.async.dot %a, %b, %acc accumulate %more by <tensor, [64, 64, 16]> : !tile, !tile, !acc
        }
        nv_tileas.async.pipeline.producer_commit %q[%j] dots : <2>
        %next = nv_tileas.async.pipeline.inc_iter %j of %q : <2>
        %s2 = nv_tileas.async.pipeline.stage %next
        %acc2 = nv_tileas.memdesc_slot %accs[%s2] : !accs -> !acc
        %t2 = nv_tileas.async.pipeline.producer_acquire %q[%next] : <2>
        nv_tileas.tmem_fence after
        scf.for %k = %c0 to %l step %c1 : i32 {
          %more = arith.cmpi ne, %k, %c0 : i32
          nv_tileas.async.dot %a, %b, %acc2 accumulate %more by <tensor, [64, 64, 16]> : !tile, !tile, !acc
        }
        nv_tileas.async.pipeline.producer_commit %q[%next] dots : <2>
        %next2 = nv_tileas.async.pipeline.inc_iter %next of %q : <2>
        scf.yield %next2 : !it
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
!tile = !nv_tileas.memdesc<64x64xf16, #shared, align = 1024>
!words = !nv_tileas.memdesc<4xi64, #words>
!word = !nv_tileas.memdesc<1xi32, #word>
!accs = !nv_tileas.memdesc<64x64xf32, #rows, stages = 2, space = tensor>
!acc = !nv_tileas.memdesc<64x64xf32, #rows, space = tensor>
!sums = tensor<64x64xf32, #sums>
!it = !nv_tileas.pipeline_iterator

// The consumers test the bounds of two loops in the wrong order.
nv_tileaa.func @exchanged_bounds(%n: i32, %m: i32, %l: i32) attributes {numWarps = 5 : i64} {
  %a = nv_tileas.alloc_tensor offset 0 : !tile
  %b = nv_tileas.alloc_tensor offset 8192 : !tile
  %v = nv_tileas.alloc_tensor offset 16384 : !words
  // expected-error @below {{agent 0 reads ring0[0], which was never written}}
  %q = nv_tileas.async.pipeline.create_pipeline %v phases [full = 1, empty = 4] : <4xi64, #words> -> <2>
  %start = nv_tileas.async.pipeline.create_iterator %q : <2>
  %slot = nv_tileas.alloc_tensor offset 16512 : !word
  nv_tileas.tmem_allocate %slot columns 128 : !word
  nv_tileas.barrier
  %accs = nv_tileas.alloc_tensor offset 0 : !accs
  nv_tileas.async.pipeline.agent_switch agents [<"consumers", warps = 4>, <"matrix", warps = 1>] {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : !sums
    %tiles = scf.for %i = %c0 to %m step %c1 iter_args(%j = %start) -> (!it) : i32 {
      %s = nv_tileas.async.pipeline.stage %j
      %acc = nv_tileas.memdesc_slot %accs[%s] : !accs -> !acc
      %t = nv_tileas.async.pipeline.consumer_wait %q[%j] : <2>
      nv_tileas.tmem_fence after
      %none = arith.cmpi sle, %l, %c0 : i32
      scf.if %none {
        nv_tileas.tmem_store %zero, %acc : !sums, !acc
      }
      %sum = nv_tileas.tmem_load %acc : !acc -> !sums
      nv_tileas.tmem_fence
      nv_tileas.async.pipeline.consumer_release %q[%j] : <2>
      %next = nv_tileas.async.pipeline.inc_iter %j of %q : <2>
      %s2 = nv_tileas.async.pipeline.stage %next
      %acc2 = nv_tileas.memdesc_slot %accs[%s2] : !accs -> !acc
      %t2 = nv_tileas.async.pipeline.consumer_wait %q[%next] : <2>
      nv_tileas.tmem_fence after
      %none2 = arith.cmpi sle, %n, %c0 : i32
      scf.if %none2 {
        nv_tileas.tmem_store %zero, %acc2 : !sums, !acc
      }
      %sum2 = nv_tileas.tmem_load %acc2 : !acc -> !sums
      nv_tileas.tmem_fence
      nv_tileas.async.pipeline.consumer_release %q[%next] : <2>
      %next2 = nv_tileas.async.pipeline.inc_iter %next of %q : <2>
      scf.yield %next2 : !it
    }
  }, {
    nv_tileas.async.elect {
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %tiles = scf.for %i = %c0 to %m step %c1 iter_args(%j = %start) -> (!it) : i32 {
        %s = nv_tileas.async.pipeline.stage %j
        %acc = nv_tileas.memdesc_slot %accs[%s] : !accs -> !acc
        %t = nv_tileas.async.pipeline.producer_acquire %q[%j] : <2>
        nv_tileas.tmem_fence after
        scf.for %k = %c0 to %n step %c1 : i32 {
          %more = arith.cmpi ne, %k, %c0 : i32
          nv_tileas.async.dot %a, %b, %acc accumulate %more by <tensor, [64, 64, 16]> : !tile, !tile, !acc
        }
        nv_tileas.async.pipeline.producer_commit %q[%j] dots : <2>
        %next = nv_tileas.async.pipeline.inc_iter %j of %q : <2>
        %s2 = nv_tileas.async.pipeline.stage %next
        %acc2 = nv_tileas.memdesc_slot %accs[%s2] : !accs -> !acc
        %t2 = nv_tileas.async.pipeline.producer_acquire %q[%next] : <2>
        nv_tileas.tmem_fence after
        scf.for %k = %c0 to %l step %c1 : i32 {
          %more = arith.cmpi ne, %k, %c0 : i32
          nv_tileas.async.dot %a, %b, %acc2 accumulate %more by <tensor, [64, 64, 16]> : !tile, !tile, !acc
        }
        nv_tileas.async.pipeline.producer_commit %q[%next] dots : <2>
        %next2 = nv_tileas.async.pipeline.inc_iter %next of %q : <2>
        scf.yield %next2 : !it
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
!tile = !nv_tileas.memdesc<64x64xf16, #shared, align = 1024>
!words = !nv_tileas.memdesc<4xi64, #words>
!word = !nv_tileas.memdesc<1xi32, #word>
!accs = !nv_tileas.memdesc<64x64xf32, #rows, stages = 2, space = tensor>
!acc = !nv_tileas.memdesc<64x64xf32, #rows, space = tensor>
!sums = tensor<64x64xf32, #sums>
!it = !nv_tileas.pipeline_iterator
!ring = !nv_tileas.memdesc<64x64xf16, #shared, stages = 2, align = 1024>
!view = !nv_tileaa.tiled_view<tile = [64, 64], memref<64x64xf16, strides = [64, 1]>>
!desc = !nv_tileas.tma_desc<f16, dims = [1, 0], box = [64, 64], steps = [1, 1], swizzle = 128, fill = zero>

// Operands that a producer loads before the loop.
nv_tileaa.func @kept_operands(%view: !view, %desc: !desc, %n: i32, %m: i32, %l: i32) attributes {numWarps = 6 : i64} {
  %a = nv_tileas.alloc_tensor offset 0 : !ring
  %b = nv_tileas.alloc_tensor offset 16384 : !ring
  %v = nv_tileas.alloc_tensor offset 32768 : !words
  %q = nv_tileas.async.pipeline.create_pipeline %v phases [full = 1, empty = 4] : <4xi64, #words> -> <2>
  %start = nv_tileas.async.pipeline.create_iterator %q : <2>
  %w = nv_tileas.alloc_tensor offset 32896 : !words
  %p = nv_tileas.async.pipeline.create_pipeline %w phases [full = 1, empty = 1] : <4xi64, #words> -> <2>
  %first = nv_tileas.async.pipeline.create_iterator %p : <2>
  %slot = nv_tileas.alloc_tensor offset 33024 : !word
  nv_tileas.tmem_allocate %slot columns 128 : !word
  nv_tileas.barrier
  %accs = nv_tileas.alloc_tensor offset 0 : !accs
  nv_tileas.async.pipeline.agent_switch agents [<"consumers", warps = 4>, <"matrix", warps = 1>, <"producer", warps = 1>] {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : !sums
    %tiles:2 = scf.for %i = %c0 to %m step %c1 iter_args(%j = %start, %it = %first) -> (!it, !it) : i32 {
      %s = nv_tileas.async.pipeline.stage %j
      %acc = nv_tileas.memdesc_slot %accs[%s] : !accs -> !acc
      %t = nv_tileas.async.pipeline.consumer_wait %q[%j] : <2>
      nv_tileas.tmem_fence after
      %none = arith.cmpi sle, %n, %c0 : i32
      scf.if %none {
        nv_tileas.tmem_store %zero, %acc : !sums, !acc
      }
      %sum = nv_tileas.tmem_load %acc : !acc -> !sums
      nv_tileas.tmem_fence
      nv_tileas.async.pipeline.consumer_release %q[%j] : <2>
      %next = nv_tileas.async.pipeline.inc_iter %j of %q : <2>
      %after = nv_tileas.async.pipeline.inc_iter %it of %p : <2>
      scf.yield %next, %after : !it, !it
    }
  }, {
    nv_tileas.async.elect {
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %tiles:2 = scf.for %i = %c0 to %m step %c1 iter_args(%j = %start, %it = %first) -> (!it, !it) : i32 {
        %s = nv_tileas.async.pipeline.stage %j
        %acc = nv_tileas.memdesc_slot %accs[%s] : !accs -> !acc
        %t = nv_tileas.async.pipeline.producer_acquire %q[%j] : <2>
        nv_tileas.tmem_fence after
        %full = nv_tileas.async.pipeline.consumer_wait %p[%it] : <2>
        %u = nv_tileas.async.pipeline.stage %it
        %x = nv_tileas.memdesc_slot %a[%u] : !ring -> !tile
        %y = nv_tileas.memdesc_slot %b[%u] : !ring -> !tile
        scf.for %k = %c0 to %n step %c1 : i32 {
          %more = arith.cmpi ne, %k, %c0 : i32
          nv_tileas.async.dot %x, %y, %acc accumulate %more by <tensor, [64, 64, 16]> : !tile, !tile, !acc
        }
        nv_tileas.async.pipeline.producer_commit %q[%j] dots : <2>
        %next = nv_tileas.async.pipeline.inc_iter %j of %q : <2>
        nv_tileas.async.pipeline.consumer_release %p[%it] dots : <2>
        %after = nv_tileas.async.pipeline.inc_iter %it of %p : <2>
        scf.yield %next, %after : !it, !it
      }
    }
  }, {
    nv_tileas.async.elect {
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %tiles = scf.for %i = %c0 to %m step %c1 iter_args(%it = %first) -> (!it) : i32 {
        %t = nv_tileas.async.pipeline.producer_acquire %p[%it] bytes 16384 : <2>
        %s = nv_tileas.async.pipeline.stage %it
        %x = nv_tileas.memdesc_slot %a[%s] : !ring -> !tile
        %y = nv_tileas.memdesc_slot %b[%s] : !ring -> !tile
        nv_tileas.async.tiled_tma_load %view[%i, %c0] by %desc into %x arrive %t : !view[i32, i32], !desc -> !tile
        nv_tileas.async.tiled_tma_load %view[%c0, %i] by %desc into %y arrive %t : !view[i32, i32], !desc -> !tile
        %next = nv_tileas.async.pipeline.inc_iter %it of %p : <2>
        scf.yield %next : !it
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
!tile = !nv_tileas.memdesc<64x64xf16, #shared, align = 1024>
!words = !nv_tileas.memdesc<4xi64, #words>
!word = !nv_tileas.memdesc<1xi32, #word>
!accs = !nv_tileas.memdesc<64x64xf32, #rows, stages = 2, space = tensor>
!acc = !nv_tileas.memdesc<64x64xf32, #rows, space = tensor>
!sums = tensor<64x64xf32, #sums>
!it = !nv_tileas.pipeline_iterator
!ring = !nv_tileas.memdesc<64x64xf16, #shared, stages = 2, align = 1024>
!view = !nv_tileaa.tiled_view<tile = [64, 64], memref<64x64xf16, strides = [64, 1]>>
!desc = !nv_tileas.tma_desc<f16, dims = [1, 0], box = [64, 64], steps = [1, 1], swizzle = 128, fill = zero>

// The wait for the operands follows the loop. A loop that does not run reads none.
nv_tileaa.func @operands_awaited_late(%view: !view, %desc: !desc, %n: i32, %m: i32, %l: i32) attributes {numWarps = 6 : i64} {
  %a = nv_tileas.alloc_tensor offset 0 : !ring
  %b = nv_tileas.alloc_tensor offset 16384 : !ring
  %v = nv_tileas.alloc_tensor offset 32768 : !words
  // expected-error @below {{agent 1 reads ring1[0], which was never written}}
  %q = nv_tileas.async.pipeline.create_pipeline %v phases [full = 1, empty = 4] : <4xi64, #words> -> <2>
  %start = nv_tileas.async.pipeline.create_iterator %q : <2>
  %w = nv_tileas.alloc_tensor offset 32896 : !words
  %p = nv_tileas.async.pipeline.create_pipeline %w phases [full = 1, empty = 1] : <4xi64, #words> -> <2>
  %first = nv_tileas.async.pipeline.create_iterator %p : <2>
  %slot = nv_tileas.alloc_tensor offset 33024 : !word
  nv_tileas.tmem_allocate %slot columns 128 : !word
  nv_tileas.barrier
  %accs = nv_tileas.alloc_tensor offset 0 : !accs
  nv_tileas.async.pipeline.agent_switch agents [<"consumers", warps = 4>, <"matrix", warps = 1>, <"producer", warps = 1>] {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : !sums
    %tiles:2 = scf.for %i = %c0 to %m step %c1 iter_args(%j = %start, %it = %first) -> (!it, !it) : i32 {
      %s = nv_tileas.async.pipeline.stage %j
      %acc = nv_tileas.memdesc_slot %accs[%s] : !accs -> !acc
      %t = nv_tileas.async.pipeline.consumer_wait %q[%j] : <2>
      nv_tileas.tmem_fence after
      %none = arith.cmpi sle, %n, %c0 : i32
      scf.if %none {
        nv_tileas.tmem_store %zero, %acc : !sums, !acc
      }
      %sum = nv_tileas.tmem_load %acc : !acc -> !sums
      nv_tileas.tmem_fence
      nv_tileas.async.pipeline.consumer_release %q[%j] : <2>
      %next = nv_tileas.async.pipeline.inc_iter %j of %q : <2>
      %after = nv_tileas.async.pipeline.inc_iter %it of %p : <2>
      scf.yield %next, %after : !it, !it
    }
  }, {
    nv_tileas.async.elect {
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %tiles:2 = scf.for %i = %c0 to %m step %c1 iter_args(%j = %start, %it = %first) -> (!it, !it) : i32 {
        %s = nv_tileas.async.pipeline.stage %j
        %acc = nv_tileas.memdesc_slot %accs[%s] : !accs -> !acc
        %t = nv_tileas.async.pipeline.producer_acquire %q[%j] : <2>
        nv_tileas.tmem_fence after
        %u = nv_tileas.async.pipeline.stage %it
        %x = nv_tileas.memdesc_slot %a[%u] : !ring -> !tile
        %y = nv_tileas.memdesc_slot %b[%u] : !ring -> !tile
        scf.for %k = %c0 to %n step %c1 : i32 {
          %more = arith.cmpi ne, %k, %c0 : i32
          nv_tileas.async.dot %x, %y, %acc accumulate %more by <tensor, [64, 64, 16]> : !tile, !tile, !acc
        }
        nv_tileas.async.pipeline.producer_commit %q[%j] dots : <2>
        %next = nv_tileas.async.pipeline.inc_iter %j of %q : <2>
        %full = nv_tileas.async.pipeline.consumer_wait %p[%it] : <2>
        nv_tileas.async.pipeline.consumer_release %p[%it] dots : <2>
        %after = nv_tileas.async.pipeline.inc_iter %it of %p : <2>
        scf.yield %next, %after : !it, !it
      }
    }
  }, {
    nv_tileas.async.elect {
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %tiles = scf.for %i = %c0 to %m step %c1 iter_args(%it = %first) -> (!it) : i32 {
        %t = nv_tileas.async.pipeline.producer_acquire %p[%it] bytes 16384 : <2>
        %s = nv_tileas.async.pipeline.stage %it
        %x = nv_tileas.memdesc_slot %a[%s] : !ring -> !tile
        %y = nv_tileas.memdesc_slot %b[%s] : !ring -> !tile
        nv_tileas.async.tiled_tma_load %view[%i, %c0] by %desc into %x arrive %t : !view[i32, i32], !desc -> !tile
        nv_tileas.async.tiled_tma_load %view[%c0, %i] by %desc into %y arrive %t : !view[i32, i32], !desc -> !tile
        %next = nv_tileas.async.pipeline.inc_iter %it of %p : <2>
        scf.yield %next : !it
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
!tile = !nv_tileas.memdesc<64x64xf16, #shared, align = 1024>
!words = !nv_tileas.memdesc<4xi64, #words>
!word = !nv_tileas.memdesc<1xi32, #word>
!accs = !nv_tileas.memdesc<64x64xf32, #rows, stages = 2, space = tensor>
!acc = !nv_tileas.memdesc<64x64xf32, #rows, space = tensor>
!sums = tensor<64x64xf32, #sums>
!it = !nv_tileas.pipeline_iterator
!ring = !nv_tileas.memdesc<64x64xf16, #shared, stages = 2, align = 1024>
!view = !nv_tileaa.tiled_view<tile = [64, 64], memref<64x64xf16, strides = [64, 1]>>
!desc = !nv_tileas.tma_desc<f16, dims = [1, 0], box = [64, 64], steps = [1, 1], swizzle = 128, fill = zero>

// The completion of the dots before the loop releases the operands of the loop.
nv_tileaa.func @operands_released_early(%view: !view, %desc: !desc, %n: i32, %m: i32, %l: i32) attributes {numWarps = 6 : i64} {
  %a = nv_tileas.alloc_tensor offset 0 : !ring
  %b = nv_tileas.alloc_tensor offset 16384 : !ring
  %v = nv_tileas.alloc_tensor offset 32768 : !words
  // expected-error @below {{agent 2 may overwrite ring1[0] while it is in use}}
  %q = nv_tileas.async.pipeline.create_pipeline %v phases [full = 1, empty = 4] : <4xi64, #words> -> <2>
  %start = nv_tileas.async.pipeline.create_iterator %q : <2>
  %w = nv_tileas.alloc_tensor offset 32896 : !words
  %p = nv_tileas.async.pipeline.create_pipeline %w phases [full = 1, empty = 1] : <4xi64, #words> -> <2>
  %first = nv_tileas.async.pipeline.create_iterator %p : <2>
  %slot = nv_tileas.alloc_tensor offset 33024 : !word
  nv_tileas.tmem_allocate %slot columns 128 : !word
  nv_tileas.barrier
  %accs = nv_tileas.alloc_tensor offset 0 : !accs
  nv_tileas.async.pipeline.agent_switch agents [<"consumers", warps = 4>, <"matrix", warps = 1>, <"producer", warps = 1>] {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : !sums
    %tiles:2 = scf.for %i = %c0 to %m step %c1 iter_args(%j = %start, %it = %first) -> (!it, !it) : i32 {
      %s = nv_tileas.async.pipeline.stage %j
      %acc = nv_tileas.memdesc_slot %accs[%s] : !accs -> !acc
      %t = nv_tileas.async.pipeline.consumer_wait %q[%j] : <2>
      nv_tileas.tmem_fence after
      %none = arith.cmpi sle, %n, %c0 : i32
      scf.if %none {
        nv_tileas.tmem_store %zero, %acc : !sums, !acc
      }
      %sum = nv_tileas.tmem_load %acc : !acc -> !sums
      nv_tileas.tmem_fence
      nv_tileas.async.pipeline.consumer_release %q[%j] : <2>
      %next = nv_tileas.async.pipeline.inc_iter %j of %q : <2>
      %after = nv_tileas.async.pipeline.inc_iter %it of %p : <2>
      scf.yield %next, %after : !it, !it
    }
  }, {
    nv_tileas.async.elect {
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %tiles:2 = scf.for %i = %c0 to %m step %c1 iter_args(%j = %start, %it = %first) -> (!it, !it) : i32 {
        %s = nv_tileas.async.pipeline.stage %j
        %acc = nv_tileas.memdesc_slot %accs[%s] : !accs -> !acc
        %t = nv_tileas.async.pipeline.producer_acquire %q[%j] : <2>
        nv_tileas.tmem_fence after
        %full = nv_tileas.async.pipeline.consumer_wait %p[%it] : <2>
        %u = nv_tileas.async.pipeline.stage %it
        %x = nv_tileas.memdesc_slot %a[%u] : !ring -> !tile
        %y = nv_tileas.memdesc_slot %b[%u] : !ring -> !tile
        nv_tileas.async.pipeline.consumer_release %p[%it] dots : <2>
        scf.for %k = %c0 to %n step %c1 : i32 {
          %more = arith.cmpi ne, %k, %c0 : i32
          nv_tileas.async.dot %x, %y, %acc accumulate %more by <tensor, [64, 64, 16]> : !tile, !tile, !acc
        }
        nv_tileas.async.pipeline.producer_commit %q[%j] dots : <2>
        %next = nv_tileas.async.pipeline.inc_iter %j of %q : <2>
        %after = nv_tileas.async.pipeline.inc_iter %it of %p : <2>
        scf.yield %next, %after : !it, !it
      }
    }
  }, {
    nv_tileas.async.elect {
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %tiles = scf.for %i = %c0 to %m step %c1 iter_args(%it = %first) -> (!it) : i32 {
        %t = nv_tileas.async.pipeline.producer_acquire %p[%it] bytes 16384 : <2>
        %s = nv_tileas.async.pipeline.stage %it
        %x = nv_tileas.memdesc_slot %a[%s] : !ring -> !tile
        %y = nv_tileas.memdesc_slot %b[%s] : !ring -> !tile
        nv_tileas.async.tiled_tma_load %view[%i, %c0] by %desc into %x arrive %t : !view[i32, i32], !desc -> !tile
        nv_tileas.async.tiled_tma_load %view[%c0, %i] by %desc into %y arrive %t : !view[i32, i32], !desc -> !tile
        %next = nv_tileas.async.pipeline.inc_iter %it of %p : <2>
        scf.yield %next : !it
      }
    }
  }
  nv_tileas.tmem_free columns 128
  nv_tileaa.return
}
