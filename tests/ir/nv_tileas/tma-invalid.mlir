// RUN: tileiras-opt %s --split-input-file --verify-diagnostics
#x = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64]>
#y = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32]>
#s = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 72, 144, 288]>
!scratch = !nv_tileas.memdesc<128xi8, #x>
!small = !nv_tileas.memdesc<64xi8, #y>
!stage = !nv_tileas.memdesc<8x64xbf16, #s, align = 1024>
!ring = !nv_tileas.memdesc<8x64xbf16, #s, stages = 2, align = 1024>
!turned = !nv_tileas.memdesc<64x8xbf16, #s, align = 1024>
!view = !nv_tileaa.tiled_view<tile = [8, 64], memref<64x64xbf16, strides = [64, 1]>, padding = zero>
!sparse = !nv_tileaa.tiled_view<tile = [8, 64], memref<64x64xbf16, strides = [64, 1]>, padding = zero, sparse_dim = 0>
!desc = !nv_tileas.tma_desc<bf16, dims = [1, 0], box = [64, 8], steps = [1, 1], swizzle = 128, fill = zero>

nv_tileaa.func @element(%v: !view, %x: !scratch) attributes {numWarps = 1 : i64} {
  // expected-error @+1 {{map has elements 'f16', and the view 'bf16'}}
  %d = nv_tileas.make_tiled_tma_desc %v scratch %x : !view, !scratch -> !nv_tileas.tma_desc<f16, dims = [1, 0], box = [64, 8], steps = [1, 1], swizzle = 128, fill = zero>
  nv_tileaa.return
}

// -----

#x = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64]>
#y = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32]>
#s = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 72, 144, 288]>
!scratch = !nv_tileas.memdesc<128xi8, #x>
!small = !nv_tileas.memdesc<64xi8, #y>
!stage = !nv_tileas.memdesc<8x64xbf16, #s, align = 1024>
!ring = !nv_tileas.memdesc<8x64xbf16, #s, stages = 2, align = 1024>
!turned = !nv_tileas.memdesc<64x8xbf16, #s, align = 1024>
!view = !nv_tileaa.tiled_view<tile = [8, 64], memref<64x64xbf16, strides = [64, 1]>, padding = zero>
!sparse = !nv_tileaa.tiled_view<tile = [8, 64], memref<64x64xbf16, strides = [64, 1]>, padding = zero, sparse_dim = 0>
!desc = !nv_tileas.tma_desc<bf16, dims = [1, 0], box = [64, 8], steps = [1, 1], swizzle = 128, fill = zero>

nv_tileaa.func @rank(%v: !view, %x: !scratch) attributes {numWarps = 1 : i64} {
  // expected-error @+1 {{map has each of the view's 2 dimensions once}}
  %d = nv_tileas.make_tiled_tma_desc %v scratch %x : !view, !scratch -> !nv_tileas.tma_desc<bf16, dims = [1], box = [64], steps = [1], swizzle = 128, fill = zero>
  nv_tileaa.return
}

// -----

#x = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64]>
#y = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32]>
#s = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 72, 144, 288]>
!scratch = !nv_tileas.memdesc<128xi8, #x>
!small = !nv_tileas.memdesc<64xi8, #y>
!stage = !nv_tileas.memdesc<8x64xbf16, #s, align = 1024>
!ring = !nv_tileas.memdesc<8x64xbf16, #s, stages = 2, align = 1024>
!turned = !nv_tileas.memdesc<64x8xbf16, #s, align = 1024>
!view = !nv_tileaa.tiled_view<tile = [8, 64], memref<64x64xbf16, strides = [64, 1]>, padding = zero>
!sparse = !nv_tileaa.tiled_view<tile = [8, 64], memref<64x64xbf16, strides = [64, 1]>, padding = zero, sparse_dim = 0>
!desc = !nv_tileas.tma_desc<bf16, dims = [1, 0], box = [64, 8], steps = [1, 1], swizzle = 128, fill = zero>

nv_tileaa.func @twice(%v: !view, %x: !scratch) attributes {numWarps = 1 : i64} {
  // expected-error @+1 {{map has each of the view's 2 dimensions once}}
  %d = nv_tileas.make_tiled_tma_desc %v scratch %x : !view, !scratch -> !nv_tileas.tma_desc<bf16, dims = [1, 1], box = [64, 8], steps = [1, 1], swizzle = 128, fill = zero>
  nv_tileaa.return
}

