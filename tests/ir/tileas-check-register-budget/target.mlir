// RUN: tileiras-opt %s --verify-diagnostics --pass-pipeline='builtin.module(tileas-check-register-budget{compute-capability=sm_80})'

nv_tileaa.func @fits() attributes {numWarps = 8 : i64, nv_tileas.max_registers = 128 : i64} {
  // expected-error @below {{sm_80 does not support setmaxnreg}}
  nv_tileas.async.pipeline.agent_switch agents [<"consumers", warps = 4, registers = 200>, <"producer", warps = 4, registers = 40>] {
    nv_tileas.barrier
  }, {
    nv_tileas.barrier
  }
  nv_tileaa.return
}
