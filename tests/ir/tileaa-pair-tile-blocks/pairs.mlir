// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileaa-pair-tile-blocks{compute-capability=sm_100})' | FileCheck %s
// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileaa-pair-tile-blocks{compute-capability=sm_90})' | FileCheck %s --check-prefix=OTHERS

// Rows are along x. The left operand and the result of a CTA without a tile block are outside of their views.
// CHECK-LABEL: nv_tileaa.func @rows(
// CHECK-SAME: attributes {nv_tileas.num_ctas = 2 : i64}
// CHECK: %[[C:.*]], %y, %z = nv_tileaa.get_program_id
// CHECK: %[[R:.*]] = nv_tileaa.get_cta_rank
// CHECK: %[[N:.*]], %{{.*}}, %{{.*}} = nv_tileaa.get_num_programs
// CHECK: %[[HALF:.*]] = arith.divui
// CHECK: %[[ANY:.*]] = arith.cmpi ult, %[[C]], %[[HALF]] : i32
// CHECK: %[[FIRST:.*]] = arith.muli
// CHECK: %[[NEXT:.*]] = arith.addi %[[FIRST]], %{{.*}} : i32
// CHECK: %[[MOST:.*]] = arith.subi %[[N]], %{{.*}} : i32
// CHECK: %[[SECOND:.*]] = arith.minui %[[NEXT]], %[[MOST]] : i32
// CHECK: %[[MINE:.*]] = arith.addi %[[FIRST]], %[[R]] : i32
// CHECK: %[[EXISTS:.*]] = arith.cmpi ult, %[[MINE]], %[[N]] : i32
// CHECK: %[[IS_LEADER:.*]] = arith.cmpi eq, %[[R]], %{{.*}} : i32
// CHECK: %[[X:.*]] = arith.select %[[IS_LEADER]], %[[FIRST]], %[[SECOND]] : i32
// CHECK: %[[STEPS:.*]] = arith.select %[[ANY]], %{{.*}}, %{{.*}} : i32
// CHECK: scf.for %{{.*}} = %{{.*}} to %[[STEPS]] step
// CHECK: %[[OUTSIDE:.*]] = nv_tileaa.num_tiles %[[VA:.*]], 0
// CHECK: %[[I:.*]] = arith.select %[[EXISTS]], %[[X]], %[[OUTSIDE]] : i32
// CHECK: scf.for
// CHECK: nv_tileaa.tiled_load <weak> %[[VA]][%[[I]], %{{.*}}] {nv_tileas.may_be_outside = 0 : i64}
// CHECK: nv_tileaa.tiled_load <weak> %{{.*}}[%{{.*}}, %y] :
// CHECK: nv_tileaa.dot
// CHECK: %[[OUTSIDE:.*]] = nv_tileaa.num_tiles %[[VC:.*]], 0
// CHECK: %[[I:.*]] = arith.select %[[EXISTS]], %[[X]], %[[OUTSIDE]] : i32
// CHECK: nv_tileaa.tiled_store <weak> %{{.*}}, %[[VC]][%[[I]], %y] {nv_tileas.may_be_outside = 0 : i64}
// CHECK: } {nv_tileas.steps_of_pair}
// CHECK-NEXT: nv_tileaa.return
// OTHERS-LABEL: nv_tileaa.func @rows(
// OTHERS-NOT: get_cta_rank
nv_tileaa.func @rows(%a: !nv_tileaa.ptr<f16>, %b: !nv_tileaa.ptr<f16>, %c: !nv_tileaa.ptr<f32>, %n: i32) {
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

// Rows are along y.
// CHECK-LABEL: nv_tileaa.func @rows_along_y(
// CHECK: %x, %[[C:.*]], %z = nv_tileaa.get_program_id
// CHECK: %{{.*}}, %[[N:.*]], %{{.*}} = nv_tileaa.get_num_programs
// CHECK: nv_tileaa.tiled_load <weak> %{{.*}}[%{{.*}}, %x] :
nv_tileaa.func @rows_along_y(%a: !nv_tileaa.ptr<f16>, %b: !nv_tileaa.ptr<f16>, %c: !nv_tileaa.ptr<f32>, %n: i32) {
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
    %l, %tl = nv_tileaa.tiled_load <weak> %va[%y, %k] : <tile = [128, 64], memref<?x4096xf16, strides = [4096, 1]>, padding = zero>[i32, i32] -> tensor<128x64xf16>
    %r, %tr = nv_tileaa.tiled_load <weak> %vb[%k, %x] : <tile = [64, 128], memref<?x4096xf16, strides = [4096, 1]>, padding = zero>[i32, i32] -> tensor<64x128xf16>
    %d = nv_tileaa.dot %l, %r, %acc : tensor<128x64xf16>, tensor<64x128xf16>, tensor<128x128xf32>
    scf.yield %d : tensor<128x128xf32>
  }
  %t = nv_tileaa.tiled_store <weak> %sum, %vc[%y, %x] : tensor<128x128xf32>, <tile = [128, 128], memref<?x4096xf32, strides = [4096, 1]>>[i32, i32]
  nv_tileaa.return
}

