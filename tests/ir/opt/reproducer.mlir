// If a pass fails, a file is written that reproduces the failure.
//
// RUN: not tileiras-opt %s --pass-pipeline='builtin.module(cse,convert-tileaa-to-tileas{num-warps=3})' \
// RUN:   --mlir-pass-pipeline-crash-reproducer=%t.mlir 2>&1 | FileCheck %s
// RUN: not tileiras-opt %t.mlir --run-reproducer 2>&1 | FileCheck %s
// RUN: FileCheck %s --input-file=%t.mlir --check-prefix=FILE

// CHECK: error: {{.*}}num-warps
// FILE: pipeline: "builtin.module(cse, convert-tileaa-to-tileas{compute-capability=sm_100 num-warps=3})"
module {
}
