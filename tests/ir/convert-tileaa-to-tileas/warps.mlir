// RUN: tileiras-opt %s --pass-pipeline='builtin.module(convert-tileaa-to-tileas)' | FileCheck %s
// RUN: tileiras-opt %s --pass-pipeline='builtin.module(convert-tileaa-to-tileas{compute-capability=sm_90})' | FileCheck %s --check-prefix=SM90
// RUN: tileiras-opt %s --pass-pipeline='builtin.module(convert-tileaa-to-tileas{num-warps=2})' | FileCheck %s --check-prefix=OPTION

// Without hints, the largest tile decides: 16 elements per thread, with 4 to 16 warps.
// CHECK-LABEL: @small(
// CHECK-SAME: numWarps = 4
// OPTION-LABEL: @small(
// OPTION-SAME: numWarps = 2
nv_tileaa.func @small() {
  %r = nv_tileaa.make_range : tensor<64xi32>
  %a = nv_tileaa.reduce %r dim 0 identities [0 : i32] : tensor<64xi32> -> i32 {
  ^bb0(%p: i32, %q: i32):
    nv_tileaa.yield %p : i32
  }
  nv_tileaa.return
}
// CHECK-LABEL: @row(
// CHECK-SAME: numWarps = 8
nv_tileaa.func @row(%p: !nv_tileaa.ptr<f32>) {
  %r = nv_tileaa.make_range : tensor<4096xi32>
  %s = nv_tileaa.splat %p : !nv_tileaa.ptr<f32> -> tensor<4096x!nv_tileaa.ptr<f32>>
  %q = nv_tileaa.addptr %s, %r : tensor<4096x!nv_tileaa.ptr<f32>>, tensor<4096xi32>
  %x, %t = nv_tileaa.load <weak> %q : tensor<4096x!nv_tileaa.ptr<f32>> -> tensor<4096xf32>
  nv_tileaa.return
}
// CHECK-LABEL: @huge(
// CHECK-SAME: numWarps = 16
nv_tileaa.func @huge() {
  %r = nv_tileaa.make_range : tensor<65536xi32>
  %a = nv_tileaa.scan %r dim 0 identities [0 : i32] : tensor<65536xi32> -> tensor<65536xi32> {
  ^bb0(%p: i32, %q: i32):
    nv_tileaa.yield %q : i32
  }
  nv_tileaa.return
}
// Dots get as many warps as are needed to hold their accumulators.
// CHECK-LABEL: @product(
// CHECK-SAME: numWarps = 8
nv_tileaa.func @product(%p: !nv_tileaa.ptr<f16>) {
  %a = arith.constant dense<1.0> : tensor<128x64xf16>
  %b = arith.constant dense<1.0> : tensor<64x128xf16>
  %c = arith.constant dense<0.0> : tensor<128x128xf32>
  %d = nv_tileaa.dot %a, %b, %c : tensor<128x64xf16>, tensor<64x128xf16>, tensor<128x128xf32>
  nv_tileaa.return
}
// The hint for the target has priority over the default hint, and both over the option.
// CHECK-LABEL: @hinted(
// CHECK-SAME: numWarps = 16
// SM90-LABEL: @hinted(
// SM90-SAME: numWarps = 8
// OPTION-LABEL: @hinted(
// OPTION-SAME: numWarps = 16
nv_tileaa.func @hinted() attributes {hints = {default = {num_worker_warps_per_cta = 16 : i32}, sm_90 = {num_worker_warps_per_cta = 8 : i32}}} {
  nv_tileaa.return
}
// Hints that are not a valid number of warps are ignored.
// CHECK-LABEL: @odd(
// CHECK-SAME: numWarps = 1 :
nv_tileaa.func @odd() attributes {hints = {default = {num_worker_warps_per_cta = 1 : i32}, sm_100 = {num_worker_warps_per_cta = 5 : i32}}} {
  nv_tileaa.return
}
