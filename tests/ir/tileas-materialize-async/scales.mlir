// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileaa-plan-dots{compute-capability=sm_100 dynamic-persistent=false},tileaa-outline-producers,convert-tileaa-to-tileas{compute-capability=sm_100},tileas-assign-dot-layouts{compute-capability=sm_100},tileas-assign-load-store-layouts{compute-capability=sm_100},tileas-remove-layout-conversions,tileas-materialize-async)' | FileCheck %s
// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileaa-plan-dots{compute-capability=sm_100 dynamic-persistent=false},tileaa-outline-producers,convert-tileaa-to-tileas{compute-capability=sm_100},tileas-assign-dot-layouts{compute-capability=sm_100},tileas-assign-load-store-layouts{compute-capability=sm_100},tileas-remove-layout-conversions,tileas-materialize-async,tileas-specialize-agents,tileas-optimize-alloc-tensor,tileas-check-synchronization)' | FileCheck %s --check-prefix=AGENTS
// Scale factors pass through stages of the operands to columns of tensor memory. The protocol of the agents is checked.

// Warps store them, from rows: the scale factors of 64 columns twice, since a block has 128. Arrivals at a stage: one of
// the thread that copies the operands, and of the four warps one for each thread that copies and one for each warp.
// CHECK-LABEL: nv_tileaa.func @rows(
// CHECK: %[[SA:.*]] = nv_tileas.alloc_tensor : <128x4xf8E8M0FNU, {{.*}}, stages = 8>
// CHECK: %[[SB:.*]] = nv_tileas.alloc_tensor : <4x128xf8E8M0FNU, {{.*}}, stages = 8>
// CHECK: %[[P:.*]] = nv_tileas.async.pipeline.create_pipeline %{{.*}} phases [full = 133, empty = 1]
// CHECK: nv_tileas.tmem_allocate
// CHECK: %[[TA:.*]] = nv_tileas.alloc_tensor : <128x4xf8E8M0FNU, {{.*}}, stages = 8, space = scales>
// CHECK: %[[TB:.*]] = nv_tileas.alloc_tensor : <4x128xf8E8M0FNU, {{.*}}, stages = 8, space = scales>
// CHECK: nv_tileas.async.elect {
// CHECK-NEXT: producer_acquire %[[P]][%[[IT:.*]]] bytes 24576
// CHECK: nv_tileas.async.pipeline.produce_one warps 4 fast 1 of scales {
// CHECK: producer_acquire %[[P]][%[[IT]]] : <8>
// CHECK: %[[A:.*]] = nv_tileas.memdesc_slot %[[SA]]
// CHECK: %[[B:.*]] = nv_tileas.memdesc_slot %[[SB]]
// CHECK: nv_tileas.async.tiled_load {{.*}} into %[[A]]
// CHECK: nv_tileas.broadcast {{.*}} -> tensor<4x2x64xf8E8M0FNU
// CHECK: nv_tileas.local_store %{{.*}}, %[[B]]
// CHECK-NEXT: producer_commit %[[P]][%[[IT]]] : <8>
// CHECK-NEXT: producer_commit %[[P]][%[[IT]]] copies : <8>
// CHECK: nv_tileas.async.elect of matrix {
// CHECK-NEXT: consumer_wait %[[P]][%[[IT]]]
// CHECK: %[[FA:.*]] = nv_tileas.memdesc_slot %[[SA]]
// CHECK: %[[FB:.*]] = nv_tileas.memdesc_slot %[[SB]]
// CHECK-NEXT: nv_tileas.async.fence
// CHECK-NEXT: nv_tileas.tmem_fence after
// CHECK: %[[CA:.*]] = nv_tileas.memdesc_slot %[[TA]]
// CHECK-NEXT: nv_tileas.tmem_copy %[[FA]], %[[CA]]
// CHECK-NEXT: %[[CB:.*]] = nv_tileas.memdesc_slot %[[TB]]
// CHECK-NEXT: nv_tileas.tmem_copy %[[FB]], %[[CB]]
// CHECK-NEXT: nv_tileas.async.dot {{.*}} scales %[[CA]], %[[CB]] per 32 by <tensor, [128, 64, 32]>
// CHECK-NEXT: consumer_release %[[P]][%[[IT]]] dots

