// RUN: tileiras-opt %s | tileiras-opt | FileCheck %s

// CHECK: %{{.*}}:2 = nv_tileas.assume [#cuda_tile.bounded<0, ?>, #cuda_tile.div_by<16>], %arg1, %arg2 : i32
// CHECK: %{{.*}} = nv_tileas.assume [#cuda_tile.div_by<16>], %arg0 : !nv_tileaa.ptr<f32>
nv_tileaa.func @k(%p: !nv_tileaa.ptr<f32>, %m: i32, %n: i32) {
  %0:2 = nv_tileas.assume [#cuda_tile.bounded<0, ?>, #cuda_tile.div_by<16>], %m, %n : i32
  %1 = nv_tileas.assume [#cuda_tile.div_by<16>], %p : !nv_tileaa.ptr<f32>
  nv_tileaa.return
}
