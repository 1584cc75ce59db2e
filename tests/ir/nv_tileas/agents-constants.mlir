// RUN: tileiras-opt %s --canonicalize | FileCheck %s

// Constants stay in the agent that uses them, because tensors in registers must not cross into an agent.
#l = #nv_tileas.layout<register = [1, 2], lane = [4, 8, 16, 32, 64], warp = []>
#s = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64]>
!s = !nv_tileas.memdesc<128xf32, #s>
// CHECK-LABEL: nv_tileaa.func @agents(
// CHECK-NOT: arith.constant
// CHECK: agent_switch
// CHECK-NEXT: %[[X:.*]] = arith.constant dense<1.0
// CHECK-NEXT: local_store %[[X]]
// CHECK: }, {
// CHECK-NEXT: %[[Y:.*]] = arith.constant dense<1.0
// CHECK-NEXT: local_store %[[Y]]
nv_tileaa.func @agents(%n: i32) attributes {numWarps = 2 : i64} {
  %m = nv_tileas.alloc_tensor : !s
  %k = nv_tileas.alloc_tensor : !s
  nv_tileas.async.pipeline.agent_switch agents [<"consumers", warps = 1>, <"producer", warps = 1>] {
    %x = arith.constant dense<1.0> : tensor<128xf32, #l>
    nv_tileas.local_store %x, %m vector 4 : tensor<128xf32, #l>, !s
  }, {
    %y = arith.constant dense<1.0> : tensor<128xf32, #l>
    nv_tileas.local_store %y, %k vector 4 : tensor<128xf32, #l>, !s
  }
  nv_tileaa.return
}
