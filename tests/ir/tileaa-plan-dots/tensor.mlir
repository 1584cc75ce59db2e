// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileaa-plan-dots{compute-capability=sm_100 dynamic-persistent=false})' | FileCheck %s
// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileaa-plan-dots{compute-capability=sm_103 dynamic-persistent=false})' | FileCheck %s
// Dots of targets with `tcgen05.mma` accumulate in tensor memory.

// Eight warps read the accumulator, one loads the operands, and one issues the dots.
// CHECK-LABEL: nv_tileaa.func @loop(
// CHECK-SAME: nv_tileas.dot_plan<groups = [1, 2], columns = 128, stages = 6, scratch = {{[0-9]+}}, launch_registers = 200, agents = [<"consumers", warps = 8>, <"producer", warps = 1>, <"matrix", warps = 1>], unit = tensor in 4 slices>
!rows = !nv_tileaa.tiled_view<tile = [128, 64], memref<?x256xf16, strides = [256, 1]>, padding = zero>
!columns = !nv_tileaa.tiled_view<tile = [64, 128], memref<?x256xf16, strides = [256, 1]>, padding = zero>
nv_tileaa.func @loop(%p0: !nv_tileaa.ptr<f16>, %q: !nv_tileaa.ptr<f32>, %n: i32, %m0: i32) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f16>
  %m = nv_tileaa.make_memref %p, shape = [%m0 : i32], strides = [] : <f16> -> <?x256xf16, strides = [256, 1]>
  %v = nv_tileaa.make_tiled_view %m : <?x256xf16, strides = [256, 1]> -> !rows
  %w = nv_tileaa.make_tiled_view %m : <?x256xf16, strides = [256, 1]> -> !columns
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<128x128xf32>) : i32 {
    %a, %t1 = nv_tileaa.tiled_load <weak> %v[%c0, %k] : !rows[i32, i32] -> tensor<128x64xf16>
    %b, %t2 = nv_tileaa.tiled_load <weak> %w[%k, %c0] : !columns[i32, i32] -> tensor<64x128xf16>
    %d = nv_tileaa.dot %a, %b, %acc : tensor<128x64xf16>, tensor<64x128xf16>, tensor<128x128xf32>
    scf.yield %d : tensor<128x128xf32>
  }
  %o = nv_tileaa.make_memref %q, shape = [], strides = [] : <f32> -> <128x128xf32, strides = [128, 1]>
  %x = nv_tileaa.make_tiled_view %o : <128x128xf32, strides = [128, 1]> -> <tile = [128, 128], memref<128x128xf32, strides = [128, 1]>>
  %t3 = nv_tileaa.tiled_store <weak> %sum, %x[%c0, %c0] : tensor<128x128xf32>, <tile = [128, 128], memref<128x128xf32, strides = [128, 1]>>[i32, i32]
  nv_tileaa.return
}

// A loop over tiles has two accumulators, so that one is read while dots add to the other.
// CHECK-LABEL: nv_tileaa.func @tiles(
// CHECK-SAME: unit = tensor, accumulators = 2 in 4 slices>
nv_tileaa.func @tiles(%p0: !nv_tileaa.ptr<f16>, %q: !nv_tileaa.ptr<f32>, %n: i32, %m0: i32) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f16>
  %m = nv_tileaa.make_memref %p, shape = [%m0 : i32], strides = [] : <f16> -> <?x256xf16, strides = [256, 1]>
  %v = nv_tileaa.make_tiled_view %m : <?x256xf16, strides = [256, 1]> -> !rows
  %w = nv_tileaa.make_tiled_view %m : <?x256xf16, strides = [256, 1]> -> !columns
  %o = nv_tileaa.make_memref %q, shape = [], strides = [] : <f32> -> <128x128xf32, strides = [128, 1]>
  %x = nv_tileaa.make_tiled_view %o : <128x128xf32, strides = [128, 1]> -> <tile = [128, 128], memref<128x128xf32, strides = [128, 1]>>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  scf.for %i = %c0 to %n step %c1 : i32 {
    %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<128x128xf32>) : i32 {
      %a, %t1 = nv_tileaa.tiled_load <weak> %v[%i, %k] : !rows[i32, i32] -> tensor<128x64xf16>
      %b, %t2 = nv_tileaa.tiled_load <weak> %w[%k, %c0] : !columns[i32, i32] -> tensor<64x128xf16>
      %d = nv_tileaa.dot %a, %b, %acc : tensor<128x64xf16>, tensor<64x128xf16>, tensor<128x128xf32>
      scf.yield %d : tensor<128x128xf32>
    }
    %t3 = nv_tileaa.tiled_store <weak> %sum, %x[%i, %c0] : tensor<128x128xf32>, <tile = [128, 128], memref<128x128xf32, strides = [128, 1]>>[i32, i32]
  }
  nv_tileaa.return
}

