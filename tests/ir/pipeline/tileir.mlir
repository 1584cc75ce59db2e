// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileir{opt-level=1})' --dump-pass-pipeline -o %t 2>&1 | FileCheck %s --check-prefix=O1
// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileir{opt-level=2 compute-capability=sm_90})' | FileCheck %s --check-prefix=O2
// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileir{opt-level=0 compute-capability=sm_90},tileir-finish{opt-level=0 compute-capability=sm_90})' | FileCheck %s --check-prefix=O0
// RUN: not tileiras-opt %s --pass-pipeline='builtin.module(tileir{warps=4})' 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not tileiras-opt %s --pass-pipeline='builtin.module(tileir{dynamic-persistent=true pipeline-strategy=warp-specialize opt-level=3 compute-capability=sm_90})' 2>&1 | FileCheck %s --check-prefix=MISSING

// O1: builtin.module(
// O1-NEXT: convert-cudatile-to-tileaa{{.*}},
// O1-NEXT: tileir-insert-debug-scope{{.*}},
// O1-NEXT: canonicalize{{.*}},
// O1-NEXT: cse
// O1-NEXT: )
// O2: llvm.func @k
// O2-SAME: nvvm.kernel
// O0: gpu.module @m [#nvvm.target<O = 0, chip = "sm_90a"
// O0: llvm.func @k
// UNKNOWN: unknown pipeline option 'warps'; the options are opt-level,
// MISSING: dynamic-persistent=true: sm_90 has no cluster launch control

cuda_tile.module @m {
  entry @k() {
    return
  }
}
