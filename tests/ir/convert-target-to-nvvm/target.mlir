// RUN: tileiras-opt %s --pass-pipeline='builtin.module(convert-target-to-nvvm)' | FileCheck %s
// RUN: tileiras-opt %s --pass-pipeline='builtin.module(convert-target-to-nvvm{compute-capability=sm_90 opt-level=0})' | FileCheck %s --check-prefix=SM90
// RUN: not tileiras-opt %s --pass-pipeline='builtin.module(convert-target-to-nvvm{compute-capability=sm_75})' 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not tileiras-opt %s --pass-pipeline='builtin.module(convert-target-to-nvvm{opt-level=4})' 2>&1 | FileCheck %s --check-prefix=LEVEL

// Every gpu.module gets the target in LLVM's terms; an existing target is replaced.
gpu.module @first {
}
gpu.module @second [#nvvm.target<chip = "sm_50">] {
}

// The default is sm_100 at level 2, which MLIR does not print.
// CHECK: gpu.module @first [#nvvm.target<chip = "sm_100a", features = "+ptx88">]
// CHECK: gpu.module @second [#nvvm.target<chip = "sm_100a", features = "+ptx88">]
// SM90: gpu.module @first [#nvvm.target<O = 0, chip = "sm_90a", features = "+ptx83">]
// SM90: gpu.module @second [#nvvm.target<O = 0, chip = "sm_90a", features = "+ptx83">]
// UNKNOWN: error: unknown target 'sm_75'
// LEVEL: error: opt-level must be from 0 to 3, got 4
