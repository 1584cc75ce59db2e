// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileaa-split-over-cluster{num-ctas=2 compute-capability=sm_90})' | FileCheck %s

// Rows of the accumulator need rows of the left operand and the whole right operand.
// CHECK-LABEL: nv_tileaa.func @rows(
// CHECK-SAME: attributes {nv_tileas.num_ctas = 2 : i64}
// CHECK: %[[R:.*]] = nv_tileaa.get_cta_rank
// CHECK: %[[A:.*]] = nv_tileaa.make_memref %arg0
// CHECK: %[[VB:.*]] = nv_tileaa.make_tiled_view {{.*}} -> <tile = [64, 256], {{.*}}, padding = zero>
// CHECK: scf.for {{.*}} iter_args(%[[ACC:.*]] = %{{.*}}) -> (tensor<128x256xf32>)  : i32 {
// CHECK-NEXT: %[[VA:.*]] = nv_tileaa.make_tiled_view %[[A]] : {{.*}} -> <tile = [128, 64], {{.*}}, padding = zero>
// CHECK-NEXT: %[[TWO:.*]] = arith.constant 2 : i32
// CHECK-NEXT: %[[FIRST:.*]] = arith.muli %x, %[[TWO]] : i32
// CHECK-NEXT: %[[I:.*]] = arith.addi %[[FIRST]], %[[R]] : i32
// CHECK-NEXT: %[[LHS:.*]], %{{.*}} = nv_tileaa.tiled_load <weak> %[[VA]][%[[I]], %arg4] : {{.*}} -> tensor<128x64xf16>
// CHECK-NEXT: %[[RHS:.*]], %{{.*}} = nv_tileaa.tiled_load <weak> %[[VB]][%arg4, %y] : {{.*}} -> tensor<64x256xf16>
// CHECK-NEXT: %[[D:.*]] = nv_tileaa.dot %[[LHS]], %[[RHS]], %[[ACC]]
// CHECK-NEXT: scf.yield %[[D]]
// CHECK: nv_tileaa.tiled_store <weak> %{{.*}}[%{{.*}}, %y] : tensor<128x256xf32>, <tile = [128, 256]
// CHECK-NEXT: nv_tileaa.return
nv_tileaa.func @rows(%a: !nv_tileaa.ptr<f16>, %b: !nv_tileaa.ptr<f16>, %c: !nv_tileaa.ptr<f32>, %n: i32) {
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

// A sum over columns would have to be combined across row slices, so columns are sliced.
// CHECK-LABEL: nv_tileaa.func @columns(
// CHECK: %[[R:.*]] = nv_tileaa.get_cta_rank
// CHECK: scf.for
// CHECK: nv_tileaa.tiled_load <weak> %{{.*}}[%x, %arg5] : {{.*}} -> tensor<256x64xf16>
// CHECK: %[[J:.*]] = arith.addi %{{.*}}, %[[R]] : i32
// CHECK: nv_tileaa.tiled_load <weak> %{{.*}}[%arg5, %[[J]]] : {{.*}} -> tensor<64x128xf16>
// CHECK: nv_tileaa.dot {{.*}} : tensor<256x64xf16>, tensor<64x128xf16>, tensor<256x128xf32>
// CHECK: nv_tileaa.reduce {{.*}} dim 0 {{.*}} : tensor<256x128xf32> -> tensor<128xf32>
// CHECK: %[[RANGE:.*]] = nv_tileaa.make_range : tensor<128xi32>
// CHECK: %[[C:.*]] = arith.constant 128 : i32
// CHECK: %[[START:.*]] = arith.muli %[[R]], %[[C]] : i32
// CHECK: %[[STARTS:.*]] = nv_tileaa.splat %[[START]] : i32 -> tensor<128xi32>
// CHECK: arith.addi %[[RANGE]], %[[STARTS]] : tensor<128xi32>
// CHECK: nv_tileaa.store <weak> {{.*}} : tensor<128x!nv_tileaa.ptr<f32>>, tensor<128xf32>
nv_tileaa.func @columns(%a: !nv_tileaa.ptr<f16>, %b: !nv_tileaa.ptr<f16>, %c: !nv_tileaa.ptr<f32>, %n: i32, %q: !nv_tileaa.ptr<f32>) {
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
  %s = nv_tileaa.reduce %sum dim 0 identities [0.0 : f32] : tensor<256x256xf32> -> tensor<256xf32> {
  ^bb0(%e: f32, %f: f32):
    %g = arith.addf %e, %f : f32
    nv_tileaa.yield %g : f32
  }
  %range = nv_tileaa.make_range : tensor<256xi32>
  %base = nv_tileaa.splat %q : !nv_tileaa.ptr<f32> -> tensor<256x!nv_tileaa.ptr<f32>>
  %ptrs = nv_tileaa.addptr %base, %range : tensor<256x!nv_tileaa.ptr<f32>>, tensor<256xi32>
  %stored = nv_tileaa.store <weak> %ptrs, %s : tensor<256x!nv_tileaa.ptr<f32>>, tensor<256xf32>
  nv_tileaa.return
}

// An operand that is transposed, and has another shape in memory.
// CHECK-LABEL: nv_tileaa.func @permuted(
// CHECK: nv_tileaa.tiled_load <weak> %{{.*}}[%c0_i32, %c1_i32, %{{.*}}] : <tile = [1, 64, 128], {{.*}} -> tensor<1x64x128xf16>
// CHECK: nv_tileaa.view {{.*}} -> tensor<64x128xf16>
// CHECK: nv_tileaa.permute {{.*}} [1, 0] : tensor<64x128xf16> -> tensor<128x64xf16>
// CHECK: nv_tileaa.dot {{.*}} : tensor<128x64xf16>, tensor<64x256xf16>, tensor<128x256xf32>
nv_tileaa.func @permuted(%a: !nv_tileaa.ptr<f16>, %b: !nv_tileaa.ptr<f16>, %c: !nv_tileaa.ptr<f32>, %n: i32) {
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
  %m3 = nv_tileaa.make_memref %a, shape = [%n, %n, %n : i32, i32, i32], strides = [%n, %n : i32, i32] : <f16> -> <?x?x?xf16, strides = [?, ?, 1]>
  %v3 = nv_tileaa.make_tiled_view %m3 : <?x?x?xf16, strides = [?, ?, 1]> -> <tile = [1, 64, 256], memref<?x?x?xf16, strides = [?, ?, 1]>, padding = zero>
  %l3, %t1 = nv_tileaa.tiled_load <weak> %v3[%c0, %c1, %x] : <tile = [1, 64, 256], memref<?x?x?xf16, strides = [?, ?, 1]>, padding = zero>[i32, i32, i32] -> tensor<1x64x256xf16>
  %l2 = nv_tileaa.view %l3 : tensor<1x64x256xf16> -> tensor<64x256xf16>
  %l = nv_tileaa.permute %l2 [1, 0] : tensor<64x256xf16> -> tensor<256x64xf16>
  %r, %t2 = nv_tileaa.tiled_load <weak> %vb[%c1, %y] : <tile = [64, 256], memref<?x?xf16, strides = [?, 1]>, padding = zero>[i32, i32] -> tensor<64x256xf16>
  %sum = nv_tileaa.dot %l, %r, %zero : tensor<256x64xf16>, tensor<64x256xf16>, tensor<256x256xf32>
  %done = nv_tileaa.tiled_store <weak> %sum, %vc[%x, %y] : tensor<256x256xf32>, <tile = [256, 256], memref<?x?xf32, strides = [?, 1]>>[i32, i32]
  nv_tileaa.return
}

// A bias for each column is loaded in whole, and a bias for each row in slices.
// CHECK-LABEL: nv_tileaa.func @epilogue(
// CHECK: %[[WHOLE:.*]], %{{.*}} = nv_tileaa.load <weak> {{.*}} -> tensor<256xf32>
// CHECK: %[[SLICE:.*]], %{{.*}} = nv_tileaa.load <weak> {{.*}} -> tensor<128xf32>
// CHECK-DAG: nv_tileaa.view %[[WHOLE]] : tensor<256xf32> -> tensor<1x256xf32>
// CHECK-DAG: nv_tileaa.view %[[SLICE]] : tensor<128xf32> -> tensor<128x1xf32>
// CHECK: nv_tileaa.broadcast {{.*}} : tensor<1x256xf32> -> tensor<128x256xf32>
// CHECK: nv_tileaa.broadcast {{.*}} : tensor<128x1xf32> -> tensor<128x256xf32>
// CHECK: arith.truncf {{.*}} : tensor<128x256xf32> to tensor<128x256xf16>
// CHECK: nv_tileaa.tiled_store <weak> {{.*}} : tensor<128x256xf16>, <tile = [128, 256]
nv_tileaa.func @epilogue(%a: !nv_tileaa.ptr<f16>, %b: !nv_tileaa.ptr<f16>, %c: !nv_tileaa.ptr<f32>, %n: i32, %q: !nv_tileaa.ptr<f32>) {
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
  %range = nv_tileaa.make_range : tensor<256xi32>
  %base = nv_tileaa.splat %q : !nv_tileaa.ptr<f32> -> tensor<256x!nv_tileaa.ptr<f32>>
  %ptrs = nv_tileaa.addptr %base, %range : tensor<256x!nv_tileaa.ptr<f32>>, tensor<256xi32>
  %bias, %t3 = nv_tileaa.load <weak> %ptrs : tensor<256x!nv_tileaa.ptr<f32>> -> tensor<256xf32>
  %row = nv_tileaa.view %bias : tensor<256xf32> -> tensor<1x256xf32>
  %column = nv_tileaa.view %bias : tensor<256xf32> -> tensor<256x1xf32>
  %rows = nv_tileaa.broadcast %row : tensor<1x256xf32> -> tensor<256x256xf32>
  %columns = nv_tileaa.broadcast %column : tensor<256x1xf32> -> tensor<256x256xf32>
  %p = arith.addf %sum, %rows : tensor<256x256xf32>
  %o = arith.addf %p, %columns : tensor<256x256xf32>
  %h = arith.truncf %o : tensor<256x256xf32> to tensor<256x256xf16>
  %w = nv_tileaa.make_tiled_view %ma : <?x?xf16, strides = [?, 1]> -> <tile = [256, 256], memref<?x?xf16, strides = [?, 1]>>
  %done = nv_tileaa.tiled_store <weak> %h, %w[%x, %y] : tensor<256x256xf16>, <tile = [256, 256], memref<?x?xf16, strides = [?, 1]>>[i32, i32]
  nv_tileaa.return
}

// Values that do not depend on dots may be computed in whole and then sliced.
// CHECK-LABEL: nv_tileaa.func @taken_out(
// CHECK: %[[R:.*]] = nv_tileaa.get_cta_rank
// CHECK: %[[S:.*]] = nv_tileaa.scan {{.*}} : tensor<256xi32> -> tensor<256xi32>
// CHECK: nv_tileaa.extract_slice %[[S]][%[[R]]] : tensor<256xi32> -> tensor<128xi32>
// CHECK: arith.sitofp {{.*}} : tensor<128xi32> to tensor<128xf32>
nv_tileaa.func @taken_out(%a: !nv_tileaa.ptr<f16>, %b: !nv_tileaa.ptr<f16>, %c: !nv_tileaa.ptr<f32>, %n: i32) {
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
  %range = nv_tileaa.make_range : tensor<256xi32>
  %s = nv_tileaa.scan %range dim 0 identities [0 : i32] : tensor<256xi32> -> tensor<256xi32> {
  ^bb0(%e: i32, %f: i32):
    %g = arith.addi %e, %f : i32
    nv_tileaa.yield %g : i32
  }
  %sf = arith.sitofp %s : tensor<256xi32> to tensor<256xf32>
  %column = nv_tileaa.view %sf : tensor<256xf32> -> tensor<256x1xf32>
  %columns = nv_tileaa.broadcast %column : tensor<256x1xf32> -> tensor<256x256xf32>
  %o = arith.addf %sum, %columns : tensor<256x256xf32>
  %done = nv_tileaa.tiled_store <weak> %o, %vc[%x, %y] : tensor<256x256xf32>, <tile = [256, 256], memref<?x?xf32, strides = [?, 1]>>[i32, i32]
  nv_tileaa.return
}

// All ranks have the scalar, and one stores it.
// CHECK-LABEL: nv_tileaa.func @scalar(
// CHECK: %[[R:.*]] = nv_tileaa.get_cta_rank
// CHECK: %[[FIRST:.*]] = arith.cmpi eq, %[[R]], %{{.*}} : i32
// CHECK: scf.if %[[FIRST]] -> (!nv_tileaa.mem_token) {
// CHECK-NEXT: %[[T:.*]] = nv_tileaa.store <weak> %arg4, %x
// CHECK-NEXT: scf.yield %[[T]]
nv_tileaa.func @scalar(%a: !nv_tileaa.ptr<f16>, %b: !nv_tileaa.ptr<f16>, %c: !nv_tileaa.ptr<f32>, %n: i32, %q: !nv_tileaa.ptr<i32>) {
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
  %t = nv_tileaa.store <weak> %q, %x : !nv_tileaa.ptr<i32>, i32
  %done = nv_tileaa.tiled_store <weak> %sum, %vc[%x, %y] : tensor<256x256xf32>, <tile = [256, 256], memref<?x?xf32, strides = [?, 1]>>[i32, i32]
  nv_tileaa.return
}

// Consecutive tiles of a partition: their slices do not overlap. Tile indices can have any integer type.
// CHECK-LABEL: nv_tileaa.func @persistent(
// CHECK: %[[R:.*]] = nv_tileaa.get_cta_rank
// CHECK: scf.for %[[I:.*]] = %x to %arg4 step %{{.*}} iter_args(%[[T:.*]] = %{{.*}}) -> (!nv_tileaa.mem_token)
// CHECK: %[[WIDE:.*]] = arith.extui %[[I]] : i32 to i64
// CHECK: %[[FIRST:.*]] = arith.muli %[[WIDE]], %{{.*}} : i64
// CHECK: %[[RANK:.*]] = arith.extui %[[R]] : i32 to i64
// CHECK: %[[N:.*]] = arith.addi %[[FIRST]], %[[RANK]] : i64
// CHECK: nv_tileaa.tiled_load <weak> %{{.*}}[%[[N]], %{{.*}}] : {{.*}}[i64, i32] -> tensor<128x64xf16>
// CHECK: %[[DONE:.*]] = nv_tileaa.tiled_store <weak> {{.*}} token %[[T]] : tensor<128x256xf32>, <tile = [128, 256], {{.*}}[i64, i32]
// CHECK: scf.yield %[[DONE]] : !nv_tileaa.mem_token
nv_tileaa.func @persistent(%a: !nv_tileaa.ptr<f16>, %b: !nv_tileaa.ptr<f16>, %c: !nv_tileaa.ptr<f32>, %n: i32, %u: i32) {
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
  %nx, %ny, %nz = nv_tileaa.get_num_programs
  %t0 = nv_tileaa.create_mem_token
  %end = scf.for %i = %x to %u step %nx iter_args(%t = %t0) -> (!nv_tileaa.mem_token) : i32 {
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<256x256xf32>) : i32 {
      %l, %t1 = nv_tileaa.tiled_load <weak> %va[%i, %k] : <tile = [256, 64], memref<?x?xf16, strides = [?, 1]>, padding = zero>[i32, i32] -> tensor<256x64xf16>
      %r, %t2 = nv_tileaa.tiled_load <weak> %vb[%k, %y] : <tile = [64, 256], memref<?x?xf16, strides = [?, 1]>, padding = zero>[i32, i32] -> tensor<64x256xf16>
      %d = nv_tileaa.dot %l, %r, %acc : tensor<256x64xf16>, tensor<64x256xf16>, tensor<256x256xf32>
      scf.yield %d : tensor<256x256xf32>
    }
  %done = nv_tileaa.tiled_store <weak> %sum, %vc[%i, %y] token %t : tensor<256x256xf32>, <tile = [256, 256], memref<?x?xf32, strides = [?, 1]>>[i32, i32]
    scf.yield %done : !nv_tileaa.mem_token
  }
  nv_tileaa.return
}

