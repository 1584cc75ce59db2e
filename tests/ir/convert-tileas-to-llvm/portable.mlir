// RUN: tileiras-opt %s --pass-pipeline='builtin.module(convert-tileas-to-llvm{compute-capability=sm_80})' | FileCheck %s
// RUN: tileiras-opt %s --remarks --verify-diagnostics --pass-pipeline='builtin.module(convert-tileas-to-llvm{compute-capability=sm_80})' -o %t.mlir

// A portable function calls the functions of the library whose bits IEEE 754 defines. Others call the fast ones.
#c = #nv_tileas.layout<register = [1], lane = [2, 4, 8, 16, 32], warp = []>
#a = #nv_tileas.layout<register = [], lane = [1, 2, 4, 8, 16], warp = []>
#b = #nv_tileas.layout<register = [], lane = [8, 16, 1, 2, 4], warp = []>
gpu.module @kernels {
  // CHECK-LABEL: llvm.func @portable
  nv_tileaa.func @portable(%x: f32, %d: f64) attributes {numWarps = 4 : i64, nv_tileaa.portable} {
    // CHECK: llvm.call @__tileir_exp_f32_poly
    %0 = math.exp %x : f32
    // CHECK: llvm.call @__tileir_exp2_f32_portable(
    %1 = math.exp2 %0 : f32
    // CHECK: llvm.call @__tileir_exp2_f32_portable_ftz
    %2 = nv_tileaa.fp <exp2> %1 ftz : f32
    // CHECK: llvm.call @__tileir_exp_f32_poly
    %3 = nv_tileaa.fp <exp> %2 rounding <approx> : f32
    // CHECK: llvm.call @__tileir_tanh_f32_portable
    %4 = nv_tileaa.fp <tanh> %3 rounding <approx> : f32
    // CHECK: llvm.call @__tileir_div_f32_portable(
    %5 = nv_tileaa.fp <div> %4, %x rounding <full> : f32
    // CHECK: llvm.call @__tileir_sqrt_f32_portable_ftz
    %6 = nv_tileaa.fp <sqrt> %5 rounding <approx> ftz : f32
    // CHECK: llvm.call @__tileir_rsqrt_f64_portable
    %7 = math.rsqrt %d : f64
    // CHECK: llvm.call @__tileir_log_f32(
    %8 = math.log %6 : f32
    nv_tileaa.return
  }
  // CHECK-LABEL: llvm.func @fast
  nv_tileaa.func @fast(%x: f32) attributes {numWarps = 4 : i64} {
    // CHECK: llvm.call @__tileir_exp_f32(
    %0 = math.exp %x : f32
    nv_tileaa.return
  }
  // A remark names the ops that have other bits on other GPUs all the same.
  nv_tileaa.func @product(%i: f64) attributes {numWarps = 1 : i64, nv_tileaa.portable} {
    %x = nv_tileas.splat %i : f64 -> tensor<8x4xf64, #a>
    %y = nv_tileas.splat %i : f64 -> tensor<4x8xf64, #b>
    %z = nv_tileas.splat %i : f64 -> tensor<8x8xf64, #c>
    // expected-remark @below {{NotPortable: PTX does not define how mma.sync adds the products of a step}}
    %0 = nv_tileas.dot %x, %y, %z by <sync, [8, 8, 4]> : tensor<8x4xf64, #a>, tensor<4x8xf64, #b>, tensor<8x8xf64, #c>
    nv_tileaa.return
  }
}
