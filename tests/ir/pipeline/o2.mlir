// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileir{opt-level=2 pipeline-strategy=none compute-capability=sm_90})' --dump-pass-pipeline -o %t 2>&1 | FileCheck %s --check-prefix=NONE-TIER
// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileir-finish{opt-level=2 pipeline-strategy=none compute-capability=sm_90})' --dump-pass-pipeline -o %t 2>&1 | FileCheck %s --check-prefix=NONE-FINISH
// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileir{opt-level=2 pipeline-strategy=unspecialize compute-capability=sm_90})' --dump-pass-pipeline -o %t 2>&1 | FileCheck %s --check-prefix=UNSPECIALIZE-TIER
// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileir-finish{opt-level=2 pipeline-strategy=unspecialize compute-capability=sm_90})' --dump-pass-pipeline -o %t 2>&1 | FileCheck %s --check-prefix=UNSPECIALIZE-FINISH
// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileir{opt-level=2 pipeline-strategy=warp-specialize compute-capability=sm_90})' --dump-pass-pipeline -o %t 2>&1 | FileCheck %s --check-prefix=AGENTS-TIER
// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileir-finish{opt-level=2 pipeline-strategy=warp-specialize compute-capability=sm_90})' --dump-pass-pipeline -o %t 2>&1 | FileCheck %s --check-prefix=AGENTS-FINISH

// Every pass of level 2, in order: first the tier, then what every level needs after it.
// The listings are renewed by: cargo xtask bless pipelines
module {}

// NONE-TIER: Pass Manager with 25 passes:
// NONE-TIER-NEXT: builtin.module(
// NONE-TIER-NEXT: convert-cudatile-to-tileaa{approx=false ftz=false numerics=default strict-types=},
// NONE-TIER-NEXT: tileir-insert-debug-scope{emission-kind=None},
// NONE-TIER-NEXT: canonicalize{{.*}},
// NONE-TIER-NEXT: cse,
// NONE-TIER-NEXT: convert-tileaa-to-tileas{compute-capability=sm_90 num-warps=0},
// NONE-TIER-NEXT: tileas-slicing,
// NONE-TIER-NEXT: tileas-assign-dot-layouts{compute-capability=sm_90 unit-scales=true},
// NONE-TIER-NEXT: tileas-assign-load-store-layouts{compute-capability=sm_90},
// NONE-TIER-NEXT: tileas-remove-layout-conversions,
// NONE-TIER-NEXT: tileas-delay-loads,
// NONE-TIER-NEXT: tileas-materialize-reductions,
// NONE-TIER-NEXT: tileas-materialize-convert-layout{compute-capability=sm_90},
// NONE-TIER-NEXT: tileas-order-memory,
// NONE-TIER-NEXT: tileas-optimize-alloc-tensor,
// NONE-TIER-NEXT: tileas-check-synchronization{remove-redundant-barriers=true},
// NONE-TIER-NEXT: tileas-materialize-register-loops,
// NONE-TIER-NEXT: tileas-clamp-indices,
// NONE-TIER-NEXT: tileas-keep-addresses-in-loops,
// NONE-TIER-NEXT: tileas-choose-register-forms,
// NONE-TIER-NEXT: tileas-hoist-scalars,
// NONE-TIER-NEXT: tileir-emit-host-wrapper{dump-host= host-triple=},
// NONE-TIER-NEXT: convert-tileas-to-llvm{compute-capability=sm_90 index-bitwidth=0},
// NONE-TIER-NEXT: tileir-sink-shared-loads,
// NONE-TIER-NEXT: cse,
// NONE-TIER-NEXT: convert-tileas-to-nvgpu
// NONE-TIER-NEXT: )

// NONE-FINISH: Pass Manager with 9 passes:
// NONE-FINISH-NEXT: builtin.module(
// NONE-FINISH-NEXT: tileir-verify-ops-analysis{compute-capability=sm_90 extended-smem=false},
// NONE-FINISH-NEXT: tileir-insert-debug-scope{emission-kind=None},
// NONE-FINISH-NEXT: tileir-gpu-module-prepare,
// NONE-FINISH-NEXT: convert-to-llvm{{.*}},
// NONE-FINISH-NEXT: convert-nvgpu-to-nvvm,
// NONE-FINISH-NEXT: reconcile-unrealized-casts,
// NONE-FINISH-NEXT: synthesize-debug-info-scopes{emission-kind=None},
// NONE-FINISH-NEXT: convert-target-to-nvvm{compute-capability=sm_90 opt-level=2},
// NONE-FINISH-NEXT: tileir-post-nvvm-finalize
// NONE-FINISH-NEXT: )

