// RUN: tileiras-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(tileas-check-synchronization)'
// Warpgroups with barriers of their own (`tileas-separate-warpgroups`). The checker knows which warpgroup an op means, and
// which rows a dot reads and writes.

// The dots of the second warpgroup wait for the weights of the first one.
!it = !nv_tileas.pipeline_iterator
!memref = !nv_tileaa.memref<?x64xf16, strides = [64, 1]>
!memref1 = !nv_tileaa.memref<?x128xf16, strides = [128, 1]>
!memref2 = !nv_tileaa.memref<256x128xf32, strides = [128, 1]>
#agents = [#nv_tileas.agent<"consumers", warps = 8, registers = 224>, #nv_tileas.agent<"producer", warps = 1, registers = 48>, #nv_tileas.agent<"matrix", warps = 1, registers = 48>, #nv_tileas.agent<"spare", warps = 2, registers = 48>]
#layout = #nv_tileas.layout<register = [1, 2, 4, 8, 16, 32], lane = [64, 128, 256, 512, 1024], warp = [2048, 4096, 8192]>
#layout1 = #nv_tileas.layout<register = [1, 2, 4, 8, 16, 32, 64], lane = [128, 256, 512, 1024, 2048], warp = [4096, 8192, 16384]>
#layout2 = #nv_tileas.layout<register = [], lane = [1, 2, 4, 8, 16], warp = [32, 64, 128]>
#layout3 = #nv_tileas.layout<register = [32, 64, 1024, 2048, 4096, 8192, 16384], lane = [1, 2, 4, 8, 16], warp = [128, 256, 512]>
#smem = #nv_tileas.shared_layout<offset = [64, 128, 256, 512, 1024, 2048, 513, 1026, 2052, 8, 16, 32]>
#smem1 = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 72, 144, 288, 512, 1024, 2048, 4096, 8192]>
#smem2 = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 136, 272, 544, 1024, 2048, 4096, 64]>
#smem3 = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 8192, 64, 128, 256, 512, 1024, 2048, 4096]>
#smem4 = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64, 16384, 128, 256, 512, 1024, 2048, 4096, 8192]>
#smem5 = #nv_tileas.shared_layout<offset = [32, 64, 128, 256, 512, 1024, 2048, 8, 16, 4096, 8192, 16384, 129, 258, 516]>
#plan = #nv_tileas.dot_plan<groups = [1, 2], columns = 128, stages = 8, scratch = 2304, launch_registers = 168, agents = #agents, unit = tensor with whole_rows = true with issue_ahead = true>
module {
  nv_tileaa.func @apart(%arg0: !nv_tileaa.ptr<f16>, %arg1: !nv_tileaa.ptr<f16>, %arg2: !nv_tileaa.ptr<f32>, %arg3: i32, %arg4: i32) attributes {numWarps = 12 : i64, nv_tileas.dot_plan = #plan, nv_tileas.max_registers = 168 : i64} {
    %0 = nv_tileas.alloc_tensor offset 131072 : <64x64xf16, #smem, stages = 8, align = 1024>
    %1 = nv_tileas.alloc_tensor offset 229376 : <16xi64, align = 8>
    // expected-error @below {{which was never written}}
    %ring = nv_tileas.async.pipeline.create_pipeline %1 phases [full = 1, empty = 1] : <16xi64, align = 8> -> <8>
    %2 = nv_tileas.async.pipeline.create_iterator %ring : <8>
    %3 = nv_tileas.alloc_tensor offset 229632 : <128xi8>
    %4 = nv_tileas.alloc_tensor offset 196608 : <256x64xf16, #smem1, align = 1024>
    %5 = nv_tileas.alloc_tensor offset 230112 : <2xi64, align = 8>
    %ring_0 = nv_tileas.async.pipeline.create_pipeline %5 phases [full = 1, empty = 1] : <2xi64, align = 8> -> <1>
    %6 = nv_tileas.async.pipeline.create_iterator %ring_0 : <1>
    %7 = nv_tileas.alloc_tensor offset 229760 : <128xi8>
    %8 = nv_tileas.alloc_tensor offset 0 : <64x128xf16, #smem2, stages = 8, align = 1024>
    %9 = nv_tileas.alloc_tensor offset 229504 : <16xi64, align = 8>
    %ring_1 = nv_tileas.async.pipeline.create_pipeline %9 phases [full = 1, empty = 1] : <16xi64, align = 8> -> <8>
    %10 = nv_tileas.async.pipeline.create_iterator %ring_1 : <8>
    %11 = nv_tileas.alloc_tensor offset 229888 : <128xi8>
    %12 = nv_tileas.alloc_tensor offset 230016 : <4xi64, align = 8>
    %ring_2 = nv_tileas.async.pipeline.create_pipeline %12 phases [full = 1, empty = 4] warpgroups 2 : <4xi64, align = 8> -> <1>
    %13 = nv_tileas.async.pipeline.create_iterator %ring_2 : <1>
    %14 = nv_tileas.alloc_tensor offset 230048 : <4xi64, align = 8>
    %ring_3 = nv_tileas.async.pipeline.create_pipeline %14 phases [full = 1, empty = 4] warpgroups 2 : <4xi64, align = 8> -> <1>
    %15 = nv_tileas.async.pipeline.create_iterator %ring_3 : <1>
    %16 = nv_tileas.alloc_tensor offset 230080 : <4xi64, align = 8>
    %ring_4 = nv_tileas.async.pipeline.create_pipeline %16 phases [full = 4, empty = 1] warpgroups 2 : <4xi64, align = 8> -> <1>
    %17 = nv_tileas.async.pipeline.create_iterator %ring_4 : <1>
    %18 = nv_tileas.alloc_tensor offset 230144 : <1xi32>
    nv_tileas.tmem_allocate %18 columns 512 : <1xi32>
    nv_tileas.barrier
    %19 = nv_tileas.alloc_tensor offset 256 : <256x64xf32, #smem3, space = tensor>
    %20 = nv_tileas.alloc_tensor offset 0 : <256x128xf32, #smem4, space = tensor>
    %21 = nv_tileas.alloc_tensor offset 384 : <256x64xf16, #smem3, space = tensor>
    nv_tileas.async.pipeline.agent_switch agents #agents {
      %22 = nv_tileaa.assume #cuda_tile.div_by<16>, %arg0 : !nv_tileaa.ptr<f16>
      %23 = nv_tileaa.assume #cuda_tile.div_by<16>, %arg1 : !nv_tileaa.ptr<f16>
      %24 = nv_tileaa.make_memref %22, shape = [%arg4 : i32], strides = [] : <f16> -> !memref
      %25 = nv_tileaa.make_tiled_view %24 : !memref -> <tile = [256, 64], !memref, padding = zero>
      %26 = nv_tileaa.make_tiled_view %24 : !memref -> <tile = [64, 64], !memref, dim_map = [1, 0], padding = zero>
      %27 = nv_tileaa.make_memref %23, shape = [%arg4 : i32], strides = [] : <f16> -> !memref1
      %28 = nv_tileaa.make_tiled_view %27 : !memref1 -> <tile = [64, 128], !memref1, padding = zero>
      %29 = nv_tileaa.make_tiled_view %24 : !memref -> <tile = [256, 64], !memref, padding = zero>
      %30 = nv_tileaa.make_tiled_view %24 : !memref -> <tile = [64, 64], !memref, dim_map = [1, 0], padding = zero>
      %31 = nv_tileaa.make_tiled_view %27 : !memref1 -> <tile = [64, 128], !memref1, padding = zero>
      %c0_i32 = arith.constant 0 : i32
      %c1_i32 = arith.constant 1 : i32
      %cst = arith.constant dense<0.000000e+00> : tensor<256x64xf32, #layout>
      %cst_5 = arith.constant dense<0.000000e+00> : tensor<256x128xf32, #layout1>
      %cst_6 = arith.constant dense<-1.000000e+30> : tensor<256x1xf32, #layout2>
      %stage = nv_tileas.async.pipeline.stage %6
      %slot = nv_tileas.memdesc_slot %4[%stage] : <256x64xf16, #smem1, align = 1024> -> <256x64xf16, #smem1, align = 1024>
      %stage_7 = nv_tileas.async.pipeline.stage %15
      %slot_8 = nv_tileas.memdesc_slot %20[%stage_7] : <256x128xf32, #smem4, space = tensor> -> <256x128xf32, #smem4, space = tensor>
      %32 = arith.cmpi sle, %arg3, %c0_i32 : i32
      %false = arith.constant false
      %33:6 = scf.for %arg5 = %c0_i32 to %arg3 step %c1_i32 iter_args(%arg6 = %cst_6, %arg7 = %13, %arg8 = %false, %arg9 = %17, %arg10 = %2, %arg11 = %10) -> (tensor<256x1xf32, #layout2>, !it, i1, !it, !it, !it)  : i32 {
        %42 = arith.cmpi ne, %arg5, %c0_i32 : i32
        %stage_9 = nv_tileas.async.pipeline.stage %arg7
        %slot_10 = nv_tileas.memdesc_slot %19[%stage_9] : <256x64xf32, #smem3, space = tensor> -> <256x64xf32, #smem3, space = tensor>
        %false_11 = arith.constant false
        %43 = nv_tileas.async.pipeline.inc_iter %arg10 of %ring : <8>
        %44 = nv_tileas.async.pipeline.consumer_wait %ring_2[%arg7] : <1>
        nv_tileas.tmem_fence after
        %45 = nv_tileas.tmem_load %slot_10 : <256x64xf32, #smem3, space = tensor> -> tensor<256x64xf32, #layout>
        nv_tileas.tmem_fence
        nv_tileas.async.pipeline.consumer_release %ring_2[%arg7] : <1>
        %46 = nv_tileas.async.pipeline.inc_iter %arg7 of %ring_2 : <1>
        %47 = nv_tileas.reduce %45 dim 1 identities [0xFF800000 : f32] : tensor<256x64xf32, #layout> -> tensor<256xf32, #layout2> {
        ^bb0(%arg12: f32, %arg13: f32):
          %59 = arith.maximumf %arg12, %arg13 : f32
          nv_tileas.yield %59 : f32
        }
        %48 = nv_tileas.view %47 : tensor<256xf32, #layout2> -> tensor<256x1xf32, #layout2>
        %49 = arith.maximumf %arg6, %48 : tensor<256x1xf32, #layout2>
        %50 = arith.subf %arg6, %49 : tensor<256x1xf32, #layout2>
        %51 = math.exp2 %50 : tensor<256x1xf32, #layout2>
        %52 = nv_tileas.async.pipeline.producer_acquire %ring_4[%arg9] : <1>
        nv_tileas.tmem_fence after
        nv_tileas.tmem_scale %slot_8 by %51 if %arg8 : <256x128xf32, #smem4, space = tensor>, tensor<256x1xf32, #layout2>
        %53 = nv_tileas.broadcast %49 : tensor<256x1xf32, #layout2> -> tensor<256x64xf32, #layout>
        %54 = arith.subf %45, %53 : tensor<256x64xf32, #layout>
        %55 = math.exp2 %54 : tensor<256x64xf32, #layout>
        %56 = arith.truncf %55 : tensor<256x64xf32, #layout> to tensor<256x64xf16, #layout>
        %stage_12 = nv_tileas.async.pipeline.stage %arg9
        %slot_13 = nv_tileas.memdesc_slot %21[%stage_12] : <256x64xf16, #smem3, space = tensor> -> <256x64xf16, #smem3, space = tensor>
        nv_tileas.tmem_store %56, %slot_13 : tensor<256x64xf16, #layout>, <256x64xf16, #smem3, space = tensor>
        nv_tileas.tmem_fence
        nv_tileas.async.pipeline.producer_commit %ring_4[%arg9] tensor : <1>
        %57 = nv_tileas.async.pipeline.inc_iter %arg9 of %ring_4 : <1>
        %58 = nv_tileas.async.pipeline.inc_iter %arg11 of %ring_1 : <8>
        %true = arith.constant true
        scf.yield %49, %46, %true, %57, %43, %58 : tensor<256x1xf32, #layout2>, !it, i1, !it, !it, !it
      }
      %34 = nv_tileas.async.pipeline.consumer_wait %ring_3[%15] : <1>
      nv_tileas.tmem_fence after
      scf.if %32 {
        %cst_9 = arith.constant dense<0.000000e+00> : tensor<256x128xf32, #layout1>
        nv_tileas.tmem_store %cst_9, %slot_8 : tensor<256x128xf32, #layout1>, <256x128xf32, #smem4, space = tensor>
      } else {
      }
      %35 = nv_tileas.tmem_load %slot_8 : <256x128xf32, #smem4, space = tensor> -> tensor<256x128xf32, #layout1>
      nv_tileas.tmem_fence
      nv_tileas.async.pipeline.consumer_release %ring_3[%15] : <1>
      %36 = nv_tileas.async.pipeline.inc_iter %15 of %ring_3 : <1>
      %37 = nv_tileaa.make_memref %arg2, shape = [], strides = [] : <f32> -> !memref2
      %38 = nv_tileaa.make_tiled_view %37 : !memref2 -> <tile = [256, 128], !memref2>
      %39 = nv_tileas.alloc_tensor offset 0 : <256x128xf32, #smem5>
      nv_tileas.barrier {nv_tileas.reuse}
      nv_tileas.local_store %35, %39 vector 4 : tensor<256x128xf32, #layout1>, <256x128xf32, #smem5>
      nv_tileas.barrier
      %40 = nv_tileas.local_load %39 vector 4 : <256x128xf32, #smem5> -> tensor<256x128xf32, #layout3>
      %41 = nv_tileas.tiled_store <weak> %40, %38[%c0_i32, %c0_i32] vector 1 bounds <none> in_bounds [true, true] : tensor<256x128xf32, #layout3>, <tile = [256, 128], !memref2>[i32, i32]
    }, {
      %22 = nv_tileaa.assume #cuda_tile.div_by<16>, %arg0 : !nv_tileaa.ptr<f16>
      %23 = nv_tileaa.assume #cuda_tile.div_by<16>, %arg1 : !nv_tileaa.ptr<f16>
      %24 = nv_tileaa.make_memref %22, shape = [%arg4 : i32], strides = [] : <f16> -> !memref
      %25 = nv_tileaa.make_tiled_view %24 : !memref -> <tile = [256, 64], !memref, padding = zero>
      %26 = nv_tileaa.make_tiled_view %24 : !memref -> <tile = [64, 64], !memref, dim_map = [1, 0], padding = zero>
      %27 = nv_tileaa.make_memref %23, shape = [%arg4 : i32], strides = [] : <f16> -> !memref1
      %28 = nv_tileaa.make_tiled_view %27 : !memref1 -> <tile = [64, 128], !memref1, padding = zero>
      %map = nv_tileas.make_tiled_tma_desc %25 scratch %7 : <tile = [256, 64], !memref, padding = zero>, <128xi8> -> <f16, box = [64, 256], swizzle = 128>
      %map_5 = nv_tileas.make_tiled_tma_desc %26 scratch %3 : <tile = [64, 64], !memref, dim_map = [1, 0], padding = zero>, <128xi8> -> <f16, box = [64, 64], swizzle = 128>
      %map_6 = nv_tileas.make_tiled_tma_desc %28 scratch %11 : <tile = [64, 128], !memref1, padding = zero>, <128xi8> -> <f16, box = [64, 64], swizzle = 128>
      nv_tileas.async.elect {
        %29 = nv_tileaa.assume #cuda_tile.div_by<16>, %arg0 : !nv_tileaa.ptr<f16>
        %30 = nv_tileaa.assume #cuda_tile.div_by<16>, %arg1 : !nv_tileaa.ptr<f16>
        %31 = nv_tileaa.make_memref %29, shape = [%arg4 : i32], strides = [] : <f16> -> !memref
        %32 = nv_tileaa.make_tiled_view %31 : !memref -> <tile = [256, 64], !memref, padding = zero>
        %33 = nv_tileaa.make_tiled_view %31 : !memref -> <tile = [64, 64], !memref, dim_map = [1, 0], padding = zero>
        %34 = nv_tileaa.make_memref %30, shape = [%arg4 : i32], strides = [] : <f16> -> !memref1
        %35 = nv_tileaa.make_tiled_view %34 : !memref1 -> <tile = [64, 128], !memref1, padding = zero>
        %36 = nv_tileaa.make_tiled_view %31 : !memref -> <tile = [256, 64], !memref, padding = zero>
        %37 = nv_tileaa.make_tiled_view %31 : !memref -> <tile = [64, 64], !memref, dim_map = [1, 0], padding = zero>
        %38 = nv_tileaa.make_tiled_view %34 : !memref1 -> <tile = [64, 128], !memref1, padding = zero>
        %c0_i32 = arith.constant 0 : i32
        %c1_i32 = arith.constant 1 : i32
        %39 = nv_tileas.async.pipeline.producer_acquire %ring_0[%6] bytes 32768 : <1>
        %stage = nv_tileas.async.pipeline.stage %6
        %slot = nv_tileas.memdesc_slot %4[%stage] : <256x64xf16, #smem1, align = 1024> -> <256x64xf16, #smem1, align = 1024>
        nv_tileas.async.tiled_tma_load %36[%c0_i32, %c0_i32] by %map into %slot arrive %39 : <tile = [256, 64], !memref, padding = zero>[i32, i32], <f16, box = [64, 256], swizzle = 128> -> <256x64xf16, #smem1, align = 1024>
        %40:2 = scf.for %arg5 = %c0_i32 to %arg3 step %c1_i32 iter_args(%arg6 = %2, %arg7 = %10) -> (!it, !it)  : i32 {
          %41 = nv_tileas.async.pipeline.producer_acquire %ring[%arg6] bytes 8192 : <8>
          %stage_7 = nv_tileas.async.pipeline.stage %arg6
          %slot_8 = nv_tileas.memdesc_slot %0[%stage_7] : <64x64xf16, #smem, stages = 8, align = 1024> -> <64x64xf16, #smem, align = 1024>
          nv_tileas.async.tiled_tma_load %37[%c0_i32, %arg5] by %map_5 into %slot_8 arrive %41 : <tile = [64, 64], !memref, dim_map = [1, 0], padding = zero>[i32, i32], <f16, box = [64, 64], swizzle = 128> -> <64x64xf16, #smem, align = 1024>
          %42 = nv_tileas.async.pipeline.inc_iter %arg6 of %ring : <8>
          %43 = nv_tileas.async.pipeline.producer_acquire %ring_1[%arg7] bytes 16384 : <8>
          %stage_9 = nv_tileas.async.pipeline.stage %arg7
          %slot_10 = nv_tileas.memdesc_slot %8[%stage_9] : <64x128xf16, #smem2, stages = 8, align = 1024> -> <64x128xf16, #smem2, align = 1024>
          nv_tileas.async.tiled_tma_load %38[%arg5, %c0_i32] by %map_6 into %slot_10 arrive %43 : <tile = [64, 128], !memref1, padding = zero>[i32, i32], <f16, box = [64, 64], swizzle = 128> -> <64x128xf16, #smem2, align = 1024>
          %44 = nv_tileas.async.pipeline.inc_iter %arg7 of %ring_1 : <8>
          scf.yield %42, %44 : !it, !it
        }
      }
    }, {
      nv_tileas.async.elect {
        %c0_i32 = arith.constant 0 : i32
        %c1_i32 = arith.constant 1 : i32
        %22 = nv_tileas.async.pipeline.consumer_wait %ring_0[%6] : <1>
        %stage = nv_tileas.async.pipeline.stage %6
        %slot = nv_tileas.memdesc_slot %4[%stage] : <256x64xf16, #smem1, align = 1024> -> <256x64xf16, #smem1, align = 1024>
        %stage_5 = nv_tileas.async.pipeline.stage %15
        %slot_6 = nv_tileas.memdesc_slot %20[%stage_5] : <256x128xf32, #smem4, space = tensor> -> <256x128xf32, #smem4, space = tensor>
        %23 = nv_tileas.async.pipeline.producer_acquire %ring_3[%15] warpgroup 0 : <1>
        %24 = nv_tileas.async.pipeline.producer_acquire %ring_3[%15] warpgroup 1 : <1>
        nv_tileas.tmem_fence after
        %25:4 = scf.for %arg5 = %c0_i32 to %arg3 step %c1_i32 iter_args(%arg6 = %13, %arg7 = %17, %arg8 = %2, %arg9 = %10) -> (!it, !it, !it, !it)  : i32 {
          %26 = arith.cmpi eq, %arg5, %c0_i32 : i32
          scf.if %26 {
            %43 = arith.cmpi ne, %arg5, %c0_i32 : i32
            %stage_15 = nv_tileas.async.pipeline.stage %arg6
            %slot_16 = nv_tileas.memdesc_slot %19[%stage_15] : <256x64xf32, #smem3, space = tensor> -> <256x64xf32, #smem3, space = tensor>
            %44 = nv_tileas.async.pipeline.producer_acquire %ring_2[%arg6] warpgroup 0 : <1>
            nv_tileas.tmem_fence after
            %false_17 = arith.constant false
            %45 = nv_tileas.async.pipeline.consumer_wait %ring[%arg8] : <8>
            %stage_18 = nv_tileas.async.pipeline.stage %arg8
            %slot_19 = nv_tileas.memdesc_slot %0[%stage_18] : <64x64xf16, #smem, stages = 8, align = 1024> -> <64x64xf16, #smem, align = 1024>
            nv_tileas.async.dot %slot, %slot_19, %slot_16 accumulate %false_17 row_block 0 by <tensor, [128, 64, 16]> : !nv_tileas.memdesc<256x64xf16, #smem1, align = 1024>, <64x64xf16, #smem, align = 1024>, !nv_tileas.memdesc<256x64xf32, #smem3, space = tensor>
            %46 = nv_tileas.async.pipeline.inc_iter %arg8 of %ring : <8>
            nv_tileas.async.pipeline.producer_commit %ring_2[%arg6] dots warpgroup 0 : <1>
            %47 = arith.cmpi ne, %arg5, %c0_i32 : i32
            %stage_20 = nv_tileas.async.pipeline.stage %arg6
            %slot_21 = nv_tileas.memdesc_slot %19[%stage_20] : <256x64xf32, #smem3, space = tensor> -> <256x64xf32, #smem3, space = tensor>
            %48 = nv_tileas.async.pipeline.producer_acquire %ring_2[%arg6] warpgroup 1 : <1>
            nv_tileas.tmem_fence after
            %false_22 = arith.constant false
            %stage_23 = nv_tileas.async.pipeline.stage %arg8
            %slot_24 = nv_tileas.memdesc_slot %0[%stage_23] : <64x64xf16, #smem, stages = 8, align = 1024> -> <64x64xf16, #smem, align = 1024>
            nv_tileas.async.dot %slot, %slot_24, %slot_21 accumulate %false_22 row_block 1 by <tensor, [128, 64, 16]> : !nv_tileas.memdesc<256x64xf16, #smem1, align = 1024>, <64x64xf16, #smem, align = 1024>, !nv_tileas.memdesc<256x64xf32, #smem3, space = tensor>
            nv_tileas.async.pipeline.consumer_release %ring[%arg8] dots : <8>
            %49 = nv_tileas.async.pipeline.inc_iter %arg8 of %ring : <8>
            nv_tileas.async.pipeline.producer_commit %ring_2[%arg6] dots warpgroup 1 : <1>
          } else {
          }
          %27 = arith.subi %arg3, %arg5 : i32
          %28 = arith.cmpi ugt, %27, %c1_i32 : i32
          %29 = arith.cmpi ne, %arg5, %c0_i32 : i32
          %stage_7 = nv_tileas.async.pipeline.stage %arg6
          %slot_8 = nv_tileas.memdesc_slot %19[%stage_7] : <256x64xf32, #smem3, space = tensor> -> <256x64xf32, #smem3, space = tensor>
          %false = arith.constant false
          %stage_9 = nv_tileas.async.pipeline.stage %arg8
          %slot_10 = nv_tileas.memdesc_slot %0[%stage_9] : <64x64xf16, #smem, stages = 8, align = 1024> -> <64x64xf16, #smem, align = 1024>
          %30 = nv_tileas.async.pipeline.inc_iter %arg8 of %ring : <8>
          %31 = nv_tileas.async.pipeline.inc_iter %arg6 of %ring_2 : <1>
          %32 = nv_tileas.async.pipeline.inc_iter %arg7 of %ring_4 : <1>
          %33 = nv_tileas.async.pipeline.inc_iter %arg9 of %ring_1 : <8>
          %34 = arith.addi %arg5, %c1_i32 : i32
          %35 = arith.cmpi ne, %arg5, %c0_i32 : i32
          %36 = nv_tileas.async.pipeline.inc_iter %arg8 of %ring : <8>
          %37 = nv_tileas.async.pipeline.inc_iter %arg6 of %ring_2 : <1>
          %stage_11 = nv_tileas.async.pipeline.stage %arg7
          %slot_12 = nv_tileas.memdesc_slot %21[%stage_11] : <256x64xf16, #smem3, space = tensor> -> <256x64xf16, #smem3, space = tensor>
          %38 = nv_tileas.async.pipeline.inc_iter %arg7 of %ring_4 : <1>
          %stage_13 = nv_tileas.async.pipeline.stage %arg9
          %slot_14 = nv_tileas.memdesc_slot %8[%stage_13] : <64x128xf16, #smem2, stages = 8, align = 1024> -> <64x128xf16, #smem2, align = 1024>
          %39 = nv_tileas.async.pipeline.inc_iter %arg9 of %ring_1 : <8>
          scf.if %28 {
            %43 = arith.cmpi ne, %34, %c0_i32 : i32
            %stage_15 = nv_tileas.async.pipeline.stage %31
            %slot_16 = nv_tileas.memdesc_slot %19[%stage_15] : <256x64xf32, #smem3, space = tensor> -> <256x64xf32, #smem3, space = tensor>
            %44 = nv_tileas.async.pipeline.producer_acquire %ring_2[%31] warpgroup 0 : <1>
            nv_tileas.tmem_fence after
            %false_17 = arith.constant false
            %45 = nv_tileas.async.pipeline.consumer_wait %ring[%30] : <8>
            %stage_18 = nv_tileas.async.pipeline.stage %30
            %slot_19 = nv_tileas.memdesc_slot %0[%stage_18] : <64x64xf16, #smem, stages = 8, align = 1024> -> <64x64xf16, #smem, align = 1024>
            nv_tileas.async.dot %slot, %slot_19, %slot_16 accumulate %false_17 row_block 0 by <tensor, [128, 64, 16]> : !nv_tileas.memdesc<256x64xf16, #smem1, align = 1024>, <64x64xf16, #smem, align = 1024>, !nv_tileas.memdesc<256x64xf32, #smem3, space = tensor>
            %46 = nv_tileas.async.pipeline.inc_iter %30 of %ring : <8>
            nv_tileas.async.pipeline.producer_commit %ring_2[%31] dots warpgroup 0 : <1>
          } else {
          }
          %40 = nv_tileas.async.pipeline.consumer_wait %ring_1[%arg9] : <8>
          %41 = nv_tileas.async.pipeline.consumer_wait %ring_4[%arg7] warpgroup 0 : <1>
          nv_tileas.tmem_fence after
          nv_tileas.async.dot %slot_12, %slot_14, %slot_6 accumulate %35 row_block 0 by <tensor, [128, 128, 16]> : !nv_tileas.memdesc<256x64xf16, #smem3, space = tensor>, <64x128xf16, #smem2, align = 1024>, !nv_tileas.memdesc<256x128xf32, #smem4, space = tensor>
          nv_tileas.async.pipeline.consumer_release %ring_4[%arg7] dots warpgroup 0 : <1>
          scf.if %28 {
            %43 = arith.cmpi ne, %34, %c0_i32 : i32
            %stage_15 = nv_tileas.async.pipeline.stage %31
            %slot_16 = nv_tileas.memdesc_slot %19[%stage_15] : <256x64xf32, #smem3, space = tensor> -> <256x64xf32, #smem3, space = tensor>
            %44 = nv_tileas.async.pipeline.producer_acquire %ring_2[%31] warpgroup 1 : <1>
            nv_tileas.tmem_fence after
            %false_17 = arith.constant false
            %stage_18 = nv_tileas.async.pipeline.stage %30
            %slot_19 = nv_tileas.memdesc_slot %0[%stage_18] : <64x64xf16, #smem, stages = 8, align = 1024> -> <64x64xf16, #smem, align = 1024>
            nv_tileas.async.dot %slot, %slot_19, %slot_16 accumulate %false_17 row_block 1 by <tensor, [128, 64, 16]> : !nv_tileas.memdesc<256x64xf16, #smem1, align = 1024>, <64x64xf16, #smem, align = 1024>, !nv_tileas.memdesc<256x64xf32, #smem3, space = tensor>
            nv_tileas.async.pipeline.consumer_release %ring[%30] dots : <8>
            %45 = nv_tileas.async.pipeline.inc_iter %30 of %ring : <8>
            nv_tileas.async.pipeline.producer_commit %ring_2[%31] dots warpgroup 1 : <1>
          } else {
          }
          %42 = nv_tileas.async.pipeline.consumer_wait %ring_4[%arg7] warpgroup 0 : <1>
          nv_tileas.tmem_fence after
          nv_tileas.async.dot %slot_12, %slot_14, %slot_6 accumulate %35 row_block 1 by <tensor, [128, 128, 16]> : !nv_tileas.memdesc<256x64xf16, #smem3, space = tensor>, <64x128xf16, #smem2, align = 1024>, !nv_tileas.memdesc<256x128xf32, #smem4, space = tensor>
          nv_tileas.async.pipeline.consumer_release %ring_1[%arg9] dots : <8>
          nv_tileas.async.pipeline.consumer_release %ring_4[%arg7] dots warpgroup 1 : <1>
          scf.yield %37, %38, %36, %39 : !it, !it, !it, !it
        }
        nv_tileas.async.pipeline.producer_commit %ring_3[%15] dots warpgroup 0 : <1>
        nv_tileas.async.pipeline.producer_commit %ring_3[%15] dots warpgroup 1 : <1>
        nv_tileas.async.pipeline.consumer_release %ring_0[%6] dots : <1>
      }
    }, {
      nv_tileas.async.elect {
      }
    }
    nv_tileas.tmem_free columns 512
    nv_tileaa.return
  }
}

