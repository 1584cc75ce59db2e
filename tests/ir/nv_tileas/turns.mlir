// RUN: tileiras-opt %s | tileiras-opt | FileCheck %s
// RUN: tileiras-opt %s --mlir-print-op-generic | tileiras-opt | FileCheck %s
// Warpgroups of an agent take turns.

// CHECK-LABEL: nv_tileaa.func @turns
nv_tileaa.func @turns(%n: i32) attributes {numWarps = 12 : i64} {
  nv_tileas.async.pipeline.agent_switch warps [8, 4] {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    // CHECK: %[[T:.*]] = nv_tileas.async.pipeline.create_turns : <2>
    %t = nv_tileas.async.pipeline.create_turns : <2>
    scf.for %i = %c0 to %n step %c1 : i32 {
      // CHECK: nv_tileas.async.pipeline.take_turn %[[T]] : <2>
      nv_tileas.async.pipeline.take_turn %t : <2>
      // CHECK: nv_tileas.async.pipeline.give_turn %[[T]] : <2>
      nv_tileas.async.pipeline.give_turn %t : <2>
    }
    // CHECK: nv_tileas.async.pipeline.end_turns %[[T]] : <2>
    nv_tileas.async.pipeline.end_turns %t : <2>
  }, {
    nv_tileas.barrier
  }
  nv_tileaa.return
}
