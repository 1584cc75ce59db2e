// RUN: tileiras-opt %s --split-input-file --remarks --verify-diagnostics --pass-pipeline='builtin.module(tileaa-split-over-cluster{num-ctas=2 compute-capability=sm_90})'

// Both rows and columns would have to be combined across CTAs.
nv_tileaa.func @combined(%a: !nv_tileaa.ptr<f16>, %b: !nv_tileaa.ptr<f16>, %c: !nv_tileaa.ptr<f32>, %n: i32, %q: !nv_tileaa.ptr<f32>) {
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
  // expected-remark @below {{NotSplit: 2 CTAs cannot split the tile: 'nv_tileaa.reduce' needs the whole result of a dot}}
  %s = nv_tileaa.reduce %sum dim 0 identities [0.0 : f32] : tensor<256x256xf32> -> tensor<256xf32> {
  ^bb0(%e: f32, %f: f32):
    %g = arith.addf %e, %f : f32
    nv_tileaa.yield %g : f32
  }
  %s1 = nv_tileaa.reduce %s dim 0 identities [0.0 : f32] : tensor<256xf32> -> f32 {
  ^bb0(%e: f32, %f: f32):
    %g = arith.addf %e, %f : f32
    nv_tileaa.yield %g : f32
  }
  %stored = nv_tileaa.store <weak> %q, %s1 : !nv_tileaa.ptr<f32>, f32
  nv_tileaa.return
}

// -----

// Scans along rows and along columns.
nv_tileaa.func @scanned(%a: !nv_tileaa.ptr<f16>, %b: !nv_tileaa.ptr<f16>, %c: !nv_tileaa.ptr<f32>, %n: i32) {
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
  // expected-remark @below {{'nv_tileaa.scan' needs the whole result of a dot}}
  %s = nv_tileaa.scan %sum dim 0 identities [0.0 : f32] : tensor<256x256xf32> -> tensor<256x256xf32> {
  ^bb0(%e: f32, %f: f32):
    %g = arith.addf %e, %f : f32
    nv_tileaa.yield %g : f32
  }
  %q = nv_tileaa.scan %s dim 1 identities [0.0 : f32] : tensor<256x256xf32> -> tensor<256x256xf32> {
  ^bb0(%e: f32, %f: f32):
    %g = arith.addf %e, %f : f32
    nv_tileaa.yield %g : f32
  }
  %done = nv_tileaa.tiled_store <weak> %q, %vc[%x, %y] : tensor<256x256xf32>, <tile = [256, 256], memref<?x?xf32, strides = [?, 1]>>[i32, i32]
  nv_tileaa.return
}

// -----

// An atomic update must be done once.
nv_tileaa.func @atomic(%a: !nv_tileaa.ptr<f16>, %b: !nv_tileaa.ptr<f16>, %c: !nv_tileaa.ptr<f32>, %n: i32, %q: !nv_tileaa.ptr<i32>) {
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
  // expected-remark @below {{'nv_tileaa.atomic_rmw' must run once per tile}}
  %old, %t = nv_tileaa.atomic_rmw <add> <relaxed> <device> %q, %x : !nv_tileaa.ptr<i32>, i32
  nv_tileaa.return
}

// -----

// Output must be printed once.
nv_tileaa.func @printed(%a: !nv_tileaa.ptr<f16>, %b: !nv_tileaa.ptr<f16>, %c: !nv_tileaa.ptr<f32>, %n: i32) {
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
  // expected-remark @below {{'nv_tileaa.print' must run once per tile}}
  %t = nv_tileaa.print "%d", %x : i32
  nv_tileaa.return
}

// -----

// Other threads see earlier stores.
nv_tileaa.func @ordered(%a: !nv_tileaa.ptr<f16>, %b: !nv_tileaa.ptr<f16>, %c: !nv_tileaa.ptr<f32>, %n: i32, %q: !nv_tileaa.ptr<i32>) {
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
  // expected-remark @below {{'nv_tileaa.store' orders accesses of other threads}}
  %t = nv_tileaa.store <release> scope <device> %q, %x token %done : !nv_tileaa.ptr<i32>, i32
  nv_tileaa.return
}

// -----

// Memory that another rank has stored to is loaded.
nv_tileaa.func @loaded_back(%a: !nv_tileaa.ptr<f16>, %b: !nv_tileaa.ptr<f16>, %c: !nv_tileaa.ptr<f32>, %n: i32) {
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
  %v2 = nv_tileaa.make_tiled_view %mc : <?x?xf32, strides = [?, 1]> -> <tile = [256, 256], memref<?x?xf32, strides = [?, 1]>, dim_map = [1, 0]>
  // expected-remark @below {{'nv_tileaa.tiled_load' is ordered after an access of another CTA}}
  %l, %t = nv_tileaa.tiled_load <weak> %v2[%x, %y] token %done : <tile = [256, 256], memref<?x?xf32, strides = [?, 1]>, dim_map = [1, 0]>[i32, i32] -> tensor<256x256xf32>
  %l2 = nv_tileaa.permute %l [1, 0] : tensor<256x256xf32> -> tensor<256x256xf32>
  %w = nv_tileaa.make_tiled_view %mc : <?x?xf32, strides = [?, 1]> -> <tile = [256, 256], memref<?x?xf32, strides = [?, 1]>, dim_map = [1, 0]>
  %again = nv_tileaa.tiled_store <weak> %l2, %w[%x, %y] : tensor<256x256xf32>, <tile = [256, 256], memref<?x?xf32, strides = [?, 1]>, dim_map = [1, 0]>[i32, i32]
  nv_tileaa.return
}

// -----

