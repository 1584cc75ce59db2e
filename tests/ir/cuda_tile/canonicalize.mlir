// One function for each rule that the folds and patterns use.
//
// RUN: tileiras-opt %s --cuda-tile-testing-ops --canonicalize | FileCheck %s

cuda_tile.module @m {
  // c + a * b == a * b + c.
  // CHECK-LABEL: testing$func @addf(
  // CHECK-NEXT:    %0 = mulf %arg0, %arg1  : tile<f32>
  // CHECK-NEXT:    %1 = addf %0, %arg2 rounding<zero> : tile<f32>
  // CHECK-NEXT:    return %1 : tile<f32>
  // CHECK-NEXT:  }
  testing$func @addf(%a: tile<f32>, %b: tile<f32>, %c: tile<f32>) -> tile<f32> {
    %0 = mulf %a, %b : tile<f32>
    %1 = addf %c, %0 rounding<zero> : tile<f32>
    return %1 : tile<f32>
  }

  // repeated assumptions are merged; different ones are kept.
  // CHECK-LABEL: testing$func @assume(
  // CHECK-NEXT:    %assume = assume bounded<0, ?>, %arg0 : tile<i32>
  // CHECK-NEXT:    %assume_assume = assume bounded<1, ?>, %assume : tile<i32>
  // CHECK-NEXT:    return %assume, %assume_assume : tile<i32>, tile<i32>
  // CHECK-NEXT:  }
  testing$func @assume(%a: tile<i32>) -> (tile<i32>, tile<i32>) {
    %0 = assume bounded<0, ?>, %a : tile<i32>
    %1 = assume bounded<0, ?>, %0 : tile<i32>
    %2 = assume bounded<1, ?>, %1 : tile<i32>
    return %1, %2 : tile<i32>, tile<i32>
  }

  // c ? x : x == x.
  // CHECK-LABEL: testing$func @select_same(
  // CHECK-NEXT:    return %arg1 : tile<4xf32>
  // CHECK-NEXT:  }
  testing$func @select_same(%c: tile<4xi1>, %a: tile<4xf32>) -> tile<4xf32> {
    %0 = select %c, %a, %a : tile<4xi1>, tile<4xf32>
    return %0 : tile<4xf32>
  }

  // true ? x : y == x, false ? x : y == y.
  // CHECK-LABEL: testing$func @select_constant_condition(
  // CHECK-NEXT:    return %arg0, %arg1 : tile<4xf32>, tile<4xf32>
  // CHECK-NEXT:  }
  testing$func @select_constant_condition(%a: tile<4xf32>, %b: tile<4xf32>) -> (tile<4xf32>, tile<4xf32>) {
    %t = constant <i1: true> : tile<4xi1>
    %f = constant <i1: false> : tile<4xi1>
    %0 = select %t, %a, %b : tile<4xi1>, tile<4xf32>
    %1 = select %f, %a, %b : tile<4xi1>, tile<4xf32>
    return %0, %1 : tile<4xf32>, tile<4xf32>
  }

  // c ? true : false == c, c ? false : true == !c.
  // CHECK-LABEL: testing$func @select_bool(
  // CHECK-NEXT:    %true = constant <i1: true> : tile<4xi1>
  // CHECK-NEXT:    %0 = xori %arg0, %true : tile<4xi1>
  // CHECK-NEXT:    return %arg0, %0 : tile<4xi1>, tile<4xi1>
  // CHECK-NEXT:  }
  testing$func @select_bool(%c: tile<4xi1>) -> (tile<4xi1>, tile<4xi1>) {
    %t = constant <i1: true> : tile<4xi1>
    %f = constant <i1: false> : tile<4xi1>
    %0 = select %c, %t, %f : tile<4xi1>, tile<4xi1>
    %1 = select %c, %f, %t : tile<4xi1>, tile<4xi1>
    return %0, %1 : tile<4xi1>, tile<4xi1>
  }

  // (a == b) ? a : b == b; other comparisons are kept.
  // CHECK-LABEL: testing$func @select_compared(
  // CHECK-NEXT:    %0 = cmpi less_than %arg0, %arg1, signed : tile<i32> -> tile<i1>
  // CHECK-NEXT:    %1 = select %0, %arg0, %arg1 : tile<i1>, tile<i32>
  // CHECK-NEXT:    return %arg1, %arg1, %1 : tile<i32>, tile<i32>, tile<i32>
  // CHECK-NEXT:  }
  testing$func @select_compared(%a: tile<i32>, %b: tile<i32>) -> (tile<i32>, tile<i32>, tile<i32>) {
    %e = cmpi equal %a, %b, signed : tile<i32> -> tile<i1>
    %n = cmpi not_equal %a, %b, signed : tile<i32> -> tile<i1>
    %l = cmpi less_than %a, %b, signed : tile<i32> -> tile<i1>
    %0 = select %e, %a, %b : tile<i1>, tile<i32>
    %1 = select %n, %b, %a : tile<i1>, tile<i32>
    %2 = select %l, %a, %b : tile<i1>, tile<i32>
    return %0, %1, %2 : tile<i32>, tile<i32>, tile<i32>
  }

  // !c ? x : y == c ? y : x.
  // CHECK-LABEL: testing$func @select_negated(
  // CHECK-NEXT:    %0 = select %arg0, %arg2, %arg1 : tile<i1>, tile<i32>
  // CHECK-NEXT:    return %0 : tile<i32>
  // CHECK-NEXT:  }
  testing$func @select_negated(%c: tile<i1>, %a: tile<i32>, %b: tile<i32>) -> tile<i32> {
    %t = constant <i1: true> : tile<i1>
    %n = xori %c, %t : tile<i1>
    %0 = select %n, %a, %b : tile<i1>, tile<i32>
    return %0 : tile<i32>
  }

  // an arm that selects on the same condition is replaced by its own arm.
  // CHECK-LABEL: testing$func @select_nested(
  // CHECK-NEXT:    %0 = select %arg0, %arg1, %arg3 : tile<i1>, tile<i32>
  // CHECK-NEXT:    %1 = select %arg0, %arg3, %arg2 : tile<i1>, tile<i32>
  // CHECK-NEXT:    return %0, %1 : tile<i32>, tile<i32>
  // CHECK-NEXT:  }
  testing$func @select_nested(%c: tile<i1>, %x: tile<i32>, %y: tile<i32>, %z: tile<i32>) -> (tile<i32>, tile<i32>) {
    %0 = select %c, %x, %y : tile<i1>, tile<i32>
    %1 = select %c, %0, %z : tile<i1>, tile<i32>
    %2 = select %c, %z, %0 : tile<i1>, tile<i32>
    return %1, %2 : tile<i32>, tile<i32>
  }

  // constants are selected element by element.
  // CHECK-LABEL: testing$func @select_constants(
  // CHECK-NEXT:    %cst_i32 = constant <i32: [1, 9]> : tile<2xi32>
  // CHECK-NEXT:    %cst_f32 = constant <f32: [1.000000e+00, 4.000000e+00]> : tile<2xf32>
  // CHECK-NEXT:    return %cst_i32, %cst_f32 : tile<2xi32>, tile<2xf32>
  // CHECK-NEXT:  }
  testing$func @select_constants() -> (tile<2xi32>, tile<2xf32>) {
    %c = constant <i1: [true, false]> : tile<2xi1>
    %a = constant <i32: [1, 2]> : tile<2xi32>
    %b = constant <i32: 9> : tile<2xi32>
    %x = constant <f32: 1.0> : tile<2xf32>
    %y = constant <f32: [3.0, 4.0]> : tile<2xf32>
    %0 = select %c, %a, %b : tile<2xi1>, tile<2xi32>
    %1 = select %c, %x, %y : tile<2xi1>, tile<2xf32>
    return %0, %1 : tile<2xi32>, tile<2xf32>
  }

  // c ? 1 : 0 == zext(c), c ? 0 : 1 == zext(!c).
  // CHECK-LABEL: testing$func @select_extend(
  // CHECK-NEXT:    %true = constant <i1: true> : tile<4xi1>
  // CHECK-NEXT:    %0 = exti %arg0 unsigned : tile<4xi1> -> tile<4xi32>
  // CHECK-NEXT:    %1 = xori %arg0, %true : tile<4xi1>
  // CHECK-NEXT:    %2 = exti %1 unsigned : tile<4xi1> -> tile<4xi32>
  // CHECK-NEXT:    return %0, %2 : tile<4xi32>, tile<4xi32>
  // CHECK-NEXT:  }
  testing$func @select_extend(%c: tile<4xi1>) -> (tile<4xi32>, tile<4xi32>) {
    %1 = constant <i32: 1> : tile<4xi32>
    %0 = constant <i32: 0> : tile<4xi32>
    %a = select %c, %1, %0 : tile<4xi1>, tile<4xi32>
    %b = select %c, %0, %1 : tile<4xi1>, tile<4xi32>
    return %a, %b : tile<4xi32>, tile<4xi32>
  }

  // if !c { A } else { B } == if c { B } else { A }.
  // CHECK-LABEL: testing$func @if_negated(
  // CHECK-NEXT:    if %arg0 {
  // CHECK-NEXT:      %0 = print_tko "else" -> token
  // CHECK-NEXT:    } else {
  // CHECK-NEXT:      %0 = print_tko "then" -> token
  // CHECK-NEXT:    }
  // CHECK-NEXT:    return
  // CHECK-NEXT:  }
  testing$func @if_negated(%c: tile<i1>) {
    %t = constant <i1: true> : tile<i1>
    %n = xori %c, %t : tile<i1>
    if %n {
      %unused = print_tko "then" -> token
    } else {
      %unused = print_tko "else" -> token
    }
    return
  }

  // unused results are not yielded.
  // CHECK-LABEL: testing$func @if_unused(
  // CHECK-NEXT:    %0 = if %arg0 -> (token) {
  // CHECK-NEXT:      %1 = print_tko "a" -> token
  // CHECK-NEXT:      %2 = print_tko "b" -> token
  // CHECK-NEXT:      yield %2 : token
  // CHECK-NEXT:    } else {
  // CHECK-NEXT:      %1 = print_tko "c" -> token
  // CHECK-NEXT:      yield %1 : token
  // CHECK-NEXT:    }
  // CHECK-NEXT:    return %0 : token
  // CHECK-NEXT:  }
  testing$func @if_unused(%c: tile<i1>) -> token {
    %0:2 = if %c -> (token, token) {
      %a = print_tko "a" -> token
      %b = print_tko "b" -> token
      yield %a, %b : token, token
    } else {
      %a = print_tko "c" -> token
      yield %a, %a : token, token
    }
    return %0#1 : token
  }

  // a value that both branches yield, the condition, and its negation.
  // CHECK-LABEL: testing$func @if_yield_values(
  // CHECK-NEXT:    %true = constant <i1: true> : tile<i1>
  // CHECK-NEXT:    %0 = xori %arg0, %true : tile<i1>
  // CHECK-NEXT:    if %arg0 {
  // CHECK-NEXT:      %1 = print_tko "a" -> token
  // CHECK-NEXT:    }
  // CHECK-NEXT:    return %arg1, %arg0, %0 : tile<i32>, tile<i1>, tile<i1>
  // CHECK-NEXT:  }
  testing$func @if_yield_values(%c: tile<i1>, %x: tile<i32>) -> (tile<i32>, tile<i1>, tile<i1>) {
    %t = constant <i1: true> : tile<i1>
    %f = constant <i1: false> : tile<i1>
    %0:3 = if %c -> (tile<i32>, tile<i1>, tile<i1>) {
      %unused = print_tko "a" -> token
      yield %x, %t, %f : tile<i32>, tile<i1>, tile<i1>
    } else {
      yield %x, %f, %t : tile<i32>, tile<i1>, tile<i1>
    }
    return %0#0, %0#1, %0#2 : tile<i32>, tile<i1>, tile<i1>
  }

  // a constant condition; what follows a branch that exits is dead.
  // CHECK-LABEL: testing$func @if_static(
  // CHECK-NEXT:    %0 = print_tko "always" -> token
  // CHECK-NEXT:    %1 = addi %arg0, %arg0 : tile<i32>
  // CHECK-NEXT:    return %1 : tile<i32>
  // CHECK-NEXT:  }
  testing$func @if_static(%x: tile<i32>) -> tile<i32> {
    %t = constant <i1: true> : tile<i1>
    %f = constant <i1: false> : tile<i1>
    if %f {
      %unused = print_tko "never" -> token
    }
    %0 = if %f -> (tile<i32>) {
      yield %x : tile<i32>
    } else {
      %unused = print_tko "always" -> token
      %1 = addi %x, %x : tile<i32>
      yield %1 : tile<i32>
    }
    if %t {
      return %0 : tile<i32>
    }
    %unused = print_tko "never" -> token
    return %x : tile<i32>
  }

  // constants are selected.
  // CHECK-LABEL: testing$func @if_select(
  // CHECK-NEXT:    %reshape = reshape %arg0 : tile<i1> -> tile<1xi1>
  // CHECK-NEXT:    %bcast = broadcast %reshape : tile<1xi1> -> tile<4xi1>
  // CHECK-NEXT:    %0 = select %bcast, %arg1, %arg2 : tile<4xi1>, tile<4xi32>
  // CHECK-NEXT:    %1 = select %arg0, %arg3, %arg4 : tile<i1>, tile<f32>
  // CHECK-NEXT:    if %arg0 {
  // CHECK-NEXT:    } else {
  // CHECK-NEXT:      %2 = print_tko "e" -> token
  // CHECK-NEXT:    }
  // CHECK-NEXT:    return %0, %1 : tile<4xi32>, tile<f32>
  // CHECK-NEXT:  }
  testing$func @if_select(%c: tile<i1>, %x: tile<4xi32>, %y: tile<4xi32>, %s: tile<f32>, %r: tile<f32>) -> (tile<4xi32>, tile<f32>) {
    %0:2 = if %c -> (tile<4xi32>, tile<f32>) {
      yield %x, %s : tile<4xi32>, tile<f32>
    } else {
      %unused = print_tko "e" -> token
      yield %y, %r : tile<4xi32>, tile<f32>
    }
    return %0#0, %0#1 : tile<4xi32>, tile<f32>
  }

  // a branch that exits does not affect the result.
  // CHECK-LABEL: testing$func @if_one_yield(
  // CHECK-NEXT:    if %arg0 {
  // CHECK-NEXT:    } else {
  // CHECK-NEXT:      return %arg1 : tile<i32>
  // CHECK-NEXT:    }
  // CHECK-NEXT:    %0 = addi %arg1, %arg1 : tile<i32>
  // CHECK-NEXT:    return %0 : tile<i32>
  // CHECK-NEXT:  }
  testing$func @if_one_yield(%c: tile<i1>, %x: tile<i32>) -> tile<i32> {
    %0 = if %c -> (tile<i32>) {
      yield %x : tile<i32>
    } else {
      return %x : tile<i32>
    }
    %1 = addi %0, %0 : tile<i32>
    return %1 : tile<i32>
  }

  // an empty else branch is removed.
  // CHECK-LABEL: testing$func @if_empty_else(
  // CHECK-NEXT:    if %arg0 {
  // CHECK-NEXT:      %0 = print_tko "t" -> token
  // CHECK-NEXT:    }
  // CHECK-NEXT:    return
  // CHECK-NEXT:  }
  testing$func @if_empty_else(%c: tile<i1>) {
    if %c {
      %unused = print_tko "t" -> token
    } else {
    }
    return
  }

  // adjacent ifs with the same condition are merged.
  // CHECK-LABEL: testing$func @if_combine(
  // CHECK-NEXT:    %0 = if %arg0 -> (token) {
  // CHECK-NEXT:      %1 = print_tko "1" -> token
  // CHECK-NEXT:      %2 = print_tko "3" token=%1 -> token
  // CHECK-NEXT:      yield %2 : token
  // CHECK-NEXT:    } else {
  // CHECK-NEXT:      %1 = print_tko "2" -> token
  // CHECK-NEXT:      return %1 : token
  // CHECK-NEXT:    }
  // CHECK-NEXT:    return %0 : token
  // CHECK-NEXT:  }
  testing$func @if_combine(%c: tile<i1>, %x: tile<i32>) -> token {
    %t = constant <i1: true> : tile<i1>
    %n = xori %c, %t : tile<i1>
    %0 = if %c -> (token) {
      %a = print_tko "1" -> token
      yield %a : token
    } else {
      %a = print_tko "2" -> token
      yield %a : token
    }
    %1 = if %c -> (token) {
      %a = print_tko "3" token=%0 -> token
      yield %a : token
    } else {
      return %0 : token
    }
    return %1 : token
  }

  // nothing is moved into a branch that exits.
  // CHECK-LABEL: testing$func @if_combine_exit(
  // CHECK-NEXT:    if %arg0 {
  // CHECK-NEXT:      %0 = print_tko "1" -> token
  // CHECK-NEXT:      return
  // CHECK-NEXT:    } else {
  // CHECK-NEXT:      %0 = print_tko "2" -> token
  // CHECK-NEXT:    }
  // CHECK-NEXT:    return
  // CHECK-NEXT:  }
  testing$func @if_combine_exit(%c: tile<i1>) {
    if %c {
      %unused = print_tko "1" -> token
      return
    }
    if %c {
      %unused = print_tko "dead" -> token
    } else {
      %unused = print_tko "2" -> token
    }
    return
  }

  // if a { if b { X } } == if a & b { X }.
  // CHECK-LABEL: testing$func @if_nested(
  // CHECK-NEXT:    %0 = select %arg0, %arg2, %arg3 : tile<i1>, tile<i32>
  // CHECK-NEXT:    %1 = andi %arg0, %arg1 : tile<i1>
  // CHECK-NEXT:    %2 = if %1 -> (tile<i32>) {
  // CHECK-NEXT:      %3 = print_tko "both" -> token
  // CHECK-NEXT:      %4 = addi %arg2, %arg3 : tile<i32>
  // CHECK-NEXT:      yield %4 : tile<i32>
  // CHECK-NEXT:    } else {
  // CHECK-NEXT:      yield %0 : tile<i32>
  // CHECK-NEXT:    }
  // CHECK-NEXT:    return %2 : tile<i32>
  // CHECK-NEXT:  }
  testing$func @if_nested(%a: tile<i1>, %b: tile<i1>, %x: tile<i32>, %y: tile<i32>) -> tile<i32> {
    %0 = if %a -> (tile<i32>) {
      %1 = if %b -> (tile<i32>) {
        %unused = print_tko "both" -> token
        %2 = addi %x, %y : tile<i32>
        yield %2 : tile<i32>
      } else {
        yield %x : tile<i32>
      }
      yield %1 : tile<i32>
    } else {
      yield %y : tile<i32>
    }
    return %0 : tile<i32>
  }

  // the same with an exit inside.
  // CHECK-LABEL: testing$func @if_nested_exit(
  // CHECK-NEXT:    loop {
  // CHECK-NEXT:      %0 = andi %arg0, %arg1 : tile<i1>
  // CHECK-NEXT:      if %0 {
  // CHECK-NEXT:        break
  // CHECK-NEXT:      }
  // CHECK-NEXT:    }
  // CHECK-NEXT:    return
  // CHECK-NEXT:  }
  testing$func @if_nested_exit(%a: tile<i1>, %b: tile<i1>) {
    loop {
      if %a {
        if %b {
          break
        }
      }
    }
    return
  }

  // the else branch moves after the if.
  // CHECK-LABEL: testing$func @if_both_exit(
  // CHECK-NEXT:    loop {
  // CHECK-NEXT:      if %arg0 {
  // CHECK-NEXT:        %1 = print_tko "t" -> token
  // CHECK-NEXT:        continue
  // CHECK-NEXT:      }
  // CHECK-NEXT:      %0 = print_tko "e" -> token
  // CHECK-NEXT:      break
  // CHECK-NEXT:    }
  // CHECK-NEXT:    return
  // CHECK-NEXT:  }
  testing$func @if_both_exit(%c: tile<i1>) {
    loop {
      if %c {
        %unused = print_tko "t" -> token
        continue
      } else {
        %unused = print_tko "e" -> token
        break
      }
      %unused = print_tko "dead" -> token
    }
    return
  }
}
