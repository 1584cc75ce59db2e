// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileir{opt-level=1 pipeline-strategy=none compute-capability=sm_90})' --dump-pass-pipeline -o %t 2>&1 | FileCheck %s --check-prefix=NONE-TIER
// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileir-finish{opt-level=1 pipeline-strategy=none compute-capability=sm_90})' --dump-pass-pipeline -o %t 2>&1 | FileCheck %s --check-prefix=NONE-FINISH
// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileir{opt-level=1 pipeline-strategy=unspecialize compute-capability=sm_90})' --dump-pass-pipeline -o %t 2>&1 | FileCheck %s --check-prefix=UNSPECIALIZE-TIER
// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileir-finish{opt-level=1 pipeline-strategy=unspecialize compute-capability=sm_90})' --dump-pass-pipeline -o %t 2>&1 | FileCheck %s --check-prefix=UNSPECIALIZE-FINISH
// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileir{opt-level=1 pipeline-strategy=warp-specialize compute-capability=sm_90})' --dump-pass-pipeline -o %t 2>&1 | FileCheck %s --check-prefix=AGENTS-TIER
// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileir-finish{opt-level=1 pipeline-strategy=warp-specialize compute-capability=sm_90})' --dump-pass-pipeline -o %t 2>&1 | FileCheck %s --check-prefix=AGENTS-FINISH

// Every pass of level 1, in order: first the tier, then what every level needs after it.
// The listings are renewed by: cargo xtask bless pipelines
module {}

// NONE-TIER: Pass Manager with 4 passes:
// NONE-TIER-NEXT: builtin.module(
// NONE-TIER-NEXT: convert-cudatile-to-tileaa{approx=false ftz=false numerics=default strict-types=},
// NONE-TIER-NEXT: tileir-insert-debug-scope{emission-kind=None},
// NONE-TIER-NEXT: canonicalize{{.*}},
// NONE-TIER-NEXT: cse
// NONE-TIER-NEXT: )

// NONE-FINISH: Pass Manager with 29 passes:
// NONE-FINISH-NEXT: builtin.module(
// NONE-FINISH-NEXT: convert-tileaa-to-tileas{compute-capability=sm_90 num-warps=0},
// NONE-FINISH-NEXT: tileas-slicing,
// NONE-FINISH-NEXT: tileas-assign-dot-layouts{compute-capability=sm_90 unit-scales=true},
// NONE-FINISH-NEXT: tileas-assign-load-store-layouts{compute-capability=sm_90},
// NONE-FINISH-NEXT: tileas-remove-layout-conversions,
// NONE-FINISH-NEXT: tileas-delay-loads,
// NONE-FINISH-NEXT: tileas-materialize-reductions,
// NONE-FINISH-NEXT: tileas-materialize-convert-layout{compute-capability=sm_90},
// NONE-FINISH-NEXT: tileas-order-memory,
// NONE-FINISH-NEXT: tileas-optimize-alloc-tensor,
// NONE-FINISH-NEXT: tileas-check-synchronization{remove-redundant-barriers=true},
// NONE-FINISH-NEXT: tileas-materialize-register-loops,
// NONE-FINISH-NEXT: tileas-clamp-indices,
// NONE-FINISH-NEXT: tileas-keep-addresses-in-loops,
// NONE-FINISH-NEXT: tileas-choose-register-forms,
// NONE-FINISH-NEXT: tileas-hoist-scalars,
// NONE-FINISH-NEXT: tileir-emit-host-wrapper{dump-host= host-triple=},
// NONE-FINISH-NEXT: convert-tileas-to-llvm{compute-capability=sm_90 index-bitwidth=0},
// NONE-FINISH-NEXT: tileir-sink-shared-loads,
// NONE-FINISH-NEXT: convert-tileas-to-nvgpu,
// NONE-FINISH-NEXT: tileir-verify-ops-analysis{compute-capability=sm_90 extended-smem=false},
// NONE-FINISH-NEXT: tileir-insert-debug-scope{emission-kind=None},
// NONE-FINISH-NEXT: tileir-gpu-module-prepare,
// NONE-FINISH-NEXT: convert-to-llvm{{.*}},
// NONE-FINISH-NEXT: convert-nvgpu-to-nvvm,
// NONE-FINISH-NEXT: reconcile-unrealized-casts,
// NONE-FINISH-NEXT: synthesize-debug-info-scopes{emission-kind=None},
// NONE-FINISH-NEXT: convert-target-to-nvvm{compute-capability=sm_90 opt-level=1},
// NONE-FINISH-NEXT: tileir-post-nvvm-finalize
// NONE-FINISH-NEXT: )

