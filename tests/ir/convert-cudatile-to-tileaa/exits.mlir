// RUN: tileiras-opt %s --pass-pipeline='builtin.module(convert-cudatile-to-tileaa)' | tileiras-opt | FileCheck %s

// The code after an early return moves to the other branch.
// CHECK-LABEL: nv_tileaa.func @early_return(
cuda_tile.module @m {
  entry @early_return(%c: tile<i1>) {
    // CHECK: nv_tileaa.print "before"
    // CHECK-NEXT: scf.if %arg0 {
    // CHECK-NEXT: } else {
    // CHECK-NEXT: nv_tileaa.print "after"
    // CHECK-NEXT: }
    // CHECK-NEXT: nv_tileaa.return
    %t = print_tko "before" -> token
    if %c {
      return
    }
    %u = print_tko "after" -> token
    return
  }
}

// Code after an if whose branches both return is unreachable.
// CHECK-LABEL: nv_tileaa.func @both_return(
// CHECK-NOT: nv_tileaa.print
cuda_tile.module @m1 {
  entry @both_return(%c: tile<i1>) {
    if %c {
      return
    } else {
      return
    }
    %u = print_tko "after" -> token
    return
  }
}

// If one branch leaves, the results of the if are the operands of the other branch's yield.
// CHECK-LABEL: nv_tileaa.func @continue_in_for(
cuda_tile.module @m2 {
  entry @continue_in_for(%n: tile<i32>, %x: tile<f32>) {
    %z = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    // CHECK: scf.for %[[I:.*]] = {{.*}} iter_args(%[[A:.*]] = %arg1) -> (f32)
    %r = for %i in (%z to %n, step %one) : tile<i32> iter_values(%acc = %x) -> (tile<f32>) {
      %c = cmpi equal %i, %one, signed : tile<i32> -> tile<i1>
      // CHECK: %[[O:.*]] = scf.if %{{.*}} -> (f32) {
      // CHECK-NEXT: scf.yield %[[A]] : f32
      // CHECK-NEXT: } else {
      // CHECK-NEXT: %[[V:.*]] = arith.negf %[[A]]
      // CHECK-NEXT: %[[S:.*]] = arith.addf %[[V]], %arg1
      // CHECK-NEXT: scf.yield %[[S]] : f32
      // CHECK-NEXT: }
      // CHECK-NEXT: scf.yield %[[O]] : f32
      %v = if %c -> (tile<f32>) {
        continue %acc : tile<f32>
      } else {
        %m = negf %acc : tile<f32>
        yield %m : tile<f32>
      }
      %s = addf %v, %x : tile<f32>
      continue %s : tile<f32>
    }
    return
  }
}

// If both branches can fall through and one can leave, a flag decides.
// CHECK-LABEL: nv_tileaa.func @join(
cuda_tile.module @m3 {
  entry @join(%a: tile<i1>, %b: tile<i1>, %n: tile<i32>, %x: tile<f32>, %t: tile<ptr<f32>>) {
    %z = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %k = make_token : token
    // CHECK: scf.for {{.*}} iter_args(%[[A:.*]] = %arg3, %[[K:.*]] = %{{.*}}) -> (f32, !nv_tileaa.mem_token)
    %r:2 = for %i in (%z to %n, step %one) : tile<i32> iter_values(%acc = %x, %tok = %k) -> (tile<f32>, token) {
      // CHECK: %[[O:.*]]:4 = scf.if %arg0 -> (i1, i32, f32, !nv_tileaa.mem_token) {
      // CHECK-NEXT: %[[P:.*]]:4 = scf.if %arg1 -> (i1, i32, f32, !nv_tileaa.mem_token) {
      // CHECK-NEXT: %[[TRUE:.*]] = arith.constant true
      // CHECK-NEXT: %[[NONE:.*]] = ub.poison : i32
      // CHECK-NEXT: scf.yield %[[TRUE]], %[[NONE]], %[[A]], %[[K]]
      // CHECK-NEXT: } else {
      // CHECK: %[[FALSE:.*]] = arith.constant false
      // CHECK-NEXT: %[[NOF:.*]] = ub.poison : f32
      // CHECK-NEXT: %[[NOT:.*]] = nv_tileaa.create_mem_token
      // CHECK-NEXT: scf.yield %[[FALSE]], %arg2, %[[NOF]], %[[NOT]]
      // CHECK: scf.yield %[[P]]#0, %[[P]]#1, %[[P]]#2, %[[P]]#3
      // CHECK-NEXT: } else {
      // CHECK: scf.yield %{{.*}}, %c0_i32, %{{.*}}, %{{.*}}
      %v = if %a -> (tile<i32>) {
        if %b {
          continue %acc, %tok : tile<f32>, token
        }
        yield %n : tile<i32>
      } else {
        yield %z : tile<i32>
      }
      // CHECK: %[[Q:.*]]:2 = scf.if %[[O]]#0 -> (f32, !nv_tileaa.mem_token) {
      // CHECK-NEXT: scf.yield %[[O]]#2, %[[O]]#3
      // CHECK-NEXT: } else {
      // CHECK-NEXT: %[[F:.*]] = arith.sitofp %[[O]]#1
      // CHECK-NEXT: scf.yield %[[F]], %[[K]]
      // CHECK-NEXT: }
      // CHECK-NEXT: scf.yield %[[Q]]#0, %[[Q]]#1
      %f = itof %v signed : tile<i32> -> tile<f32>
      continue %f, %tok : tile<f32>, token
    }
    return
  }
}

// A break inside nested ifs, and a return that does not cross a loop.
// CHECK-LABEL: nv_tileaa.func @nested(
cuda_tile.module @m4 {
  entry @nested(%a: tile<i1>, %b: tile<i1>, %n: tile<i32>) {
    %one = constant <i32: 1> : tile<i32>
    // CHECK: %[[L:.*]] = scf.if %arg0 -> (i1) {
    // CHECK: scf.if %arg1 -> (i1)
    // CHECK: scf.if %[[L]] {
    // CHECK-NEXT: } else {
    // CHECK: scf.while
    // CHECK: scf.condition
    // CHECK: nv_tileaa.return
    if %a {
      if %b {
        return
      }
      %u = print_tko "a and not b" -> token
    } else {
      %u = print_tko "not a" -> token
    }
    %r = loop iter_values(%i = %n) : tile<i32> -> tile<i32> {
      %next = addi %i, %one : tile<i32>
      if %a {
        if %b {
          break %i : tile<i32>
        }
      }
      continue %next : tile<i32>
    }
    return
  }
}
