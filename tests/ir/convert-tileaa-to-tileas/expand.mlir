// RUN: tileiras-opt %s --pass-pipeline='builtin.module(convert-tileaa-to-tileas{num-warps=1})' | FileCheck %s
// RUN: tileiras-opt %s --pass-pipeline='builtin.module(convert-tileaa-to-tileas{num-warps=1},tileas-assign-load-store-layouts,tileas-remove-layout-conversions,tileas-materialize-convert-layout,tileas-optimize-alloc-tensor,convert-tileas-to-llvm)' | FileCheck %s --check-prefix=LLVM

// Ops that abbreviate simpler ones are expanded, and the results can be lowered.
// CHECK-LABEL: nv_tileaa.func @k
// CHECK-NOT: {{nv_tileaa.(gather_load|scatter_store|expand_dims|execute|mark_for_reuse)}}
// CHECK: %[[O:.*]] = nv_tileas.make_range
// CHECK: %[[S:.*]] = nv_tileas.splat %arg0
// CHECK: %[[P:.*]] = nv_tileaa.addptr %[[S]], %[[O]]
// CHECK: %[[V:.*]], %[[T:.*]] = nv_tileas.load <weak> %[[P]] vector 1
// CHECK: nv_tileas.view %[[V]]
// CHECK: %[[N:.*]] = arith.addi %arg1, %arg1
// CHECK: nv_tileaa.is_valid_program_id %[[N]], %arg1, %arg1
// CHECK: %[[Q:.*]] = nv_tileaa.addptr
// CHECK: nv_tileas.store <weak> %[[Q]], %[[V]] token %[[T]] vector 1
// LLVM-LABEL: llvm.func @k
// LLVM: nvvm.read.ptx.sreg.nctaid.x
// LLVM: llvm.icmp "ult"
gpu.module @m {
  nv_tileaa.func @k(%p: !nv_tileaa.ptr<f32>, %n: i32, %q: !nv_tileaa.ptr<i1>) {
    %o = nv_tileaa.make_range : tensor<32xi32>
    %v, %t = nv_tileaa.gather_load <weak> %p[%o] : !nv_tileaa.ptr<f32>[tensor<32xi32>] -> tensor<32xf32>
    %e = nv_tileaa.expand_dims %v, 0 : tensor<32xf32> -> tensor<1x32xf32>
    %s = nv_tileaa.execute : () -> i32 {
      %i = nv_tileaa.execute : () -> i32 {
        %twice = arith.addi %n, %n : i32
        nv_tileaa.yield %twice : i32
      }
      nv_tileaa.yield %i : i32
    }
    %valid = nv_tileaa.is_valid_program_id %s, %n, %n
    %m = nv_tileaa.make_memref %p, shape = [], strides = [] : !nv_tileaa.ptr<f32> -> !nv_tileaa.memref<64xf32, strides = [1]>
    %marked = nv_tileaa.mark_for_reuse %m token %t : !nv_tileaa.memref<64xf32, strides = [1]>
    %u = nv_tileaa.scatter_store <weak> %v, %p[%o] token %marked : tensor<32xf32>, !nv_tileaa.ptr<f32>[tensor<32xi32>]
    %w = nv_tileaa.store <weak> %q, %valid : !nv_tileaa.ptr<i1>, i1
    nv_tileaa.return
  }
}