// UNSPECIALIZE-TIER: Pass Manager with 4 passes:
// UNSPECIALIZE-TIER-NEXT: builtin.module(
// UNSPECIALIZE-TIER-NEXT: convert-cudatile-to-tileaa{approx=false ftz=false numerics=default strict-types=},
// UNSPECIALIZE-TIER-NEXT: tileir-insert-debug-scope{emission-kind=None},
// UNSPECIALIZE-TIER-NEXT: canonicalize{{.*}},
// UNSPECIALIZE-TIER-NEXT: cse
// UNSPECIALIZE-TIER-NEXT: )

// UNSPECIALIZE-FINISH: Pass Manager with 29 passes:
// UNSPECIALIZE-FINISH-NEXT: builtin.module(
// UNSPECIALIZE-FINISH-NEXT: convert-tileaa-to-tileas{compute-capability=sm_90 num-warps=0},
// UNSPECIALIZE-FINISH-NEXT: tileas-slicing,
// UNSPECIALIZE-FINISH-NEXT: tileas-assign-dot-layouts{compute-capability=sm_90 unit-scales=true},
// UNSPECIALIZE-FINISH-NEXT: tileas-assign-load-store-layouts{compute-capability=sm_90},
// UNSPECIALIZE-FINISH-NEXT: tileas-remove-layout-conversions,
// UNSPECIALIZE-FINISH-NEXT: tileas-delay-loads,
// UNSPECIALIZE-FINISH-NEXT: tileas-materialize-reductions,
// UNSPECIALIZE-FINISH-NEXT: tileas-materialize-convert-layout{compute-capability=sm_90},
// UNSPECIALIZE-FINISH-NEXT: tileas-order-memory,
// UNSPECIALIZE-FINISH-NEXT: tileas-optimize-alloc-tensor,
// UNSPECIALIZE-FINISH-NEXT: tileas-check-synchronization{remove-redundant-barriers=true},
// UNSPECIALIZE-FINISH-NEXT: tileas-materialize-register-loops,
// UNSPECIALIZE-FINISH-NEXT: tileas-clamp-indices,
// UNSPECIALIZE-FINISH-NEXT: tileas-keep-addresses-in-loops,
// UNSPECIALIZE-FINISH-NEXT: tileas-choose-register-forms,
// UNSPECIALIZE-FINISH-NEXT: tileas-hoist-scalars,
// UNSPECIALIZE-FINISH-NEXT: tileir-emit-host-wrapper{dump-host= host-triple=},
// UNSPECIALIZE-FINISH-NEXT: convert-tileas-to-llvm{compute-capability=sm_90 index-bitwidth=0},
// UNSPECIALIZE-FINISH-NEXT: tileir-sink-shared-loads,
// UNSPECIALIZE-FINISH-NEXT: convert-tileas-to-nvgpu,
// UNSPECIALIZE-FINISH-NEXT: tileir-verify-ops-analysis{compute-capability=sm_90 extended-smem=false},
// UNSPECIALIZE-FINISH-NEXT: tileir-insert-debug-scope{emission-kind=None},
// UNSPECIALIZE-FINISH-NEXT: tileir-gpu-module-prepare,
// UNSPECIALIZE-FINISH-NEXT: convert-to-llvm{{.*}},
// UNSPECIALIZE-FINISH-NEXT: convert-nvgpu-to-nvvm,
// UNSPECIALIZE-FINISH-NEXT: reconcile-unrealized-casts,
// UNSPECIALIZE-FINISH-NEXT: synthesize-debug-info-scopes{emission-kind=None},
// UNSPECIALIZE-FINISH-NEXT: convert-target-to-nvvm{compute-capability=sm_90 opt-level=1},
// UNSPECIALIZE-FINISH-NEXT: tileir-post-nvvm-finalize
// UNSPECIALIZE-FINISH-NEXT: )