// -----

#x = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64]>
#y = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32]>
#s = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 72, 144, 288]>
!scratch = !nv_tileas.memdesc<128xi8, #x>
!small = !nv_tileas.memdesc<64xi8, #y>
!stage = !nv_tileas.memdesc<8x64xbf16, #s, align = 1024>
!ring = !nv_tileas.memdesc<8x64xbf16, #s, stages = 2, align = 1024>
!turned = !nv_tileas.memdesc<64x8xbf16, #s, align = 1024>
!view = !nv_tileaa.tiled_view<tile = [8, 64], memref<64x64xbf16, strides = [64, 1]>, padding = zero>
!sparse = !nv_tileaa.tiled_view<tile = [8, 64], memref<64x64xbf16, strides = [64, 1]>, padding = zero, sparse_dim = 0>
!desc = !nv_tileas.tma_desc<bf16, dims = [1, 0], box = [64, 8], steps = [1, 1], swizzle = 128, fill = zero>

nv_tileaa.func @sparse(%v: !sparse, %x: !scratch) attributes {numWarps = 1 : i64} {
  // expected-error @+1 {{tensor maps do not support a sparse dimension}}
  %d = nv_tileas.make_tiled_tma_desc %v scratch %x : !sparse, !scratch -> !desc
  nv_tileaa.return
}

// -----

#x = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64]>
#y = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32]>
#s = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 72, 144, 288]>
!scratch = !nv_tileas.memdesc<128xi8, #x>
!small = !nv_tileas.memdesc<64xi8, #y>
!stage = !nv_tileas.memdesc<8x64xbf16, #s, align = 1024>
!ring = !nv_tileas.memdesc<8x64xbf16, #s, stages = 2, align = 1024>
!turned = !nv_tileas.memdesc<64x8xbf16, #s, align = 1024>
!view = !nv_tileaa.tiled_view<tile = [8, 64], memref<64x64xbf16, strides = [64, 1]>, padding = zero>
!sparse = !nv_tileaa.tiled_view<tile = [8, 64], memref<64x64xbf16, strides = [64, 1]>, padding = zero, sparse_dim = 0>
!desc = !nv_tileas.tma_desc<bf16, dims = [1, 0], box = [64, 8], steps = [1, 1], swizzle = 128, fill = zero>

nv_tileaa.func @scratch(%v: !view, %x: !small) attributes {numWarps = 1 : i64} {
  // expected-error @+1 {{scratch is 128 bytes of shared memory, got}}
  %d = nv_tileas.make_tiled_tma_desc %v scratch %x : !view, !small -> !desc
  nv_tileaa.return
}

// -----

#x = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64]>
#y = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32]>
#s = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 72, 144, 288]>
!scratch = !nv_tileas.memdesc<128xi8, #x>
!small = !nv_tileas.memdesc<64xi8, #y>
!stage = !nv_tileas.memdesc<8x64xbf16, #s, align = 1024>
!ring = !nv_tileas.memdesc<8x64xbf16, #s, stages = 2, align = 1024>
!turned = !nv_tileas.memdesc<64x8xbf16, #s, align = 1024>
!view = !nv_tileaa.tiled_view<tile = [8, 64], memref<64x64xbf16, strides = [64, 1]>, padding = zero>
!sparse = !nv_tileaa.tiled_view<tile = [8, 64], memref<64x64xbf16, strides = [64, 1]>, padding = zero, sparse_dim = 0>
!desc = !nv_tileas.tma_desc<bf16, dims = [1, 0], box = [64, 8], steps = [1, 1], swizzle = 128, fill = zero>

nv_tileaa.func @loop(%v: !view, %x: !scratch, %n: i32) attributes {numWarps = 1 : i64} {
  scf.for %i = %n to %n step %n : i32 {
    // expected-error @+1 {{is in a loop, but lists no pipelines whose copies must end before the map is overwritten}}
    %d = nv_tileas.make_tiled_tma_desc %v scratch %x : !view, !scratch -> !desc
  }
  nv_tileaa.return
}

// -----

