// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileas-check-synchronization)' --split-input-file --verify-diagnostics
// Groups of warps that run different programs: barriers belong to an agent.
#l = #nv_tileas.layout<register = [1, 2], lane = [4, 8, 16, 32, 64], warp = []>
#two = #nv_tileas.layout<register = [1], lane = [2, 4, 8, 16, 32], warp = [64]>
#turned = #nv_tileas.layout<register = [64], lane = [1, 2, 4, 8, 16], warp = [32]>
#s = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64]>
!m = !nv_tileas.memdesc<128xf32, #s>

// Each agent has its own storage, and its barrier orders its own accesses.
nv_tileaa.func @apart() attributes {numWarps = 4 : i64} {
  %a = nv_tileas.alloc_tensor offset 0 : !m
  %b = nv_tileas.alloc_tensor offset 512 : !m
  nv_tileas.async.pipeline.agent_switch agents [<"consumers", warps = 1>, <"producer", warps = 2>] {
    %x = arith.constant dense<1.0> : tensor<128xf32, #l>
    nv_tileas.local_store %x, %a vector 4 : tensor<128xf32, #l>, !m
  }, {
    %x = arith.constant dense<1.0> : tensor<128xf32, #two>
    nv_tileas.local_store %x, %b vector 2 : tensor<128xf32, #two>, !m
    nv_tileas.barrier
    %y = nv_tileas.local_load %b vector 1 : !m -> tensor<128xf32, #turned>
  }
  nv_tileas.barrier
  %z = nv_tileas.local_load %a vector 4 : !m -> tensor<128xf32, #l>
  nv_tileaa.return
}

// -----

#l = #nv_tileas.layout<register = [1, 2], lane = [4, 8, 16, 32, 64], warp = []>
#two = #nv_tileas.layout<register = [1], lane = [2, 4, 8, 16, 32], warp = [64]>
#turned = #nv_tileas.layout<register = [64], lane = [1, 2, 4, 8, 16], warp = [32]>
#s = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64]>
!m = !nv_tileas.memdesc<128xf32, #s>

// A barrier in one agent does not order accesses of two agents.
nv_tileaa.func @between() attributes {numWarps = 4 : i64} {
  %a = nv_tileas.alloc_tensor offset 0 : !m
  nv_tileas.async.pipeline.agent_switch agents [<"consumers", warps = 1>, <"producer", warps = 2>] {
    %x = arith.constant dense<1.0> : tensor<128xf32, #l>
  // expected-note @below {{the earlier access: write of shared bytes [0, 512)}}
    nv_tileas.local_store %x, %a vector 4 : tensor<128xf32, #l>, !m
  }, {
    nv_tileas.barrier
  // expected-error @below {{read of shared bytes [0, 512) conflicts with a write by another agent: nothing separates them}}
    %y = nv_tileas.local_load %a vector 1 : !m -> tensor<128xf32, #turned>
  }
  nv_tileaa.return
}

// -----

#l = #nv_tileas.layout<register = [1, 2], lane = [4, 8, 16, 32, 64], warp = []>
#two = #nv_tileas.layout<register = [1], lane = [2, 4, 8, 16, 32], warp = [64]>
#turned = #nv_tileas.layout<register = [64], lane = [1, 2, 4, 8, 16], warp = [32]>
#s = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64]>
!m = !nv_tileas.memdesc<128xf32, #s>

// It does not order accesses that all threads did before, either.
nv_tileaa.func @before(%x: tensor<128xf32, #two>) attributes {numWarps = 2 : i64} {
  %a = nv_tileas.alloc_tensor offset 0 : !m
  // expected-note @below {{the earlier access: write of shared bytes [0, 512)}}
  nv_tileas.local_store %x, %a vector 2 : tensor<128xf32, #two>, !m
  nv_tileas.async.pipeline.agent_switch agents [<"only", warps = 2>] {
    nv_tileas.barrier
  // expected-error @below {{read of shared bytes [0, 512) conflicts with a write by other threads: no barrier separates them}}
    %y = nv_tileas.local_load %a vector 1 : !m -> tensor<128xf32, #turned>
  }
  nv_tileaa.return
}

// -----

#l = #nv_tileas.layout<register = [1, 2], lane = [4, 8, 16, 32, 64], warp = []>
#two = #nv_tileas.layout<register = [1], lane = [2, 4, 8, 16, 32], warp = [64]>
#turned = #nv_tileas.layout<register = [64], lane = [1, 2, 4, 8, 16], warp = [32]>
#s = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64]>
!m = !nv_tileas.memdesc<128xf32, #s>

// There is no barrier at the end of agents.
nv_tileaa.func @behind() attributes {numWarps = 2 : i64} {
  %a = nv_tileas.alloc_tensor offset 0 : !m
  nv_tileas.async.pipeline.agent_switch agents [<"only", warps = 1>] {
    %x = arith.constant dense<1.0> : tensor<128xf32, #l>
  // expected-note @below {{the earlier access: write of shared bytes [0, 512)}}
    nv_tileas.local_store %x, %a vector 4 : tensor<128xf32, #l>, !m
  }
  // expected-error @below {{read of shared bytes [0, 512) conflicts with a write by other threads: no barrier separates them}}
  %y = nv_tileas.local_load %a vector 1 : !m -> tensor<128xf32, #turned>
  nv_tileaa.return
}
