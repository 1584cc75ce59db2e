// Scopes of functions, scopes of their operations, and operations that must not have a scope.
//
// RUN: not tileiras-opt %s --split-input-file 2>&1 | FileCheck %s

#file = #cuda_tile.di_file<"f.py" in "/src">
#unit = #cuda_tile.di_compile_unit<file = #file>
#f = #cuda_tile.di_subprogram<file = #file, line = 1, name = "f", linkageName = "f", compileUnit = #unit>
#block = #cuda_tile.di_lexical_block<scope = #f, file = #file, line = 3>

cuda_tile.module @m {
  // CHECK: error: {{.*}}invalid function debug info scope
  // CHECK: note: {{.*}}Function location must have cuda_tile.di_subprogram debug info scope
  entry @f() {
    return
  } loc(#cuda_tile.di_loc<loc("f.py":13:3) in #block>)
}

// -----

cuda_tile.module @m {
  // CHECK: error: {{.*}}invalid function debug info scope
  // CHECK: note: {{.*}}Function location must have cuda_tile.di_subprogram debug info scope
  entry @f() {
    return
  } loc(callsite("f" at "g"))
}

// -----

#file = #cuda_tile.di_file<"f.py" in "/src">
#unit = #cuda_tile.di_compile_unit<file = #file>
#test = #cuda_tile.di_subprogram<file = #file, line = 1, name = "test", linkageName = "test", compileUnit = #unit>

cuda_tile.module @m {
  // CHECK: error: {{.*}}invalid function debug info scope
  // CHECK: note: {{.*}}Function name "foo" does not match subprogram scope linkage name "test"
  entry @foo() {
    return
  } loc("name"(#cuda_tile.di_loc<loc("f.py":1:1) in #test>))
}

// -----

#file = #cuda_tile.di_file<"f.py" in "/src">
#unit = #cuda_tile.di_compile_unit<file = #file>
#f = #cuda_tile.di_subprogram<file = #file, line = 1, name = "f", linkageName = "f", compileUnit = #unit>

cuda_tile.module @m {
  entry @f() {
    // CHECK: error: {{.*}}invalid operation debug info scope
    // CHECK: note: {{.*}}Operation has debug info scope, but function debug info scope is undefined
    %0 = iota : tile<8xi32> loc(fused["x.py":1:1, #cuda_tile.di_loc<loc("f.py":1:1) in #f>])
    return
  }
}

// -----

#file = #cuda_tile.di_file<"f.py" in "/src">
#unit = #cuda_tile.di_compile_unit<file = #file>
#f = #cuda_tile.di_subprogram<file = #file, line = 1, name = "f", linkageName = "f", compileUnit = #unit>
#g = #cuda_tile.di_subprogram<file = #file, line = 9, name = "g", linkageName = "g", compileUnit = #unit>
#block = #cuda_tile.di_lexical_block<scope = #g, file = #file, line = 10>

cuda_tile.module @m {
  entry @f(%c: tile<i1>) {
    if %c {
      // CHECK: error: {{.*}}invalid operation debug info scope
      // CHECK: note: {{.*}}Operation debug info scope does not match function debug info scope
      %0 = iota : tile<8xi32> loc(callsite("callee" at #cuda_tile.di_loc<loc("f.py":1:1) in #block>))
    }
    return
  } loc(#cuda_tile.di_loc<loc("f.py":1:1) in #f>)
}

// -----

#file = #cuda_tile.di_file<"f.py" in "/src">
#unit = #cuda_tile.di_compile_unit<file = #file>
#f = #cuda_tile.di_subprogram<file = #file, line = 1, name = "f", linkageName = "f", compileUnit = #unit>

cuda_tile.module @m {
  // CHECK: error: {{.*}}invalid operation debug info scope
  // CHECK: note: {{.*}}Global variables must not have scope
  global @g <f32: [1.0]> : tile<1xf32> loc(#cuda_tile.di_loc<loc("f.py":1:1) in #f>)
}

// -----

// CHECK: error: {{.*}}expected a parameter name in struct
#file = #cuda_tile.di_compile_unit<>

// -----

#file = #cuda_tile.di_file<"f.py" in "/src">
#unit = #cuda_tile.di_compile_unit<file = #file>
// CHECK: error: {{.*}}struct is missing required parameter: name
#f = #cuda_tile.di_subprogram<file = #file, line = 1, linkageName = "f", compileUnit = #unit>

// -----

#file = #cuda_tile.di_file<"f.py" in "/src">
#unit = #cuda_tile.di_compile_unit<file = #file>
// CHECK: error: {{.*}}struct is missing required parameter: linkageName
#f = #cuda_tile.di_subprogram<file = #file, line = 1, name = "f", compileUnit = #unit>
