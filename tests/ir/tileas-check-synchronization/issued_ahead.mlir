// RUN: tileiras-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(tileas-check-synchronization)'
// Dots that are issued an iteration ahead (`tileas-issue-ahead`). Consumers acquire the memory of the weights before they
// scale the results, and the checker knows in which iterations the branches of the loop run.

!it = !nv_tileas.pipeline_iterator
!memref = !nv_tileaa.memref<?x64xf16, strides = [64, 1]>
!memref1 = !nv_tileaa.memref<128x64xf32, strides = [64, 1]>
#agents = [#nv_tileas.agent<"consumers", warps = 4, registers = 208>, #nv_tileas.agent<"producer", warps = 1, registers = 48>, #nv_tileas.agent<"matrix", warps = 1, registers = 48>, #nv_tileas.agent<"spare", warps = 2, registers = 48>]
#layout = #nv_tileas.layout<register = [1, 2, 4, 8, 16, 32], lane = [64, 128, 256, 512, 1024], warp = [2048, 4096]>
#layout1 = #nv_tileas.layout<register = [], lane = [1, 2, 4, 8, 16], warp = [32, 64]>
#layout2 = #nv_tileas.layout<register = [1, 2, 4, 1024, 2048, 4096], lane = [8, 16, 32, 64, 128], warp = [256, 512]>
#layout3 = #nv_tileas.layout<register = [32, 256, 512, 1024, 2048, 4096], lane = [1, 2, 4, 8, 16], warp = [64, 128]>
#smem = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 72, 144, 288, 512, 1024, 2048]>
#smem1 = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 72, 144, 288, 512, 1024, 2048, 4096]>
#smem2 = #nv_tileas.shared_layout<offset = [1, 2, 64, 128, 256, 512, 1024, 2048, 4096, 32, 68, 136, 272]>
#plan = #nv_tileas.dot_plan<groups = [1, 1], columns = 64, stages = 8, scratch = 32128, launch_registers = 128, agents = #agents, unit = tensor with whole_rows = true with issue_ahead = true>
module {
  nv_tileaa.func @attention(%arg0: !nv_tileaa.ptr<f16>, %arg1: !nv_tileaa.ptr<f32>, %arg2: i32, %arg3: i32) attributes {numWarps = 8 : i64, nv_tileas.dot_plan = #plan, nv_tileas.max_registers = 128 : i64} {
    %0 = nv_tileas.alloc_tensor offset 0 : <64x64xf16, #smem, stages = 8, align = 1024>
    %1 = nv_tileas.alloc_tensor offset 81920 : <16xi64>
    %ring = nv_tileas.async.pipeline.create_pipeline %1 phases [full = 1, empty = 1] : <16xi64> -> <8>
    %2 = nv_tileas.async.pipeline.create_iterator %ring : <8>
    %3 = nv_tileas.alloc_tensor offset 82048 : <128xi8>
    %4 = nv_tileas.alloc_tensor offset 65536 : <128x64xf16, #smem1, align = 1024>
    %5 = nv_tileas.alloc_tensor offset 82176 : <2xi64>
    %ring_0 = nv_tileas.async.pipeline.create_pipeline %5 phases [full = 4, empty = 1] : <2xi64> -> <1>
    %6 = nv_tileas.async.pipeline.create_iterator %ring_0 : <1>
    %7 = nv_tileas.alloc_tensor offset 82304 : <2xi64>
    %ring_1 = nv_tileas.async.pipeline.create_pipeline %7 phases [full = 1, empty = 4] : <2xi64> -> <1>
    %8 = nv_tileas.async.pipeline.create_iterator %ring_1 : <1>
    %9 = nv_tileas.alloc_tensor offset 82432 : <2xi64>
    %ring_2 = nv_tileas.async.pipeline.create_pipeline %9 phases [full = 1, empty = 4] : <2xi64> -> <1>
    %10 = nv_tileas.async.pipeline.create_iterator %ring_2 : <1>
    %11 = nv_tileas.alloc_tensor offset 82560 : <2xi64>
    %ring_3 = nv_tileas.async.pipeline.create_pipeline %11 phases [full = 4, empty = 1] : <2xi64> -> <1>
    %12 = nv_tileas.async.pipeline.create_iterator %ring_3 : <1>
    %13 = nv_tileas.alloc_tensor offset 82688 : <1xi32>
    nv_tileas.tmem_allocate %13 columns 256 : <1xi32>
    nv_tileas.barrier
    %14 = nv_tileas.alloc_tensor offset 0 : <128x64xf32, space = tensor>
    %15 = nv_tileas.alloc_tensor offset 64 : <128x64xf32, space = tensor>
    %16 = nv_tileas.alloc_tensor offset 128 : <128x64xf16, space = tensor>
    nv_tileas.async.pipeline.agent_switch agents #agents {
      %17 = nv_tileaa.assume #cuda_tile.div_by<16>, %arg0 : !nv_tileaa.ptr<f16>
      %18 = nv_tileaa.make_memref %17, shape = [%arg3 : i32], strides = [] : <f16> -> !memref
      %19 = nv_tileaa.make_tiled_view %18 : !memref -> <tile = [64, 64], !memref, padding = zero>
      %20 = nv_tileaa.make_tiled_view %18 : !memref -> <tile = [128, 64], !memref, padding = zero>
      %21 = nv_tileaa.make_tiled_view %18 : !memref -> <tile = [64, 64], !memref, padding = zero>
      %c0_i32 = arith.constant 0 : i32
      %c1_i32 = arith.constant 1 : i32
      %cst = arith.constant dense<0.000000e+00> : tensor<128x64xf32, #layout>
      %cst_4 = arith.constant dense<-1.000000e+30> : tensor<128x1xf32, #layout1>
      %result, %resultToken = nv_tileas.tiled_load <weak> %20[%c0_i32, %c0_i32] vector 8 bounds <vector> in_bounds [false, true] : <tile = [128, 64], !memref, padding = zero>[i32, i32] -> tensor<128x64xf16, #layout2>
      %22 = nv_tileas.async.pipeline.producer_acquire %ring_0[%6] : <1>
      %stage = nv_tileas.async.pipeline.stage %6
      %slot = nv_tileas.memdesc_slot %4[%stage] : <128x64xf16, #smem1, align = 1024> -> <128x64xf16, #smem1, align = 1024>
      nv_tileas.local_store %result, %slot vector 8 : tensor<128x64xf16, #layout2>, <128x64xf16, #smem1, align = 1024>
      nv_tileas.async.pipeline.producer_commit %ring_0[%6] : <1>
      %stage_5 = nv_tileas.async.pipeline.stage %10
      %slot_6 = nv_tileas.memdesc_slot %15[%stage_5] : <128x64xf32, space = tensor> -> <128x64xf32, space = tensor>
      %23 = arith.cmpi sle, %arg2, %c0_i32 : i32
      %false = arith.constant false
      %24:5 = scf.for %arg4 = %c0_i32 to %arg2 step %c1_i32 iter_args(%arg5 = %cst_4, %arg6 = %8, %arg7 = %false, %arg8 = %12, %arg9 = %2) -> (tensor<128x1xf32, #layout1>, !it, i1, !it, !it)  : i32 {
        %33 = arith.cmpi ne, %arg4, %c0_i32 : i32
        %stage_7 = nv_tileas.async.pipeline.stage %arg6
        %slot_8 = nv_tileas.memdesc_slot %14[%stage_7] : <128x64xf32, space = tensor> -> <128x64xf32, space = tensor>
        %false_9 = arith.constant false
        %34 = nv_tileas.async.pipeline.inc_iter %arg9 of %ring : <8>
        %35 = nv_tileas.async.pipeline.consumer_wait %ring_1[%arg6] : <1>
        nv_tileas.tmem_fence after
        %36 = nv_tileas.tmem_load %slot_8 : <128x64xf32, space = tensor> -> tensor<128x64xf32, #layout>
        nv_tileas.tmem_fence
        nv_tileas.async.pipeline.consumer_release %ring_1[%arg6] : <1>
        %37 = nv_tileas.async.pipeline.inc_iter %arg6 of %ring_1 : <1>
        %38 = nv_tileas.reduce %36 dim 1 identities [0xFF800000 : f32] : tensor<128x64xf32, #layout> -> tensor<128xf32, #layout1> {
        ^bb0(%arg10: f32, %arg11: f32):
          %50 = arith.maximumf %arg10, %arg11 : f32
          nv_tileas.yield %50 : f32
        }
        %39 = nv_tileas.view %38 : tensor<128xf32, #layout1> -> tensor<128x1xf32, #layout1>
        %40 = arith.maximumf %arg5, %39 : tensor<128x1xf32, #layout1>
        %41 = arith.subf %arg5, %40 : tensor<128x1xf32, #layout1>
        %42 = math.exp2 %41 : tensor<128x1xf32, #layout1>
        %43 = nv_tileas.async.pipeline.producer_acquire %ring_3[%arg8] : <1>
        nv_tileas.tmem_fence after
        nv_tileas.tmem_scale %slot_6 by %42 if %arg7 : <128x64xf32, space = tensor>, tensor<128x1xf32, #layout1>
        %44 = nv_tileas.broadcast %40 : tensor<128x1xf32, #layout1> -> tensor<128x64xf32, #layout>
        %45 = arith.subf %36, %44 : tensor<128x64xf32, #layout>
        %46 = math.exp2 %45 : tensor<128x64xf32, #layout>
        %47 = arith.truncf %46 : tensor<128x64xf32, #layout> to tensor<128x64xf16, #layout>
        %stage_10 = nv_tileas.async.pipeline.stage %arg8
        %slot_11 = nv_tileas.memdesc_slot %16[%stage_10] : <128x64xf16, space = tensor> -> <128x64xf16, space = tensor>
        nv_tileas.tmem_store %47, %slot_11 : tensor<128x64xf16, #layout>, <128x64xf16, space = tensor>
        nv_tileas.tmem_fence
        nv_tileas.async.pipeline.producer_commit %ring_3[%arg8] tensor : <1>
        %48 = nv_tileas.async.pipeline.inc_iter %arg8 of %ring_3 : <1>
        %49 = nv_tileas.async.pipeline.inc_iter %34 of %ring : <8>
        %true = arith.constant true
        scf.yield %40, %37, %true, %48, %49 : tensor<128x1xf32, #layout1>, !it, i1, !it, !it
      }
      %25 = nv_tileas.async.pipeline.consumer_wait %ring_2[%10] : <1>
      nv_tileas.tmem_fence after
      scf.if %23 {
        %cst_7 = arith.constant dense<0.000000e+00> : tensor<128x64xf32, #layout>
        nv_tileas.tmem_store %cst_7, %slot_6 : tensor<128x64xf32, #layout>, <128x64xf32, space = tensor>
      } else {
      }
      %26 = nv_tileas.tmem_load %slot_6 : <128x64xf32, space = tensor> -> tensor<128x64xf32, #layout>
      nv_tileas.tmem_fence
      nv_tileas.async.pipeline.consumer_release %ring_2[%10] : <1>
      %27 = nv_tileas.async.pipeline.inc_iter %10 of %ring_2 : <1>
      %28 = nv_tileaa.make_memref %arg1, shape = [], strides = [] : <f32> -> !memref1
      %29 = nv_tileaa.make_tiled_view %28 : !memref1 -> <tile = [128, 64], !memref1>
      %30 = nv_tileas.alloc_tensor offset 0 : <128x64xf32, #smem2>
      nv_tileas.barrier {nv_tileas.reuse}
      nv_tileas.local_store %26, %30 vector 4 : tensor<128x64xf32, #layout>, <128x64xf32, #smem2>
      nv_tileas.barrier
      %31 = nv_tileas.local_load %30 vector 1 : <128x64xf32, #smem2> -> tensor<128x64xf32, #layout3>
      %32 = nv_tileas.tiled_store <weak> %31, %29[%c0_i32, %c0_i32] vector 1 bounds <none> in_bounds [true, true] : tensor<128x64xf32, #layout3>, <tile = [128, 64], !memref1>[i32, i32]
    }, {
      %17 = nv_tileaa.assume #cuda_tile.div_by<16>, %arg0 : !nv_tileaa.ptr<f16>
      %18 = nv_tileaa.make_memref %17, shape = [%arg3 : i32], strides = [] : <f16> -> !memref
      %19 = nv_tileaa.make_tiled_view %18 : !memref -> <tile = [64, 64], !memref, padding = zero>
      %map = nv_tileas.make_tiled_tma_desc %19 scratch %3 : <tile = [64, 64], !memref, padding = zero>, <128xi8> -> <f16, box = [64, 64], swizzle = 128>
      nv_tileas.async.elect {
        %20 = nv_tileaa.assume #cuda_tile.div_by<16>, %arg0 : !nv_tileaa.ptr<f16>
        %21 = nv_tileaa.make_memref %20, shape = [%arg3 : i32], strides = [] : <f16> -> !memref
        %22 = nv_tileaa.make_tiled_view %21 : !memref -> <tile = [64, 64], !memref, padding = zero>
        %23 = nv_tileaa.make_tiled_view %21 : !memref -> <tile = [64, 64], !memref, padding = zero>
        %c0_i32 = arith.constant 0 : i32
        %c1_i32 = arith.constant 1 : i32
        %24 = scf.for %arg4 = %c0_i32 to %arg2 step %c1_i32 iter_args(%arg5 = %2) -> (!it)  : i32 {
          %25 = nv_tileas.async.pipeline.producer_acquire %ring[%arg5] bytes 8192 : <8>
          %stage = nv_tileas.async.pipeline.stage %arg5
          %slot = nv_tileas.memdesc_slot %0[%stage] : <64x64xf16, #smem, stages = 8, align = 1024> -> <64x64xf16, #smem, align = 1024>
          nv_tileas.async.tiled_tma_load %23[%arg4, %c0_i32] by %map into %slot arrive %25 : <tile = [64, 64], !memref, padding = zero>[i32, i32], <f16, box = [64, 64], swizzle = 128> -> <64x64xf16, #smem, align = 1024>
          %26 = nv_tileas.async.pipeline.inc_iter %arg5 of %ring : <8>
          %27 = nv_tileas.async.pipeline.producer_acquire %ring[%26] bytes 8192 : <8>
          %stage_4 = nv_tileas.async.pipeline.stage %26
          %slot_5 = nv_tileas.memdesc_slot %0[%stage_4] : <64x64xf16, #smem, stages = 8, align = 1024> -> <64x64xf16, #smem, align = 1024>
          nv_tileas.async.tiled_tma_load %23[%arg4, %c1_i32] by %map into %slot_5 arrive %27 : <tile = [64, 64], !memref, padding = zero>[i32, i32], <f16, box = [64, 64], swizzle = 128> -> <64x64xf16, #smem, align = 1024>
          %28 = nv_tileas.async.pipeline.inc_iter %26 of %ring : <8>
          scf.yield %28 : !it
        }
      }
    }, {
      nv_tileas.async.elect {
        %c0_i32 = arith.constant 0 : i32
        %c1_i32 = arith.constant 1 : i32
        %stage = nv_tileas.async.pipeline.stage %6
        %slot = nv_tileas.memdesc_slot %4[%stage] : <128x64xf16, #smem1, align = 1024> -> <128x64xf16, #smem1, align = 1024>
        %17 = nv_tileas.async.pipeline.consumer_wait %ring_0[%6] : <1>
        %stage_4 = nv_tileas.async.pipeline.stage %10
        %slot_5 = nv_tileas.memdesc_slot %15[%stage_4] : <128x64xf32, space = tensor> -> <128x64xf32, space = tensor>
        %18 = nv_tileas.async.pipeline.producer_acquire %ring_2[%10] : <1>
        nv_tileas.tmem_fence after
        %19:3 = scf.for %arg4 = %c0_i32 to %arg2 step %c1_i32 iter_args(%arg5 = %8, %arg6 = %12, %arg7 = %2) -> (!it, !it, !it)  : i32 {
          %20 = arith.cmpi eq, %arg4, %c0_i32 : i32
          scf.if %20 {
            %36 = arith.cmpi ne, %arg4, %c0_i32 : i32
            %stage_14 = nv_tileas.async.pipeline.stage %arg5
            %slot_15 = nv_tileas.memdesc_slot %14[%stage_14] : <128x64xf32, space = tensor> -> <128x64xf32, space = tensor>
            %37 = nv_tileas.async.pipeline.producer_acquire %ring_1[%arg5] : <1>
            nv_tileas.tmem_fence after
            %false_16 = arith.constant false
            %38 = nv_tileas.async.pipeline.consumer_wait %ring[%arg7] : <8>
            %stage_17 = nv_tileas.async.pipeline.stage %arg7
            %slot_18 = nv_tileas.memdesc_slot %0[%stage_17] : <64x64xf16, #smem, stages = 8, align = 1024> -> <64x64xf16, #smem, align = 1024>
            nv_tileas.async.dot %slot, %slot_18, %slot_15 accumulate %false_16 by <tensor, [128, 64, 16]> : !nv_tileas.memdesc<128x64xf16, #smem1, align = 1024>, <64x64xf16, #smem, align = 1024>, !nv_tileas.memdesc<128x64xf32, space = tensor>
            nv_tileas.async.pipeline.consumer_release %ring[%arg7] dots : <8>
            %39 = nv_tileas.async.pipeline.inc_iter %arg7 of %ring : <8>
            nv_tileas.async.pipeline.producer_commit %ring_1[%arg5] dots : <1>
          } else {
          }
          %21 = arith.subi %arg2, %arg4 : i32
          %22 = arith.cmpi ugt, %21, %c1_i32 : i32
          %23 = arith.cmpi ne, %arg4, %c0_i32 : i32
          %stage_6 = nv_tileas.async.pipeline.stage %arg5
          %slot_7 = nv_tileas.memdesc_slot %14[%stage_6] : <128x64xf32, space = tensor> -> <128x64xf32, space = tensor>
          %false = arith.constant false
          %stage_8 = nv_tileas.async.pipeline.stage %arg7
          %slot_9 = nv_tileas.memdesc_slot %0[%stage_8] : <64x64xf16, #smem, stages = 8, align = 1024> -> <64x64xf16, #smem, align = 1024>
          %24 = nv_tileas.async.pipeline.inc_iter %arg7 of %ring : <8>
          %25 = nv_tileas.async.pipeline.inc_iter %arg5 of %ring_1 : <1>
          %26 = nv_tileas.async.pipeline.inc_iter %arg6 of %ring_3 : <1>
          %27 = nv_tileas.async.pipeline.inc_iter %24 of %ring : <8>
          %28 = arith.addi %arg4, %c1_i32 : i32
          scf.if %22 {
            %36 = arith.cmpi ne, %28, %c0_i32 : i32
            %stage_14 = nv_tileas.async.pipeline.stage %25
            %slot_15 = nv_tileas.memdesc_slot %14[%stage_14] : <128x64xf32, space = tensor> -> <128x64xf32, space = tensor>
            %37 = nv_tileas.async.pipeline.producer_acquire %ring_1[%25] : <1>
            nv_tileas.tmem_fence after
            %false_16 = arith.constant false
            %38 = nv_tileas.async.pipeline.consumer_wait %ring[%27] : <8>
            %stage_17 = nv_tileas.async.pipeline.stage %27
            %slot_18 = nv_tileas.memdesc_slot %0[%stage_17] : <64x64xf16, #smem, stages = 8, align = 1024> -> <64x64xf16, #smem, align = 1024>
            nv_tileas.async.dot %slot, %slot_18, %slot_15 accumulate %false_16 by <tensor, [128, 64, 16]> : !nv_tileas.memdesc<128x64xf16, #smem1, align = 1024>, <64x64xf16, #smem, align = 1024>, !nv_tileas.memdesc<128x64xf32, space = tensor>
            nv_tileas.async.pipeline.consumer_release %ring[%27] dots : <8>
            %39 = nv_tileas.async.pipeline.inc_iter %27 of %ring : <8>
            nv_tileas.async.pipeline.producer_commit %ring_1[%25] dots : <1>
          } else {
          }
          %29 = arith.cmpi ne, %arg4, %c0_i32 : i32
          %30 = nv_tileas.async.pipeline.inc_iter %arg7 of %ring : <8>
          %31 = nv_tileas.async.pipeline.inc_iter %arg5 of %ring_1 : <1>
          %stage_10 = nv_tileas.async.pipeline.stage %arg6
          %slot_11 = nv_tileas.memdesc_slot %16[%stage_10] : <128x64xf16, space = tensor> -> <128x64xf16, space = tensor>
          %32 = nv_tileas.async.pipeline.inc_iter %arg6 of %ring_3 : <1>
          %33 = nv_tileas.async.pipeline.consumer_wait %ring[%30] : <8>
          %stage_12 = nv_tileas.async.pipeline.stage %30
          %slot_13 = nv_tileas.memdesc_slot %0[%stage_12] : <64x64xf16, #smem, stages = 8, align = 1024> -> <64x64xf16, #smem, align = 1024>
          %34 = nv_tileas.async.pipeline.consumer_wait %ring_3[%arg6] : <1>
          nv_tileas.tmem_fence after
          nv_tileas.async.dot %slot_11, %slot_13, %slot_5 accumulate %29 by <tensor, [128, 64, 16]> : !nv_tileas.memdesc<128x64xf16, space = tensor>, <64x64xf16, #smem, align = 1024>, !nv_tileas.memdesc<128x64xf32, space = tensor>
          nv_tileas.async.pipeline.consumer_release %ring[%30] dots : <8>
          nv_tileas.async.pipeline.consumer_release %ring_3[%arg6] dots : <1>
          %35 = nv_tileas.async.pipeline.inc_iter %30 of %ring : <8>
          scf.yield %31, %32, %35 : !it, !it, !it
        }
        nv_tileas.async.pipeline.producer_commit %ring_2[%10] dots : <1>
        nv_tileas.async.pipeline.consumer_release %ring_0[%6] dots : <1>
      }
    }, {
      nv_tileas.async.elect {
      }
    }
    nv_tileas.tmem_free columns 256
    nv_tileaa.return
  }
}

