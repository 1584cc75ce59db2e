// RUN: tileiras-opt %s --pass-pipeline='builtin.module(convert-tileas-to-llvm)' | FileCheck %s
// Conversions of tensors that are larger than their storage, part by part.

#from = #nv_tileas.layout<register = [1, 2, 128, 256], lane = [4, 8, 16, 32, 64], warp = [512, 1024]>
#to = #nv_tileas.layout<register = [1, 2, 512, 256], lane = [4, 8, 16, 32, 64], warp = [128, 1024]>
#half = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512]>
!from = !nv_tileas.register_array<tensor<2048xf32, #from>>
!to = !nv_tileas.register_array<tensor<2048xf32, #to>>
!memory = !nv_tileas.memdesc<1024xf32, #half>

#large_from = #nv_tileas.layout<register = [1, 2, 128, 256, 512, 1024], lane = [4, 8, 16, 32, 64], warp = [2048, 4096]>
#large_to = #nv_tileas.layout<register = [1, 2, 2048, 256, 512, 1024], lane = [4, 8, 16, 32, 64], warp = [128, 4096]>
#large_half = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048]>
!large_from = !nv_tileas.register_array<tensor<8192xf64, #large_from>>
!large_to = !nv_tileas.register_array<tensor<8192xf64, #large_to>>
!large_memory = !nv_tileas.memdesc<4096xf64, #large_half>
gpu.module @kernels {
  // The parts of a tensor that fits into registers have constant numbers, so that its array need not be in memory.
  // CHECK-LABEL: llvm.func @constant_parts
  // CHECK-NOT: llvm.cond_br
  // CHECK-COUNT-4: nv_tileas.barrier
  // CHECK-NOT: nv_tileas.barrier
  // CHECK-NOT: llvm.cond_br
  // CHECK: llvm.return
  nv_tileaa.func @constant_parts() attributes {numWarps = 4 : i64} {
    %m = nv_tileas.alloc_tensor offset 0 : !memory
    %a = nv_tileas.alloc_array slot 0 : !from
    %b = nv_tileas.alloc_array slot 1 : !to
    nv_tileas.array_exchange %a into %b, %m : !from into !to, !memory
    nv_tileaa.return
  }

  // A loop counts the parts of a larger tensor.
  // CHECK-LABEL: llvm.func @counted_parts
  // CHECK: llvm.br ^[[HEAD:bb[0-9]+]](
  // CHECK: ^[[HEAD]](%{{.*}}: i32):
  // CHECK-COUNT-2: nv_tileas.barrier
  // CHECK-NOT: nv_tileas.barrier
  // CHECK: llvm.cond_br %{{.*}}, ^[[HEAD]]({{.*}} {loop_annotation
  nv_tileaa.func @counted_parts() attributes {numWarps = 4 : i64} {
    %m = nv_tileas.alloc_tensor offset 0 : !large_memory
    %a = nv_tileas.alloc_array slot 0 : !large_from
    %b = nv_tileas.alloc_array slot 1 : !large_to
    nv_tileas.array_exchange %a into %b, %m : !large_from into !large_to, !large_memory
    nv_tileaa.return
  }
}
