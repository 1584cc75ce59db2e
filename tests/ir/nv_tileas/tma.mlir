// RUN: tileiras-opt %s | tileiras-opt | FileCheck %s
// Tensor maps of views, and TMA copies.
#x = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64]>
#s = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 72, 144, 288]>
#b = #nv_tileas.shared_layout<offset = [1]>
!scratch = !nv_tileas.memdesc<128xi8, #x>
!stage = !nv_tileas.memdesc<8x64xbf16, #s, align = 1024>
!bars = !nv_tileas.memdesc<2xi64, #b>
!view = !nv_tileaa.tiled_view<tile = [8, 64], memref<?x?xbf16, strides = [?, 1]>, padding = zero>
!desc = !nv_tileas.tma_desc<bf16, dims = [1, 0], box = [64, 8], steps = [1, 1], swizzle = 128, fill = zero>

// CHECK-LABEL: nv_tileaa.func @copy
// CHECK: %[[DESC:.*]] = nv_tileas.make_tiled_tma_desc %{{.*}} scratch %{{.*}} : <tile = [8, 64], {{.*}}>, <128xi8> -> <bf16, box = [64, 8], swizzle = 128>
// CHECK: nv_tileas.async.elect
// CHECK: nv_tileas.async.tiled_tma_load %{{.*}}[%{{.*}}, %{{.*}}] by %[[DESC]] into %{{.*}} arrive %{{.*}} : <{{.*}}>[i32, i64], <{{.*}}> -> <8x64xbf16, #{{.*}}, align = 1024>
nv_tileaa.func @copy(%p: !nv_tileaa.ptr<bf16>, %n: i32, %i: i32, %j: i64) attributes {numWarps = 1 : i64} {
  %m = nv_tileaa.make_memref %p, shape = [%n, %n : i32, i32], strides = [%n : i32] : <bf16> -> <?x?xbf16, strides = [?, 1]>
  %v = nv_tileaa.make_tiled_view %m : <?x?xbf16, strides = [?, 1]> -> <tile = [8, 64], memref<?x?xbf16, strides = [?, 1]>, padding = zero>
  %scratch = nv_tileas.alloc_tensor : !scratch
  %stage = nv_tileas.alloc_tensor : !stage
  %bars = nv_tileas.alloc_tensor : !bars
  %pipe = nv_tileas.async.pipeline.create_pipeline %bars phases [full = 1, empty = 1] : !bars -> !nv_tileas.pipeline<1>
  %it = nv_tileas.async.pipeline.create_iterator %pipe : !nv_tileas.pipeline<1>
  %desc = nv_tileas.make_tiled_tma_desc %v scratch %scratch : !view, !scratch -> !desc
  nv_tileas.async.elect {
    %token = nv_tileas.async.pipeline.producer_acquire %pipe[%it] bytes 1024 : !nv_tileas.pipeline<1>
    nv_tileas.async.tiled_tma_load %v[%i, %j] by %desc into %stage arrive %token : !view[i32, i64], !desc -> !stage
  }
  nv_tileaa.return
}

// A map of a view that is created in a loop is ordered after the copies that use the previous map.
// CHECK-LABEL: nv_tileaa.func @again
// CHECK: nv_tileas.make_tiled_tma_desc %{{.*}} scratch %{{.*}} behind %[[P:.*]], %[[Q:.*]] at %[[I:.*]], %[[J:.*]] : !nv_tileas.pipeline<1>, !nv_tileas.pipeline<2> : <tile = [8, 64], {{.*}}>, <128xi8> -> <bf16,
nv_tileaa.func @again(%p: !nv_tileaa.ptr<bf16>, %n: i32, %x: !nv_tileas.pipeline<1>, %y: !nv_tileas.pipeline<2>) attributes {numWarps = 1 : i64} {
  %scratch = nv_tileas.alloc_tensor : !scratch
  %i = nv_tileas.async.pipeline.create_iterator %x : !nv_tileas.pipeline<1>
  %j = nv_tileas.async.pipeline.create_iterator %y : !nv_tileas.pipeline<2>
  scf.for %k = %n to %n step %n : i32 {
    %q = nv_tileaa.addptr %p, %k : !nv_tileaa.ptr<bf16>, i32
    %m = nv_tileaa.make_memref %q, shape = [%n, %n : i32, i32], strides = [%n : i32] : <bf16> -> <?x?xbf16, strides = [?, 1]>
    %v = nv_tileaa.make_tiled_view %m : <?x?xbf16, strides = [?, 1]> -> <tile = [8, 64], memref<?x?xbf16, strides = [?, 1]>, padding = zero>
    %desc = nv_tileas.make_tiled_tma_desc %v scratch %scratch behind %x, %y at %i, %j : !nv_tileas.pipeline<1>, !nv_tileas.pipeline<2> : !view, !scratch -> !desc
  }
  nv_tileaa.return
}

