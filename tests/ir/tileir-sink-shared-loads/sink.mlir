// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileir-sink-shared-loads)' | FileCheck %s

gpu.module @m {
  // Both values are read before the first dot; after the pass, each is read just before its dot.
  // CHECK-LABEL: @product
  llvm.func @product(%p: !llvm.ptr<3>, %c: f32) -> f32 attributes {nv_tileas.multiplies} {
    // CHECK: %[[Q:.*]] = llvm.getelementptr
    // CHECK-NEXT: %[[X:.*]] = llvm.load %{{.*}} : !llvm.ptr<3> -> f32
    // CHECK-NEXT: %[[A:.*]] = llvm.intr.fma(%[[X]],
    // CHECK-NEXT: %[[Y:.*]] = llvm.load %[[Q]] : !llvm.ptr<3> -> f32
    // CHECK-NEXT: %[[W:.*]] = llvm.fmul %[[Y]], %[[Y]]
    // CHECK-NEXT: llvm.intr.fma(%[[W]], %{{.*}}, %[[A]])
    %x = llvm.load %p : !llvm.ptr<3> -> f32
    %q = llvm.getelementptr %p[4] : (!llvm.ptr<3>) -> !llvm.ptr<3>, f32
    %y = llvm.load %q : !llvm.ptr<3> -> f32
    %w = llvm.fmul %y, %y : f32
    %d = llvm.intr.fma(%x, %c, %c) : (f32, f32, f32) -> f32
    %e = llvm.intr.fma(%w, %c, %d) : (f32, f32, f32) -> f32
    llvm.return %e : f32
  }

  // Loads do not move past a store to shared memory, which may change the loaded memory, or past a barrier.
  // CHECK-LABEL: @fences
  llvm.func @fences(%p: !llvm.ptr<3>, %c: f32) -> f32 attributes {nv_tileas.multiplies} {
    // CHECK: %[[X:.*]] = llvm.load
    // CHECK-NEXT: llvm.store
    // CHECK-NEXT: %[[Y:.*]] = llvm.load
    // CHECK-NEXT: nvvm.barrier0
    // CHECK-NEXT: llvm.intr.fma(%[[X]], %[[Y]]
    %x = llvm.load %p : !llvm.ptr<3> -> f32
    llvm.store %c, %p : f32, !llvm.ptr<3>
    %y = llvm.load %p : !llvm.ptr<3> -> f32
    nvvm.barrier0
    %d = llvm.intr.fma(%x, %y, %c) : (f32, f32, f32) -> f32
    llvm.return %d : f32
  }

  // Only loads of shared memory are moved. Global memory is not read later than the program says.
  // CHECK-LABEL: @global
  llvm.func @global(%p: !llvm.ptr<1>, %s: !llvm.ptr<3>, %c: f32) -> f32 attributes {nv_tileas.multiplies} {
    // CHECK: %[[G:.*]] = llvm.load %{{.*}} : !llvm.ptr<1>
    // CHECK-NEXT: %[[D:.*]] = llvm.intr.fma
    // CHECK-NEXT: %[[X:.*]] = llvm.load %{{.*}} : !llvm.ptr<3>
    // CHECK-NEXT: llvm.intr.fma(%[[G]], %[[X]], %[[D]])
    %g = llvm.load %p : !llvm.ptr<1> -> f32
    %x = llvm.load %s : !llvm.ptr<3> -> f32
    %d = llvm.intr.fma(%c, %c, %c) : (f32, f32, f32) -> f32
    %e = llvm.intr.fma(%g, %x, %d) : (f32, f32, f32) -> f32
    llvm.return %e : f32
  }

  // Kernels without tile dots are unchanged.
  // CHECK-LABEL: @plain
  llvm.func @plain(%p: !llvm.ptr<3>, %c: f32) -> f32 {
    // CHECK: llvm.load
    // CHECK: llvm.fadd
    // CHECK: llvm.intr.fma
    %x = llvm.load %p : !llvm.ptr<3> -> f32
    %y = llvm.fadd %c, %c : f32
    %d = llvm.intr.fma(%x, %y, %c) : (f32, f32, f32) -> f32
    llvm.return %d : f32
  }
}
