// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileas-ping-pong{compute-capability=sm_90})' | FileCheck %s
// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileas-ping-pong{compute-capability=sm_90 when=always})' | FileCheck %s --check-prefix=ALWAYS
// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileas-ping-pong{compute-capability=sm_90 when=never})' | FileCheck %s --check-prefix=NEVER
// Loops whose warpgroups compute dots and then other ops, all together or ping-ponged.
// NEVER-NOT: ping_pong
#shared = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 136, 272, 544, 1024, 2048, 4096, 8192, 64]>
#sums = #nv_tileas.layout<register = [1, 1024, 8, 16, 32, 64], lane = [2, 4, 128, 256, 512], warp = [2048, 4096, 8192]>
!tile = !nv_tileas.memdesc<128x128xbf16, #shared, align = 1024>
!sums = tensor<128x128xf32, #sums>
!left = tensor<128x128xbf16, #sums>

gpu.module @m {

  // The tensor cores are the bottleneck. Dots outside the loop are ping-ponged too.
  // CHECK-LABEL: @bound_by_products
  // CHECK: %[[T:.*]] = nv_tileas.async.pipeline.create_ping_pong : <2>
  // CHECK-NEXT: ping_pong_wait %[[T]]
  // CHECK-NEXT: nv_tileas.async.dot
  // CHECK-NEXT: ping_pong_arrive %[[T]]
  // CHECK-NEXT: nv_tileas.async.dot_wait
  // CHECK-NEXT: scf.for
  // CHECK: ping_pong_wait %[[T]]
  // CHECK-NEXT: nv_tileas.async.dot
  // CHECK-NEXT: nv_tileas.async.dot
  // CHECK-NEXT: ping_pong_arrive %[[T]]
  // CHECK-NEXT: nv_tileas.async.dot_wait
  // CHECK: end_ping_pong %[[T]]
  // ALWAYS-LABEL: @bound_by_products
  // ALWAYS: create_ping_pong
  nv_tileaa.func @bound_by_products(%n: i32) attributes {numWarps = 12 : i64, nv_tileas.max_registers = 168 : i64} {
    %q = nv_tileas.alloc_tensor offset 0 : !tile
    %k = nv_tileas.alloc_tensor offset 32768 : !tile
    nv_tileas.async.pipeline.agent_switch agents [<"consumers", warps = 8, registers = 232>, <"producer", warps = 4, registers = 40>] {
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %zero = arith.constant dense<0.0> : !sums
      %one = arith.constant dense<1.0> : !left
      %f = nv_tileas.async.dot %q, %k, %zero by <warpgroup, [64, 128, 16]> : !tile, !tile, !sums
      %g = nv_tileas.async.dot_wait %f pending 0 : !sums -> !sums
      %all:2 = scf.for %i = %c0 to %n step %c1 iter_args(%o = %g, %p = %one) -> (!sums, !left) : i32 {
        %s = nv_tileas.async.dot %q, %k, %zero by <warpgroup, [64, 128, 16]> : !tile, !tile, !sums
        %d = nv_tileas.async.dot %p, %k, %o by <warpgroup, [64, 128, 16]> : !left, !tile, !sums
        %w = nv_tileas.async.dot_wait %s pending 1 : !sums -> !sums
        %e0 = math.exp2 %w : !sums
        %next = arith.truncf %e0 : !sums to !left
        %r = nv_tileas.async.dot_wait %d pending 0 : !sums -> !sums
        scf.yield %r, %next : !sums, !left
      }
    }, {
      nv_tileas.barrier
    }
    nv_tileaa.return
  }

  // Exponentials take longer than dots, so warpgroups would wait for each other.
  // CHECK-LABEL: @bound_by_exponentials
  // CHECK-NOT: turn %
  // CHECK: nv_tileaa.return
  // ALWAYS-LABEL: @bound_by_exponentials
  // ALWAYS: ping_pong_wait
  // ALWAYS: ping_pong_arrive
  nv_tileaa.func @bound_by_exponentials(%n: i32) attributes {numWarps = 12 : i64, nv_tileas.max_registers = 168 : i64} {
    %q = nv_tileas.alloc_tensor offset 0 : !tile
    %k = nv_tileas.alloc_tensor offset 32768 : !tile
    nv_tileas.async.pipeline.agent_switch agents [<"consumers", warps = 8, registers = 232>, <"producer", warps = 4, registers = 40>] {
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %zero = arith.constant dense<0.0> : !sums
      %one = arith.constant dense<1.0> : !left
      %f = nv_tileas.async.dot %q, %k, %zero by <warpgroup, [64, 128, 16]> : !tile, !tile, !sums
      %g = nv_tileas.async.dot_wait %f pending 0 : !sums -> !sums
      %all:2 = scf.for %i = %c0 to %n step %c1 iter_args(%o = %g, %p = %one) -> (!sums, !left) : i32 {
        %s = nv_tileas.async.dot %q, %k, %zero by <warpgroup, [64, 128, 16]> : !tile, !tile, !sums
        %d = nv_tileas.async.dot %p, %k, %o by <warpgroup, [64, 128, 16]> : !left, !tile, !sums
        %w = nv_tileas.async.dot_wait %s pending 1 : !sums -> !sums
        %e0 = math.exp2 %w : !sums
        %e1 = math.exp2 %e0 : !sums
        %e2 = math.exp2 %e1 : !sums
        %next = arith.truncf %e2 : !sums to !left
        %r = nv_tileas.async.dot_wait %d pending 0 : !sums -> !sums
        scf.yield %r, %next : !sums, !left
      }
    }, {
      nv_tileas.barrier
    }
    nv_tileaa.return
  }

  // Dots that wait for each other cannot be ping-ponged together.
  // CHECK-LABEL: @one_by_one
  // CHECK-NOT: turn %
  // CHECK: nv_tileaa.return
  // ALWAYS-LABEL: @one_by_one
  // ALWAYS-NOT: turn %
  // ALWAYS: nv_tileaa.return
  nv_tileaa.func @one_by_one(%n: i32) attributes {numWarps = 12 : i64, nv_tileas.max_registers = 168 : i64} {
    %q = nv_tileas.alloc_tensor offset 0 : !tile
    %k = nv_tileas.alloc_tensor offset 32768 : !tile
    nv_tileas.async.pipeline.agent_switch agents [<"consumers", warps = 8, registers = 232>, <"producer", warps = 4, registers = 40>] {
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %zero = arith.constant dense<0.0> : !sums
      %one = arith.constant dense<1.0> : !left
      %f = nv_tileas.async.dot %q, %k, %zero by <warpgroup, [64, 128, 16]> : !tile, !tile, !sums
      %g = nv_tileas.async.dot_wait %f pending 0 : !sums -> !sums
      %all:2 = scf.for %i = %c0 to %n step %c1 iter_args(%o = %g, %p = %one) -> (!sums, !left) : i32 {
        %s = nv_tileas.async.dot %q, %k, %zero by <warpgroup, [64, 128, 16]> : !tile, !tile, !sums
        %early = nv_tileas.async.dot_wait %s pending 0 : !sums -> !sums
        %d = nv_tileas.async.dot %p, %k, %o by <warpgroup, [64, 128, 16]> : !left, !tile, !sums
        %w = nv_tileas.async.dot_wait %s pending 1 : !sums -> !sums
        %e0 = math.exp2 %w : !sums
        %next = arith.truncf %e0 : !sums to !left
        %r = nv_tileas.async.dot_wait %d pending 0 : !sums -> !sums
        scf.yield %r, %next : !sums, !left
      }
    }, {
      nv_tileas.barrier
    }
    nv_tileaa.return
  }
}