#x = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64]>
#y = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32]>
#s = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 72, 144, 288]>
!scratch = !nv_tileas.memdesc<128xi8, #x>
!small = !nv_tileas.memdesc<64xi8, #y>
!stage = !nv_tileas.memdesc<8x64xbf16, #s, align = 1024>
!ring = !nv_tileas.memdesc<8x64xbf16, #s, stages = 2, align = 1024>
!turned = !nv_tileas.memdesc<64x8xbf16, #s, align = 1024>
!view = !nv_tileaa.tiled_view<tile = [8, 64], memref<64x64xbf16, strides = [64, 1]>, padding = zero>
!sparse = !nv_tileaa.tiled_view<tile = [8, 64], memref<64x64xbf16, strides = [64, 1]>, padding = zero, sparse_dim = 0>
!desc = !nv_tileas.tma_desc<bf16, dims = [1, 0], box = [64, 8], steps = [1, 1], swizzle = 128, fill = zero>

nv_tileaa.func @pairs(%v: !view, %x: !scratch, %p: !nv_tileas.pipeline<2>) attributes {numWarps = 1 : i64} {
  %it = nv_tileas.async.pipeline.create_iterator %p : !nv_tileas.pipeline<2>
  // expected-error @+1 {{lists 1 pipelines and 2 iterators}}
  %d = "nv_tileas.make_tiled_tma_desc"(%v, %x, %p, %it, %it) <{operandSegmentSizes = array<i32: 1, 1, 1, 2>}> : (!view, !scratch, !nv_tileas.pipeline<2>, !nv_tileas.pipeline_iterator, !nv_tileas.pipeline_iterator) -> !desc
  nv_tileaa.return
}

// -----

#x = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64]>
#y = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32]>
#s = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 72, 144, 288]>
!scratch = !nv_tileas.memdesc<128xi8, #x>
!small = !nv_tileas.memdesc<64xi8, #y>
!stage = !nv_tileas.memdesc<8x64xbf16, #s, align = 1024>
!ring = !nv_tileas.memdesc<8x64xbf16, #s, stages = 2, align = 1024>
!turned = !nv_tileas.memdesc<64x8xbf16, #s, align = 1024>
!view = !nv_tileaa.tiled_view<tile = [8, 64], memref<64x64xbf16, strides = [64, 1]>, padding = zero>
!sparse = !nv_tileaa.tiled_view<tile = [8, 64], memref<64x64xbf16, strides = [64, 1]>, padding = zero, sparse_dim = 0>
!desc = !nv_tileas.tma_desc<bf16, dims = [1, 0], box = [64, 8], steps = [1, 1], swizzle = 128, fill = zero>

nv_tileaa.func @thread(%v: !view, %x: !scratch) attributes {numWarps = 1 : i64} {
  nv_tileas.async.elect {
    // expected-error @+1 {{needs a whole warp, but is in the program of one thread}}
    %d = nv_tileas.make_tiled_tma_desc %v scratch %x : !view, !scratch -> !desc
  }
  nv_tileaa.return
}

// -----

#x = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64]>
#y = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32]>
#s = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 72, 144, 288]>
!scratch = !nv_tileas.memdesc<128xi8, #x>
!small = !nv_tileas.memdesc<64xi8, #y>
!stage = !nv_tileas.memdesc<8x64xbf16, #s, align = 1024>
!ring = !nv_tileas.memdesc<8x64xbf16, #s, stages = 2, align = 1024>
!turned = !nv_tileas.memdesc<64x8xbf16, #s, align = 1024>
!view = !nv_tileaa.tiled_view<tile = [8, 64], memref<64x64xbf16, strides = [64, 1]>, padding = zero>
!sparse = !nv_tileaa.tiled_view<tile = [8, 64], memref<64x64xbf16, strides = [64, 1]>, padding = zero, sparse_dim = 0>
!desc = !nv_tileas.tma_desc<bf16, dims = [1, 0], box = [64, 8], steps = [1, 1], swizzle = 128, fill = zero>

nv_tileaa.func @alone(%v: !view, %d: !desc, %m: !stage, %t: !nv_tileas.producer_token, %i: i32) attributes {numWarps = 1 : i64} {
  // expected-error @+1 {{must be inside 'nv_tileas.async.elect'}}
  nv_tileas.async.tiled_tma_load %v[%i, %i] by %d into %m arrive %t : !view[i32, i32], !desc -> !stage
  nv_tileaa.return
}

// -----

