// RUN: tileiras-opt %s --pass-pipeline='builtin.module(convert-tileaa-to-tileas,tileas-assign-load-store-layouts,tileas-remove-layout-conversions)' | FileCheck %s

// The layout of the load is propagated around the loop to the initial value, and out of the loop to the store.
// CHECK-LABEL: nv_tileaa.func @for(
// CHECK-NOT: convert_layout
// CHECK: %[[Z:.*]] = arith.constant dense<0.000000e+00> : tensor<1024xf16, [[L:#nv_tileas.layout<register = .1, 2, 4., lane = .8, 16, 32, 64, 128., warp = .256, 512.>]]>
// CHECK: %[[R:.*]] = scf.for {{.*}} iter_args(%[[A:.*]] = %[[Z]]) -> (tensor<1024xf16, [[L]]>)
// CHECK: nv_tileas.tiled_load {{.*}} vector 8
// CHECK: scf.yield %{{.*}} : tensor<1024xf16, [[L]]>
// CHECK: nv_tileas.tiled_store <weak> %[[R]], {{.*}} vector 8
nv_tileaa.func @for(%p0: !nv_tileaa.ptr<f16>, %n: i32) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f16>
  %m = nv_tileaa.make_memref %p, shape = [], strides = [] : <f16> -> <4096xf16, strides = [1]>
  %v = nv_tileaa.make_tiled_view %m : <4096xf16, strides = [1]> -> <tile = [1024], memref<4096xf16, strides = [1]>>
  %zero = arith.constant dense<0.0> : tensor<1024xf16>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%a = %zero) -> (tensor<1024xf16>) : i32 {
    %x, %t1 = nv_tileaa.tiled_load <weak> %v[%i] : <tile = [1024], memref<4096xf16, strides = [1]>>[i32] -> tensor<1024xf16>
    %s = arith.addf %a, %x : tensor<1024xf16>
    scf.yield %s : tensor<1024xf16>
  }
  %t2 = nv_tileaa.tiled_store <weak> %sum, %v[%c0] : tensor<1024xf16>, <tile = [1024], memref<4096xf16, strides = [1]>>[i32]
  nv_tileaa.return
}
// CHECK-LABEL: nv_tileaa.func @while(
// CHECK-NOT: convert_layout
// CHECK: %[[R:.*]]:2 = scf.while {{.*}} : (tensor<1024xf16, [[L:#nv_tileas.layout<register = .1, 2, 4., lane = .8, 16, 32, 64, 128., warp = .256, 512.>]]>, i32) -> (tensor<1024xf16, [[L]]>, i32)
// CHECK: scf.condition({{.*}}) {{.*}} : tensor<1024xf16, [[L]]>, i32
// CHECK: scf.yield {{.*}} : tensor<1024xf16, [[L]]>, i32
// CHECK: nv_tileas.tiled_store <weak> %[[R]]#0, {{.*}} vector 8
nv_tileaa.func @while(%p0: !nv_tileaa.ptr<f16>, %n: i32) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f16>
  %m = nv_tileaa.make_memref %p, shape = [], strides = [] : <f16> -> <4096xf16, strides = [1]>
  %v = nv_tileaa.make_tiled_view %m : <4096xf16, strides = [1]> -> <tile = [1024], memref<4096xf16, strides = [1]>>
  %c0 = arith.constant 0 : i32
  %x, %t1 = nv_tileaa.tiled_load <weak> %v[%c0] : <tile = [1024], memref<4096xf16, strides = [1]>>[i32] -> tensor<1024xf16>
  %y, %j = scf.while (%a = %x, %i = %c0) : (tensor<1024xf16>, i32) -> (tensor<1024xf16>, i32) {
    %more = arith.cmpi slt, %i, %n : i32
    scf.condition(%more) %a, %i : tensor<1024xf16>, i32
  } do {
  ^bb0(%a: tensor<1024xf16>, %i: i32):
    %s = arith.addf %a, %a : tensor<1024xf16>
    %c1 = arith.constant 1 : i32
    %k = arith.addi %i, %c1 : i32
    scf.yield %s, %k : tensor<1024xf16>, i32
  }
  %t2 = nv_tileaa.tiled_store <weak> %y, %v[%c0] : tensor<1024xf16>, <tile = [1024], memref<4096xf16, strides = [1]>>[i32]
  nv_tileaa.return
}
// The other branch gets the same layout.
// CHECK-LABEL: nv_tileaa.func @if(
// CHECK-NOT: convert_layout
// CHECK: %[[R:.*]] = scf.if %arg1 -> (tensor<1024xf16, [[L:#nv_tileas.layout<register = .1, 2, 4., lane = .8, 16, 32, 64, 128., warp = .256, 512.>]]>)
// CHECK: } else {
// CHECK: arith.constant dense<1.000000e+00> : tensor<1024xf16, [[L]]>
// CHECK: nv_tileas.tiled_store <weak> %[[R]], {{.*}} vector 8
nv_tileaa.func @if(%p0: !nv_tileaa.ptr<f16>, %c: i1) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f16>
  %m = nv_tileaa.make_memref %p, shape = [], strides = [] : <f16> -> <4096xf16, strides = [1]>
  %v = nv_tileaa.make_tiled_view %m : <4096xf16, strides = [1]> -> <tile = [1024], memref<4096xf16, strides = [1]>>
  %c0 = arith.constant 0 : i32
  %y = scf.if %c -> (tensor<1024xf16>) {
    %x, %t1 = nv_tileaa.tiled_load <weak> %v[%c0] : <tile = [1024], memref<4096xf16, strides = [1]>>[i32] -> tensor<1024xf16>
    scf.yield %x : tensor<1024xf16>
  } else {
    %one = arith.constant dense<1.0> : tensor<1024xf16>
    scf.yield %one : tensor<1024xf16>
  }
  %t2 = nv_tileaa.tiled_store <weak> %y, %v[%c0] : tensor<1024xf16>, <tile = [1024], memref<4096xf16, strides = [1]>>[i32]
  nv_tileaa.return
}
