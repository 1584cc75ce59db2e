// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileas-check-synchronization)' --split-input-file --verify-diagnostics
// Agents without some of the loops: the correct protocols, and the reports if they are broken.

#registers = #nv_tileas.layout<register = [1, 2, 4, 8, 16, 32, 64], lane = [128, 256, 512, 1024, 2048], warp = [4096, 8192]>
#from = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64, 144, 288, 576, 1024, 2048, 4096, 8192]>
#to = #nv_tileas.shared_layout<offset = [128, 256, 512, 1024, 2048, 4096, 8192, 2049, 4098, 8196, 8, 16, 32, 64]>
#words = #nv_tileas.shared_layout<offset = [1, 2, 4]>
!ring = !nv_tileas.memdesc<128x128xi8, #from, stages = 2, align = 1024>
!stage = !nv_tileas.memdesc<128x128xi8, #from, align = 1024>
!turned = !nv_tileas.memdesc<128x128xi8, #to, align = 1024>
!tile = tensor<128x128xi8, #registers>
!it = !nv_tileas.pipeline_iterator

// The converter has work in the second loop only.
nv_tileaa.func @second_only(%n: i32, %m: i32) attributes {numWarps = 12 : i64} {
  %a = nv_tileas.alloc_tensor offset 0 : !ring
  %b = nv_tileas.alloc_tensor offset 32768 : !ring
  %v = nv_tileas.alloc_tensor offset 65536 : <8xi64, #words>
  %w = nv_tileas.alloc_tensor offset 65664 : <8xi64, #words>
  %p = nv_tileas.async.pipeline.create_pipeline %v phases [full = 4, empty = 4] : <8xi64, #words> -> <2>
  %q = nv_tileas.async.pipeline.create_pipeline %w phases [full = 4, empty = 4, converted = 4] : <8xi64, #words> -> <2>
  %first_a = nv_tileas.async.pipeline.create_iterator %p : <2>
  %first_b = nv_tileas.async.pipeline.create_iterator %q : <2>
  nv_tileas.barrier
  nv_tileas.async.pipeline.agent_switch agents [<"consumers", warps = 4>, <"producer", warps = 4>, <"converter", warps = 4>] {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %all_a = scf.for %k = %c0 to %n step %c1 iter_args(%it = %first_a) -> (!it) : i32 {
      %t = nv_tileas.async.pipeline.consumer_wait %p[%it] : <2>
      %s = nv_tileas.async.pipeline.stage %it
      %x = nv_tileas.memdesc_slot %a[%s] : !ring -> !stage
      %value = nv_tileas.local_load %x vector 1 : !stage -> !tile
      nv_tileas.async.pipeline.consumer_release %p[%it] : <2>
      %next = nv_tileas.async.pipeline.inc_iter %it of %p : <2>
      scf.yield %next : !it
    }
    %all_b = scf.for %k = %c0 to %m step %c1 iter_args(%it = %first_b) -> (!it) : i32 {
      %t = nv_tileas.async.pipeline.consumer_wait %q[%it] at converted : <2>
      %s = nv_tileas.async.pipeline.stage %it
      %x = nv_tileas.memdesc_slot %b[%s] : !ring -> !stage
      %value = nv_tileas.local_load %x vector 1 : !stage -> !tile
      nv_tileas.async.pipeline.consumer_release %q[%it] : <2>
      %next = nv_tileas.async.pipeline.inc_iter %it of %q : <2>
      scf.yield %next : !it
    }
  }, {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %tile = arith.constant dense<1> : !tile
    %all_a = scf.for %k = %c0 to %n step %c1 iter_args(%it = %first_a) -> (!it) : i32 {
      %t = nv_tileas.async.pipeline.producer_acquire %p[%it] : <2>
      %s = nv_tileas.async.pipeline.stage %it
      %x = nv_tileas.memdesc_slot %a[%s] : !ring -> !stage
      nv_tileas.local_store %tile, %x vector 16 : !tile, !stage
      nv_tileas.async.pipeline.producer_commit %p[%it] : <2>
      %next = nv_tileas.async.pipeline.inc_iter %it of %p : <2>
      scf.yield %next : !it
    }
    %all_b = scf.for %k = %c0 to %m step %c1 iter_args(%it = %first_b) -> (!it) : i32 {
      %t = nv_tileas.async.pipeline.producer_acquire %q[%it] : <2>
      %s = nv_tileas.async.pipeline.stage %it
      %x = nv_tileas.memdesc_slot %b[%s] : !ring -> !stage
      nv_tileas.local_store %tile, %x vector 16 : !tile, !stage
      nv_tileas.async.pipeline.producer_commit %q[%it] : <2>
      %next = nv_tileas.async.pipeline.inc_iter %it of %q : <2>
      scf.yield %next : !it
    }
  }, {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %all_b = scf.for %k = %c0 to %m step %c1 iter_args(%it = %first_b) -> (!it) : i32 {
      %t = nv_tileas.async.pipeline.consumer_wait %q[%it] : <2>
      %s = nv_tileas.async.pipeline.stage %it
      %x = nv_tileas.memdesc_slot %b[%s] : !ring -> !stage
      %y = nv_tileas.memdesc_reinterpret %x : !stage -> !turned
      nv_tileas.local_transpose %x, %y : !stage, !turned
      nv_tileas.async.pipeline.producer_commit %q[%it] at converted : <2>
      %next = nv_tileas.async.pipeline.inc_iter %it of %q : <2>
      scf.yield %next : !it
    }
  }
  nv_tileaa.return
}