#x = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64]>
#y = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32]>
#s = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 72, 144, 288]>
!scratch = !nv_tileas.memdesc<128xi8, #x>
!small = !nv_tileas.memdesc<64xi8, #y>
!stage = !nv_tileas.memdesc<8x64xbf16, #s, align = 1024>
!ring = !nv_tileas.memdesc<8x64xbf16, #s, stages = 2, align = 1024>
!turned = !nv_tileas.memdesc<64x8xbf16, #s, align = 1024>
!view = !nv_tileaa.tiled_view<tile = [8, 64], memref<64x64xbf16, strides = [64, 1]>, padding = zero>
!sparse = !nv_tileaa.tiled_view<tile = [8, 64], memref<64x64xbf16, strides = [64, 1]>, padding = zero, sparse_dim = 0>
!desc = !nv_tileas.tma_desc<bf16, dims = [1, 0], box = [64, 8], steps = [1, 1], swizzle = 128, fill = zero>

nv_tileaa.func @stages(%v: !view, %d: !desc, %m: !ring, %t: !nv_tileas.producer_token, %i: i32) attributes {numWarps = 1 : i64} {
  nv_tileas.async.elect {
    // expected-error @+1 {{destination must be one stage in shared memory}}
    nv_tileas.async.tiled_tma_load %v[%i, %i] by %d into %m arrive %t : !view[i32, i32], !desc -> !ring
  }
  nv_tileaa.return
}

// -----

#x = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64]>
#y = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32]>
#s = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 72, 144, 288]>
!scratch = !nv_tileas.memdesc<128xi8, #x>
!small = !nv_tileas.memdesc<64xi8, #y>
!stage = !nv_tileas.memdesc<8x64xbf16, #s, align = 1024>
!ring = !nv_tileas.memdesc<8x64xbf16, #s, stages = 2, align = 1024>
!turned = !nv_tileas.memdesc<64x8xbf16, #s, align = 1024>
!view = !nv_tileaa.tiled_view<tile = [8, 64], memref<64x64xbf16, strides = [64, 1]>, padding = zero>
!sparse = !nv_tileaa.tiled_view<tile = [8, 64], memref<64x64xbf16, strides = [64, 1]>, padding = zero, sparse_dim = 0>
!desc = !nv_tileas.tma_desc<bf16, dims = [1, 0], box = [64, 8], steps = [1, 1], swizzle = 128, fill = zero>

nv_tileaa.func @shape(%v: !view, %d: !desc, %m: !turned, %t: !nv_tileas.producer_token, %i: i32) attributes {numWarps = 1 : i64} {
  nv_tileas.async.elect {
    // expected-error @+1 {{destination must have the shape of the view's tiles and elements of 'bf16'}}
    nv_tileas.async.tiled_tma_load %v[%i, %i] by %d into %m arrive %t : !view[i32, i32], !desc -> !turned
  }
  nv_tileaa.return
}

// -----

#x = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64]>
#y = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32]>
#s = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 72, 144, 288]>
!scratch = !nv_tileas.memdesc<128xi8, #x>
!small = !nv_tileas.memdesc<64xi8, #y>
!stage = !nv_tileas.memdesc<8x64xbf16, #s, align = 1024>
!ring = !nv_tileas.memdesc<8x64xbf16, #s, stages = 2, align = 1024>
!turned = !nv_tileas.memdesc<64x8xbf16, #s, align = 1024>
!view = !nv_tileaa.tiled_view<tile = [8, 64], memref<64x64xbf16, strides = [64, 1]>, padding = zero>
!sparse = !nv_tileaa.tiled_view<tile = [8, 64], memref<64x64xbf16, strides = [64, 1]>, padding = zero, sparse_dim = 0>
!desc = !nv_tileas.tma_desc<bf16, dims = [1, 0], box = [64, 8], steps = [1, 1], swizzle = 128, fill = zero>

nv_tileaa.func @indices(%v: !view, %d: !desc, %m: !stage, %t: !nv_tileas.producer_token, %i: i32) attributes {numWarps = 1 : i64} {
  nv_tileas.async.elect {
    // expected-error @+1 {{expected one index for each of 2 dimensions}}
    nv_tileas.async.tiled_tma_load %v[%i] by %d into %m arrive %t : !view[i32], !desc -> !stage
  }
  nv_tileaa.return
}

// -----

