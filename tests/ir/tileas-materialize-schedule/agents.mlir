// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileaa-plan-dots{compute-capability=sm_90},convert-tileaa-to-tileas{compute-capability=sm_90},tileas-assign-dot-layouts{compute-capability=sm_90},tileas-assign-load-store-layouts{compute-capability=sm_90},tileas-remove-layout-conversions,tileas-generate-schedule-constraints{compute-capability=sm_90},canonicalize,cse,tileas-materialize-schedule{schedule-trace-file=%t.txt})' -o %t.scheduled.mlir
// RUN: FileCheck %s --input-file=%t.scheduled.mlir
// RUN: FileCheck %s --check-prefix=TABLE --input-file=%t.txt
// RUN: tileiras-opt %t.scheduled.mlir --pass-pipeline='builtin.module(tileas-pipeline-dots,tileas-materialize-async,tileas-specialize-agents)' | FileCheck %s --check-prefix=AGENTS
// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileaa-plan-dots{compute-capability=sm_90},convert-tileaa-to-tileas{compute-capability=sm_90},tileas-assign-dot-layouts{compute-capability=sm_90},tileas-assign-load-store-layouts{compute-capability=sm_90},tileas-remove-layout-conversions,tileas-generate-schedule-constraints{compute-capability=sm_90},tileas-materialize-schedule{use-single-agent=true})' | FileCheck %s --check-prefix=SINGLE
!view = !nv_tileaa.tiled_view<tile = [64, 64], memref<?x256xf16, strides = [256, 1]>, padding = zero>

// Copies belong to the producer, and the rest to the consumers. The late dot starts after the early dot of the next
// iteration. A ring has the stages that the schedule needs, plus those of one iteration.
// CHECK-LABEL: nv_tileaa.func @chain(
// CHECK-SAME: stages = 8,
// CHECK-NOT: tileas.schedule.constraint
// The first early dot and the last late dot are outside of the loop, and belong to no stage. In the loop, the late dot
// of an iteration follows the early dot of the next one, and is in its stage.
// CHECK: scf.if
// CHECK: nv_tileas.dot {{.*}} {nv_tileas.stages = [[#STAGES:]] : i64, tileas.schedule.agent = "consumers"}
// CHECK: scf.for
// CHECK: nv_tileas.tiled_load {{.*}}tileas.schedule.agent = "producer", tileas.schedule.clock = [[#]] : i64, tileas.schedule.stage = [[#]] : i64}
// CHECK: nv_tileas.dot {{.*}} {nv_tileas.stages = [[#STAGES]] : i64, tileas.schedule.agent = "consumers", tileas.schedule.clock = [[#EARLY:]] : i64, tileas.schedule.stage = [[#STAGE:]] : i64}
// CHECK: nv_tileas.tiled_load {{.*}}tileas.schedule.agent = "producer"
// CHECK: nv_tileas.dot {{.*}} {nv_tileas.stages = [[#STAGES]] : i64, tileas.schedule.agent = "consumers", tileas.schedule.clock = [[#]] : i64, tileas.schedule.stage = [[#STAGE]] : i64}
// CHECK: arith.truncf {{.*}}tileas.schedule.agent = "consumers"
// CHECK: tileas.schedule.interval = [[#]] : i64, tileas.schedule.materialized, tileas.schedule.stages = [[#]] : i64
// CHECK: nv_tileas.dot {{.*}} {nv_tileas.stages = [[#STAGES]] : i64, tileas.schedule.agent = "consumers"}
// TABLE: chain, loop 0
// TABLE: registers of 'producer': 0 of 40
// TABLE: registers of 'consumers': [[#]] of 216
// TABLE: {{[0-9]+ +[0-9]+  producer   0 nv_tileas.tiled_load +memory 0\+}}
// TABLE: {{[0-9]+ +[0-9]+  consumers  2 nv_tileas.dot +tensor 0\+}}
// TABLE: producer {{.*}} %
// TABLE: consumers {{.*}} %
// AGENTS-LABEL: nv_tileaa.func @chain(
// AGENTS: create_pipeline {{.*}} -> <8>
// AGENTS: scf.if
// AGENTS: nv_tileas.async.dot
// AGENTS: scf.for
// AGENTS: nv_tileas.async.dot
// AGENTS: nv_tileas.async.dot
// Nothing of the agents is scheduled for a single agent.
// SINGLE-LABEL: nv_tileaa.func @chain(
// SINGLE-NOT: tileas.schedule
// SINGLE-NOT: nv_tileas.stages
// SINGLE-LABEL: nv_tileaa.func @serial(
nv_tileaa.func @chain(%p0: !nv_tileaa.ptr<f16>, %n: i32, %m0: i32) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f16>
  %m = nv_tileaa.make_memref %p, shape = [%m0 : i32], strides = [] : <f16> -> <?x256xf16, strides = [256, 1]>
  %v = nv_tileaa.make_tiled_view %m : <?x256xf16, strides = [256, 1]> -> !view
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %half = arith.constant dense<0.5> : tensor<64x64xf32>
  %q, %t0 = nv_tileaa.tiled_load <weak> %v[%c0, %c0] : !view[i32, i32] -> tensor<64x64xf16>
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i32 {
    %b, %t1 = nv_tileaa.tiled_load <weak> %v[%c0, %k] : !view[i32, i32] -> tensor<64x64xf16>
    %s = nv_tileaa.dot %q, %b, %zero : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
    %e = math.exp2 %s : tensor<64x64xf32>
    %kept = arith.mulf %acc, %half : tensor<64x64xf32>
    %w = arith.truncf %e : tensor<64x64xf32> to tensor<64x64xf16>
    %c, %t2 = nv_tileaa.tiled_load <weak> %v[%k, %c0] : !view[i32, i32] -> tensor<64x64xf16>
    %d = nv_tileaa.dot %w, %c, %kept : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  %o = nv_tileaa.make_memref %p0, shape = [], strides = [] : <f16> -> <64x64xf16, strides = [64, 1]>
  %x = nv_tileaa.make_tiled_view %o : <64x64xf16, strides = [64, 1]> -> <tile = [64, 64], memref<64x64xf16, strides = [64, 1]>>
  %narrow = arith.truncf %sum : tensor<64x64xf32> to tensor<64x64xf16>
  %t3 = nv_tileaa.tiled_store <weak> %narrow, %x[%c0, %c0] : tensor<64x64xf16>, <tile = [64, 64], memref<64x64xf16, strides = [64, 1]>>[i32, i32]
  nv_tileaa.return
}

