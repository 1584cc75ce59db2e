// RUN: tileiras-opt %s --pass-pipeline='builtin.module(convert-tileas-to-llvm,cse)' | FileCheck %s

#l = #nv_tileas.layout<register = [1, 2, 512], lane = [4, 8, 16, 32, 64], warp = [128, 256]>
#small = #nv_tileas.layout<register = [1], lane = [2, 4, 8, 16, 32], warp = [64, 128]>
#tiny = #nv_tileas.layout<register = [], lane = [1, 2, 4, 8, 16], warp = [0, 0]>
gpu.module @kernels {
  // Bounds are tested before each iteration. A carried tensor becomes one block argument per register.
  // CHECK-LABEL: llvm.func @for(
  // CHECK: llvm.br ^[[H:.*]](%{{.*}}, %arg1, %arg1 : i32, f32, f32)
  // CHECK-NEXT: ^[[H]](%[[I:.*]]: i32, %[[A:.*]]: f32, %[[B:.*]]: f32):
  // CHECK-NEXT: %[[K:.*]] = llvm.icmp "slt" %[[I]], %arg0 : i32
  // CHECK-NEXT: llvm.cond_br %[[K]], ^[[BODY:.*]], ^[[END:.*]](%[[A]], %[[B]] : f32, f32)
  // CHECK: ^[[BODY]]:
  // CHECK: %[[A2:.*]] = llvm.fadd %[[A]], %arg1 : f32
  // CHECK: %[[B2:.*]] = llvm.fadd %[[B]], %arg1 : f32
  // CHECK: %[[I2:.*]] = llvm.add %[[I]], %{{.*}} : i32
  // CHECK: llvm.br ^[[H]](%[[I2]], %[[A2]], %[[B2]] : i32, f32, f32)
  // CHECK: ^[[END]](%{{.*}}: f32, %{{.*}}: f32):
  nv_tileaa.func @for(%n: i32, %x: f32) attributes {numWarps = 4 : i64} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %v = nv_tileas.splat %x : f32 -> tensor<256xf32, #small>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %v) -> (tensor<256xf32, #small>) : i32 {
      %s = arith.addf %a, %v : tensor<256xf32, #small>
      scf.yield %s : tensor<256xf32, #small>
    }
    nv_tileaa.return
  }
  // CHECK-LABEL: llvm.func @if(
  // CHECK: llvm.cond_br %arg0, ^[[THEN:.*]], ^[[ELSE:[^ ]*]]
  // CHECK: ^[[THEN]]:
  // CHECK: llvm.br ^[[END:.*]](%{{.*}} : i32)
  // CHECK: ^[[ELSE]]:
  // CHECK: llvm.br ^[[END]](%{{.*}} : i32)
  // CHECK: ^[[END]](%[[R:.*]]: i32):
  // CHECK: llvm.inline_asm {{.*}} %[[R]] :
  nv_tileaa.func @if(%c: i1, %p: !nv_tileaa.ptr<i32>) attributes {numWarps = 4 : i64} {
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %r = scf.if %c -> (i32) {
      scf.yield %c1 : i32
    } else {
      scf.yield %c2 : i32
    }
    %t = nv_tileas.store <weak> %p, %r vector 1 : !nv_tileaa.ptr<i32>, i32
    nv_tileaa.return
  }
  // CHECK-LABEL: llvm.func @while(
  // CHECK: llvm.br ^[[H:.*]](%arg0 : i32)
  // CHECK: ^[[H]](%[[A:.*]]: i32):
  // CHECK: %[[K:.*]] = llvm.icmp "sgt" %[[A]], %{{.*}} : i32
  // CHECK: llvm.cond_br %[[K]], ^[[BODY:.*]], ^[[END:.*]](%[[A]] : i32)
  // CHECK: ^[[BODY]]:
  // CHECK: %[[B:.*]] = llvm.ashr %[[A]], %{{.*}} : i32
  // CHECK: llvm.br ^[[H]](%[[B]] : i32)
  // CHECK: ^[[END]](%{{.*}}: i32):
  nv_tileaa.func @while(%n: i32) attributes {numWarps = 4 : i64} {
    %r = scf.while (%a = %n) : (i32) -> i32 {
      %c1 = arith.constant 1 : i32
      %k = arith.cmpi sgt, %a, %c1 : i32
      scf.condition(%k) %a : i32
    } do {
    ^bb0(%a: i32):
      %c1 = arith.constant 1 : i32
      %s = arith.shrsi %a, %c1 : i32
      scf.yield %s : i32
    }
    nv_tileaa.return
  }
  // A token from either of two branches, as canonicalization leaves it, has no value in LLVM.
  // CHECK-LABEL: llvm.func @tokens(
  // CHECK-NOT: llvm.select
  // CHECK: llvm.return
  nv_tileaa.func @tokens(%c: i1, %p: !nv_tileaa.ptr<i32>, %n: i32) attributes {numWarps = 1 : i64} {
    %a = nv_tileaa.create_mem_token
    %b = nv_tileas.store <weak> %p, %n token %a vector 1 : !nv_tileaa.ptr<i32>, i32
    %t = arith.select %c, %a, %b : !nv_tileaa.mem_token
    %d = nv_tileas.store <weak> %p, %n token %t vector 1 : !nv_tileaa.ptr<i32>, i32
    nv_tileaa.return
  }
}
