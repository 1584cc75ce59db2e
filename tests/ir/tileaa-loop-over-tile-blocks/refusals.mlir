// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileaa-loop-over-tile-blocks{compute-capability=sm_90})' | FileCheck %s

// Each CTA runs one tile block.
// CHECK-NOT: num_programs_of_cta

// Too many iterations.
nv_tileaa.func @many(%a: !nv_tileaa.ptr<f16>, %b: !nv_tileaa.ptr<f16>, %c: !nv_tileaa.ptr<f32>, %n: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %all = arith.constant 500 : i32
  %init = arith.constant dense<0.0> : tensor<128x128xf32>
  %pa = nv_tileaa.assume #cuda_tile.div_by<16>, %a : !nv_tileaa.ptr<f16>
  %pb = nv_tileaa.assume #cuda_tile.div_by<16>, %b : !nv_tileaa.ptr<f16>
  %ma = nv_tileaa.make_memref %pa, shape = [%n : i32], strides = [] : <f16> -> <?x4096xf16, strides = [4096, 1]>
  %mb = nv_tileaa.make_memref %pb, shape = [%n : i32], strides = [] : <f16> -> <?x4096xf16, strides = [4096, 1]>
  %mc = nv_tileaa.make_memref %c, shape = [%n : i32], strides = [] : <f32> -> <?x4096xf32, strides = [4096, 1]>
  %va = nv_tileaa.make_tiled_view %ma : <?x4096xf16, strides = [4096, 1]> -> <tile = [128, 64], memref<?x4096xf16, strides = [4096, 1]>, padding = zero>
  %vb = nv_tileaa.make_tiled_view %mb : <?x4096xf16, strides = [4096, 1]> -> <tile = [64, 128], memref<?x4096xf16, strides = [4096, 1]>, padding = zero>
  %vc = nv_tileaa.make_tiled_view %mc : <?x4096xf32, strides = [4096, 1]> -> <tile = [128, 128], memref<?x4096xf32, strides = [4096, 1]>>
  %x, %y, %z = nv_tileaa.get_program_id
  %sum = scf.for %k = %zero to %all step %one iter_args(%acc = %init) -> (tensor<128x128xf32>) : i32 {
    %l, %tl = nv_tileaa.tiled_load <weak> %va[%x, %k] : <tile = [128, 64], memref<?x4096xf16, strides = [4096, 1]>, padding = zero>[i32, i32] -> tensor<128x64xf16>
    %r, %tr = nv_tileaa.tiled_load <weak> %vb[%k, %y] : <tile = [64, 128], memref<?x4096xf16, strides = [4096, 1]>, padding = zero>[i32, i32] -> tensor<64x128xf16>
    %d = nv_tileaa.dot %l, %r, %acc : tensor<128x64xf16>, tensor<64x128xf16>, tensor<128x128xf32>
    scf.yield %d : tensor<128x128xf32>
  }
  %t = nv_tileaa.tiled_store <weak> %sum, %vc[%x, %y] : tensor<128x128xf32>, <tile = [128, 128], memref<?x4096xf32, strides = [4096, 1]>>[i32, i32]
  nv_tileaa.return
}

// The number of iterations depends on the tile block.
nv_tileaa.func @uneven(%a: !nv_tileaa.ptr<f16>, %b: !nv_tileaa.ptr<f16>, %c: !nv_tileaa.ptr<f32>, %n: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %init = arith.constant dense<0.0> : tensor<128x128xf32>
  %pa = nv_tileaa.assume #cuda_tile.div_by<16>, %a : !nv_tileaa.ptr<f16>
  %pb = nv_tileaa.assume #cuda_tile.div_by<16>, %b : !nv_tileaa.ptr<f16>
  %ma = nv_tileaa.make_memref %pa, shape = [%n : i32], strides = [] : <f16> -> <?x4096xf16, strides = [4096, 1]>
  %mb = nv_tileaa.make_memref %pb, shape = [%n : i32], strides = [] : <f16> -> <?x4096xf16, strides = [4096, 1]>
  %mc = nv_tileaa.make_memref %c, shape = [%n : i32], strides = [] : <f32> -> <?x4096xf32, strides = [4096, 1]>
  %va = nv_tileaa.make_tiled_view %ma : <?x4096xf16, strides = [4096, 1]> -> <tile = [128, 64], memref<?x4096xf16, strides = [4096, 1]>, padding = zero>
  %vb = nv_tileaa.make_tiled_view %mb : <?x4096xf16, strides = [4096, 1]> -> <tile = [64, 128], memref<?x4096xf16, strides = [4096, 1]>, padding = zero>
  %vc = nv_tileaa.make_tiled_view %mc : <?x4096xf32, strides = [4096, 1]> -> <tile = [128, 128], memref<?x4096xf32, strides = [4096, 1]>>
  %x, %y, %z = nv_tileaa.get_program_id
  %sum = scf.for %k = %zero to %x step %one iter_args(%acc = %init) -> (tensor<128x128xf32>) : i32 {
    %l, %tl = nv_tileaa.tiled_load <weak> %va[%x, %k] : <tile = [128, 64], memref<?x4096xf16, strides = [4096, 1]>, padding = zero>[i32, i32] -> tensor<128x64xf16>
    %r, %tr = nv_tileaa.tiled_load <weak> %vb[%k, %y] : <tile = [64, 128], memref<?x4096xf16, strides = [4096, 1]>, padding = zero>[i32, i32] -> tensor<64x128xf16>
    %d = nv_tileaa.dot %l, %r, %acc : tensor<128x64xf16>, tensor<64x128xf16>, tensor<128x128xf32>
    scf.yield %d : tensor<128x128xf32>
  }
  %t = nv_tileaa.tiled_store <weak> %sum, %vc[%x, %y] : tensor<128x128xf32>, <tile = [128, 128], memref<?x4096xf32, strides = [4096, 1]>>[i32, i32]
  nv_tileaa.return
}