// The id is divided into a column and a row. If the columns of a pair differ, there are two steps, which clusters of
// both halves of the grid take if the launch is small.
// CHECK-LABEL: nv_tileaa.func @columns_of_rows(
// CHECK: %[[C:.*]], %y, %z = nv_tileaa.get_program_id
// CHECK: %[[R:.*]] = nv_tileaa.get_cta_rank
// CHECK: %[[N:.*]], %{{.*}}, %{{.*}} = nv_tileaa.get_num_programs
// CHECK: %[[HALF:.*]] = arith.divui
// CHECK: %[[IN_FIRST:.*]] = arith.cmpi ult, %[[C]], %[[HALF]] : i32
// CHECK: %[[SOME:.*]] = arith.muli
// CHECK: %[[ALL:.*]] = arith.muli %[[SOME]]
// CHECK: %[[SMALL:.*]] = arith.cmpi sle, %[[ALL]], %c148_i32 : i32
// CHECK: %[[ANY:.*]] = arith.ori %[[IN_FIRST]], %[[SMALL]] : i1
// CHECK: %[[EXISTS:.*]] = arith.cmpi ult
// CHECK: %[[IS_LEADER:.*]] = arith.cmpi eq, %[[R]], %{{.*}} : i32
// CHECK: %[[PAIR:.*]]:5 = scf.if %[[ANY]] -> (i1, i32, i32, i32, i32) {
// CHECK-NEXT: %[[I0:.*]] = arith.remui %{{.*}}, %arg4 : i32
// CHECK-NEXT: %[[J0:.*]] = arith.divui %{{.*}}, %arg4 : i32
// CHECK-NEXT: %[[I1:.*]] = arith.remui %{{.*}}, %arg4 : i32
// CHECK-NEXT: %[[J1:.*]] = arith.divui %{{.*}}, %arg4 : i32
// CHECK-NEXT: %[[SAME:.*]] = arith.cmpi eq, %[[J0]], %[[J1]] : i32
// CHECK-NEXT: scf.yield %[[SAME]], %[[I0]], %[[I1]], %[[J0]], %[[J1]]
// CHECK: %[[FROM:.*]] = arith.select %[[IN_FIRST]], %{{.*}}, %{{.*}} : i32
// CHECK: %[[NO_SECOND:.*]] = arith.cmpi eq, %[[IN_FIRST]], %[[SMALL]] : i1
// CHECK: %[[ONE:.*]] = arith.ori %[[PAIR]]#0, %[[NO_SECOND]] : i1
// CHECK: %[[TO:.*]] = arith.select %[[ONE]], %{{.*}}, %{{.*}} : i32
// CHECK: scf.for %[[STEP:.*]] = %[[FROM]] to %[[TO]] step
// CHECK: %[[IS_FIRST:.*]] = arith.cmpi eq, %[[STEP]], %{{.*}} : i32
// CHECK: %[[OWN:.*]] = arith.select %[[PAIR]]#0, %[[IS_LEADER]], %[[IS_FIRST]] : i1
// CHECK: %[[STORES:.*]] = arith.select %[[PAIR]]#0, %[[EXISTS]], %[[IS_LEADER]] : i1
// CHECK: %[[I:.*]] = arith.select %[[OWN]], %[[PAIR]]#1, %[[PAIR]]#2 : i32
// CHECK: %[[J:.*]] = arith.select %[[IS_FIRST]], %[[PAIR]]#3, %[[PAIR]]#4 : i32
// CHECK: %[[AT:.*]] = arith.select %[[STORES]], %[[I]], %{{.*}} : i32
// CHECK: nv_tileaa.tiled_load <weak> %{{.*}}[%[[AT]], %{{.*}}]
// CHECK: nv_tileaa.tiled_load <weak> %{{.*}}[%{{.*}}, %[[J]]] :
// CHECK: nv_tileaa.tiled_store <weak> %{{.*}}, %{{.*}}[%{{.*}}, %[[J]]]
nv_tileaa.func @columns_of_rows(%a: !nv_tileaa.ptr<f16>, %b: !nv_tileaa.ptr<f16>, %c: !nv_tileaa.ptr<f32>, %n: i32, %rows: i32) {
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
  %j = arith.divui %x, %rows : i32
  %sum = scf.for %k = %zero to %n step %one iter_args(%acc = %init) -> (tensor<128x128xf32>) : i32 {
    %l, %tl = nv_tileaa.tiled_load <weak> %va[%i, %k] : <tile = [128, 64], memref<?x4096xf16, strides = [4096, 1]>, padding = zero>[i32, i32] -> tensor<128x64xf16>
    %r, %tr = nv_tileaa.tiled_load <weak> %vb[%k, %j] : <tile = [64, 128], memref<?x4096xf16, strides = [4096, 1]>, padding = zero>[i32, i32] -> tensor<64x128xf16>
    %d = nv_tileaa.dot %l, %r, %acc : tensor<128x64xf16>, tensor<64x128xf16>, tensor<128x128xf32>
    scf.yield %d : tensor<128x128xf32>
  }
  %t = nv_tileaa.tiled_store <weak> %sum, %vc[%i, %j] : tensor<128x128xf32>, <tile = [128, 128], memref<?x4096xf32, strides = [4096, 1]>>[i32, i32]
  nv_tileaa.return
}