// The accumulator starts at zero in tensor memory, and the consumers add the tensor that the program names.
// CHECK-LABEL: nv_tileaa.func @start(
// CHECK-SAME: unit = tensor>
!view = !nv_tileaa.tiled_view<tile = [64, 64], memref<?x256xf16, strides = [256, 1]>, padding = zero>
nv_tileaa.func @start(%p0: !nv_tileaa.ptr<f16>, %n: i32, %start: tensor<64x64xf32>) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f16>
  %m = nv_tileaa.make_memref %p, shape = [%n : i32], strides = [] : <f16> -> <?x256xf16, strides = [256, 1]>
  %v = nv_tileaa.make_tiled_view %m : <?x256xf16, strides = [256, 1]> -> !view
  %a, %t1 = nv_tileaa.tiled_load <weak> %v[%n, %n] : !view[i32, i32] -> tensor<64x64xf16>
  %b, %t2 = nv_tileaa.tiled_load <weak> %v[%n, %n] : !view[i32, i32] -> tensor<64x64xf16>
  %d = nv_tileaa.dot %a, %b, %start : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
  nv_tileaa.return
}

// Two CTAs with different rows of the left operand run the dots together.
// CHECK-LABEL: nv_tileaa.func @pair(
// CHECK-SAME: agents = [<"consumers", warps = 8>, <"producer", warps = 1>, <"matrix", warps = 1 on rank 0>], unit = tensor_pair in 4 slices>
nv_tileaa.func @pair(%p0: !nv_tileaa.ptr<f16>, %q: !nv_tileaa.ptr<f32>, %n: i32, %m0: i32) attributes {nv_tileas.num_ctas = 2 : i64} {
  %rank = nv_tileaa.get_cta_rank
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f16>
  %m = nv_tileaa.make_memref %p, shape = [%m0 : i32], strides = [] : <f16> -> <?x256xf16, strides = [256, 1]>
  %v = nv_tileaa.make_tiled_view %m : <?x256xf16, strides = [256, 1]> -> !rows
  %w = nv_tileaa.make_tiled_view %m : <?x256xf16, strides = [256, 1]> -> !columns
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<128x128xf32>) : i32 {
    %a, %t1 = nv_tileaa.tiled_load <weak> %v[%rank, %k] : !rows[i32, i32] -> tensor<128x64xf16>
    %b, %t2 = nv_tileaa.tiled_load <weak> %w[%k, %c0] : !columns[i32, i32] -> tensor<64x128xf16>
    %d = nv_tileaa.dot %a, %b, %acc : tensor<128x64xf16>, tensor<64x128xf16>, tensor<128x128xf32>
    scf.yield %d : tensor<128x128xf32>
  }
  %o = nv_tileaa.make_memref %q, shape = [], strides = [] : <f32> -> <128x128xf32, strides = [128, 1]>
  %x = nv_tileaa.make_tiled_view %o : <128x128xf32, strides = [128, 1]> -> <tile = [128, 128], memref<128x128xf32, strides = [128, 1]>>
  %t3 = nv_tileaa.tiled_store <weak> %sum, %x[%rank, %c0] : tensor<128x128xf32>, <tile = [128, 128], memref<128x128xf32, strides = [128, 1]>>[i32, i32]
  nv_tileaa.return
}

// They do not if their right operands differ.
// CHECK-LABEL: nv_tileaa.func @columns(
// CHECK-SAME: <"matrix", warps = 1>], unit = tensor in 4 slices>
nv_tileaa.func @columns(%p0: !nv_tileaa.ptr<f16>, %q: !nv_tileaa.ptr<f32>, %n: i32, %m0: i32) attributes {nv_tileas.num_ctas = 2 : i64} {
  %rank = nv_tileaa.get_cta_rank
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f16>
  %m = nv_tileaa.make_memref %p, shape = [%m0 : i32], strides = [] : <f16> -> <?x256xf16, strides = [256, 1]>
  %v = nv_tileaa.make_tiled_view %m : <?x256xf16, strides = [256, 1]> -> !rows
  %w = nv_tileaa.make_tiled_view %m : <?x256xf16, strides = [256, 1]> -> !columns
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<128x128xf32>) : i32 {
    %a, %t1 = nv_tileaa.tiled_load <weak> %v[%c0, %k] : !rows[i32, i32] -> tensor<128x64xf16>
    %b, %t2 = nv_tileaa.tiled_load <weak> %w[%k, %rank] : !columns[i32, i32] -> tensor<64x128xf16>
    %d = nv_tileaa.dot %a, %b, %acc : tensor<128x64xf16>, tensor<64x128xf16>, tensor<128x128xf32>
    scf.yield %d : tensor<128x128xf32>
  }
  %o = nv_tileaa.make_memref %q, shape = [], strides = [] : <f32> -> <128x128xf32, strides = [128, 1]>
  %x = nv_tileaa.make_tiled_view %o : <128x128xf32, strides = [128, 1]> -> <tile = [128, 128], memref<128x128xf32, strides = [128, 1]>>
  %t3 = nv_tileaa.tiled_store <weak> %sum, %x[%rank, %c0] : tensor<128x128xf32>, <tile = [128, 128], memref<128x128xf32, strides = [128, 1]>>[i32, i32]
  nv_tileaa.return
}

