// RUN: tileiras-opt %s --pass-pipeline='builtin.module(convert-tileas-to-llvm{compute-capability=sm_90},convert-tileas-to-nvgpu)' | FileCheck %s
// Agents branch on the warp number. Inside, warps and threads are numbered from the agent's first, and each agent has
// its own barrier.
#l = #nv_tileas.layout<register = [1, 2], lane = [4, 8, 16, 32, 64], warp = []>
#two = #nv_tileas.layout<register = [1], lane = [2, 4, 8, 16, 32], warp = [64]>
#s = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64]>
!m = !nv_tileas.memdesc<128xf32, #s>

gpu.module @m {
  // CHECK-LABEL: llvm.func @k
  // CHECK: %[[TID:.*]] = nvvm.read.ptx.sreg.tid.x
  // CHECK: %[[WARP:.*]] = llvm.lshr %[[TID]]
  // CHECK: llvm.icmp "ult" %[[WARP]], %{{.*}} : i32
  // CHECK: nvvm.barrier id = %{{.*}} number_of_threads = %{{.*}}
  // CHECK: llvm.icmp "ult" %[[WARP]], %{{.*}} : i32
  // CHECK: llvm.sub %[[TID]], %{{.*}}
  // CHECK: llvm.sub %[[WARP]], %{{.*}}
  // CHECK: nvvm.barrier id = %{{.*}} number_of_threads = %{{.*}}
  // CHECK: nvvm.barrier0
  nv_tileaa.func @k() attributes {numWarps = 4 : i64} {
    %a = nv_tileas.alloc_tensor offset 0 : !m
    %b = nv_tileas.alloc_tensor offset 512 : !m
    nv_tileas.async.pipeline.agent_switch agents [<"consumers", warps = 1>, <"producer", warps = 2>] {
      %x = arith.constant dense<1.0> : tensor<128xf32, #l>
      nv_tileas.local_store %x, %a vector 4 : tensor<128xf32, #l>, !m
      nv_tileas.barrier
    }, {
      %x = arith.constant dense<2.0> : tensor<128xf32, #two>
      nv_tileas.local_store %x, %b vector 2 : tensor<128xf32, #two>, !m
      nv_tileas.barrier
    }
    nv_tileas.barrier
    nv_tileaa.return
  }
}
