// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileaa-plan-dots{compute-capability=sm_90},convert-tileaa-to-tileas{compute-capability=sm_90},tileas-assign-dot-layouts{compute-capability=sm_90},tileas-assign-load-store-layouts{compute-capability=sm_90},tileas-remove-layout-conversions,tileas-materialize-async,tileas-specialize-agents)' | FileCheck %s
// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileaa-plan-dots{compute-capability=sm_90},convert-tileaa-to-tileas{compute-capability=sm_90},tileas-assign-dot-layouts{compute-capability=sm_90},tileas-assign-load-store-layouts{compute-capability=sm_90},tileas-remove-layout-conversions,tileas-materialize-async,tileas-specialize-agents,tileas-optimize-alloc-tensor,tileas-check-synchronization)' -o /dev/null

// A kernel that processes a list of matrices: each agent loads the start of a matrix and checks itself whether there
// is another tile. The producer looks up the map of the matrix before the copies of a tile and after those of the
// previous tile, and the map of the other operand once at the start.
// CHECK-LABEL: nv_tileaa.func @list(
// CHECK: agent_switch
// CHECK: scf.for {{.*}} iter_args({{.*}} = %[[FIRST:[0-9]+]])
// CHECK: nv_tileas.tiled_load {{.*}} -> tensor<1x1xi32
// CHECK: scf.while
// CHECK-NOT: make_tiled_tma_desc
// CHECK: scf.for
// CHECK: consumer_wait
// CHECK: async.dot
// CHECK: }, {
// CHECK: nv_tileas.make_tiled_tma_desc %{{.*}} scratch %{{.*}} : <tile = [64, 32]
// CHECK: scf.for {{.*}} iter_args(%[[OUTER:.*]] = %[[FIRST]])
// CHECK: nv_tileas.tiled_load {{.*}} -> tensor<1x1xi32
// CHECK: %[[M:.*]] = nv_tileaa.make_memref
// CHECK: %[[W:.*]]:2 = scf.while (%[[T:.*]] = %{{.*}}, %[[IT:.*]] = %[[OUTER]])
// CHECK-NEXT: %[[MORE:.*]] = arith.cmpi slt, %[[T]]
// CHECK-NEXT: %[[IF:.*]]:2 = scf.if %[[MORE]]
// CHECK-NEXT: %[[V:.*]] = nv_tileaa.make_tiled_view %[[M]]
// CHECK-NEXT: nv_tileas.make_tiled_tma_desc %[[V]] scratch %{{.*}} behind %[[P:.*]] at %[[IT]] : !nv_tileas.pipeline
// CHECK-NEXT: %[[K:.*]] = scf.for {{.*}} iter_args(%[[I:.*]] = %[[IT]])
// CHECK: nv_tileas.async.elect {
// CHECK-NEXT: producer_acquire %[[P]][%[[I]]] bytes
// CHECK: scf.condition(%[[MORE]]) %[[IF]]#0, %[[IF]]#1
// CHECK: scf.yield %[[W]]#1
!lists = !nv_tileaa.tiled_view<tile = [1, 1], memref<?x3xi32, strides = [3, 1]>>
!left = !nv_tileaa.tiled_view<tile = [64, 64], memref<?x256xf16, strides = [256, 1]>, padding = zero>
!right = !nv_tileaa.tiled_view<tile = [64, 32], memref<256x32xf16, strides = [32, 1]>, padding = zero>
!out = !nv_tileaa.tiled_view<tile = [64, 32], memref<?x32xf32, strides = [32, 1]>>
nv_tileaa.func @list(%p: !nv_tileaa.ptr<f16>, %q0: !nv_tileaa.ptr<f16>, %r: !nv_tileaa.ptr<f32>, %l: !nv_tileaa.ptr<i32>, %n: i32, %x: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c4 = arith.constant 4 : i32
  %zero = arith.constant dense<0.0> : tensor<64x32xf32>
  %q = nv_tileaa.assume #cuda_tile.div_by<16>, %q0 : !nv_tileaa.ptr<f16>
  %mq = nv_tileaa.make_memref %q, shape = [], strides = [] : <f16> -> <256x32xf16, strides = [32, 1]>
  %vq = nv_tileaa.make_tiled_view %mq : <256x32xf16, strides = [32, 1]> -> !right
  %ml = nv_tileaa.make_memref %l, shape = [%n : i32], strides = [] : <i32> -> <?x3xi32, strides = [3, 1]>
  %vl = nv_tileaa.make_tiled_view %ml : <?x3xi32, strides = [3, 1]> -> !lists
  scf.for %g = %c0 to %n step %c1 : i32 {
    %e, %te = nv_tileaa.tiled_load <weak> %vl[%g, %c0] : !lists[i32, i32] -> tensor<1x1xi32>
    %o = nv_tileaa.unsplat %e : tensor<1x1xi32> -> i32
    %b = nv_tileaa.addptr %p, %o : !nv_tileaa.ptr<f16>, i32
    %a = nv_tileaa.assume #cuda_tile.div_by<16>, %b : !nv_tileaa.ptr<f16>
    %m = nv_tileaa.make_memref %a, shape = [%o : i32], strides = [] : <f16> -> <?x256xf16, strides = [256, 1]>
    %v = nv_tileaa.make_tiled_view %m : <?x256xf16, strides = [256, 1]> -> !left
    %mo = nv_tileaa.make_memref %r, shape = [%o : i32], strides = [] : <f32> -> <?x32xf32, strides = [32, 1]>
    %vo = nv_tileaa.make_tiled_view %mo : <?x32xf32, strides = [32, 1]> -> !out
    %end = scf.while (%t = %x) : (i32) -> i32 {
      %more = arith.cmpi slt, %t, %o : i32
      %next = scf.if %more -> (i32) {
        %sum = scf.for %k = %c0 to %c4 step %c1 iter_args(%acc = %zero) -> (tensor<64x32xf32>) : i32 {
          %y, %t1 = nv_tileaa.tiled_load <weak> %v[%t, %k] : !left[i32, i32] -> tensor<64x64xf16>
          %z, %t2 = nv_tileaa.tiled_load <weak> %vq[%k, %c0] : !right[i32, i32] -> tensor<64x32xf16>
          %d = nv_tileaa.dot %y, %z, %acc : tensor<64x64xf16>, tensor<64x32xf16>, tensor<64x32xf32>
          scf.yield %d : tensor<64x32xf32>
        }
        %t3 = nv_tileaa.tiled_store <weak> %sum, %vo[%t, %c0] : tensor<64x32xf32>, !out[i32, i32]
        %u = arith.addi %t, %c4 : i32
        scf.yield %u : i32
      } else {
        scf.yield %t : i32
      }
      scf.condition(%more) %next : i32
    } do {
    ^bb0(%t: i32):
      scf.yield %t : i32
    }
  }
  nv_tileaa.return
}
