// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileaa-split-over-cluster{compute-capability=sm_90})' | FileCheck %s --check-prefixes=CHECK,PLANNED,WGMMA
// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileaa-split-over-cluster{compute-capability=sm_100})' | FileCheck %s --check-prefixes=CHECK,PLANNED,TCGEN05
// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileaa-split-over-cluster{compute-capability=sm_120})' | FileCheck %s --check-prefixes=CHECK,OTHER
// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileaa-split-over-cluster{num-ctas=2 compute-capability=sm_100})' | FileCheck %s --check-prefix=ASKED
// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileaa-split-over-cluster{num-ctas=2 compute-capability=sm_80})' | FileCheck %s --check-prefix=NONE
// RUN: not tileiras-opt %s --pass-pipeline='builtin.module(tileaa-split-over-cluster{num-ctas=3})' 2>&1 | FileCheck %s --check-prefix=WRONG

// WRONG: num-ctas must be 1, 2, 4 or 8, or 0 to choose, got 3

// One CTA can hold the tile.
// CHECK-LABEL: nv_tileaa.func @fits(
// CHECK-NOT: num_ctas
// CHECK: tensor<128x256xf32>
// ASKED-LABEL: nv_tileaa.func @fits(
// ASKED-SAME: nv_tileas.num_ctas = 2
// NONE-LABEL: nv_tileaa.func @fits(
// NONE-NOT: num_ctas
nv_tileaa.func @fits(%a: !nv_tileaa.ptr<f16>, %b: !nv_tileaa.ptr<f16>, %c: !nv_tileaa.ptr<f32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %x, %y, %z = nv_tileaa.get_program_id
  %ma = nv_tileaa.make_memref %a, shape = [%n, %n : i32, i32], strides = [%n : i32] : <f16> -> <?x?xf16, strides = [?, 1]>
  %mb = nv_tileaa.make_memref %b, shape = [%n, %n : i32, i32], strides = [%n : i32] : <f16> -> <?x?xf16, strides = [?, 1]>
  %mc = nv_tileaa.make_memref %c, shape = [%n, %n : i32, i32], strides = [%n : i32] : <f32> -> <?x?xf32, strides = [?, 1]>
  %va = nv_tileaa.make_tiled_view %ma : <?x?xf16, strides = [?, 1]> -> <tile = [128, 64], memref<?x?xf16, strides = [?, 1]>, padding = zero>
  %vb = nv_tileaa.make_tiled_view %mb : <?x?xf16, strides = [?, 1]> -> <tile = [64, 256], memref<?x?xf16, strides = [?, 1]>, padding = zero>
  %vc = nv_tileaa.make_tiled_view %mc : <?x?xf32, strides = [?, 1]> -> <tile = [128, 256], memref<?x?xf32, strides = [?, 1]>>
  %zero = arith.constant dense<0.0> : tensor<128x256xf32>
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<128x256xf32>) : i32 {
    %l, %t1 = nv_tileaa.tiled_load <weak> %va[%x, %k] : <tile = [128, 64], memref<?x?xf16, strides = [?, 1]>, padding = zero>[i32, i32] -> tensor<128x64xf16>
    %r, %t2 = nv_tileaa.tiled_load <weak> %vb[%k, %y] : <tile = [64, 256], memref<?x?xf16, strides = [?, 1]>, padding = zero>[i32, i32] -> tensor<64x256xf16>
    %d = nv_tileaa.dot %l, %r, %acc : tensor<128x64xf16>, tensor<64x256xf16>, tensor<128x256xf32>
    scf.yield %d : tensor<128x256xf32>
  }
  %done = nv_tileaa.tiled_store <weak> %sum, %vc[%x, %y] : tensor<128x256xf32>, <tile = [128, 256], memref<?x?xf32, strides = [?, 1]>>[i32, i32]
  nv_tileaa.return
}