// -----

#registers = #nv_tileas.layout<register = [1, 2, 4, 8, 16, 32, 64], lane = [128, 256, 512, 1024, 2048], warp = [4096, 8192]>
#from = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64, 144, 288, 576, 1024, 2048, 4096, 8192]>
#to = #nv_tileas.shared_layout<offset = [128, 256, 512, 1024, 2048, 4096, 8192, 2049, 4098, 8196, 8, 16, 32, 64]>
#words = #nv_tileas.shared_layout<offset = [1, 2, 4]>
!ring = !nv_tileas.memdesc<128x128xi8, #from, stages = 2, align = 1024>
!stage = !nv_tileas.memdesc<128x128xi8, #from, align = 1024>
!turned = !nv_tileas.memdesc<128x128xi8, #to, align = 1024>
!tile = tensor<128x128xi8, #registers>
!it = !nv_tileas.pipeline_iterator

// The agent with fewer loops is the first.
nv_tileaa.func @converter_first(%n: i32, %m: i32) attributes {numWarps = 12 : i64} {
  %a = nv_tileas.alloc_tensor offset 0 : !ring
  %b = nv_tileas.alloc_tensor offset 32768 : !ring
  %v = nv_tileas.alloc_tensor offset 65536 : <8xi64, #words>
  %w = nv_tileas.alloc_tensor offset 65664 : <8xi64, #words>
  %p = nv_tileas.async.pipeline.create_pipeline %v phases [full = 4, empty = 4] : <8xi64, #words> -> <2>
  %q = nv_tileas.async.pipeline.create_pipeline %w phases [full = 4, empty = 4, converted = 4] : <8xi64, #words> -> <2>
  %first_a = nv_tileas.async.pipeline.create_iterator %p : <2>
  %first_b = nv_tileas.async.pipeline.create_iterator %q : <2>
  nv_tileas.barrier
  nv_tileas.async.pipeline.agent_switch agents [<"converter", warps = 4>, <"consumers", warps = 4>, <"producer", warps = 4>] {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %all_b = scf.for %k = %c0 to %m step %c1 iter_args(%it = %first_b) -> (!it) : i32 {
      %t = nv_tileas.async.pipeline.consumer_wait %q[%it] : <2>
      %s = nv_tileas.async.pipeline.stage %it
      %x = nv_tileas.memdesc_slot %b[%s] : !ring -> !stage
      %y = nv_tileas.memdesc_reinterpret %x : !stage -> !turned
      nv_tileas.local_transpose %x, %y : !stage, !turned
      nv_tileas.async.pipeline.producer_commit %q[%it] at converted : <2>
      %next = nv_tileas.async.pipeline.inc_iter %it of %q : <2>
      scf.yield %next : !it
    }
  }, {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %all_a = scf.for %k = %c0 to %n step %c1 iter_args(%it = %first_a) -> (!it) : i32 {
      %t = nv_tileas.async.pipeline.consumer_wait %p[%it] : <2>
      %s = nv_tileas.async.pipeline.stage %it
      %x = nv_tileas.memdesc_slot %a[%s] : !ring -> !stage
      %value = nv_tileas.local_load %x vector 1 : !stage -> !tile
      nv_tileas.async.pipeline.consumer_release %p[%it] : <2>
      %next = nv_tileas.async.pipeline.inc_iter %it of %p : <2>
      scf.yield %next : !it
    }
    %all_b = scf.for %k = %c0 to %m step %c1 iter_args(%it = %first_b) -> (!it) : i32 {
      %t = nv_tileas.async.pipeline.consumer_wait %q[%it] at converted : <2>
      %s = nv_tileas.async.pipeline.stage %it
      %x = nv_tileas.memdesc_slot %b[%s] : !ring -> !stage
      %value = nv_tileas.local_load %x vector 1 : !stage -> !tile
      nv_tileas.async.pipeline.consumer_release %q[%it] : <2>
      %next = nv_tileas.async.pipeline.inc_iter %it of %q : <2>
      scf.yield %next : !it
    }
  }, {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %tile = arith.constant dense<1> : !tile
    %all_a = scf.for %k = %c0 to %n step %c1 iter_args(%it = %first_a) -> (!it) : i32 {
      %t = nv_tileas.async.pipeline.producer_acquire %p[%it] : <2>
      %s = nv_tileas.async.pipeline.stage %it
      %x = nv_tileas.memdesc_slot %a[%s] : !ring -> !stage
      nv_tileas.local_store %tile, %x vector 16 : !tile, !stage
      nv_tileas.async.pipeline.producer_commit %p[%it] : <2>
      %next = nv_tileas.async.pipeline.inc_iter %it of %p : <2>
      scf.yield %next : !it
    }
    %all_b = scf.for %k = %c0 to %m step %c1 iter_args(%it = %first_b) -> (!it) : i32 {
      %t = nv_tileas.async.pipeline.producer_acquire %q[%it] : <2>
      %s = nv_tileas.async.pipeline.stage %it
      %x = nv_tileas.memdesc_slot %b[%s] : !ring -> !stage
      nv_tileas.local_store %tile, %x vector 16 : !tile, !stage
      nv_tileas.async.pipeline.producer_commit %q[%it] : <2>
      %next = nv_tileas.async.pipeline.inc_iter %it of %q : <2>
      scf.yield %next : !it
    }
  }
  nv_tileaa.return
}

