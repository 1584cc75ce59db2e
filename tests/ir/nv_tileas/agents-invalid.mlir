// RUN: tileiras-opt %s --split-input-file --verify-diagnostics
nv_tileaa.func @regions() attributes {numWarps = 8 : i64} {
  // expected-error @+1 {{has 1 regions but 2 agents}}
  nv_tileas.async.pipeline.agent_switch agents [<"consumers", warps = 4>, <"producer", warps = 4>] {
    nv_tileas.barrier
  }
  nv_tileaa.return
}

// -----

nv_tileaa.func @power() attributes {numWarps = 8 : i64} {
  // expected-error @+1 {{an agent's warp count must be a power of two, got 3}}
  nv_tileas.async.pipeline.agent_switch agents [<"only", warps = 3>] {
    nv_tileas.barrier
  }
  nv_tileaa.return
}

// -----

nv_tileaa.func @room() attributes {numWarps = 8 : i64} {
  // expected-error @+1 {{needs 12 warps, but the CTA has 8}}
  nv_tileas.async.pipeline.agent_switch agents [<"consumers", warps = 4>, <"producer", warps = 8>] {
    nv_tileas.barrier
  }, {
    nv_tileas.barrier
  }
  nv_tileaa.return
}

// -----

nv_tileaa.func @nested() attributes {numWarps = 8 : i64} {
  nv_tileas.async.pipeline.agent_switch agents [<"only", warps = 4>] {
    // expected-error @+1 {{agents cannot be nested}}
    nv_tileas.async.pipeline.agent_switch agents [<"only", warps = 2>] {
      nv_tileas.barrier
    }
  }
  nv_tileaa.return
}

// -----

#l = #nv_tileas.layout<register = [1, 2], lane = [4, 8, 16, 32, 64], warp = []>
#s = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64]>
nv_tileaa.func @tensor(%x: tensor<128xf32, #l>) attributes {numWarps = 1 : i64} {
  %m = nv_tileas.alloc_tensor : !nv_tileas.memdesc<128xf32, #s>
  nv_tileas.async.pipeline.agent_switch agents [<"only", warps = 1>] {
    // expected-error @+1 {{uses a tensor in registers from outside its agent}}
    nv_tileas.local_store %x, %m vector 4 : tensor<128xf32, #l>, !nv_tileas.memdesc<128xf32, #s>
  }
  nv_tileaa.return
}

// -----

nv_tileaa.func @barrier() attributes {numWarps = 8 : i64} {
  // expected-error @+1 {{needs both an id and a thread count, or neither}}
  nv_tileas.barrier id 3
  nv_tileaa.return
}

// -----

nv_tileaa.func @number() attributes {numWarps = 8 : i64} {
  // expected-error @+1 {{a barrier id must be from 0 to 15, got 16}}
  nv_tileas.barrier id 16 threads 64
  nv_tileaa.return
}

// -----

nv_tileaa.func @threads() attributes {numWarps = 8 : i64} {
  // expected-error @+1 {{the thread count must be a multiple of 32, got 48}}
  nv_tileas.barrier id 1 threads 48
  nv_tileaa.return
}

// -----

// expected-error @+1 {{alignment must be a power of two of at least 8 bytes, got 4}}
func.func private @alignment(!nv_tileas.memdesc<4xf32, #nv_tileas.shared_layout<offset = [1, 2]>, align = 4>)

// -----

nv_tileaa.func @names() attributes {numWarps = 8 : i64} {
  // expected-error @+1 {{two agents have the name 'a'}}
  nv_tileas.async.pipeline.agent_switch agents [<"a", warps = 4>, <"a", warps = 4>] {
    nv_tileas.barrier
  }, {
    nv_tileas.barrier
  }
  nv_tileaa.return
}

// -----

nv_tileaa.func @all_or_none() attributes {numWarps = 8 : i64} {
  // expected-error @+1 {{all agents or none need a register count}}
  nv_tileas.async.pipeline.agent_switch agents [<"a", warps = 4, registers = 128>, <"b", warps = 4>] {
    nv_tileas.barrier
  }, {
    nv_tileas.barrier
  }
  nv_tileaa.return
}

// -----

nv_tileaa.func @plan() attributes {
  // expected-error @+1 {{2 x 1 warpgroups need 8 warps, but the first agent has 4}}
  nv_tileas.dot_plan = #nv_tileas.dot_plan<groups = [2, 1], columns = 64, stages = 2, scratch = 1024, launch_registers = 128, agents = [<"consumers", warps = 4>]>} {
  nv_tileaa.return
}
