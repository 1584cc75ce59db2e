// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileas-materialize-convert-layout)' | FileCheck %s

#a = #nv_tileas.layout<register = [1, 2], lane = [4, 8, 16, 32, 64], warp = [128]>
#b = #nv_tileas.layout<register = [4, 2], lane = [1, 8, 16, 32, 64], warp = [128]>
// A lane bit and a register bit are exchanged: shuffles, without shared memory.
// CHECK-LABEL: nv_tileaa.func @inside_a_warp(
// CHECK: nv_tileas.shuffle %{{.*}} : tensor<256xf32, {{.*}}> -> tensor<256xf32, #nv_tileas.layout<register = [4, 2], lane = [1, 8, 16, 32, 64], warp = [128]>>
// CHECK-NOT: alloc_tensor
// CHECK: nv_tileaa.return
nv_tileaa.func @inside_a_warp(%x: f32) attributes {numWarps = 2 : i64} {
  %v = nv_tileas.splat %x : f32 -> tensor<256xf32, #a>
  %w = nv_tileas.convert_layout %v : tensor<256xf32, #a> -> tensor<256xf32, #b>
  nv_tileaa.return
}
#spread = #nv_tileas.layout<register = [], lane = [1, 2, 4, 8, 0], warp = [0, 0]>
#copies = #nv_tileas.layout<register = [1, 2, 4, 8], lane = [0, 0, 0, 0, 0], warp = [0, 0]>
// Every warp holds all 16 elements, so every thread can get them all without shared memory.
// CHECK-LABEL: nv_tileaa.func @copies(
// CHECK: nv_tileas.shuffle
// CHECK-NOT: alloc_tensor
nv_tileaa.func @copies(%x: f32) attributes {numWarps = 4 : i64} {
  %v = nv_tileas.splat %x : f32 -> tensor<16xf32, #spread>
  %w = nv_tileas.convert_layout %v : tensor<16xf32, #spread> -> tensor<16xf32, #copies>
  nv_tileaa.return
}
#regs = #nv_tileas.layout<register = [1, 64], lane = [2, 4, 8, 16, 32], warp = [128, 256]>
#slice = #nv_tileas.layout<register = [1], lane = [2, 4, 8, 16, 32], warp = [64, 128]>
#half = #nv_tileas.layout<register = [1], lane = [2, 4, 8, 16, 0], warp = [32, 64]>
#other = #nv_tileas.layout<register = [64], lane = [1, 2, 4, 8, 16], warp = [128, 32]>
// Slices of rows 0 to 3 and 4 to 7: by a register, the op stays; by a lane, shuffles; by a warp, shared memory.
// CHECK-LABEL: nv_tileaa.func @slices(
// CHECK: nv_tileas.extract_slice %{{.*}}[%{{.*}}, %arg1] : tensor<4x128xf32, {{.*}}> -> tensor<4x64xf32, {{.*}}>
// CHECK-NEXT: nv_tileas.shuffle %{{.*}}[%{{.*}}, %arg1] : tensor<4x64xf32, {{.*}}> -> tensor<4x32xf32, {{.*}}>
// CHECK-NEXT: %[[M:.*]] = nv_tileas.alloc_tensor
// CHECK-NEXT: nv_tileas.local_store %{{.*}}, %[[M]]
// CHECK-NEXT: nv_tileas.barrier
// CHECK-NEXT: nv_tileas.local_load_slice %[[M]][%arg1, %{{.*}}] vector 2 : <4x128xf32, {{.*}}> -> tensor<2x128xf32, {{.*}}>
nv_tileaa.func @slices(%x: f32, %i: i32) attributes {numWarps = 4 : i64} {
  %c0 = arith.constant 0 : i32
  %v = nv_tileas.splat %x : f32 -> tensor<4x128xf32, #regs>
  %a = nv_tileas.extract_slice %v[%c0, %i] : tensor<4x128xf32, #regs> -> tensor<4x64xf32, #slice>
  %b = nv_tileas.extract_slice %a[%c0, %i] : tensor<4x64xf32, #slice> -> tensor<4x32xf32, #half>
  %c = nv_tileas.extract_slice %v[%i, %c0] : tensor<4x128xf32, #regs> -> tensor<2x128xf32, #other>
  nv_tileaa.return
}
