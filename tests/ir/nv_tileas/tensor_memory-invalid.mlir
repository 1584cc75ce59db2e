// RUN: tileiras-opt %s --split-input-file --verify-diagnostics
// Each op on tensor memory rejects what it cannot do.
#a = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 72, 144, 288, 512, 1024, 2048, 4096]>
#b = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 72, 144, 288, 512, 1024, 2048]>
#m = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096]>
#l = #nv_tileas.layout<register = [1, 512, 8, 16, 32, 1024], lane = [2, 4, 64, 128, 256], warp = [2048, 4096]>
!a = !nv_tileas.memdesc<128x64xbf16, #a, align = 1024>
!b = !nv_tileas.memdesc<64x64xbf16, #b, align = 1024>
!m = !nv_tileas.memdesc<128x64xf32, #m, space = tensor>
!t = tensor<128x64xf32, #l>
!slot = !nv_tileas.memdesc<1xi32, #nv_tileas.shared_layout<offset = []>>
!s = !nv_tileas.memdesc<128x64xf32, #nv_tileas.shared_layout<offset = [2, 1, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096]>, space = tensor>
nv_tileaa.func @f(%slot: !slot, %a: !a, %b: !b, %m: !m, %s: !s, %x: !t, %h: tensor<64x128xf32, #l>, %more: i1) attributes {numWarps = 4 : i64} {
  // expected-error @below {{columns must be a power of two from 32 to 512, got 48}}
  nv_tileas.tmem_allocate %slot columns 48 : !slot
  nv_tileaa.return
}

// -----

#a = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 72, 144, 288, 512, 1024, 2048, 4096]>
#b = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 72, 144, 288, 512, 1024, 2048]>
#m = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096]>
#l = #nv_tileas.layout<register = [1, 512, 8, 16, 32, 1024], lane = [2, 4, 64, 128, 256], warp = [2048, 4096]>
!a = !nv_tileas.memdesc<128x64xbf16, #a, align = 1024>
!b = !nv_tileas.memdesc<64x64xbf16, #b, align = 1024>
!m = !nv_tileas.memdesc<128x64xf32, #m, space = tensor>
!t = tensor<128x64xf32, #l>
!slot = !nv_tileas.memdesc<1xi32, #nv_tileas.shared_layout<offset = []>>
!s = !nv_tileas.memdesc<128x64xf32, #nv_tileas.shared_layout<offset = [2, 1, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096]>, space = tensor>
nv_tileaa.func @f(%slot: !slot, %a: !a, %b: !b, %m: !m, %s: !s, %x: !t, %h: tensor<64x128xf32, #l>, %more: i1) attributes {numWarps = 4 : i64} {
  // expected-error @below {{stores the address in an i32 in shared memory}}
  nv_tileas.tmem_allocate %a columns 64 : !a
  nv_tileaa.return
}

// -----

#a = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 72, 144, 288, 512, 1024, 2048, 4096]>
#b = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 72, 144, 288, 512, 1024, 2048]>
#m = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096]>
#l = #nv_tileas.layout<register = [1, 512, 8, 16, 32, 1024], lane = [2, 4, 64, 128, 256], warp = [2048, 4096]>
!a = !nv_tileas.memdesc<128x64xbf16, #a, align = 1024>
!b = !nv_tileas.memdesc<64x64xbf16, #b, align = 1024>
!m = !nv_tileas.memdesc<128x64xf32, #m, space = tensor>
!t = tensor<128x64xf32, #l>
!slot = !nv_tileas.memdesc<1xi32, #nv_tileas.shared_layout<offset = []>>
!s = !nv_tileas.memdesc<128x64xf32, #nv_tileas.shared_layout<offset = [2, 1, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096]>, space = tensor>
nv_tileaa.func @f(%slot: !slot, %a: !a, %b: !b, %m: !m, %s: !s, %x: !t, %h: tensor<64x128xf32, #l>, %more: i1) attributes {numWarps = 4 : i64} {
  // expected-error @below {{needs a single stage in tensor memory}}
  %y = nv_tileas.tmem_load %a : !a -> !t
  nv_tileaa.return
}