// UNSPECIALIZE-TIER: Pass Manager with 27 passes:
// UNSPECIALIZE-TIER-NEXT: builtin.module(
// UNSPECIALIZE-TIER-NEXT: convert-cudatile-to-tileaa{approx=false ftz=false numerics=default strict-types=},
// UNSPECIALIZE-TIER-NEXT: tileir-insert-debug-scope{emission-kind=None},
// UNSPECIALIZE-TIER-NEXT: canonicalize{{.*}},
// UNSPECIALIZE-TIER-NEXT: cse,
// UNSPECIALIZE-TIER-NEXT: tileaa-slice-dots{compute-capability=sm_90 extended-smem=false},
// UNSPECIALIZE-TIER-NEXT: convert-tileaa-to-tileas{compute-capability=sm_90 num-warps=0},
// UNSPECIALIZE-TIER-NEXT: tileas-slicing,
// UNSPECIALIZE-TIER-NEXT: tileas-assign-dot-layouts{compute-capability=sm_90 unit-scales=true},
// UNSPECIALIZE-TIER-NEXT: tileas-assign-load-store-layouts{compute-capability=sm_90},
// UNSPECIALIZE-TIER-NEXT: tileas-remove-layout-conversions,
// UNSPECIALIZE-TIER-NEXT: tileas-unspecialized-pipeline{compute-capability=sm_90 extended-smem=false unspecialized-pipeline-num-stages=4},
// UNSPECIALIZE-TIER-NEXT: tileas-delay-loads,
// UNSPECIALIZE-TIER-NEXT: tileas-materialize-reductions,
// UNSPECIALIZE-TIER-NEXT: tileas-materialize-convert-layout{compute-capability=sm_90},
// UNSPECIALIZE-TIER-NEXT: tileas-order-memory,
// UNSPECIALIZE-TIER-NEXT: tileas-optimize-alloc-tensor,
// UNSPECIALIZE-TIER-NEXT: tileas-check-synchronization{remove-redundant-barriers=true},
// UNSPECIALIZE-TIER-NEXT: tileas-materialize-register-loops,
// UNSPECIALIZE-TIER-NEXT: tileas-clamp-indices,
// UNSPECIALIZE-TIER-NEXT: tileas-keep-addresses-in-loops,
// UNSPECIALIZE-TIER-NEXT: tileas-choose-register-forms,
// UNSPECIALIZE-TIER-NEXT: tileas-hoist-scalars,
// UNSPECIALIZE-TIER-NEXT: tileir-emit-host-wrapper{dump-host= host-triple=},
// UNSPECIALIZE-TIER-NEXT: convert-tileas-to-llvm{compute-capability=sm_90 index-bitwidth=0},
// UNSPECIALIZE-TIER-NEXT: tileir-sink-shared-loads,
// UNSPECIALIZE-TIER-NEXT: cse,
// UNSPECIALIZE-TIER-NEXT: convert-tileas-to-nvgpu
// UNSPECIALIZE-TIER-NEXT: )

// UNSPECIALIZE-FINISH: Pass Manager with 9 passes:
// UNSPECIALIZE-FINISH-NEXT: builtin.module(
// UNSPECIALIZE-FINISH-NEXT: tileir-verify-ops-analysis{compute-capability=sm_90 extended-smem=false},
// UNSPECIALIZE-FINISH-NEXT: tileir-insert-debug-scope{emission-kind=None},
// UNSPECIALIZE-FINISH-NEXT: tileir-gpu-module-prepare,
// UNSPECIALIZE-FINISH-NEXT: convert-to-llvm{{.*}},
// UNSPECIALIZE-FINISH-NEXT: convert-nvgpu-to-nvvm,
// UNSPECIALIZE-FINISH-NEXT: reconcile-unrealized-casts,
// UNSPECIALIZE-FINISH-NEXT: synthesize-debug-info-scopes{emission-kind=None},
// UNSPECIALIZE-FINISH-NEXT: convert-target-to-nvvm{compute-capability=sm_90 opt-level=2},
// UNSPECIALIZE-FINISH-NEXT: tileir-post-nvvm-finalize
// UNSPECIALIZE-FINISH-NEXT: )