// One tile is the left operand of one dot and the right operand of another.
// CHECK-LABEL: nv_tileaa.func @both(
// CHECK: %[[WHOLE:.*]], %{{.*}} = nv_tileaa.tiled_load <weak> %{{.*}}[%x, %x] : {{.*}} -> tensor<64x64xf16>
// CHECK: %[[SLICE:.*]], %{{.*}} = nv_tileaa.tiled_load <weak> %{{.*}}[%{{.*}}, %x] : {{.*}} -> tensor<32x64xf16>
// CHECK: nv_tileaa.dot %[[SLICE]], %[[WHOLE]], {{.*}} : tensor<32x64xf16>, tensor<64x64xf16>, tensor<32x64xf32>
nv_tileaa.func @both(%a: !nv_tileaa.ptr<f16>, %b: !nv_tileaa.ptr<f16>, %c: !nv_tileaa.ptr<f32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %x, %y, %z = nv_tileaa.get_program_id
  %ma = nv_tileaa.make_memref %a, shape = [%n, %n : i32, i32], strides = [%n : i32] : <f16> -> <?x?xf16, strides = [?, 1]>
  %mb = nv_tileaa.make_memref %b, shape = [%n, %n : i32, i32], strides = [%n : i32] : <f16> -> <?x?xf16, strides = [?, 1]>
  %mc = nv_tileaa.make_memref %c, shape = [%n, %n : i32, i32], strides = [%n : i32] : <f32> -> <?x?xf32, strides = [?, 1]>
  %va = nv_tileaa.make_tiled_view %ma : <?x?xf16, strides = [?, 1]> -> <tile = [64, 64], memref<?x?xf16, strides = [?, 1]>, padding = zero>
  %vb = nv_tileaa.make_tiled_view %mb : <?x?xf16, strides = [?, 1]> -> <tile = [64, 64], memref<?x?xf16, strides = [?, 1]>, padding = zero>
  %vc = nv_tileaa.make_tiled_view %mc : <?x?xf32, strides = [?, 1]> -> <tile = [64, 64], memref<?x?xf32, strides = [?, 1]>>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %l, %t1 = nv_tileaa.tiled_load <weak> %va[%x, %x] : <tile = [64, 64], memref<?x?xf16, strides = [?, 1]>, padding = zero>[i32, i32] -> tensor<64x64xf16>
  %d = nv_tileaa.dot %l, %l, %zero : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
  %w = nv_tileaa.make_tiled_view %mc : <?x?xf32, strides = [?, 1]> -> <tile = [64, 64], memref<?x?xf32, strides = [?, 1]>>
  %done = nv_tileaa.tiled_store <weak> %d, %w[%x, %y] : tensor<64x64xf32>, <tile = [64, 64], memref<?x?xf32, strides = [?, 1]>>[i32, i32]
  nv_tileaa.return
}