// Two CTAs with half the tile would load the right operand twice, so the hint is not followed.
// CHECK-LABEL: nv_tileaa.func @hinted(
// CHECK-NOT: num_ctas
// CHECK: tensor<128x256xf32>
nv_tileaa.func @hinted(%a: !nv_tileaa.ptr<f16>, %b: !nv_tileaa.ptr<f16>, %c: !nv_tileaa.ptr<f32>, %n: i32) attributes {hints = {sm_90 = {num_cta_in_cga = 2 : i32}}} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %x, %y, %z = nv_tileaa.get_program_id
  %ma = nv_tileaa.make_memref %a, shape = [%n, %n : i32, i32], strides = [%n : i32] : <f16> -> <?x?xf16, strides = [?, 1]>
  %mb = nv_tileaa.make_memref %b, shape = [%n, %n : i32, i32], strides = [%n : i32] : <f16> -> <?x?xf16, strides = [?, 1]>
  %mc = nv_tileaa.make_memref %c, shape = [%n, %n : i32, i32], strides = [%n : i32] : <f32> -> <?x?xf32, strides = [?, 1]>
  %va = nv_tileaa.make_tiled_view %ma : <?x?xf16, strides = [?, 1]> -> <tile = [128, 64], memref<?x?xf16, strides = [?, 1]>, padding = zero>
  %vb = nv_tileaa.make_tiled_view %mb : <?x?xf16, strides = [?, 1]> -> <tile = [64, 256], memref<?x?xf16, strides = [?, 1]>, padding = zero>
  %vc = nv_tileaa.make_tiled_view %mc : <?x?xf32, strides = [?, 1]> -> <tile = [128, 256], memref<?x?xf32, strides = [?, 1]>>
  %zero = arith.constant dense<0.0> : tensor<128x256xf32>
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<128x256xf32>) : i32 {
    %l, %t1 = nv_tileaa.tiled_load <weak> %va[%x, %k] : <tile = [128, 64], memref<?x?xf16, strides = [?, 1]>, padding = zero>[i32, i32] -> tensor<128x64xf16>
    %r, %t2 = nv_tileaa.tiled_load <weak> %vb[%k, %y] : <tile = [64, 256], memref<?x?xf16, strides = [?, 1]>, padding = zero>[i32, i32] -> tensor<64x256xf16>
    %d = nv_tileaa.dot %l, %r, %acc : tensor<128x64xf16>, tensor<64x256xf16>, tensor<128x256xf32>
    scf.yield %d : tensor<128x256xf32>
  }
  %done = nv_tileaa.tiled_store <weak> %sum, %vc[%x, %y] : tensor<128x256xf32>, <tile = [128, 256], memref<?x?xf32, strides = [?, 1]>>[i32, i32]
  nv_tileaa.return
}

