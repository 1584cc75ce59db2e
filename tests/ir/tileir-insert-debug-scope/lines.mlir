// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileir-insert-debug-scope{emission-kind=DebugDirectivesOnly})' --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s
// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileir-insert-debug-scope{emission-kind=DebugDirectivesOnly},tileir-insert-debug-scope{emission-kind=DebugDirectivesOnly})' --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s

// If line information is emitted, each op has its location in LLVM's terms: its scope with the scope's file, and the
// call sites of inlined code. A second run of the pass changes nothing.
#main = #cuda_tile.di_file<"main.py" in "src">
#a = #cuda_tile.di_file<"a.py" in "src">
#h = #cuda_tile.di_file<"helper.py" in "lib">
#unit = #cuda_tile.di_compile_unit<file = #main>
#unit_h = #cuda_tile.di_compile_unit<file = #h>
#kernel = #cuda_tile.di_subprogram<file = #a, line = 9, name = "kernel", linkageName = "k", compileUnit = #unit, scopeLine = 10>
#help = #cuda_tile.di_subprogram<file = #h, line = 770, name = "help", linkageName = "help_1", compileUnit = #unit_h, scopeLine = 771>
#inner = #cuda_tile.di_subprogram<file = #h, line = 800, name = "inner", linkageName = "inner", compileUnit = #unit_h, scopeLine = 800>
#inner_block = #cuda_tile.di_lexical_block<scope = #inner, file = #h, line = 801, column = 2>
#head = loc(#cuda_tile.di_loc<loc("src/a.py":10:1) in #kernel>)
#own = loc(#cuda_tile.di_loc<loc("src/a.py":11:5) in #kernel>)
#site = loc(#cuda_tile.di_loc<loc("src/a.py":13:5) in #kernel>)
#generated = loc(#cuda_tile.di_loc<loc("src/generated.py":3:1) in #kernel>)
#helper = loc(#cuda_tile.di_loc<loc("lib/helper.py":777:3) in #help>)
#block = loc(#cuda_tile.di_loc<loc("lib/helper.py":802:4) in #inner_block>)
gpu.module @kernels {
  // CHECK-LABEL: nv_tileaa.func @k
  nv_tileaa.func @k(%x: i32) {
    // In the scope of the function itself.
    // CHECK: arith.addi {{.*}} loc("src/a.py":11:5)
    %0 = arith.addi %x, %x : i32 loc(#own)
    // An inlined helper from another file: its own subprogram in its own unit.
    // CHECK: arith.subi {{.*}} loc(callsite(fused<#llvm.di_subprogram<{{.*}}compileUnit = <{{.*}}file = <"helper.py" in "lib">{{.*}}scope = #llvm.di_file<"helper.py" in "lib">, name = "help", linkageName = "help_1", file = <"helper.py" in "lib">, line = 770, scopeLine = 771,{{.*}}>["lib/helper.py":777:3] at "src/a.py":13:5))
    %1 = arith.subi %0, %x : i32 loc(callsite(#helper at #site))
    // An inlined function that the helper calls, in a lexical block.
    // CHECK: arith.muli {{.*}} loc(callsite(fused<#llvm.di_lexical_block<scope = #llvm.di_subprogram<{{.*}}name = "inner"{{.*}}file = <"helper.py" in "lib">, line = 801, column = 2>>["lib/helper.py":802:4] at callsite(fused<#llvm.di_subprogram<{{.*}}name = "help"{{.*}}>["lib/helper.py":777:3] at "src/a.py":13:5)))
    %2 = arith.muli %1, %x : i32 loc(callsite(#block at callsite(#helper at #site)))
    // A location in another file than its scope's.
    // CHECK: arith.ori {{.*}} loc(fused<#llvm.di_lexical_block_file<scope = #llvm.di_subprogram<{{.*}}name = "kernel"{{.*}}file = <"generated.py" in "src">, discriminator = 0>>["src/generated.py":3:1])
    %3 = arith.ori %2, %x : i32 loc(#generated)
    // A function of which only the name is known.
    // CHECK: arith.xori {{.*}} loc(callsite(fused<#llvm.di_subprogram<{{.*}}name = "plain"{{.*}}line = 5{{.*}}>["lib/plain.py":5:1] at "src/a.py":14:5))
    %4 = arith.xori %3, %x : i32 loc(callsite("plain"("lib/plain.py":5:1) at "src/a.py":14:5))
    // Without inlining, a kernel cannot be in the subprogram of another function: the scope is dropped, and the
    // location is kept.
    // CHECK: arith.andi {{.*}} loc(fused<#llvm.di_lexical_block_file<scope = #llvm.di_subprogram<{{.*}}name = "kernel"{{.*}}file = <"helper.py" in "lib">, discriminator = 0>>["lib/helper.py":777:3])
    %5 = arith.andi %4, %x : i32 loc(#helper)
    // CHECK: nv_tileaa.return loc("src/a.py":10:1)
    nv_tileaa.return loc(unknown)
  // The unit's file is that of the producer, and the line of the scope differs from the line of the function's head.
  // CHECK: } loc(fused<#llvm.di_subprogram<{{.*}}compileUnit = <{{.*}}file = <"main.py" in "src">{{.*}}emissionKind = DebugDirectivesOnly, nameTableKind = None>{{.*}}name = "kernel", linkageName = "k", file = <"a.py" in "src">, line = 9, scopeLine = 10,{{.*}}>["src/a.py":10:1])
  } loc(#head)
}
