// Loops that are not split.
//
// RUN: tileiras-opt %s --pass-pipeline='builtin.module(cuda_tile.module(cuda_tile.entry(loop-split)))' | FileCheck %s
// RUN: tileiras-opt %s --loop-split=split-threshold=0 | FileCheck %s --check-prefix=NEVER
// RUN: tileiras-opt %s --loop-split=split-threshold=3 | FileCheck %s --check-prefix=THREE

cuda_tile.module @m {
  // CHECK-LABEL: entry @bound_inside
  // CHECK: for
  // CHECK-NOT: for
  // CHECK: return
  entry @bound_inside(%n: tile<i32>) {
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    for %i in (%zero to %n, step %one) : tile<i32> {
      %bound = addi %i, %one : tile<i32>
      %c = cmpi less_than %i, %bound, signed : tile<i32> -> tile<i1>
      if %c {
        print_tko "yes" -> token
      }
    }
    return
  }

  // CHECK-LABEL: entry @other_signedness
  // CHECK: for
  // CHECK-NOT: for
  // CHECK: return
  entry @other_signedness(%bound: tile<i32>, %n: tile<i32>) {
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    for %i in (%zero to %n, step %one) : tile<i32> {
      %c = cmpi less_than %i, %bound, unsigned : tile<i32> -> tile<i1>
      if %c {
        print_tko "yes" -> token
      }
    }
    return
  }

  // CHECK-LABEL: entry @equality
  // CHECK: for
  // CHECK-NOT: for
  // CHECK: return
  entry @equality(%bound: tile<i32>, %n: tile<i32>) {
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    for %i in (%zero to %n, step %one) : tile<i32> {
      %c = cmpi equal %i, %bound, signed : tile<i32> -> tile<i1>
      if %c {
        print_tko "yes" -> token
      }
    }
    return
  }

  // No number is greater than the maximum.
  // CHECK-LABEL: entry @always
  // CHECK: for
  // CHECK-NOT: for
  // CHECK: return
  entry @always(%n: tile<i32>) {
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %most = constant <i32: 2147483647> : tile<i32>
    for %i in (%zero to %n, step %one) : tile<i32> {
      %c = cmpi less_than_or_equal %i, %most, signed : tile<i32> -> tile<i1>
      if %c {
        print_tko "yes" -> token
      }
    }
    return
  }

  // The innermost attribute has priority: on the branch, then the loop, then the function.
  // CHECK-LABEL: entry @attributes
  // CHECK-COUNT-4: for %loopIdx
  // CHECK-NOT: for %loopIdx
  // CHECK: return
  // NEVER-LABEL: entry @attributes
  // NEVER-COUNT-4: for %loopIdx
  // NEVER-NOT: for %loopIdx
  entry @attributes(%bound: tile<i32>, %n: tile<i32>) {
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    for %i in (%zero to %n, step %one) : tile<i32> {
      %c = cmpi less_than %i, %bound, signed : tile<i32> -> tile<i1>
      if %c {
        print_tko "no" -> token
      }
    }
    for %i in (%zero to %n, step %one) : tile<i32> {
      %c = cmpi less_than %i, %bound, signed : tile<i32> -> tile<i1>
      if %c {
        print_tko "no" -> token
      } {cuda_tile.loop_split = 0}
    } {cuda_tile.loop_split = 1}
    for %i in (%zero to %n, step %one) : tile<i32> {
      %c = cmpi less_than %i, %bound, signed : tile<i32> -> tile<i1>
      if %c {
        print_tko "yes" -> token
      }
    } {cuda_tile.loop_split = 1}
    return
  } {cuda_tile.loop_split = 0}

  // CHECK-LABEL: entry @size
  // CHECK-COUNT-6: for %loopIdx
  // THREE-LABEL: entry @size
  // THREE: for %loopIdx
  // THREE: print_tko "one"
  // THREE: for %loopIdx
  // THREE: print_tko "three"
  // THREE: for %loopIdx
  // THREE-NOT: print_tko "three"
  // THREE: for %loopIdx
  // THREE: load_ptr_tko
  // THREE: for %loopIdx
  // THREE-NOT: load_ptr_tko
  // THREE: return
  // NEVER-LABEL: entry @size
  // NEVER-COUNT-3: for %loopIdx
  // NEVER-NOT: for %loopIdx
  entry @size(%bound: tile<i32>, %n: tile<i32>, %p: tile<ptr<i32>>) {
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    for %i in (%zero to %n, step %one) : tile<i32> {
      %c = cmpi less_than %i, %bound, signed : tile<i32> -> tile<i1>
      if %c {
        print_tko "one" -> token
      }
    }
    for %i in (%zero to %n, step %one) : tile<i32> {
      %c = cmpi less_than %i, %bound, signed : tile<i32> -> tile<i1>
      if %c {
        print_tko "three" -> token
        print_tko "three" -> token
        print_tko "three" -> token
      }
    }
    // A load in the branch alone justifies a split.
    for %i in (%zero to %n, step %one) : tile<i32> {
      %c = cmpi less_than %i, %bound, signed : tile<i32> -> tile<i1>
      if %c {
        %v, %t = load_ptr_tko weak %p : tile<ptr<i32>> -> tile<i32>, token
      }
    }
    return
  }
}
