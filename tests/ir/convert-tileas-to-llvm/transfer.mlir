// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileas-assign-load-store-layouts,tileas-materialize-convert-layout,tileas-optimize-alloc-tensor)' | FileCheck %s
// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileas-assign-load-store-layouts,tileas-materialize-convert-layout,tileas-optimize-alloc-tensor,convert-tileas-to-llvm)' | FileCheck %s --check-prefix=LLVM

// Copies become loads and stores of shared memory, and gathers become accesses through pointers. New dimensions and
// reinterpretations keep the registers.
#l = #nv_tileas.layout<register = [], lane = [1, 2, 4, 8, 16], warp = []>
#m = #nv_tileas.layout<register = [], lane = [16, 8, 4, 2, 1], warp = []>
#s = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16]>
// CHECK-LABEL: nv_tileaa.func @k
// CHECK: %[[A:.*]] = nv_tileas.alloc_tensor offset 0
// CHECK: nv_tileas.local_store %{{.*}}, %[[A]] vector 1
// CHECK: nv_tileas.local_load %[[A]] vector 1
// CHECK: nv_tileaa.addptr
// CHECK: nv_tileas.store <weak>
// LLVM-LABEL: llvm.func @k
// LLVM: %[[I:.*]] = llvm.and
// LLVM: llvm.store %[[I]], %{{.*}} : i32, !llvm.ptr<3>
// LLVM: %[[X:.*]] = llvm.load %{{.*}} : !llvm.ptr<3> -> i32
// LLVM: %[[P:.*]] = llvm.getelementptr %arg0[
// LLVM: llvm.store %[[X]], %[[P]] {{.*}} : i32, !llvm.ptr<1>
gpu.module @kernels {
  nv_tileaa.func @k(%p: !nv_tileaa.ptr<i32>) attributes {numWarps = 1 : i64} {
    %x = nv_tileas.make_range : tensor<32xi32, #l>
    %a = nv_tileas.alloc_tensor : !nv_tileas.memdesc<32xi32, #s>
    nv_tileas.copy %x into %a : tensor<32xi32, #l> into !nv_tileas.memdesc<32xi32, #s>
    nv_tileas.barrier
    %y = nv_tileas.copy %a : !nv_tileas.memdesc<32xi32, #s> -> tensor<32xi32, #l>
    %r = nv_tileas.reinterpret %y : tensor<32xi32, #l> -> tensor<32xi32, #m>
    %e = nv_tileas.expand_dims %r, 0 : tensor<32xi32, #m> -> tensor<1x32xi32, #m>
    %v = nv_tileas.view %e : tensor<1x32xi32, #m> -> tensor<32xi32, #m>
    %z = nv_tileas.reinterpret %v : tensor<32xi32, #m> -> tensor<32xi32, #l>
    %t = nv_tileas.scatter_store <weak> %z, %p[%x] : tensor<32xi32, #l>, !nv_tileaa.ptr<i32>[tensor<32xi32, #l>]
    nv_tileaa.return
  }
}
