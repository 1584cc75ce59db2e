// RUN: tileiras-opt %s --pass-pipeline='builtin.module(convert-tileas-to-llvm{compute-capability=sm_90},cse)' | FileCheck %s
// RUN: not tileiras-opt %s --pass-pipeline='builtin.module(convert-tileas-to-llvm{compute-capability=sm_89})' 2>&1 | FileCheck %s --check-prefix=OLD
#four = #nv_tileas.layout<register = [1, 2], lane = [4, 8, 16, 32, 64], warp = [128, 256]>
#eight = #nv_tileas.layout<register = [1, 2, 4], lane = [8, 16, 32, 64, 128], warp = [256, 512]>
#l = #nv_tileas.layout<register = [], lane = [1, 2, 4, 8, 16], warp = [32, 64]>
#copies = #nv_tileas.layout<register = [0], lane = [1, 2, 4, 0, 0], warp = [8, 16]>

// OLD: error: multicast memory of f32 needs sm_90 or newer: sm_89 has no instructions for it
gpu.module @kernels {
  // CHECK-LABEL: llvm.func @vectors(
  // CHECK: "multimem.ld_reduce.weak.global.add.v4.f32 {$0, $1, $2, $3}, [$4];", "=r,=r,=r,=r,l,~{memory}"
  // CHECK: "multimem.red.relaxed.sys.global.add.v4.f32 [$0], {$1, $2, $3, $4};", "l,r,r,r,r,~{memory}"
  // A single instruction has the ordering itself.
  // CHECK: "multimem.st.release.gpu.global.v4.f32 [$0], {$1, $2, $3, $4};", "l,r,r,r,r,~{memory}"
  nv_tileaa.func @vectors(%p: !nv_tileaa.ptr<f32>, %i: i32) attributes {numWarps = 4 : i64} {
    %m = nv_tileaa.make_memref %p, shape = [], strides = [] : <f32> -> <512xf32, strides = [1]>
    %v = nv_tileaa.make_tiled_view %m : <512xf32, strides = [1]> -> <tile = [512], memref<512xf32, strides = [1]>>
    %x, %t1 = nv_tileas.multimem_load_reduce <addf> <weak> %v[%i] vector 4 bounds <none> : <tile = [512], memref<512xf32, strides = [1]>>[i32] -> tensor<512xf32, #four>
    %t2 = nv_tileas.multimem_reduce <addf> <relaxed> <system> %x, %v[%i] vector 4 bounds <none> : tensor<512xf32, #four>, <tile = [512], memref<512xf32, strides = [1]>>[i32]
    %t3 = nv_tileas.multimem_store <release> scope <device> %x, %v[%i] vector 4 bounds <none> : tensor<512xf32, #four>, <tile = [512], memref<512xf32, strides = [1]>>[i32]
    nv_tileaa.return
  }
  // 16-bit elements are summed in f32 if the instruction can do that. At an edge, each element is accessed through
  // its word: the other half is ignored, gets -0.0 added, or keeps its bits.
  // CHECK-LABEL: llvm.func @halves(
  // CHECK: "multimem.ld_reduce.weak.global.add.acc::f32.v4.f16x2 {$0, $1, $2, $3}, [$4];"
  // CHECK: "@$2 multimem.ld_reduce.weak.global.add.acc::f32.f16x2 $0, [$1];", "=r,l,b,0,~{memory}"
  // CHECK: "multimem.red.relaxed.sys.global.add.v4.f16x2 [$0], {$1, $2, $3, $4};"
  // CHECK: %[[LOW:.*]] = llvm.or %{{.*}}, %{{.*}} : i32
  // CHECK: "@$2 multimem.red.relaxed.sys.global.add.f16x2 [$0], $1;", "l,r,b,~{memory}"
  // CHECK: "multimem.st.weak.global.v4.f16x2 [$0], {$1, $2, $3, $4};"
  // CHECK: "@$2 multimem.red.relaxed.sys.global.and.b32 [$0], $1;", "l,r,b,~{memory}"
  // CHECK: "@$2 multimem.red.relaxed.sys.global.or.b32 [$0], $1;", "l,r,b,~{memory}"
  // CHECK: "multimem.ld_reduce.weak.global.max.v4.f16x2
  nv_tileaa.func @halves(%p: !nv_tileaa.ptr<f16>, %n: i32, %i: i32) attributes {numWarps = 4 : i64} {
    %m = nv_tileaa.make_memref %p, shape = [%n : i32], strides = [] : <f16> -> <?xf16, strides = [1]>
    %v = nv_tileaa.make_tiled_view %m : <?xf16, strides = [1]> -> <tile = [1024], memref<?xf16, strides = [1]>>
    %x, %t1 = nv_tileas.multimem_load_reduce <addf> <weak> %v[%i] vector 8 bounds <split> : <tile = [1024], memref<?xf16, strides = [1]>>[i32] -> tensor<1024xf16, #eight>
    %t2 = nv_tileas.multimem_reduce <addf> <relaxed> <system> %x, %v[%i] vector 8 bounds <split> : tensor<1024xf16, #eight>, <tile = [1024], memref<?xf16, strides = [1]>>[i32]
    %t3 = nv_tileas.multimem_store <weak> %x, %v[%i] vector 8 bounds <split> : tensor<1024xf16, #eight>, <tile = [1024], memref<?xf16, strides = [1]>>[i32]
    %y, %t4 = nv_tileas.multimem_load_reduce <max> <weak> %v[%i] vector 8 bounds <none> : <tile = [1024], memref<?xf16, strides = [1]>>[i32] -> tensor<1024xf16, #eight>
    nv_tileaa.return
  }
  // Several instructions share a fence, before them for a release and after them for an acquire.
  // CHECK-LABEL: llvm.func @fences(
  // CHECK: "fence.acq_rel.sys;", "~{memory}"
  // CHECK-COUNT-4: "multimem.red.relaxed.sys.global.min.s32 [$0], $1;", "l,r,~{memory}"
  // CHECK-COUNT-4: "multimem.ld_reduce.relaxed.gpu.global.xor.b32 $0, [$1];", "=r,l,~{memory}"
  // CHECK: "fence.acq_rel.gpu;", "~{memory}"
  nv_tileaa.func @fences(%p: !nv_tileaa.ptr<i32>, %i: i32, %x: i32) attributes {numWarps = 4 : i64} {
    %m = nv_tileaa.make_memref %p, shape = [], strides = [] : <i32> -> <512xi32, strides = [1]>
    %v = nv_tileaa.make_tiled_view %m : <512xi32, strides = [1]> -> <tile = [512], memref<512xi32, strides = [1]>>
    %s = nv_tileas.splat %x : i32 -> tensor<512xi32, #four>
    %t1 = nv_tileas.multimem_reduce <min> <release> <system> %s, %v[%i] vector 1 bounds <none> : tensor<512xi32, #four>, <tile = [512], memref<512xi32, strides = [1]>>[i32]
    %y, %t2 = nv_tileas.multimem_load_reduce <xor> <acquire> scope <device> %v[%i] vector 1 bounds <none> : <tile = [512], memref<512xi32, strides = [1]>>[i32] -> tensor<512xi32, #four>
    nv_tileaa.return
  }
  // Only the owners of replicated elements access memory.
  // CHECK-LABEL: llvm.func @owners(
  // CHECK: "@$2 multimem.ld_reduce.weak.global.add.f64 $0, [$1];", "=l,l,b,0,~{memory}"
  // CHECK-NOT: multimem.ld_reduce
  // CHECK: "@$2 multimem.st.weak.global.f64 [$0], $1;", "l,l,b,~{memory}"
  // CHECK-NOT: multimem.st
  nv_tileaa.func @owners(%p: !nv_tileaa.ptr<f64>, %i: i32) attributes {numWarps = 4 : i64} {
    %m = nv_tileaa.make_memref %p, shape = [], strides = [] : <f64> -> <32xf64, strides = [1]>
    %v = nv_tileaa.make_tiled_view %m : <32xf64, strides = [1]> -> <tile = [32], memref<32xf64, strides = [1]>>
    %x, %t1 = nv_tileas.multimem_load_reduce <addf> <weak> %v[%i] vector 1 bounds <none> : <tile = [32], memref<32xf64, strides = [1]>>[i32] -> tensor<32xf64, #copies>
    %y = nv_tileas.replicate %x : tensor<32xf64, #copies>
    %t2 = nv_tileas.multimem_store <weak> %y, %v[%i] vector 1 bounds <none> : tensor<32xf64, #copies>, <tile = [32], memref<32xf64, strides = [1]>>[i32]
    nv_tileaa.return
  }
}