// CHECK-LABEL: nv_tileaa.func @tested
// CHECK: %[[READY:.*]] = nv_tileas.tma_ready %{{.*}} for !nv_tileas.tma_desc<bf16, {{.*}}> : <tile = [8, 64], {{.*}}>
// CHECK-NEXT: scf.if %[[READY]]
// CHECK: producer_acquire %{{.*}} bytes 0 :
nv_tileaa.func @tested(%p: !nv_tileaa.ptr<bf16>, %n: i32, %x: !nv_tileas.pipeline<1>) attributes {numWarps = 1 : i64} {
  %m = nv_tileaa.make_memref %p, shape = [%n, %n : i32, i32], strides = [%n : i32] : <bf16> -> <?x?xbf16, strides = [?, 1]>
  %v = nv_tileaa.make_tiled_view %m : <?x?xbf16, strides = [?, 1]> -> <tile = [8, 64], memref<?x?xbf16, strides = [?, 1]>, padding = zero>
  %it = nv_tileas.async.pipeline.create_iterator %x : !nv_tileas.pipeline<1>
  %ready = nv_tileas.tma_ready %v for !desc : !view
  scf.if %ready {
    nv_tileas.async.elect {
      %token = nv_tileas.async.pipeline.producer_acquire %x[%it] bytes 0 : !nv_tileas.pipeline<1>
    }
  }
  nv_tileaa.return
}

// CHECK-LABEL: nv_tileaa.func @store
// CHECK: nv_tileas.async.tiled_tma_store %{{.*}} to %{{.*}}[%{{.*}}, %{{.*}}] by %{{.*}} : <8x64xbf16, #{{.*}}, align = 1024> -> <{{.*}}>[i32, i64], <bf16, {{.*}}>
// CHECK-NEXT: nv_tileas.async.tma_store_wait %{{[0-9]+}} : !nv_tileas.memdesc<8x64xbf16
// CHECK-NEXT: nv_tileas.async.tma_store_wait read
nv_tileaa.func @store(%p: !nv_tileaa.ptr<bf16>, %n: i32, %i: i32, %j: i64) attributes {numWarps = 1 : i64} {
  %m = nv_tileaa.make_memref %p, shape = [%n, %n : i32, i32], strides = [%n : i32] : <bf16> -> <?x?xbf16, strides = [?, 1]>
  %v = nv_tileaa.make_tiled_view %m : <?x?xbf16, strides = [?, 1]> -> <tile = [8, 64], memref<?x?xbf16, strides = [?, 1]>, padding = zero>
  %scratch = nv_tileas.alloc_tensor : !scratch
  %tile = nv_tileas.alloc_tensor : !stage
  %desc = nv_tileas.make_tiled_tma_desc %v scratch %scratch : !view, !scratch -> !desc
  nv_tileas.async.tiled_tma_store %tile to %v[%i, %j] by %desc : !stage -> !view[i32, i64], !desc
  nv_tileas.async.tma_store_wait %tile : !stage
  nv_tileas.async.tma_store_wait read
  nv_tileaa.return
}
