// RUN: tileiras-opt %s --pass-pipeline='builtin.module(convert-tileaa-to-tileas{num-warps=4},tileas-assign-load-store-layouts,tileas-remove-layout-conversions)' | FileCheck %s

// A softmax row: everything of its shape has the layout of the load, the layouts of the reductions' results follow
// from it, and no conversion is left. The row is read once and stays in registers.
// CHECK-LABEL: nv_tileaa.func @softmax(
// CHECK-NOT: convert_layout
// CHECK: nv_tileas.load {{.*}} vector 8 along 1 {{.*}} -> tensor<1x4096xbf16, [[L:#nv_tileas.layout<register = .1, 2, 4, 1024, 2048., lane = .8, 16, 32, 64, 128., warp = .256, 512.>]]>
// CHECK: nv_tileas.reduce %{{.*}} dim 1 {{.*}} : tensor<1x4096xf32, [[L]]> -> tensor<1xf32, [[R:#nv_tileas.layout<register = .., lane = .0, 0, 0, 0, 0., warp = .0, 0.>]]>
// CHECK: nv_tileas.view %{{.*}} : tensor<1xf32, [[R]]> -> tensor<1x1xf32, [[R]]>
// CHECK: nv_tileas.broadcast %{{.*}} : tensor<1x1xf32, [[R]]> -> tensor<1x4096xf32, [[L]]>
// CHECK: nv_tileas.reduce %{{.*}} dim 1 {{.*}} : tensor<1x4096xf32, [[L]]> -> tensor<1xf32, [[R]]>
// One division per row.
// CHECK: arith.divf %{{.*}} : tensor<1x1xf32, [[R]]>
// CHECK: nv_tileas.store {{.*}} vector 8 along 1
// CHECK-NOT: convert_layout
// CHECK: nv_tileaa.return
nv_tileaa.func @softmax(%p0: !nv_tileaa.ptr<bf16>, %q0: !nv_tileaa.ptr<bf16>) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<bf16>
  %q = nv_tileaa.assume #cuda_tile.div_by<16>, %q0 : !nv_tileaa.ptr<bf16>
  %r = nv_tileaa.make_range : tensor<4096xi32>
  %i = nv_tileaa.view %r : tensor<4096xi32> -> tensor<1x4096xi32>
  %ps = nv_tileaa.splat %p : !nv_tileaa.ptr<bf16> -> tensor<1x4096x!nv_tileaa.ptr<bf16>>
  %pi = nv_tileaa.addptr %ps, %i : tensor<1x4096x!nv_tileaa.ptr<bf16>>, tensor<1x4096xi32>
  %x, %t = nv_tileaa.load <weak> %pi : tensor<1x4096x!nv_tileaa.ptr<bf16>> -> tensor<1x4096xbf16>
  %w = arith.extf %x : tensor<1x4096xbf16> to tensor<1x4096xf32>
  %m = nv_tileaa.reduce %w dim 1 identities [0xFF800000 : f32] : tensor<1x4096xf32> -> tensor<1xf32> {
  ^bb0(%a: f32, %b: f32):
    %c = arith.maxnumf %a, %b : f32
    nv_tileaa.yield %c : f32
  }
  %m1 = nv_tileaa.view %m : tensor<1xf32> -> tensor<1x1xf32>
  %mb = nv_tileaa.broadcast %m1 : tensor<1x1xf32> -> tensor<1x4096xf32>
  %d = arith.subf %w, %mb : tensor<1x4096xf32>
  %e = math.exp2 %d : tensor<1x4096xf32>
  %s = nv_tileaa.reduce %e dim 1 identities [0.0 : f32] : tensor<1x4096xf32> -> tensor<1xf32> {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    nv_tileaa.yield %c : f32
  }
  %s1 = nv_tileaa.view %s : tensor<1xf32> -> tensor<1x1xf32>
  %one = arith.constant dense<1.0> : tensor<1x1xf32>
  %f = arith.divf %one, %s1 : tensor<1x1xf32>
  %fb = nv_tileaa.broadcast %f : tensor<1x1xf32> -> tensor<1x4096xf32>
  %y = arith.mulf %e, %fb : tensor<1x4096xf32>
  %z = arith.truncf %y : tensor<1x4096xf32> to tensor<1x4096xbf16>
  %qs = nv_tileaa.splat %q : !nv_tileaa.ptr<bf16> -> tensor<1x4096x!nv_tileaa.ptr<bf16>>
  %qi = nv_tileaa.addptr %qs, %i : tensor<1x4096x!nv_tileaa.ptr<bf16>>, tensor<1x4096xi32>
  %u = nv_tileaa.store <weak> %qi, %z : tensor<1x4096x!nv_tileaa.ptr<bf16>>, tensor<1x4096xbf16>
  nv_tileaa.return
}

