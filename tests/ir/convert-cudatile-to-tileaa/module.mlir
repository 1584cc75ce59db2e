// RUN: tileiras-opt --with-aliases %s --pass-pipeline='builtin.module(convert-cudatile-to-tileaa)' | tileiras-opt --with-aliases | FileCheck %s
// RUN: tileiras-opt --with-aliases %s --pass-pipeline='builtin.module(convert-cudatile-to-tileaa)' --mlir-print-debuginfo | FileCheck %s --check-prefix=LOC

// CHECK: module {
// CHECK-NEXT: gpu.module @first {
// CHECK-NEXT: nv_tileaa.func @k(%arg0: f32) attributes {hints = {sm_90 = {occupancy = 2 : i32}}} {
// CHECK-NEXT: nv_tileaa.return
// CHECK: nv_tileaa.func @other()
// CHECK: gpu.module @second {
// CHECK-NOT: cuda_tile
// LOC: gpu.module @second
// LOC: arith.negf %{{.*}} : f32 loc(#[[L:.*]])
// LOC: #[[L]] = loc("kernel.py":3:4)
cuda_tile.module @first {
  entry @k(%x: tile<f32>) optimization_hints=<sm_90 = {occupancy = 2 : i32}> {
    return
  }
  entry @other() {
    return
  }
}
cuda_tile.module @second {
  entry @k(%x: tile<f32>) {
    %0 = negf %x : tile<f32> loc("kernel.py":3:4)
    return
  }
}