// AGENTS-TIER: Pass Manager with 4 passes:
// AGENTS-TIER-NEXT: builtin.module(
// AGENTS-TIER-NEXT: convert-cudatile-to-tileaa{approx=false ftz=false numerics=default strict-types=},
// AGENTS-TIER-NEXT: tileir-insert-debug-scope{emission-kind=None},
// AGENTS-TIER-NEXT: canonicalize{{.*}},
// AGENTS-TIER-NEXT: cse
// AGENTS-TIER-NEXT: )

// AGENTS-FINISH: Pass Manager with 29 passes:
// AGENTS-FINISH-NEXT: builtin.module(
// AGENTS-FINISH-NEXT: convert-tileaa-to-tileas{compute-capability=sm_90 num-warps=0},
// AGENTS-FINISH-NEXT: tileas-slicing,
// AGENTS-FINISH-NEXT: tileas-assign-dot-layouts{compute-capability=sm_90 unit-scales=true},
// AGENTS-FINISH-NEXT: tileas-assign-load-store-layouts{compute-capability=sm_90},
// AGENTS-FINISH-NEXT: tileas-remove-layout-conversions,
// AGENTS-FINISH-NEXT: tileas-delay-loads,
// AGENTS-FINISH-NEXT: tileas-materialize-reductions,
// AGENTS-FINISH-NEXT: tileas-materialize-convert-layout{compute-capability=sm_90},
// AGENTS-FINISH-NEXT: tileas-order-memory,
// AGENTS-FINISH-NEXT: tileas-optimize-alloc-tensor,
// AGENTS-FINISH-NEXT: tileas-check-synchronization{remove-redundant-barriers=true},
// AGENTS-FINISH-NEXT: tileas-materialize-register-loops,
// AGENTS-FINISH-NEXT: tileas-clamp-indices,
// AGENTS-FINISH-NEXT: tileas-keep-addresses-in-loops,
// AGENTS-FINISH-NEXT: tileas-choose-register-forms,
// AGENTS-FINISH-NEXT: tileas-hoist-scalars,
// AGENTS-FINISH-NEXT: tileir-emit-host-wrapper{dump-host= host-triple=},
// AGENTS-FINISH-NEXT: convert-tileas-to-llvm{compute-capability=sm_90 index-bitwidth=0},
// AGENTS-FINISH-NEXT: tileir-sink-shared-loads,
// AGENTS-FINISH-NEXT: convert-tileas-to-nvgpu,
// AGENTS-FINISH-NEXT: tileir-verify-ops-analysis{compute-capability=sm_90 extended-smem=false},
// AGENTS-FINISH-NEXT: tileir-insert-debug-scope{emission-kind=None},
// AGENTS-FINISH-NEXT: tileir-gpu-module-prepare,
// AGENTS-FINISH-NEXT: convert-to-llvm{{.*}},
// AGENTS-FINISH-NEXT: convert-nvgpu-to-nvvm,
// AGENTS-FINISH-NEXT: reconcile-unrealized-casts,
// AGENTS-FINISH-NEXT: synthesize-debug-info-scopes{emission-kind=None},
// AGENTS-FINISH-NEXT: convert-target-to-nvvm{compute-capability=sm_90 opt-level=1},
// AGENTS-FINISH-NEXT: tileir-post-nvvm-finalize
// AGENTS-FINISH-NEXT: )
