// RUN: tileiras-opt %s --pass-pipeline='builtin.module(cuda_tile.module(cuda_tile.entry(loop-split)))' | FileCheck %s
// RUN: tileiras-opt %s --loop-split --canonicalize | FileCheck %s --check-prefix=CANONICAL

// After canonicalization, no use of the condition is left.
// CANONICAL-NOT: cmpi {{less|greater}}
cuda_tile.module @m {
  // First the iterations below the bound, then those above it. The second loop continues with the values that the
  // first one carries.
  // CHECK-LABEL: entry @less
  // CHECK: %[[END:.*]] = mini %arg0, %arg1 signed : tile<i32>
  // CHECK-NEXT: %[[START:.*]] = maxi %arg0, %[[LOWER:.*]] signed : tile<i32>
  // CHECK-NEXT: %[[FIRST:.*]] = for %[[I:.*]] in (%[[LOWER]] to %[[END]], step %{{.*}}) : tile<i32> iter_values(%[[A:.*]] = %[[LOWER]])
  // CHECK-NEXT: %[[X:.*]] = addi %[[A]], %[[I]]
  // CHECK-NEXT: continue %[[X]]
  // CHECK: %[[SECOND:.*]] = for %[[J:.*]] in (%[[START]] to %arg1, step %{{.*}}) : tile<i32> iter_values(%[[B:.*]] = %[[FIRST]])
  // CHECK-NEXT: %[[Y:.*]] = muli %[[B]], %[[J]]
  // CHECK-NEXT: continue %[[Y]]
  // CHECK: print_tko "%d", %[[SECOND]]
  entry @less(%bound: tile<i32>, %n: tile<i32>) {
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %r = for %i in (%zero to %n, step %one) : tile<i32> iter_values(%a = %zero) -> (tile<i32>) {
      %c = cmpi less_than %i, %bound, signed : tile<i32> -> tile<i1>
      %b = if %c -> (tile<i32>) {
        %x = addi %a, %i : tile<i32>
        yield %x : tile<i32>
      } else {
        %y = muli %a, %i : tile<i32>
        yield %y : tile<i32>
      }
      continue %b : tile<i32>
    } {cuda_tile.note = "kept", cuda_tile.loop_split = 1}
    print_tko "%d", %r : tile<i32> -> token
    return
  }

  // The reverse order with a strict comparison and a constant bound: bound + 1 cannot overflow.
  // CHECK-LABEL: entry @greater_mirrored
  // CHECK: %[[S:.*]] = addi %[[SEVEN:.*]], %{{.*}} : tile<i32>
  // CHECK-NEXT: mini %[[S]], %arg0 signed
  // CHECK-NEXT: maxi %[[S]], %{{.*}} signed
  // CHECK: for
  // CHECK-NEXT: print_tko "above"
  // CHECK-NOT: print_tko "below"
  // CHECK: for
  // CHECK-NEXT: print_tko "below"
  entry @greater_mirrored(%n: tile<i32>) {
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %seven = constant <i32: 7> : tile<i32>
    for %i in (%zero to %n, step %one) : tile<i32> {
      %c = cmpi less_than %seven, %i, signed : tile<i32> -> tile<i1>
      if %c {
        print_tko "below" -> token
      } else {
        print_tko "above" -> token
      }
    }
    return
  }

  // An unknown bound: bound + 1 is used only if the bound is less than the loop's end.
  // CHECK-LABEL: entry @unknown_bound
  // CHECK: %[[ONE:.*]] = constant <i32: 1> : tile<i32>
  // CHECK: %[[LAST:.*]] = subi %arg1, %[[ONE_AGAIN:.*]] : tile<i32>
  // CHECK-NEXT: %[[M:.*]] = mini %arg0, %[[LAST]] unsigned
  // CHECK-NEXT: %[[S:.*]] = addi %[[M]], %[[ONE_AGAIN]]
  // CHECK-NEXT: mini %[[S]], %arg1 unsigned
  // CHECK-NEXT: maxi %[[S]], %{{.*}} unsigned
  // CHECK: for unsigned
  // CHECK: for unsigned
  entry @unknown_bound(%bound: tile<i32>, %n: tile<i32>) {
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    for unsigned %i in (%zero to %n, step %one) : tile<i32> {
      %c = cmpi less_than_or_equal %i, %bound, unsigned : tile<i32> -> tile<i1>
      if %c {
        print_tko "first" -> token
      }
    }
    return
  }

  // The split point is a value of the induction variable.
  // CHECK-LABEL: entry @known_step
  // CHECK: %[[D:.*]] = subi %[[BOUND:.*]], %[[LOWER:.*]] : tile<i32>
  // CHECK-NEXT: %[[K:.*]] = divi %[[D]], %[[STEP:.*]] signed rounding<positive_inf> : tile<i32>
  // CHECK-NEXT: %[[P:.*]] = muli %[[K]], %[[STEP]] : tile<i32>
  // CHECK-NEXT: %[[S:.*]] = addi %[[LOWER]], %[[P]] : tile<i32>
  // CHECK-NEXT: mini %[[S]], %arg0 signed
  entry @known_step(%n: tile<i32>) {
    %lower = constant <i32: 2> : tile<i32>
    %step = constant <i32: 3> : tile<i32>
    %bound = constant <i32: 20> : tile<i32>
    for %i in (%lower to %n, step %step) : tile<i32> {
      %c = cmpi greater_than_or_equal %i, %bound, signed : tile<i32> -> tile<i1>
      if %c {
        print_tko "second" -> token
      }
    }
    return
  }

  // CHECK-LABEL: entry @unknown_step
  // CHECK: %[[C:.*]] = maxi %arg0, %arg2 signed
  // CHECK-NEXT: %[[S:.*]] = mini %[[C]], %arg1 signed
  // CHECK-NEXT: %[[D:.*]] = subi %[[S]], %arg2
  // CHECK-NEXT: %[[R:.*]] = remi %[[D]], %arg3 unsigned
  // CHECK-NEXT: %[[U:.*]] = subi %arg3, %[[R]]
  // CHECK-NEXT: %[[V:.*]] = subi %arg1, %[[S]]
  // CHECK-NEXT: %[[W:.*]] = mini %[[U]], %[[V]] unsigned
  // CHECK-NEXT: %[[ZERO:.*]] = constant <i32: 0> : tile<i32>
  // CHECK-NEXT: %[[Q:.*]] = cmpi equal %[[R]], %[[ZERO]], unsigned
  // CHECK-NEXT: %[[T:.*]] = select %[[Q]], %[[ZERO]], %[[W]]
  // CHECK-NEXT: %[[P:.*]] = addi %[[S]], %[[T]]
  // CHECK-NEXT: mini %[[P]], %arg1 signed
  // CHECK-NEXT: maxi %[[P]], %arg2 signed
  entry @unknown_step(%bound: tile<i32>, %n: tile<i32>, %lower: tile<i32>, %step: tile<i32>) {
    for %i in (%lower to %n, step %step) : tile<i32> {
      %c = cmpi less_than %i, %bound, signed : tile<i32> -> tile<i1>
      if %c {
        print_tko "first" -> token
      }
    }
    return
  }

  // A branch that continues with the next iteration: the code after it is removed from its loop and stays in the
  // other one.
  // CHECK-LABEL: entry @continue
  // CHECK: for
  // CHECK-NEXT: print_tko "skip"
  // CHECK-NEXT: continue %{{.*}} : tile<i32>
  // CHECK-NEXT: }
  // CHECK: for
  // CHECK-NEXT: print_tko "work"
  // CHECK-NEXT: continue
  entry @continue(%bound: tile<i32>, %n: tile<i32>) {
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %r = for %i in (%zero to %n, step %one) : tile<i32> iter_values(%a = %zero) -> (tile<i32>) {
      %c = cmpi less_than %i, %bound, signed : tile<i32> -> tile<i1>
      if %c {
        print_tko "skip" -> token
        continue %i : tile<i32>
      }
      print_tko "work" -> token
      continue %a : tile<i32>
    }
    print_tko "%d", %r : tile<i32> -> token
    return
  }

  // Other uses of the condition, and branches in nested operations, use a constant.
  // CHECK-LABEL: entry @other_uses
  // CHECK: for
  // CHECK: %[[TRUE:.*]] = constant <i1: true> : tile<i1>
  // CHECK-NEXT: print_tko "%d", %[[TRUE]]
  // CHECK: if %arg2
  // CHECK-NEXT: if %[[TRUE]]
  // CHECK: for
  // CHECK: %[[FALSE:.*]] = constant <i1: false> : tile<i1>
  // CHECK-NEXT: print_tko "%d", %[[FALSE]]
  // CHECK: if %arg2
  // CHECK-NEXT: if %[[FALSE]]
  entry @other_uses(%bound: tile<i32>, %n: tile<i32>, %q: tile<i1>) {
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    for %i in (%zero to %n, step %one) : tile<i32> {
      %c = cmpi less_than %i, %bound, signed : tile<i32> -> tile<i1>
      print_tko "%d", %c : tile<i1> -> token
      if %q {
        if %c {
          print_tko "first" -> token
        }
      }
    }
    return
  }

  // An inner loop is split before the outer one, so the outer one has two copies of both.
  // CHECK-LABEL: entry @nested
  // CHECK-COUNT-6: for %loopIdx
  // CHECK-NOT: for %loopIdx
  // CHECK: return
  entry @nested(%bound: tile<i32>, %n: tile<i32>) {
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    for %i in (%zero to %n, step %one) : tile<i32> {
      %c = cmpi less_than %i, %bound, signed : tile<i32> -> tile<i1>
      for %j in (%zero to %n, step %one) : tile<i32> {
        %d = cmpi less_than %j, %i, signed : tile<i32> -> tile<i1>
        if %d {
          print_tko "triangle" -> token
        }
      }
      if %c {
        print_tko "first" -> token
      }
    }
    return
  }
}
