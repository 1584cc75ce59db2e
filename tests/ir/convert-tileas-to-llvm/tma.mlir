// RUN: tileiras-opt %s --pass-pipeline='builtin.module(convert-tileas-to-llvm{compute-capability=sm_90},cse)' | FileCheck %s
// Tensor maps are found in a table or created, and TMA loads tiles with them, box by box.
#x = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64]>
#s = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 136, 272, 544, 64]>
#b = #nv_tileas.shared_layout<offset = [1]>
#b2 = #nv_tileas.shared_layout<offset = [1, 2]>
!scratch = !nv_tileas.memdesc<128xi8, #x>
!stage = !nv_tileas.memdesc<8x128xbf16, #s, align = 1024>
!bars = !nv_tileas.memdesc<2xi64, #b>
!view = !nv_tileaa.tiled_view<tile = [8, 128], memref<?x?xbf16, strides = [?, 1]>, padding = zero>
!desc = !nv_tileas.tma_desc<bf16, dims = [1, 0], box = [64, 8], steps = [1, 1], swizzle = 128, fill = zero>

gpu.module @kernels {
  // CHECK: llvm.mlir.global internal @__tileir_borrowed_maps_1(dense<0> : tensor<524288xi8>) {addr_space = 1 : i32, alignment = 128 : i64}
  // CHECK: llvm.mlir.global internal @__tileir_tensor_maps(dense<0> : tensor<262144xi8>) {addr_space = 1 : i32, alignment = 128 : i64}
  // CHECK-LABEL: llvm.func @copy(
  // CHECK: %[[BORROWED:.*]] = llvm.alloca %{{.*}} x i64
  // Empty views become a view of one element of zeros.
  // CHECK: %[[EMPTY:.*]] = llvm.or %{{.*}}, %{{.*}} : i1
  // CHECK: %[[BASE:.*]] = llvm.select %[[EMPTY]], %{{.*}}, %{{.*}} : i1, i64
  // CHECK: llvm.select %[[EMPTY]], %{{.*}}, %[[COLS:.*]] : i1, i32
  // Each lane glances at one slot of the table.
  // CHECK: %[[TABLE:.*]] = llvm.mlir.addressof @__tileir_tensor_maps
  // CHECK: %[[ADDRESS:.*]] = llvm.ptrtoint %[[TABLE]]
  // CHECK: llvm.call @__tileir_map_glance(%[[ADDRESS]], %[[LANE:[^,]*]], %{{[^,]*}}, %[[BASE]], %[[STATIC:[^,]*]], %[[EXTENTS:[^,]*]], %[[STRIDE:[^,]*]], %[[ZERO:[^,]*]], %[[ZERO]], %[[ZERO]], %[[ZERO]], %[[ZERO]], %[[ZERO]])
  // CHECK: "redux.sync.max.s32 $0, $1, $2;"
  // CHECK: llvm.call_intrinsic "llvm.nvvm.shfl.sync.idx.i32"
  // If the map is not found, one lane searches for a free slot, and waits if another block is creating the map.
  // CHECK: llvm.call @__tileir_map_claim(%{{.*}}, %{{.*}}, %[[BASE]], %[[STATIC]], %[[EXTENTS]], %[[STRIDE]],
  // CHECK: llvm.call_intrinsic "llvm.nvvm.shfl.sync.idx.i32"
  // The map is created in shared memory.
  // CHECK: "tensormap.replace.tile.global_address.shared::cta.b1024.b64 [$0], $1;", "r,l,~{memory}" %[[SCRATCH:.*]], %[[BASE]]
  // CHECK: "tensormap.replace.tile.rank.shared::cta.b1024.b32 [$0], $1;"
  // CHECK: "tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [$0], 0, $1;"
  // CHECK: "tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [$0], 0, $1;"
  // CHECK: "tensormap.replace.tile.element_stride.shared::cta.b1024.b32 [$0], 0, $1;"
  // CHECK: "tensormap.replace.tile.global_stride.shared::cta.b1024.b64 [$0], 0, $1;"
  // CHECK: "tensormap.replace.tile.elemtype.shared::cta.b1024.b32 [$0], 10;"
  // CHECK: "tensormap.replace.tile.swizzle_mode.shared::cta.b1024.b32 [$0], 3;"
  // CHECK: "tensormap.replace.tile.fill_mode.shared::cta.b1024.b32 [$0], 0;"
  // CHECK: "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [$0], [$1], 128;"
  // No copy still uses the memory in which the map was created.
  // CHECK-NOT: fence.proxy.async
  // CHECK: llvm.call @__tileir_map_publish(%{{.*}}, %{{.*}}, %{{.*}}, %[[BASE]], %[[STATIC]], %[[EXTENTS]], %[[STRIDE]],
  // CHECK: "fence.proxy.tensormap::generic.acquire.gpu [$0], 128;"
  // Coordinates are clamped to just after the end of every view, and the two boxes are 64 columns apart.
  // CHECK: %[[J:.*]] = llvm.intr.umin(%{{.*}}, %[[MAX:.*]]) : (i64, i64) -> i64
  // CHECK: %[[COL:.*]] = llvm.mul %[[J]], %{{.*}} : i64
  // CHECK: %[[ROW:.*]] = llvm.mul %{{.*}}, %{{.*}} : i64
  // CHECK: %[[C:.*]] = llvm.intr.umin(%[[COL]], %[[MAX]])
  // CHECK: %[[C0:.*]] = llvm.trunc %[[C]] : i64 to i32
  // CHECK: %[[R:.*]] = llvm.intr.umin(%[[ROW]], %[[MAX]])
  // CHECK: %[[R0:.*]] = llvm.trunc %[[R]] : i64 to i32
  // CHECK: "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [$0], [$1, {$3, $4}], [$2];", "r,l,r,r,r,~{memory}" %[[TO:.*]], %[[MAP:.*]], %[[BAR:.*]], %[[C0]], %[[R0]]
  // CHECK: %[[NEXT:.*]] = llvm.getelementptr %[[TO]][1024]
  // CHECK: %[[C64:.*]] = llvm.add %[[COL]], %{{.*}} : i64
  // CHECK: %[[CMIN:.*]] = llvm.intr.umin(%[[C64]], %[[MAX]])
  // CHECK: %[[C1:.*]] = llvm.trunc %[[CMIN]] : i64 to i32
  // CHECK: "cp.async.bulk.tensor.2d.{{.*}} %[[NEXT]], %[[MAP]], %[[BAR]], %[[C1]], %[[R0]]
  // Borrowed maps are returned when all copies are done.
  // CHECK: nv_tileas.barrier
  // CHECK: %[[ENTRY:.*]] = llvm.load %[[BORROWED]]
  // CHECK: llvm.call @__tileir_maps_return(%[[ENTRY]])
  nv_tileaa.func @copy(%p: !nv_tileaa.ptr<bf16>, %n: i32, %i: i32, %j: i64) attributes {numWarps = 1 : i64} {
    %m = nv_tileaa.make_memref %p, shape = [%n, %i : i32, i32], strides = [%n : i32] : <bf16> -> <?x?xbf16, strides = [?, 1]>
    %v = nv_tileaa.make_tiled_view %m : <?x?xbf16, strides = [?, 1]> -> <tile = [8, 128], memref<?x?xbf16, strides = [?, 1]>, padding = zero>
    %scratch = nv_tileas.alloc_tensor offset 2048 : !scratch
    %stage = nv_tileas.alloc_tensor offset 0 : !stage
    %bars = nv_tileas.alloc_tensor offset 2176 : !bars
    %pipe = nv_tileas.async.pipeline.create_pipeline %bars phases [full = 1, empty = 1] : !bars -> !nv_tileas.pipeline<1>
    %it = nv_tileas.async.pipeline.create_iterator %pipe : !nv_tileas.pipeline<1>
    %desc = nv_tileas.make_tiled_tma_desc %v scratch %scratch : !view, !scratch -> !desc
    nv_tileas.async.elect {
      %token = nv_tileas.async.pipeline.producer_acquire %pipe[%it] bytes 2048 : !nv_tileas.pipeline<1>
      nv_tileas.async.tiled_tma_load %v[%i, %j] by %desc into %stage arrive %token : !view[i32, i64], !desc -> !stage
    }
    nv_tileaa.return
  }

  // The address is a multiple of 16, and so is the stride in bytes, which is below 2^40: only bits 4 to 39 of it can
  // be one, which are bits 3 to 38 of the stride in elements. The stride of a single row is ignored.
  // CHECK-LABEL: llvm.func @ready(
  // CHECK-SAME: %[[P:[a-z0-9]+]]: !llvm.ptr<1>{{.*}}, %[[N:[a-z0-9]+]]: i32{{.*}}, %[[TO:[a-z0-9]+]]: !llvm.ptr<1>
  // CHECK-DAG: %[[BASE:.*]] = llvm.ptrtoint %[[P]]
  // CHECK-DAG: %[[C15:.*]] = llvm.mlir.constant(15 : i64)
  // CHECK-DAG: %[[LOW:.*]] = llvm.and %[[BASE]], %[[C15]]
  // CHECK-DAG: %[[STRIDE:.*]] = llvm.zext %[[N]] : i32 to i64
  // CHECK-DAG: %[[MASK:.*]] = llvm.mlir.constant(-549755813881 : i64)
  // CHECK: %[[BITS:.*]] = llvm.and %[[STRIDE]], %[[MASK]]
  // CHECK: %[[SINGLE:.*]] = llvm.icmp "eq" %{{.*}}, %{{.*}} : i64
  // CHECK: %[[WRONG:.*]] = llvm.select %[[SINGLE]], %{{.*}}, %[[BITS]]
  // CHECK: %[[ALL:.*]] = llvm.or %[[LOW]], %[[WRONG]]
  // CHECK: llvm.icmp "eq" %[[ALL]],
  nv_tileaa.func @ready(%p: !nv_tileaa.ptr<bf16>, %n: i32, %to: !nv_tileaa.ptr<i1>) attributes {numWarps = 1 : i64} {
    %m = nv_tileaa.make_memref %p, shape = [%n, %n : i32, i32], strides = [%n : i32] : <bf16> -> <?x?xbf16, strides = [?, 1]>
    %v = nv_tileaa.make_tiled_view %m : <?x?xbf16, strides = [?, 1]> -> <tile = [8, 128], memref<?x?xbf16, strides = [?, 1]>, padding = zero>
    %ready = nv_tileas.tma_ready %v for !desc : !view
    scf.if %ready {
      nv_tileas.barrier
    }
    nv_tileaa.return
  }

  // Two maps are looked up together by different lanes.
  // CHECK-LABEL: llvm.func @two_maps(
  // CHECK: redux.sync
  // CHECK-NOT: redux.sync
  // CHECK: llvm.call @__tileir_map_claim(
  // CHECK: llvm.call @__tileir_map_claim(
  // CHECK-NOT: redux.sync
  // CHECK: "fence.proxy.tensormap::generic.acquire.gpu [$0], 128;"
  // CHECK: "fence.proxy.tensormap::generic.acquire.gpu [$0], 128;"
  // CHECK: llvm.return
  nv_tileaa.func @two_maps(%p: !nv_tileaa.ptr<bf16>, %q: !nv_tileaa.ptr<bf16>, %n: i32, %i: i32, %j: i64) attributes {numWarps = 1 : i64} {
    %m = nv_tileaa.make_memref %p, shape = [%n, %i : i32, i32], strides = [%n : i32] : <bf16> -> <?x?xbf16, strides = [?, 1]>
    %v = nv_tileaa.make_tiled_view %m : <?x?xbf16, strides = [?, 1]> -> <tile = [8, 128], memref<?x?xbf16, strides = [?, 1]>, padding = zero>
    %o = nv_tileaa.make_memref %q, shape = [%n, %i : i32, i32], strides = [%n : i32] : <bf16> -> <?x?xbf16, strides = [?, 1]>
    %w = nv_tileaa.make_tiled_view %o : <?x?xbf16, strides = [?, 1]> -> <tile = [8, 128], memref<?x?xbf16, strides = [?, 1]>, padding = zero>
    %scratch = nv_tileas.alloc_tensor offset 4096 : !scratch
    %scratch2 = nv_tileas.alloc_tensor offset 4224 : !scratch
    %stage = nv_tileas.alloc_tensor offset 0 : !stage
    %stage2 = nv_tileas.alloc_tensor offset 2048 : !stage
    %bars = nv_tileas.alloc_tensor offset 4352 : !bars
    %pipe = nv_tileas.async.pipeline.create_pipeline %bars phases [full = 1, empty = 1] : !bars -> !nv_tileas.pipeline<1>
    %it = nv_tileas.async.pipeline.create_iterator %pipe : !nv_tileas.pipeline<1>
    %desc = nv_tileas.make_tiled_tma_desc %v scratch %scratch : !view, !scratch -> !desc
    %desc2 = nv_tileas.make_tiled_tma_desc %w scratch %scratch2 : !view, !scratch -> !desc
    nv_tileas.async.elect {
      %token = nv_tileas.async.pipeline.producer_acquire %pipe[%it] bytes 4096 : !nv_tileas.pipeline<1>
      nv_tileas.async.tiled_tma_load %v[%i, %j] by %desc into %stage arrive %token : !view[i32, i64], !desc -> !stage
      nv_tileas.async.tiled_tma_load %w[%i, %j] by %desc2 into %stage2 arrive %token : !view[i32, i64], !desc -> !stage
    }
    nv_tileaa.return
  }

  // A borrowed map that is created in a loop is overwritten when the previous copies are done. Stages before the
  // iterator's are waited for in its own round, and the others in the round before. Only borrowed maps wait.
  // CHECK-LABEL: llvm.func @again(
  // CHECK: llvm.call @__tileir_map_claim(
  // CHECK: %[[BEFORE:.*]] = llvm.xor %[[NOW:.*]], %{{.*}} : i32
  // CHECK: %[[ROUND:.*]] = llvm.select %{{.*}}, %[[NOW]], %[[BEFORE]] : i1, i32
  // CHECK-NEXT: mbarrier.try_wait.parity{{.*}} %{{.*}}, %[[ROUND]] :
  // CHECK: %[[ROUND:.*]] = llvm.select %{{.*}}, %[[NOW]], %[[BEFORE]] : i1, i32
  // CHECK: mbarrier.try_wait.parity{{.*}} %{{.*}}, %[[ROUND]] :
  // CHECK: llvm.call @__tileir_maps_borrow(
  // CHECK-NOT: mbarrier.try_wait
  // CHECK: tensormap.replace
  nv_tileaa.func @again(%p: !nv_tileaa.ptr<bf16>, %n: i32, %i: i32) attributes {numWarps = 1 : i64} {
    %scratch = nv_tileas.alloc_tensor offset 4096 : !scratch
    %bars = nv_tileas.alloc_tensor offset 4352 : !nv_tileas.memdesc<4xi64, #b2>
    %pipe = nv_tileas.async.pipeline.create_pipeline %bars phases [full = 1, empty = 1] : !nv_tileas.memdesc<4xi64, #b2> -> !nv_tileas.pipeline<2>
    %first = nv_tileas.async.pipeline.create_iterator %pipe : !nv_tileas.pipeline<2>
    %end = scf.for %k = %n to %i step %n iter_args(%it = %first) -> (!nv_tileas.pipeline_iterator) : i32 {
      %m = nv_tileaa.make_memref %p, shape = [%k, %k : i32, i32], strides = [%n : i32] : <bf16> -> <?x?xbf16, strides = [?, 1]>
      %v = nv_tileaa.make_tiled_view %m : <?x?xbf16, strides = [?, 1]> -> <tile = [8, 128], memref<?x?xbf16, strides = [?, 1]>, padding = zero>
      %desc = nv_tileas.make_tiled_tma_desc %v scratch %scratch behind %pipe at %it : !nv_tileas.pipeline<2> : !view, !scratch -> !desc
      %next = nv_tileas.async.pipeline.inc_iter %it of %pipe : !nv_tileas.pipeline<2>
      scf.yield %next : !nv_tileas.pipeline_iterator
    }
    nv_tileaa.return
  }

  // CHECK-LABEL: llvm.func @draft_where_copies_go(
  // CHECK: "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [$0], [$1], 128;"
  // CHECK-NEXT: "fence.proxy.async.shared::cta;"
  // CHECK-NEXT: "bar.warp.sync -1;"
  nv_tileaa.func @draft_where_copies_go(%p: !nv_tileaa.ptr<bf16>, %n: i32, %i: i32, %j: i64) attributes {numWarps = 1 : i64} {
    %m = nv_tileaa.make_memref %p, shape = [%n, %i : i32, i32], strides = [%n : i32] : <bf16> -> <?x?xbf16, strides = [?, 1]>
    %v = nv_tileaa.make_tiled_view %m : <?x?xbf16, strides = [?, 1]> -> <tile = [8, 128], memref<?x?xbf16, strides = [?, 1]>, padding = zero>
    %scratch = nv_tileas.alloc_tensor offset 1024 : !scratch
    %bars = nv_tileas.alloc_tensor offset 2176 : !bars
    %pipe = nv_tileas.async.pipeline.create_pipeline %bars phases [full = 1, empty = 1] : !bars -> !nv_tileas.pipeline<1>
    %it = nv_tileas.async.pipeline.create_iterator %pipe : !nv_tileas.pipeline<1>
    %desc = nv_tileas.make_tiled_tma_desc %v scratch %scratch : !view, !scratch -> !desc
    nv_tileas.barrier
    %stage = nv_tileas.alloc_tensor offset 0 : !stage
    nv_tileas.async.elect {
      %token = nv_tileas.async.pipeline.producer_acquire %pipe[%it] bytes 2048 : !nv_tileas.pipeline<1>
      nv_tileas.async.tiled_tma_load %v[%i, %j] by %desc into %stage arrive %token : !view[i32, i64], !desc -> !stage
    }
    nv_tileaa.return
  }
}