// -----

#registers = #nv_tileas.layout<register = [1, 2, 4, 8, 16, 32, 64], lane = [128, 256, 512, 1024, 2048], warp = [4096, 8192]>
#from = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64, 144, 288, 576, 1024, 2048, 4096, 8192]>
#to = #nv_tileas.shared_layout<offset = [128, 256, 512, 1024, 2048, 4096, 8192, 2049, 4098, 8196, 8, 16, 32, 64]>
#words = #nv_tileas.shared_layout<offset = [1, 2, 4]>
!ring = !nv_tileas.memdesc<128x128xi8, #from, stages = 2, align = 1024>
!stage = !nv_tileas.memdesc<128x128xi8, #from, align = 1024>
!turned = !nv_tileas.memdesc<128x128xi8, #to, align = 1024>
!tile = tensor<128x128xi8, #registers>
!it = !nv_tileas.pipeline_iterator

// Both loops have the same bounds. Its pipeline shows which of them the converter runs.
nv_tileaa.func @same_bounds(%n: i32, %m: i32) attributes {numWarps = 12 : i64} {
  %a = nv_tileas.alloc_tensor offset 0 : !ring
  %b = nv_tileas.alloc_tensor offset 32768 : !ring
  %v = nv_tileas.alloc_tensor offset 65536 : <8xi64, #words>
  %w = nv_tileas.alloc_tensor offset 65664 : <8xi64, #words>
  %p = nv_tileas.async.pipeline.create_pipeline %v phases [full = 4, empty = 4] : <8xi64, #words> -> <2>
  %q = nv_tileas.async.pipeline.create_pipeline %w phases [full = 4, empty = 4, converted = 4] : <8xi64, #words> -> <2>
  %first_a = nv_tileas.async.pipeline.create_iterator %p : <2>
  %first_b = nv_tileas.async.pipeline.create_iterator %q : <2>
  nv_tileas.barrier
  nv_tileas.async.pipeline.agent_switch agents [<"consumers", warps = 4>, <"producer", warps = 4>, <"converter", warps = 4>] {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %all_a = scf.for %k = %c0 to %n step %c1 iter_args(%it = %first_a) -> (!it) : i32 {
      %t = nv_tileas.async.pipeline.consumer_wait %p[%it] : <2>
      %s = nv_tileas.async.pipeline.stage %it
      %x = nv_tileas.memdesc_slot %a[%s] : !ring -> !stage
      %value = nv_tileas.local_load %x vector 1 : !stage -> !tile
      nv_tileas.async.pipeline.consumer_release %p[%it] : <2>
      %next = nv_tileas.async.pipeline.inc_iter %it of %p : <2>
      scf.yield %next : !it
    }
    %all_b = scf.for %k = %c0 to %n step %c1 iter_args(%it = %first_b) -> (!it) : i32 {
      %t = nv_tileas.async.pipeline.consumer_wait %q[%it] at converted : <2>
      %s = nv_tileas.async.pipeline.stage %it
      %x = nv_tileas.memdesc_slot %b[%s] : !ring -> !stage
      %value = nv_tileas.local_load %x vector 1 : !stage -> !tile
      nv_tileas.async.pipeline.consumer_release %q[%it] : <2>
      %next = nv_tileas.async.pipeline.inc_iter %it of %q : <2>
      scf.yield %next : !it
    }
  }, {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %tile = arith.constant dense<1> : !tile
    %all_a = scf.for %k = %c0 to %n step %c1 iter_args(%it = %first_a) -> (!it) : i32 {
      %t = nv_tileas.async.pipeline.producer_acquire %p[%it] : <2>
      %s = nv_tileas.async.pipeline.stage %it
      %x = nv_tileas.memdesc_slot %a[%s] : !ring -> !stage
      nv_tileas.local_store %tile, %x vector 16 : !tile, !stage
      nv_tileas.async.pipeline.producer_commit %p[%it] : <2>
      %next = nv_tileas.async.pipeline.inc_iter %it of %p : <2>
      scf.yield %next : !it
    }
    %all_b = scf.for %k = %c0 to %n step %c1 iter_args(%it = %first_b) -> (!it) : i32 {
      %t = nv_tileas.async.pipeline.producer_acquire %q[%it] : <2>
      %s = nv_tileas.async.pipeline.stage %it
      %x = nv_tileas.memdesc_slot %b[%s] : !ring -> !stage
      nv_tileas.local_store %tile, %x vector 16 : !tile, !stage
      nv_tileas.async.pipeline.producer_commit %q[%it] : <2>
      %next = nv_tileas.async.pipeline.inc_iter %it of %q : <2>
      scf.yield %next : !it
    }
  }, {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %all_b = scf.for %k = %c0 to %n step %c1 iter_args(%it = %first_b) -> (!it) : i32 {
      %t = nv_tileas.async.pipeline.consumer_wait %q[%it] : <2>
      %s = nv_tileas.async.pipeline.stage %it
      %x = nv_tileas.memdesc_slot %b[%s] : !ring -> !stage
      %y = nv_tileas.memdesc_reinterpret %x : !stage -> !turned
      nv_tileas.local_transpose %x, %y : !stage, !turned
      nv_tileas.async.pipeline.producer_commit %q[%it] at converted : <2>
      %next = nv_tileas.async.pipeline.inc_iter %it of %q : <2>
      scf.yield %next : !it
    }
  }
  nv_tileaa.return
}

