// RUN: tileiras-opt %s --pass-pipeline='builtin.module(convert-tileas-to-nvgpu)' | FileCheck %s
// RUN: tileiras-opt %s --pass-pipeline='builtin.module(convert-tileas-to-nvgpu)' | tileiras-opt | FileCheck %s
// RUN: tileiras-opt %s --pass-pipeline='builtin.module(convert-tileas-to-nvgpu,convert-nvgpu-to-nvvm,reconcile-unrealized-casts)' | FileCheck %s --check-prefix=NVVM

// CHECK-LABEL: llvm.func @k
// CHECK: %[[T:.*]] = builtin.unrealized_conversion_cast %{{.*}} : i32 to !nvgpu.device.async.token
// CHECK: nvgpu.device_async_create_group %[[T]]
// CHECK: %[[U:.*]] = builtin.unrealized_conversion_cast %{{.*}} : i32 to !nvgpu.device.async.token
// CHECK: nvgpu.device_async_wait %[[U]] {numGroups = 2 : i32}
// CHECK-NEXT: nvvm.barrier0
// CHECK-NOT: nv_tileas
// NVVM: nvvm.cp.async.commit.group
// NVVM: nvvm.cp.async.wait.group 2
// NVVM: nvvm.barrier0
// NVVM-NOT: unrealized_conversion_cast
gpu.module @m {
  llvm.func @k() {
    %g = nv_tileas.async.commit
    nv_tileas.async.wait %g pending 2
    nv_tileas.barrier
    llvm.return
  }
  // This pass ignores tiles.
  // CHECK: nv_tileaa.func @tiles
  // CHECK: nv_tileas.barrier
  nv_tileaa.func @tiles() {
    nv_tileas.barrier
    nv_tileaa.return
  }
}
