// RUN: tileiras-opt %s | tileiras-opt | FileCheck %s
// RUN: tileiras-opt %s --mlir-print-op-generic | tileiras-opt | FileCheck %s
// Agents, their barriers, tokens without an operation, and aligned storage.
#s = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64]>

// CHECK-LABEL: nv_tileaa.func @agents
nv_tileaa.func @agents() attributes {numWarps = 12 : i64} {
  // CHECK: nv_tileas.alloc_tensor : <128xf32, stages = 2, align = 1024>
  %m = nv_tileas.alloc_tensor : !nv_tileas.memdesc<128xf32, #s, stages = 2, align = 1024>
  // CHECK: nv_tileas.async.create_none
  %t = nv_tileas.async.create_none
  // CHECK: nv_tileas.async.pipeline.agent_switch agents [<"consumers", warps = 4>, <"producer", warps = 8>] {
  nv_tileas.async.pipeline.agent_switch agents [<"consumers", warps = 4>, <"producer", warps = 8>] {
    // CHECK: nv_tileas.async.wait %{{.*}} pending 0
    nv_tileas.async.wait %t pending 0
  // CHECK: }, {
  }, {
    // CHECK: nv_tileas.barrier{{$}}
    nv_tileas.barrier
  }
  // CHECK: nv_tileas.barrier id 3 threads 128
  nv_tileas.barrier id 3 threads 128
  nv_tileaa.return
}

// An agent without a program, such as spare warps.
// CHECK-LABEL: nv_tileaa.func @empty
nv_tileaa.func @empty() attributes {numWarps = 2 : i64} {
  // CHECK: nv_tileas.async.pipeline.agent_switch
  // CHECK-NEXT: nv_tileas.barrier
  // CHECK-NEXT: }, {
  // CHECK-NEXT: }
  nv_tileas.async.pipeline.agent_switch agents [<"consumers", warps = 1>, <"spare", warps = 1>] {
    nv_tileas.barrier
  }, {
  }
  nv_tileaa.return
}
