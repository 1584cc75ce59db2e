// RUN: tileiras-opt %s | tileiras-opt | FileCheck %s
// RUN: tileiras-opt %s --mlir-print-op-generic | tileiras-opt | FileCheck %s
// Storage with stages, its views, and asynchronous copies.
#l = #nv_tileas.layout<register = [1, 2], lane = [4, 8, 16, 32, 64], warp = []>
#s = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64]>
#turned = #nv_tileas.shared_layout<offset = [16, 32, 64, 1, 2, 4, 8]>

// CHECK-LABEL: nv_tileaa.func @all
nv_tileaa.func @all(%v: !nv_tileaa.tiled_view<tile = [16, 8], memref<?x?xf32, strides = [?, 1]>>, %i: i32, %p: tensor<16x8x!nv_tileaa.ptr<f32>, #l>, %m: tensor<16x8xi1, #l>, %k: i1, %t: !nv_tileaa.mem_token) {
  // CHECK: %[[R:.*]] = nv_tileas.alloc_tensor : <16x8xf32, stages = 3>
  %r = nv_tileas.alloc_tensor : !nv_tileas.memdesc<16x8xf32, #s, stages = 3>
  // CHECK: %[[S:.*]] = nv_tileas.memdesc_slot %[[R]][%arg1] : {{.*}}, stages = 3> -> <16x8xf32>
  %x = nv_tileas.memdesc_slot %r[%i] : !nv_tileas.memdesc<16x8xf32, #s, stages = 3> -> !nv_tileas.memdesc<16x8xf32, #s>
  // CHECK: nv_tileas.memdesc_view %[[S]] : {{.*}} -> <128xf32>
  %y = nv_tileas.memdesc_view %x : !nv_tileas.memdesc<16x8xf32, #s> -> !nv_tileas.memdesc<128xf32, #s>
  // CHECK: nv_tileas.memdesc_permute %[[S]] [1, 0] : {{.*}} -> <8x16xf32, #nv_tileas.shared_layout<offset = [16, 32, 64, 1, 2, 4, 8]>>
  %z = nv_tileas.memdesc_permute %x [1, 0] : !nv_tileas.memdesc<16x8xf32, #s> -> !nv_tileas.memdesc<8x16xf32, #turned>
  // CHECK: %[[D:.*]], %{{.*}} = nv_tileas.async.tiled_load %arg0[%arg1, %arg1] into %[[S]] if %arg4 token %arg5 layout <register = [1, 2], lane = [4, 8, 16, 32, 64], warp = []> vector 4 bounds <vector> in_bounds [true, false] :
  %d, %t1 = nv_tileas.async.tiled_load %v[%i, %i] into %x if %k token %t layout <register = [1, 2], lane = [4, 8, 16, 32, 64], warp = []> vector 4 bounds <vector> in_bounds [true, false] : <tile = [16, 8], memref<?x?xf32, strides = [?, 1]>>[i32, i32] -> !nv_tileas.memdesc<16x8xf32, #s>
  // CHECK: %[[E:.*]], %{{.*}} = nv_tileas.async.load %arg2 mask %arg3 : {{.*}} into %[[S]] vector 1 along 1 :
  %e, %t2 = nv_tileas.async.load %p mask %m : tensor<16x8xi1, #l> into %x vector 1 along 1 : tensor<16x8x!nv_tileaa.ptr<f32>, #l> -> !nv_tileas.memdesc<16x8xf32, #s>
  // CHECK: %[[G:.*]] = nv_tileas.async.commit of %[[D]], %[[E]]
  %g = nv_tileas.async.commit of %d, %e
  // CHECK: nv_tileas.async.wait %[[G]] pending 2
  nv_tileas.async.wait %g pending 2
  nv_tileaa.return
}
