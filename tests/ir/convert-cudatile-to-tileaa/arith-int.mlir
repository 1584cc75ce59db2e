// RUN: tileiras-opt %s --pass-pipeline='builtin.module(convert-cudatile-to-tileaa)' | tileiras-opt | FileCheck %s

// CHECK-LABEL: nv_tileaa.func @wrapping(
cuda_tile.module @m {
  entry @wrapping(%a: tile<i32>, %b: tile<i32>) {
    // CHECK: arith.addi %arg0, %arg1 : i32
    %0 = addi %a, %b : tile<i32>
    // CHECK: arith.subi %arg0, %arg1 overflow<nsw> : i32
    %1 = subi %a, %b overflow<no_signed_wrap> : tile<i32>
    // CHECK: arith.muli %arg0, %arg1 overflow<nuw> : i32
    %2 = muli %a, %b overflow<no_unsigned_wrap> : tile<i32>
    // CHECK: arith.shli %arg0, %arg1 overflow<nsw, nuw> : i32
    %3 = shli %a, %b overflow<no_wrap> : tile<i32>
    // CHECK: %[[ZERO:.*]] = arith.constant 0 : i32
    // CHECK: arith.subi %[[ZERO]], %arg0 : i32
    %4 = negi %a : tile<i32>
    // CHECK: arith.subi %{{.*}}, %arg0 overflow<nsw> : i32
    %5 = negi %a overflow<no_wrap> : tile<i32>
    // CHECK: %low, %high = arith.mului_extended %arg0, %arg1 : i32
    // CHECK: arith.xori %high, %high
    %6 = mulhii %a, %b : tile<i32>
    %7 = xori %6, %6 : tile<i32>
    return
  }
}

// CHECK-LABEL: nv_tileaa.func @by_sign(
cuda_tile.module @m1 {
  entry @by_sign(%a: tile<i32>, %b: tile<i32>) {
    // CHECK: arith.divsi
    %0 = divi %a, %b signed : tile<i32>
    // CHECK: arith.divui
    %1 = divi %a, %b unsigned : tile<i32>
    // CHECK: arith.floordivsi
    %2 = divi %a, %b signed rounding<negative_inf> : tile<i32>
    // CHECK: arith.ceildivsi
    %3 = divi %a, %b signed rounding<positive_inf> : tile<i32>
    // CHECK: arith.ceildivui
    %4 = divi %a, %b unsigned rounding<positive_inf> : tile<i32>
    // CHECK: arith.remui
    %5 = remi %a, %b unsigned : tile<i32>
    // CHECK: arith.maxsi
    %6 = maxi %a, %b signed : tile<i32>
    // CHECK: arith.maxui
    %7 = maxi %a, %b unsigned : tile<i32>
    // CHECK: arith.minsi
    %8 = mini %a, %b signed : tile<i32>
    // CHECK: arith.minui
    %9 = mini %a, %b unsigned : tile<i32>
    // CHECK: arith.shrsi
    %10 = shri %a, %b signed : tile<i32>
    // CHECK: arith.shrui
    %11 = shri %a, %b unsigned : tile<i32>
    // CHECK: arith.andi
    %12 = andi %a, %b : tile<i32>
    // CHECK: arith.ori
    %13 = ori %a, %b : tile<i32>
    // CHECK: math.absi
    %14 = absi %a : tile<i32>
    // CHECK: arith.select %{{.*}}, %arg0, %arg1 : i32
    %15 = cmpi less_than %a, %b, signed : tile<i32> -> tile<i1>
    %16 = select %15, %a, %b : tile<i1>, tile<i32>
    return
  }
}

// The smallest integer modulo -1 is zero in cuda_tile and undefined in arith.
// CHECK-LABEL: nv_tileaa.func @signed_remainder(
cuda_tile.module @m2 {
  entry @signed_remainder(%a: tile<i32>, %b: tile<i32>) {
    // CHECK: %[[ONES:.*]] = arith.constant -1 : i32
    // CHECK: %[[ONE:.*]] = arith.constant 1 : i32
    // CHECK: %[[IS:.*]] = arith.cmpi eq, %arg1, %[[ONES]] : i32
    // CHECK: %[[BY:.*]] = arith.select %[[IS]], %[[ONE]], %arg1 : i32
    // CHECK: arith.remsi %arg0, %[[BY]] : i32
    %0 = remi %a, %b signed : tile<i32>
    // CHECK: %[[C:.*]] = arith.constant 7 : i32
    // CHECK-NEXT: arith.remsi %arg0, %[[C]] : i32
    %c = constant <i32: 7> : tile<i32>
    %1 = remi %a, %c signed : tile<i32>
    return
  }
}

// CHECK-LABEL: nv_tileaa.func @compare(
cuda_tile.module @m3 {
  entry @compare(%a: tile<i32>, %b: tile<i32>) {
    // CHECK: arith.cmpi eq
    %0 = cmpi equal %a, %b, signed : tile<i32> -> tile<i1>
    // CHECK: arith.cmpi ne
    %1 = cmpi not_equal %a, %b, unsigned : tile<i32> -> tile<i1>
    // CHECK: arith.cmpi slt
    %2 = cmpi less_than %a, %b, signed : tile<i32> -> tile<i1>
    // CHECK: arith.cmpi ult
    %3 = cmpi less_than %a, %b, unsigned : tile<i32> -> tile<i1>
    // CHECK: arith.cmpi sle
    %4 = cmpi less_than_or_equal %a, %b, signed : tile<i32> -> tile<i1>
    // CHECK: arith.cmpi ule
    %5 = cmpi less_than_or_equal %a, %b, unsigned : tile<i32> -> tile<i1>
    // CHECK: arith.cmpi sgt
    %6 = cmpi greater_than %a, %b, signed : tile<i32> -> tile<i1>
    // CHECK: arith.cmpi ugt
    %7 = cmpi greater_than %a, %b, unsigned : tile<i32> -> tile<i1>
    // CHECK: arith.cmpi sge
    %8 = cmpi greater_than_or_equal %a, %b, signed : tile<i32> -> tile<i1>
    // CHECK: arith.cmpi uge
    %9 = cmpi greater_than_or_equal %a, %b, unsigned : tile<i32> -> tile<i1>
    return
  }
}

// i1: -1 is its own absolute value and divides everything.
// CHECK-LABEL: nv_tileaa.func @bits(
cuda_tile.module @m4 {
  entry @bits(%a: tile<i1>, %b: tile<i1>) {
    // CHECK-NOT: math.absi
    // CHECK-NOT: arith.remsi
    // CHECK: %[[F:.*]] = arith.constant false
    // CHECK: arith.andi %arg0, %[[F]] : i1
    %0 = absi %a : tile<i1>
    %1 = remi %a, %b signed : tile<i1>
    %2 = andi %0, %1 : tile<i1>
    return
  }
}