#x = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64]>
#y = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32]>
#s = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 72, 144, 288]>
!scratch = !nv_tileas.memdesc<128xi8, #x>
!small = !nv_tileas.memdesc<64xi8, #y>
!stage = !nv_tileas.memdesc<8x64xbf16, #s, align = 1024>
!ring = !nv_tileas.memdesc<8x64xbf16, #s, stages = 2, align = 1024>
!turned = !nv_tileas.memdesc<64x8xbf16, #s, align = 1024>
!view = !nv_tileaa.tiled_view<tile = [8, 64], memref<64x64xbf16, strides = [64, 1]>, padding = zero>
!sparse = !nv_tileaa.tiled_view<tile = [8, 64], memref<64x64xbf16, strides = [64, 1]>, padding = zero, sparse_dim = 0>
!desc = !nv_tileas.tma_desc<bf16, dims = [1, 0], box = [64, 8], steps = [1, 1], swizzle = 128, fill = zero>

nv_tileaa.func @narrow(%v: !view, %d: !desc, %m: !stage, %t: !nv_tileas.producer_token, %i: i16) attributes {numWarps = 1 : i64} {
  nv_tileas.async.elect {
    // expected-error @+1 {{indices are i32 or i64, got 'i16'}}
    nv_tileas.async.tiled_tma_load %v[%i, %i] by %d into %m arrive %t : !view[i16, i16], !desc -> !stage
  }
  nv_tileaa.return
}

// -----

#x = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64]>
#y = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32]>
#s = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 72, 144, 288]>
!scratch = !nv_tileas.memdesc<128xi8, #x>
!small = !nv_tileas.memdesc<64xi8, #y>
!stage = !nv_tileas.memdesc<8x64xbf16, #s, align = 1024>
!ring = !nv_tileas.memdesc<8x64xbf16, #s, stages = 2, align = 1024>
!turned = !nv_tileas.memdesc<64x8xbf16, #s, align = 1024>
!view = !nv_tileaa.tiled_view<tile = [8, 64], memref<64x64xbf16, strides = [64, 1]>, padding = zero>
!sparse = !nv_tileaa.tiled_view<tile = [8, 64], memref<64x64xbf16, strides = [64, 1]>, padding = zero, sparse_dim = 0>
!desc = !nv_tileas.tma_desc<bf16, dims = [1, 0], box = [64, 8], steps = [1, 1], swizzle = 128, fill = zero>

nv_tileaa.func @others(%v: !view, %x: !scratch, %m: !stage, %t: !nv_tileas.producer_token, %i: i32) attributes {numWarps = 2 : i64} {
  %d = nv_tileas.make_tiled_tma_desc %v scratch %x : !view, !scratch -> !desc
  nv_tileas.async.pipeline.agent_switch agents [<"consumers", warps = 1>, <"producer", warps = 1>] {
    nv_tileas.barrier
  }, {
    nv_tileas.async.elect {
      // expected-error @+1 {{map is built by other warps and valid only in those}}
      nv_tileas.async.tiled_tma_load %v[%i, %i] by %d into %m arrive %t : !view[i32, i32], !desc -> !stage
    }
  }
  nv_tileaa.return
}

// -----

#x = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64]>
#y = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32]>
#s = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 72, 144, 288]>
!scratch = !nv_tileas.memdesc<128xi8, #x>
!small = !nv_tileas.memdesc<64xi8, #y>
!stage = !nv_tileas.memdesc<8x64xbf16, #s, align = 1024>
!ring = !nv_tileas.memdesc<8x64xbf16, #s, stages = 2, align = 1024>
!turned = !nv_tileas.memdesc<64x8xbf16, #s, align = 1024>
!view = !nv_tileaa.tiled_view<tile = [8, 64], memref<64x64xbf16, strides = [64, 1]>, padding = zero>
!sparse = !nv_tileaa.tiled_view<tile = [8, 64], memref<64x64xbf16, strides = [64, 1]>, padding = zero, sparse_dim = 0>
!desc = !nv_tileas.tma_desc<bf16, dims = [1, 0], box = [64, 8], steps = [1, 1], swizzle = 128, fill = zero>

// expected-error @+1 {{a tensor map has 1 to 5 dimensions, with one box extent and one step each}}
nv_tileaa.func @lists(%d: !nv_tileas.tma_desc<bf16, dims = [1, 0], box = [64], steps = [1, 1], swizzle = 128, fill = zero>) attributes {numWarps = 1 : i64} {
  nv_tileaa.return
}

// -----