// The iterations are not overlapped: the late dot stays in its own iteration.
// CHECK-LABEL: nv_tileaa.func @serial(
// AGENTS-LABEL: nv_tileaa.func @serial(
// AGENTS-NOT: scf.if
// AGENTS: create_pipeline {{.*}} -> <4>
// AGENTS-NOT: scf.if
// AGENTS: scf.for
// AGENTS: }, {
// AGENTS: make_tiled_tma_desc
nv_tileaa.func @serial(%p0: !nv_tileaa.ptr<f16>, %n: i32, %m0: i32) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f16>
  %m = nv_tileaa.make_memref %p, shape = [%m0 : i32], strides = [] : <f16> -> <?x256xf16, strides = [256, 1]>
  %v = nv_tileaa.make_tiled_view %m : <?x256xf16, strides = [256, 1]> -> !view
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %half = arith.constant dense<0.5> : tensor<64x64xf32>
  %q, %t0 = nv_tileaa.tiled_load <weak> %v[%c0, %c0] : !view[i32, i32] -> tensor<64x64xf16>
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i32 {
    %b, %t1 = nv_tileaa.tiled_load <weak> %v[%c0, %k] : !view[i32, i32] -> tensor<64x64xf16>
    %s = nv_tileaa.dot %q, %b, %zero : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
    %kept = arith.mulf %acc, %half : tensor<64x64xf32>
    %w = arith.truncf %s : tensor<64x64xf32> to tensor<64x64xf16>
    %c, %t2 = nv_tileaa.tiled_load <weak> %v[%k, %c0] : !view[i32, i32] -> tensor<64x64xf16>
    %d = nv_tileaa.dot %w, %c, %kept : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  } {tileas.schedule.constraint.force_serial_execution}
  %o = nv_tileaa.make_memref %p0, shape = [], strides = [] : <f16> -> <64x64xf16, strides = [64, 1]>
  %x = nv_tileaa.make_tiled_view %o : <64x64xf16, strides = [64, 1]> -> <tile = [64, 64], memref<64x64xf16, strides = [64, 1]>>
  %narrow = arith.truncf %sum : tensor<64x64xf32> to tensor<64x64xf16>
  %t3 = nv_tileaa.tiled_store <weak> %narrow, %x[%c0, %c0] : tensor<64x64xf16>, <tile = [64, 64], memref<64x64xf16, strides = [64, 1]>>[i32, i32]
  nv_tileaa.return
}