// The operands of an argmax: the loaded values determine the layout, and the indices are computed in it.
// CHECK-LABEL: nv_tileaa.func @argmax(
// CHECK: nv_tileas.load {{.*}} -> tensor<64x64xf32, [[L:#nv_tileas.layout<.*>]]>
// CHECK: nv_tileas.make_range : tensor<64xi32, #nv_tileas.layout<register = [1, 2, 32], lane = [4, 8, 16, 0, 0], warp = [0, 0]>>
// CHECK: nv_tileas.reduce %{{.*}}, %{{.*}} dim 1 {{.*}} : tensor<64x64xf32, [[L]]>, tensor<64x64xi32, [[L]]> -> tensor<64xf32, [[R:#nv_tileas.layout<.*>]]>, tensor<64xi32, [[R]]>
// Ops on the results of both have the same layout.
// CHECK-NOT: convert_layout
// CHECK: arith.addi %{{.*}} : tensor<64xi32, [[R]]>
nv_tileaa.func @argmax(%p0: !nv_tileaa.ptr<f32>, %q: !nv_tileaa.ptr<i32>) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f32>
  %r = nv_tileaa.make_range : tensor<4096xi32>
  %i = nv_tileaa.view %r : tensor<4096xi32> -> tensor<64x64xi32>
  %ps = nv_tileaa.splat %p : !nv_tileaa.ptr<f32> -> tensor<64x64x!nv_tileaa.ptr<f32>>
  %pi = nv_tileaa.addptr %ps, %i : tensor<64x64x!nv_tileaa.ptr<f32>>, tensor<64x64xi32>
  %x, %t = nv_tileaa.load <weak> %pi : tensor<64x64x!nv_tileaa.ptr<f32>> -> tensor<64x64xf32>
  %k = nv_tileaa.make_range : tensor<64xi32>
  %k1 = nv_tileaa.view %k : tensor<64xi32> -> tensor<1x64xi32>
  %kb = nv_tileaa.broadcast %k1 : tensor<1x64xi32> -> tensor<64x64xi32>
  %m:2 = nv_tileaa.reduce %x, %kb dim 1 identities [0.0 : f32, 0 : i32] : tensor<64x64xf32>, tensor<64x64xi32> -> tensor<64xf32>, tensor<64xi32> {
  ^bb0(%a: f32, %b: f32, %c: i32, %d: i32):
    %g = arith.cmpf ogt, %a, %b : f32
    %e = arith.select %g, %a, %b : f32
    %f = arith.select %g, %c, %d : i32
    nv_tileaa.yield %e, %f : f32, i32
  }
  %n = arith.fptosi %m#0 : tensor<64xf32> to tensor<64xi32>
  %s = arith.addi %n, %m#1 : tensor<64xi32>
  %qs = nv_tileaa.splat %q : !nv_tileaa.ptr<i32> -> tensor<64x!nv_tileaa.ptr<i32>>
  %qi = nv_tileaa.addptr %qs, %k : tensor<64x!nv_tileaa.ptr<i32>>, tensor<64xi32>
  %u = nv_tileaa.store <weak> %qi, %s : tensor<64x!nv_tileaa.ptr<i32>>, tensor<64xi32>
  nv_tileaa.return
}

// A scan has the layout of its operand.
// CHECK-LABEL: nv_tileaa.func @scan(
// CHECK: nv_tileas.load {{.*}} -> tensor<64x64xf32, [[L:#nv_tileas.layout<.*>]]>
// CHECK: nv_tileas.scan %{{.*}} dim 0 {{.*}} : tensor<64x64xf32, [[L]]> -> tensor<64x64xf32, [[L]]>
// CHECK-NOT: convert_layout
// CHECK: nv_tileas.store
nv_tileaa.func @scan(%p0: !nv_tileaa.ptr<f32>) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f32>
  %r = nv_tileaa.make_range : tensor<4096xi32>
  %i = nv_tileaa.view %r : tensor<4096xi32> -> tensor<64x64xi32>
  %ps = nv_tileaa.splat %p : !nv_tileaa.ptr<f32> -> tensor<64x64x!nv_tileaa.ptr<f32>>
  %pi = nv_tileaa.addptr %ps, %i : tensor<64x64x!nv_tileaa.ptr<f32>>, tensor<64x64xi32>
  %x, %t = nv_tileaa.load <weak> %pi : tensor<64x64x!nv_tileaa.ptr<f32>> -> tensor<64x64xf32>
  %y = nv_tileaa.scan %x dim 0 identities [0.0 : f32] : tensor<64x64xf32> -> tensor<64x64xf32> {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    nv_tileaa.yield %c : f32
  }
  %u = nv_tileaa.store <weak> %pi, %y token %t : tensor<64x64x!nv_tileaa.ptr<f32>>, tensor<64x64xf32>
  nv_tileaa.return
}