// A store that overwrites an operand that all ranks read in whole.
nv_tileaa.func @in_place(%a: !nv_tileaa.ptr<f16>, %b: !nv_tileaa.ptr<f16>, %c: !nv_tileaa.ptr<f32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %x, %y, %z = nv_tileaa.get_program_id
  %ma = nv_tileaa.make_memref %a, shape = [%n, %n : i32, i32], strides = [%n : i32] : <f16> -> <?x?xf16, strides = [?, 1]>
  %mb = nv_tileaa.make_memref %b, shape = [%n, %n : i32, i32], strides = [%n : i32] : <f16> -> <?x?xf16, strides = [?, 1]>
  %mc = nv_tileaa.make_memref %c, shape = [%n, %n : i32, i32], strides = [%n : i32] : <f32> -> <?x?xf32, strides = [?, 1]>
  %va = nv_tileaa.make_tiled_view %ma : <?x?xf16, strides = [?, 1]> -> <tile = [256, 64], memref<?x?xf16, strides = [?, 1]>, padding = zero>
  %vb = nv_tileaa.make_tiled_view %mb : <?x?xf16, strides = [?, 1]> -> <tile = [64, 64], memref<?x?xf16, strides = [?, 1]>, padding = zero>
  %vc = nv_tileaa.make_tiled_view %mc : <?x?xf32, strides = [?, 1]> -> <tile = [256, 64], memref<?x?xf32, strides = [?, 1]>>
  %zero = arith.constant dense<0.0> : tensor<256x64xf32>
  %l, %t1 = nv_tileaa.tiled_load <weak> %va[%x, %c0] : <tile = [256, 64], memref<?x?xf16, strides = [?, 1]>, padding = zero>[i32, i32] -> tensor<256x64xf16>
  %r, %t2 = nv_tileaa.tiled_load <weak> %vb[%c0, %y] : <tile = [64, 64], memref<?x?xf16, strides = [?, 1]>, padding = zero>[i32, i32] -> tensor<64x64xf16>
  %sum = nv_tileaa.dot %l, %r, %zero : tensor<256x64xf16>, tensor<64x64xf16>, tensor<256x64xf32>
  // expected-remark @below {{'nv_tileaa.tiled_store' is ordered after an access of another CTA}}
  %done = nv_tileaa.tiled_store <weak> %sum, %vc[%x, %y] token %t2 : tensor<256x64xf32>, <tile = [256, 64], memref<?x?xf32, strides = [?, 1]>>[i32, i32]
  nv_tileaa.return
}

// -----

// Half a tile after the end would be written without a check: the extent is three halves.
nv_tileaa.func @half_behind_the_end(%c: !nv_tileaa.ptr<f32>, %x: i32) {
  %zero = arith.constant dense<0.0> : tensor<256x64xf32>
  %mc = nv_tileaa.make_memref %c, shape = [], strides = [] : <f32> -> <384x96xf32, strides = [96, 1]>
  %vc = nv_tileaa.make_tiled_view %mc : <384x96xf32, strides = [96, 1]> -> <tile = [256, 64], memref<384x96xf32, strides = [96, 1]>>
  // expected-remark @below {{a slice could be out of bounds without a check}}
  %done = nv_tileaa.tiled_store <weak> %zero, %vc[%x, %x] : tensor<256x64xf32>, <tile = [256, 64], memref<384x96xf32, strides = [96, 1]>>[i32, i32]
  nv_tileaa.return
}

// -----

// Slices of overlapping tiles are not tiles.
nv_tileaa.func @overlapping(%c: !nv_tileaa.ptr<f32>, %n: i32, %x: i32) {
  %zero = arith.constant dense<0.0> : tensor<256x64xf32>
  %mc = nv_tileaa.make_memref %c, shape = [%n, %n : i32, i32], strides = [%n : i32] : <f32> -> <?x?xf32, strides = [?, 1]>
  %vc = nv_tileaa.make_tiled_view %mc : <?x?xf32, strides = [?, 1]> -> <tile = [256, 64], memref<?x?xf32, strides = [?, 1]>, steps = [128, 32]>
  // expected-remark @below {{its tiles overlap or have gaps}}
  %done = nv_tileaa.tiled_store <weak> %zero, %vc[%x, %x] : tensor<256x64xf32>, <tile = [256, 64], memref<?x?xf32, strides = [?, 1]>, steps = [128, 32]>[i32, i32]
  nv_tileaa.return
}

// -----

// Stores through pointers may access the same memory in the next iteration, and would be unordered.
nv_tileaa.func @scattered(%q: !nv_tileaa.ptr<f32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<256xf32>
  %range = nv_tileaa.make_range : tensor<256xi32>
  %base = nv_tileaa.splat %q : !nv_tileaa.ptr<f32> -> tensor<256x!nv_tileaa.ptr<f32>>
  %t0 = nv_tileaa.create_mem_token
  %end = scf.for %i = %c0 to %n step %c1 iter_args(%t = %t0) -> (!nv_tileaa.mem_token) : i32 {
    %by = nv_tileaa.splat %i : i32 -> tensor<256xi32>
    %at = arith.addi %range, %by : tensor<256xi32>
    %ptrs = nv_tileaa.addptr %base, %at : tensor<256x!nv_tileaa.ptr<f32>>, tensor<256xi32>
    // expected-remark @below {{'nv_tileaa.store' is ordered after an access of another CTA}}
    %done = nv_tileaa.store <weak> %ptrs, %zero token %t : tensor<256x!nv_tileaa.ptr<f32>>, tensor<256xf32>
    scf.yield %done : !nv_tileaa.mem_token
  }
  nv_tileaa.return
}