// -----
// The scores of the second warpgroup are announced to the first one.
!it = !nv_tileas.pipeline_iterator
!memref = !nv_tileaa.memref<?x64xf16, strides = [64, 1]>
!memref1 = !nv_tileaa.memref<?x128xf16, strides = [128, 1]>
!memref2 = !nv_tileaa.memref<256x128xf32, strides = [128, 1]>
#agents = [#nv_tileas.agent<"consumers", warps = 8, registers = 224>, #nv_tileas.agent<"producer", warps = 1, registers = 48>, #nv_tileas.agent<"matrix", warps = 1, registers = 48>, #nv_tileas.agent<"spare", warps = 2, registers = 48>]
#layout = #nv_tileas.layout<register = [1, 2, 4, 8, 16, 32], lane = [64, 128, 256, 512, 1024], warp = [2048, 4096, 8192]>
#layout1 = #nv_tileas.layout<register = [1, 2, 4, 8, 16, 32, 64], lane = [128, 256, 512, 1024, 2048], warp = [4096, 8192, 16384]>
#layout2 = #nv_tileas.layout<register = [], lane = [1, 2, 4, 8, 16], warp = [32, 64, 128]>
#layout3 = #nv_tileas.layout<register = [32, 64, 1024, 2048, 4096, 8192, 16384], lane = [1, 2, 4, 8, 16], warp = [128, 256, 512]>
#smem = #nv_tileas.shared_layout<offset = [64, 128, 256, 512, 1024, 2048, 513, 1026, 2052, 8, 16, 32]>
#smem1 = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 72, 144, 288, 512, 1024, 2048, 4096, 8192]>
#smem2 = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 136, 272, 544, 1024, 2048, 4096, 64]>
#smem3 = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 8192, 64, 128, 256, 512, 1024, 2048, 4096]>
#smem4 = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64, 16384, 128, 256, 512, 1024, 2048, 4096, 8192]>
#smem5 = #nv_tileas.shared_layout<offset = [32, 64, 128, 256, 512, 1024, 2048, 8, 16, 4096, 8192, 16384, 129, 258, 516]>
#plan = #nv_tileas.dot_plan<groups = [1, 2], columns = 128, stages = 8, scratch = 2304, launch_registers = 168, agents = #agents, unit = tensor with whole_rows = true with issue_ahead = true>
module {
  nv_tileaa.func @apart(%arg0: !nv_tileaa.ptr<f16>, %arg1: !nv_tileaa.ptr<f16>, %arg2: !nv_tileaa.ptr<f32>, %arg3: i32, %arg4: i32) attributes {numWarps = 12 : i64, nv_tileas.dot_plan = #plan, nv_tileas.max_registers = 168 : i64} {
    %0 = nv_tileas.alloc_tensor offset 131072 : <64x64xf16, #smem, stages = 8, align = 1024>
    %1 = nv_tileas.alloc_tensor offset 229376 : <16xi64, align = 8>
    // expected-error @below {{ends while a copy that counts on it is in flight}}
    %ring = nv_tileas.async.pipeline.create_pipeline %1 phases [full = 1, empty = 1] : <16xi64, align = 8> -> <8>
    %2 = nv_tileas.async.pipeline.create_iterator %ring : <8>
    %3 = nv_tileas.alloc_tensor offset 229632 : <128xi8>
    %4 = nv_tileas.alloc_tensor offset 196608 : <256x64xf16, #smem1, align = 1024>
    %5 = nv_tileas.alloc_tensor offset 230112 : <2xi64, align = 8>
    %ring_0 = nv_tileas.async.pipeline.create_pipeline %5 phases [full = 1, empty = 1] : <2xi64, align = 8> -> <1>
    %6 = nv_tileas.async.pipeline.create_iterator %ring_0 : <1>
    %7 = nv_tileas.alloc_tensor offset 229760 : <128xi8>
    %8 = nv_tileas.alloc_tensor offset 0 : <64x128xf16, #smem2, stages = 8, align = 1024>
    %9 = nv_tileas.alloc_tensor offset 229504 : <16xi64, align = 8>
    %ring_1 = nv_tileas.async.pipeline.create_pipeline %9 phases [full = 1, empty = 1] : <16xi64, align = 8> -> <8>
    %10 = nv_tileas.async.pipeline.create_iterator %ring_1 : <8>
    %11 = nv_tileas.alloc_tensor offset 229888 : <128xi8>
    %12 = nv_tileas.alloc_tensor offset 230016 : <4xi64, align = 8>
    %ring_2 = nv_tileas.async.pipeline.create_pipeline %12 phases [full = 1, empty = 4] warpgroups 2 : <4xi64, align = 8> -> <1>
    %13 = nv_tileas.async.pipeline.create_iterator %ring_2 : <1>
    %14 = nv_tileas.alloc_tensor offset 230048 : <4xi64, align = 8>
    %ring_3 = nv_tileas.async.pipeline.create_pipeline %14 phases [full = 1, empty = 4] warpgroups 2 : <4xi64, align = 8> -> <1>
    %15 = nv_tileas.async.pipeline.create_iterator %ring_3 : <1>
    %16 = nv_tileas.alloc_tensor offset 230080 : <4xi64, align = 8>
    %ring_4 = nv_tileas.async.pipeline.create_pipeline %16 phases [full = 4, empty = 1] warpgroups 2 : <4xi64, align = 8> -> <1>
    %17 = nv_tileas.async.pipeline.create_iterator %ring_4 : <1>
    %18 = nv_tileas.alloc_tensor offset 230144 : <1xi32>
    nv_tileas.tmem_allocate %18 columns 512 : <1xi32>
    nv_tileas.barrier
    %19 = nv_tileas.alloc_tensor offset 256 : <256x64xf32, #smem3, space = tensor>
    %20 = nv_tileas.alloc_tensor offset 0 : <256x128xf32, #smem4, space = tensor>
    %21 = nv_tileas.alloc_tensor offset 384 : <256x64xf16, #smem3, space = tensor>
    nv_tileas.async.pipeline.agent_switch agents #agents {
      %22 = nv_tileaa.assume #cuda_tile.div_by<16>, %arg0 : !nv_tileaa.ptr<f16>
      %23 = nv_tileaa.assume #cuda_tile.div_by<16>, %arg1 : !nv_tileaa.ptr<f16>
      %24 = nv_tileaa.make_memref %22, shape = [%arg4 : i32], strides = [] : <f16> -> !memref
      %25 = nv_tileaa.make_tiled_view %24 : !memref -> <tile = [256, 64], !memref, padding = zero>
      %26 = nv_tileaa.make_tiled_view %24 : !memref -> <tile = [64, 64], !memref, dim_map = [1, 0], padding = zero>
      %27 = nv_tileaa.make_memref %23, shape = [%arg4 : i32], strides = [] : <f16> -> !memref1
      %28 = nv_tileaa.make_tiled_view %27 : !memref1 -> <tile = [64, 128], !memref1, padding = zero>
      %29 = nv_tileaa.make_tiled_view %24 : !memref -> <tile = [256, 64], !memref, padding = zero>
      %30 = nv_tileaa.make_tiled_view %24 : !memref -> <tile = [64, 64], !memref, dim_map = [1, 0], padding = zero>
      %31 = nv_tileaa.make_tiled_view %27 : !memref1 -> <tile = [64, 128], !memref1, padding = zero>
      %c0_i32 = arith.constant 0 : i32
      %c1_i32 = arith.constant 1 : i32
      %cst = arith.constant dense<0.000000e+00> : tensor<256x64xf32, #layout>
      %cst_5 = arith.constant dense<0.000000e+00> : tensor<256x128xf32, #layout1>
      %cst_6 = arith.constant dense<-1.000000e+30> : tensor<256x1xf32, #layout2>
      %stage = nv_tileas.async.pipeline.stage %6
      %slot = nv_tileas.memdesc_slot %4[%stage] : <256x64xf16, #smem1, align = 1024> -> <256x64xf16, #smem1, align = 1024>
      %stage_7 = nv_tileas.async.pipeline.stage %15
      %slot_8 = nv_tileas.memdesc_slot %20[%stage_7] : <256x128xf32, #smem4, space = tensor> -> <256x128xf32, #smem4, space = tensor>
      %32 = arith.cmpi sle, %arg3, %c0_i32 : i32
      %false = arith.constant false
      %33:6 = scf.for %arg5 = %c0_i32 to %arg3 step %c1_i32 iter_args(%arg6 = %cst_6, %arg7 = %13, %arg8 = %false, %arg9 = %17, %arg10 = %2, %arg11 = %10) -> (tensor<256x1xf32, #layout2>, !it, i1, !it, !it, !it)  : i32 {
        %42 = arith.cmpi ne, %arg5, %c0_i32 : i32
        %stage_9 = nv_tileas.async.pipeline.stage %arg7
        %slot_10 = nv_tileas.memdesc_slot %19[%stage_9] : <256x64xf32, #smem3, space = tensor> -> <256x64xf32, #smem3, space = tensor>
        %false_11 = arith.constant false
        %43 = nv_tileas.async.pipeline.inc_iter %arg10 of %ring : <8>
        %44 = nv_tileas.async.pipeline.consumer_wait %ring_2[%arg7] : <1>
        nv_tileas.tmem_fence after
        %45 = nv_tileas.tmem_load %slot_10 : <256x64xf32, #smem3, space = tensor> -> tensor<256x64xf32, #layout>
        nv_tileas.tmem_fence
        nv_tileas.async.pipeline.consumer_release %ring_2[%arg7] : <1>
        %46 = nv_tileas.async.pipeline.inc_iter %arg7 of %ring_2 : <1>
        %47 = nv_tileas.reduce %45 dim 1 identities [0xFF800000 : f32] : tensor<256x64xf32, #layout> -> tensor<256xf32, #layout2> {
        ^bb0(%arg12: f32, %arg13: f32):
          %59 = arith.maximumf %arg12, %arg13 : f32
          nv_tileas.yield %59 : f32
        }
        %48 = nv_tileas.view %47 : tensor<256xf32, #layout2> -> tensor<256x1xf32, #layout2>
        %49 = arith.maximumf %arg6, %48 : tensor<256x1xf32, #layout2>
        %50 = arith.subf %arg6, %49 : tensor<256x1xf32, #layout2>
        %51 = math.exp2 %50 : tensor<256x1xf32, #layout2>
        %52 = nv_tileas.async.pipeline.producer_acquire %ring_4[%arg9] : <1>
        nv_tileas.tmem_fence after
        nv_tileas.tmem_scale %slot_8 by %51 if %arg8 : <256x128xf32, #smem4, space = tensor>, tensor<256x1xf32, #layout2>
        %53 = nv_tileas.broadcast %49 : tensor<256x1xf32, #layout2> -> tensor<256x64xf32, #layout>
        %54 = arith.subf %45, %53 : tensor<256x64xf32, #layout>
        %55 = math.exp2 %54 : tensor<256x64xf32, #layout>
        %56 = arith.truncf %55 : tensor<256x64xf32, #layout> to tensor<256x64xf16, #layout>
        %stage_12 = nv_tileas.async.pipeline.stage %arg9
        %slot_13 = nv_tileas.memdesc_slot %21[%stage_12] : <256x64xf16, #smem3, space = tensor> -> <256x64xf16, #smem3, space = tensor>
        nv_tileas.tmem_store %56, %slot_13 : tensor<256x64xf16, #layout>, <256x64xf16, #smem3, space = tensor>
        nv_tileas.tmem_fence
        nv_tileas.async.pipeline.producer_commit %ring_4[%arg9] tensor : <1>
        %57 = nv_tileas.async.pipeline.inc_iter %arg9 of %ring_4 : <1>
        %58 = nv_tileas.async.pipeline.inc_iter %arg11 of %ring_1 : <8>
        %true = arith.constant true
        scf.yield %49, %46, %true, %57, %43, %58 : tensor<256x1xf32, #layout2>, !it, i1, !it, !it, !it
      }
      %34 = nv_tileas.async.pipeline.consumer_wait %ring_3[%15] : <1>
      nv_tileas.tmem_fence after
      scf.if %32 {
        %cst_9 = arith.constant dense<0.000000e+00> : tensor<256x128xf32, #layout1>
        nv_tileas.tmem_store %cst_9, %slot_8 : tensor<256x128xf32, #layout1>, <256x128xf32, #smem4, space = tensor>
      } else {
      }
      %35 = nv_tileas.tmem_load %slot_8 : <256x128xf32, #smem4, space = tensor> -> tensor<256x128xf32, #layout1>
      nv_tileas.tmem_fence
      nv_tileas.async.pipeline.consumer_release %ring_3[%15] : <1>
      %36 = nv_tileas.async.pipeline.inc_iter %15 of %ring_3 : <1>
      %37 = nv_tileaa.make_memref %arg2, shape = [], strides = [] : <f32> -> !memref2
      %38 = nv_tileaa.make_tiled_view %37 : !memref2 -> <tile = [256, 128], !memref2>
      %39 = nv_tileas.alloc_tensor offset 0 : <256x128xf32, #smem5>
      nv_tileas.barrier {nv_tileas.reuse}
      nv_tileas.local_store %35, %39 vector 4 : tensor<256x128xf32, #layout1>, <256x128xf32, #smem5>
      nv_tileas.barrier
      %40 = nv_tileas.local_load %39 vector 4 : <256x128xf32, #smem5> -> tensor<256x128xf32, #layout3>
      %41 = nv_tileas.tiled_store <weak> %40, %38[%c0_i32, %c0_i32] vector 1 bounds <none> in_bounds [true, true] : tensor<256x128xf32, #layout3>, <tile = [256, 128], !memref2>[i32, i32]
    }, {
      %22 = nv_tileaa.assume #cuda_tile.div_by<16>, %arg0 : !nv_tileaa.ptr<f16>
      %23 = nv_tileaa.assume #cuda_tile.div_by<16>, %arg1 : !nv_tileaa.ptr<f16>
      %24 = nv_tileaa.make_memref %22, shape = [%arg4 : i32], strides = [] : <f16> -> !memref
      %25 = nv_tileaa.make_tiled_view %24 : !memref -> <tile = [256, 64], !memref, padding = zero>
      %26 = nv_tileaa.make_tiled_view %24 : !memref -> <tile = [64, 64], !memref, dim_map = [1, 0], padding = zero>
      %27 = nv_tileaa.make_memref %23, shape = [%arg4 : i32], strides = [] : <f16> -> !memref1
      %28 = nv_tileaa.make_tiled_view %27 : !memref1 -> <tile = [64, 128], !memref1, padding = zero>
      %map = nv_tileas.make_tiled_tma_desc %25 scratch %7 : <tile = [256, 64], !memref, padding = zero>, <128xi8> -> <f16, box = [64, 256], swizzle = 128>
      %map_5 = nv_tileas.make_tiled_tma_desc %26 scratch %3 : <tile = [64, 64], !memref, dim_map = [1, 0], padding = zero>, <128xi8> -> <f16, box = [64, 64], swizzle = 128>
      %map_6 = nv_tileas.make_tiled_tma_desc %28 scratch %11 : <tile = [64, 128], !memref1, padding = zero>, <128xi8> -> <f16, box = [64, 64], swizzle = 128>
      nv_tileas.async.elect {
        %29 = nv_tileaa.assume #cuda_tile.div_by<16>, %arg0 : !nv_tileaa.ptr<f16>
        %30 = nv_tileaa.assume #cuda_tile.div_by<16>, %arg1 : !nv_tileaa.ptr<f16>
        %31 = nv_tileaa.make_memref %29, shape = [%arg4 : i32], strides = [] : <f16> -> !memref
        %32 = nv_tileaa.make_tiled_view %31 : !memref -> <tile = [256, 64], !memref, padding = zero>
        %33 = nv_tileaa.make_tiled_view %31 : !memref -> <tile = [64, 64], !memref, dim_map = [1, 0], padding = zero>
        %34 = nv_tileaa.make_memref %30, shape = [%arg4 : i32], strides = [] : <f16> -> !memref1
        %35 = nv_tileaa.make_tiled_view %34 : !memref1 -> <tile = [64, 128], !memref1, padding = zero>
        %36 = nv_tileaa.make_tiled_view %31 : !memref -> <tile = [256, 64], !memref, padding = zero>
        %37 = nv_tileaa.make_tiled_view %31 : !memref -> <tile = [64, 64], !memref, dim_map = [1, 0], padding = zero>
        %38 = nv_tileaa.make_tiled_view %34 : !memref1 -> <tile = [64, 128], !memref1, padding = zero>
        %c0_i32 = arith.constant 0 : i32
        %c1_i32 = arith.constant 1 : i32
        %39 = nv_tileas.async.pipeline.producer_acquire %ring_0[%6] bytes 32768 : <1>
        %stage = nv_tileas.async.pipeline.stage %6
        %slot = nv_tileas.memdesc_slot %4[%stage] : <256x64xf16, #smem1, align = 1024> -> <256x64xf16, #smem1, align = 1024>
        nv_tileas.async.tiled_tma_load %36[%c0_i32, %c0_i32] by %map into %slot arrive %39 : <tile = [256, 64], !memref, padding = zero>[i32, i32], <f16, box = [64, 256], swizzle = 128> -> <256x64xf16, #smem1, align = 1024>
        %40:2 = scf.for %arg5 = %c0_i32 to %arg3 step %c1_i32 iter_args(%arg6 = %2, %arg7 = %10) -> (!it, !it)  : i32 {
          %41 = nv_tileas.async.pipeline.producer_acquire %ring[%arg6] bytes 8192 : <8>
          %stage_7 = nv_tileas.async.pipeline.stage %arg6
          %slot_8 = nv_tileas.memdesc_slot %0[%stage_7] : <64x64xf16, #smem, stages = 8, align = 1024> -> <64x64xf16, #smem, align = 1024>
          nv_tileas.async.tiled_tma_load %37[%c0_i32, %arg5] by %map_5 into %slot_8 arrive %41 : <tile = [64, 64], !memref, dim_map = [1, 0], padding = zero>[i32, i32], <f16, box = [64, 64], swizzle = 128> -> <64x64xf16, #smem, align = 1024>
          %42 = nv_tileas.async.pipeline.inc_iter %arg6 of %ring : <8>
          %43 = nv_tileas.async.pipeline.producer_acquire %ring_1[%arg7] bytes 16384 : <8>
          %stage_9 = nv_tileas.async.pipeline.stage %arg7
          %slot_10 = nv_tileas.memdesc_slot %8[%stage_9] : <64x128xf16, #smem2, stages = 8, align = 1024> -> <64x128xf16, #smem2, align = 1024>
          nv_tileas.async.tiled_tma_load %38[%arg5, %c0_i32] by %map_6 into %slot_10 arrive %43 : <tile = [64, 128], !memref1, padding = zero>[i32, i32], <f16, box = [64, 64], swizzle = 128> -> <64x128xf16, #smem2, align = 1024>
          %44 = nv_tileas.async.pipeline.inc_iter %arg7 of %ring_1 : <8>
          scf.yield %42, %44 : !it, !it
        }
      }
    }, {
      nv_tileas.async.elect {
        %c0_i32 = arith.constant 0 : i32
        %c1_i32 = arith.constant 1 : i32
        %22 = nv_tileas.async.pipeline.consumer_wait %ring_0[%6] : <1>
        %stage = nv_tileas.async.pipeline.stage %6
        %slot = nv_tileas.memdesc_slot %4[%stage] : <256x64xf16, #smem1, align = 1024> -> <256x64xf16, #smem1, align = 1024>
        %stage_5 = nv_tileas.async.pipeline.stage %15
        %slot_6 = nv_tileas.memdesc_slot %20[%stage_5] : <256x128xf32, #smem4, space = tensor> -> <256x128xf32, #smem4, space = tensor>
        %23 = nv_tileas.async.pipeline.producer_acquire %ring_3[%15] warpgroup 0 : <1>
        %24 = nv_tileas.async.pipeline.producer_acquire %ring_3[%15] warpgroup 1 : <1>
        nv_tileas.tmem_fence after
        %25:4 = scf.for %arg5 = %c0_i32 to %arg3 step %c1_i32 iter_args(%arg6 = %13, %arg7 = %17, %arg8 = %2, %arg9 = %10) -> (!it, !it, !it, !it)  : i32 {
          %26 = arith.cmpi eq, %arg5, %c0_i32 : i32
          scf.if %26 {
            %43 = arith.cmpi ne, %arg5, %c0_i32 : i32
            %stage_15 = nv_tileas.async.pipeline.stage %arg6
            %slot_16 = nv_tileas.memdesc_slot %19[%stage_15] : <256x64xf32, #smem3, space = tensor> -> <256x64xf32, #smem3, space = tensor>
            %44 = nv_tileas.async.pipeline.producer_acquire %ring_2[%arg6] warpgroup 0 : <1>
            nv_tileas.tmem_fence after
            %false_17 = arith.constant false
            %45 = nv_tileas.async.pipeline.consumer_wait %ring[%arg8] : <8>
            %stage_18 = nv_tileas.async.pipeline.stage %arg8
            %slot_19 = nv_tileas.memdesc_slot %0[%stage_18] : <64x64xf16, #smem, stages = 8, align = 1024> -> <64x64xf16, #smem, align = 1024>
            nv_tileas.async.dot %slot, %slot_19, %slot_16 accumulate %false_17 row_block 0 by <tensor, [128, 64, 16]> : !nv_tileas.memdesc<256x64xf16, #smem1, align = 1024>, <64x64xf16, #smem, align = 1024>, !nv_tileas.memdesc<256x64xf32, #smem3, space = tensor>
            %46 = nv_tileas.async.pipeline.inc_iter %arg8 of %ring : <8>
            nv_tileas.async.pipeline.producer_commit %ring_2[%arg6] dots warpgroup 0 : <1>
            %47 = arith.cmpi ne, %arg5, %c0_i32 : i32
            %stage_20 = nv_tileas.async.pipeline.stage %arg6
            %slot_21 = nv_tileas.memdesc_slot %19[%stage_20] : <256x64xf32, #smem3, space = tensor> -> <256x64xf32, #smem3, space = tensor>
            %48 = nv_tileas.async.pipeline.producer_acquire %ring_2[%arg6] warpgroup 1 : <1>
            nv_tileas.tmem_fence after
            %false_22 = arith.constant false
            %stage_23 = nv_tileas.async.pipeline.stage %arg8
            %slot_24 = nv_tileas.memdesc_slot %0[%stage_23] : <64x64xf16, #smem, stages = 8, align = 1024> -> <64x64xf16, #smem, align = 1024>
            nv_tileas.async.dot %slot, %slot_24, %slot_21 accumulate %false_22 row_block 1 by <tensor, [128, 64, 16]> : !nv_tileas.memdesc<256x64xf16, #smem1, align = 1024>, <64x64xf16, #smem, align = 1024>, !nv_tileas.memdesc<256x64xf32, #smem3, space = tensor>
            nv_tileas.async.pipeline.consumer_release %ring[%arg8] dots : <8>
            %49 = nv_tileas.async.pipeline.inc_iter %arg8 of %ring : <8>
            nv_tileas.async.pipeline.producer_commit %ring_2[%arg6] dots warpgroup 0 : <1>
          } else {
          }
          %27 = arith.subi %arg3, %arg5 : i32
          %28 = arith.cmpi ugt, %27, %c1_i32 : i32
          %29 = arith.cmpi ne, %arg5, %c0_i32 : i32
          %stage_7 = nv_tileas.async.pipeline.stage %arg6
          %slot_8 = nv_tileas.memdesc_slot %19[%stage_7] : <256x64xf32, #smem3, space = tensor> -> <256x64xf32, #smem3, space = tensor>
          %false = arith.constant false
          %stage_9 = nv_tileas.async.pipeline.stage %arg8
          %slot_10 = nv_tileas.memdesc_slot %0[%stage_9] : <64x64xf16, #smem, stages = 8, align = 1024> -> <64x64xf16, #smem, align = 1024>
          %30 = nv_tileas.async.pipeline.inc_iter %arg8 of %ring : <8>
          %31 = nv_tileas.async.pipeline.inc_iter %arg6 of %ring_2 : <1>
          %32 = nv_tileas.async.pipeline.inc_iter %arg7 of %ring_4 : <1>
          %33 = nv_tileas.async.pipeline.inc_iter %arg9 of %ring_1 : <8>
          %34 = arith.addi %arg5, %c1_i32 : i32
          %35 = arith.cmpi ne, %arg5, %c0_i32 : i32
          %36 = nv_tileas.async.pipeline.inc_iter %arg8 of %ring : <8>
          %37 = nv_tileas.async.pipeline.inc_iter %arg6 of %ring_2 : <1>
          %stage_11 = nv_tileas.async.pipeline.stage %arg7
          %slot_12 = nv_tileas.memdesc_slot %21[%stage_11] : <256x64xf16, #smem3, space = tensor> -> <256x64xf16, #smem3, space = tensor>
          %38 = nv_tileas.async.pipeline.inc_iter %arg7 of %ring_4 : <1>
          %stage_13 = nv_tileas.async.pipeline.stage %arg9
          %slot_14 = nv_tileas.memdesc_slot %8[%stage_13] : <64x128xf16, #smem2, stages = 8, align = 1024> -> <64x128xf16, #smem2, align = 1024>
          %39 = nv_tileas.async.pipeline.inc_iter %arg9 of %ring_1 : <8>
          scf.if %28 {
            %43 = arith.cmpi ne, %34, %c0_i32 : i32
            %stage_15 = nv_tileas.async.pipeline.stage %31
            %slot_16 = nv_tileas.memdesc_slot %19[%stage_15] : <256x64xf32, #smem3, space = tensor> -> <256x64xf32, #smem3, space = tensor>
            %44 = nv_tileas.async.pipeline.producer_acquire %ring_2[%31] warpgroup 0 : <1>
            nv_tileas.tmem_fence after
            %false_17 = arith.constant false
            %45 = nv_tileas.async.pipeline.consumer_wait %ring[%30] : <8>
            %stage_18 = nv_tileas.async.pipeline.stage %30
            %slot_19 = nv_tileas.memdesc_slot %0[%stage_18] : <64x64xf16, #smem, stages = 8, align = 1024> -> <64x64xf16, #smem, align = 1024>
            nv_tileas.async.dot %slot, %slot_19, %slot_16 accumulate %false_17 row_block 0 by <tensor, [128, 64, 16]> : !nv_tileas.memdesc<256x64xf16, #smem1, align = 1024>, <64x64xf16, #smem, align = 1024>, !nv_tileas.memdesc<256x64xf32, #smem3, space = tensor>
            %46 = nv_tileas.async.pipeline.inc_iter %30 of %ring : <8>
            nv_tileas.async.pipeline.producer_commit %ring_2[%31] dots warpgroup 0 : <1>
          } else {
          }
          %40 = nv_tileas.async.pipeline.consumer_wait %ring_1[%arg9] : <8>
          %41 = nv_tileas.async.pipeline.consumer_wait %ring_4[%arg7] warpgroup 0 : <1>
          nv_tileas.tmem_fence after
          nv_tileas.async.dot %slot_12, %slot_14, %slot_6 accumulate %35 row_block 0 by <tensor, [128, 128, 16]> : !nv_tileas.memdesc<256x64xf16, #smem3, space = tensor>, <64x128xf16, #smem2, align = 1024>, !nv_tileas.memdesc<256x128xf32, #smem4, space = tensor>
          nv_tileas.async.pipeline.consumer_release %ring_4[%arg7] dots warpgroup 0 : <1>
          scf.if %28 {
            %43 = arith.cmpi ne, %34, %c0_i32 : i32
            %stage_15 = nv_tileas.async.pipeline.stage %31
            %slot_16 = nv_tileas.memdesc_slot %19[%stage_15] : <256x64xf32, #smem3, space = tensor> -> <256x64xf32, #smem3, space = tensor>
            %44 = nv_tileas.async.pipeline.producer_acquire %ring_2[%31] warpgroup 1 : <1>
            nv_tileas.tmem_fence after
            %false_17 = arith.constant false
            %stage_18 = nv_tileas.async.pipeline.stage %30
            %slot_19 = nv_tileas.memdesc_slot %0[%stage_18] : <64x64xf16, #smem, stages = 8, align = 1024> -> <64x64xf16, #smem, align = 1024>
            nv_tileas.async.dot %slot, %slot_19, %slot_16 accumulate %false_17 row_block 1 by <tensor, [128, 64, 16]> : !nv_tileas.memdesc<256x64xf16, #smem1, align = 1024>, <64x64xf16, #smem, align = 1024>, !nv_tileas.memdesc<256x64xf32, #smem3, space = tensor>
            nv_tileas.async.pipeline.consumer_release %ring[%30] dots : <8>
            %45 = nv_tileas.async.pipeline.inc_iter %30 of %ring : <8>
            nv_tileas.async.pipeline.producer_commit %ring_2[%31] dots warpgroup 0 : <1>
          } else {
          }
          %42 = nv_tileas.async.pipeline.consumer_wait %ring_4[%arg7] warpgroup 1 : <1>
          nv_tileas.tmem_fence after
          nv_tileas.async.dot %slot_12, %slot_14, %slot_6 accumulate %35 row_block 1 by <tensor, [128, 128, 16]> : !nv_tileas.memdesc<256x64xf16, #smem3, space = tensor>, <64x128xf16, #smem2, align = 1024>, !nv_tileas.memdesc<256x128xf32, #smem4, space = tensor>
          nv_tileas.async.pipeline.consumer_release %ring_1[%arg9] dots : <8>
          nv_tileas.async.pipeline.consumer_release %ring_4[%arg7] dots warpgroup 1 : <1>
          scf.yield %37, %38, %36, %39 : !it, !it, !it, !it
        }
        nv_tileas.async.pipeline.producer_commit %ring_3[%15] dots warpgroup 0 : <1>
        nv_tileas.async.pipeline.producer_commit %ring_3[%15] dots warpgroup 1 : <1>
        nv_tileas.async.pipeline.consumer_release %ring_0[%6] dots : <1>
      }
    }, {
      nv_tileas.async.elect {
      }
    }
    nv_tileas.tmem_free columns 512
    nv_tileaa.return
  }
}