// Tensors after the loop exceed the registers, except in slices.
// CHECK-LABEL: nv_tileaa.func @sliced(
// CHECK-SAME: unit = tensor in 8 slices>
!wide = !nv_tileaa.tiled_view<tile = [64, 256], memref<?x256xf16, strides = [256, 1]>, padding = zero>
!out = !nv_tileaa.tiled_view<tile = [128, 256], memref<128x256xf32, strides = [256, 1]>>
nv_tileaa.func @sliced(%p0: !nv_tileaa.ptr<f16>, %q: !nv_tileaa.ptr<f32>, %n: i32, %m0: i32) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f16>
  %m = nv_tileaa.make_memref %p, shape = [%m0 : i32], strides = [] : <f16> -> <?x256xf16, strides = [256, 1]>
  %v = nv_tileaa.make_tiled_view %m : <?x256xf16, strides = [256, 1]> -> !rows
  %w = nv_tileaa.make_tiled_view %m : <?x256xf16, strides = [256, 1]> -> !wide
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<128x256xf32>
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<128x256xf32>) : i32 {
    %a, %t1 = nv_tileaa.tiled_load <weak> %v[%c0, %k] : !rows[i32, i32] -> tensor<128x64xf16>
    %b, %t2 = nv_tileaa.tiled_load <weak> %w[%k, %c0] : !wide[i32, i32] -> tensor<64x256xf16>
    %d = nv_tileaa.dot %a, %b, %acc : tensor<128x64xf16>, tensor<64x256xf16>, tensor<128x256xf32>
    scf.yield %d : tensor<128x256xf32>
  }
  %o = nv_tileaa.make_memref %q, shape = [], strides = [] : <f32> -> <128x256xf32, strides = [256, 1]>
  %x = nv_tileaa.make_tiled_view %o : <128x256xf32, strides = [256, 1]> -> !out
  %e = math.exp %sum : tensor<128x256xf32>
  %f = arith.addf %sum, %e : tensor<128x256xf32>
  %g = arith.mulf %f, %e : tensor<128x256xf32>
  %t3 = nv_tileaa.tiled_store <weak> %g, %x[%c0, %c0] : tensor<128x256xf32>, !out[i32, i32]
  nv_tileaa.return
}

// A slice of the second store would have to follow all slices of the first one.
// CHECK-LABEL: nv_tileaa.func @ordered(
// CHECK-NOT: dot_plan
// CHECK: nv_tileaa.return
nv_tileaa.func @ordered(%p0: !nv_tileaa.ptr<f16>, %q: !nv_tileaa.ptr<f32>, %n: i32, %m0: i32) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f16>
  %m = nv_tileaa.make_memref %p, shape = [%m0 : i32], strides = [] : <f16> -> <?x256xf16, strides = [256, 1]>
  %v = nv_tileaa.make_tiled_view %m : <?x256xf16, strides = [256, 1]> -> !rows
  %w = nv_tileaa.make_tiled_view %m : <?x256xf16, strides = [256, 1]> -> !wide
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<128x256xf32>
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<128x256xf32>) : i32 {
    %a, %t1 = nv_tileaa.tiled_load <weak> %v[%c0, %k] : !rows[i32, i32] -> tensor<128x64xf16>
    %b, %t2 = nv_tileaa.tiled_load <weak> %w[%k, %c0] : !wide[i32, i32] -> tensor<64x256xf16>
    %d = nv_tileaa.dot %a, %b, %acc : tensor<128x64xf16>, tensor<64x256xf16>, tensor<128x256xf32>
    scf.yield %d : tensor<128x256xf32>
  }
  %o = nv_tileaa.make_memref %q, shape = [], strides = [] : <f32> -> <128x256xf32, strides = [256, 1]>
  %x = nv_tileaa.make_tiled_view %o : <128x256xf32, strides = [256, 1]> -> !out
  %e = math.exp %sum : tensor<128x256xf32>
  %f = arith.addf %sum, %e : tensor<128x256xf32>
  %g = arith.mulf %f, %e : tensor<128x256xf32>
  %t3 = nv_tileaa.tiled_store <weak> %f, %x[%c0, %c0] : tensor<128x256xf32>, !out[i32, i32]
  %t4 = nv_tileaa.tiled_store <weak> %g, %x[%c0, %c0] token %t3 : tensor<128x256xf32>, !out[i32, i32]
  nv_tileaa.return
}

