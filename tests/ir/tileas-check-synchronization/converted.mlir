// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileas-check-synchronization)' --split-input-file --verify-diagnostics
// Stages that a converter agent transposes: the correct protocol, and the reports if it is broken.

#registers = #nv_tileas.layout<register = [1, 2, 4, 8, 16, 32, 64], lane = [128, 256, 512, 1024, 2048], warp = [4096, 8192]>
#from = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64, 144, 288, 576, 1024, 2048, 4096, 8192]>
#to = #nv_tileas.shared_layout<offset = [128, 256, 512, 1024, 2048, 4096, 8192, 2049, 4098, 8196, 8, 16, 32, 64]>
#words = #nv_tileas.shared_layout<offset = [1, 2, 4]>
!ring = !nv_tileas.memdesc<128x128xi8, #from, stages = 2, align = 1024>
!stage = !nv_tileas.memdesc<128x128xi8, #from, align = 1024>
!turned = !nv_tileas.memdesc<128x128xi8, #to, align = 1024>
!tile = tensor<128x128xi8, #registers>
!it = !nv_tileas.pipeline_iterator

nv_tileaa.func @kept(%n: i32) attributes {numWarps = 12 : i64} {
  %a = nv_tileas.alloc_tensor offset 0 : !ring
  %w = nv_tileas.alloc_tensor offset 32768 : <8xi64, #words>
  %p = nv_tileas.async.pipeline.create_pipeline %w phases [full = 4, empty = 4, converted = 4] : <8xi64, #words> -> <2>
  %first = nv_tileas.async.pipeline.create_iterator %p : <2>
  nv_tileas.barrier
  nv_tileas.async.pipeline.agent_switch agents [<"consumers", warps = 4>, <"producer", warps = 4>, <"converter", warps = 4>] {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %all = scf.for %k = %c0 to %n step %c1 iter_args(%it = %first) -> (!it) : i32 {
      %t = nv_tileas.async.pipeline.consumer_wait %p[%it] at converted : <2>
      %s = nv_tileas.async.pipeline.stage %it
      %x = nv_tileas.memdesc_slot %a[%s] : !ring -> !stage
      %y = nv_tileas.memdesc_reinterpret %x : !stage -> !turned
      %v = nv_tileas.local_load %y vector 1 : !turned -> !tile
      nv_tileas.async.pipeline.consumer_release %p[%it] : <2>
      %next = nv_tileas.async.pipeline.inc_iter %it of %p : <2>
      scf.yield %next : !it
    }
  }, {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %tile = arith.constant dense<1> : !tile
    %all = scf.for %k = %c0 to %n step %c1 iter_args(%it = %first) -> (!it) : i32 {
      %t = nv_tileas.async.pipeline.producer_acquire %p[%it] : <2>
      %s = nv_tileas.async.pipeline.stage %it
      %x = nv_tileas.memdesc_slot %a[%s] : !ring -> !stage
      nv_tileas.local_store %tile, %x vector 16 : !tile, !stage
      nv_tileas.async.pipeline.producer_commit %p[%it] : <2>
      %next = nv_tileas.async.pipeline.inc_iter %it of %p : <2>
      scf.yield %next : !it
    }
  }, {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %all = scf.for %k = %c0 to %n step %c1 iter_args(%it = %first) -> (!it) : i32 {
      %t = nv_tileas.async.pipeline.consumer_wait %p[%it] : <2>
      %s = nv_tileas.async.pipeline.stage %it
      %x = nv_tileas.memdesc_slot %a[%s] : !ring -> !stage
      %y = nv_tileas.memdesc_reinterpret %x : !stage -> !turned
      nv_tileas.local_transpose %x, %y : !stage, !turned
      nv_tileas.async.pipeline.producer_commit %p[%it] at converted : <2>
      %next = nv_tileas.async.pipeline.inc_iter %it of %p : <2>
      scf.yield %next : !it
    }
  }
  nv_tileaa.return
}