// -----

#registers = #nv_tileas.layout<register = [1, 2, 4, 8, 16, 32, 64], lane = [128, 256, 512, 1024, 2048], warp = [4096, 8192]>
#from = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64, 144, 288, 576, 1024, 2048, 4096, 8192]>
#to = #nv_tileas.shared_layout<offset = [128, 256, 512, 1024, 2048, 4096, 8192, 2049, 4098, 8196, 8, 16, 32, 64]>
#words = #nv_tileas.shared_layout<offset = [1, 2, 4]>
!ring = !nv_tileas.memdesc<128x128xi8, #from, stages = 2, align = 1024>
!stage = !nv_tileas.memdesc<128x128xi8, #from, align = 1024>
!turned = !nv_tileas.memdesc<128x128xi8, #to, align = 1024>
!tile = tensor<128x128xi8, #registers>
!it = !nv_tileas.pipeline_iterator

// The converter runs as often as the first loop.
nv_tileaa.func @first_bounds(%n: i32, %m: i32) attributes {numWarps = 12 : i64} {
  %a = nv_tileas.alloc_tensor offset 0 : !ring
  %b = nv_tileas.alloc_tensor offset 32768 : !ring
  %v = nv_tileas.alloc_tensor offset 65536 : <8xi64, #words>
  %w = nv_tileas.alloc_tensor offset 65664 : <8xi64, #words>
  // expected-error @below {{deadlock: agent 0 waits for converted1[0] to leave phase 0, which lacks 4 of 4 arrivals}}
  %p = nv_tileas.async.pipeline.create_pipeline %v phases [full = 4, empty = 4] : <8xi64, #words> -> <2>
  %q = nv_tileas.async.pipeline.create_pipeline %w phases [full = 4, empty = 4, converted = 4] : <8xi64, #words> -> <2>
  %first_a = nv_tileas.async.pipeline.create_iterator %p : <2>
  %first_b = nv_tileas.async.pipeline.create_iterator %q : <2>
  nv_tileas.barrier
  nv_tileas.async.pipeline.agent_switch agents [<"consumers", warps = 4>, <"producer", warps = 4>, <"converter", warps = 4>] {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %all_a = scf.for %k = %c0 to %n step %c1 iter_args(%it = %first_a) -> (!it) : i32 {
      %t = nv_tileas.async.pipeline.consumer_wait %p[%it] : <2>
      %s = nv_tileas.async.pipeline.stage %it
      %x = nv_tileas.memdesc_slot %a[%s] : !ring -> !stage
      %value = nv_tileas.local_load %x vector 1 : !stage -> !tile
      nv_tileas.async.pipeline.consumer_release %p[%it] : <2>
      %next = nv_tileas.async.pipeline.inc_iter %it of %p : <2>
      scf.yield %next : !it
    }
    %all_b = scf.for %k = %c0 to %m step %c1 iter_args(%it = %first_b) -> (!it) : i32 {
      %t = nv_tileas.async.pipeline.consumer_wait %q[%it] at converted : <2>
      %s = nv_tileas.async.pipeline.stage %it
      %x = nv_tileas.memdesc_slot %b[%s] : !ring -> !stage
      %value = nv_tileas.local_load %x vector 1 : !stage -> !tile
      nv_tileas.async.pipeline.consumer_release %q[%it] : <2>
      %next = nv_tileas.async.pipeline.inc_iter %it of %q : <2>
      scf.yield %next : !it
    }
  }, {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %tile = arith.constant dense<1> : !tile
    %all_a = scf.for %k = %c0 to %n step %c1 iter_args(%it = %first_a) -> (!it) : i32 {
      %t = nv_tileas.async.pipeline.producer_acquire %p[%it] : <2>
      %s = nv_tileas.async.pipeline.stage %it
      %x = nv_tileas.memdesc_slot %a[%s] : !ring -> !stage
      nv_tileas.local_store %tile, %x vector 16 : !tile, !stage
      nv_tileas.async.pipeline.producer_commit %p[%it] : <2>
      %next = nv_tileas.async.pipeline.inc_iter %it of %p : <2>
      scf.yield %next : !it
    }
    %all_b = scf.for %k = %c0 to %m step %c1 iter_args(%it = %first_b) -> (!it) : i32 {
      %t = nv_tileas.async.pipeline.producer_acquire %q[%it] : <2>
      %s = nv_tileas.async.pipeline.stage %it
      %x = nv_tileas.memdesc_slot %b[%s] : !ring -> !stage
      nv_tileas.local_store %tile, %x vector 16 : !tile, !stage
      nv_tileas.async.pipeline.producer_commit %q[%it] : <2>
      %next = nv_tileas.async.pipeline.inc_iter %it of %q : <2>
      scf.yield %next : !it
    }
  }, {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %all_b = scf.for %k = %c0 to %n step %c1 iter_args(%it = %first_b) -> (!it) : i32 {
      %t = nv_tileas.async.pipeline.consumer_wait %q[%it] : <2>
      %s = nv_tileas.async.pipeline.stage %it
      %x = nv_tileas.memdesc_slot %b[%s] : !ring -> !stage
      %y = nv_tileas.memdesc_reinterpret %x : !stage -> !turned
      nv_tileas.local_transpose %x, %y : !stage, !turned
      nv_tileas.async.pipeline.producer_commit %q[%it] at converted : <2>
      %next = nv_tileas.async.pipeline.inc_iter %it of %q : <2>
      scf.yield %next : !it
    }
  }
  nv_tileaa.return
}

