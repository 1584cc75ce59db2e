// RUN: tileiras-opt %s | tileiras-opt | FileCheck %s
// Ops on tensor memory.
#a = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 72, 144, 288, 512, 1024, 2048, 4096]>
#b = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 72, 144, 288, 512, 1024, 2048]>
#m = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096]>
#l = #nv_tileas.layout<register = [1, 512, 8, 16, 32, 1024], lane = [2, 4, 64, 128, 256], warp = [2048, 4096]>
!a = !nv_tileas.memdesc<128x64xbf16, #a, align = 1024>
!b = !nv_tileas.memdesc<64x64xbf16, #b, align = 1024>
!m = !nv_tileas.memdesc<128x64xf32, #m, space = tensor>
!t = tensor<128x64xf32, #l>
!slot = !nv_tileas.memdesc<1xi32, #nv_tileas.shared_layout<offset = []>>

// CHECK-LABEL: nv_tileaa.func @f(
nv_tileaa.func @f(%slot: !slot, %a: !a, %b: !b, %m: !m, %x: !t, %more: i1) attributes {numWarps = 4 : i64} {
  // CHECK: nv_tileas.tmem_allocate %{{.*}} columns 64 : <1xi32>
  nv_tileas.tmem_allocate %slot columns 64 : !slot
  // CHECK: nv_tileas.tmem_allocate %{{[a-z0-9]*}} : <1xi32>
  nv_tileas.tmem_allocate %slot : !slot
  nv_tileas.async.elect of matrix {
    // CHECK: nv_tileas.async.dot %{{.*}}, %{{.*}}, %[[M:.*]] accumulate %{{.*}} by <tensor, [128, 64, 16]> : !nv_tileas.memdesc<128x64xbf16, {{.*}}>, <64x64xbf16, {{.*}}>, !nv_tileas.memdesc<128x64xf32, space = tensor>
    nv_tileas.async.dot %a, %b, %m accumulate %more by <tensor, [128, 64, 16]> : !a, !b, !m
    // CHECK: nv_tileas.async.dot %{{.*}}, %{{.*}}, %[[M]] by <tensor, [128, 64, 16]>
    nv_tileas.async.dot %a, %b, %m by <tensor, [128, 64, 16]> : !a, !b, !m
  }
  // CHECK: nv_tileas.tmem_fence after
  nv_tileas.tmem_fence after
  // CHECK: nv_tileas.tmem_store %{{.*}}, %[[M]] : tensor<128x64xf32, {{.*}}>, <128x64xf32, space = tensor>
  nv_tileas.tmem_store %x, %m : !t, !m
  // CHECK: nv_tileas.tmem_load %[[M]] : <128x64xf32, space = tensor> -> tensor<128x64xf32,
  %y = nv_tileas.tmem_load %m : !m -> !t
  // CHECK: nv_tileas.tmem_fence{{$}}
  nv_tileas.tmem_fence
  // CHECK: nv_tileas.tmem_free columns 64
  nv_tileas.tmem_free columns 64
  nv_tileaa.return
}

#quarter = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048]>
!quarter = !nv_tileas.memdesc<128x32xf32, #quarter, space = tensor>
// CHECK-LABEL: nv_tileaa.func @slice(
nv_tileaa.func @slice(%m: !m) attributes {numWarps = 4 : i64} {
  // CHECK: nv_tileas.tmem_slice %{{.*}} column 32 : <128x64xf32, space = tensor> -> <128x32xf32, space = tensor>
  %s = nv_tileas.tmem_slice %m column 32 : !m -> !quarter
  nv_tileaa.return
}

#half = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 72, 144, 256, 512, 1024]>
!half = !nv_tileas.memdesc<64x32xbf16, #half, align = 1024>
!words = !nv_tileas.memdesc<4xi64, #nv_tileas.shared_layout<offset = [1, 2]>>
// Two CTAs that run dots together.
// CHECK-LABEL: nv_tileaa.func @pair(
nv_tileaa.func @pair(%slot: !slot, %words: !words, %a: !a, %b: !half, %m: !m) attributes {numWarps = 5 : i64} {
  // CHECK: create_pipeline %{{.*}} phases [full = 1, empty = 1] leader full : <4xi64>
  %p = nv_tileas.async.pipeline.create_pipeline %words phases [full = 1, empty = 1] leader full : !words -> !nv_tileas.pipeline<2>
  // CHECK: nv_tileas.tmem_allocate %{{.*}} columns 64 pair : <1xi32>
  nv_tileas.tmem_allocate %slot columns 64 pair : !slot
  nv_tileas.barrier
  // CHECK: agent_switch agents [<"consumers", warps = 4, registers = 80>, <"matrix", warps = 1, registers = 80 on rank 0>]
  nv_tileas.async.pipeline.agent_switch agents [<"consumers", warps = 4, registers = 80>, <"matrix", warps = 1, registers = 80 on rank 0>] {
    nv_tileas.tmem_fence
  }, {
    nv_tileas.async.elect {
      // CHECK: nv_tileas.async.dot %{{.*}}, %{{.*}}, %{{.*}} by <tensor_pair, [256, 64, 16]> : !nv_tileas.memdesc<128x64xbf16, {{.*}}>, <64x32xbf16, {{.*}}>, !nv_tileas.memdesc<128x64xf32, space = tensor>
      nv_tileas.async.dot %a, %b, %m by <tensor_pair, [256, 64, 16]> : !a, !half, !m
    }
  }
  // CHECK: nv_tileas.tmem_free columns 64 pair
  nv_tileas.tmem_free columns 64 pair
  nv_tileaa.return
}

