// RUN: tileiras-opt %s | tileiras-opt | FileCheck %s
// RUN: tileiras-opt %s --mlir-print-op-generic | tileiras-opt | FileCheck %s
// Ping-ponged warpgroups of an agent.

// CHECK-LABEL: nv_tileaa.func @turns
nv_tileaa.func @turns(%n: i32) attributes {numWarps = 12 : i64} {
  nv_tileas.async.pipeline.agent_switch agents [<"consumers", warps = 8>, <"producer", warps = 4>] {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    // CHECK: %[[T:.*]] = nv_tileas.async.pipeline.create_ping_pong : <2>
    %t = nv_tileas.async.pipeline.create_ping_pong : <2>
    scf.for %i = %c0 to %n step %c1 : i32 {
      // CHECK: nv_tileas.async.pipeline.ping_pong_wait %[[T]] : <2>
      nv_tileas.async.pipeline.ping_pong_wait %t : <2>
      // CHECK: nv_tileas.async.pipeline.ping_pong_arrive %[[T]] : <2>
      nv_tileas.async.pipeline.ping_pong_arrive %t : <2>
    }
    // CHECK: nv_tileas.async.pipeline.end_ping_pong %[[T]] : <2>
    nv_tileas.async.pipeline.end_ping_pong %t : <2>
  }, {
    nv_tileas.barrier
  }
  nv_tileaa.return
}