// -----

// The consumer takes the stage as soon as it is full, while the converter transposes it.
#registers = #nv_tileas.layout<register = [1, 2, 4, 8, 16, 32, 64], lane = [128, 256, 512, 1024, 2048], warp = [4096, 8192]>
#from = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64, 144, 288, 576, 1024, 2048, 4096, 8192]>
#to = #nv_tileas.shared_layout<offset = [128, 256, 512, 1024, 2048, 4096, 8192, 2049, 4098, 8196, 8, 16, 32, 64]>
#words = #nv_tileas.shared_layout<offset = [1, 2, 4]>
!ring = !nv_tileas.memdesc<128x128xi8, #from, stages = 2, align = 1024>
!stage = !nv_tileas.memdesc<128x128xi8, #from, align = 1024>
!turned = !nv_tileas.memdesc<128x128xi8, #to, align = 1024>
!tile = tensor<128x128xi8, #registers>
!it = !nv_tileas.pipeline_iterator

nv_tileaa.func @early(%n: i32) attributes {numWarps = 12 : i64} {
  %a = nv_tileas.alloc_tensor offset 0 : !ring
  %w = nv_tileas.alloc_tensor offset 32768 : <8xi64, #words>
  // expected-error @below {{agent 0 may read ring0[0] before its write is done}}
  %p = nv_tileas.async.pipeline.create_pipeline %w phases [full = 4, empty = 4, converted = 4] : <8xi64, #words> -> <2>
  %first = nv_tileas.async.pipeline.create_iterator %p : <2>
  nv_tileas.barrier
  nv_tileas.async.pipeline.agent_switch agents [<"consumers", warps = 4>, <"producer", warps = 4>, <"converter", warps = 4>] {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %all = scf.for %k = %c0 to %n step %c1 iter_args(%it = %first) -> (!it) : i32 {
      %t = nv_tileas.async.pipeline.consumer_wait %p[%it] : <2>
      %s = nv_tileas.async.pipeline.stage %it
      %x = nv_tileas.memdesc_slot %a[%s] : !ring -> !stage
      %y = nv_tileas.memdesc_reinterpret %x : !stage -> !turned
      %v = nv_tileas.local_load %y vector 1 : !turned -> !tile
      nv_tileas.async.pipeline.consumer_release %p[%it] : <2>
      %next = nv_tileas.async.pipeline.inc_iter %it of %p : <2>
      scf.yield %next : !it
    }
  }, {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %tile = arith.constant dense<1> : !tile
    %all = scf.for %k = %c0 to %n step %c1 iter_args(%it = %first) -> (!it) : i32 {
      %t = nv_tileas.async.pipeline.producer_acquire %p[%it] : <2>
      %s = nv_tileas.async.pipeline.stage %it
      %x = nv_tileas.memdesc_slot %a[%s] : !ring -> !stage
      nv_tileas.local_store %tile, %x vector 16 : !tile, !stage
      nv_tileas.async.pipeline.producer_commit %p[%it] : <2>
      %next = nv_tileas.async.pipeline.inc_iter %it of %p : <2>
      scf.yield %next : !it
    }
  }, {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %all = scf.for %k = %c0 to %n step %c1 iter_args(%it = %first) -> (!it) : i32 {
      %t = nv_tileas.async.pipeline.consumer_wait %p[%it] : <2>
      %s = nv_tileas.async.pipeline.stage %it
      %x = nv_tileas.memdesc_slot %a[%s] : !ring -> !stage
      %y = nv_tileas.memdesc_reinterpret %x : !stage -> !turned
      nv_tileas.local_transpose %x, %y : !stage, !turned
      nv_tileas.async.pipeline.producer_commit %p[%it] at converted : <2>
      %next = nv_tileas.async.pipeline.inc_iter %it of %p : <2>
      scf.yield %next : !it
    }
  }
  nv_tileaa.return
}

