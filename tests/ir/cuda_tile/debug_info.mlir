// Debug information attributes, their aliases, and locations with a scope.
//
// RUN: tileiras-opt --with-aliases %s --mlir-print-debuginfo | tileiras-opt --with-aliases --mlir-print-debuginfo | FileCheck %s

#file = #cuda_tile.di_file<"f.py" in "/src">
#unit = #cuda_tile.di_compile_unit<file = #file>
#function = #cuda_tile.di_subprogram<file = #file, line = 1, name = "kernel", linkageName = "k", compileUnit = #unit, scopeLine = 2>
#block = #cuda_tile.di_lexical_block<scope = #function, file = #file, line = 3>
#inner = #cuda_tile.di_lexical_block<scope = #block, file = #file, line = 4, column = 5>
#loc_k = loc("f.py":1:1)
#loc_b = loc("f.py":4:2)

// CHECK: entry @k() {
// CHECK:   iota : tile<8xi32> loc([[INNER:#loc[0-9]*]])
// CHECK:   iota : tile<8xi32> loc([[CALL:#loc[0-9]*]])
// CHECK: } loc([[FUNC:#loc[0-9]*]])
// CHECK-DAG: #di_file = #cuda_tile.di_file<"f.py" in "/src">
// CHECK-DAG: #di_compile_unit = #cuda_tile.di_compile_unit<file = #di_file>
// CHECK-DAG: #di_subprogram = #cuda_tile.di_subprogram<file = #di_file, line = 1, name = "kernel", linkageName = "k", compileUnit = #di_compile_unit, scopeLine = 2>
// CHECK-DAG: #di_lexical_block = #cuda_tile.di_lexical_block<scope = #di_subprogram, file = #di_file, line = 3>
// CHECK-DAG: #di_lexical_block1 = #cuda_tile.di_lexical_block<scope = #di_lexical_block, file = #di_file, line = 4, column = 5>
// CHECK-DAG: [[FUNC]] = #cuda_tile.di_loc<#loc{{[0-9]*}} in #di_subprogram>
// CHECK-DAG: [[INNER]] = #cuda_tile.di_loc<#loc{{[0-9]*}} in #di_lexical_block1>
// CHECK-DAG: [[CALL]] = loc(callsite({{.*}} at [[INNER]]))
cuda_tile.module @kernels {
  entry @k() {
    %0 = iota : tile<8xi32> loc(#cuda_tile.di_loc<#loc_b in #inner>)
    %1 = iota : tile<8xi32> loc(callsite("callee.py":7:7 at #cuda_tile.di_loc<loc("f.py":4:2) in #inner>))
    return loc(#cuda_tile.di_loc<loc("f.py":9:2) in #function>)
  } loc(#cuda_tile.di_loc<#loc_k in #function>)
}
