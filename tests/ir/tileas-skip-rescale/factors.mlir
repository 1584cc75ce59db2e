// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileas-skip-rescale)' | FileCheck %s

#m = #nv_tileas.layout<register = [1, 8, 16, 32], lane = [2, 4, 64, 128, 256], warp = [512, 1024]>
#c = #nv_tileas.layout<register = [], lane = [0, 0, 1, 2, 4], warp = [8, 16]>
#few = #nv_tileas.layout<register = [1], lane = [2, 4, 8, 16, 32], warp = [64, 128]>
#one = #nv_tileas.layout<register = [], lane = [0, 0, 0, 1, 2], warp = [4, 8]>
!sums = tensor<32x64xf32, #m>
!column = tensor<32x1xf32, #c>
!small = tensor<32x8xf32, #few>
gpu.module @kernels {
  // The factor by which a maximum has increased, as the exponential of a difference or of a multiple of it.
  // CHECK-LABEL: @growth
  nv_tileaa.func @growth(%x: !sums, %t: !column, %s: !column, %n: i32) attributes {numWarps = 4 : i64, nv_tileas.dot_plan = #nv_tileas.dot_plan<groups = [1, 1], columns = 64, stages = 4, scratch = 1024, launch_registers = 240, agents = [<"consumers", warps = 4, registers = 240>, <"producer", warps = 4, registers = 40>]>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %l = arith.constant dense<1.5> : !column
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %x, %top = %t) -> (!sums, !column) : i32 {
      %next = nv_tileaa.fp <max> %top, %s : !column
      %d = arith.subf %top, %next : !column
      %e = nv_tileaa.fp <exp2> %d ftz : !column
      %f = nv_tileas.broadcast %e : !column -> !sums
      // CHECK: arith.mulf %{{.*}}, %[[F:.*]] {nv_tileas.often_one}
      %a = arith.mulf %sum, %f : !sums
      %next2 = arith.maximumf %s, %top : !column
      %d2 = arith.subf %top, %next2 : !column
      %m = arith.mulf %d2, %l : !column
      %e2 = math.exp %m : !column
      %f2 = nv_tileas.broadcast %e2 : !column -> !sums
      // The factor becomes the right operand.
      // CHECK: %[[F2:.*]] = nv_tileas.broadcast
      // CHECK: arith.mulf %{{.*}}, %[[F2]] {nv_tileas.often_one}
      %b = arith.mulf %f2, %a : !sums
      scf.yield %b, %next : !sums, !column
    }
    // After the loop, scaling is done once.
    %d3 = arith.subf %t, %r#1 : !column
    %e3 = math.exp %d3 : !column
    %f3 = nv_tileas.broadcast %e3 : !column -> !sums
    // CHECK: scf.yield
    // CHECK-NOT: often_one
    %y = arith.mulf %r#0, %f3 : !sums
    nv_tileaa.return
  }

  // The exponential of an arbitrary difference is rarely one.
  // CHECK-LABEL: @any_difference
  // CHECK-NOT: often_one
  nv_tileaa.func @any_difference(%x: !sums, %t: !column, %s: !column, %n: i32) attributes {numWarps = 4 : i64, nv_tileas.dot_plan = #nv_tileas.dot_plan<groups = [1, 1], columns = 64, stages = 4, scratch = 1024, launch_registers = 240, agents = [<"consumers", warps = 4, registers = 240>, <"producer", warps = 4, registers = 40>]>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %x) -> (!sums) : i32 {
      %max = nv_tileaa.fp <max> %s, %s : !column
      %d = arith.subf %t, %max : !column
      %e = nv_tileaa.fp <exp2> %d ftz : !column
      %f = nv_tileas.broadcast %e : !column -> !sums
      %a = arith.mulf %sum, %f : !sums
      scf.yield %a : !sums
    }
    nv_tileaa.return
  }

  // Without a dot plan, nothing changes.
  // CHECK-LABEL: @no_plan
  // CHECK-NOT: often_one
  nv_tileaa.func @no_plan(%x: !sums, %t: !column, %s: !column, %n: i32) attributes {numWarps = 4 : i64} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %x) -> (!sums) : i32 {
      %max = nv_tileaa.fp <max> %t, %s : !column
      %d = arith.subf %t, %max : !column
      %e = nv_tileaa.fp <exp2> %d ftz : !column
      %f = nv_tileas.broadcast %e : !column -> !sums
      %a = arith.mulf %sum, %f : !sums
      scf.yield %a : !sums
    }
    nv_tileaa.return
  }

  // Nor where warps read fragments of stages.
  // CHECK-LABEL: @fragments
  // CHECK-NOT: often_one
  nv_tileaa.func @fragments(%x: !sums, %t: !column, %s: !column, %n: i32) attributes {numWarps = 4 : i64, nv_tileas.dot_plan = #nv_tileas.dot_plan<groups = [1, 1], columns = 64, stages = 4, scratch = 1024, launch_registers = 248, agents = [<"consumers", warps = 4>, <"producer", warps = 1>], unit = sync>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %x) -> (!sums) : i32 {
      %max = nv_tileaa.fp <max> %t, %s : !column
      %d = arith.subf %t, %max : !column
      %e = nv_tileaa.fp <exp2> %d ftz : !column
      %f = nv_tileas.broadcast %e : !column -> !sums
      %a = arith.mulf %sum, %f : !sums
      scf.yield %a : !sums
    }
    nv_tileaa.return
  }
}
