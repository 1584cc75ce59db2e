// RUN: tileiras-opt %s --pass-pipeline='builtin.module(convert-cudatile-to-tileaa)' | tileiras-opt | FileCheck %s

// CHECK-LABEL: nv_tileaa.func @branches(
cuda_tile.module @m {
  entry @branches(%c: tile<i1>, %a: tile<i32>, %b: tile<i32>) {
    // CHECK: %[[R:.*]] = scf.if %arg0 -> (i32) {
    // CHECK-NEXT: %[[S:.*]] = arith.addi
    // CHECK-NEXT: scf.yield %[[S]] : i32
    // CHECK-NEXT: } else {
    // CHECK-NEXT: scf.yield %arg2 : i32
    %r = if %c -> (tile<i32>) {
      %s = addi %a, %b : tile<i32>
      yield %s : tile<i32>
    } else {
      yield %b : tile<i32>
    }
    // CHECK: scf.if %arg0 {
    // CHECK-NEXT: nv_tileaa.print "%d", %[[R]]
    if %c {
      %t = print_tko "%d", %r : tile<i32> -> token
    }
    return
  }
}

// CHECK-LABEL: nv_tileaa.func @counted(
cuda_tile.module @m1 {
  entry @counted(%n: tile<i32>, %x: tile<f32>) {
    %z = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %t = make_token : token
    // CHECK: %[[R:.*]]:2 = scf.for %[[I:.*]] = %c0_i32 to %arg0 step %c1_i32 iter_args(%[[A:.*]] = %arg1, %[[T:.*]] = %{{.*}}) -> (f32, !nv_tileaa.mem_token) : i32 {
    // CHECK-NEXT: %[[S:.*]] = arith.addf %[[A]], %arg1
    // CHECK-NEXT: %[[U:.*]] = nv_tileaa.print "%i", %[[I]] : i32 token %[[T]]
    // CHECK-NEXT: scf.yield %[[S]], %[[U]]
    %r:2 = for %i in (%z to %n, step %one) : tile<i32> iter_values(%acc = %x, %tok = %t) -> (tile<f32>, token) {
      %s = addf %acc, %x : tile<f32>
      %u = print_tko "%i", %i token=%tok : tile<i32> -> token
      continue %s, %u : tile<f32>, token
    }
    // CHECK: arith.negf %[[R]]#0
    %q = negf %r#0 : tile<f32>
    return
  }
}

// Unsigned order is signed order with the sign bit flipped.
// CHECK-LABEL: nv_tileaa.func @unsigned(
cuda_tile.module @m2 {
  entry @unsigned(%n: tile<i8>, %m: tile<i8>) {
    %one = constant <i8: 1> : tile<i8>
    // CHECK: %[[SIGN:.*]] = arith.constant -128 : i8
    // CHECK: %[[L:.*]] = arith.xori %arg0, %[[SIGN]] : i8
    // CHECK: %[[U:.*]] = arith.xori %arg1, %{{.*}} : i8
    // CHECK: scf.for %[[I:.*]] = %[[L]] to %[[U]] step %{{.*}} : i8 {
    // CHECK: %[[V:.*]] = arith.xori %[[I]], %{{.*}} : i8
    // CHECK: nv_tileaa.print "%i", %[[V]] : i8
    for unsigned %i in (%n to %m, step %one) : tile<i8> {
      %u = print_tko "%i", %i : tile<i8> -> token
    }
    // CHECK-NOT: xori
    // CHECK: scf.for %{{.*}} = %{{.*}} to %{{.*}} step %{{.*}} : i8
    %z = constant <i8: 0> : tile<i8>
    %b = assume bounded<0, ?>, %m : tile<i8>
    for unsigned %i in (%z to %b, step %one) : tile<i8> {
      %u = print_tko "%i", %i : tile<i8> -> token
    }
    // An assumption does not replace one constant by another.
    // CHECK: xori
    // CHECK: scf.for %{{.*}} = %{{.*}} to %{{.*}} step %{{.*}} : i8
    %high = constant <i8: -56> : tile<i8>
    %h = assume bounded<0, ?>, %high : tile<i8>
    for unsigned %i in (%z to %h, step %one) : tile<i8> {
      %u = print_tko "%i", %i : tile<i8> -> token
    }
    return
  }
}

// CHECK-LABEL: nv_tileaa.func @bits(
cuda_tile.module @m3 {
  entry @bits(%n: tile<i1>) {
    %z = constant <i1: 0> : tile<i1>
    %one = constant <i1: 1> : tile<i1>
    // CHECK: %[[U:.*]] = arith.extui %arg0 : i1 to i32
    // CHECK: scf.for %[[I:.*]] = %{{.*}} to %[[U]] step %{{.*}} : i32
    // CHECK-NEXT: arith.trunci %[[I]] : i32 to i1
    for unsigned %i in (%z to %n, step %one) : tile<i1> {
      %u = print_tko "%i", %i : tile<i1> -> token
    }
    return
  }
}

// CHECK-LABEL: nv_tileaa.func @endless(
cuda_tile.module @m4 {
  entry @endless(%n: tile<i32>, %p: tile<ptr<i32>>) {
    %z = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    // The operands of continue come first, then the operands of break.
    // CHECK: %[[R:.*]]:2 = scf.while (%[[I:.*]] = %c0_i32) : (i32) -> (i32, f32) {
    // CHECK-NEXT: %[[C:.*]] = arith.cmpi slt, %[[I]], %arg0
    // CHECK-NEXT: %[[O:.*]]:3 = scf.if %[[C]] -> (i1, i32, f32) {
    // CHECK: %[[NEXT:.*]] = arith.addi %[[I]]
    // CHECK: %[[TRUE:.*]] = arith.constant true
    // CHECK: %[[P:.*]] = ub.poison : f32
    // CHECK: scf.yield %[[TRUE]], %[[NEXT]], %[[P]]
    // CHECK: } else {
    // CHECK: %[[F:.*]] = arith.sitofp %[[I]]
    // CHECK: %[[FALSE:.*]] = arith.constant false
    // CHECK: %[[Q:.*]] = ub.poison : i32
    // CHECK: scf.yield %[[FALSE]], %[[Q]], %[[F]]
    // CHECK: scf.condition(%[[O]]#0) %[[O]]#1, %[[O]]#2 : i32, f32
    // CHECK-NEXT: } do {
    // CHECK-NEXT: ^bb0(%[[A:.*]]: i32, %{{.*}}: f32):
    // CHECK-NEXT: scf.yield %[[A]] : i32
    %r = loop iter_values(%i = %z) : tile<i32> -> tile<f32> {
      %c = cmpi less_than %i, %n, signed : tile<i32> -> tile<i1>
      if %c {
        %j = addi %i, %one : tile<i32>
        continue %j : tile<i32>
      } else {
        %f = itof %i signed : tile<i32> -> tile<f32>
        break %f : tile<f32>
      }
      continue %i : tile<i32>
    }
    // CHECK: math.absf %[[R]]#1 : f32
    %q = absf %r : tile<f32>
    // CHECK: scf.while : () -> () {
    // CHECK: scf.condition(%{{.*}})
    loop {
      %v, %t = load_ptr_tko acquire device %p : tile<ptr<i32>> -> tile<i32>, token
      %c = cmpi equal %v, %one, signed : tile<i32> -> tile<i1>
      if %c {
        break
      }
    }
    return
  }
}
