// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileas-keep-addresses-in-loops)' | FileCheck %s

#l = #nv_tileas.layout<register = [1, 2], lane = [4, 8, 16, 32, 0], warp = []>
#m = #nv_tileas.layout<register = [1, 2, 4, 8], lane = [0, 16, 32, 64, 0], warp = []>
#n = #nv_tileas.layout<register = [8, 16, 32, 64, 1, 2], lane = [4, 0, 0, 0, 0], warp = []>
gpu.module @kernels {
  // The outermost loop around a dot is marked, and the loops inside it are not.
  // CHECK-LABEL: @nested
  nv_tileaa.func @nested(%a: tensor<8x16xf32, #m>, %b: tensor<16x8xf32, #n>, %c: tensor<8x8xf32, #l>, %k: i32, %pipeline: !nv_tileas.pipeline<2>, %it: !nv_tileas.pipeline_iterator) attributes {numWarps = 1 : i64} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    // CHECK: scf.for
    %r = scf.for %i = %c0 to %k step %c1 iter_args(%x = %c) -> (tensor<8x8xf32, #l>) : i32 {
      // CHECK: scf.for
      %s = scf.for %j = %c0 to %k step %c1 iter_args(%y = %x) -> (tensor<8x8xf32, #l>) : i32 {
        // CHECK: nv_tileas.dot
        %d = nv_tileas.dot %a, %b, %y by <fma> : tensor<8x16xf32, #m>, tensor<16x8xf32, #n>, tensor<8x8xf32, #l>
        scf.yield %d : tensor<8x8xf32, #l>
      // CHECK: scf.yield
      // CHECK-NEXT: }{{$}}
      }
      scf.yield %s : tensor<8x8xf32, #l>
    // CHECK: scf.yield
    // CHECK-NEXT: } {nv_tileas.addresses_in_loop}
    }
    // The loop of converter warps is marked too.
    // CHECK: producer_commit %{{.*}}[%{{.*}}] at converted :
    // CHECK-NEXT: }{{$}}
    // CHECK-NEXT: } {nv_tileas.addresses_in_loop}
    scf.for %i = %c0 to %k step %c1 : i32 {
      scf.for %j = %c0 to %k step %c1 : i32 {
        nv_tileas.async.pipeline.producer_commit %pipeline[%it] at converted : <2>
      }
    }
    // A loop without a dot is not marked, and LLVM may optimize it freely.
    // CHECK: scf.for
    %t = scf.for %i = %c0 to %k step %c1 iter_args(%x = %c) -> (tensor<8x8xf32, #l>) : i32 {
      %y = arith.addf %x, %x : tensor<8x8xf32, #l>
      scf.yield %y : tensor<8x8xf32, #l>
    // CHECK: scf.yield
    // CHECK-NEXT: }{{$}}
    }
    nv_tileaa.return
  }
}