// AGENTS-LABEL: nv_tileaa.func @rows(
// AGENTS: agent_switch agents [<"consumers", warps = 8>, <"producer", warps = 1>, <"matrix", warps = 1>, <"scales", warps = 4>] {
// AGENTS: nv_tileas.tmem_load
// AGENTS: }, {
// AGENTS: async.tiled_tma_load
// AGENTS: }, {
// AGENTS: tmem_copy
// AGENTS: async.dot
// AGENTS: }, {
// AGENTS: producer_acquire
// AGENTS: local_store
!a = !nv_tileaa.tiled_view<tile = [128, 128], memref<?x?xf8E4M3FN, strides = [?, 1]>, padding = zero>
!b = !nv_tileaa.tiled_view<tile = [128, 64], memref<?x?xf8E4M3FN, strides = [1, ?]>, padding = zero>
!sa = !nv_tileaa.tiled_view<tile = [128, 4], memref<?x?xf8E8M0FNU, strides = [?, 1]>>
!sb = !nv_tileaa.tiled_view<tile = [4, 64], memref<?x?xf8E8M0FNU, strides = [1, ?]>>
!c = !nv_tileaa.tiled_view<tile = [128, 64], memref<128x64xf32, strides = [64, 1]>>

nv_tileaa.func @rows(%p0: !nv_tileaa.ptr<f8E4M3FN>, %q0: !nv_tileaa.ptr<f8E8M0FNU>, %o: !nv_tileaa.ptr<f32>, %n: i32, %m0: i32, %k0: i32) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f8E4M3FN>
  %q = nv_tileaa.assume #cuda_tile.div_by<16>, %q0 : !nv_tileaa.ptr<f8E8M0FNU>
  %m = nv_tileaa.assume #cuda_tile.div_by<16>, %m0 : i32
  %k = nv_tileaa.assume #cuda_tile.div_by<16>, %k0 : i32
  %ma = nv_tileaa.make_memref %p, shape = [%m, %k : i32, i32], strides = [%k : i32] : <f8E4M3FN> -> <?x?xf8E4M3FN, strides = [?, 1]>
  %mb = nv_tileaa.make_memref %p, shape = [%k, %m : i32, i32], strides = [%k : i32] : <f8E4M3FN> -> <?x?xf8E4M3FN, strides = [1, ?]>
  %msa = nv_tileaa.make_memref %q, shape = [%m, %k : i32, i32], strides = [%k : i32] : <f8E8M0FNU> -> <?x?xf8E8M0FNU, strides = [?, 1]>
  %msb = nv_tileaa.make_memref %q, shape = [%k, %m : i32, i32], strides = [%k : i32] : <f8E8M0FNU> -> <?x?xf8E8M0FNU, strides = [1, ?]>
  %va = nv_tileaa.make_tiled_view %ma : <?x?xf8E4M3FN, strides = [?, 1]> -> !a
  %vb = nv_tileaa.make_tiled_view %mb : <?x?xf8E4M3FN, strides = [1, ?]> -> !b
  %vsa = nv_tileaa.make_tiled_view %msa : <?x?xf8E8M0FNU, strides = [?, 1]> -> !sa
  %vsb = nv_tileaa.make_tiled_view %msb : <?x?xf8E8M0FNU, strides = [1, ?]> -> !sb
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<128x64xf32>
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<128x64xf32>) : i32 {
    %a, %t1 = nv_tileaa.tiled_load <weak> %va[%c0, %i] : !a[i32, i32] -> tensor<128x128xf8E4M3FN>
    %b, %t2 = nv_tileaa.tiled_load <weak> %vb[%i, %c0] : !b[i32, i32] -> tensor<128x64xf8E4M3FN>
    %sa, %t3 = nv_tileaa.tiled_load <weak> %vsa[%c0, %i] : !sa[i32, i32] -> tensor<128x4xf8E8M0FNU>
    %sb, %t4 = nv_tileaa.tiled_load <weak> %vsb[%i, %c0] : !sb[i32, i32] -> tensor<4x64xf8E8M0FNU>
    %d = nv_tileaa.dot_scaled %a scale %sa, %b scale %sb, %acc : tensor<128x128xf8E4M3FN>, tensor<128x4xf8E8M0FNU>, tensor<128x64xf8E4M3FN>, tensor<4x64xf8E8M0FNU>, tensor<128x64xf32>
    scf.yield %d : tensor<128x64xf32>
  }
  %mo = nv_tileaa.make_memref %o, shape = [], strides = [] : <f32> -> <128x64xf32, strides = [64, 1]>
  %vo = nv_tileaa.make_tiled_view %mo : <128x64xf32, strides = [64, 1]> -> !c
  %t5 = nv_tileaa.tiled_store <weak> %sum, %vo[%c0, %c0] : tensor<128x64xf32>, !c[i32, i32]
  nv_tileaa.return
}

