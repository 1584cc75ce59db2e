// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileir-attach-target)' | FileCheck %s
// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileir-attach-target{compute-capability=sm_90 opt-level=0})' | FileCheck %s --check-prefix=SM90
// RUN: not tileiras-opt %s --pass-pipeline='builtin.module(tileir-attach-target{compute-capability=sm_75})' 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not tileiras-opt %s --pass-pipeline='builtin.module(tileir-attach-target{opt-level=4})' 2>&1 | FileCheck %s --check-prefix=LEVEL

// Every gpu.module gets the target, in LLVM's terms; what it had is replaced.
gpu.module @first {
}
gpu.module @second [#nvvm.target<chip = "sm_50">] {
}