#factors = #nv_tileas.shared_layout<offset = [1, 2, 128, 256, 4, 8, 16, 32, 64]>
!factors = !nv_tileas.memdesc<128x4xf8E8M0FNU, #factors>
!columns = !nv_tileas.memdesc<128x4xf8E8M0FNU, #factors, space = scales>
!phases = !nv_tileas.memdesc<8xi64, #nv_tileas.shared_layout<offset = [1, 2, 4]>>
// Scale factors of two CTAs: each counts the bytes of its own, and the first one the conversions of both.
// CHECK-LABEL: nv_tileaa.func @scaled_pair(
nv_tileaa.func @scaled_pair(%words: !phases, %s: !factors, %t: !columns) attributes {numWarps = 4 : i64} {
  // CHECK: create_pipeline %{{.*}} phases [full = 1, empty = 1, converted = 8, scales = 1] leader full, converted : <8xi64> -> <2>
  %p = nv_tileas.async.pipeline.create_pipeline %words phases [full = 1, empty = 1, converted = 8, scales = 1] leader full, converted : !phases -> !nv_tileas.pipeline<2>
  %i = nv_tileas.async.pipeline.create_iterator %p : <2>
  nv_tileas.async.elect {
    // CHECK: producer_acquire %{{.*}}[%{{.*}}] bytes 512 fills scales : <2>
    %token = nv_tileas.async.pipeline.producer_acquire %p[%i] bytes 512 fills scales : <2>
    // CHECK: nv_tileas.tmem_copy %{{.*}}, %{{.*}} pair :
    nv_tileas.tmem_copy %s, %t pair : !factors, !columns
  }
  nv_tileaa.return
}

!answer = !nv_tileas.memdesc<4xi32, #nv_tileas.shared_layout<offset = [1, 2]>>
// Tile blocks that a CTA takes over.
// CHECK-LABEL: nv_tileaa.func @tile_blocks(
nv_tileaa.func @tile_blocks(%words: !words, %slot: !answer) attributes {numWarps = 1 : i64} {
  %p = nv_tileas.async.pipeline.create_pipeline %words phases [full = 1, empty = 1] : !words -> !nv_tileas.pipeline<2>
  %i = nv_tileas.async.pipeline.create_iterator %p : !nv_tileas.pipeline<2>
  nv_tileas.async.elect {
    %t = nv_tileas.async.pipeline.producer_acquire %p[%i] bytes 16 : !nv_tileas.pipeline<2>
    // CHECK: nv_tileas.async.cancel_tile_block into %{{.*}} arrive %{{.*}} : <4xi32>
    nv_tileas.async.cancel_tile_block into %slot arrive %t : !answer
  }
  // CHECK: nv_tileas.async.next_tile_block from %{{.*}} at %{{.*}}[%{{.*}}] : !nv_tileas.memdesc<4xi32>, !nv_tileas.pipeline<2>, !nv_tileas.pipeline_iterator
  %x, %y, %z, %more = nv_tileas.async.next_tile_block from %slot at %p[%i] : !answer, !nv_tileas.pipeline<2>, !nv_tileas.pipeline_iterator
  // CHECK: nv_tileas.async.next_tile_block{{$}}
  %x1, %y1, %z1, %more1 = nv_tileas.async.next_tile_block
  nv_tileaa.return
}


#half_m = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096]>
!weights = !nv_tileas.memdesc<128x64xbf16, #half_m, space = tensor>
#factor = #nv_tileas.layout<register = [], lane = [1, 2, 4, 8, 16], warp = [32, 64]>
// A left operand that takes the columns of an accumulator, and rows that are scaled.
// CHECK-LABEL: nv_tileaa.func @dependent(
nv_tileaa.func @dependent(%m: !m, %acc: !m, %b: !b, %factor: tensor<128x1xf32, #factor>, %more: i1) attributes {numWarps = 4 : i64} {
  // CHECK: %[[P:.*]] = nv_tileas.memdesc_reinterpret %{{.*}} : <128x64xf32, space = tensor> -> <128x64xbf16, space = tensor>
  %p = nv_tileas.memdesc_reinterpret %m : !m -> !weights
  // CHECK: nv_tileas.tmem_scale %{{.*}} by %{{.*}} if %{{.*}} : <128x64xf32, space = tensor>, tensor<128x1xf32,
  nv_tileas.tmem_scale %acc by %factor if %more : !m, tensor<128x1xf32, #factor>
  // CHECK: nv_tileas.tmem_scale %{{.*}} by %{{[a-z0-9]*}} : <128x64xf32,
  nv_tileas.tmem_scale %acc by %factor : !m, tensor<128x1xf32, #factor>
  nv_tileas.async.elect of matrix {
    // CHECK: nv_tileas.async.dot %[[P]], %{{.*}}, %{{.*}} by <tensor, [128, 64, 16]> : !nv_tileas.memdesc<128x64xbf16, space = tensor>, <64x64xbf16,
    nv_tileas.async.dot %p, %b, %acc by <tensor, [128, 64, 16]> : !weights, !b, !m
  }
  nv_tileaa.return
}
