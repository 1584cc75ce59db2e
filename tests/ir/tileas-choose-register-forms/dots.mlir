// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileas-choose-register-forms)' | FileCheck %s
// The forms of the accumulators and left operands of dots that run while loops and branches carry them.

#a = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 72, 128, 256, 512]>
#b = #nv_tileas.shared_layout<offset = [8, 16, 32, 64, 1, 2, 68]>
#out = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64, 128, 256]>
#c = #nv_tileas.layout<register = [1, 64], lane = [2, 4, 8, 16, 32], warp = [128, 256]>
#left = #nv_tileas.layout<register = [1, 128, 8], lane = [2, 4, 16, 32, 64], warp = [256, 512]>
!a = !nv_tileas.memdesc<64x16xf16, #a, align = 256>
!b = !nv_tileas.memdesc<16x8xf16, #b, align = 256>
!c = tensor<64x8xf32, #c>
!c16 = tensor<64x8xf16, #c>
!left = tensor<64x16xf16, #left>
!h = tensor<64x8xbf16, #c>
!out = !nv_tileas.memdesc<64x8xbf16, #out, align = 256>

gpu.module @kernels {
  // A loop carries f16 accumulators in words, and its initial ones are pinned. The branch carries them on.
  // CHECK-LABEL: @pairs
  nv_tileaa.func @pairs(%n: i32, %which: i1) attributes {numWarps = 4 : i64} {
    %x = nv_tileas.alloc_tensor offset 0 : !a
    %y = nv_tileas.alloc_tensor offset 2048 : !b
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %z = arith.constant dense<0.0> : !c16
    // CHECK: scf.for
    %sum:2 = scf.for %i = %c0 to %n step %c1 iter_args(%k = %c0, %acc = %z) -> (i32, !c16) : i32 {
      %r = nv_tileas.async.dot %x, %y, %acc by <warpgroup, [64, 8, 16]> : !a, !b, !c16
      nv_tileas.async.dot_wait pending 1
      scf.yield %i, %r : i32, !c16
    // CHECK: scf.yield
    // CHECK-NEXT: } {nv_tileas.pinned = array<i64: 1>, nv_tileas.words = array<i64: 1>}
    }
    // CHECK: scf.if
    %one = scf.if %which -> !c16 {
      scf.yield %sum#1 : !c16
    } else {
      scf.yield %z : !c16
    // CHECK: } else {
    // CHECK: } {nv_tileas.words = array<i64: 0>}
    }
    // CHECK: dot_wait %{{.*}} pending 0 :
    %s = nv_tileas.async.dot_wait %one pending 0 : !c16 -> !c16
    nv_tileaa.return
  }

  // A loop carries a left operand in words if only dots take it. f32 accumulators have one element a register.
  // CHECK-LABEL: @left
  nv_tileaa.func @left(%n: i32, %first: !left, %next: !left) attributes {numWarps = 4 : i64} {
    %y = nv_tileas.alloc_tensor offset 2048 : !b
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %z = arith.constant dense<0.0> : !c
    // CHECK: scf.for
    %all:2 = scf.for %i = %c0 to %n step %c1 iter_args(%l = %first, %acc = %z) -> (!left, !c) : i32 {
      %r = nv_tileas.async.dot %l, %y, %acc by <warpgroup, [64, 8, 16]> : !left, !b, !c
      %s = nv_tileas.async.dot_wait %r pending 0 : !c -> !c
      scf.yield %next, %s : !left, !c
    // CHECK: scf.yield
    // CHECK-NEXT: } {nv_tileas.words = array<i64: 0>}
    }
    // CHECK: scf.for
    %used:2 = scf.for %i = %c0 to %n step %c1 iter_args(%l = %first, %acc = %z) -> (!left, !c) : i32 {
      %double = arith.addf %l, %l : !left
      %r = nv_tileas.async.dot %l, %y, %acc by <warpgroup, [64, 8, 16]> : !left, !b, !c
      %s = nv_tileas.async.dot_wait %r pending 0 : !c -> !c
      scf.yield %double, %s : !left, !c
    // CHECK: scf.yield
    // CHECK-NEXT: }{{$}}
    }
    nv_tileaa.return
  }

  // Accumulators that are awaited and passed on are pinned after the wait; accumulators updated in place are not.
  // CHECK-LABEL: @passed_on
  nv_tileaa.func @passed_on(%n: i32) attributes {numWarps = 4 : i64} {
    %c = arith.constant dense<1.0> : !c
    %x = nv_tileas.alloc_tensor offset 0 : !a
    %y = nv_tileas.alloc_tensor offset 2048 : !b
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %all = scf.for %j = %c0 to %n step %c1 iter_args(%start = %c) -> (!c) : i32 {
      %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %start) -> (!c) : i32 {
        %r = nv_tileas.async.dot %x, %y, %acc by <warpgroup, [64, 8, 16]> : !a, !b, !c
        nv_tileas.async.dot_wait pending 1
        scf.yield %r : !c
      }
      // CHECK: dot_wait %{{.*}} pending 0 {nv_tileas.pinned = array<i64: 0>} :
      %t = nv_tileas.async.dot_wait %sum pending 0 : !c -> !c
      scf.yield %t : !c
    }
    %same = scf.for %j = %c0 to %n step %c1 iter_args(%acc = %c) -> (!c) : i32 {
      %r = nv_tileas.async.dot %x, %y, %acc by <warpgroup, [64, 8, 16]> : !a, !b, !c
      // CHECK: dot_wait %{{.*}} pending 0 :
      %t = nv_tileas.async.dot_wait %r pending 0 : !c -> !c
      scf.yield %t : !c
    }
    nv_tileaa.return
  }

  // Only a rounding whose result a branch uses is done in pairs.
  // CHECK-LABEL: @rounded
  nv_tileaa.func @rounded(%sum: !c, %which: i1) attributes {numWarps = 4 : i64} {
    %out = nv_tileas.alloc_tensor offset 4096 : !out
    // CHECK: arith.truncf %{{.*}} {nv_tileas.in_pairs} :
    %h = arith.truncf %sum : !c to !h
    // CHECK: arith.truncf %{{[a-z0-9]+}} :
    %here = arith.truncf %sum : !c to !h
    nv_tileas.local_store %here, %out vector 2 : !h, !out
    scf.if %which {
      nv_tileas.local_store %h, %out vector 2 : !h, !out
    }
    nv_tileaa.return
  }
}