#x = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64]>
#y = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32]>
#s = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 72, 144, 288]>
!scratch = !nv_tileas.memdesc<128xi8, #x>
!small = !nv_tileas.memdesc<64xi8, #y>
!stage = !nv_tileas.memdesc<8x64xbf16, #s, align = 1024>
!ring = !nv_tileas.memdesc<8x64xbf16, #s, stages = 2, align = 1024>
!turned = !nv_tileas.memdesc<64x8xbf16, #s, align = 1024>
!view = !nv_tileaa.tiled_view<tile = [8, 64], memref<64x64xbf16, strides = [64, 1]>, padding = zero>
!sparse = !nv_tileaa.tiled_view<tile = [8, 64], memref<64x64xbf16, strides = [64, 1]>, padding = zero, sparse_dim = 0>
!desc = !nv_tileas.tma_desc<bf16, dims = [1, 0], box = [64, 8], steps = [1, 1], swizzle = 128, fill = zero>

// expected-error @+1 {{the unit is 16 bytes, or 32 bytes in a span of 128, got 32}}
nv_tileaa.func @unit(%d: !nv_tileas.tma_desc<f32, box = [16, 8], swizzle = 64, unit = 32>) attributes {numWarps = 1 : i64} {
  nv_tileaa.return
}

// -----

// expected-error @+1 {{the swizzle spans 16, 32, 64 or 128 bytes, got 48}}
nv_tileaa.func @swizzle(%d: !nv_tileas.tma_desc<bf16, dims = [0], box = [64], steps = [1], swizzle = 48, fill = zero>) attributes {numWarps = 1 : i64} {
  nv_tileaa.return
}

// -----

#x = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64]>
#y = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32]>
#s = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 72, 144, 288]>
!scratch = !nv_tileas.memdesc<128xi8, #x>
!small = !nv_tileas.memdesc<64xi8, #y>
!stage = !nv_tileas.memdesc<8x64xbf16, #s, align = 1024>
!ring = !nv_tileas.memdesc<8x64xbf16, #s, stages = 2, align = 1024>
!turned = !nv_tileas.memdesc<64x8xbf16, #s, align = 1024>
!view = !nv_tileaa.tiled_view<tile = [8, 64], memref<64x64xbf16, strides = [64, 1]>, padding = zero>
!sparse = !nv_tileaa.tiled_view<tile = [8, 64], memref<64x64xbf16, strides = [64, 1]>, padding = zero, sparse_dim = 0>
!desc = !nv_tileas.tma_desc<bf16, dims = [1, 0], box = [64, 8], steps = [1, 1], swizzle = 128, fill = zero>

// expected-error @+1 {{box extents are 1 to 256, got 257}}
nv_tileaa.func @box(%d: !nv_tileas.tma_desc<bf16, dims = [0], box = [257], steps = [1], swizzle = 16, fill = zero>) attributes {numWarps = 1 : i64} {
  nv_tileaa.return
}

// -----

#x = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64]>
#y = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32]>
#s = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 72, 144, 288]>
!scratch = !nv_tileas.memdesc<128xi8, #x>
!small = !nv_tileas.memdesc<64xi8, #y>
!stage = !nv_tileas.memdesc<8x64xbf16, #s, align = 1024>
!ring = !nv_tileas.memdesc<8x64xbf16, #s, stages = 2, align = 1024>
!turned = !nv_tileas.memdesc<64x8xbf16, #s, align = 1024>
!view = !nv_tileaa.tiled_view<tile = [8, 64], memref<64x64xbf16, strides = [64, 1]>, padding = zero>
!sparse = !nv_tileaa.tiled_view<tile = [8, 64], memref<64x64xbf16, strides = [64, 1]>, padding = zero, sparse_dim = 0>
!desc = !nv_tileas.tma_desc<bf16, dims = [1, 0], box = [64, 8], steps = [1, 1], swizzle = 128, fill = zero>

// expected-error @+1 {{steps are 1 to 8, got 9}}
nv_tileaa.func @steps(%d: !nv_tileas.tma_desc<bf16, dims = [0], box = [64], steps = [9], swizzle = 16, fill = zero>) attributes {numWarps = 1 : i64} {
  nv_tileaa.return
}

// -----