// The trip count and an index that the loop computes are those of the common column.
// CHECK-LABEL: nv_tileaa.func @in_the_loop(
// CHECK: scf.for %[[STEP:.*]] = %{{.*}} to %{{.*}} step
// CHECK: %[[IS_FIRST:.*]] = arith.cmpi eq, %[[STEP]]
// CHECK: %[[J:.*]] = arith.select %[[IS_FIRST]], %{{.*}}, %{{.*}} : i32
// CHECK: %[[TRIPS:.*]] = arith.select %[[IS_FIRST]], %{{.*}}, %{{.*}} : i32
// CHECK: scf.for %[[K:.*]] = %{{.*}} to %[[TRIPS]] step
// CHECK: %[[AT:.*]] = arith.addi %[[J]], %[[K]] : i32
// CHECK: nv_tileaa.tiled_load <weak> %{{.*}}[%[[K]], %[[AT]]] :
// CHECK: } {nv_tileas.steps_of_pair}
nv_tileaa.func @in_the_loop(%a: !nv_tileaa.ptr<f16>, %b: !nv_tileaa.ptr<f16>, %c: !nv_tileaa.ptr<f32>, %n: i32, %rows: i32) {
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
  %j = arith.divui %x, %rows : i32
  %trips = arith.addi %j, %one : i32
  %sum = scf.for %k = %zero to %trips step %one iter_args(%acc = %init) -> (tensor<128x128xf32>) : i32 {
    %l, %tl = nv_tileaa.tiled_load <weak> %va[%i, %k] : <tile = [128, 64], memref<?x4096xf16, strides = [4096, 1]>, padding = zero>[i32, i32] -> tensor<128x64xf16>
    %at = arith.addi %j, %k : i32
    %r, %tr = nv_tileaa.tiled_load <weak> %vb[%k, %at] : <tile = [64, 128], memref<?x4096xf16, strides = [4096, 1]>, padding = zero>[i32, i32] -> tensor<64x128xf16>
    %d = nv_tileaa.dot %l, %r, %acc : tensor<128x64xf16>, tensor<64x128xf16>, tensor<128x128xf32>
    scf.yield %d : tensor<128x128xf32>
  }
  %t = nv_tileaa.tiled_store <weak> %sum, %vc[%i, %j] : tensor<128x128xf32>, <tile = [128, 128], memref<?x4096xf32, strides = [4096, 1]>>[i32, i32]
  nv_tileaa.return
}

