// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileas-choose-register-forms)' | FileCheck %s
// Loaded bytes that a loop carries, and casts to 8-bit floats.

#l = #nv_tileas.layout<register = [1, 2, 4], lane = [8, 16, 32, 64, 128], warp = []>
#few = #nv_tileas.layout<register = [1, 2], lane = [4, 8, 16, 32, 64], warp = []>
!view = !nv_tileaa.tiled_view<tile = [256], memref<4096xi8, strides = [1]>>
!bytes = tensor<256xi8, #l>
gpu.module @kernels {
  // CHECK-LABEL: @loaded
  nv_tileaa.func @loaded(%p: !nv_tileaa.ptr<i8>, %n: i32, %z: !bytes) attributes {numWarps = 1 : i64} {
    %m = nv_tileaa.make_memref %p, shape = [], strides = [] : <i8> -> <4096xi8, strides = [1]>
    %v = nv_tileaa.make_tiled_view %m : <4096xi8, strides = [1]> -> <tile = [256], memref<4096xi8, strides = [1]>>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    // CHECK: scf.for
    %a = scf.for %i = %c0 to %n step %c1 iter_args(%x = %z) -> (!bytes) : i32 {
      %y, %t = nv_tileas.tiled_load <weak> %v[%i] vector 8 bounds <none> in_bounds [true] : !view[i32] -> !bytes
      scf.yield %y : !bytes
    // CHECK: scf.yield
    // CHECK-NEXT: } {nv_tileas.packed = array<i64: 0>}
    }
    // Loads of less than a word have nothing to keep packed.
    // CHECK: scf.for
    %b = scf.for %i = %c0 to %n step %c1 iter_args(%x = %z) -> (!bytes) : i32 {
      %y, %t = nv_tileas.tiled_load <weak> %v[%i] vector 2 bounds <none> in_bounds [true] : !view[i32] -> !bytes
      scf.yield %y : !bytes
    // CHECK: scf.yield
    // CHECK-NEXT: }{{$}}
    }
    nv_tileaa.return
  }

  // CHECK-LABEL: @casts
  nv_tileaa.func @casts(%many: tensor<256xf32, #l>, %few: tensor<128xf32, #few>) attributes {numWarps = 1 : i64} {
    // CHECK: fp_cast {{.*}}nv_tileas.tested_once
    %a = nv_tileaa.fp_cast %many : tensor<256xf32, #l> -> tensor<256xf8E4M3FN, #l>
    // CHECK-NOT: tested_once
    %b = nv_tileaa.fp_cast %few : tensor<128xf32, #few> -> tensor<128xf8E4M3FN, #few>
    %c = nv_tileaa.fp_cast %many rounding <zero> : tensor<256xf32, #l> -> tensor<256xf8E8M0FNU, #l>
    nv_tileaa.return
  }
}
