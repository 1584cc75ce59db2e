// RUN: tileiras-opt %s | tileiras-opt | FileCheck %s
// RUN: tileiras-opt %s --mlir-print-op-generic | tileiras-opt | FileCheck %s

// CHECK-LABEL: gpu.module @kernels
gpu.module @kernels {
  // CHECK: nv_tileaa.func @twice(%[[X:.*]]: tensor<16xi32>) -> tensor<16xi32>
  nv_tileaa.func @twice(%x: tensor<16xi32>) -> tensor<16xi32> {
    %y = arith.addi %x, %x : tensor<16xi32>
    // CHECK: nv_tileaa.return %{{.*}} : tensor<16xi32>
    nv_tileaa.return %y : tensor<16xi32>
  }
  // CHECK: nv_tileaa.func @k
  nv_tileaa.func @k(%p: !nv_tileaa.ptr<f32>, %n: i32, %c: tensor<16xi1>, %o: tensor<16xf32>) {
    // CHECK: %[[R:.*]] = nv_tileaa.make_range
    %r = nv_tileaa.make_range : tensor<16xi32>
    // CHECK: %[[E:.*]] = nv_tileaa.execute : () -> i32 {
    // CHECK: nv_tileaa.yield %{{.*}} : i32
    %e = nv_tileaa.execute : () -> i32 {
      %s = arith.addi %n, %n : i32
      nv_tileaa.yield %s : i32
    }
    // CHECK: nv_tileaa.is_valid_program_id %[[E]], %{{.*}}, %[[E]]
    %v = nv_tileaa.is_valid_program_id %e, %n, %e
    %m = nv_tileaa.make_memref %p, shape = [], strides = [] : !nv_tileaa.ptr<f32> -> !nv_tileaa.memref<64xf32, strides = [1]>
    // CHECK: %[[T:.*]] = nv_tileaa.mark_for_reuse %{{.*}} : !nv_tileaa.memref<64xf32, strides = [1]>
    %t = nv_tileaa.mark_for_reuse %m : !nv_tileaa.memref<64xf32, strides = [1]>
    // CHECK: nv_tileaa.mark_for_reuse %{{.*}} token %[[T]] :
    %u = nv_tileaa.mark_for_reuse %m token %t : !nv_tileaa.memref<64xf32, strides = [1]>
    // CHECK: nv_tileaa.gather_load <weak> %{{.*}}[%[[R]]] : <f32>[tensor<16xi32>] -> tensor<16xf32>
    %l, %lt = nv_tileaa.gather_load <weak> %p[%r] : !nv_tileaa.ptr<f32>[tensor<16xi32>] -> tensor<16xf32>
    // CHECK: nv_tileaa.gather_load <relaxed> scope <device> %{{.*}}[%[[R]]] mask %{{.*}} : tensor<16xi1> other %{{.*}} : tensor<16xf32> token %{{.*}} :
    %l2, %lt2 = nv_tileaa.gather_load <relaxed> scope <device> %p[%r] mask %c : tensor<16xi1> other %o : tensor<16xf32> token %lt : !nv_tileaa.ptr<f32>[tensor<16xi32>] -> tensor<16xf32>
    // CHECK: nv_tileaa.scatter_store <weak> %{{.*}}, %{{.*}}[%[[R]]] mask %{{.*}} : tensor<16xi1> token %{{.*}} : tensor<16xf32>, <f32>[tensor<16xi32>]
    %st = nv_tileaa.scatter_store <weak> %l, %p[%r] mask %c : tensor<16xi1> token %lt2 : tensor<16xf32>, !nv_tileaa.ptr<f32>[tensor<16xi32>]
    // CHECK: nv_tileaa.histogram %[[R]] mask %{{.*}} : tensor<16xi1> : tensor<16xi32> -> tensor<8xi32>
    %h = nv_tileaa.histogram %r mask %c : tensor<16xi1> : tensor<16xi32> -> tensor<8xi32>
    // CHECK: nv_tileaa.histogram %[[R]] : tensor<16xi32> -> tensor<8xi32>
    %h2 = nv_tileaa.histogram %r : tensor<16xi32> -> tensor<8xi32>
    // CHECK: nv_tileaa.expand_dims %[[R]], 1 : tensor<16xi32> -> tensor<16x1xi32>
    %d = nv_tileaa.expand_dims %r, 1 : tensor<16xi32> -> tensor<16x1xi32>
    nv_tileaa.return
  }
}