// The program asks for a number of CTAs per SM.
nv_tileaa.func @occupancy(%a: !nv_tileaa.ptr<f16>, %b: !nv_tileaa.ptr<f16>, %c: !nv_tileaa.ptr<f32>, %n: i32) attributes {hints = {sm_90 = {occupancy = 1 : i32}}} {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %init = arith.constant dense<0.0> : tensor<128x128xf32>
  %pa = nv_tileaa.assume #cuda_tile.div_by<16>, %a : !nv_tileaa.ptr<f16>
  %pb = nv_tileaa.assume #cuda_tile.div_by<16>, %b : !nv_tileaa.ptr<f16>
  %ma = nv_tileaa.make_memref %pa, shape = [%n : i32], strides = [] : <f16> -> <?x4096xf16, strides = [4096, 1]>
  %mb = nv_tileaa.make_memref %pb, shape = [%n : i32], strides = [] : <f16> -> <?x4096xf16, strides = [4096, 1]>
  %mc = nv_tileaa.make_memref %c, shape = [%n : i32], strides = [] : <f32> -> <?x4096xf32, strides = [4096, 1]>
  %va = nv_tileaa.make_tiled_view %ma : <?x4096xf16, strides = [4096, 1]> -> <tile = [128, 64], memref<?x4096xf16, strides = [4096, 1]>, padding = zero>
  %vb = nv_tileaa.make_tiled_view %mb : <?x4096xf16, strides = [4096, 1]> -> <tile = [64, 128], memref<?x4096xf16, strides = [4096, 1]>, padding = zero>
  %vc = nv_tileaa.make_tiled_view %mc : <?x4096xf32, strides = [4096, 1]> -> <tile = [128, 128], memref<?x4096xf32, strides = [4096, 1]>>
  %x, %y, %z = nv_tileaa.get_program_id
  %sum = scf.for %k = %zero to %n step %one iter_args(%acc = %init) -> (tensor<128x128xf32>) : i32 {
    %l, %tl = nv_tileaa.tiled_load <weak> %va[%x, %k] : <tile = [128, 64], memref<?x4096xf16, strides = [4096, 1]>, padding = zero>[i32, i32] -> tensor<128x64xf16>
    %r, %tr = nv_tileaa.tiled_load <weak> %vb[%k, %y] : <tile = [64, 128], memref<?x4096xf16, strides = [4096, 1]>, padding = zero>[i32, i32] -> tensor<64x128xf16>
    %d = nv_tileaa.dot %l, %r, %acc : tensor<128x64xf16>, tensor<64x128xf16>, tensor<128x128xf32>
    scf.yield %d : tensor<128x128xf32>
  }
  %t = nv_tileaa.tiled_store <weak> %sum, %vc[%x, %y] : tensor<128x128xf32>, <tile = [128, 128], memref<?x4096xf32, strides = [4096, 1]>>[i32, i32]
  nv_tileaa.return
}

