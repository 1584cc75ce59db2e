// Additions of version 13.4.
//
// RUN: tileiras-opt %s | tileiras-opt | FileCheck %s
// RUN: tileiras-translate --mlir-to-tileirbc %s | tileiras-translate --tileirbc-to-mlir | FileCheck %s

cuda_tile.module @m {
  // CHECK-LABEL: entry @slices
  entry @slices(%i: tile<i32>, %p: tile<ptr<f32>>) {
    %s = constant <f32: 1.0> : tile<2x2xf32>
    %d = constant <f32: 2.0> : tile<4x8xf32>
    // CHECK: insert %{{.*}}, %{{.*}}[%{{.*}}, %{{.*}}] : tile<2x2xf32>, tile<4x8xf32>
    %a = insert %s, %d[%i, %i] : tile<2x2xf32>, tile<4x8xf32>
    %q = reshape %p : tile<ptr<f32>> -> tile<1xptr<f32>>
    %r = broadcast %q : tile<1xptr<f32>> -> tile<4xptr<f32>>
    // CHECK: insert %{{.*}}, %{{.*}}[%{{.*}}] : tile<1xptr<f32>>, tile<4xptr<f32>>
    %b = insert %q, %r[%i] : tile<1xptr<f32>>, tile<4xptr<f32>>
    %z = constant <f32: 3.0> : tile<f32>
    // CHECK: insert %{{.*}}, %{{.*}}[] : tile<f32>, tile<f32>
    %c = insert %z, %z[] : tile<f32>, tile<f32>
    return
  }

  // CHECK-LABEL: entry @order
  entry @order() {
    // CHECK: %[[A:.*]] = gdc_wait_tko -> token
    %a = gdc_wait_tko -> token
    // CHECK: %[[B:.*]] = gdc_launch_dependents_tko token = %[[A]] -> token
    %b = gdc_launch_dependents_tko token = %a -> token
    // CHECK: %[[C:.*]] = memory_fence_alias_tko %[[B]]
    %c = memory_fence_alias_tko %b
    // CHECK: gdc_wait_tko token = %[[C]] -> token
    %d = gdc_wait_tko token = %c -> token
    return
  }

  // CHECK-LABEL: entry @numbers
  entry @numbers() {
    %x = constant <f32: [1.0, 2.0]> : tile<2xf32>
    %n = constant <i8: [1, 2]> : tile<2xi8>
    // CHECK: fpowi %{{.*}}, %{{.*}} : tile<2xf32>, tile<2xi8>
    %a = fpowi %x, %n : tile<2xf32>, tile<2xi8>
    // CHECK: fpowf %{{.*}}, %{{.*}} : tile<2xf32>
    %b = fpowf %x, %x : tile<2xf32>
    // CHECK: ftoi %{{.*}} signed saturating : tile<2xf32> -> tile<2xi8>
    %c = ftoi %x signed saturating : tile<2xf32> -> tile<2xi8>
    // CHECK: ftoi %{{.*}} unsigned : tile<2xf32> -> tile<2xi8>
    %d = ftoi %x unsigned : tile<2xf32> -> tile<2xi8>
    // CHECK: ftof %{{.*}} rounding<nearest_away> : tile<2xf32> -> tile<2xtf32>
    %e = ftof %x rounding<nearest_away> : tile<2xf32> -> tile<2xtf32>
    // CHECK: ftof %{{.*}} rounding<negative_inf> : tile<2xf32> -> tile<2xf64>
    %f = ftof %x rounding<negative_inf> : tile<2xf32> -> tile<2xf64>
    // CHECK: ftof %{{.*}} rounding<positive_inf> : tile<2xf64> -> tile<2xf32>
    %g = ftof %f rounding<positive_inf> : tile<2xf64> -> tile<2xf32>
    return
  }

  // CHECK-LABEL: entry @promises
  entry @promises(%p: tile<ptr<f32>>, %i: tile<i32>) {
    %t = make_tensor_view %p, shape = [60, 60], strides = [60, 1] : tensor_view<60x60xf32, strides=[60,1]>
    %v = make_partition_view %t : partition_view<tile=(8x8), tensor_view<60x60xf32, strides=[60,1]>>
    // CHECK: load_view_tko weak %{{.*}}[%{{.*}}, %{{.*}}] inbounds = [true, false] :
    %x, %a = load_view_tko weak %v[%i, %i] inbounds = [true, false] : partition_view<tile=(8x8), tensor_view<60x60xf32, strides=[60,1]>>, tile<i32> -> tile<8x8xf32>, token
    // CHECK: load_view_tko weak %{{.*}}[%{{.*}}, %{{.*}}] token = %{{.*}} : partition
    %y, %b = load_view_tko weak %v[%i, %i] token = %a : partition_view<tile=(8x8), tensor_view<60x60xf32, strides=[60,1]>>, tile<i32> -> tile<8x8xf32>, token
    // CHECK: store_view_tko weak %{{.*}}, %{{.*}}[%{{.*}}, %{{.*}}] token = %{{.*}} optimization_hints = <sm_90 = {latency = 2{{.*}}}> inbounds = [true, true]
    %c = store_view_tko weak %y, %v[%i, %i] token = %b optimization_hints = <sm_90 = {latency = 2}> inbounds = [true, true] : tile<8x8xf32>, partition_view<tile=(8x8), tensor_view<60x60xf32, strides=[60,1]>>, tile<i32> -> token
    return
  }
}
