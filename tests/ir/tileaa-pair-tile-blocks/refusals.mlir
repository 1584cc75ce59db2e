// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileaa-pair-tile-blocks{compute-capability=sm_100})' | FileCheck %s

// No tile blocks are paired.
// CHECK-NOT: get_cta_rank

// Neighbours are in one row.
nv_tileaa.func @along_rows(%a: !nv_tileaa.ptr<f16>, %b: !nv_tileaa.ptr<f16>, %c: !nv_tileaa.ptr<f32>, %n: i32, %rows: i32) {
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
  %i = arith.divui %x, %rows : i32
  %j = arith.remui %x, %rows : i32
  %sum = scf.for %k = %zero to %n step %one iter_args(%acc = %init) -> (tensor<128x128xf32>) : i32 {
    %l, %tl = nv_tileaa.tiled_load <weak> %va[%i, %k] : <tile = [128, 64], memref<?x4096xf16, strides = [4096, 1]>, padding = zero>[i32, i32] -> tensor<128x64xf16>
    %r, %tr = nv_tileaa.tiled_load <weak> %vb[%k, %j] : <tile = [64, 128], memref<?x4096xf16, strides = [4096, 1]>, padding = zero>[i32, i32] -> tensor<64x128xf16>
    %d = nv_tileaa.dot %l, %r, %acc : tensor<128x64xf16>, tensor<64x128xf16>, tensor<128x128xf32>
    scf.yield %d : tensor<128x128xf32>
  }
  %t = nv_tileaa.tiled_store <weak> %sum, %vc[%i, %j] : tensor<128x128xf32>, <tile = [128, 128], memref<?x4096xf32, strides = [4096, 1]>>[i32, i32]
  nv_tileaa.return
}

// An exclusive or mixes the rows into the columns.
nv_tileaa.func @mixed(%a: !nv_tileaa.ptr<f16>, %b: !nv_tileaa.ptr<f16>, %c: !nv_tileaa.ptr<f32>, %n: i32, %rows: i32) {
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
  %i = arith.remui %x, %rows : i32
  %q = arith.divui %x, %rows : i32
  %j = arith.xori %q, %x : i32
  %sum = scf.for %k = %zero to %n step %one iter_args(%acc = %init) -> (tensor<128x128xf32>) : i32 {
    %l, %tl = nv_tileaa.tiled_load <weak> %va[%i, %k] : <tile = [128, 64], memref<?x4096xf16, strides = [4096, 1]>, padding = zero>[i32, i32] -> tensor<128x64xf16>
    %r, %tr = nv_tileaa.tiled_load <weak> %vb[%k, %j] : <tile = [64, 128], memref<?x4096xf16, strides = [4096, 1]>, padding = zero>[i32, i32] -> tensor<64x128xf16>
    %d = nv_tileaa.dot %l, %r, %acc : tensor<128x64xf16>, tensor<64x128xf16>, tensor<128x128xf32>
    scf.yield %d : tensor<128x128xf32>
  }
  %t = nv_tileaa.tiled_store <weak> %sum, %vc[%i, %j] : tensor<128x128xf32>, <tile = [128, 128], memref<?x4096xf32, strides = [4096, 1]>>[i32, i32]
  nv_tileaa.return
}

// Each tile block has its own right operand.
nv_tileaa.func @batched(%a: !nv_tileaa.ptr<f16>, %b: !nv_tileaa.ptr<f16>, %c: !nv_tileaa.ptr<f32>, %n: i32) {
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
  %i = arith.addi %x, %zero : i32
  %j = arith.addi %x, %x : i32
  %sum = scf.for %k = %zero to %n step %one iter_args(%acc = %init) -> (tensor<128x128xf32>) : i32 {
    %l, %tl = nv_tileaa.tiled_load <weak> %va[%i, %k] : <tile = [128, 64], memref<?x4096xf16, strides = [4096, 1]>, padding = zero>[i32, i32] -> tensor<128x64xf16>
    %r, %tr = nv_tileaa.tiled_load <weak> %vb[%k, %j] : <tile = [64, 128], memref<?x4096xf16, strides = [4096, 1]>, padding = zero>[i32, i32] -> tensor<64x128xf16>
    %d = nv_tileaa.dot %l, %r, %acc : tensor<128x64xf16>, tensor<64x128xf16>, tensor<128x128xf32>
    scf.yield %d : tensor<128x128xf32>
  }
  %t = nv_tileaa.tiled_store <weak> %sum, %vc[%i, %j] : tensor<128x128xf32>, <tile = [128, 128], memref<?x4096xf32, strides = [4096, 1]>>[i32, i32]
  nv_tileaa.return
}

// It stores through pointers.
nv_tileaa.func @through_pointers(%a: !nv_tileaa.ptr<f16>, %b: !nv_tileaa.ptr<f16>, %c: !nv_tileaa.ptr<f32>, %n: i32) {
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
  %range = nv_tileaa.make_range : tensor<128xi32>
  %column = nv_tileaa.view %range : tensor<128xi32> -> tensor<1x128xi32>
  %offsets = nv_tileaa.broadcast %column : tensor<1x128xi32> -> tensor<128x128xi32>
  %base = nv_tileaa.splat %c : !nv_tileaa.ptr<f32> -> tensor<128x128x!nv_tileaa.ptr<f32>>
  %ptrs = nv_tileaa.addptr %base, %offsets : tensor<128x128x!nv_tileaa.ptr<f32>>, tensor<128x128xi32>
  %t = nv_tileaa.store <weak> %ptrs, %sum : tensor<128x128x!nv_tileaa.ptr<f32>>, tensor<128x128xf32>
  nv_tileaa.return
}

// Tile blocks may wait for one another.
nv_tileaa.func @ordered(%a: !nv_tileaa.ptr<f16>, %b: !nv_tileaa.ptr<f16>, %c: !nv_tileaa.ptr<f32>, %n: i32, %flag: !nv_tileaa.ptr<i32>) {
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
  %old, %to = nv_tileaa.load <relaxed> scope <device> %flag : !nv_tileaa.ptr<i32> -> i32
  %t = nv_tileaa.tiled_store <weak> %sum, %vc[%x, %y] : tensor<128x128xf32>, <tile = [128, 128], memref<?x4096xf32, strides = [4096, 1]>>[i32, i32]
  nv_tileaa.return
}

// All tile blocks store to the same place.
nv_tileaa.func @the_same_result(%a: !nv_tileaa.ptr<f16>, %b: !nv_tileaa.ptr<f16>, %c: !nv_tileaa.ptr<f32>, %n: i32) {
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
  %t = nv_tileaa.tiled_store <weak> %sum, %vc[%zero, %zero] : tensor<128x128xf32>, <tile = [128, 128], memref<?x4096xf32, strides = [4096, 1]>>[i32, i32]
  nv_tileaa.return
}
