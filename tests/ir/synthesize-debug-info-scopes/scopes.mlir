// RUN: tileiras-opt --with-aliases %s --split-input-file --mlir-print-debuginfo \
// RUN:   --pass-pipeline='builtin.module(cuda_tile.module(synthesize-debug-info-scopes))' | FileCheck %s

// No location is known: all debug information is made up, on line 1.
// CHECK-LABEL: entry @nothing()
// CHECK: return loc(#[[HERE:.*]])
// CHECK: } loc(#[[HERE]])
// CHECK-DAG: #[[FILE:.*]] = #cuda_tile.di_file<"<unknown>" in "">
// CHECK-DAG: #[[UNIT:.*]] = #cuda_tile.di_compile_unit<file = #[[FILE]]>
// CHECK-DAG: #[[PLACE:.*]] = loc("<unknown>":1:1)
// CHECK-DAG: #[[SCOPE:.*]] = #cuda_tile.di_subprogram<file = #[[FILE]], line = 1, name = "nothing", linkageName = "nothing", compileUnit = #[[UNIT]], scopeLine = 1>
// CHECK-DAG: #[[HERE]] = #cuda_tile.di_loc<#[[PLACE]] in #[[SCOPE]]>
cuda_tile.module @m {
  entry @nothing() {
    return loc(unknown)
  } loc(unknown)
} loc(unknown)

// -----

// File and line come from the function, whose file is not the module's. An operation without a location gets the
// function's.
// CHECK-LABEL: entry @places
// CHECK: make_token : token loc(#[[TOKEN:.*]])
// CHECK: make_token : token loc(#[[FUNCTION:.*]])
// CHECK: if {{.*}} {
// CHECK-NEXT: make_token : token loc(#[[INNER:.*]])
// CHECK-DAG: #[[FILE:.*]] = #cuda_tile.di_file<"k.py" in "src/lib">
// CHECK-DAG: #[[OTHER:.*]] = #cuda_tile.di_file<"main.py" in "">
// CHECK-DAG: #[[UNIT:.*]] = #cuda_tile.di_compile_unit<file = #[[OTHER]]>
// CHECK-DAG: #[[SCOPE:.*]] = #cuda_tile.di_subprogram<file = #[[FILE]], line = 5, name = "places", linkageName = "places", compileUnit = #[[UNIT]], scopeLine = 5>
// CHECK-DAG: #[[L5:.*]] = loc("src/lib/k.py":5:2)
// CHECK-DAG: #[[L7:.*]] = loc("src/lib/k.py":7:4)
// CHECK-DAG: #[[L9:.*]] = loc("src/lib/k.py":9:8)
// CHECK-DAG: #[[TOKEN]] = #cuda_tile.di_loc<#[[L7]] in #[[SCOPE]]>
// CHECK-DAG: #[[FUNCTION]] = #cuda_tile.di_loc<#[[L5]] in #[[SCOPE]]>
// CHECK-DAG: #[[INNER]] = #cuda_tile.di_loc<#[[L9]] in #[[SCOPE]]>
cuda_tile.module @m {
  entry @places(%c: tile<i1>) {
    %0 = make_token : token loc("src/lib/k.py":7:4)
    %1 = make_token : token loc(unknown)
    if %c {
      %2 = make_token : token loc("src/lib/k.py":9:8)
    } loc("src/lib/k.py":8:4)
    return loc("src/lib/k.py":10:4)
  } loc("src/lib/k.py":5:2)
} loc("main.py":1:1)

// -----

// Where a location is searched: in a name, in the caller, and in a fused location the first one that is itself a file
// location.
// CHECK-LABEL: entry @inside
// CHECK: make_token : token loc(#[[NAME:.*]])
// CHECK: make_token : token loc(#[[CALL:.*]])
// CHECK: make_token : token loc(#[[FUSED:.*]])
// CHECK: make_token : token loc(#[[NESTED:.*]])
// CHECK: return loc(#[[RANGE:.*]])
// CHECK-DAG: #[[L1:.*]] = loc("a.py":1:1)
// CHECK-DAG: #[[L2:.*]] = loc("a.py":2:2)
// CHECK-DAG: #[[L3:.*]] = loc("a.py":3:3)
// CHECK-DAG: #[[L4:.*]] = loc("a.py":4:4)
// CHECK-DAG: #[[L5:.*]] = loc("a.py":5:5)
// CHECK-DAG: #[[NAME]] = #cuda_tile.di_loc<#[[L1]] in
// CHECK-DAG: #[[CALL]] = #cuda_tile.di_loc<#[[L2]] in
// CHECK-DAG: #[[FUSED]] = #cuda_tile.di_loc<#[[L3]] in
// CHECK-DAG: #[[NESTED]] = #cuda_tile.di_loc<#[[L5]] in
// CHECK-DAG: #[[RANGE]] = #cuda_tile.di_loc<#[[L4]] in
cuda_tile.module @m {
  entry @inside() {
    %0 = make_token : token loc("x"("a.py":1:1))
    %1 = make_token : token loc(callsite("b.py":9:9 at "a.py":2:2))
    %2 = make_token : token loc(fused["x"("a.py":8:8), "a.py":3:3])
    %3 = make_token : token loc(fused["x"("a.py":8:8), "y"("a.py":8:9)])
    return loc("a.py":4:4 to 6:6)
  } loc("a.py":5:5)
}

// -----

// Existing scopes are kept.
// CHECK-LABEL: entry @known
// CHECK: make_token : token loc(#[[HERE:.*]])
// CHECK: } loc(#[[HERE]])
// CHECK-NOT: linkageName = "known", {{.*}}scopeLine
// CHECK: line = 15, name = "k", linkageName = "known"
// CHECK-NOT: linkageName = "known"
#file = #cuda_tile.di_file<"k.py" in "">
#unit = #cuda_tile.di_compile_unit<file = #file>
#function = #cuda_tile.di_subprogram<file = #file, line = 15, name = "k", linkageName = "known", compileUnit = #unit>
#here = loc(#cuda_tile.di_loc<loc("k.py":16:1) in #function>)
cuda_tile.module @m {
  entry @known() {
    %0 = make_token : token loc(#here)
    return loc(unknown)
  } loc(#here)
}