// -----

// The converter never signals that a stage has been transposed.
#registers = #nv_tileas.layout<register = [1, 2, 4, 8, 16, 32, 64], lane = [128, 256, 512, 1024, 2048], warp = [4096, 8192]>
#from = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64, 144, 288, 576, 1024, 2048, 4096, 8192]>
#to = #nv_tileas.shared_layout<offset = [128, 256, 512, 1024, 2048, 4096, 8192, 2049, 4098, 8196, 8, 16, 32, 64]>
#words = #nv_tileas.shared_layout<offset = [1, 2, 4]>
!ring = !nv_tileas.memdesc<128x128xi8, #from, stages = 2, align = 1024>
!stage = !nv_tileas.memdesc<128x128xi8, #from, align = 1024>
!turned = !nv_tileas.memdesc<128x128xi8, #to, align = 1024>
!tile = tensor<128x128xi8, #registers>
!it = !nv_tileas.pipeline_iterator

nv_tileaa.func @silent(%n: i32) attributes {numWarps = 12 : i64} {
  %a = nv_tileas.alloc_tensor offset 0 : !ring
  %w = nv_tileas.alloc_tensor offset 32768 : <8xi64, #words>
  %p = nv_tileas.async.pipeline.create_pipeline %w phases [full = 4, empty = 4, converted = 4] : <8xi64, #words> -> <2>
  %first = nv_tileas.async.pipeline.create_iterator %p : <2>
  nv_tileas.barrier
  nv_tileas.async.pipeline.agent_switch agents [<"consumers", warps = 4>, <"producer", warps = 4>, <"converter", warps = 4>] {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %all = scf.for %k = %c0 to %n step %c1 iter_args(%it = %first) -> (!it) : i32 {
      %t = nv_tileas.async.pipeline.consumer_wait %p[%it] at converted : <2>
      %s = nv_tileas.async.pipeline.stage %it
      %x = nv_tileas.memdesc_slot %a[%s] : !ring -> !stage
      %y = nv_tileas.memdesc_reinterpret %x : !stage -> !turned
      %v = nv_tileas.local_load %y vector 1 : !turned -> !tile
      nv_tileas.async.pipeline.consumer_release %p[%it] : <2>
      %next = nv_tileas.async.pipeline.inc_iter %it of %p : <2>
      scf.yield %next : !it
    }
  }, {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %tile = arith.constant dense<1> : !tile
    %all = scf.for %k = %c0 to %n step %c1 iter_args(%it = %first) -> (!it) : i32 {
      %t = nv_tileas.async.pipeline.producer_acquire %p[%it] : <2>
      %s = nv_tileas.async.pipeline.stage %it
      %x = nv_tileas.memdesc_slot %a[%s] : !ring -> !stage
      nv_tileas.local_store %tile, %x vector 16 : !tile, !stage
      nv_tileas.async.pipeline.producer_commit %p[%it] : <2>
      %next = nv_tileas.async.pipeline.inc_iter %it of %p : <2>
      scf.yield %next : !it
    }
  }, {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %all = scf.for %k = %c0 to %n step %c1 iter_args(%it = %first) -> (!it) : i32 {
      %t = nv_tileas.async.pipeline.consumer_wait %p[%it] : <2>
      %s = nv_tileas.async.pipeline.stage %it
      %x = nv_tileas.memdesc_slot %a[%s] : !ring -> !stage
      %y = nv_tileas.memdesc_reinterpret %x : !stage -> !turned
      // expected-error @below {{write of shared bytes [0, 32768) conflicts with a write by other threads of an earlier iteration: no barrier separates them}}
      // expected-note @below {{the earlier access}}
      nv_tileas.local_transpose %x, %y : !stage, !turned
      %next = nv_tileas.async.pipeline.inc_iter %it of %p : <2>
      scf.yield %next : !it
    }
  }
  nv_tileaa.return
}