// Two CTAs can hold the tile.
// CHECK-LABEL: nv_tileaa.func @large(
// PLANNED-SAME: nv_tileas.num_ctas = 2
// OTHER-NOT: num_ctas
// PLANNED: nv_tileaa.dot {{.*}} tensor<128x256xf32>
// OTHER: nv_tileaa.dot {{.*}} tensor<256x256xf32>
nv_tileaa.func @large(%a: !nv_tileaa.ptr<f16>, %b: !nv_tileaa.ptr<f16>, %c: !nv_tileaa.ptr<f32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %x, %y, %z = nv_tileaa.get_program_id
  %ma = nv_tileaa.make_memref %a, shape = [%n, %n : i32, i32], strides = [%n : i32] : <f16> -> <?x?xf16, strides = [?, 1]>
  %mb = nv_tileaa.make_memref %b, shape = [%n, %n : i32, i32], strides = [%n : i32] : <f16> -> <?x?xf16, strides = [?, 1]>
  %mc = nv_tileaa.make_memref %c, shape = [%n, %n : i32, i32], strides = [%n : i32] : <f32> -> <?x?xf32, strides = [?, 1]>
  %va = nv_tileaa.make_tiled_view %ma : <?x?xf16, strides = [?, 1]> -> <tile = [256, 64], memref<?x?xf16, strides = [?, 1]>, padding = zero>
  %vb = nv_tileaa.make_tiled_view %mb : <?x?xf16, strides = [?, 1]> -> <tile = [64, 256], memref<?x?xf16, strides = [?, 1]>, padding = zero>
  %vc = nv_tileaa.make_tiled_view %mc : <?x?xf32, strides = [?, 1]> -> <tile = [256, 256], memref<?x?xf32, strides = [?, 1]>>
  %zero = arith.constant dense<0.0> : tensor<256x256xf32>
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<256x256xf32>) : i32 {
    %l, %t1 = nv_tileaa.tiled_load <weak> %va[%x, %k] : <tile = [256, 64], memref<?x?xf16, strides = [?, 1]>, padding = zero>[i32, i32] -> tensor<256x64xf16>
    %r, %t2 = nv_tileaa.tiled_load <weak> %vb[%k, %y] : <tile = [64, 256], memref<?x?xf16, strides = [?, 1]>, padding = zero>[i32, i32] -> tensor<64x256xf16>
    %d = nv_tileaa.dot %l, %r, %acc : tensor<256x64xf16>, tensor<64x256xf16>, tensor<256x256xf32>
    scf.yield %d : tensor<256x256xf32>
  }
  %done = nv_tileaa.tiled_store <weak> %sum, %vc[%x, %y] : tensor<256x256xf32>, <tile = [256, 256], memref<?x?xf32, strides = [?, 1]>>[i32, i32]
  nv_tileaa.return
}

// The hint asks for two CTAs, which cannot hold the tile; four can.
// CHECK-LABEL: nv_tileaa.func @larger(
// PLANNED-SAME: nv_tileas.num_ctas = 4
// PLANNED: nv_tileaa.dot {{.*}} tensor<128x256xf32>
nv_tileaa.func @larger(%a: !nv_tileaa.ptr<f16>, %b: !nv_tileaa.ptr<f16>, %c: !nv_tileaa.ptr<f32>, %n: i32) attributes {hints = {sm_90 = {num_cta_in_cga = 2 : i32}}} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %x, %y, %z = nv_tileaa.get_program_id
  %ma = nv_tileaa.make_memref %a, shape = [%n, %n : i32, i32], strides = [%n : i32] : <f16> -> <?x?xf16, strides = [?, 1]>
  %mb = nv_tileaa.make_memref %b, shape = [%n, %n : i32, i32], strides = [%n : i32] : <f16> -> <?x?xf16, strides = [?, 1]>
  %mc = nv_tileaa.make_memref %c, shape = [%n, %n : i32, i32], strides = [%n : i32] : <f32> -> <?x?xf32, strides = [?, 1]>
  %va = nv_tileaa.make_tiled_view %ma : <?x?xf16, strides = [?, 1]> -> <tile = [512, 64], memref<?x?xf16, strides = [?, 1]>, padding = zero>
  %vb = nv_tileaa.make_tiled_view %mb : <?x?xf16, strides = [?, 1]> -> <tile = [64, 256], memref<?x?xf16, strides = [?, 1]>, padding = zero>
  %vc = nv_tileaa.make_tiled_view %mc : <?x?xf32, strides = [?, 1]> -> <tile = [512, 256], memref<?x?xf32, strides = [?, 1]>>
  %zero = arith.constant dense<0.0> : tensor<512x256xf32>
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<512x256xf32>) : i32 {
    %l, %t1 = nv_tileaa.tiled_load <weak> %va[%x, %k] : <tile = [512, 64], memref<?x?xf16, strides = [?, 1]>, padding = zero>[i32, i32] -> tensor<512x64xf16>
    %r, %t2 = nv_tileaa.tiled_load <weak> %vb[%k, %y] : <tile = [64, 256], memref<?x?xf16, strides = [?, 1]>, padding = zero>[i32, i32] -> tensor<64x256xf16>
    %d = nv_tileaa.dot %l, %r, %acc : tensor<512x64xf16>, tensor<64x256xf16>, tensor<512x256xf32>
    scf.yield %d : tensor<512x256xf32>
  }
  %done = nv_tileaa.tiled_store <weak> %sum, %vc[%x, %y] : tensor<512x256xf32>, <tile = [512, 256], memref<?x?xf32, strides = [?, 1]>>[i32, i32]
  nv_tileaa.return
}