// Blocks are copied as they are, and elements of 4 bits stay packed.
// CHECK-LABEL: nv_tileaa.func @blocks(
// CHECK: nv_tileas.alloc_tensor : <128x256xf4E2M1FN, {{.*}}, stages = 5, align = 1024, packed>
// CHECK: nv_tileas.alloc_tensor : <256x128xf4E2M1FN, {{.*}}, stages = 5, align = 1024, packed>
// CHECK: nv_tileas.async.elect {
// CHECK-NEXT: producer_acquire %{{.*}} bytes 36864
// CHECK: nv_tileas.async.tiled_tma_load {{.*}}, box = [128, 128], {{.*}} packed>
// CHECK: nv_tileas.async.tiled_tma_load
// CHECK: nv_tileas.async.bulk_load
// CHECK: nv_tileas.async.bulk_load
// CHECK-NOT: produce_one
// CHECK: nv_tileas.async.elect of matrix {
// CHECK: nv_tileas.memdesc_permute {{.*}} [0, 3, 2, 1, 4]
// CHECK-NEXT: nv_tileas.memdesc_view
// CHECK-NEXT: nv_tileas.tmem_copy
// CHECK: nv_tileas.memdesc_permute {{.*}} [1, 4, 0, 3, 2]
// CHECK-NEXT: nv_tileas.memdesc_view
// CHECK-NEXT: nv_tileas.tmem_copy
// CHECK-NEXT: nv_tileas.async.dot {{.*}} per 16 by <tensor, [128, 128, 64]>

// AGENTS-LABEL: nv_tileaa.func @blocks(
// AGENTS: agent_switch agents [<"consumers", warps = 8>, <"producer", warps = 1>, <"matrix", warps = 1>] {
!pa = !nv_tileaa.tiled_view<tile = [128, 256], memref<?x256xf4E2M1FN, strides = [?, 1]>, padding = zero>
!pb = !nv_tileaa.tiled_view<tile = [256, 128], memref<256x?xf4E2M1FN, strides = [1, ?]>, padding = zero>
!blocks = !nv_tileaa.tiled_view<tile = [1, 4, 32, 4, 4], memref<?x4x32x4x4xf8E4M3FN, strides = [2048, 512, 16, 4, 1]>>
!pc = !nv_tileaa.tiled_view<tile = [128, 128], memref<128x128xf32, strides = [128, 1]>>

