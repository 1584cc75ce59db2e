// Both spellings of both directions, and the printed text: only the cuda_tile.module, which the bytecode calls
// @kernels.
//
// RUN: tileiras-translate --mlir-to-tileirbc %s | tileiras-translate --tileirbc-to-mlir | FileCheck %s
// RUN: tileiras-translate -mlir-to-cudatilebc -no-implicit-module %s | tileiras-translate -cudatilebc-to-mlir | FileCheck %s
// RUN: tileiras-translate --mlir-to-cudatilebc %s -o %t.tileirbc
// RUN: tileiras-translate --tileirbc-to-mlir %t.tileirbc -no-implicit-module | FileCheck %s
//
// The printed text parses with or without a builtin.module around it.
// RUN: tileiras-translate --tileirbc-to-mlir %t.tileirbc | tileiras-opt --no-implicit-module | FileCheck %s
// RUN: tileiras-translate --tileirbc-to-mlir %t.tileirbc | tileiras-opt | FileCheck %s --check-prefix=WRAPPED
//
// Every version and container can hold this program.
// RUN: tileiras-translate --mlir-to-tileirbc --bytecode-version=13.1 %s | tileiras-translate --tileirbc-to-mlir | FileCheck %s
// RUN: tileiras-translate --mlir-to-tileirbc --bytecode-version 13.2 %s | tileiras-translate --tileirbc-to-mlir | FileCheck %s
// RUN: tileiras-translate --mlir-to-tileirbc -bytecode-version=13.3.7 %s | tileiras-translate --tileirbc-to-mlir | FileCheck %s
// RUN: tileiras-translate --mlir-to-tileirbc --bytecode-version=13.1 --container=spec %s \
// RUN:   | tileiras-translate --tileirbc-to-mlir --strict | FileCheck %s
//
// RUN: tileiras-translate --test-cudatile-roundtrip --no-implicit-module %s | FileCheck %s
// RUN: tileiras-translate --test-cudatile-roundtrip --bytecode-version=13.2 --generic-form %s | FileCheck %s --check-prefix=GENERIC
// RUN: tileiras-translate --test-cudatile-roundtrip --mlir-print-debuginfo %s | FileCheck %s --check-prefix=DEBUG
//
// RUN: tileiras-translate --list-versions | FileCheck %s --check-prefix=VERSIONS
// RUN: tileiras-translate --version | FileCheck %s --check-prefix=IDENTITY
// RUN: tileiras-translate --help | FileCheck %s --check-prefix=HELP
//
// RUN: not tileiras-translate --mlir-to-tileirbc --bytecode-version=12.0 %s 2>&1 | FileCheck %s --check-prefix=OLD
// RUN: not tileiras-translate --mlir-to-tileirbc --bytecode-version=13.3.1.1 %s 2>&1 | FileCheck %s --check-prefix=LONG
// RUN: not tileiras-translate --mlir-to-tileirbc --container=tar %s 2>&1 | FileCheck %s --check-prefix=CONTAINER
// RUN: not tileiras-translate --mlir-to-tileirbc --bytecode-version=13.2 --container=spec %s 2>&1 | FileCheck %s --check-prefix=SPEC
// RUN: not tileiras-translate --tileirbc-to-mlir %s 2>&1 | FileCheck %s --check-prefix=TEXT

// CHECK-NOT: module {
// CHECK: cuda_tile.module @kernels {
// CHECK-NEXT: entry @k(%arg0: tile<i32>) {
// CHECK-NEXT:   %0 = addi %arg0, %arg0 : tile<i32>
// CHECK-NEXT:   return

// WRAPPED: module {
// WRAPPED-NEXT: cuda_tile.module @kernels {

// GENERIC: "cuda_tile.module"() <{sym_name = "kernels"}> ({
// GENERIC: "cuda_tile.addi"

// DEBUG: addi %arg0, %arg0 : tile<i32> loc(#[[LOC:.*]])
// DEBUG: #[[LOC]] = #cuda_tile.di_loc<

// VERSIONS: 13.1
// VERSIONS-NEXT: 13.2
// VERSIONS-NEXT: 13.3
// VERSIONS-NEXT: 13.4
// VERSIONS-NEXT: 13.5
// VERSIONS-NOT: {{.}}

// IDENTITY: tileiras {{[0-9.]+}} (revision

// HELP-DAG: --bytecode-version=<major.minor[.tag]>
// HELP-DAG: --container=<container>
// HELP-DAG: --cudatilebc-to-mlir
// HELP-DAG: --list-versions
// HELP-DAG: --mlir-to-cudatilebc
// HELP-DAG: --mlir-to-tileirbc
// HELP-DAG: --no-implicit-module
// HELP-DAG: --strict
// HELP-DAG: --test-cudatile-roundtrip
// HELP-DAG: --tileirbc-to-mlir

// OLD: Invalid argument '12.0': the supported versions are [13.1 - 13.5]
// LONG: Invalid argument '13.3.1.1': the supported versions are [13.1 - 13.5]
// CONTAINER: Invalid argument 'tar': the containers are public and spec
// SPEC: unsupported {{.*}}13.2
// TEXT: error: error at offset 0: invalid magic number at position 0

#file = #cuda_tile.di_file<"a.py" in "">
#unit = #cuda_tile.di_compile_unit<file = #file>
#function = #cuda_tile.di_subprogram<file = #file, line = 1, name = "k", linkageName = "k", compileUnit = #unit>
#here = loc(#cuda_tile.di_loc<loc("a.py":2:3) in #function>)
cuda_tile.module @any {
  entry @k(%x: tile<i32>) {
    %y = addi %x, %x : tile<i32> loc(#here)
    return
  } loc(#here)
}