// Columns are sliced if that is faster. Tensor memory holds all of them.
// CHECK-LABEL: nv_tileaa.func @wide(
// WGMMA-SAME: nv_tileas.num_ctas = 2
// WGMMA: nv_tileaa.dot {{.*}} tensor<128x256xf32>
// TCGEN05-NOT: num_ctas
// TCGEN05: nv_tileaa.dot {{.*}} tensor<128x512xf32>
nv_tileaa.func @wide(%a: !nv_tileaa.ptr<f16>, %b: !nv_tileaa.ptr<f16>, %c: !nv_tileaa.ptr<f32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %x, %y, %z = nv_tileaa.get_program_id
  %ma = nv_tileaa.make_memref %a, shape = [%n, %n : i32, i32], strides = [%n : i32] : <f16> -> <?x?xf16, strides = [?, 1]>
  %mb = nv_tileaa.make_memref %b, shape = [%n, %n : i32, i32], strides = [%n : i32] : <f16> -> <?x?xf16, strides = [?, 1]>
  %mc = nv_tileaa.make_memref %c, shape = [%n, %n : i32, i32], strides = [%n : i32] : <f32> -> <?x?xf32, strides = [?, 1]>
  %va = nv_tileaa.make_tiled_view %ma : <?x?xf16, strides = [?, 1]> -> <tile = [128, 64], memref<?x?xf16, strides = [?, 1]>, padding = zero>
  %vb = nv_tileaa.make_tiled_view %mb : <?x?xf16, strides = [?, 1]> -> <tile = [64, 512], memref<?x?xf16, strides = [?, 1]>, padding = zero>
  %vc = nv_tileaa.make_tiled_view %mc : <?x?xf32, strides = [?, 1]> -> <tile = [128, 512], memref<?x?xf32, strides = [?, 1]>>
  %zero = arith.constant dense<0.0> : tensor<128x512xf32>
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<128x512xf32>) : i32 {
    %l, %t1 = nv_tileaa.tiled_load <weak> %va[%x, %k] : <tile = [128, 64], memref<?x?xf16, strides = [?, 1]>, padding = zero>[i32, i32] -> tensor<128x64xf16>
    %r, %t2 = nv_tileaa.tiled_load <weak> %vb[%k, %y] : <tile = [64, 512], memref<?x?xf16, strides = [?, 1]>, padding = zero>[i32, i32] -> tensor<64x512xf16>
    %d = nv_tileaa.dot %l, %r, %acc : tensor<128x64xf16>, tensor<64x512xf16>, tensor<128x512xf32>
    scf.yield %d : tensor<128x512xf32>
  }
  %done = nv_tileaa.tiled_store <weak> %sum, %vc[%x, %y] : tensor<128x512xf32>, <tile = [128, 512], memref<?x?xf32, strides = [?, 1]>>[i32, i32]
  nv_tileaa.return
}