// -----

#a = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 72, 144, 288, 512, 1024, 2048, 4096]>
#b = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 72, 144, 288, 512, 1024, 2048]>
#m = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096]>
#l = #nv_tileas.layout<register = [1, 512, 8, 16, 32, 1024], lane = [2, 4, 64, 128, 256], warp = [2048, 4096]>
!a = !nv_tileas.memdesc<128x64xbf16, #a, align = 1024>
!b = !nv_tileas.memdesc<64x64xbf16, #b, align = 1024>
!m = !nv_tileas.memdesc<128x64xf32, #m, space = tensor>
!t = tensor<128x64xf32, #l>
!slot = !nv_tileas.memdesc<1xi32, #nv_tileas.shared_layout<offset = []>>
!s = !nv_tileas.memdesc<128x64xf32, #nv_tileas.shared_layout<offset = [2, 1, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096]>, space = tensor>
nv_tileaa.func @f(%slot: !slot, %a: !a, %b: !b, %m: !m, %s: !s, %x: !t, %h: tensor<64x128xf32, #l>, %more: i1) attributes {numWarps = 4 : i64} {
  // expected-error @below {{moves a tensor of the shape and element type of}}
  nv_tileas.tmem_store %h, %m : tensor<64x128xf32, #l>, !m
  nv_tileaa.return
}

// -----

#a = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 72, 144, 288, 512, 1024, 2048, 4096]>
#b = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 72, 144, 288, 512, 1024, 2048]>
#m = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096]>
#l = #nv_tileas.layout<register = [1, 512, 8, 16, 32, 1024], lane = [2, 4, 64, 128, 256], warp = [2048, 4096]>
!a = !nv_tileas.memdesc<128x64xbf16, #a, align = 1024>
!b = !nv_tileas.memdesc<64x64xbf16, #b, align = 1024>
!m = !nv_tileas.memdesc<128x64xf32, #m, space = tensor>
!t = tensor<128x64xf32, #l>
!slot = !nv_tileas.memdesc<1xi32, #nv_tileas.shared_layout<offset = []>>
!s = !nv_tileas.memdesc<128x64xf32, #nv_tileas.shared_layout<offset = [2, 1, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096]>, space = tensor>
nv_tileaa.func @f(%slot: !slot, %a: !a, %b: !b, %m: !m, %s: !s, %x: !t, %h: tensor<64x128xf32, #l>, %more: i1) attributes {numWarps = 4 : i64} {
  // expected-error @below {{with an accumulator in tensor memory must be inside 'nv_tileas.async.elect'}}
  nv_tileas.async.dot %a, %b, %m by <tensor, [128, 64, 16]> : !a, !b, !m
  nv_tileaa.return
}

// -----

#a = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 72, 144, 288, 512, 1024, 2048, 4096]>
#b = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 72, 144, 288, 512, 1024, 2048]>
#m = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096]>
#l = #nv_tileas.layout<register = [1, 512, 8, 16, 32, 1024], lane = [2, 4, 64, 128, 256], warp = [2048, 4096]>
!a = !nv_tileas.memdesc<128x64xbf16, #a, align = 1024>
!b = !nv_tileas.memdesc<64x64xbf16, #b, align = 1024>
!m = !nv_tileas.memdesc<128x64xf32, #m, space = tensor>
!t = tensor<128x64xf32, #l>
!slot = !nv_tileas.memdesc<1xi32, #nv_tileas.shared_layout<offset = []>>
!s = !nv_tileas.memdesc<128x64xf32, #nv_tileas.shared_layout<offset = [2, 1, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096]>, space = tensor>
nv_tileaa.func @f(%slot: !slot, %a: !a, %b: !b, %m: !m, %s: !s, %x: !t, %h: tensor<64x128xf32, #l>, %more: i1) attributes {numWarps = 4 : i64} {
  // expected-error @below {{'accumulate' applies to accumulators in memory}}
  %r = nv_tileas.async.dot %a, %b, %x accumulate %more by <warpgroup, [64, 64, 16]> : !a, !b, !t
  nv_tileaa.return
}

