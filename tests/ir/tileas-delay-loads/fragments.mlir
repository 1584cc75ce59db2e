// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileas-delay-loads)' | FileCheck %s

// A thread has 128 registers of the accumulator, 32 of the left operand and as many of the right one.
#c = #nv_tileas.layout<register = [1, 512, 8, 16, 32, 1024, 2048], lane = [2, 4, 64, 128, 256], warp = []>
#a = #nv_tileas.layout<register = [1, 128, 8, 256, 512], lane = [2, 4, 16, 32, 64], warp = []>
#b = #nv_tileas.layout<register = [64, 512, 8, 16, 32], lane = [128, 256, 1, 2, 4], warp = []>
#rows = #nv_tileas.layout<register = [8, 16, 32], lane = [0, 0, 1, 2, 4], warp = []>
#columns = #nv_tileas.layout<register = [1, 8, 16, 32], lane = [2, 4, 0, 0, 0], warp = []>
#linear = #nv_tileas.layout<register = [1], lane = [2, 4, 8, 16, 32], warp = []>
#s = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512]>
!left = !nv_tileas.memdesc<64x16xf8E4M3FN, #s>
!right = !nv_tileas.memdesc<16x64xf8E4M3FN, #s>
gpu.module @kernels {
  // Reads and casts move past the changes of layout of the scales, in their order.
  // CHECK-LABEL: @scaled
  // CHECK: %[[U:.*]] = nv_tileas.convert_layout %arg3
  // CHECK-NEXT: %[[V:.*]] = nv_tileas.convert_layout %arg4
  // CHECK-NEXT: %[[A:.*]] = nv_tileas.local_load %arg0
  // CHECK-NEXT: %[[X:.*]] = nv_tileaa.fp_cast %[[A]]
  // CHECK-NEXT: %[[B:.*]] = nv_tileas.local_load %arg1
  // CHECK-NEXT: %[[Y:.*]] = nv_tileaa.fp_cast %[[B]]
  // CHECK-NEXT: nv_tileas.block_scaled_mma %[[X]] scale %[[U]], %[[Y]] scale %[[V]]
  nv_tileaa.func @scaled(%p: !left, %q: !right, %z: tensor<64x64xf32, #c>, %s: tensor<64x1xf8E8M0FNU, #linear>,
      %t: tensor<1x64xf8E8M0FNU, #linear>) attributes {numWarps = 1 : i64} {
    %a = nv_tileas.local_load %p vector 2 : !left -> tensor<64x16xf8E4M3FN, #a>
    %x = nv_tileaa.fp_cast %a : tensor<64x16xf8E4M3FN, #a> -> tensor<64x16xf16, #a>
    %b = nv_tileas.local_load %q vector 1 : !right -> tensor<16x64xf8E4M3FN, #b>
    %y = nv_tileaa.fp_cast %b : tensor<16x64xf8E4M3FN, #b> -> tensor<16x64xf16, #b>
    %u = nv_tileas.convert_layout %s : tensor<64x1xf8E8M0FNU, #linear> -> tensor<64x1xf8E8M0FNU, #rows>
    %v = nv_tileas.convert_layout %t : tensor<1x64xf8E8M0FNU, #linear> -> tensor<1x64xf8E8M0FNU, #columns>
    %d = nv_tileas.block_scaled_mma %x scale %u, %y scale %v, %z by <sync, [16, 8, 16]> : tensor<64x16xf16, #a>, tensor<64x1xf8E8M0FNU, #rows>, tensor<16x64xf16, #b>, tensor<1x64xf8E8M0FNU, #columns>, tensor<64x64xf32, #c>
    nv_tileaa.return
  }
  // An operand with another use stays; a barrier keeps all reads before it.
  // CHECK-LABEL: @used_twice
  // CHECK: nv_tileas.local_load %arg0
  // CHECK-NEXT: nv_tileaa.fp_cast
  // CHECK-NEXT: arith.negf
  // CHECK-NEXT: nv_tileas.convert_layout
  // CHECK-NEXT: nv_tileas.convert_layout
  // CHECK-NEXT: nv_tileas.local_load %arg1
  // CHECK-NEXT: nv_tileaa.fp_cast
  nv_tileaa.func @used_twice(%p: !left, %q: !right, %z: tensor<64x64xf32, #c>, %s: tensor<64x1xf8E8M0FNU, #linear>,
      %t: tensor<1x64xf8E8M0FNU, #linear>) attributes {numWarps = 1 : i64} {
    %a = nv_tileas.local_load %p vector 2 : !left -> tensor<64x16xf8E4M3FN, #a>
    %x = nv_tileaa.fp_cast %a : tensor<64x16xf8E4M3FN, #a> -> tensor<64x16xf16, #a>
    %n = arith.negf %x : tensor<64x16xf16, #a>
    %b = nv_tileas.local_load %q vector 1 : !right -> tensor<16x64xf8E4M3FN, #b>
    %y = nv_tileaa.fp_cast %b : tensor<16x64xf8E4M3FN, #b> -> tensor<16x64xf16, #b>
    %u = nv_tileas.convert_layout %s : tensor<64x1xf8E8M0FNU, #linear> -> tensor<64x1xf8E8M0FNU, #rows>
    %v = nv_tileas.convert_layout %t : tensor<1x64xf8E8M0FNU, #linear> -> tensor<1x64xf8E8M0FNU, #columns>
    %d = nv_tileas.block_scaled_mma %x scale %u, %y scale %v, %z by <sync, [16, 8, 16]> : tensor<64x16xf16, #a>, tensor<64x1xf8E8M0FNU, #rows>, tensor<16x64xf16, #b>, tensor<1x64xf8E8M0FNU, #columns>, tensor<64x64xf32, #c>
    nv_tileaa.return
  }
  // CHECK-LABEL: @barrier
  // CHECK: nv_tileas.local_load %arg0
  // CHECK-NEXT: nv_tileaa.fp_cast
  // CHECK-NEXT: nv_tileas.local_load %arg1
  // CHECK-NEXT: nv_tileaa.fp_cast
  // CHECK-NEXT: nv_tileas.barrier
  // CHECK-NEXT: nv_tileas.convert_layout
  nv_tileaa.func @barrier(%p: !left, %q: !right, %z: tensor<64x64xf32, #c>, %s: tensor<64x1xf8E8M0FNU, #linear>,
      %t: tensor<1x64xf8E8M0FNU, #linear>) attributes {numWarps = 1 : i64} {
    %a = nv_tileas.local_load %p vector 2 : !left -> tensor<64x16xf8E4M3FN, #a>
    %x = nv_tileaa.fp_cast %a : tensor<64x16xf8E4M3FN, #a> -> tensor<64x16xf16, #a>
    %b = nv_tileas.local_load %q vector 1 : !right -> tensor<16x64xf8E4M3FN, #b>
    %y = nv_tileaa.fp_cast %b : tensor<16x64xf8E4M3FN, #b> -> tensor<16x64xf16, #b>
    nv_tileas.barrier
    %u = nv_tileas.convert_layout %s : tensor<64x1xf8E8M0FNU, #linear> -> tensor<64x1xf8E8M0FNU, #rows>
    %v = nv_tileas.convert_layout %t : tensor<1x64xf8E8M0FNU, #linear> -> tensor<1x64xf8E8M0FNU, #columns>
    %d = nv_tileas.block_scaled_mma %x scale %u, %y scale %v, %z by <sync, [16, 8, 16]> : tensor<64x16xf16, #a>, tensor<64x1xf8E8M0FNU, #rows>, tensor<16x64xf16, #b>, tensor<1x64xf8E8M0FNU, #columns>, tensor<64x64xf32, #c>
    nv_tileaa.return
  }
}