// An accumulator of a block-scaled dot shares tensor memory with scale factors, whose rows are those of the operand.
// CHECK-LABEL: nv_tileaa.func @scaled(
// TCGEN05-SAME: nv_tileas.num_ctas = 2
// TCGEN05: nv_tileaa.dot_scaled {{.*}} tensor<128x128xf8E4M3FN>, tensor<128x4xf8E8M0FNU>, tensor<128x256xf8E4M3FN>, tensor<4x256xf8E8M0FNU>, tensor<128x256xf32>
// WGMMA-NOT: num_ctas
// WGMMA: nv_tileaa.dot_scaled {{.*}} tensor<256x256xf32>
nv_tileaa.func @scaled(%p: !nv_tileaa.ptr<f8E4M3FN>, %q: !nv_tileaa.ptr<f8E8M0FNU>, %c: !nv_tileaa.ptr<f32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %x, %y, %z = nv_tileaa.get_program_id
  %ma = nv_tileaa.make_memref %p, shape = [%n, %n : i32, i32], strides = [%n : i32] : <f8E4M3FN> -> <?x?xf8E4M3FN, strides = [?, 1]>
  %mb = nv_tileaa.make_memref %p, shape = [%n, %n : i32, i32], strides = [%n : i32] : <f8E4M3FN> -> <?x?xf8E4M3FN, strides = [1, ?]>
  %msa = nv_tileaa.make_memref %q, shape = [%n, %n : i32, i32], strides = [%n : i32] : <f8E8M0FNU> -> <?x?xf8E8M0FNU, strides = [?, 1]>
  %msb = nv_tileaa.make_memref %q, shape = [%n, %n : i32, i32], strides = [%n : i32] : <f8E8M0FNU> -> <?x?xf8E8M0FNU, strides = [1, ?]>
  %mc = nv_tileaa.make_memref %c, shape = [%n, %n : i32, i32], strides = [%n : i32] : <f32> -> <?x?xf32, strides = [?, 1]>
  %va = nv_tileaa.make_tiled_view %ma : <?x?xf8E4M3FN, strides = [?, 1]> -> <tile = [256, 128], memref<?x?xf8E4M3FN, strides = [?, 1]>, padding = zero>
  %vb = nv_tileaa.make_tiled_view %mb : <?x?xf8E4M3FN, strides = [1, ?]> -> <tile = [128, 256], memref<?x?xf8E4M3FN, strides = [1, ?]>, padding = zero>
  %vsa = nv_tileaa.make_tiled_view %msa : <?x?xf8E8M0FNU, strides = [?, 1]> -> <tile = [256, 4], memref<?x?xf8E8M0FNU, strides = [?, 1]>>
  %vsb = nv_tileaa.make_tiled_view %msb : <?x?xf8E8M0FNU, strides = [1, ?]> -> <tile = [4, 256], memref<?x?xf8E8M0FNU, strides = [1, ?]>>
  %vc = nv_tileaa.make_tiled_view %mc : <?x?xf32, strides = [?, 1]> -> <tile = [256, 256], memref<?x?xf32, strides = [?, 1]>>
  %zero = arith.constant dense<0.0> : tensor<256x256xf32>
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<256x256xf32>) : i32 {
    %l, %t1 = nv_tileaa.tiled_load <weak> %va[%x, %k] : <tile = [256, 128], memref<?x?xf8E4M3FN, strides = [?, 1]>, padding = zero>[i32, i32] -> tensor<256x128xf8E4M3FN>
    %r, %t2 = nv_tileaa.tiled_load <weak> %vb[%k, %y] : <tile = [128, 256], memref<?x?xf8E4M3FN, strides = [1, ?]>, padding = zero>[i32, i32] -> tensor<128x256xf8E4M3FN>
    %sl, %t3 = nv_tileaa.tiled_load <weak> %vsa[%x, %k] : <tile = [256, 4], memref<?x?xf8E8M0FNU, strides = [?, 1]>>[i32, i32] -> tensor<256x4xf8E8M0FNU>
    %sr, %t4 = nv_tileaa.tiled_load <weak> %vsb[%k, %y] : <tile = [4, 256], memref<?x?xf8E8M0FNU, strides = [1, ?]>>[i32, i32] -> tensor<4x256xf8E8M0FNU>
    %d = nv_tileaa.dot_scaled %l scale %sl, %r scale %sr, %acc : tensor<256x128xf8E4M3FN>, tensor<256x4xf8E8M0FNU>, tensor<128x256xf8E4M3FN>, tensor<4x256xf8E8M0FNU>, tensor<256x256xf32>
    scf.yield %d : tensor<256x256xf32>
  }
  %done = nv_tileaa.tiled_store <weak> %sum, %vc[%x, %y] : tensor<256x256xf32>, <tile = [256, 256], memref<?x?xf32, strides = [?, 1]>>[i32, i32]
  nv_tileaa.return
}