// -----

#a = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 72, 144, 288, 512, 1024, 2048, 4096]>
#b = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 72, 144, 288, 512, 1024, 2048]>
#m = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096]>
#l = #nv_tileas.layout<register = [1, 512, 8, 16, 32, 1024], lane = [2, 4, 64, 128, 256], warp = [2048, 4096]>
!a = !nv_tileas.memdesc<128x64xbf16, #a, align = 1024>
!b = !nv_tileas.memdesc<64x64xbf16, #b, align = 1024>
!m = !nv_tileas.memdesc<128x64xf32, #m, space = tensor>
!t = tensor<128x64xf32, #l>
!slot = !nv_tileas.memdesc<1xi32, #nv_tileas.shared_layout<offset = []>>
!s = !nv_tileas.memdesc<128x64xf32, #nv_tileas.shared_layout<offset = [2, 1, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096]>, space = tensor>
nv_tileaa.func @f(%slot: !slot, %a: !a, %b: !b, %m: !m, %s: !s, %x: !t, %h: tensor<64x128xf32, #l>, %more: i1) attributes {numWarps = 4 : i64} {
  nv_tileas.async.elect of matrix {
    // expected-error @below {{an accumulator in memory must be a single stage in tensor memory}}
    nv_tileas.async.dot %a, %b, %a by <tensor, [128, 64, 16]> : !a, !b, !a
  }
  nv_tileaa.return
}

// -----

#a = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 72, 144, 288, 512, 1024, 2048, 4096]>
#b = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 72, 144, 288, 512, 1024, 2048]>
#m = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096]>
#l = #nv_tileas.layout<register = [1, 512, 8, 16, 32, 1024], lane = [2, 4, 64, 128, 256], warp = [2048, 4096]>
!a = !nv_tileas.memdesc<128x64xbf16, #a, align = 1024>
!b = !nv_tileas.memdesc<64x64xbf16, #b, align = 1024>
!m = !nv_tileas.memdesc<128x64xf32, #m, space = tensor>
!t = tensor<128x64xf32, #l>
!slot = !nv_tileas.memdesc<1xi32, #nv_tileas.shared_layout<offset = []>>
!s = !nv_tileas.memdesc<128x64xf32, #nv_tileas.shared_layout<offset = [2, 1, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096]>, space = tensor>
nv_tileaa.func @f(%slot: !slot, %a: !a, %b: !b, %m: !m, %s: !s, %x: !t, %h: tensor<64x128xf32, #l>, %more: i1) attributes {numWarps = 4 : i64} {
  nv_tileas.async.elect of matrix {
    // expected-error @below {{no instruction #nv_tileas.mma<tensor, [128, 64, 8]> multiplies}}
    nv_tileas.async.dot %a, %b, %m by <tensor, [128, 64, 8]> : !a, !b, !m
  }
  nv_tileaa.return
}

// -----