// -----

// Consumers scale the results while the dots of the previous iteration may still add to them.

!it = !nv_tileas.pipeline_iterator
!memref = !nv_tileaa.memref<?x64xf16, strides = [64, 1]>
!memref1 = !nv_tileaa.memref<128x64xf32, strides = [64, 1]>
#agents = [#nv_tileas.agent<"consumers", warps = 4, registers = 208>, #nv_tileas.agent<"producer", warps = 1, registers = 48>, #nv_tileas.agent<"matrix", warps = 1, registers = 48>, #nv_tileas.agent<"spare", warps = 2, registers = 48>]
#layout = #nv_tileas.layout<register = [1, 2, 4, 8, 16, 32], lane = [64, 128, 256, 512, 1024], warp = [2048, 4096]>
#layout1 = #nv_tileas.layout<register = [], lane = [1, 2, 4, 8, 16], warp = [32, 64]>
#layout2 = #nv_tileas.layout<register = [1, 2, 4, 1024, 2048, 4096], lane = [8, 16, 32, 64, 128], warp = [256, 512]>
#layout3 = #nv_tileas.layout<register = [32, 256, 512, 1024, 2048, 4096], lane = [1, 2, 4, 8, 16], warp = [64, 128]>
#smem = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 72, 144, 288, 512, 1024, 2048]>
#smem1 = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 72, 144, 288, 512, 1024, 2048, 4096]>
#smem2 = #nv_tileas.shared_layout<offset = [1, 2, 64, 128, 256, 512, 1024, 2048, 4096, 32, 68, 136, 272]>
#plan = #nv_tileas.dot_plan<groups = [1, 1], columns = 64, stages = 8, scratch = 32128, launch_registers = 128, agents = #agents, unit = tensor with whole_rows = true with issue_ahead = true>
module {
  nv_tileaa.func @attention(%arg0: !nv_tileaa.ptr<f16>, %arg1: !nv_tileaa.ptr<f32>, %arg2: i32, %arg3: i32) attributes {numWarps = 8 : i64, nv_tileas.dot_plan = #plan, nv_tileas.max_registers = 128 : i64} {
    %0 = nv_tileas.alloc_tensor offset 0 : <64x64xf16, #smem, stages = 8, align = 1024>
    %1 = nv_tileas.alloc_tensor offset 81920 : <16xi64>
    // expected-error @below {{agent 0 may read ring2[0] before its write is done}}
    %ring = nv_tileas.async.pipeline.create_pipeline %1 phases [full = 1, empty = 1] : <16xi64> -> <8>
    %2 = nv_tileas.async.pipeline.create_iterator %ring : <8>
    %3 = nv_tileas.alloc_tensor offset 82048 : <128xi8>
    %4 = nv_tileas.alloc_tensor offset 65536 : <128x64xf16, #smem1, align = 1024>
    %5 = nv_tileas.alloc_tensor offset 82176 : <2xi64>
    %ring_0 = nv_tileas.async.pipeline.create_pipeline %5 phases [full = 4, empty = 1] : <2xi64> -> <1>
    %6 = nv_tileas.async.pipeline.create_iterator %ring_0 : <1>
    %7 = nv_tileas.alloc_tensor offset 82304 : <2xi64>
    %ring_1 = nv_tileas.async.pipeline.create_pipeline %7 phases [full = 1, empty = 4] : <2xi64> -> <1>
    %8 = nv_tileas.async.pipeline.create_iterator %ring_1 : <1>
    %9 = nv_tileas.alloc_tensor offset 82432 : <2xi64>
    %ring_2 = nv_tileas.async.pipeline.create_pipeline %9 phases [full = 1, empty = 4] : <2xi64> -> <1>
    %10 = nv_tileas.async.pipeline.create_iterator %ring_2 : <1>
    %11 = nv_tileas.alloc_tensor offset 82560 : <2xi64>
    %ring_3 = nv_tileas.async.pipeline.create_pipeline %11 phases [full = 4, empty = 1] : <2xi64> -> <1>
    %12 = nv_tileas.async.pipeline.create_iterator %ring_3 : <1>
    %13 = nv_tileas.alloc_tensor offset 82688 : <1xi32>
    nv_tileas.tmem_allocate %13 columns 256 : <1xi32>
    nv_tileas.barrier
    %14 = nv_tileas.alloc_tensor offset 0 : <128x64xf32, space = tensor>
    %15 = nv_tileas.alloc_tensor offset 64 : <128x64xf32, space = tensor>
    %16 = nv_tileas.alloc_tensor offset 128 : <128x64xf16, space = tensor>
    nv_tileas.async.pipeline.agent_switch agents #agents {
      %17 = nv_tileaa.assume #cuda_tile.div_by<16>, %arg0 : !nv_tileaa.ptr<f16>
      %18 = nv_tileaa.make_memref %17, shape = [%arg3 : i32], strides = [] : <f16> -> !memref
      %19 = nv_tileaa.make_tiled_view %18 : !memref -> <tile = [64, 64], !memref, padding = zero>
      %20 = nv_tileaa.make_tiled_view %18 : !memref -> <tile = [128, 64], !memref, padding = zero>
      %21 = nv_tileaa.make_tiled_view %18 : !memref -> <tile = [64, 64], !memref, padding = zero>
      %c0_i32 = arith.constant 0 : i32
      %c1_i32 = arith.constant 1 : i32
      %cst = arith.constant dense<0.000000e+00> : tensor<128x64xf32, #layout>
      %cst_4 = arith.constant dense<-1.000000e+30> : tensor<128x1xf32, #layout1>
      %result, %resultToken = nv_tileas.tiled_load <weak> %20[%c0_i32, %c0_i32] vector 8 bounds <vector> in_bounds [false, true] : <tile = [128, 64], !memref, padding = zero>[i32, i32] -> tensor<128x64xf16, #layout2>
      %22 = nv_tileas.async.pipeline.producer_acquire %ring_0[%6] : <1>
      %stage = nv_tileas.async.pipeline.stage %6
      %slot = nv_tileas.memdesc_slot %4[%stage] : <128x64xf16, #smem1, align = 1024> -> <128x64xf16, #smem1, align = 1024>
      nv_tileas.local_store %result, %slot vector 8 : tensor<128x64xf16, #layout2>, <128x64xf16, #smem1, align = 1024>
      nv_tileas.async.pipeline.producer_commit %ring_0[%6] : <1>
      %stage_5 = nv_tileas.async.pipeline.stage %10
      %slot_6 = nv_tileas.memdesc_slot %15[%stage_5] : <128x64xf32, space = tensor> -> <128x64xf32, space = tensor>
      %23 = arith.cmpi sle, %arg2, %c0_i32 : i32
      %false = arith.constant false
      %24:5 = scf.for %arg4 = %c0_i32 to %arg2 step %c1_i32 iter_args(%arg5 = %cst_4, %arg6 = %8, %arg7 = %false, %arg8 = %12, %arg9 = %2) -> (tensor<128x1xf32, #layout1>, !it, i1, !it, !it)  : i32 {
        %33 = arith.cmpi ne, %arg4, %c0_i32 : i32
        %stage_7 = nv_tileas.async.pipeline.stage %arg6
        %slot_8 = nv_tileas.memdesc_slot %14[%stage_7] : <128x64xf32, space = tensor> -> <128x64xf32, space = tensor>
        %false_9 = arith.constant false
        %34 = nv_tileas.async.pipeline.inc_iter %arg9 of %ring : <8>
        %35 = nv_tileas.async.pipeline.consumer_wait %ring_1[%arg6] : <1>
        nv_tileas.tmem_fence after
        %36 = nv_tileas.tmem_load %slot_8 : <128x64xf32, space = tensor> -> tensor<128x64xf32, #layout>
        nv_tileas.tmem_fence
        nv_tileas.async.pipeline.consumer_release %ring_1[%arg6] : <1>
        %37 = nv_tileas.async.pipeline.inc_iter %arg6 of %ring_1 : <1>
        %38 = nv_tileas.reduce %36 dim 1 identities [0xFF800000 : f32] : tensor<128x64xf32, #layout> -> tensor<128xf32, #layout1> {
        ^bb0(%arg10: f32, %arg11: f32):
          %50 = arith.maximumf %arg10, %arg11 : f32
          nv_tileas.yield %50 : f32
        }
        %39 = nv_tileas.view %38 : tensor<128xf32, #layout1> -> tensor<128x1xf32, #layout1>
        %40 = arith.maximumf %arg5, %39 : tensor<128x1xf32, #layout1>
        %41 = arith.subf %arg5, %40 : tensor<128x1xf32, #layout1>
        %42 = math.exp2 %41 : tensor<128x1xf32, #layout1>
        nv_tileas.tmem_scale %slot_6 by %42 if %arg7 : <128x64xf32, space = tensor>, tensor<128x1xf32, #layout1>
        %43 = nv_tileas.async.pipeline.producer_acquire %ring_3[%arg8] : <1>
        nv_tileas.tmem_fence after
        %44 = nv_tileas.broadcast %40 : tensor<128x1xf32, #layout1> -> tensor<128x64xf32, #layout>
        %45 = arith.subf %36, %44 : tensor<128x64xf32, #layout>
        %46 = math.exp2 %45 : tensor<128x64xf32, #layout>
        %47 = arith.truncf %46 : tensor<128x64xf32, #layout> to tensor<128x64xf16, #layout>
        %stage_10 = nv_tileas.async.pipeline.stage %arg8
        %slot_11 = nv_tileas.memdesc_slot %16[%stage_10] : <128x64xf16, space = tensor> -> <128x64xf16, space = tensor>
        nv_tileas.tmem_store %47, %slot_11 : tensor<128x64xf16, #layout>, <128x64xf16, space = tensor>
        nv_tileas.tmem_fence
        nv_tileas.async.pipeline.producer_commit %ring_3[%arg8] tensor : <1>
        %48 = nv_tileas.async.pipeline.inc_iter %arg8 of %ring_3 : <1>
        %49 = nv_tileas.async.pipeline.inc_iter %34 of %ring : <8>
        %true = arith.constant true
        scf.yield %40, %37, %true, %48, %49 : tensor<128x1xf32, #layout1>, !it, i1, !it, !it
      }
      %25 = nv_tileas.async.pipeline.consumer_wait %ring_2[%10] : <1>
      nv_tileas.tmem_fence after
      scf.if %23 {
        %cst_7 = arith.constant dense<0.000000e+00> : tensor<128x64xf32, #layout>
        nv_tileas.tmem_store %cst_7, %slot_6 : tensor<128x64xf32, #layout>, <128x64xf32, space = tensor>
      } else {
      }
      %26 = nv_tileas.tmem_load %slot_6 : <128x64xf32, space = tensor> -> tensor<128x64xf32, #layout>
      nv_tileas.tmem_fence
      nv_tileas.async.pipeline.consumer_release %ring_2[%10] : <1>
      %27 = nv_tileas.async.pipeline.inc_iter %10 of %ring_2 : <1>
      %28 = nv_tileaa.make_memref %arg1, shape = [], strides = [] : <f32> -> !memref1
      %29 = nv_tileaa.make_tiled_view %28 : !memref1 -> <tile = [128, 64], !memref1>
      %30 = nv_tileas.alloc_tensor offset 0 : <128x64xf32, #smem2>
      nv_tileas.barrier {nv_tileas.reuse}
      nv_tileas.local_store %26, %30 vector 4 : tensor<128x64xf32, #layout>, <128x64xf32, #smem2>
      nv_tileas.barrier
      %31 = nv_tileas.local_load %30 vector 1 : <128x64xf32, #smem2> -> tensor<128x64xf32, #layout3>
      %32 = nv_tileas.tiled_store <weak> %31, %29[%c0_i32, %c0_i32] vector 1 bounds <none> in_bounds [true, true] : tensor<128x64xf32, #layout3>, <tile = [128, 64], !memref1>[i32, i32]
    }, {
      %17 = nv_tileaa.assume #cuda_tile.div_by<16>, %arg0 : !nv_tileaa.ptr<f16>
      %18 = nv_tileaa.make_memref %17, shape = [%arg3 : i32], strides = [] : <f16> -> !memref
      %19 = nv_tileaa.make_tiled_view %18 : !memref -> <tile = [64, 64], !memref, padding = zero>
      %map = nv_tileas.make_tiled_tma_desc %19 scratch %3 : <tile = [64, 64], !memref, padding = zero>, <128xi8> -> <f16, box = [64, 64], swizzle = 128>
      nv_tileas.async.elect {
        %20 = nv_tileaa.assume #cuda_tile.div_by<16>, %arg0 : !nv_tileaa.ptr<f16>
        %21 = nv_tileaa.make_memref %20, shape = [%arg3 : i32], strides = [] : <f16> -> !memref
        %22 = nv_tileaa.make_tiled_view %21 : !memref -> <tile = [64, 64], !memref, padding = zero>
        %23 = nv_tileaa.make_tiled_view %21 : !memref -> <tile = [64, 64], !memref, padding = zero>
        %c0_i32 = arith.constant 0 : i32
        %c1_i32 = arith.constant 1 : i32
        %24 = scf.for %arg4 = %c0_i32 to %arg2 step %c1_i32 iter_args(%arg5 = %2) -> (!it)  : i32 {
          %25 = nv_tileas.async.pipeline.producer_acquire %ring[%arg5] bytes 8192 : <8>
          %stage = nv_tileas.async.pipeline.stage %arg5
          %slot = nv_tileas.memdesc_slot %0[%stage] : <64x64xf16, #smem, stages = 8, align = 1024> -> <64x64xf16, #smem, align = 1024>
          nv_tileas.async.tiled_tma_load %23[%arg4, %c0_i32] by %map into %slot arrive %25 : <tile = [64, 64], !memref, padding = zero>[i32, i32], <f16, box = [64, 64], swizzle = 128> -> <64x64xf16, #smem, align = 1024>
          %26 = nv_tileas.async.pipeline.inc_iter %arg5 of %ring : <8>
          %27 = nv_tileas.async.pipeline.producer_acquire %ring[%26] bytes 8192 : <8>
          %stage_4 = nv_tileas.async.pipeline.stage %26
          %slot_5 = nv_tileas.memdesc_slot %0[%stage_4] : <64x64xf16, #smem, stages = 8, align = 1024> -> <64x64xf16, #smem, align = 1024>
          nv_tileas.async.tiled_tma_load %23[%arg4, %c1_i32] by %map into %slot_5 arrive %27 : <tile = [64, 64], !memref, padding = zero>[i32, i32], <f16, box = [64, 64], swizzle = 128> -> <64x64xf16, #smem, align = 1024>
          %28 = nv_tileas.async.pipeline.inc_iter %26 of %ring : <8>
          scf.yield %28 : !it
        }
      }
    }, {
      nv_tileas.async.elect {
        %c0_i32 = arith.constant 0 : i32
        %c1_i32 = arith.constant 1 : i32
        %stage = nv_tileas.async.pipeline.stage %6
        %slot = nv_tileas.memdesc_slot %4[%stage] : <128x64xf16, #smem1, align = 1024> -> <128x64xf16, #smem1, align = 1024>
        %17 = nv_tileas.async.pipeline.consumer_wait %ring_0[%6] : <1>
        %stage_4 = nv_tileas.async.pipeline.stage %10
        %slot_5 = nv_tileas.memdesc_slot %15[%stage_4] : <128x64xf32, space = tensor> -> <128x64xf32, space = tensor>
        %18 = nv_tileas.async.pipeline.producer_acquire %ring_2[%10] : <1>
        nv_tileas.tmem_fence after
        %19:3 = scf.for %arg4 = %c0_i32 to %arg2 step %c1_i32 iter_args(%arg5 = %8, %arg6 = %12, %arg7 = %2) -> (!it, !it, !it)  : i32 {
          %20 = arith.cmpi eq, %arg4, %c0_i32 : i32
          scf.if %20 {
            %36 = arith.cmpi ne, %arg4, %c0_i32 : i32
            %stage_14 = nv_tileas.async.pipeline.stage %arg5
            %slot_15 = nv_tileas.memdesc_slot %14[%stage_14] : <128x64xf32, space = tensor> -> <128x64xf32, space = tensor>
            %37 = nv_tileas.async.pipeline.producer_acquire %ring_1[%arg5] : <1>
            nv_tileas.tmem_fence after
            %false_16 = arith.constant false
            %38 = nv_tileas.async.pipeline.consumer_wait %ring[%arg7] : <8>
            %stage_17 = nv_tileas.async.pipeline.stage %arg7
            %slot_18 = nv_tileas.memdesc_slot %0[%stage_17] : <64x64xf16, #smem, stages = 8, align = 1024> -> <64x64xf16, #smem, align = 1024>
            nv_tileas.async.dot %slot, %slot_18, %slot_15 accumulate %false_16 by <tensor, [128, 64, 16]> : !nv_tileas.memdesc<128x64xf16, #smem1, align = 1024>, <64x64xf16, #smem, align = 1024>, !nv_tileas.memdesc<128x64xf32, space = tensor>
            nv_tileas.async.pipeline.consumer_release %ring[%arg7] dots : <8>
            %39 = nv_tileas.async.pipeline.inc_iter %arg7 of %ring : <8>
            nv_tileas.async.pipeline.producer_commit %ring_1[%arg5] dots : <1>
          } else {
          }
          %21 = arith.subi %arg2, %arg4 : i32
          %22 = arith.cmpi ugt, %21, %c1_i32 : i32
          %23 = arith.cmpi ne, %arg4, %c0_i32 : i32
          %stage_6 = nv_tileas.async.pipeline.stage %arg5
          %slot_7 = nv_tileas.memdesc_slot %14[%stage_6] : <128x64xf32, space = tensor> -> <128x64xf32, space = tensor>
          %false = arith.constant false
          %stage_8 = nv_tileas.async.pipeline.stage %arg7
          %slot_9 = nv_tileas.memdesc_slot %0[%stage_8] : <64x64xf16, #smem, stages = 8, align = 1024> -> <64x64xf16, #smem, align = 1024>
          %24 = nv_tileas.async.pipeline.inc_iter %arg7 of %ring : <8>
          %25 = nv_tileas.async.pipeline.inc_iter %arg5 of %ring_1 : <1>
          %26 = nv_tileas.async.pipeline.inc_iter %arg6 of %ring_3 : <1>
          %27 = nv_tileas.async.pipeline.inc_iter %24 of %ring : <8>
          %28 = arith.addi %arg4, %c1_i32 : i32
          scf.if %22 {
            %36 = arith.cmpi ne, %28, %c0_i32 : i32
            %stage_14 = nv_tileas.async.pipeline.stage %25
            %slot_15 = nv_tileas.memdesc_slot %14[%stage_14] : <128x64xf32, space = tensor> -> <128x64xf32, space = tensor>
            %37 = nv_tileas.async.pipeline.producer_acquire %ring_1[%25] : <1>
            nv_tileas.tmem_fence after
            %false_16 = arith.constant false
            %38 = nv_tileas.async.pipeline.consumer_wait %ring[%27] : <8>
            %stage_17 = nv_tileas.async.pipeline.stage %27
            %slot_18 = nv_tileas.memdesc_slot %0[%stage_17] : <64x64xf16, #smem, stages = 8, align = 1024> -> <64x64xf16, #smem, align = 1024>
            nv_tileas.async.dot %slot, %slot_18, %slot_15 accumulate %false_16 by <tensor, [128, 64, 16]> : !nv_tileas.memdesc<128x64xf16, #smem1, align = 1024>, <64x64xf16, #smem, align = 1024>, !nv_tileas.memdesc<128x64xf32, space = tensor>
            nv_tileas.async.pipeline.consumer_release %ring[%27] dots : <8>
            %39 = nv_tileas.async.pipeline.inc_iter %27 of %ring : <8>
            nv_tileas.async.pipeline.producer_commit %ring_1[%25] dots : <1>
          } else {
          }
          %29 = arith.cmpi ne, %arg4, %c0_i32 : i32
          %30 = nv_tileas.async.pipeline.inc_iter %arg7 of %ring : <8>
          %31 = nv_tileas.async.pipeline.inc_iter %arg5 of %ring_1 : <1>
          %stage_10 = nv_tileas.async.pipeline.stage %arg6
          %slot_11 = nv_tileas.memdesc_slot %16[%stage_10] : <128x64xf16, space = tensor> -> <128x64xf16, space = tensor>
          %32 = nv_tileas.async.pipeline.inc_iter %arg6 of %ring_3 : <1>
          %33 = nv_tileas.async.pipeline.consumer_wait %ring[%30] : <8>
          %stage_12 = nv_tileas.async.pipeline.stage %30
          %slot_13 = nv_tileas.memdesc_slot %0[%stage_12] : <64x64xf16, #smem, stages = 8, align = 1024> -> <64x64xf16, #smem, align = 1024>
          %34 = nv_tileas.async.pipeline.consumer_wait %ring_3[%arg6] : <1>
          nv_tileas.tmem_fence after
          nv_tileas.async.dot %slot_11, %slot_13, %slot_5 accumulate %29 by <tensor, [128, 64, 16]> : !nv_tileas.memdesc<128x64xf16, space = tensor>, <64x64xf16, #smem, align = 1024>, !nv_tileas.memdesc<128x64xf32, space = tensor>
          nv_tileas.async.pipeline.consumer_release %ring[%30] dots : <8>
          nv_tileas.async.pipeline.consumer_release %ring_3[%arg6] dots : <1>
          %35 = nv_tileas.async.pipeline.inc_iter %30 of %ring : <8>
          scf.yield %31, %32, %35 : !it, !it, !it
        }
        nv_tileas.async.pipeline.producer_commit %ring_2[%10] dots : <1>
        nv_tileas.async.pipeline.consumer_release %ring_0[%6] dots : <1>
      }
    }, {
      nv_tileas.async.elect {
      }
    }
    nv_tileas.tmem_free columns 256
    nv_tileaa.return
  }
}
