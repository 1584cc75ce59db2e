// RUN: tileiras-opt %s --pass-pipeline='builtin.module(convert-tileas-to-llvm,cse)' | FileCheck %s

// One array holds all shared memory of a kernel. Its size is the end of the last allocation: 512 + 256 * 4.
// CHECK: llvm.mlir.global internal @__tileir_shared() {addr_space = 3 : i32, alignment = 128 : i64} : !llvm.array<1536 x i8>

#l = #nv_tileas.layout<register = [1, 2, 512], lane = [4, 8, 16, 32, 64], warp = [128, 256]>
#small = #nv_tileas.layout<register = [1], lane = [2, 4, 8, 16, 32], warp = [64, 128]>
#tiny = #nv_tileas.layout<register = [], lane = [1, 2, 4, 8, 16], warp = [0, 0]>
#columns = #nv_tileas.layout<register = [64], lane = [1, 2, 4, 8, 16], warp = [32, 128]>
#s = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64, 128]>
gpu.module @kernels {
  // CHECK-LABEL: llvm.func @exchange(
  // CHECK: %[[S:.*]] = llvm.mlir.addressof @__tileir_shared : !llvm.ptr<3>
  // CHECK: %[[A:.*]] = llvm.getelementptr %[[S]][512] :
  // CHECK: %[[P:.*]] = llvm.getelementptr %[[A]][%{{.*}}] :
  // CHECK: llvm.store %{{.*}}, %[[P]] {alignment = 8 : i64} : vector<2xi32>, !llvm.ptr<3>
  // CHECK: nv_tileas.barrier
  // CHECK: %[[Q:.*]] = llvm.getelementptr %[[A]][%{{.*}}] :
  // Eight lanes each have a row of four words: one instruction loads both registers.
  // CHECK: llvm.inline_asm has_side_effects "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {$0, $1}, [$2];", "=r,=r,r" %[[Q]]
  nv_tileaa.func @exchange(%x: f32) attributes {numWarps = 4 : i64} {
    %v = nv_tileas.splat %x : f32 -> tensor<256xf32, #small>
    %a = nv_tileas.alloc_tensor offset 512 : !nv_tileas.memdesc<256xf32, #s>
    nv_tileas.local_store %v, %a vector 2 : tensor<256xf32, #small>, !nv_tileas.memdesc<256xf32, #s>
    nv_tileas.barrier
    %w = nv_tileas.local_load %a vector 1 : !nv_tileas.memdesc<256xf32, #s> -> tensor<256xf32, #columns>
    nv_tileaa.return
  }
}
