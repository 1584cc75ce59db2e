// RUN: tileiras-opt %s --pass-pipeline='builtin.module(convert-tileas-to-llvm{compute-capability=sm_90})' | FileCheck %s

gpu.module @m {
  // If a tile block is split over a cluster, grid indices are those of clusters.
  // CHECK-LABEL: llvm.func @shared(
  // CHECK-SAME: nv_tileas.num_ctas = 2 : i64
  // CHECK: nvvm.read.ptx.sreg.clusterid.x
  // CHECK: nvvm.read.ptx.sreg.nclusterid.y
  // CHECK: nvvm.read.ptx.sreg.cluster.ctarank
  // CHECK-NOT: sreg.ctaid
  nv_tileaa.func @shared(%p: !nv_tileaa.ptr<i32>) attributes {numWarps = 1 : i64, nv_tileas.num_ctas = 2 : i64} {
    %x, %y, %z = nv_tileaa.get_program_id
    %a, %b, %c = nv_tileaa.get_num_programs
    %r = nv_tileaa.get_cta_rank
    %s = arith.addi %x, %b : i32
    %q = arith.addi %s, %r : i32
    %t = nv_tileas.store <weak> %p, %q vector 1 : !nv_tileaa.ptr<i32>, i32
    nv_tileaa.return
  }
  // A tile block that is not split is computed by rank 0.
  // CHECK-LABEL: llvm.func @alone(
  // CHECK: %[[X:.*]] = nvvm.read.ptx.sreg.ctaid.x
  // CHECK: %[[ZERO:.*]] = llvm.mlir.constant(0 : i32)
  // CHECK: llvm.add %[[X]], %[[ZERO]]
  // CHECK-NOT: cluster
  nv_tileaa.func @alone(%p: !nv_tileaa.ptr<i32>) attributes {numWarps = 1 : i64} {
    %x, %y, %z = nv_tileaa.get_program_id
    %r = nv_tileaa.get_cta_rank
    %q = arith.addi %x, %r : i32
    %t = nv_tileas.store <weak> %p, %q vector 1 : !nv_tileaa.ptr<i32>, i32
    nv_tileaa.return
  }
}