// -----

#registers = #nv_tileas.layout<register = [1, 2, 4, 8, 16, 32, 64], lane = [128, 256, 512, 1024, 2048], warp = [4096, 8192]>
#from = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64, 144, 288, 576, 1024, 2048, 4096, 8192]>
#to = #nv_tileas.shared_layout<offset = [128, 256, 512, 1024, 2048, 4096, 8192, 2049, 4098, 8196, 8, 16, 32, 64]>
#words = #nv_tileas.shared_layout<offset = [1, 2, 4]>
!ring = !nv_tileas.memdesc<128x128xi8, #from, stages = 2, align = 1024>
!stage = !nv_tileas.memdesc<128x128xi8, #from, align = 1024>
!turned = !nv_tileas.memdesc<128x128xi8, #to, align = 1024>
!tile = tensor<128x128xi8, #registers>
!it = !nv_tileas.pipeline_iterator

// The producer fills the first ring as often as the second one.
nv_tileaa.func @other_bounds(%n: i32, %m: i32) attributes {numWarps = 12 : i64} {
  %a = nv_tileas.alloc_tensor offset 0 : !ring
  %b = nv_tileas.alloc_tensor offset 32768 : !ring
  %v = nv_tileas.alloc_tensor offset 65536 : <8xi64, #words>
  %w = nv_tileas.alloc_tensor offset 65664 : <8xi64, #words>
  // expected-error @below {{deadlock: agent 1 waits for empty1[0] to leave phase 0, which lacks 4 of 4 arrivals}}
  %p = nv_tileas.async.pipeline.create_pipeline %v phases [full = 4, empty = 4] : <8xi64, #words> -> <2>
  %q = nv_tileas.async.pipeline.create_pipeline %w phases [full = 4, empty = 4, converted = 4] : <8xi64, #words> -> <2>
  %first_a = nv_tileas.async.pipeline.create_iterator %p : <2>
  %first_b = nv_tileas.async.pipeline.create_iterator %q : <2>
  nv_tileas.barrier
  nv_tileas.async.pipeline.agent_switch agents [<"consumers", warps = 4>, <"producer", warps = 4>, <"converter", warps = 4>] {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %all_a = scf.for %k = %c0 to %n step %c1 iter_args(%it = %first_a) -> (!it) : i32 {
      %t = nv_tileas.async.pipeline.consumer_wait %p[%it] : <2>
      %s = nv_tileas.async.pipeline.stage %it
      %x = nv_tileas.memdesc_slot %a[%s] : !ring -> !stage
      %value = nv_tileas.local_load %x vector 1 : !stage -> !tile
      nv_tileas.async.pipeline.consumer_release %p[%it] : <2>
      %next = nv_tileas.async.pipeline.inc_iter %it of %p : <2>
      scf.yield %next : !it
    }
    %all_b = scf.for %k = %c0 to %m step %c1 iter_args(%it = %first_b) -> (!it) : i32 {
      %t = nv_tileas.async.pipeline.consumer_wait %q[%it] at converted : <2>
      %s = nv_tileas.async.pipeline.stage %it
      %x = nv_tileas.memdesc_slot %b[%s] : !ring -> !stage
      %value = nv_tileas.local_load %x vector 1 : !stage -> !tile
      nv_tileas.async.pipeline.consumer_release %q[%it] : <2>
      %next = nv_tileas.async.pipeline.inc_iter %it of %q : <2>
      scf.yield %next : !it
    }
  }, {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %tile = arith.constant dense<1> : !tile
    %all_a = scf.for %k = %c0 to %m step %c1 iter_args(%it = %first_a) -> (!it) : i32 {
      %t = nv_tileas.async.pipeline.producer_acquire %p[%it] : <2>
      %s = nv_tileas.async.pipeline.stage %it
      %x = nv_tileas.memdesc_slot %a[%s] : !ring -> !stage
      nv_tileas.local_store %tile, %x vector 16 : !tile, !stage
      nv_tileas.async.pipeline.producer_commit %p[%it] : <2>
      %next = nv_tileas.async.pipeline.inc_iter %it of %p : <2>
      scf.yield %next : !it
    }
    %all_b = scf.for %k = %c0 to %m step %c1 iter_args(%it = %first_b) -> (!it) : i32 {
      %t = nv_tileas.async.pipeline.producer_acquire %q[%it] : <2>
      %s = nv_tileas.async.pipeline.stage %it
      %x = nv_tileas.memdesc_slot %b[%s] : !ring -> !stage
      nv_tileas.local_store %tile, %x vector 16 : !tile, !stage
      nv_tileas.async.pipeline.producer_commit %q[%it] : <2>
      %next = nv_tileas.async.pipeline.inc_iter %it of %q : <2>
      scf.yield %next : !it
    }
  }, {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %all_b = scf.for %k = %c0 to %m step %c1 iter_args(%it = %first_b) -> (!it) : i32 {
      %t = nv_tileas.async.pipeline.consumer_wait %q[%it] : <2>
      %s = nv_tileas.async.pipeline.stage %it
      %x = nv_tileas.memdesc_slot %b[%s] : !ring -> !stage
      %y = nv_tileas.memdesc_reinterpret %x : !stage -> !turned
      nv_tileas.local_transpose %x, %y : !stage, !turned
      nv_tileas.async.pipeline.producer_commit %q[%it] at converted : <2>
      %next = nv_tileas.async.pipeline.inc_iter %it of %q : <2>
      scf.yield %next : !it
    }
  }
  nv_tileaa.return
}