// Another tile block may wait for the store.
nv_tileaa.func @ordered(%a: !nv_tileaa.ptr<f16>, %b: !nv_tileaa.ptr<f16>, %c: !nv_tileaa.ptr<f32>, %n: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %init = arith.constant dense<0.0> : tensor<128x128xf32>
  %pa = nv_tileaa.assume #cuda_tile.div_by<16>, %a : !nv_tileaa.ptr<f16>
  %pb = nv_tileaa.assume #cuda_tile.div_by<16>, %b : !nv_tileaa.ptr<f16>
  %ma = nv_tileaa.make_memref %pa, shape = [%n : i32], strides = [] : <f16> -> <?x4096xf16, strides = [4096, 1]>
  %mb = nv_tileaa.make_memref %pb, shape = [%n : i32], strides = [] : <f16> -> <?x4096xf16, strides = [4096, 1]>
  %mc = nv_tileaa.make_memref %c, shape = [%n : i32], strides = [] : <f32> -> <?x4096xf32, strides = [4096, 1]>
  %va = nv_tileaa.make_tiled_view %ma : <?x4096xf16, strides = [4096, 1]> -> <tile = [128, 64], memref<?x4096xf16, strides = [4096, 1]>, padding = zero>
  %vb = nv_tileaa.make_tiled_view %mb : <?x4096xf16, strides = [4096, 1]> -> <tile = [64, 128], memref<?x4096xf16, strides = [4096, 1]>, padding = zero>
  %vc = nv_tileaa.make_tiled_view %mc : <?x4096xf32, strides = [4096, 1]> -> <tile = [128, 128], memref<?x4096xf32, strides = [4096, 1]>>
  %x, %y, %z = nv_tileaa.get_program_id
  %sum = scf.for %k = %zero to %n step %one iter_args(%acc = %init) -> (tensor<128x128xf32>) : i32 {
    %l, %tl = nv_tileaa.tiled_load <weak> %va[%x, %k] : <tile = [128, 64], memref<?x4096xf16, strides = [4096, 1]>, padding = zero>[i32, i32] -> tensor<128x64xf16>
    %r, %tr = nv_tileaa.tiled_load <weak> %vb[%k, %y] : <tile = [64, 128], memref<?x4096xf16, strides = [4096, 1]>, padding = zero>[i32, i32] -> tensor<64x128xf16>
    %d = nv_tileaa.dot %l, %r, %acc : tensor<128x64xf16>, tensor<64x128xf16>, tensor<128x128xf32>
    scf.yield %d : tensor<128x128xf32>
  }
  %t = nv_tileaa.tiled_store <release> scope <device> %sum, %vc[%x, %y] : tensor<128x128xf32>, <tile = [128, 128], memref<?x4096xf32, strides = [4096, 1]>>[i32, i32]
  nv_tileaa.return
}

// Warps must load the left operand.
nv_tileaa.func @unaligned(%a: !nv_tileaa.ptr<f16>, %b: !nv_tileaa.ptr<f16>, %c: !nv_tileaa.ptr<f32>, %n: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %init = arith.constant dense<0.0> : tensor<128x128xf32>
  %pa = nv_tileaa.assume #cuda_tile.div_by<2>, %a : !nv_tileaa.ptr<f16>
  %pb = nv_tileaa.assume #cuda_tile.div_by<16>, %b : !nv_tileaa.ptr<f16>
  %ma = nv_tileaa.make_memref %pa, shape = [%n : i32], strides = [] : <f16> -> <?x4096xf16, strides = [4096, 1]>
  %mb = nv_tileaa.make_memref %pb, shape = [%n : i32], strides = [] : <f16> -> <?x4096xf16, strides = [4096, 1]>
  %mc = nv_tileaa.make_memref %c, shape = [%n : i32], strides = [] : <f32> -> <?x4096xf32, strides = [4096, 1]>
  %va = nv_tileaa.make_tiled_view %ma : <?x4096xf16, strides = [4096, 1]> -> <tile = [128, 64], memref<?x4096xf16, strides = [4096, 1]>, padding = zero>
  %vb = nv_tileaa.make_tiled_view %mb : <?x4096xf16, strides = [4096, 1]> -> <tile = [64, 128], memref<?x4096xf16, strides = [4096, 1]>, padding = zero>
  %vc = nv_tileaa.make_tiled_view %mc : <?x4096xf32, strides = [4096, 1]> -> <tile = [128, 128], memref<?x4096xf32, strides = [4096, 1]>>
  %x, %y, %z = nv_tileaa.get_program_id
  %sum = scf.for %k = %zero to %n step %one iter_args(%acc = %init) -> (tensor<128x128xf32>) : i32 {
    %l, %tl = nv_tileaa.tiled_load <weak> %va[%x, %k] : <tile = [128, 64], memref<?x4096xf16, strides = [4096, 1]>, padding = zero>[i32, i32] -> tensor<128x64xf16>
    %r, %tr = nv_tileaa.tiled_load <weak> %vb[%k, %y] : <tile = [64, 128], memref<?x4096xf16, strides = [4096, 1]>, padding = zero>[i32, i32] -> tensor<64x128xf16>
    %d = nv_tileaa.dot %l, %r, %acc : tensor<128x64xf16>, tensor<64x128xf16>, tensor<128x128xf32>
    scf.yield %d : tensor<128x128xf32>
  }
  %t = nv_tileaa.tiled_store <weak> %sum, %vc[%x, %y] : tensor<128x128xf32>, <tile = [128, 128], memref<?x4096xf32, strides = [4096, 1]>>[i32, i32]
  nv_tileaa.return
}
