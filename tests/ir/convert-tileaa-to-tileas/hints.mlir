// Hints that cannot change anything on a target are named once each.
//
// RUN: tileiras-opt %s --remarks --pass-pipeline='builtin.module(convert-tileaa-to-tileas{compute-capability=sm_80})' -o %t 2>&1 | FileCheck %s --check-prefixes=CHECK,SM80 --implicit-check-not=remark:
// RUN: tileiras-opt %s --remarks --pass-pipeline='builtin.module(convert-tileaa-to-tileas{compute-capability=sm_90})' -o %t 2>&1 | FileCheck %s --check-prefixes=CHECK --implicit-check-not=remark:
// RUN: tileiras-opt %s --remarks --pass-pipeline='builtin.module(convert-tileaa-to-tileas{compute-capability=sm_100})' -o %t 2>&1 | FileCheck %s --check-prefixes=CHECK,SM100 --implicit-check-not=remark:
// RUN: tileiras-opt %s --remarks --pass-pipeline='builtin.module(convert-tileaa-to-tileas{compute-capability=sm_120})' -o %t 2>&1 | FileCheck %s --check-prefixes=CHECK,SM120 --implicit-check-not=remark:

// SM80: hints.mlir:21:{{.*}} remark: UnusedHint: the hint 'allow_tma' changes nothing on sm_80: it has no TMA
// CHECK: hints.mlir:19:{{.*}} remark: UnusedHint: the hint 'discardable_perf_hints' changes nothing on {{sm_[0-9]+}}: no pass uses it
// SM80: hints.mlir:21:{{.*}} remark: UnusedHint: the hint 'latency' changes nothing on sm_80: no plan depends on the latency of loads
// SM100: hints.mlir:21:{{.*}} remark: UnusedHint: the hint 'latency' changes nothing on sm_100: no plan depends on the latency of loads
// SM120: hints.mlir:21:{{.*}} remark: UnusedHint: the hint 'latency' changes nothing on sm_120: no plan depends on the latency of loads
// SM80: hints.mlir:19:{{.*}} remark: UnusedHint: the hint 'num_cta_in_cga' changes nothing on sm_80: tiles are not split over a cluster
// SM120: hints.mlir:19:{{.*}} remark: UnusedHint: the hint 'num_cta_in_cga' changes nothing on sm_120: tiles are not split over a cluster
// SM80: hints.mlir:19:{{.*}} remark: UnusedHint: the hint 'occupancy' changes nothing on sm_80: no plan chooses the CTAs per SM
// SM100: hints.mlir:19:{{.*}} remark: UnusedHint: the hint 'occupancy' changes nothing on sm_100: no plan chooses the CTAs per SM
// CHECK: hints.mlir:19:{{.*}} remark: UnusedHint: the hints for sm_103 do not apply to

nv_tileaa.func @k(%b: !nv_tileaa.ptr<f32>) attributes {hints = {default = {num_cta_in_cga = 2 : i64, num_worker_warps_per_cta = 8 : i64, occupancy = 2 : i64, discardable_perf_hints = "x"}, sm_103 = {occupancy = 4 : i64}}} {
  %p = nv_tileaa.splat %b : !nv_tileaa.ptr<f32> -> tensor<64x!nv_tileaa.ptr<f32>>
  %x, %t = nv_tileaa.load <weak> %p hints {default = {allow_tma = false, latency = 3 : i64}} : tensor<64x!nv_tileaa.ptr<f32>> -> tensor<64xf32>
  %y, %u = nv_tileaa.load <weak> %p hints {default = {allow_tma = false, latency = 5 : i64}} : tensor<64x!nv_tileaa.ptr<f32>> -> tensor<64xf32>
  nv_tileaa.return
}