#a = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 72, 144, 288, 512, 1024, 2048, 4096]>
#b = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 72, 144, 288, 512, 1024, 2048]>
#m = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096]>
#l = #nv_tileas.layout<register = [1, 512, 8, 16, 32, 1024], lane = [2, 4, 64, 128, 256], warp = [2048, 4096]>
!a = !nv_tileas.memdesc<128x64xbf16, #a, align = 1024>
!b = !nv_tileas.memdesc<64x64xbf16, #b, align = 1024>
!m = !nv_tileas.memdesc<128x64xf32, #m, space = tensor>
!t = tensor<128x64xf32, #l>
!slot = !nv_tileas.memdesc<1xi32, #nv_tileas.shared_layout<offset = []>>
!s = !nv_tileas.memdesc<128x64xf32, #nv_tileas.shared_layout<offset = [2, 1, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096]>, space = tensor>
nv_tileaa.func @f(%slot: !slot, %a: !a, %b: !b, %m: !m, %s: !s, %x: !t, %h: tensor<64x128xf32, #l>, %more: i1) attributes {numWarps = 4 : i64} {
  nv_tileas.async.elect of matrix {
    // expected-error @below {{acc is not laid out as an accumulator of #nv_tileas.mma<tensor, [128, 64, 16]>}}
    nv_tileas.async.dot %a, %b, %s by <tensor, [128, 64, 16]> : !a, !b, !s
  }
  nv_tileaa.return
}

// -----

#a = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 72, 144, 288, 512, 1024, 2048, 4096]>
#b = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 72, 144, 288, 512, 1024, 2048]>
#m = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096]>
#l = #nv_tileas.layout<register = [1, 512, 8, 16, 32, 1024], lane = [2, 4, 64, 128, 256], warp = [2048, 4096]>
!a = !nv_tileas.memdesc<128x64xbf16, #a, align = 1024>
!b = !nv_tileas.memdesc<64x64xbf16, #b, align = 1024>
!m = !nv_tileas.memdesc<128x64xf32, #m, space = tensor>
!t = tensor<128x64xf32, #l>
!slot = !nv_tileas.memdesc<1xi32, #nv_tileas.shared_layout<offset = []>>
!s = !nv_tileas.memdesc<128x64xf32, #nv_tileas.shared_layout<offset = [2, 1, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096]>, space = tensor>
nv_tileaa.func @f(%slot: !slot, %a: !a, %b: !b, %m: !m, %s: !s, %x: !t, %h: tensor<64x128xf32, #l>, %more: i1) attributes {numWarps = 4 : i64} {
  nv_tileas.async.elect of matrix {
    // expected-error @below {{does not accumulate in tensor memory}}
    nv_tileas.async.dot %a, %b, %m by <warpgroup, [64, 64, 16]> : !a, !b, !m
  }
  nv_tileaa.return
}

// -----