nv_tileaa.func @blocks(%p0: !nv_tileaa.ptr<f4E2M1FN>, %q0: !nv_tileaa.ptr<f8E4M3FN>, %o: !nv_tileaa.ptr<f32>, %n: i32, %m0: i32) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f4E2M1FN>
  %q = nv_tileaa.assume #cuda_tile.div_by<16>, %q0 : !nv_tileaa.ptr<f8E4M3FN>
  %m = nv_tileaa.assume #cuda_tile.div_by<32>, %m0 : i32
  %ma = nv_tileaa.make_memref %p, shape = [%m : i32], strides = [%m : i32] : <f4E2M1FN> -> <?x256xf4E2M1FN, strides = [?, 1]>
  %mb = nv_tileaa.make_memref %p, shape = [%m : i32], strides = [%m : i32] : <f4E2M1FN> -> <256x?xf4E2M1FN, strides = [1, ?]>
  %ms = nv_tileaa.make_memref %q, shape = [%m : i32], strides = [] : <f8E4M3FN> -> <?x4x32x4x4xf8E4M3FN, strides = [2048, 512, 16, 4, 1]>
  %va = nv_tileaa.make_tiled_view %ma : <?x256xf4E2M1FN, strides = [?, 1]> -> !pa
  %vb = nv_tileaa.make_tiled_view %mb : <256x?xf4E2M1FN, strides = [1, ?]> -> !pb
  %vs = nv_tileaa.make_tiled_view %ms : <?x4x32x4x4xf8E4M3FN, strides = [2048, 512, 16, 4, 1]> -> !blocks
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<128x128xf32>) : i32 {
    %a, %t1 = nv_tileaa.tiled_load <weak> %va[%i, %c0] : !pa[i32, i32] -> tensor<128x256xf4E2M1FN>
    %b, %t2 = nv_tileaa.tiled_load <weak> %vb[%c0, %i] : !pb[i32, i32] -> tensor<256x128xf4E2M1FN>
    %sa, %t3 = nv_tileaa.tiled_load <weak> %vs[%i, %c0, %c0, %c0, %c0] : !blocks[i32, i32, i32, i32, i32] -> tensor<1x4x32x4x4xf8E4M3FN>
    %sa1 = nv_tileaa.permute %sa [0, 3, 2, 1, 4] : tensor<1x4x32x4x4xf8E4M3FN> -> tensor<1x4x32x4x4xf8E4M3FN>
    %sa2 = nv_tileaa.view %sa1 : tensor<1x4x32x4x4xf8E4M3FN> -> tensor<128x16xf8E4M3FN>
    %sb, %t4 = nv_tileaa.tiled_load <weak> %vs[%i, %c0, %c0, %c0, %c0] : !blocks[i32, i32, i32, i32, i32] -> tensor<1x4x32x4x4xf8E4M3FN>
    %sb1 = nv_tileaa.permute %sb [1, 4, 0, 3, 2] : tensor<1x4x32x4x4xf8E4M3FN> -> tensor<4x4x1x4x32xf8E4M3FN>
    %sb2 = nv_tileaa.view %sb1 : tensor<4x4x1x4x32xf8E4M3FN> -> tensor<16x128xf8E4M3FN>
    %d = nv_tileaa.dot_scaled %a scale %sa2, %b scale %sb2, %acc : tensor<128x256xf4E2M1FN>, tensor<128x16xf8E4M3FN>, tensor<256x128xf4E2M1FN>, tensor<16x128xf8E4M3FN>, tensor<128x128xf32>
    scf.yield %d : tensor<128x128xf32>
  }
  %mo = nv_tileaa.make_memref %o, shape = [], strides = [] : <f32> -> <128x128xf32, strides = [128, 1]>
  %vo = nv_tileaa.make_tiled_view %mo : <128x128xf32, strides = [128, 1]> -> !pc
  %t5 = nv_tileaa.tiled_store <weak> %sum, %vo[%c0, %c0] : tensor<128x128xf32>, !pc[i32, i32]
  nv_tileaa.return
}

// Two CTAs. Each counts the bytes of its own scale factors, and its converter tells the leader.
// CHECK-LABEL: nv_tileaa.func @block_pair(
// CHECK: nv_tileas.alloc_tensor : <256x64xf4E2M1FN,
// CHECK: %[[P:.*]] = nv_tileas.async.pipeline.create_pipeline %{{.*}} phases [full = 1, empty = 1, converted = 8, scales = 1] leader full, converted
// CHECK: nv_tileas.async.elect {
// CHECK-NEXT: %[[FULL:.*]] = nv_tileas.async.pipeline.producer_acquire %[[P]][%[[IT:.*]]] bytes 24576 :
// CHECK-NEXT: %[[OWN:.*]] = nv_tileas.async.pipeline.producer_acquire %[[P]][%[[IT]]] bytes 4096 fills scales :
// CHECK: nv_tileas.async.tiled_tma_load {{.*}} arrive %[[FULL]]
// CHECK: nv_tileas.async.tiled_tma_load {{.*}} arrive %[[FULL]]
// CHECK: nv_tileas.async.bulk_load {{.*}} arrive %[[OWN]]
// CHECK: nv_tileas.async.bulk_load {{.*}} arrive %[[OWN]]
// CHECK: nv_tileas.async.pipeline.produce_one warps 4 fast 0 of converter {
// CHECK-NEXT: consumer_wait %[[P]][%[[IT]]] at scales
// CHECK: producer_commit %[[P]][%[[IT]]] at converted
// CHECK: nv_tileas.async.elect of matrix {
// CHECK-NEXT: consumer_wait %[[P]][%[[IT]]] :
// CHECK-NEXT: consumer_wait %[[P]][%[[IT]]] at converted
// CHECK: nv_tileas.tmem_copy {{.*}} pair
// CHECK: nv_tileas.tmem_copy {{.*}} pair
// CHECK-NEXT: nv_tileas.async.dot {{.*}} per 16 by <tensor_pair, [256, 128, 64]>
// CHECK-NEXT: consumer_release %[[P]][%[[IT]]] dots

