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
    %r = nv_tileaa.make_range : tensor<16xi32>
    // CHECK: %[[C:.*]] = nv_tileaa.call @twice(%[[R:.*]]) : (tensor<16xi32>) -> tensor<16xi32>
    %twice = nv_tileaa.call @twice(%r) : (tensor<16xi32>) -> tensor<16xi32>
    // CHECK: %[[E:.*]] = nv_tileaa.execute : () -> i32 {
    // CHECK: nv_tileaa.yield %{{.*}} : i32
    %e = nv_tileaa.execute : () -> i32 {
      %s = arith.addi %n, %n : i32
      nv_tileaa.yield %s : i32
    }
    // CHECK: %[[Q:.*]] = nv_tileaa.create_queue : <depth = 2, tensor<16xf32>>
    %q = nv_tileaa.create_queue : !nv_tileaa.queue<depth = 2, tensor<16xf32>>
    // CHECK: nv_tileaa.queue.put %[[Q]] : <depth = 2, tensor<16xf32>> {
    // CHECK: nv_tileaa.queue.yield %{{.*}} : tensor<16xf32>
    nv_tileaa.queue.put %q : !nv_tileaa.queue<depth = 2, tensor<16xf32>> {
      nv_tileaa.queue.yield %o : tensor<16xf32>
    }
    // CHECK: nv_tileaa.queue.get %[[Q]] : <depth = 2, tensor<16xf32>> -> tensor<16xf32>
    %g = nv_tileaa.queue.get %q : !nv_tileaa.queue<depth = 2, tensor<16xf32>> -> tensor<16xf32>
    // CHECK: %[[ID:.*]], %[[IDY:.*]], %[[IDZ:.*]] = nv_tileaa.cancel_next_program_id
    %x, %y, %z = nv_tileaa.cancel_next_program_id
    // CHECK: nv_tileaa.is_valid_program_id %[[ID]], %[[IDY]], %[[IDZ]]
    %v = nv_tileaa.is_valid_program_id %x, %y, %z
    %m = nv_tileaa.make_memref %p, shape = [], strides = [] : !nv_tileaa.ptr<f32> -> !nv_tileaa.memref<64xf32, strides = [1]>
    // CHECK: %[[T:.*]] = nv_tileaa.mark_for_reuse %{{.*}} : !nv_tileaa.memref<64xf32, strides = [1]>
    %t = nv_tileaa.mark_for_reuse %m : !nv_tileaa.memref<64xf32, strides = [1]>
    // CHECK: nv_tileaa.mark_for_reuse %{{.*}} token %[[T]] :
    %u = nv_tileaa.mark_for_reuse %m token %t : !nv_tileaa.memref<64xf32, strides = [1]>
    // CHECK: nv_tileaa.pragma "unroll" = 4 : i64
    nv_tileaa.pragma "unroll" = 4 : i64
    // CHECK: nv_tileaa.pragma "keep"
    nv_tileaa.pragma "keep"
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
// CHECK: nv_tileaa.func @start
nv_tileaa.func @start(%p: !nv_tileaa.ptr<f32>, %n: i32, %c: tensor<16xi1>, %o: tensor<16xf32>) {
  // CHECK: nv_tileaa.launch_func @kernels::@k grid(%{{.*}}, %{{.*}}, %{{.*}}) args(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) : !nv_tileaa.ptr<f32>, i32, tensor<16xi1>, tensor<16xf32>
  nv_tileaa.launch_func @kernels::@k grid(%n, %n, %n) args(%p, %n, %c, %o) : !nv_tileaa.ptr<f32>, i32, tensor<16xi1>, tensor<16xf32>
  nv_tileaa.return
}