// -----

// A stage is transposed that may not be full.
#registers = #nv_tileas.layout<register = [1, 2, 4, 8, 16, 32, 64], lane = [128, 256, 512, 1024, 2048], warp = [4096, 8192]>
#from = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64, 144, 288, 576, 1024, 2048, 4096, 8192]>
#to = #nv_tileas.shared_layout<offset = [128, 256, 512, 1024, 2048, 4096, 8192, 2049, 4098, 8196, 8, 16, 32, 64]>
#words = #nv_tileas.shared_layout<offset = [1, 2, 4]>
!ring = !nv_tileas.memdesc<128x128xi8, #from, stages = 2, align = 1024>
!stage = !nv_tileas.memdesc<128x128xi8, #from, align = 1024>
!turned = !nv_tileas.memdesc<128x128xi8, #to, align = 1024>
!tile = tensor<128x128xi8, #registers>
!it = !nv_tileas.pipeline_iterator

nv_tileaa.func @blind(%n: i32) attributes {numWarps = 12 : i64} {
  %a = nv_tileas.alloc_tensor offset 0 : !ring
  %w = nv_tileas.alloc_tensor offset 32768 : <8xi64, #words>
  %p = nv_tileas.async.pipeline.create_pipeline %w phases [full = 4, empty = 4, converted = 4] : <8xi64, #words> -> <2>
  %first = nv_tileas.async.pipeline.create_iterator %p : <2>
  nv_tileas.barrier
  nv_tileas.async.pipeline.agent_switch agents [<"consumers", warps = 4>, <"producer", warps = 4>, <"converter", warps = 4>] {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %all = scf.for %k = %c0 to %n step %c1 iter_args(%it = %first) -> (!it) : i32 {
      %t = nv_tileas.async.pipeline.consumer_wait %p[%it] at converted : <2>
      %s = nv_tileas.async.pipeline.stage %it
      %x = nv_tileas.memdesc_slot %a[%s] : !ring -> !stage
      %y = nv_tileas.memdesc_reinterpret %x : !stage -> !turned
      %v = nv_tileas.local_load %y vector 1 : !turned -> !tile
      nv_tileas.async.pipeline.consumer_release %p[%it] : <2>
      %next = nv_tileas.async.pipeline.inc_iter %it of %p : <2>
      scf.yield %next : !it
    }
  }, {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %tile = arith.constant dense<1> : !tile
    %all = scf.for %k = %c0 to %n step %c1 iter_args(%it = %first) -> (!it) : i32 {
      %t = nv_tileas.async.pipeline.producer_acquire %p[%it] : <2>
      %s = nv_tileas.async.pipeline.stage %it
      %x = nv_tileas.memdesc_slot %a[%s] : !ring -> !stage
      nv_tileas.local_store %tile, %x vector 16 : !tile, !stage
      nv_tileas.async.pipeline.producer_commit %p[%it] : <2>
      %next = nv_tileas.async.pipeline.inc_iter %it of %p : <2>
      scf.yield %next : !it
    }
  }, {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %all = scf.for %k = %c0 to %n step %c1 iter_args(%it = %first) -> (!it) : i32 {
      %s = nv_tileas.async.pipeline.stage %it
      %x = nv_tileas.memdesc_slot %a[%s] : !ring -> !stage
      %y = nv_tileas.memdesc_reinterpret %x : !stage -> !turned
      // expected-error @below {{write of shared bytes [0, 32768) conflicts with a write by other threads of an earlier iteration: no barrier separates them}}
      // expected-note @below {{the earlier access}}
      nv_tileas.local_transpose %x, %y : !stage, !turned
      nv_tileas.async.pipeline.producer_commit %p[%it] at converted : <2>
      %next = nv_tileas.async.pipeline.inc_iter %it of %p : <2>
      scf.yield %next : !it
    }
  }
  nv_tileaa.return
}