// A row reduction needs all columns.
// CHECK-LABEL: nv_tileaa.func @reduced(
// CHECK-NOT: dot_plan
// CHECK: nv_tileaa.return
nv_tileaa.func @reduced(%p0: !nv_tileaa.ptr<f16>, %q: !nv_tileaa.ptr<f32>, %n: i32, %m0: i32) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f16>
  %m = nv_tileaa.make_memref %p, shape = [%m0 : i32], strides = [] : <f16> -> <?x256xf16, strides = [256, 1]>
  %v = nv_tileaa.make_tiled_view %m : <?x256xf16, strides = [256, 1]> -> !rows
  %w = nv_tileaa.make_tiled_view %m : <?x256xf16, strides = [256, 1]> -> !wide
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<128x256xf32>
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<128x256xf32>) : i32 {
    %a, %t1 = nv_tileaa.tiled_load <weak> %v[%c0, %k] : !rows[i32, i32] -> tensor<128x64xf16>
    %b, %t2 = nv_tileaa.tiled_load <weak> %w[%k, %c0] : !wide[i32, i32] -> tensor<64x256xf16>
    %d = nv_tileaa.dot %a, %b, %acc : tensor<128x64xf16>, tensor<64x256xf16>, tensor<128x256xf32>
    scf.yield %d : tensor<128x256xf32>
  }
  %o = nv_tileaa.make_memref %q, shape = [], strides = [] : <f32> -> <128x256xf32, strides = [256, 1]>
  %x = nv_tileaa.make_tiled_view %o : <128x256xf32, strides = [256, 1]> -> !out
  %e = math.exp %sum : tensor<128x256xf32>
  %f = arith.addf %sum, %e : tensor<128x256xf32>
  %g = arith.mulf %f, %e : tensor<128x256xf32>
  %r = nv_tileaa.reduce %g dim 1 identities [0.000000e+00 : f32] : tensor<128x256xf32> -> tensor<128xf32> {
  ^bb0(%l: f32, %s: f32):
    %y = arith.addf %l, %s : f32
    nv_tileaa.yield %y : f32
  }
  %h = nv_tileaa.view %r : tensor<128xf32> -> tensor<128x1xf32>
  %i = nv_tileaa.broadcast %h : tensor<128x1xf32> -> tensor<128x256xf32>
  %j = arith.mulf %g, %i : tensor<128x256xf32>
  %t3 = nv_tileaa.tiled_store <weak> %j, %x[%c0, %c0] : tensor<128x256xf32>, !out[i32, i32]
  nv_tileaa.return
}

// Warps that compute a right operand take more registers than the warpgroup that issues dots.
// CHECK-LABEL: nv_tileaa.func @computed(
// CHECK-SAME: agents = [<"consumers", warps = 8, registers = {{[0-9]+}}>, <"producer", warps = {{[48]}}, registers = {{[0-9]+}}>, <"matrix", warps = 4, registers = 40>], unit = tensor in {{[24]}} slices>
nv_tileaa.func @computed(%p0: !nv_tileaa.ptr<f16>, %q: !nv_tileaa.ptr<f32>, %n: i32, %m0: i32) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f16>
  %m = nv_tileaa.make_memref %p, shape = [%m0 : i32], strides = [] : <f16> -> <?x256xf16, strides = [256, 1]>
  %v = nv_tileaa.make_tiled_view %m : <?x256xf16, strides = [256, 1]> -> !rows
  %w = nv_tileaa.make_tiled_view %m : <?x256xf16, strides = [256, 1]> -> !columns
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<128x128xf32>) : i32 {
    %a, %t1 = nv_tileaa.tiled_load <weak> %v[%c0, %k] : !rows[i32, i32] -> tensor<128x64xf16>
    %b, %t2 = nv_tileaa.tiled_load <weak> %w[%k, %c0] : !columns[i32, i32] -> tensor<64x128xf16>
    %e = arith.negf %b : tensor<64x128xf16>
    %d = nv_tileaa.dot %a, %e, %acc : tensor<128x64xf16>, tensor<64x128xf16>, tensor<128x128xf32>
    scf.yield %d : tensor<128x128xf32>
  }
  %o = nv_tileaa.make_memref %q, shape = [], strides = [] : <f32> -> <128x128xf32, strides = [128, 1]>
  %x = nv_tileaa.make_tiled_view %o : <128x128xf32, strides = [128, 1]> -> <tile = [128, 128], memref<128x128xf32, strides = [128, 1]>>
  %t3 = nv_tileaa.tiled_store <weak> %sum, %x[%c0, %c0] : tensor<128x128xf32>, <tile = [128, 128], memref<128x128xf32, strides = [128, 1]>>[i32, i32]
  nv_tileaa.return
}
