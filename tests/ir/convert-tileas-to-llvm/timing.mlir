// RUN: tileiras-opt %s --remarks --verify-diagnostics --pass-pipeline='builtin.module(convert-tileas-to-llvm{compute-capability=sm_80})' -o %t.mlir

// A remark names each op whose result depends on the order of events at run time. Additions of integers do not, unless
// their old values are used.
#l = #nv_tileas.layout<register = [], lane = [1, 2, 4, 8, 16], warp = [32, 64]>
gpu.module @kernels {
  nv_tileaa.func @timing(%p: !nv_tileaa.ptr<i32>, %q: !nv_tileaa.ptr<f32>) attributes {numWarps = 4 : i64} {
    %r = nv_tileas.make_range : tensor<128xi32, #l>
    %f = arith.sitofp %r : tensor<128xi32, #l> to tensor<128xf32, #l>
    %a = nv_tileas.splat %p : !nv_tileaa.ptr<i32> -> tensor<128x!nv_tileaa.ptr<i32>, #l>
    %b = nv_tileas.splat %q : !nv_tileaa.ptr<f32> -> tensor<128x!nv_tileaa.ptr<f32>, #l>
    %0, %t0 = nv_tileas.atomic_rmw <add> <relaxed> <device> %a, %r vector 1 : tensor<128x!nv_tileaa.ptr<i32>, #l>, tensor<128xi32, #l>
    // expected-remark @+1 {{DependsOnTiming: the old value depends on the order of arrival}}
    %1, %t1 = nv_tileas.atomic_rmw <add> <relaxed> <device> %a, %r vector 1 : tensor<128x!nv_tileaa.ptr<i32>, #l>, tensor<128xi32, #l>
    // expected-remark @+1 {{DependsOnTiming: floats are added in the order of arrival, so the bits of the sum may differ from run to run}}
    %2, %t2 = nv_tileas.atomic_rmw <addf> <relaxed> <device> %b, %f vector 1 : tensor<128x!nv_tileaa.ptr<f32>, #l>, tensor<128xf32, #l>
    // expected-remark @+1 {{DependsOnTiming: the order of arrival decides which value stays and which ones are returned}}
    %3, %t3 = nv_tileas.atomic_rmw <xchg> <relaxed> <device> %a, %1 vector 1 : tensor<128x!nv_tileaa.ptr<i32>, #l>, tensor<128xi32, #l>
    // expected-remark @+1 {{DependsOnTiming: the order of arrival decides which value stays and which ones are returned}}
    %4, %t4 = nv_tileas.atomic_cas <relaxed> <device> %a, %r, %r : tensor<128x!nv_tileaa.ptr<i32>, #l>, tensor<128xi32, #l>
    nv_tileaa.return
  }
}
