// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileas-optimize-alloc-tensor)' | FileCheck %s

#l = #nv_tileas.layout<register = [1, 2, 512], lane = [4, 8, 16, 32, 64], warp = [128, 256]>
#h = #nv_tileas.layout<register = [1], lane = [2, 4, 8, 16, 32], warp = [64, 128]>
#s = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512]>
#t = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64, 128]>

// The first allocation is dead when the second is written, so both have the same bytes.
// CHECK-LABEL: nv_tileaa.func @one_after_the_other(
// CHECK: nv_tileas.alloc_tensor offset 0 :
// CHECK: nv_tileas.alloc_tensor offset 0 :
nv_tileaa.func @one_after_the_other(%x: f32) {
  %v = nv_tileas.splat %x : f32 -> tensor<1024xf32, #l>
  %a = nv_tileas.alloc_tensor : !nv_tileas.memdesc<1024xf32, #s>
  nv_tileas.local_store %v, %a vector 4 : tensor<1024xf32, #l>, !nv_tileas.memdesc<1024xf32, #s>
  %w = nv_tileas.local_load %a vector 4 : !nv_tileas.memdesc<1024xf32, #s> -> tensor<1024xf32, #l>
  %b = nv_tileas.alloc_tensor : !nv_tileas.memdesc<1024xf32, #s>
  nv_tileas.barrier
  nv_tileas.local_store %w, %b vector 4 : tensor<1024xf32, #l>, !nv_tileas.memdesc<1024xf32, #s>
  nv_tileaa.return
}
// The larger allocation is placed first.
// CHECK-LABEL: nv_tileaa.func @together(
// CHECK: nv_tileas.alloc_tensor offset 4096 : <256xf16
// CHECK: nv_tileas.alloc_tensor offset 0 : <1024xf32
nv_tileaa.func @together(%x: f32, %y: f16) {
  %v = nv_tileas.splat %x : f32 -> tensor<1024xf32, #l>
  %w = nv_tileas.splat %y : f16 -> tensor<256xf16, #h>
  %a = nv_tileas.alloc_tensor : !nv_tileas.memdesc<256xf16, #t>
  %b = nv_tileas.alloc_tensor : !nv_tileas.memdesc<1024xf32, #s>
  nv_tileas.local_store %w, %a vector 2 : tensor<256xf16, #h>, !nv_tileas.memdesc<256xf16, #t>
  nv_tileas.local_store %v, %b vector 4 : tensor<1024xf32, #l>, !nv_tileas.memdesc<1024xf32, #s>
  %w2 = nv_tileas.local_load %a vector 2 : !nv_tileas.memdesc<256xf16, #t> -> tensor<256xf16, #h>
  %v2 = nv_tileas.local_load %b vector 4 : !nv_tileas.memdesc<1024xf32, #s> -> tensor<1024xf32, #l>
  nv_tileaa.return
}
// Allocated outside a loop and read in it: live for all iterations.
// CHECK-LABEL: nv_tileaa.func @alive_in_a_loop(
// CHECK: nv_tileas.alloc_tensor offset 0 :
// CHECK: scf.for
// CHECK: nv_tileas.alloc_tensor offset 4096 :
nv_tileaa.func @alive_in_a_loop(%x: f32, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %v = nv_tileas.splat %x : f32 -> tensor<1024xf32, #l>
  %a = nv_tileas.alloc_tensor : !nv_tileas.memdesc<1024xf32, #s>
  nv_tileas.local_store %v, %a vector 4 : tensor<1024xf32, #l>, !nv_tileas.memdesc<1024xf32, #s>
  scf.for %i = %c0 to %n step %c1 : i32 {
    %w = nv_tileas.local_load %a vector 4 : !nv_tileas.memdesc<1024xf32, #s> -> tensor<1024xf32, #l>
    %b = nv_tileas.alloc_tensor : !nv_tileas.memdesc<1024xf32, #s>
    nv_tileas.local_store %w, %b vector 4 : tensor<1024xf32, #l>, !nv_tileas.memdesc<1024xf32, #s>
  }
  nv_tileaa.return
}
// CHECK-LABEL: nv_tileaa.func @unused(
// CHECK: nv_tileas.alloc_tensor offset 0 :
nv_tileaa.func @unused() {
  %a = nv_tileas.alloc_tensor : !nv_tileas.memdesc<1024xf32, #s>
  nv_tileaa.return
}
// Barriers are live as long as their pipeline.
// CHECK-LABEL: nv_tileaa.func @barriers(
// CHECK: nv_tileas.alloc_tensor offset 4096 : <2xi64
// CHECK: nv_tileas.alloc_tensor offset 0 : <1024xf32
nv_tileaa.func @barriers(%x: f32) {
  %v = nv_tileas.splat %x : f32 -> tensor<1024xf32, #l>
  %bars = nv_tileas.alloc_tensor : !nv_tileas.memdesc<2xi64, #nv_tileas.shared_layout<offset = [1]>>
  %pipe = nv_tileas.async.pipeline.create_pipeline %bars phases [full = 1, empty = 1] : !nv_tileas.memdesc<2xi64, #nv_tileas.shared_layout<offset = [1]>> -> !nv_tileas.pipeline<1>
  %a = nv_tileas.alloc_tensor : !nv_tileas.memdesc<1024xf32, #s>
  nv_tileas.local_store %v, %a vector 4 : tensor<1024xf32, #l>, !nv_tileas.memdesc<1024xf32, #s>
  %it = nv_tileas.async.pipeline.create_iterator %pipe : !nv_tileas.pipeline<1>
  %t = nv_tileas.async.pipeline.consumer_wait %pipe[%it] : !nv_tileas.pipeline<1>
  nv_tileaa.return
}
// Both are allocated before the branch and used one after the other in one side of it. An allocation that is also
// used after the branch is live for the whole branch.
// CHECK-LABEL: nv_tileaa.func @in_a_branch(
// CHECK: nv_tileas.alloc_tensor offset 4096 :
// CHECK: nv_tileas.alloc_tensor offset 4096 :
// CHECK: nv_tileas.alloc_tensor offset 0 :
nv_tileaa.func @in_a_branch(%x: f32, %c: i1) {
  %v = nv_tileas.splat %x : f32 -> tensor<1024xf32, #l>
  %a = nv_tileas.alloc_tensor : !nv_tileas.memdesc<1024xf32, #s>
  %b = nv_tileas.alloc_tensor : !nv_tileas.memdesc<1024xf32, #s>
  %d = nv_tileas.alloc_tensor : !nv_tileas.memdesc<1024xf32, #s>
  scf.if %c {
    nv_tileas.local_store %v, %a vector 4 : tensor<1024xf32, #l>, !nv_tileas.memdesc<1024xf32, #s>
    %w = nv_tileas.local_load %a vector 4 : !nv_tileas.memdesc<1024xf32, #s> -> tensor<1024xf32, #l>
    nv_tileas.barrier
    nv_tileas.local_store %w, %b vector 4 : tensor<1024xf32, #l>, !nv_tileas.memdesc<1024xf32, #s>
    nv_tileas.local_store %w, %d vector 4 : tensor<1024xf32, #l>, !nv_tileas.memdesc<1024xf32, #s>
  }
  %y = nv_tileas.local_load %d vector 4 : !nv_tileas.memdesc<1024xf32, #s> -> tensor<1024xf32, #l>
  nv_tileaa.return
}