// -----

#shared = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 72, 144, 288, 512, 1024, 2048]>
#rows = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048]>
#sums = #nv_tileas.layout<register = [1, 512, 8, 16, 32], lane = [2, 4, 64, 128, 256], warp = [1024, 2048]>
#words = #nv_tileas.shared_layout<offset = [1, 2]>
#word = #nv_tileas.shared_layout<offset = []>
!ring = !nv_tileas.memdesc<64x64xf16, #shared, stages = 2, align = 1024>
!tile = !nv_tileas.memdesc<64x64xf16, #shared, align = 1024>
!words = !nv_tileas.memdesc<4xi64, #words>
!word = !nv_tileas.memdesc<1xi32, #word>
!accs = !nv_tileas.memdesc<64x64xf32, #rows, stages = 2, space = tensor>
!acc = !nv_tileas.memdesc<64x64xf32, #rows, space = tensor>
!sums = tensor<64x64xf32, #sums>
!halves = tensor<64x64xf16, #sums>
!it = !nv_tileas.pipeline_iterator

// The consumers have no loop. They set the accumulator if the loop of the other agents does not run.
nv_tileaa.func @count_elsewhere(%n: i32, %m: i32) attributes {numWarps = 9 : i64} {
  %a = nv_tileas.alloc_tensor offset 0 : !ring
  %v = nv_tileas.alloc_tensor offset 16384 : !words
  %w = nv_tileas.alloc_tensor offset 16512 : !words
  %p = nv_tileas.async.pipeline.create_pipeline %w phases [full = 4, empty = 1] : <4xi64, #words> -> <2>
  %q = nv_tileas.async.pipeline.create_pipeline %v phases [full = 1, empty = 4] : <4xi64, #words> -> <2>
  %first = nv_tileas.async.pipeline.create_iterator %p : <2>
  %start = nv_tileas.async.pipeline.create_iterator %q : <2>
  %slot = nv_tileas.alloc_tensor offset 16640 : !word
  nv_tileas.tmem_allocate %slot columns 128 : !word
  nv_tileas.barrier
  %accs = nv_tileas.alloc_tensor offset 0 : !accs
  nv_tileas.async.pipeline.agent_switch agents [<"consumers", warps = 4>, <"matrix", warps = 1>, <"producer", warps = 4>] {
    %c0 = arith.constant 0 : i32
    %zero = arith.constant dense<0.0> : !sums
    %s = nv_tileas.async.pipeline.stage %start
    %acc = nv_tileas.memdesc_slot %accs[%s] : !accs -> !acc
    %t = nv_tileas.async.pipeline.consumer_wait %q[%start] : <2>
    nv_tileas.tmem_fence after
    %none = arith.cmpi sle, %n, %c0 : i32
    scf.if %none {
      nv_tileas.tmem_store %zero, %acc : !sums, !acc
    }
    %sum = nv_tileas.tmem_load %acc : !acc -> !sums
    nv_tileas.tmem_fence
    nv_tileas.async.pipeline.consumer_release %q[%start] : <2>
  }, {
    nv_tileas.async.elect {
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %s = nv_tileas.async.pipeline.stage %start
      %acc = nv_tileas.memdesc_slot %accs[%s] : !accs -> !acc
      %t = nv_tileas.async.pipeline.producer_acquire %q[%start] : <2>
      nv_tileas.tmem_fence after
      %all = scf.for %k = %c0 to %n step %c1 iter_args(%it = %first) -> (!it) : i32 {
        %more = arith.cmpi ne, %k, %c0 : i32
        %u = nv_tileas.async.pipeline.consumer_wait %p[%it] : <2>
        %i = nv_tileas.async.pipeline.stage %it
        %x = nv_tileas.memdesc_slot %a[%i] : !ring -> !tile
        nv_tileas.async.dot %x, %x, %acc accumulate %more by <tensor, [64, 64, 16]> : !tile, !tile, !acc
        nv_tileas.async.pipeline.consumer_release %p[%it] dots : <2>
        %next = nv_tileas.async.pipeline.inc_iter %it of %p : <2>
        scf.yield %next : !it
      }
      nv_tileas.async.pipeline.producer_commit %q[%start] dots : <2>
    }
  }, {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %ones = arith.constant dense<1.0> : !halves
    %all = scf.for %k = %c0 to %n step %c1 iter_args(%it = %first) -> (!it) : i32 {
      %t = nv_tileas.async.pipeline.producer_acquire %p[%it] : <2>
      %i = nv_tileas.async.pipeline.stage %it
      %x = nv_tileas.memdesc_slot %a[%i] : !ring -> !tile
      nv_tileas.local_store %ones, %x vector 2 : !halves, !tile
      nv_tileas.async.fence
      nv_tileas.async.pipeline.producer_commit %p[%it] : <2>
      %next = nv_tileas.async.pipeline.inc_iter %it of %p : <2>
      scf.yield %next : !it
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
!tile = !nv_tileas.memdesc<64x64xf16, #shared, align = 1024>
!words = !nv_tileas.memdesc<4xi64, #words>
!word = !nv_tileas.memdesc<1xi32, #word>
!accs = !nv_tileas.memdesc<64x64xf32, #rows, stages = 2, space = tensor>
!acc = !nv_tileas.memdesc<64x64xf32, #rows, space = tensor>
!sums = tensor<64x64xf32, #sums>
!halves = tensor<64x64xf16, #sums>
!it = !nv_tileas.pipeline_iterator

// The consumers test another count.
nv_tileaa.func @other_count(%n: i32, %m: i32) attributes {numWarps = 9 : i64} {
  %a = nv_tileas.alloc_tensor offset 0 : !ring
  %v = nv_tileas.alloc_tensor offset 16384 : !words
  %w = nv_tileas.alloc_tensor offset 16512 : !words
  // expected-error @below {{agent 0 reads ring0[0], which was never written}}
  %p = nv_tileas.async.pipeline.create_pipeline %w phases [full = 4, empty = 1] : <4xi64, #words> -> <2>
  %q = nv_tileas.async.pipeline.create_pipeline %v phases [full = 1, empty = 4] : <4xi64, #words> -> <2>
  %first = nv_tileas.async.pipeline.create_iterator %p : <2>
  %start = nv_tileas.async.pipeline.create_iterator %q : <2>
  %slot = nv_tileas.alloc_tensor offset 16640 : !word
  nv_tileas.tmem_allocate %slot columns 128 : !word
  nv_tileas.barrier
  %accs = nv_tileas.alloc_tensor offset 0 : !accs
  nv_tileas.async.pipeline.agent_switch agents [<"consumers", warps = 4>, <"matrix", warps = 1>, <"producer", warps = 4>] {
    %c0 = arith.constant 0 : i32
    %zero = arith.constant dense<0.0> : !sums
    %s = nv_tileas.async.pipeline.stage %start
    %acc = nv_tileas.memdesc_slot %accs[%s] : !accs -> !acc
    %t = nv_tileas.async.pipeline.consumer_wait %q[%start] : <2>
    nv_tileas.tmem_fence after
    %none = arith.cmpi sle, %m, %c0 : i32
    scf.if %none {
      nv_tileas.tmem_store %zero, %acc : !sums, !acc
    }
    %sum = nv_tileas.tmem_load %acc : !acc -> !sums
    nv_tileas.tmem_fence
    nv_tileas.async.pipeline.consumer_release %q[%start] : <2>
  }, {
    nv_tileas.async.elect {
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %s = nv_tileas.async.pipeline.stage %start
      %acc = nv_tileas.memdesc_slot %accs[%s] : !accs -> !acc
      %t = nv_tileas.async.pipeline.producer_acquire %q[%start] : <2>
      nv_tileas.tmem_fence after
      %all = scf.for %k = %c0 to %n step %c1 iter_args(%it = %first) -> (!it) : i32 {
        %more = arith.cmpi ne, %k, %c0 : i32
        %u = nv_tileas.async.pipeline.consumer_wait %p[%it] : <2>
        %i = nv_tileas.async.pipeline.stage %it
        %x = nv_tileas.memdesc_slot %a[%i] : !ring -> !tile
        nv_tileas.async.dot %x, %x, %acc accumulate %more by <tensor, [64, 64, 16]> : !tile, !tile, !acc
        nv_tileas.async.pipeline.consumer_release %p[%it] dots : <2>
        %next = nv_tileas.async.pipeline.inc_iter %it of %p : <2>
        scf.yield %next : !it
      }
      nv_tileas.async.pipeline.producer_commit %q[%start] dots : <2>
    }
  }, {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %ones = arith.constant dense<1.0> : !halves
    %all = scf.for %k = %c0 to %n step %c1 iter_args(%it = %first) -> (!it) : i32 {
      %t = nv_tileas.async.pipeline.producer_acquire %p[%it] : <2>
      %i = nv_tileas.async.pipeline.stage %it
      %x = nv_tileas.memdesc_slot %a[%i] : !ring -> !tile
      nv_tileas.local_store %ones, %x vector 2 : !halves, !tile
      nv_tileas.async.fence
      nv_tileas.async.pipeline.producer_commit %p[%it] : <2>
      %next = nv_tileas.async.pipeline.inc_iter %it of %p : <2>
      scf.yield %next : !it
    }
  }
  nv_tileas.tmem_free columns 128
  nv_tileaa.return
}
