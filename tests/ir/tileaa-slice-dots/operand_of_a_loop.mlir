// RUN: tileiras-opt %s --pass-pipeline='builtin.module(convert-cudatile-to-tileaa,canonicalize,cse,tileaa-slice-dots{compute-capability=sm_90})' | FileCheck %s
// An operand of a dot may be the result of a loop without initial values, as a helper with an early return becomes.
// CHECK: scf.while : () ->
// CHECK: nv_tileaa.dot
cuda_tile.module @m {
  entry @loop_of_an_operand(%a: tile<ptr<f32>>, %c: tile<ptr<f32>>, %n: tile<i32>) {
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %four = constant <i32: 4> : tile<i32>
    %none = constant <f32: 0.0> : tile<16x16xf32>
    %av = make_tensor_view %a, shape = [64, 16], strides = [16, 1] : tensor_view<64x16xf32, strides=[16,1]>
    %ap = make_partition_view %av : partition_view<tile=(16x16), tensor_view<64x16xf32, strides=[16,1]>>
    %cv = make_tensor_view %c, shape = [16, 16], strides = [16, 1] : tensor_view<16x16xf32, strides=[16,1]>
    %cp = make_partition_view %cv : partition_view<tile=(16x16), tensor_view<16x16xf32, strides=[16,1]>>
    %r = for %k in (%zero to %four, step %one) : tile<i32> iter_values(%acc = %none) -> (tile<16x16xf32>) {
      %t, %tok = load_view_tko weak %ap[%k, %zero] : partition_view<tile=(16x16), tensor_view<64x16xf32, strides=[16,1]>>, tile<i32> -> tile<16x16xf32>, token
      %none_of_n = cmpi less_than %k, %n, signed : tile<i32> -> tile<i1>
      %x = loop iter_values(%u = %none) : tile<16x16xf32> -> tile<16x16xf32> {
        if %none_of_n {
          break %none : tile<16x16xf32>
        } else {
        }
        break %t : tile<16x16xf32>
      }
      %d = mmaf %x, %t, %acc : tile<16x16xf32>, tile<16x16xf32>, tile<16x16xf32>
      continue %d : tile<16x16xf32>
    }
    %done = store_view_tko weak %r, %cp[%zero, %zero] : tile<16x16xf32>, partition_view<tile=(16x16), tensor_view<16x16xf32, strides=[16,1]>>, tile<i32> -> token
    return
  }
}