// expected-error @below {{a tensor in tensor memory has at least one element for each of 128 lanes, got 64}}
func.func private @small(!nv_tileas.memdesc<64xf32, #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32]>, space = tensor>)

// -----

#a = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 72, 144, 288, 512, 1024, 2048, 4096]>
#b = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 72, 144, 288, 512, 1024, 2048]>
#m = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096]>
#l = #nv_tileas.layout<register = [1, 512, 8, 16, 32, 1024], lane = [2, 4, 64, 128, 256], warp = [2048, 4096]>
!a = !nv_tileas.memdesc<128x64xbf16, #a, align = 1024>
!b = !nv_tileas.memdesc<64x64xbf16, #b, align = 1024>
!m = !nv_tileas.memdesc<128x64xf32, #m, space = tensor>
!t = tensor<128x64xf32, #l>
!slot = !nv_tileas.memdesc<1xi32, #nv_tileas.shared_layout<offset = []>>
!s = !nv_tileas.memdesc<128x64xf32, #nv_tileas.shared_layout<offset = [2, 1, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096]>, space = tensor>
nv_tileaa.func @f(%slot: !slot, %a: !a, %b: !b, %m: !m, %s: !s, %x: !t, %h: tensor<64x128xf32, #l>, %more: i1) attributes {numWarps = 4 : i64} {
  nv_tileas.async.elect of matrix {
    // expected-error @below {{shapes of lhs, rhs and acc do not form a matrix product}}
    nv_tileas.async.dot %a, %b, %m by <tensor_pair, [256, 64, 16]> : !a, !b, !m
  }
  nv_tileaa.return
}

// -----

!words = !nv_tileas.memdesc<4xi64, #nv_tileas.shared_layout<offset = [1, 2]>>
nv_tileaa.func @leader(%words: !words) attributes {numWarps = 4 : i64} {
  // expected-error @below {{has no phase 'converted' for its leader to count}}
  %p = nv_tileas.async.pipeline.create_pipeline %words phases [full = 1, empty = 1] leader converted : !words -> !nv_tileas.pipeline<2>
  nv_tileaa.return
}

// -----

!words = !nv_tileas.memdesc<4xi64, #nv_tileas.shared_layout<offset = [1, 2]>>
nv_tileaa.func @fills(%words: !words) attributes {numWarps = 4 : i64} {
  %p = nv_tileas.async.pipeline.create_pipeline %words phases [full = 1, empty = 1] : !words -> !nv_tileas.pipeline<2>
  %i = nv_tileas.async.pipeline.create_iterator %p : <2>
  nv_tileas.async.elect {
    // expected-error @below {{refers to the phase 'scales', which the pipeline does not have}}
    %t = nv_tileas.async.pipeline.producer_acquire %p[%i] bytes 512 fills scales : <2>
  }
  nv_tileaa.return
}

// -----

!words = !nv_tileas.memdesc<4xi64, #nv_tileas.shared_layout<offset = [1, 2]>>
nv_tileaa.func @fills_nothing(%words: !words) attributes {numWarps = 4 : i64} {
  %p = nv_tileas.async.pipeline.create_pipeline %words phases [full = 1, empty = 1] : !words -> !nv_tileas.pipeline<2>
  %i = nv_tileas.async.pipeline.create_iterator %p : <2>
  // expected-error @below {{announces no bytes that fill 'full'}}
  %t = nv_tileas.async.pipeline.producer_acquire %p[%i] fills full : <2>
  nv_tileaa.return
}

// -----

nv_tileaa.func @rank() attributes {numWarps = 4 : i64} {
  // expected-error @below {{the rank of a CTA is not negative, got -1}}
  nv_tileas.async.pipeline.agent_switch agents [<"one", warps = 4 on rank -1>] {
    nv_tileas.tmem_fence
  }
  nv_tileaa.return
}

// -----

#m = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096]>
!m = !nv_tileas.memdesc<128x64xf32, #m, space = tensor>
nv_tileaa.func @outside(%m: !m) attributes {numWarps = 4 : i64} {
  // expected-error @below {{ends at column 68 of}}
  %s = nv_tileas.tmem_slice %m column 4 : !m -> !m
  nv_tileaa.return
}

// -----

#m = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096]>
#n = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048]>
!m = !nv_tileas.memdesc<128x64xf32, #m, space = tensor>
!n = !nv_tileas.memdesc<64x64xf32, #n, space = tensor>
nv_tileaa.func @rows(%m: !m) attributes {numWarps = 4 : i64} {
  // expected-error @below {{keeps the rows and elements of}}
  %s = nv_tileas.tmem_slice %m column 0 : !m -> !n
  nv_tileaa.return
}

// -----

#m = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 4096, 64, 128, 256, 512, 1024, 2048, 8192]>
!m = !nv_tileas.memdesc<256x64xf32, #m, space = tensor>
nv_tileaa.func @blocks(%m: !m) attributes {numWarps = 4 : i64} {
  // expected-error @below {{divides accumulators of at most 128 rows}}
  %s = nv_tileas.tmem_slice %m column 0 : !m -> !m
  nv_tileaa.return
}

// -----

!answer = !nv_tileas.memdesc<4xi32, #nv_tileas.shared_layout<offset = [1, 2]>>
nv_tileaa.func @everyone_asks(%t: !nv_tileas.producer_token, %slot: !answer) attributes {numWarps = 1 : i64} {
  // expected-error @below {{must be inside 'nv_tileas.async.elect'}}
  nv_tileas.async.cancel_tile_block into %slot arrive %t : !answer
  nv_tileaa.return
}

// -----

!answer = !nv_tileas.memdesc<2xi32, #nv_tileas.shared_layout<offset = [1]>>
nv_tileaa.func @small(%t: !nv_tileas.producer_token, %slot: !answer) attributes {numWarps = 1 : i64} {
  nv_tileas.async.elect {
    // expected-error @below {{needs a stage of four i32 in shared memory}}
    nv_tileas.async.cancel_tile_block into %slot arrive %t : !answer
  }
  nv_tileaa.return
}

// -----

#m = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096]>
#b = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 72, 144, 288, 512, 1024, 2048]>
#s = #nv_tileas.shared_layout<offset = [2, 1, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096]>
#factor = #nv_tileas.layout<register = [], lane = [1, 2, 4, 8, 16], warp = [32, 64]>
!m = !nv_tileas.memdesc<128x64xf32, #m, space = tensor>
!w = !nv_tileas.memdesc<128x64xbf16, #m, space = tensor>
!s = !nv_tileas.memdesc<128x64xbf16, #s, space = tensor>
!a = !nv_tileas.memdesc<128x64xbf16, #m>
!b = !nv_tileas.memdesc<64x64xbf16, #b, align = 1024>
nv_tileaa.func @f(%m: !m, %w: !w, %s: !s, %a: !a, %b: !b, %few: tensor<64xf32, #factor>, %words: tensor<128xi32, #factor>, %factor: tensor<128xf32, #factor>) attributes {numWarps = 4 : i64} {
  // expected-error @below {{needs a single stage in tensor memory}}
  nv_tileas.tmem_scale %a by %factor : !a, tensor<128xf32, #factor>
  nv_tileaa.return
}

// -----

#m = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096]>
#b = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 72, 144, 288, 512, 1024, 2048]>
#s = #nv_tileas.shared_layout<offset = [2, 1, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096]>
#factor = #nv_tileas.layout<register = [], lane = [1, 2, 4, 8, 16], warp = [32, 64]>
!m = !nv_tileas.memdesc<128x64xf32, #m, space = tensor>
!w = !nv_tileas.memdesc<128x64xbf16, #m, space = tensor>
!s = !nv_tileas.memdesc<128x64xbf16, #s, space = tensor>
!a = !nv_tileas.memdesc<128x64xbf16, #m>
!b = !nv_tileas.memdesc<64x64xbf16, #b, align = 1024>
nv_tileaa.func @f(%m: !m, %w: !w, %s: !s, %a: !a, %b: !b, %few: tensor<64xf32, #factor>, %words: tensor<128xi32, #factor>, %factor: tensor<128xf32, #factor>) attributes {numWarps = 4 : i64} {
  // expected-error @below {{needs one factor for each row}}
  nv_tileas.tmem_scale %m by %few : !m, tensor<64xf32, #factor>
  nv_tileaa.return
}

// -----

#m = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096]>
#b = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 72, 144, 288, 512, 1024, 2048]>
#s = #nv_tileas.shared_layout<offset = [2, 1, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096]>
#factor = #nv_tileas.layout<register = [], lane = [1, 2, 4, 8, 16], warp = [32, 64]>
!m = !nv_tileas.memdesc<128x64xf32, #m, space = tensor>
!w = !nv_tileas.memdesc<128x64xbf16, #m, space = tensor>
!s = !nv_tileas.memdesc<128x64xbf16, #s, space = tensor>
!a = !nv_tileas.memdesc<128x64xbf16, #m>
!b = !nv_tileas.memdesc<64x64xbf16, #b, align = 1024>
nv_tileaa.func @f(%m: !m, %w: !w, %s: !s, %a: !a, %b: !b, %few: tensor<64xf32, #factor>, %words: tensor<128xi32, #factor>, %factor: tensor<128xf32, #factor>) attributes {numWarps = 4 : i64} {
  // expected-error @below {{needs one factor for each row}}
  nv_tileas.tmem_scale %m by %words : !m, tensor<128xi32, #factor>
  nv_tileaa.return
}

// -----

#m = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096]>
#b = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 72, 144, 288, 512, 1024, 2048]>
#s = #nv_tileas.shared_layout<offset = [2, 1, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096]>
#factor = #nv_tileas.layout<register = [], lane = [1, 2, 4, 8, 16], warp = [32, 64]>
!m = !nv_tileas.memdesc<128x64xf32, #m, space = tensor>
!w = !nv_tileas.memdesc<128x64xbf16, #m, space = tensor>
!s = !nv_tileas.memdesc<128x64xbf16, #s, space = tensor>
!a = !nv_tileas.memdesc<128x64xbf16, #m>
!b = !nv_tileas.memdesc<64x64xbf16, #b, align = 1024>
nv_tileaa.func @f(%m: !m, %w: !w, %s: !s, %a: !a, %b: !b, %few: tensor<64xf32, #factor>, %words: tensor<128xi32, #factor>, %factor: tensor<128xf32, #factor>) attributes {numWarps = 4 : i64} {
  // expected-error @below {{takes more columns of tensor memory}}
  %x = nv_tileas.memdesc_reinterpret %w : !w -> !m
  nv_tileaa.return
}

// -----

#m = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096]>
#b = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 72, 144, 288, 512, 1024, 2048]>
#s = #nv_tileas.shared_layout<offset = [2, 1, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096]>
#factor = #nv_tileas.layout<register = [], lane = [1, 2, 4, 8, 16], warp = [32, 64]>
!m = !nv_tileas.memdesc<128x64xf32, #m, space = tensor>
!w = !nv_tileas.memdesc<128x64xbf16, #m, space = tensor>
!s = !nv_tileas.memdesc<128x64xbf16, #s, space = tensor>
!a = !nv_tileas.memdesc<128x64xbf16, #m>
!b = !nv_tileas.memdesc<64x64xbf16, #b, align = 1024>
nv_tileaa.func @f(%m: !m, %w: !w, %s: !s, %a: !a, %b: !b, %few: tensor<64xf32, #factor>, %words: tensor<128xi32, #factor>, %factor: tensor<128xf32, #factor>) attributes {numWarps = 4 : i64} {
  nv_tileas.async.elect of matrix {
    // expected-error @below {{lhs is not laid out as an operand of 128 rows in tensor memory}}
    nv_tileas.async.dot %s, %b, %m by <tensor, [128, 64, 16]> : !s, !b, !m
  }
  nv_tileaa.return
}

// -----

#m = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096]>
#b = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 72, 144, 288, 512, 1024, 2048]>
#s = #nv_tileas.shared_layout<offset = [2, 1, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096]>
#factor = #nv_tileas.layout<register = [], lane = [1, 2, 4, 8, 16], warp = [32, 64]>
!m = !nv_tileas.memdesc<128x64xf32, #m, space = tensor>
!w = !nv_tileas.memdesc<128x64xbf16, #m, space = tensor>
!s = !nv_tileas.memdesc<128x64xbf16, #s, space = tensor>
!a = !nv_tileas.memdesc<128x64xbf16, #m>
!b = !nv_tileas.memdesc<64x64xbf16, #b, align = 1024>
nv_tileaa.func @f(%m: !m, %w: !w, %s: !s, %a: !a, %b: !b, %few: tensor<64xf32, #factor>, %words: tensor<128xi32, #factor>, %factor: tensor<128xf32, #factor>) attributes {numWarps = 4 : i64} {
  nv_tileas.async.elect of matrix {
    // expected-error @below {{has no row block 1}}
    nv_tileas.async.dot %w, %b, %m row_block 1 by <tensor, [128, 64, 16]> : !w, !b, !m
  }
  nv_tileaa.return
}
