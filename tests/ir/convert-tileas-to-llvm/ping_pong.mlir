// RUN: tileiras-opt %s --pass-pipeline='builtin.module(convert-tileas-to-llvm{compute-capability=sm_90},convert-tileas-to-nvgpu)' | FileCheck %s
// The ping-pong barriers come after the barrier of their agent, and later agents have barriers after them.

gpu.module @m {
  // CHECK-LABEL: llvm.func @k
  // CHECK: llvm.inline_asm has_side_effects "@$0 bar.arrive 2, 256;", "b,~{memory}"
  // CHECK: llvm.inline_asm has_side_effects "bar.sync $0, 256;", "r,~{memory}"
  // CHECK: llvm.inline_asm has_side_effects "bar.arrive $0, 256;", "r,~{memory}"
  // CHECK: llvm.inline_asm has_side_effects "@$0 bar.sync 2, 256;", "b,~{memory}"
  // CHECK: %[[OWN:.*]] = llvm.mlir.constant(1 : i32)
  // CHECK: nvvm.barrier id = %[[OWN]]
  // CHECK: %[[NEXT:.*]] = llvm.mlir.constant(4 : i32)
  // CHECK: nvvm.barrier id = %[[NEXT]]
  nv_tileaa.func @k() attributes {numWarps = 12 : i64} {
    nv_tileas.async.pipeline.agent_switch agents [<"consumers", warps = 8>, <"producer", warps = 4>] {
      %t = nv_tileas.async.pipeline.create_ping_pong : <2>
      nv_tileas.async.pipeline.ping_pong_wait %t : <2>
      nv_tileas.async.pipeline.ping_pong_arrive %t : <2>
      nv_tileas.async.pipeline.end_ping_pong %t : <2>
      nv_tileas.barrier
    }, {
      nv_tileas.barrier
    }
    nv_tileaa.return
  }
}
