// Reductions and scans whose bits depend on the order of elements are marked.
// RUN: tileiras-opt %s --pass-pipeline='builtin.module(convert-cudatile-to-tileaa{numerics=pinned})' | FileCheck %s
// RUN: tileiras-opt %s --pass-pipeline='builtin.module(convert-cudatile-to-tileaa)' | FileCheck %s --check-prefix=DEFAULT
// RUN: tileiras-opt %s --pass-pipeline='builtin.module(convert-cudatile-to-tileaa{numerics=portable})' | FileCheck %s --check-prefix=PORTABLE
// RUN: not tileiras-opt %s --pass-pipeline='builtin.module(convert-cudatile-to-tileaa{numerics=exact})' 2>&1 | FileCheck %s --check-prefix=BAD

// BAD: numerics must be default, pinned or portable, got 'exact'
// DEFAULT-NOT: canonical
// PORTABLE: nv_tileaa.func @orders() attributes {nv_tileaa.portable}
// CHECK-LABEL: nv_tileaa.func @orders(
cuda_tile.module @m {
  entry @orders() {
    %a = constant <f32: 1.0> : tile<4x8xf32>
    %b = constant <i32: 1> : tile<4x8xi32>
    // CHECK: nv_tileaa.reduce {{.*}} {nv_tileaa.canonical = 2 : i64} : tensor<4x8xf32> -> tensor<4xf32>
    %0 = reduce %a dim=1 identities=[0.0 : f32] : tile<4x8xf32> -> tile<4xf32> (%x: tile<f32>, %y: tile<f32>) {
      %s = addf %x, %y : tile<f32>
      yield %s : tile<f32>
    }
    // CHECK: nv_tileaa.scan {{.*}} {nv_tileaa.canonical = 0 : i64} : tensor<4x8xf32> -> tensor<4x8xf32>
    %1 = scan %a dim=1 reverse=false identities=[1.0 : f32] : tile<4x8xf32> -> tile<4x8xf32> (%x: tile<f32>, %y: tile<f32>) {
      %s = mulf %x, %y : tile<f32>
      yield %s : tile<f32>
    }
    // A maximum and an integer sum are the same in any order.
    // CHECK-NOT: canonical
    %2 = reduce %a dim=1 identities=[0xFF800000 : f32] : tile<4x8xf32> -> tile<4xf32> (%x: tile<f32>, %y: tile<f32>) {
      %s = maxf %x, %y : tile<f32>
      yield %s : tile<f32>
    }
    %3 = reduce %b dim=1 identities=[0 : i32] : tile<4x8xi32> -> tile<4xi32> (%x: tile<i32>, %y: tile<i32>) {
      %s = addi %x, %y : tile<i32>
      yield %s : tile<i32>
    }
    return
  }
  // Partial sums of 8-bit floats over 128 elements of K start at zero, whatever the instructions. Fast accumulation
  // leaves the sum to the instructions, and so do wider numbers.
  // CHECK-LABEL: nv_tileaa.func @chains(
  // DEFAULT-LABEL: nv_tileaa.func @chains(
  entry @chains() {
    %a = constant <f8E4M3FN: 1.0> : tile<16x256xf8E4M3FN>
    %b = constant <f8E4M3FN: 1.0> : tile<256x16xf8E4M3FN>
    %c = constant <f32: 1.0> : tile<16x16xf32>
    // CHECK: %[[C:.*]] = arith.constant dense<1.0{{.*}}> : tensor<16x16xf32>
    // CHECK: %[[ZERO:.*]] = arith.constant dense<0.0{{.*}}> : tensor<16x16xf32>
    // CHECK: nv_tileaa.extract_slice {{.*}} : tensor<16x256xf8E4M3FN> -> tensor<16x128xf8E4M3FN>
    // CHECK: nv_tileaa.extract_slice {{.*}} : tensor<256x16xf8E4M3FN> -> tensor<128x16xf8E4M3FN>
    // CHECK: %[[P:.*]] = nv_tileaa.dot %{{.*}}, %{{.*}}, %[[ZERO]]
    // CHECK: %[[S:.*]] = arith.addf %[[C]], %[[P]] : tensor<16x16xf32>
    // CHECK: %[[Q:.*]] = nv_tileaa.dot %{{.*}}, %{{.*}}, %[[ZERO]]
    // CHECK: arith.addf %[[S]], %[[Q]] : tensor<16x16xf32>
    // DEFAULT: nv_tileaa.dot {{.*}} : tensor<16x256xf8E4M3FN>, tensor<256x16xf8E4M3FN>, tensor<16x16xf32>
    // DEFAULT-NOT: arith.addf
    %0 = mmaf %a, %b, %c : tile<16x256xf8E4M3FN>, tile<256x16xf8E4M3FN>, tile<16x16xf32>
    // CHECK: nv_tileaa.dot {{.*}} tensor<16x256xf8E4M3FN>
    // CHECK-NOT: arith.addf
    %1 = mmaf %a, %b, %0 fast_acc : tile<16x256xf8E4M3FN>, tile<256x16xf8E4M3FN>, tile<16x16xf32>
    return
  }
  // MLIR would evaluate functions of constants; it does not look through the maximum. Elements of memory stay as they
  // are, and so do results that depend on them.
  // CHECK-LABEL: nv_tileaa.func @functions(
  // DEFAULT-LABEL: nv_tileaa.func @functions(
  // DEFAULT-NOT: nv_tileaa.fp <max>
  entry @functions(%p: tile<ptr<f32>>) {
    %c = constant <f32: 2.0> : tile<f32>
    // CHECK: %[[C:.*]] = arith.constant 2.0{{.*}} : f32
    // CHECK: %[[H:.*]] = nv_tileaa.fp <max> %[[C]], %[[C]] : f32
    // CHECK: math.exp %[[H]] : f32
    %0 = exp %c : tile<f32>
    // CHECK: arith.addf
    // CHECK: %[[K:.*]] = nv_tileaa.fp <max>
    // CHECK: math.log %[[K]] : f32
    %1 = addf %c, %c : tile<f32>
    %2 = log %1 : tile<f32>
    %x, %t = load_ptr_tko weak %p : tile<ptr<f32>> -> tile<f32>, token
    // CHECK: %[[Y:.*]] = arith.mulf
    // CHECK-NEXT: math.exp2 %[[Y]] : f32
    %y = mulf %x, %c : tile<f32>
    %3 = exp2 %y : tile<f32>
    // CHECK: %[[B:.*]] = nv_tileaa.fp <max> %[[C]], %[[C]] : f32
    // CHECK: math.powf %{{.*}}, %[[B]] : f32
    %4 = pow %y, %c : tile<f32>
    return
  }
}
