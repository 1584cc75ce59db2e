// Purity: which operations may be moved, merged or removed.
//
// RUN: tileiras-opt %s --loop-invariant-code-motion | FileCheck %s --check-prefix=LICM
// RUN: tileiras-opt %s --cse --canonicalize | FileCheck %s --check-prefix=CSE

cuda_tile.module @m {
  // A division may trap on zero, so it stays in the loop, which may have zero iterations.
  // LICM-LABEL: entry @hoist
  // LICM: remi
  // LICM-NEXT: for
  // LICM-NEXT: divi
  // LICM-NEXT: addi
  entry @hoist(%a: tile<i32>, %b: tile<i32>) {
    for %i in (%a to %b, step %a) : tile<i32> {
      %0 = divi %a, %b signed : tile<i32>
      %1 = remi %a, %b signed : tile<i32>
      %2 = addi %i, %1 : tile<i32>
      %t = print_tko "%d %d", %0, %2 : tile<i32>, tile<i32> -> token
    }
  }

  // LICM-LABEL: entry @hoist_from_loop
  // LICM: addi
  // LICM-NEXT: loop
  entry @hoist_from_loop(%a: tile<i32>, %c: tile<i1>) {
    loop {
      %0 = addi %a, %a : tile<i32>
      %t = print_tko "%d", %0 : tile<i32> -> token
      if %c {
        break
      }
    }
  }

  // Loads, assumptions and prints have unknown effects; arithmetic has none.
  // CSE-LABEL: entry @merge
  // CSE-NEXT: load_ptr_tko
  // CSE-NEXT: load_ptr_tko
  // CSE-NEXT: assume
  // CSE-NEXT: print_tko
  // CSE-NEXT: alloca
  // CSE-NEXT: return
  entry @merge(%p: tile<ptr<f32>>, %a: tile<i32>) {
    %0, %t0 = load_ptr_tko weak %p : tile<ptr<f32>> -> tile<f32>, token
    %1, %t1 = load_ptr_tko weak %p : tile<ptr<f32>> -> tile<f32>, token
    %2 = assume bounded<0, ?>, %a : tile<i32>
    %t2 = print_tko "x" -> token
    %3 = alloca num_elem = 1, alignment = 4 : tile<ptr<f32>>
    %4 = addi %a, %a : tile<i32>
    %5 = divi %a, %a signed : tile<i32>
  }

  // An `if` that exits is not dead, even if it looks empty.
  // CSE-LABEL: entry @exit
  // CSE-NEXT: if
  // CSE-NEXT: return
  // CSE: print_tko
  entry @exit(%c: tile<i1>) {
    if %c {
      return
    }
    %t = print_tko "x" -> token
  }
}
