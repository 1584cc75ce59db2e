// RUN: tileiras-opt %s --pass-pipeline='builtin.module(convert-tileas-to-llvm{compute-capability=sm_90},cse)' | FileCheck %s --check-prefixes=CHECK,NEW
// RUN: tileiras-opt %s --pass-pipeline='builtin.module(convert-tileas-to-llvm{compute-capability=sm_80},cse)' | FileCheck %s --check-prefixes=CHECK,OLD
#l = #nv_tileas.layout<register = [], lane = [1, 2, 4, 8, 16], warp = [32, 64]>
#two = #nv_tileas.layout<register = [1], lane = [2, 4, 8, 16, 32], warp = [64, 128]>
#four = #nv_tileas.layout<register = [1, 2], lane = [4, 8, 16, 32, 64], warp = [128, 256]>
#eight = #nv_tileas.layout<register = [1, 2, 4], lane = [8, 16, 32, 64, 128], warp = [256, 512]>
#one = #nv_tileas.layout<register = [], lane = [0, 0, 0, 0, 0], warp = [0, 0]>
#copies = #nv_tileas.layout<register = [0], lane = [1, 2, 4, 0, 0], warp = [8, 16]>
#swapped = #nv_tileas.layout<register = [1], lane = [1, 2, 4, 8, 16], warp = [32, 64]>
gpu.module @kernels {
  // An unused old value needs no wait. A single instruction has the ordering itself.
  // CHECK-LABEL: llvm.func @reduce(
  // CHECK: llvm.inline_asm has_side_effects "red.release.gpu.global.add.u32 [$0], $1;", "l,r,~{memory}"
  // CHECK: llvm.inline_asm has_side_effects "@$2 red.relaxed.cta.global.max.s64 [$0], $1;", "l,l,b,~{memory}"
  // CHECK: llvm.inline_asm has_side_effects "red.relaxed.sys.global.min.u32 [$0], $1;"
  nv_tileaa.func @reduce(%p: !nv_tileaa.ptr<i32>, %q: !nv_tileaa.ptr<i64>, %c: i1) attributes {numWarps = 4 : i64} {
    %r = nv_tileas.make_range : tensor<128xi32, #l>
    %w = nv_tileas.make_range : tensor<128xi64, #l>
    %k = nv_tileas.splat %c : i1 -> tensor<128xi1, #l>
    %a = nv_tileas.splat %p : !nv_tileaa.ptr<i32> -> tensor<128x!nv_tileaa.ptr<i32>, #l>
    %b = nv_tileas.splat %q : !nv_tileaa.ptr<i64> -> tensor<128x!nv_tileaa.ptr<i64>, #l>
    %x, %t1 = nv_tileas.atomic_rmw <add> <release> <device> %a, %r vector 1 : tensor<128x!nv_tileaa.ptr<i32>, #l>, tensor<128xi32, #l>
    %y, %t2 = nv_tileas.atomic_rmw <max> <relaxed> <block> %b, %w mask %k : tensor<128xi1, #l> vector 1 : tensor<128x!nv_tileaa.ptr<i64>, #l>, tensor<128xi64, #l>
    %z, %t3 = nv_tileas.atomic_rmw <umin> <relaxed> <system> %a, %r vector 1 : tensor<128x!nv_tileaa.ptr<i32>, #l>, tensor<128xi32, #l>
    nv_tileaa.return
  }
  // `red` cannot acquire, and there is no `red` that exchanges.
  // CHECK-LABEL: llvm.func @no_reduction(
  // CHECK: "atom.acquire.gpu.global.xor.b32 $0, [$1], $2;", "=r,l,r,~{memory}"
  // CHECK: "atom.acq_rel.gpu.global.and.b32 $0, [$1], $2;"
  // CHECK: "atom.release.gpu.global.exch.b32 $0, [$1], $2;"
  nv_tileaa.func @no_reduction(%p: !nv_tileaa.ptr<i32>) attributes {numWarps = 4 : i64} {
    %r = nv_tileas.make_range : tensor<128xi32, #l>
    %a = nv_tileas.splat %p : !nv_tileaa.ptr<i32> -> tensor<128x!nv_tileaa.ptr<i32>, #l>
    %x, %t1 = nv_tileas.atomic_rmw <xor> <acquire> <device> %a, %r vector 1 : tensor<128x!nv_tileaa.ptr<i32>, #l>, tensor<128xi32, #l>
    %y, %t2 = nv_tileas.atomic_rmw <and> <acq_rel> <device> %a, %r vector 1 : tensor<128x!nv_tileaa.ptr<i32>, #l>, tensor<128xi32, #l>
    %z, %t3 = nv_tileas.atomic_rmw <xchg> <release> <device> %a, %r vector 1 : tensor<128x!nv_tileaa.ptr<i32>, #l>, tensor<128xi32, #l>
    nv_tileaa.return
  }
  // Two updates of a thread share their fences.
  // CHECK-LABEL: llvm.func @fences(
  // CHECK: "fence.acq_rel.sys;", "~{memory}"
  // CHECK: "atom.relaxed.sys.global.or.b32 $0, [$1], $2;"
  // CHECK: "atom.relaxed.sys.global.or.b32 $0, [$1], $2;"
  // CHECK: "fence.acq_rel.sys;"
  // CHECK: "fence.acq_rel.gpu;"
  // CHECK-COUNT-2: "red.relaxed.gpu.global.or.b32
  // CHECK-NOT: fence
  nv_tileaa.func @fences(%p: !nv_tileaa.ptr<i32>) attributes {numWarps = 4 : i64} {
    %r = nv_tileas.make_range : tensor<256xi32, #two>
    %a = nv_tileas.splat %p : !nv_tileaa.ptr<i32> -> tensor<256x!nv_tileaa.ptr<i32>, #two>
    %x, %t1 = nv_tileas.atomic_rmw <or> <acq_rel> <system> %a, %r vector 1 : tensor<256x!nv_tileaa.ptr<i32>, #two>, tensor<256xi32, #two>
    %y, %t2 = nv_tileas.atomic_rmw <or> <release> <device> %a, %r vector 1 : tensor<256x!nv_tileaa.ptr<i32>, #two>, tensor<256xi32, #two>
    nv_tileaa.return
  }
  // The masks of elements and owners are combined in one predicate. If it is false, a swap returns the compared
  // value.
  // CHECK-LABEL: llvm.func @swap(
  // CHECK: %[[K:.*]] = llvm.and %arg3, %{{.*}} : i1
  // CHECK: %[[C:.*]] = llvm.bitcast %arg1 : f32 to i32
  // CHECK: %[[V:.*]] = llvm.bitcast %arg2 : f32 to i32
  // CHECK: llvm.inline_asm has_side_effects "@$5 atom.acq_rel.gpu.global.cas.b32 $0, [$1], $2, $3;", "=r,l,r,r,0,b,~{memory}" %arg0, %[[C]], %[[V]], %[[C]], %[[K]]
  nv_tileaa.func @swap(%p: !nv_tileaa.ptr<f32>, %c: f32, %v: f32, %k: i1) attributes {numWarps = 4 : i64} {
    %a = nv_tileas.splat %p : !nv_tileaa.ptr<f32> -> tensor<1x!nv_tileaa.ptr<f32>, #one>
    %cc = nv_tileas.splat %c : f32 -> tensor<1xf32, #one>
    %vv = nv_tileas.splat %v : f32 -> tensor<1xf32, #one>
    %kk = nv_tileas.splat %k : i1 -> tensor<1xi1, #one>
    %x, %t = nv_tileas.atomic_cas <acq_rel> <device> %a, %cc, %vv mask %kk : tensor<1xi1, #one> : tensor<1x!nv_tileaa.ptr<f32>, #one>, tensor<1xf32, #one>
    nv_tileaa.return
  }
  // CHECK-LABEL: llvm.func @floats(
  // NEW: "red.relaxed.gpu.global.add.v4.f32 [$0], {$1, $2, $3, $4};", "l,r,r,r,r,~{memory}"
  // OLD-COUNT-4: "red.relaxed.gpu.global.add.f32 [$0], $1;"
  // NEW: "red.relaxed.gpu.global.add.noftz.v4.f16x2 [$0], {$1, $2, $3, $4};"
  // OLD-COUNT-4: "red.relaxed.gpu.global.add.noftz.f16x2 [$0], $1;"
  // CHECK: "red.relaxed.gpu.global.add.f64 [$0], $1;", "l,l,~{memory}"
  nv_tileaa.func @floats(%p: !nv_tileaa.ptr<f32>, %q: !nv_tileaa.ptr<f16>, %r: !nv_tileaa.ptr<f64>, %i: i32, %x: f32, %y: f16, %z: f64) attributes {numWarps = 4 : i64} {
    %m = nv_tileaa.make_memref %p, shape = [], strides = [] : <f32> -> <512xf32, strides = [1]>
    %v = nv_tileaa.make_tiled_view %m : <512xf32, strides = [1]> -> <tile = [512], memref<512xf32, strides = [1]>>
    %xx = nv_tileas.splat %x : f32 -> tensor<512xf32, #four>
    %t1 = nv_tileas.tiled_atomic_rmw <addf> <relaxed> <device> %xx, %v[%i] vector 4 bounds <none> : tensor<512xf32, #four>, <tile = [512], memref<512xf32, strides = [1]>>[i32]
    %n = nv_tileaa.make_memref %q, shape = [], strides = [] : <f16> -> <1024xf16, strides = [1]>
    %w = nv_tileaa.make_tiled_view %n : <1024xf16, strides = [1]> -> <tile = [1024], memref<1024xf16, strides = [1]>>
    %yy = nv_tileas.splat %y : f16 -> tensor<1024xf16, #eight>
    %t2 = nv_tileas.tiled_atomic_rmw <addf> <relaxed> <device> %yy, %w[%i] vector 8 bounds <none> : tensor<1024xf16, #eight>, <tile = [1024], memref<1024xf16, strides = [1]>>[i32]
    %b = nv_tileas.splat %r : !nv_tileaa.ptr<f64> -> tensor<128x!nv_tileaa.ptr<f64>, #l>
    %zz = nv_tileas.splat %z : f64 -> tensor<128xf64, #l>
    %o, %t3 = nv_tileas.atomic_rmw <addf> <relaxed> <device> %b, %zz vector 1 : tensor<128x!nv_tileaa.ptr<f64>, #l>, tensor<128xf64, #l>
    nv_tileaa.return
  }
  // If there is no instruction for an addition of bf16, it is a loop, for one element or for a pair.
  // CHECK-LABEL: llvm.func @bf16(
  // NEW: "red.relaxed.gpu.global.add.noftz.bf16x2 [$0], $1;"
  // OLD: llvm.inline_asm has_side_effects "ld.relaxed.gpu.global.b32 $0, [$1];"
  // OLD: llvm.br ^[[LOOP:.*]](
  // OLD: ^[[LOOP]](%[[WAS:.*]]: i32):
  // OLD-COUNT-2: llvm.fadd %{{.*}} : bf16
  // OLD: %[[GOT:.*]] = llvm.inline_asm has_side_effects "atom.relaxed.gpu.global.cas.b32 $0, [$1], $2, $3;", "=r,l,r,r,0,~{memory}" %{{.*}}, %[[WAS]], %{{.*}}, %[[WAS]]
  // OLD: %[[SAME:.*]] = llvm.icmp "eq" %[[GOT]], %[[WAS]] : i32
  // OLD: llvm.cond_br %[[SAME]], ^{{.*}}, ^[[LOOP]](%[[GOT]] : i32)
  // NEW: "atom.release.gpu.global.add.noftz.bf16 $0, [$1], $2;", "=h,l,h,~{memory}"
  // OLD: "fence.acq_rel.gpu;"
  // OLD: "ld.relaxed.gpu.global.b16 $0, [$1];"
  // OLD: "atom.relaxed.gpu.global.cas.b16 $0, [$1], $2, $3;"
  nv_tileaa.func @bf16(%p: !nv_tileaa.ptr<bf16>, %i: i32, %x: bf16) attributes {numWarps = 4 : i64} {
    %m = nv_tileaa.make_memref %p, shape = [], strides = [] : <bf16> -> <256xbf16, strides = [1]>
    %v = nv_tileaa.make_tiled_view %m : <256xbf16, strides = [1]> -> <tile = [256], memref<256xbf16, strides = [1]>>
    %xx = nv_tileas.splat %x : bf16 -> tensor<256xbf16, #two>
    %t1 = nv_tileas.tiled_atomic_rmw <addf> <relaxed> <device> %xx, %v[%i] vector 2 bounds <none> : tensor<256xbf16, #two>, <tile = [256], memref<256xbf16, strides = [1]>>[i32]
    %b = nv_tileas.splat %p : !nv_tileaa.ptr<bf16> -> tensor<128x!nv_tileaa.ptr<bf16>, #l>
    %y = nv_tileas.splat %x : bf16 -> tensor<128xbf16, #l>
    %o, %t2 = nv_tileas.atomic_rmw <addf> <release> <device> %b, %y vector 1 : tensor<128x!nv_tileaa.ptr<bf16>, #l>, tensor<128xbf16, #l>
    %u = nv_tileas.replicate %o : tensor<128xbf16, #l>
    nv_tileaa.return
  }
  // Replicas in other lanes or registers do not update; they get the old value.
  // CHECK-LABEL: llvm.func @copies(
  // CHECK: %[[OWNER:.*]] = llvm.icmp "eq" %{{.*}}, %{{.*}} : i32
  // CHECK: %[[OLD:.*]] = llvm.inline_asm has_side_effects "@$3 atom.relaxed.gpu.global.add.u32 $0, [$1], $2;", "=r,l,r,b,~{memory}" %arg0, %{{.*}}, %[[OWNER]]
  // CHECK-NOT: inline_asm
  // CHECK: %[[S:.*]] = llvm.call_intrinsic "llvm.nvvm.shfl.sync.idx.i32"(%{{.*}}, %[[OLD]], %{{.*}}, %{{.*}}) :
  // CHECK-NOT: shfl
  // CHECK: "@$1 st.global.b32 [$0], $2;", "l,b,r" %arg0, %{{.*}}, %[[S]] :
  nv_tileaa.func @copies(%p: !nv_tileaa.ptr<i32>) attributes {numWarps = 4 : i64} {
    %r = nv_tileas.make_range : tensor<32xi32, #copies>
    %a = nv_tileas.splat %p : !nv_tileaa.ptr<i32> -> tensor<32x!nv_tileaa.ptr<i32>, #copies>
    %x, %t = nv_tileas.atomic_rmw <add> <relaxed> <device> %a, %r vector 1 : tensor<32x!nv_tileaa.ptr<i32>, #copies>, tensor<32xi32, #copies>
    %y = nv_tileas.replicate %x : tensor<32xi32, #copies>
    %t1 = nv_tileas.store <weak> %a, %y token %t vector 1 : tensor<32x!nv_tileaa.ptr<i32>, #copies>, tensor<32xi32, #copies>
    nv_tileaa.return
  }
  // Lane 0 has in register 1 the element that lane 1 owns in register 0.
  // CHECK-LABEL: llvm.func @swapped(
  // CHECK: "red.relaxed.gpu.global.add.u32 [$0], $1;"
  // CHECK-NOT: inline_asm
  // CHECK: llvm.return
  nv_tileaa.func @swapped(%p: !nv_tileaa.ptr<i32>) attributes {numWarps = 4 : i64} {
    %r = nv_tileas.make_range : tensor<128xi32, #swapped>
    %a = nv_tileas.splat %p : !nv_tileaa.ptr<i32> -> tensor<128x!nv_tileaa.ptr<i32>, #swapped>
    %x, %t = nv_tileas.atomic_rmw <add> <relaxed> <device> %a, %r vector 1 : tensor<128x!nv_tileaa.ptr<i32>, #swapped>, tensor<128xi32, #swapped>
    nv_tileaa.return
  }
}