// AGENTS-LABEL: nv_tileaa.func @block_pair(
// AGENTS: agent_switch agents [<"consumers", warps = 8>, <"producer", warps = 1>, <"matrix", warps = 1 on rank 0>, <"converter", warps = 4>] {
!both = !nv_tileaa.tiled_view<tile = [128, 128], memref<256x128xf32, strides = [128, 1]>>

nv_tileaa.func @block_pair(%p0: !nv_tileaa.ptr<f4E2M1FN>, %q0: !nv_tileaa.ptr<f8E4M3FN>, %o: !nv_tileaa.ptr<f32>, %n: i32, %m0: i32) attributes {nv_tileas.num_ctas = 2 : i64} {
  %rank = nv_tileaa.get_cta_rank
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f4E2M1FN>
  %q = nv_tileaa.assume #cuda_tile.div_by<16>, %q0 : !nv_tileaa.ptr<f8E4M3FN>
  %m = nv_tileaa.assume #cuda_tile.div_by<32>, %m0 : i32
  %ma = nv_tileaa.make_memref %p, shape = [%m : i32], strides = [%m : i32] : <f4E2M1FN> -> <?x256xf4E2M1FN, strides = [?, 1]>
  %mb = nv_tileaa.make_memref %p, shape = [%m : i32], strides = [%m : i32] : <f4E2M1FN> -> <256x?xf4E2M1FN, strides = [1, ?]>
  %ms = nv_tileaa.make_memref %q, shape = [%m : i32], strides = [] : <f8E4M3FN> -> <?x4x32x4x4xf8E4M3FN, strides = [2048, 512, 16, 4, 1]>
  %va = nv_tileaa.make_tiled_view %ma : <?x256xf4E2M1FN, strides = [?, 1]> -> !pa
  %vb = nv_tileaa.make_tiled_view %mb : <256x?xf4E2M1FN, strides = [1, ?]> -> !pb
  %vs = nv_tileaa.make_tiled_view %ms : <?x4x32x4x4xf8E4M3FN, strides = [2048, 512, 16, 4, 1]> -> !blocks
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<128x128xf32>) : i32 {
    %a, %t1 = nv_tileaa.tiled_load <weak> %va[%rank, %c0] : !pa[i32, i32] -> tensor<128x256xf4E2M1FN>
    %b, %t2 = nv_tileaa.tiled_load <weak> %vb[%c0, %i] : !pb[i32, i32] -> tensor<256x128xf4E2M1FN>
    %sa, %t3 = nv_tileaa.tiled_load <weak> %vs[%rank, %c0, %c0, %c0, %c0] : !blocks[i32, i32, i32, i32, i32] -> tensor<1x4x32x4x4xf8E4M3FN>
    %sa1 = nv_tileaa.permute %sa [0, 3, 2, 1, 4] : tensor<1x4x32x4x4xf8E4M3FN> -> tensor<1x4x32x4x4xf8E4M3FN>
    %sa2 = nv_tileaa.view %sa1 : tensor<1x4x32x4x4xf8E4M3FN> -> tensor<128x16xf8E4M3FN>
    %sb, %t4 = nv_tileaa.tiled_load <weak> %vs[%i, %c0, %c0, %c0, %c0] : !blocks[i32, i32, i32, i32, i32] -> tensor<1x4x32x4x4xf8E4M3FN>
    %sb1 = nv_tileaa.permute %sb [1, 4, 0, 3, 2] : tensor<1x4x32x4x4xf8E4M3FN> -> tensor<4x4x1x4x32xf8E4M3FN>
    %sb2 = nv_tileaa.view %sb1 : tensor<4x4x1x4x32xf8E4M3FN> -> tensor<16x128xf8E4M3FN>
    %d = nv_tileaa.dot_scaled %a scale %sa2, %b scale %sb2, %acc : tensor<128x256xf4E2M1FN>, tensor<128x16xf8E4M3FN>, tensor<256x128xf4E2M1FN>, tensor<16x128xf8E4M3FN>, tensor<128x128xf32>
    scf.yield %d : tensor<128x128xf32>
  }
  %mo = nv_tileaa.make_memref %o, shape = [], strides = [] : <f32> -> <256x128xf32, strides = [128, 1]>
  %vo = nv_tileaa.make_tiled_view %mo : <256x128xf32, strides = [128, 1]> -> !both
  %t5 = nv_tileaa.tiled_store <weak> %sum, %vo[%rank, %c0] : tensor<128x128xf32>, !both[i32, i32]
  nv_tileaa.return
}