#s = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 72, 144, 288]>
!stage = !nv_tileas.memdesc<8x64xbf16, #s, align = 1024>
!ring = !nv_tileas.memdesc<8x64xbf16, #s, stages = 2, align = 1024>
!view = !nv_tileaa.tiled_view<tile = [8, 64], memref<64x64xbf16, strides = [64, 1]>>
!desc = !nv_tileas.tma_desc<bf16, dims = [1, 0], box = [64, 8], steps = [1, 1], swizzle = 128, fill = zero>
!wide = !nv_tileas.tma_desc<bf16, dims = [1, 0], box = [64, 8], steps = [2, 1], swizzle = 128, fill = zero>

nv_tileaa.func @store_by_one(%v: !view, %d: !desc, %m: !stage, %i: i32) attributes {numWarps = 1 : i64} {
  nv_tileas.async.elect {
    // expected-error @+1 {{elects a thread itself, but is in the program of one thread}}
    nv_tileas.async.tiled_tma_store %m to %v[%i, %i] by %d : !stage -> !view[i32, i32], !desc
  }
  nv_tileaa.return
}

// -----

#s = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 72, 144, 288]>
!stage = !nv_tileas.memdesc<8x64xbf16, #s, align = 1024>
!ring = !nv_tileas.memdesc<8x64xbf16, #s, stages = 2, align = 1024>
!view = !nv_tileaa.tiled_view<tile = [8, 64], memref<64x64xbf16, strides = [64, 1]>>
!desc = !nv_tileas.tma_desc<bf16, dims = [1, 0], box = [64, 8], steps = [1, 1], swizzle = 128, fill = zero>
!wide = !nv_tileas.tma_desc<bf16, dims = [1, 0], box = [64, 8], steps = [2, 1], swizzle = 128, fill = zero>

nv_tileaa.func @store_with_steps(%v: !view, %d: !wide, %m: !stage, %i: i32) attributes {numWarps = 1 : i64} {
  // expected-error @+1 {{writes contiguous elements, but the map has steps larger than 1}}
  nv_tileas.async.tiled_tma_store %m to %v[%i, %i] by %d : !stage -> !view[i32, i32], !wide
  nv_tileaa.return
}

// -----

#s = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 72, 144, 288]>
!stage = !nv_tileas.memdesc<8x64xbf16, #s, align = 1024>
!ring = !nv_tileas.memdesc<8x64xbf16, #s, stages = 2, align = 1024>
!view = !nv_tileaa.tiled_view<tile = [8, 64], memref<64x64xbf16, strides = [64, 1]>>
!desc = !nv_tileas.tma_desc<bf16, dims = [1, 0], box = [64, 8], steps = [1, 1], swizzle = 128, fill = zero>
!wide = !nv_tileas.tma_desc<bf16, dims = [1, 0], box = [64, 8], steps = [2, 1], swizzle = 128, fill = zero>

nv_tileaa.func @store_of_a_ring(%v: !view, %d: !desc, %m: !ring, %i: i32) attributes {numWarps = 1 : i64} {
  // expected-error @+1 {{source must be one stage in shared memory}}
  nv_tileas.async.tiled_tma_store %m to %v[%i, %i] by %d : !ring -> !view[i32, i32], !desc
  nv_tileaa.return
}

// -----

#x = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64]>
#y = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32]>
#s = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 72, 144, 288]>
!scratch = !nv_tileas.memdesc<128xi8, #x>
!small = !nv_tileas.memdesc<64xi8, #y>
!stage = !nv_tileas.memdesc<8x64xbf16, #s, align = 1024>
!ring = !nv_tileas.memdesc<8x64xbf16, #s, stages = 2, align = 1024>
!turned = !nv_tileas.memdesc<64x8xbf16, #s, align = 1024>
!view = !nv_tileaa.tiled_view<tile = [8, 64], memref<64x64xbf16, strides = [64, 1]>, padding = zero>
!sparse = !nv_tileaa.tiled_view<tile = [8, 64], memref<64x64xbf16, strides = [64, 1]>, padding = zero, sparse_dim = 0>
!desc = !nv_tileas.tma_desc<bf16, dims = [1, 0], box = [64, 8], steps = [1, 1], swizzle = 128, fill = zero>

nv_tileaa.func @ready(%v: !view) attributes {numWarps = 1 : i64} {
  // expected-error @+1 {{map has elements 'f16', and the view 'bf16'}}
  %r = nv_tileas.tma_ready %v for !nv_tileas.tma_desc<f16, dims = [1, 0], box = [64, 8], steps = [1, 1], swizzle = 128, fill = zero> : !view
  nv_tileaa.return
}
