// RUN: tileiras-opt %s --pass-pipeline='builtin.module(convert-tileas-to-llvm)' | FileCheck %s

// 32 registers in two chunks of 16. The last warp bit of a chunk's layout is the number of the chunk.
#l = #nv_tileas.layout<register = [1, 2, 128, 256, 512], lane = [4, 8, 16, 32, 64], warp = [1024]>
#c = #nv_tileas.layout<register = [1, 2, 128, 256], lane = [4, 8, 16, 32, 64], warp = [1024, 512]>
#o = #nv_tileas.layout<register = [512, 256, 128, 2], lane = [4, 8, 16, 32, 64], warp = [1024, 1]>
!a = !nv_tileas.register_array<tensor<2048xf32, #l>>
!view = !nv_tileaa.tiled_view<tile = [2048], memref<2048xf32, strides = [1]>>
gpu.module @kernels {
  // CHECK-LABEL: llvm.func @loop
  nv_tileaa.func @loop(%p: !nv_tileaa.ptr<f32>) attributes {numWarps = 2 : i64} {
    // CHECK: %[[BYTES:.*]] = llvm.mlir.constant(128 : i32)
    // CHECK-NEXT: %[[A:.*]] = llvm.alloca %[[BYTES]] x i8
    // CHECK: %[[WARP:.*]] = llvm.lshr
    %c0 = arith.constant 0 : i32
    %m = nv_tileaa.make_memref %p, shape = [], strides = [] : <f32> -> <2048xf32, strides = [1]>
    %v = nv_tileaa.make_tiled_view %m : <2048xf32, strides = [1]> -> !view
    %a = nv_tileas.alloc_array slot 0 : !a
    // CHECK: llvm.br ^[[HEAD:bb[0-9]+]](%{{.*}} : i32)
    // CHECK: ^[[HEAD]](%[[K:.*]]: i32):
    nv_tileas.register_loop 2 {
    ^bb0(%k: i32):
      // The virtual warp.
      // CHECK: %[[SHIFTED:.*]] = llvm.shl %[[K]], %{{.*}} : i32
      // CHECK-NEXT: llvm.or disjoint %[[WARP]], %[[SHIFTED]] : i32
      %x, %t = nv_tileas.tiled_load <weak> %v[%c0] vector 4 bounds <none> : !view[i32] -> tensor<2048xf32, #c>
      // The chunk's part of the array, 16 bytes at a time.
      // CHECK-COUNT-4: llvm.store %{{.*}}, %{{.*}} {alignment = 16 : i64} : vector<4xi32>, !llvm.ptr{{$}}
      nv_tileas.array_store %x, %a[%k] : tensor<2048xf32, #c>, !a
      nv_tileas.yield
    // CHECK: llvm.cond_br %{{.*}}, ^[[HEAD]](%{{.*}} : i32), ^[[EXIT:bb[0-9]+]] {loop_annotation = {{.*}}}
    }
    // CHECK: ^[[EXIT]]:
    nv_tileas.register_loop 2 {
    ^bb0(%k: i32):
      // CHECK-COUNT-16: llvm.load %{{.*}} : !llvm.ptr -> i32
      %x = nv_tileas.gather_registers %a chunk %k : !a -> tensor<2048xf32, #o>
      %t = nv_tileas.tiled_store <weak> %x, %v[%c0] vector 1 bounds <none> : tensor<2048xf32, #o>, !view[i32]
      nv_tileas.yield
    }
    nv_tileaa.return
  }

  // A source in registers provides the registers of the chunk without an instruction.
  // CHECK-LABEL: llvm.func @renamed
  nv_tileaa.func @renamed(%p: !nv_tileaa.ptr<f32>, %f: f32) attributes {numWarps = 2 : i64} {
    // CHECK-NOT: llvm.alloca
    // CHECK: llvm.return
    %x = nv_tileas.splat %f : f32 -> tensor<1xf32, #nv_tileas.layout<register = [], lane = [0, 0, 0, 0, 0], warp = [0]>>
    %c0 = arith.constant 0 : i32
    %m = nv_tileaa.make_memref %p, shape = [], strides = [] : <f32> -> <2048xf32, strides = [1]>
    %v = nv_tileaa.make_tiled_view %m : <2048xf32, strides = [1]> -> !view
    nv_tileas.register_loop 2 {
    ^bb0(%k: i32):
      %y = nv_tileas.gather_registers %x chunk %k : tensor<1xf32, #nv_tileas.layout<register = [], lane = [0, 0, 0, 0, 0], warp = [0]>> -> tensor<2048xf32, #c>
      %t = nv_tileas.tiled_store <weak> %y, %v[%c0] vector 4 bounds <none> : tensor<2048xf32, #c>, !view[i32]
      nv_tileas.yield
    }
    nv_tileaa.return
  }
}
