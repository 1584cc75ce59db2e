// RUN: tileiras-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(tileas-check-register-budget{compute-capability=sm_90})'

// The consumers get the registers that the producer releases: 128 * 40 + 256 * 232 = 384 * 168.
nv_tileaa.func @fits() attributes {numWarps = 12 : i64, nv_tileas.max_registers = 168 : i64} {
  nv_tileas.async.pipeline.agent_switch agents [<"consumers", warps = 8, registers = 232>, <"producer", warps = 4, registers = 40>] {
    nv_tileas.barrier
  }, {
    nv_tileas.barrier
  }
  nv_tileaa.return
}
// -----
nv_tileaa.func @more_than_there_are() attributes {numWarps = 12 : i64, nv_tileas.max_registers = 168 : i64} {
  // expected-error @below {{agents request 66560 registers but have 64512 at launch: setmaxnreg would deadlock}}
  nv_tileas.async.pipeline.agent_switch agents [<"consumers", warps = 8, registers = 240>, <"producer", warps = 4, registers = 40>] {
    nv_tileas.barrier
  }, {
    nv_tileas.barrier
  }
  nv_tileaa.return
}
// -----
// The four warps that belong to no agent keep their registers.
nv_tileaa.func @others() attributes {numWarps = 16 : i64, nv_tileas.max_registers = 96 : i64} {
  // expected-error @below {{agents request 39936 registers but have 36864 at launch: setmaxnreg would deadlock}}
  nv_tileas.async.pipeline.agent_switch agents [<"consumers", warps = 8, registers = 136>, <"producer", warps = 4, registers = 40>] {
    nv_tileas.barrier
  }, {
    nv_tileas.barrier
  }
  nv_tileaa.return
}
// -----
nv_tileaa.func @launch() attributes {numWarps = 12 : i64, nv_tileas.max_registers = 176 : i64} {
  // expected-error @below {{the block starts with 67584 registers, but an SM has only 65536}}
  nv_tileas.async.pipeline.agent_switch agents [<"consumers", warps = 8, registers = 232>, <"producer", warps = 4, registers = 24>] {
    nv_tileas.barrier
  }, {
    nv_tileas.barrier
  }
  nv_tileaa.return
}
// -----
nv_tileaa.func @step() attributes {numWarps = 8 : i64, nv_tileas.max_registers = 128 : i64} {
  // expected-error @below {{an agent's register count must be a multiple of 8 from 24 to 256, got 100}}
  nv_tileas.async.pipeline.agent_switch agents [<"consumers", warps = 4, registers = 100>, <"producer", warps = 4, registers = 40>] {
    nv_tileas.barrier
  }, {
    nv_tileas.barrier
  }
  nv_tileaa.return
}
// -----
nv_tileaa.func @few() attributes {numWarps = 8 : i64, nv_tileas.max_registers = 128 : i64} {
  // expected-error @below {{an agent's register count must be a multiple of 8 from 24 to 256, got 16}}
  nv_tileas.async.pipeline.agent_switch agents [<"consumers", warps = 4, registers = 232>, <"producer", warps = 4, registers = 16>] {
    nv_tileas.barrier
  }, {
    nv_tileas.barrier
  }
  nv_tileaa.return
}
// -----
nv_tileaa.func @warp() attributes {numWarps = 5 : i64, nv_tileas.max_registers = 128 : i64} {
  // expected-error @below {{setmaxnreg applies to whole warpgroups, but agent 'producer' ends with warp 4 of the block}}
  nv_tileas.async.pipeline.agent_switch agents [<"consumers", warps = 4, registers = 128>, <"producer", warps = 1, registers = 40>] {
    nv_tileas.barrier
  }, {
    nv_tileas.barrier
  }
  nv_tileaa.return
}
// -----
// Agents of one warpgroup change its registers together.
nv_tileaa.func @shared_warpgroup() attributes {numWarps = 8 : i64, nv_tileas.max_registers = 128 : i64} {
  nv_tileas.async.pipeline.agent_switch agents [<"a", warps = 4, registers = 216>, <"b", warps = 1, registers = 40>, <"c", warps = 1, registers = 40>, <"d", warps = 2, registers = 40>] {
    nv_tileas.barrier
  }, {
    nv_tileas.barrier
  }, {
    nv_tileas.barrier
  }, {
    nv_tileas.barrier
  }
  nv_tileaa.return
}
// -----
nv_tileaa.func @different_counts() attributes {numWarps = 8 : i64, nv_tileas.max_registers = 128 : i64} {
  // expected-error @below {{agents 'b' and 'c' share a warpgroup but request different register counts}}
  nv_tileas.async.pipeline.agent_switch agents [<"a", warps = 4, registers = 200>, <"b", warps = 2, registers = 40>, <"c", warps = 2, registers = 24>] {
    nv_tileas.barrier
  }, {
    nv_tileas.barrier
  }, {
    nv_tileas.barrier
  }
  nv_tileaa.return
}
// -----
nv_tileaa.func @across_warpgroups() attributes {numWarps = 8 : i64, nv_tileas.max_registers = 128 : i64} {
  // expected-error @below {{setmaxnreg applies to whole warpgroups, but agent 'b' has 4 warps from warp 2}}
  nv_tileas.async.pipeline.agent_switch agents [<"a", warps = 2, registers = 40>, <"b", warps = 4, registers = 40>, <"c", warps = 2, registers = 40>] {
    nv_tileas.barrier
  }, {
    nv_tileas.barrier
  }, {
    nv_tileas.barrier
  }
  nv_tileaa.return
}
// -----
nv_tileaa.func @unsaid() attributes {numWarps = 8 : i64} {
  // expected-error @below {{the kernel lacks the attribute 'nv_tileas.max_registers'}}
  nv_tileas.async.pipeline.agent_switch agents [<"consumers", warps = 4, registers = 128>, <"producer", warps = 4, registers = 40>] {
    nv_tileas.barrier
  }, {
    nv_tileas.barrier
  }
  nv_tileaa.return
}
// -----
// Agents without a register count change nothing.
nv_tileaa.func @free() attributes {numWarps = 5 : i64} {
  nv_tileas.async.pipeline.agent_switch agents [<"consumers", warps = 4>, <"producer", warps = 1>] {
    nv_tileas.barrier
  }, {
    nv_tileas.barrier
  }
  nv_tileaa.return
}
