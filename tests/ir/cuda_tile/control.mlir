// Reductions, scans, control flow, grid and debug operations. Printed once in the custom form and once via the generic form.
//
// RUN: tileiras-opt %s | tileiras-opt | FileCheck %s --strict-whitespace
// RUN: tileiras-opt %s -mlir-print-op-generic | tileiras-opt | FileCheck %s --strict-whitespace

// CHECK: cuda_tile.module @control {
cuda_tile.module @control {
  // CHECK: entry @aggregates() {
  entry @aggregates() {
    // CHECK: %cst_1_f32 = constant <f32: 1.000000e+00> : tile<4x8xf32>
    %a = constant <f32: 1.0> : tile<4x8xf32>
    // CHECK: %cst_1_i32 = constant <i32: 1> : tile<4x8xi32>
    %b = constant <i32: 1> : tile<4x8xi32>
    // CHECK: %reduce = reduce %cst_1_f32 dim=1 identities=[0.000000e+00 : f32] : tile<4x8xf32> -> tile<4xf32>
    %0 = reduce %a dim=1 identities=[0.0 : f32] : tile<4x8xf32> -> tile<4xf32>
    // CHECK: (%reduce_lhs: tile<f32>, %reduce_rhs: tile<f32>) {
    (%x: tile<f32>, %y: tile<f32>) {
      // CHECK: %1 = addf %reduce_lhs, %reduce_rhs  : tile<f32>
      %s = addf %x, %y : tile<f32>
      // CHECK: yield %1 : tile<f32>
      yield %s : tile<f32>
    }
    // CHECK: %reduce_0:2 = reduce %cst_1_f32, %cst_1_i32 dim=0 identities=[0.000000e+00 : f32, 0 : i32] : tile<4x8xf32>, tile<4x8xi32> -> tile<8xf32>, tile<8xi32>
    %1:2 = reduce %a, %b dim=0 identities=[0.0 : f32, 0 : i32] : tile<4x8xf32>, tile<4x8xi32> -> tile<8xf32>, tile<8xi32>
    // CHECK: (%reduce_lhs0: tile<f32>, %reduce_rhs0: tile<f32>, %reduce_lhs1: tile<i32>, %reduce_rhs1: tile<i32>) {
    (%x: tile<f32>, %y: tile<f32>, %i: tile<i32>, %j: tile<i32>) {
      // CHECK: yield %reduce_lhs0, %reduce_lhs1 : tile<f32>, tile<i32>
      yield %x, %i : tile<f32>, tile<i32>
    }
    // CHECK: %0 = scan %cst_1_f32 dim=1 reverse=true identities=[0.000000e+00 : f32] : tile<4x8xf32> -> tile<4x8xf32>
    %2 = scan %a dim=1 reverse=true identities=[0.0 : f32] : tile<4x8xf32> -> tile<4x8xf32>
    // CHECK: (%arg0: tile<f32>, %arg1: tile<f32>) {
    (%x: tile<f32>, %y: tile<f32>) {
      // CHECK: %1 = mulf %arg0, %arg1  : tile<f32>
      %s = mulf %x, %y : tile<f32>
      // CHECK: yield %1 : tile<f32>
      yield %s : tile<f32>
    }
    // CHECK: return
    return
  }
  // CHECK: entry @branches(%arg0: tile<i1>, %arg1: tile<i32>) {
  entry @branches(%c: tile<i1>, %n: tile<i32>) {
    // CHECK: if %arg0 {
    if %c {
    }
    // CHECK: if %arg0 {
    if %c {
      // CHECK: %2 = print_tko "then" -> token
      print_tko "then" -> token
    // CHECK: } else {
    } else {
      // CHECK: %2 = print_tko "else" -> token
      print_tko "else" -> token
    // CHECK: } {note = "kept"}
    } {note = "kept"}
    // CHECK: %0 = if %arg0 -> (tile<i32>) {
    %0 = if %c -> (tile<i32>) {
      // CHECK: yield %arg1 : tile<i32>
      yield %n : tile<i32>
    // CHECK: } else {
    } else {
      // CHECK: return
      return
    }
    // CHECK: %1:2 = if %arg0 -> (tile<i32>, tile<i1>) {
    %1:2 = if %c -> (tile<i32>, tile<i1>) {
      // CHECK: yield %arg1, %arg0 : tile<i32>, tile<i1>
      yield %n, %c : tile<i32>, tile<i1>
    // CHECK: } else {
    } else {
      // CHECK: yield %0, %arg0 : tile<i32>, tile<i1>
      yield %0, %c : tile<i32>, tile<i1>
    }
    // CHECK: return
    return
  }
  // CHECK: entry @loops(%arg0: tile<i32>, %arg1: tile<i1>) {
  entry @loops(%n: tile<i32>, %c: tile<i1>) {
    // CHECK: %cst_0_i32 = constant <i32: 0> : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    // CHECK: %cst_1_i32 = constant <i32: 1> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    // CHECK: for %loopIdx in (%cst_0_i32 to %arg0, step %cst_1_i32) : tile<i32> {
    for %i in (%zero to %n, step %one) : tile<i32> {
    }
    // CHECK: for unsigned %loopIdx in (%cst_0_i32 to %arg0, step %cst_1_i32) : tile<i32> {
    for unsigned %i in (%zero to %n, step %one) : tile<i32> {
      // CHECK: if %arg1 {
      if %c {
        // CHECK: continue
        continue
      }
    // CHECK: } {note = "kept"}
    } {note = "kept"}
    // CHECK: %for:2 = for %loopIdx in (%cst_0_i32 to %arg0, step %cst_1_i32) : tile<i32> iter_values(%iterArg0 = %cst_0_i32, %iterArg1 = %arg1) -> (tile<i32>, tile<i1>) {
    %0:2 = for %i in (%zero to %n, step %one) : tile<i32> iter_values(%a = %zero, %b = %c) -> (tile<i32>, tile<i1>) {
      // CHECK: %2 = addi %iterArg0, %loopIdx : tile<i32>
      %s = addi %a, %i : tile<i32>
      // CHECK: continue %2, %iterArg1 : tile<i32>, tile<i1>
      continue %s, %b : tile<i32>, tile<i1>
    }
    // CHECK: loop {
    loop {
      // CHECK: if %arg1 {
      if %c {
        // CHECK: break
        break
      }
    }
    // CHECK: %0 = loop : tile<i32> {
    %1 = loop : tile<i32> {
      // CHECK: break %arg0 : tile<i32>
      break %n : tile<i32>
    }
    // CHECK: %1 = loop iter_values(%arg2 = %cst_0_i32) : tile<i32> -> tile<i1> {
    %2 = loop iter_values(%a = %zero) : tile<i32> -> tile<i1> {
      // CHECK: if %arg1 {
      if %c {
        // CHECK: break %arg1 : tile<i1>
        break %c : tile<i1>
      }
      // CHECK: continue %arg2 : tile<i32>
      continue %a : tile<i32>
    }
    // CHECK: loop iter_values(%arg2 = %cst_0_i32, %arg3 = %arg1) : tile<i32>, tile<i1> {
    loop iter_values(%a = %zero, %b = %c) : tile<i32>, tile<i1> {
      // CHECK: if %arg3 {
      if %b {
        // CHECK: break
        break
      }
      // CHECK: continue %arg2, %arg3 : tile<i32>, tile<i1>
      continue %a, %b : tile<i32>, tile<i1>
    // CHECK: } {note = "kept"}
    } {note = "kept"}
    // CHECK: return
    return
  }
  // CHECK: entry @grid() {
  entry @grid() {
    // CHECK: %blockId_x, %blockId_y, %blockId_z = get_tile_block_id : tile<i32>
    %x, %y, %z = get_tile_block_id : tile<i32>
    // CHECK: %gridSize_x, %gridSize_y, %gridSize_z = get_num_tile_blocks : tile<i32>
    %0, %1, %2 = get_num_tile_blocks : tile<i32>
    // CHECK: return
    return
  }
  // CHECK: entry @debug(%arg0: tile<i1>, %arg1: tile<i32>, %arg2: tile<ptr<f32>>) {
  entry @debug(%c: tile<i1>, %n: tile<i32>, %p: tile<ptr<f32>>) {
    // CHECK: assert %arg0, "must hold" : tile<i1>
    assert %c, "must hold" : tile<i1>
    // CHECK: %0 = make_token : token
    %t = make_token : token
    // CHECK: %1 = print_tko "plain %%" -> token
    %0 = print_tko "plain %%" -> token
    // CHECK: %2 = print_tko "%d and %-5.3lld", %arg1, %arg1 token=%0 : tile<i32>, tile<i32> -> token
    %1 = print_tko "%d and %-5.3lld", %n, %n token=%t : tile<i32>, tile<i32> -> token
    // CHECK: %assume = assume div_by<16>, %arg2 : tile<ptr<f32>>
    %2 = assume div_by<16>, %p : tile<ptr<f32>>
    // CHECK: %assume_0 = assume bounded<0, ?>, %arg1 : tile<i32>
    %3 = assume bounded<0, ?>, %n : tile<i32>
    // CHECK: %assume_assume = assume bounded<-3, 7>, %assume_0 : tile<i32>
    %4 = assume bounded<-3, 7>, %3 : tile<i32>
    // CHECK: %3 = iota : tile<16xi32>
    %5 = iota : tile<16xi32>
    // CHECK: %assume_1 = assume div_by<4, every 4 along 0>, %3 : tile<16xi32>
    %6 = assume div_by<4, every 4 along 0>, %5 : tile<16xi32>
    // CHECK: %assume_2 = assume same_elements<[4]>, %3 : tile<16xi32>
    %7 = assume #cuda_tile.same_elements<[4]>, %5 : tile<16xi32>
    // CHECK: %assume_3 = assume bounded<?, ?>, %3 : tile<16xi32>
    %8 = assume bounded<?, ?>, %5 : tile<16xi32>
    // CHECK: return
    return
  }
}
