// RUN: tileiras-opt %s --pass-pipeline='builtin.module(convert-tileas-to-llvm)' | FileCheck %s --check-prefixes=CHECK,CHOOSE
// RUN: tileiras-opt %s --pass-pipeline='builtin.module(convert-tileas-to-llvm{index-bitwidth=32})' | FileCheck %s --check-prefixes=CHECK,NARROW
// RUN: tileiras-opt %s --pass-pipeline='builtin.module(convert-tileas-to-llvm{index-bitwidth=64})' | FileCheck %s --check-prefixes=CHECK,WIDE
// RUN: not tileiras-opt %s --pass-pipeline='builtin.module(convert-tileas-to-llvm{index-bitwidth=16})' 2>&1 | FileCheck %s --check-prefix=BITS

// Offsets are computed in 32 bits if the view's type bounds them or the option says so, and otherwise in 64 bits.
// BITS: error: index-bitwidth must be 32 or 64, or 0 to choose, got 16
#l = #nv_tileas.layout<register = [], lane = [1, 2, 4, 8, 16], warp = []>
gpu.module @kernels {
  // CHECK-LABEL: llvm.func @static
  // CHOOSE: llvm.mul %{{.*}}, %{{.*}} : i32
  // NARROW: llvm.mul %{{.*}}, %{{.*}} : i32
  // WIDE-NOT: llvm.mul {{.*}} : i32
  nv_tileaa.func @static(%p: !nv_tileaa.ptr<f32>, %i: i32) attributes {numWarps = 1 : i64} {
    %m = nv_tileaa.make_memref %p, shape = [], strides = [] : !nv_tileaa.ptr<f32> -> !nv_tileaa.memref<4096xf32, strides = [1]>
    %v = nv_tileaa.make_tiled_view %m : !nv_tileaa.memref<4096xf32, strides = [1]> -> !nv_tileaa.tiled_view<tile = [32], memref<4096xf32, strides = [1]>>
    %x, %t = nv_tileas.tiled_load <weak> %v[%i] vector 1 bounds <none> : !nv_tileaa.tiled_view<tile = [32], memref<4096xf32, strides = [1]>>[i32] -> tensor<32xf32, #l>
    nv_tileaa.return
  }
  // CHECK-LABEL: llvm.func @dynamic
  // CHOOSE-NOT: llvm.mul {{.*}} : i32
  // NARROW: llvm.mul %{{.*}}, %{{.*}} : i32
  // WIDE-NOT: llvm.mul {{.*}} : i32
  // CHECK: llvm.return
  nv_tileaa.func @dynamic(%p: !nv_tileaa.ptr<f32>, %i: i32, %n: i32) attributes {numWarps = 1 : i64} {
    %m = nv_tileaa.make_memref %p, shape = [%n : i32], strides = [%n : i32] : !nv_tileaa.ptr<f32> -> !nv_tileaa.memref<?xf32, strides = [?]>
    %v = nv_tileaa.make_tiled_view %m : !nv_tileaa.memref<?xf32, strides = [?]> -> !nv_tileaa.tiled_view<tile = [32], memref<?xf32, strides = [?]>>
    %x, %t = nv_tileas.tiled_load <weak> %v[%i] vector 1 bounds <none> : !nv_tileaa.tiled_view<tile = [32], memref<?xf32, strides = [?]>>[i32] -> tensor<32xf32, #l>
    nv_tileaa.return
  }
}