// AGENTS-TIER: Pass Manager with 44 passes:
// AGENTS-TIER-NEXT: builtin.module(
// AGENTS-TIER-NEXT: convert-cudatile-to-tileaa{approx=false ftz=false numerics=default strict-types=},
// AGENTS-TIER-NEXT: tileir-insert-debug-scope{emission-kind=None},
// AGENTS-TIER-NEXT: canonicalize{{.*}},
// AGENTS-TIER-NEXT: cse,
// AGENTS-TIER-NEXT: tileaa-split-over-cluster{compute-capability=sm_90 num-ctas=0},
// AGENTS-TIER-NEXT: tileaa-narrow-loads{compute-capability=sm_90},
// AGENTS-TIER-NEXT: tileaa-hoist-views{compute-capability=sm_90},
// AGENTS-TIER-NEXT: tileaa-transpose-dots{compute-capability=sm_90},
// AGENTS-TIER-NEXT: tileaa-loop-over-tile-blocks{compute-capability=sm_90},
// AGENTS-TIER-NEXT: tileaa-plan-dots{compute-capability=sm_90 dynamic-persistent=auto},
// AGENTS-TIER-NEXT: tileaa-slice-dots{compute-capability=sm_90 extended-smem=false},
// AGENTS-TIER-NEXT: tileaa-outline-producers,
// AGENTS-TIER-NEXT: convert-tileaa-to-tileas{compute-capability=sm_90 num-warps=0},
// AGENTS-TIER-NEXT: tileas-slicing,
// AGENTS-TIER-NEXT: tileas-assign-dot-layouts{compute-capability=sm_90 unit-scales=true},
// AGENTS-TIER-NEXT: tileas-assign-load-store-layouts{compute-capability=sm_90},
// AGENTS-TIER-NEXT: tileas-remove-layout-conversions,
// AGENTS-TIER-NEXT: tileas-pipeline-dots,
// AGENTS-TIER-NEXT: tileas-materialize-async,
// AGENTS-TIER-NEXT: tileas-specialize-agents,
// AGENTS-TIER-NEXT: tileas-separate-warpgroups,
// AGENTS-TIER-NEXT: tileas-issue-ahead,
// AGENTS-TIER-NEXT: tileas-ping-pong{compute-capability=sm_90 when=if-faster},
// AGENTS-TIER-NEXT: tileas-prefetch-tiles,
// AGENTS-TIER-NEXT: tileas-check-register-budget{compute-capability=sm_90},
// AGENTS-TIER-NEXT: tileas-lower-tma-load-store-to-async{compute-capability=sm_90},
// AGENTS-TIER-NEXT: tileas-unspecialized-pipeline{compute-capability=sm_90 extended-smem=false unspecialized-pipeline-num-stages=4},
// AGENTS-TIER-NEXT: tileas-delay-loads,
// AGENTS-TIER-NEXT: tileas-materialize-reductions,
// AGENTS-TIER-NEXT: tileas-materialize-convert-layout{compute-capability=sm_90},
// AGENTS-TIER-NEXT: tileas-order-memory,
// AGENTS-TIER-NEXT: tileas-optimize-alloc-tensor,
// AGENTS-TIER-NEXT: tileas-check-synchronization{remove-redundant-barriers=true},
// AGENTS-TIER-NEXT: tileas-materialize-register-loops,
// AGENTS-TIER-NEXT: tileas-clamp-indices,
// AGENTS-TIER-NEXT: tileas-keep-addresses-in-loops,
// AGENTS-TIER-NEXT: tileas-skip-rescale,
// AGENTS-TIER-NEXT: tileas-choose-register-forms,
// AGENTS-TIER-NEXT: tileas-hoist-scalars,
// AGENTS-TIER-NEXT: tileir-emit-host-wrapper{dump-host= host-triple=},
// AGENTS-TIER-NEXT: convert-tileas-to-llvm{compute-capability=sm_90 index-bitwidth=0},
// AGENTS-TIER-NEXT: tileir-sink-shared-loads,
// AGENTS-TIER-NEXT: cse,
// AGENTS-TIER-NEXT: convert-tileas-to-nvgpu
// AGENTS-TIER-NEXT: )

// AGENTS-FINISH: Pass Manager with 9 passes:
// AGENTS-FINISH-NEXT: builtin.module(
// AGENTS-FINISH-NEXT: tileir-verify-ops-analysis{compute-capability=sm_90 extended-smem=false},
// AGENTS-FINISH-NEXT: tileir-insert-debug-scope{emission-kind=None},
// AGENTS-FINISH-NEXT: tileir-gpu-module-prepare,
// AGENTS-FINISH-NEXT: convert-to-llvm{{.*}},
// AGENTS-FINISH-NEXT: convert-nvgpu-to-nvvm,
// AGENTS-FINISH-NEXT: reconcile-unrealized-casts,
// AGENTS-FINISH-NEXT: synthesize-debug-info-scopes{emission-kind=None},
// AGENTS-FINISH-NEXT: convert-target-to-nvvm{compute-capability=sm_90 opt-level=2},
// AGENTS-FINISH-NEXT: tileir-post-nvvm-finalize
// AGENTS-FINISH-NEXT: )
