// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileas-materialize-reductions)' | FileCheck %s

#lanes = #nv_tileas.layout<register = [32, 256], lane = [1, 2, 4, 8, 16], warp = [64, 128]>
#row = #nv_tileas.layout<register = [1, 2, 128], lane = [4, 8, 16, 32, 64], warp = [256, 512]>
#tall = #nv_tileas.layout<register = [4, 8, 16, 32, 64, 128, 256], lane = [512, 1024, 2048, 4096, 8192], warp = [1, 2]>

// Lanes have the low bits of the coordinate: 16 segments of 32 elements, whose totals are sent to all threads. In
// reverse, the total of a segment is its first element.
// CHECK-LABEL: @segments(
// CHECK: %[[V:.*]] = nv_tileas.view %arg0 : {{.*}} -> tensor<16x32xf32
// CHECK: %[[S:.*]] = nv_tileas.scan %[[V]] dim 1 reverse identities [0.000000e+00 : f32]
// CHECK: arith.addf
// CHECK: %[[T:.*]] = nv_tileas.pick %[[S]] dim 1 at 0 : {{.*}} -> tensor<16xf32, #nv_tileas.layout<register = [1, 8], lane = [0, 0, 0, 0, 0], warp = [2, 4]>>
// CHECK: nv_tileas.local_store %[[T]]
// CHECK-NEXT: nv_tileas.barrier
// CHECK-NEXT: %[[U:.*]] = nv_tileas.local_load {{.*}} -> tensor<16xf32, #nv_tileas.layout<register = [1, 2, 4, 8], lane = [0, 0, 0, 0, 0], warp = [0, 0]>>
// CHECK-NEXT: %[[C:.*]] = nv_tileas.carry %[[S]] totals %[[U]] dim 0 reverse :
// CHECK: arith.addf
// CHECK: nv_tileas.view %[[C]] : {{.*}} -> tensor<512xf32
nv_tileaa.func @segments(%x: tensor<512xf32, #lanes>) attributes {numWarps = 4 : i64} {
  %a = nv_tileas.scan %x dim 0 reverse identities [0.0 : f32] : tensor<512xf32, #lanes> -> tensor<512xf32, #lanes> {
  ^bb0(%p: f32, %q: f32):
    %s = arith.addf %p, %q : f32
    nv_tileas.yield %s : f32
  }
  nv_tileaa.return
}

// Two segments are in registers of one thread: every thread has their totals, and shared memory is not used.
// CHECK-LABEL: @in_registers(
// CHECK: nv_tileas.view %arg0 : {{.*}} -> tensor<4x2x128xi32
// CHECK: %[[S:.*]]:2 = nv_tileas.scan %{{.*}}, %{{.*}} dim 2 identities
// CHECK: nv_tileas.pick %[[S]]#0 dim 2 at 127
// CHECK: nv_tileas.pick %[[S]]#1 dim 2 at 127
// CHECK-NOT: nv_tileas.barrier
// CHECK: nv_tileas.carry %[[S]]#0, %[[S]]#1 totals %{{.*}}, %{{.*}} dim 1 :
nv_tileaa.func @in_registers(%x: tensor<4x256xi32, #row>) attributes {numWarps = 4 : i64} {
  %a:2 = nv_tileas.scan %x, %x dim 1 identities [0 : i32, 0 : i32] : tensor<4x256xi32, #row>, tensor<4x256xi32, #row> -> tensor<4x256xi32, #row>, tensor<4x256xi32, #row> {
  ^bb0(%p: i32, %q: i32, %r: i32, %t: i32):
    nv_tileas.yield %p, %r : i32, i32
  }
  nv_tileaa.return
}

// Warps have the lowest bits, which gives so many segments that the operand is converted first.
// CHECK-LABEL: @convert(
// CHECK: nv_tileas.convert_layout %arg0 : {{.*}} -> tensor<16384xf32, [[O:#nv_tileas.layout<register = .1, 2, 4, 8, 16, 32, 64., lane = .128, 256, 512, 1024, 2048., warp = .4096, 8192.>]]>
// CHECK: nv_tileas.scan %{{.*}} dim 1 identities [0.000000e+00 : f32] : tensor<4x4096xf32, [[O]]>
// CHECK: nv_tileas.carry
// CHECK: nv_tileas.convert_layout %{{.*}} -> tensor<16384xf32, #nv_tileas.layout<register = [4, 8, 16, 32, 64, 128, 256], lane = [512, 1024, 2048, 4096, 8192], warp = [1, 2]>>
nv_tileaa.func @convert(%x: tensor<16384xf32, #tall>) attributes {numWarps = 4 : i64} {
  %a = nv_tileas.scan %x dim 0 identities [0.0 : f32] : tensor<16384xf32, #tall> -> tensor<16384xf32, #tall> {
  ^bb0(%p: f32, %q: f32):
    %s = arith.addf %p, %q : f32
    nv_tileas.yield %s : f32
  }
  nv_tileaa.return
}

// A warp that has whole rows scans them alone.
// CHECK-LABEL: @within(
// CHECK-NEXT: nv_tileas.scan %arg0 dim 1
// CHECK-NOT: nv_tileas.carry
// CHECK: nv_tileaa.return
nv_tileaa.func @within(%x: tensor<8x128xf32, #nv_tileas.layout<register = [1, 2, 128], lane = [4, 8, 16, 32, 64], warp = [256, 512]>>) attributes {numWarps = 4 : i64} {
  %a = nv_tileas.scan %x dim 1 identities [0.0 : f32] : tensor<8x128xf32, #row> -> tensor<8x128xf32, #row> {
  ^bb0(%p: f32, %q: f32):
    %s = arith.addf %p, %q : f32
    nv_tileas.yield %s : f32
  }
  nv_tileaa.return
}
