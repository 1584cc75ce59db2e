// RUN: tileiras-opt %s --pass-pipeline='builtin.module(convert-tileas-to-llvm{compute-capability=sm_120},cse)' | FileCheck %s
// RUN: tileiras-opt %s --pass-pipeline='builtin.module(convert-tileas-to-llvm{compute-capability=sm_90},cse)' | FileCheck %s --check-prefix=OLDER
#fragment = #nv_tileas.layout<register = [16, 32, 8], lane = [64, 128, 1, 2, 4], warp = []>
#rows = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64, 128]>
gpu.module @kernels {
  // Bytes are transposed by 16x16. The two words of a lane are columns g and g + 8.
  // CHECK-LABEL: llvm.func @bytes(
  // CHECK: llvm.inline_asm has_side_effects "ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8 {$0, $1}, [$2];", "=r,=r,r"
  // OLDER-LABEL: llvm.func @bytes(
  // OLDER-NOT: ldmatrix
  nv_tileaa.func @bytes() attributes {numWarps = 1 : i64} {
    %a = nv_tileas.alloc_tensor offset 0 : !nv_tileas.memdesc<16x16xi8, #rows>
    %x = nv_tileas.local_load %a vector 4 : !nv_tileas.memdesc<16x16xi8, #rows> -> tensor<16x16xi8, #fragment>
    nv_tileaa.return
  }
}
