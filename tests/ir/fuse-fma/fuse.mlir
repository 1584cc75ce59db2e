// RUN: tileiras-opt %s --cuda-tile-testing-ops --pass-pipeline='builtin.module(cuda_tile.module(cuda_tile.testing$func(fuse-fma)))' | FileCheck %s
// RUN: tileiras-opt %s --cuda-tile-testing-ops --fuse-fma | FileCheck %s

cuda_tile.module @m {
  // CHECK-LABEL: @sum
  // CHECK-NEXT: %[[R:.*]] = fma %arg0, %arg1, %arg2 : tile<4xf32>
  // CHECK-NEXT: return %[[R]]
  testing$func @sum(%a: tile<4xf32>, %b: tile<4xf32>, %c: tile<4xf32>) -> tile<4xf32> {
    %0 = mulf %a, %b : tile<4xf32>
    %1 = addf %0, %c : tile<4xf32>
    return %1 : tile<4xf32>
  }

  // CHECK-LABEL: @product_on_the_right
  // CHECK-NEXT: fma %arg0, %arg1, %arg2
  testing$func @product_on_the_right(%a: tile<4xf32>, %b: tile<4xf32>, %c: tile<4xf32>) -> tile<4xf32> {
    %0 = mulf %a, %b : tile<4xf32>
    %1 = addf %c, %0 : tile<4xf32>
    return %1 : tile<4xf32>
  }

  // CHECK-LABEL: @difference
  // CHECK-NEXT: %[[N:.*]] = negf %arg2 : tile<4xf32>
  // CHECK-NEXT: fma %arg0, %arg1, %[[N]]
  testing$func @difference(%a: tile<4xf32>, %b: tile<4xf32>, %c: tile<4xf32>) -> tile<4xf32> {
    %0 = mulf %a, %b : tile<4xf32>
    %1 = subf %0, %c : tile<4xf32>
    return %1 : tile<4xf32>
  }

  // The product would have to be negated.
  // CHECK-LABEL: @difference_on_the_right
  // CHECK-NEXT: mulf
  // CHECK-NEXT: subf
  testing$func @difference_on_the_right(%a: tile<4xf32>, %b: tile<4xf32>, %c: tile<4xf32>) -> tile<4xf32> {
    %0 = mulf %a, %b : tile<4xf32>
    %1 = subf %c, %0 : tile<4xf32>
    return %1 : tile<4xf32>
  }

  // CHECK-LABEL: @modifiers
  // CHECK-NEXT: fma %arg0, %arg1, %arg2 rounding<zero> flush_to_zero : tile<4xf32>
  testing$func @modifiers(%a: tile<4xf32>, %b: tile<4xf32>, %c: tile<4xf32>) -> tile<4xf32> {
    %0 = mulf %a, %b rounding<zero> flush_to_zero : tile<4xf32>
    %1 = addf %0, %c rounding<zero> flush_to_zero : tile<4xf32>
    return %1 : tile<4xf32>
  }

  // CHECK-LABEL: @other_rounding
  // CHECK-NOT: fma
  testing$func @other_rounding(%a: tile<4xf32>, %b: tile<4xf32>, %c: tile<4xf32>) -> tile<4xf32> {
    %0 = mulf %a, %b rounding<zero> : tile<4xf32>
    %1 = addf %0, %c : tile<4xf32>
    return %1 : tile<4xf32>
  }

  // CHECK-LABEL: @other_flushing
  // CHECK-NOT: fma
  testing$func @other_flushing(%a: tile<4xf32>, %b: tile<4xf32>, %c: tile<4xf32>) -> tile<4xf32> {
    %0 = mulf %a, %b flush_to_zero : tile<4xf32>
    %1 = addf %0, %c : tile<4xf32>
    return %1 : tile<4xf32>
  }

  // The product would be computed twice.
  // CHECK-LABEL: @used_twice
  // CHECK-NOT: fma
  testing$func @used_twice(%a: tile<4xf32>, %b: tile<4xf32>, %c: tile<4xf32>) -> (tile<4xf32>, tile<4xf32>) {
    %0 = mulf %a, %b : tile<4xf32>
    %1 = addf %0, %c : tile<4xf32>
    return %0, %1 : tile<4xf32>, tile<4xf32>
  }

  // CHECK-LABEL: @square_sum
  // CHECK-NEXT: %[[P:.*]] = mulf %arg1, %arg1
  // CHECK-NEXT: fma %arg0, %arg0, %[[P]]
  testing$func @square_sum(%a: tile<4xf32>, %b: tile<4xf32>) -> tile<4xf32> {
    %0 = mulf %a, %a : tile<4xf32>
    %1 = mulf %b, %b : tile<4xf32>
    %2 = addf %0, %1 : tile<4xf32>
    return %2 : tile<4xf32>
  }

  // A chain, as in a polynomial, and inside a region.
  // CHECK-LABEL: @horner
  // CHECK: if %arg0
  // CHECK-NEXT: %[[F:.*]] = fma %arg1, %arg1, %arg2
  // CHECK-NEXT: %[[G:.*]] = fma %[[F]], %arg1, %arg2
  // CHECK-NEXT: yield %[[G]]
  testing$func @horner(%q: tile<i1>, %x: tile<f64>, %c: tile<f64>) -> tile<f64> {
    %r = if %q -> (tile<f64>) {
      %0 = mulf %x, %x : tile<f64>
      %1 = addf %0, %c : tile<f64>
      %2 = mulf %1, %x : tile<f64>
      %3 = addf %c, %2 : tile<f64>
      yield %3 : tile<f64>
    } else {
      yield %c : tile<f64>
    }
    return %r : tile<f64>
  }
}