// Each tile block loops over tiles, and carries a token. Clusters without work have no iterations.
// CHECK-LABEL: nv_tileaa.func @tiles(
// CHECK: %[[C:.*]], %y, %z = nv_tileaa.get_program_id
// CHECK: %[[R:.*]] = nv_tileaa.get_cta_rank
// CHECK: %[[N:.*]], %{{.*}}, %{{.*}} = nv_tileaa.get_num_programs
// CHECK: %[[IN_FIRST:.*]] = arith.cmpi ult, %[[C]], %{{.*}} : i32
// CHECK: %[[SMALL:.*]] = arith.cmpi sle, %arg3, %c148_i32 : i32
// CHECK: %[[ANY:.*]] = arith.ori %[[IN_FIRST]], %[[SMALL]] : i1
// CHECK: %[[START:.*]] = arith.muli
// CHECK: %[[FROM:.*]] = arith.select %[[ANY]], %[[START]], %arg3 : i32
// CHECK: %[[DISTANCE:.*]] = arith.subi %{{.*}}, %[[START]] : i32
// CHECK: %{{.*}} = scf.for %[[T:.*]] = %[[FROM]] to %arg3 step %{{.*}} iter_args(%[[TOKEN:.*]] = %{{.*}}) -> (!nv_tileaa.mem_token)
// CHECK: %[[NEXT:.*]] = arith.addi %[[T]], %[[DISTANCE]] : i32
// CHECK: arith.minui %[[NEXT]]
// CHECK: %[[LAST:.*]] = scf.for {{.*}} iter_args(%[[INNER:.*]] = %[[TOKEN]]) -> (!nv_tileaa.mem_token)
// CHECK: nv_tileaa.tiled_load <weak> %{{.*}}[%{{.*}}, %{{.*}}] {nv_tileas.may_be_outside = 0 : i64}
// CHECK: %[[STORED:.*]] = nv_tileaa.tiled_store <weak> %{{.*}}, %{{.*}}[%{{.*}}, %{{.*}}] token %[[INNER]] {nv_tileas.may_be_outside = 0 : i64}
// CHECK: scf.yield %[[STORED]] : !nv_tileaa.mem_token
// CHECK: } {nv_tileas.steps_of_pair}
// CHECK: scf.yield %[[LAST]] : !nv_tileaa.mem_token
nv_tileaa.func @tiles(%a: !nv_tileaa.ptr<f16>, %b: !nv_tileaa.ptr<f16>, %c: !nv_tileaa.ptr<f32>, %n: i32, %rows: i32) {
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
  %gx, %gy, %gz = nv_tileaa.get_num_programs
  %start = nv_tileaa.create_mem_token
  %end = scf.for %tile = %x to %n step %gx iter_args(%before = %start) -> (!nv_tileaa.mem_token) : i32 {
  %i = arith.remui %tile, %rows : i32
  %j = arith.divui %tile, %rows : i32
  %sum = scf.for %k = %zero to %n step %one iter_args(%acc = %init) -> (tensor<128x128xf32>) : i32 {
    %l, %tl = nv_tileaa.tiled_load <weak> %va[%i, %k] : <tile = [128, 64], memref<?x4096xf16, strides = [4096, 1]>, padding = zero>[i32, i32] -> tensor<128x64xf16>
    %r, %tr = nv_tileaa.tiled_load <weak> %vb[%k, %j] : <tile = [64, 128], memref<?x4096xf16, strides = [4096, 1]>, padding = zero>[i32, i32] -> tensor<64x128xf16>
    %d = nv_tileaa.dot %l, %r, %acc : tensor<128x64xf16>, tensor<64x128xf16>, tensor<128x128xf32>
    scf.yield %d : tensor<128x128xf32>
  }
  %t = nv_tileaa.tiled_store <weak> %sum, %vc[%i, %j] token %before : tensor<128x128xf32>, <tile = [128, 128], memref<?x4096xf32, strides = [4096, 1]>>[i32, i32]
  scf.yield %t : !nv_tileaa.mem_token
  }
  nv_tileaa.return
}
