// The unsigned 8-bit format, which MLIR does not have: literals, names, types, and the ops that accept it.
//
// RUN: tileiras-opt %s | FileCheck %s
// RUN: tileiras-opt %s | tileiras-opt | FileCheck %s
// RUN: tileiras-translate --mlir-to-tileirbc %s | tileiras-translate --tileirbc-to-mlir | FileCheck %s
// RUN: tileiras-opt --mlir-print-op-generic %s | tileiras-opt | FileCheck %s
// RUN: tileiras-opt --mlir-print-op-generic %s | FileCheck %s --check-prefix=BITS
// RUN: not tileiras-translate --mlir-to-tileirbc --bytecode-version=13.3 %s 2>&1 | FileCheck %s --check-prefix=OLD

// OLD: type 'FloatNV8E5M3FNU' requires bytecode version 13.4

cuda_tile.module @m {
  // CHECK: global @table <fnv8E5M3FNU: [5.000000e-01, 1.250000e+00]> : tile<2xfnv8E5M3FNU>
  // BITS: element_type = !cuda_tile.fnv8E5M3FNU{{.*}}value = dense<[112, 122]> : !cuda_tile.tile<2xi8>
  global @table <fnv8E5M3FNU: [0.5, 1.25]> : tile<2xfnv8E5M3FNU>

  // CHECK-LABEL: entry @literals
  entry @literals() {
    // CHECK: %cst_0_fnv8E5M3FNU = constant <fnv8E5M3FNU: 0.000000e+00> : tile<fnv8E5M3FNU>
    // BITS: "cuda_tile.constant"() <{value = dense<0> : !cuda_tile.tile<i8>}> : () -> !cuda_tile.tile<fnv8E5M3FNU>
    %zero = constant <fnv8E5M3FNU: 0.0> : tile<fnv8E5M3FNU>
    // CHECK: %cst_1_fnv8E5M3FNU = constant <fnv8E5M3FNU: 1.000000e+00> : tile<4xfnv8E5M3FNU>
    %one = constant <fnv8E5M3FNU: 1.0> : tile<4xfnv8E5M3FNU>
    // CHECK: %cst_NaN_fnv8E5M3FNU = constant <fnv8E5M3FNU: 0xFF> : tile<2xfnv8E5M3FNU>
    %nan = constant <fnv8E5M3FNU: 0xFF> : tile<2xfnv8E5M3FNU>
    // The smallest number, the largest subnormal number, and ties that round to even.
    // CHECK: constant <fnv8E5M3FNU: {{\[}}[7.629390e-06, 5.340580e-05], [1.000000e+00, 1.250000e+00]]> : tile<2x2xfnv8E5M3FNU>
    %list = constant <fnv8E5M3FNU: [[0x01, 0x07], [1.0625, 1.1875]]> : tile<2x2xfnv8E5M3FNU>
    // CHECK: constant <fnv8E5M3FNU: "0x787878{{[0-9A-F]+}}79"> : tile<128xfnv8E5M3FNU>
    %many = constant <fnv8E5M3FNU: "0x7878787878787878787878787878787878787878787878787878787878787878787878787878787878787878787878787878787878787878787878787878787878787878787878787878787878787878787878787878787878787878787878787878787878787878787878787878787878787878787878787878787878787879"> : tile<128xfnv8E5M3FNU>
    return
  }

  // CHECK-LABEL: entry @ops
  entry @ops(%p: tile<ptr<fnv8E5M3FNU>>, %n: tile<i32>) {
    // CHECK: get_global @table : tile<ptr<fnv8E5M3FNU>>
    %g = get_global @table : tile<ptr<fnv8E5M3FNU>>
    // CHECK: load_ptr_tko weak %{{.*}} : tile<ptr<fnv8E5M3FNU>> -> tile<fnv8E5M3FNU>, token
    %x, %k = load_ptr_tko weak %g : tile<ptr<fnv8E5M3FNU>> -> tile<fnv8E5M3FNU>, token
    // CHECK: bitcast %{{.*}} : tile<fnv8E5M3FNU> -> tile<i8>
    %b = bitcast %x : tile<fnv8E5M3FNU> -> tile<i8>
    // CHECK: ftoi %{{.*}} signed : tile<fnv8E5M3FNU> -> tile<i32>
    %i = ftoi %x signed : tile<fnv8E5M3FNU> -> tile<i32>
    // CHECK: itof %{{.*}} signed : tile<i32> -> tile<fnv8E5M3FNU>
    %f = itof %n signed : tile<i32> -> tile<fnv8E5M3FNU>
    // CHECK: ftof %{{.*}} rounding<positive_inf> : tile<fnv8E5M3FNU> -> tile<f32>
    %w = ftof %x rounding<positive_inf> : tile<fnv8E5M3FNU> -> tile<f32>
    // CHECK: ftof %{{.*}} rounding<zero> : tile<fnv8E5M3FNU> -> tile<f16>
    %h = ftof %x rounding<zero> : tile<fnv8E5M3FNU> -> tile<f16>
    // CHECK: ftof %{{.*}} rounding<zero> : tile<fnv8E5M3FNU> -> tile<f8E8M0FNU>
    %s = ftof %x rounding<zero> : tile<fnv8E5M3FNU> -> tile<f8E8M0FNU>
    // CHECK: make_tensor_view %{{.*}} : tensor_view<60xfnv8E5M3FNU, strides=[1]>
    %t = make_tensor_view %p, shape = [60], strides = [1] : tensor_view<60xfnv8E5M3FNU, strides=[1]>
    // CHECK: partition_view<tile=(16), padding_value = nan, tensor_view<60xfnv8E5M3FNU, strides=[1]>>
    %v = make_partition_view %t : partition_view<tile=(16), padding_value = nan, tensor_view<60xfnv8E5M3FNU, strides=[1]>>
    return
  }

  // CHECK-LABEL: entry @scales
  entry @scales() {
    %l = constant <f4E2M1FN: 1.0> : tile<16x64xf4E2M1FN>
    %r = constant <f4E2M1FN: 1.0> : tile<64x16xf4E2M1FN>
    %a = constant <f32: 0.0> : tile<16x16xf32>
    %s = constant <fnv8E5M3FNU: 1.0> : tile<16x4xfnv8E5M3FNU>
    %t = constant <fnv8E5M3FNU: 1.0> : tile<4x16xfnv8E5M3FNU>
    // CHECK: mmaf_scaled {{.*}} : tile<16x64xf4E2M1FN>, tile<64x16xf4E2M1FN>, tile<16x16xf32>, tile<16x4xfnv8E5M3FNU>, tile<4x16xfnv8E5M3FNU>
    %z = mmaf_scaled %l, %r, %a, %s, %t : tile<16x64xf4E2M1FN>, tile<64x16xf4E2M1FN>, tile<16x16xf32>, tile<16x4xfnv8E5M3FNU>, tile<4x16xfnv8E5M3FNU>
    return
  }
}
