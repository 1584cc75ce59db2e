// RUN: tileiras-opt %s | tileiras-opt | FileCheck %s

// Loops over chunks of registers and arrays in local memory: round trip.
#l = #nv_tileas.layout<register = [1, 2, 128, 256], lane = [4, 8, 16, 32, 64], warp = [512]>
#c = #nv_tileas.layout<register = [1, 2], lane = [4, 8, 16, 32, 64], warp = [512, 128, 256]>
#s = #nv_tileas.layout<register = [1, 2, 128], lane = [4, 8, 16, 32, 64], warp = [0]>
#o = #nv_tileas.layout<register = [256, 128, 1, 2], lane = [4, 8, 16, 32, 64], warp = [512]>
!a = !nv_tileas.register_array<tensor<1024xf32, #l>>
gpu.module @kernels {
  // CHECK-LABEL: @loops
  nv_tileaa.func @loops(%x: tensor<1024xf32, #l>, %s: tensor<256xf32, #s>, %i: i32) attributes {numWarps = 2 : i64} {
    // CHECK: %[[A:.*]] = nv_tileas.alloc_array slot 0 : <tensor<1024xf32,
    %a = nv_tileas.alloc_array slot 0 : !a
    // CHECK: nv_tileas.array_store %{{.*}}, %[[A]] : tensor
    nv_tileas.array_store %x, %a : tensor<1024xf32, #l>, !a
    // CHECK: nv_tileas.array_insert %{{.*}} into %[[A]][%{{.*}}] : tensor
    nv_tileas.array_insert %s into %a[%i] : tensor<256xf32, #s> into !a
    // CHECK: nv_tileas.gather_registers %[[A]] slice[%{{.*}}] : !nv_tileas.register_array
    %g = nv_tileas.gather_registers %a slice [%i] : !a -> tensor<256xf32, #s>
    // CHECK: nv_tileas.register_loop 4 {
    nv_tileas.register_loop 4 {
    // CHECK-NEXT: ^bb0(%[[K:.*]]: i32):
    ^bb0(%k: i32):
      // CHECK-NEXT: %[[Y:.*]] = nv_tileas.array_load %[[A]][%[[K]]] :
      %y = nv_tileas.array_load %a[%k] : !a -> tensor<1024xf32, #c>
      // CHECK-NEXT: nv_tileas.array_store %[[Y]], %[[A]][%[[K]]] :
      nv_tileas.array_store %y, %a[%k] : tensor<1024xf32, #c>, !a
      // CHECK-NEXT: nv_tileas.gather_registers %[[A]] chunk %[[K]] :
      %z = nv_tileas.gather_registers %a chunk %k : !a -> tensor<1024xf32, #c>
      // CHECK-NEXT: nv_tileas.yield{{$}}
      nv_tileas.yield
    }
    // CHECK: %{{.*}} = nv_tileas.register_loop 1 -> !nv_tileaa.mem_token {
    %t = nv_tileas.register_loop 1 -> !nv_tileaa.mem_token {
    ^bb0(%k: i32):
      %t0 = nv_tileaa.create_mem_token
      // CHECK: nv_tileas.yield %{{.*}} : !nv_tileaa.mem_token
      nv_tileas.yield %t0 : !nv_tileaa.mem_token
    }
    %b = nv_tileas.alloc_array slot 1 : !nv_tileas.register_array<tensor<1024xf32, #o>>
    %m = nv_tileas.alloc_tensor : !nv_tileas.memdesc<4xf32, #nv_tileas.shared_layout<offset = [1, 2]>>
    // CHECK: nv_tileas.array_exchange %[[A]] into %{{.*}}, %{{.*}} : <tensor
    nv_tileas.array_exchange %a into %b, %m : !a into !nv_tileas.register_array<tensor<1024xf32, #o>>, !nv_tileas.memdesc<4xf32, #nv_tileas.shared_layout<offset = [1, 2]>>
    // CHECK: nv_tileas.print "%f", %[[A]] : !nv_tileas.register_array
    %p = nv_tileas.print "%f", %a : !a
    nv_tileaa.return
  }
}
