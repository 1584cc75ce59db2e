// RUN: tileiras-opt %s | tileiras-opt | FileCheck %s
// RUN: tileiras-opt %s --mlir-print-op-generic | tileiras-opt | FileCheck %s
// Round trip through the parser and the printer.
#l = #nv_tileas.layout<register = [1], lane = [2, 4, 8, 16, 32], warp = [64, 128]>
#rows = #nv_tileas.layout<register = [], lane = [0, 0, 0, 0, 0], warp = [1, 2]>
#copies = #nv_tileas.layout<register = [0], lane = [0, 0, 0, 0, 0], warp = [1, 2]>
#columns = #nv_tileas.layout<register = [1], lane = [2, 4, 8, 16, 32], warp = [0, 0]>
#parts = #nv_tileas.layout<register = [1], lane = [0, 0, 0, 2, 4], warp = [8, 16]>
#segments = #nv_tileas.layout<register = [1, 2], lane = [0, 0, 0, 0, 0], warp = [4, 8]>

// CHECK-LABEL: func.func @reduce
func.func @reduce(%x: tensor<4x64xf32, #l>, %i: tensor<4x64xi32, #l>, %v: tensor<256xi1, #l>) {
  // CHECK: nv_tileas.reduce %arg0 dim 1 identities [0.000000e+00 : f32] : tensor<4x64xf32, {{.*}}> -> tensor<4xf32, {{.*}}> {
  // CHECK-NEXT: ^bb0(%{{.*}}: f32, %{{.*}}: f32):
  // CHECK: nv_tileas.yield %{{.*}} : f32
  %a = nv_tileas.reduce %x dim 1 identities [0.0 : f32] : tensor<4x64xf32, #l> -> tensor<4xf32, #rows> {
  ^bb0(%p: f32, %q: f32):
    %s = arith.addf %p, %q : f32
    nv_tileas.yield %s : f32
  }
  // A thread may hold its results in more registers than needed.
  %b = nv_tileas.reduce %x dim 1 identities [0.0 : f32] : tensor<4x64xf32, #l> -> tensor<4xf32, #copies> {
  ^bb0(%p: f32, %q: f32):
    %s = arith.addf %p, %q : f32
    nv_tileas.yield %s : f32
  }
  // CHECK: nv_tileas.reduce %arg0, %arg1 dim 1 kept 49 identities [0.000000e+00 : f32, 0 : i32] :
  // CHECK-SAME: -> tensor<4x8xf32, {{.*}}>, tensor<4x8xi32, {{.*}}> {
  %c:2 = nv_tileas.reduce %x, %i dim 1 kept 49 identities [0.0 : f32, 0 : i32] : tensor<4x64xf32, #l>, tensor<4x64xi32, #l> -> tensor<4x8xf32, #parts>, tensor<4x8xi32, #parts> {
  ^bb0(%p: f32, %q: f32, %m: i32, %n: i32):
    nv_tileas.yield %p, %m : f32, i32
  }
  // A rank-1 tensor is reduced to a scalar.
  // CHECK: nv_tileas.reduce %arg2 dim 0 identities [false] : tensor<256xi1, {{.*}}> -> i1 {
  %d = nv_tileas.reduce %v dim 0 identities [false] : tensor<256xi1, #l> -> i1 {
  ^bb0(%p: i1, %q: i1):
    %s = arith.ori %p, %q : i1
    nv_tileas.yield %s : i1
  }
  return
}

// CHECK-LABEL: func.func @scan
func.func @scan(%x: tensor<4x64xf32, #l>, %y: tensor<4x4x16xf32, #l>, %t: tensor<4x4xf32, #segments>) {
  // CHECK: nv_tileas.scan %arg0 dim 1 identities [0.000000e+00 : f32] : tensor<4x64xf32, {{.*}}> -> tensor<4x64xf32, {{.*}}> {
  %a = nv_tileas.scan %x dim 1 identities [0.0 : f32] : tensor<4x64xf32, #l> -> tensor<4x64xf32, #l> {
  ^bb0(%p: f32, %q: f32):
    %s = arith.addf %p, %q : f32
    nv_tileas.yield %s : f32
  }
  // CHECK: nv_tileas.scan %arg0, %arg0 dim 0 reverse identities [0.000000e+00 : f32, 1.000000e+00 : f32] :
  %b:2 = nv_tileas.scan %x, %x dim 0 reverse identities [0.0 : f32, 1.0 : f32] : tensor<4x64xf32, #l>, tensor<4x64xf32, #l> -> tensor<4x64xf32, #l>, tensor<4x64xf32, #l> {
  ^bb0(%p: f32, %q: f32, %m: f32, %n: f32):
    nv_tileas.yield %q, %n : f32, f32
  }
  // CHECK: nv_tileas.pick %arg0 dim 1 at 63 : tensor<4x64xf32, {{.*}}> -> tensor<4xf32, {{.*}}>
  %c = nv_tileas.pick %x dim 1 at 63 : tensor<4x64xf32, #l> -> tensor<4xf32, #rows>
  // CHECK: nv_tileas.carry %arg1 totals %arg2 dim 1 reverse : tensor<4x4x16xf32, {{.*}}> totals tensor<4x4xf32, {{.*}}> -> tensor<4x4x16xf32, {{.*}}> {
  %d = nv_tileas.carry %y totals %t dim 1 reverse : tensor<4x4x16xf32, #l> totals tensor<4x4xf32, #segments> -> tensor<4x4x16xf32, #l> {
  ^bb0(%p: f32, %q: f32):
    %s = arith.addf %p, %q : f32
    nv_tileas.yield %s : f32
  }
  return
}
