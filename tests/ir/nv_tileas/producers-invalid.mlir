// RUN: tileiras-opt %s --split-input-file --verify-diagnostics
#l = #nv_tileas.layout<register = [1, 2, 4, 1024, 2048], lane = [8, 16, 32, 64, 128], warp = [256, 512]>
#words = #nv_tileas.shared_layout<offset = [1, 2]>
nv_tileaa.func @announces(%p: !nv_tileas.pipeline<2>, %it: !nv_tileas.pipeline_iterator, %x: f16, %y: tensor<64x64xf16, #l>) attributes {numWarps = 4 : i64} {
  // expected-error @below {{must be inside 'nv_tileas.async.elect'}}
  %t = nv_tileas.async.pipeline.producer_acquire %p[%it] bytes 16 : <2>
  nv_tileaa.return
}
// -----
#l = #nv_tileas.layout<register = [1, 2, 4, 1024, 2048], lane = [8, 16, 32, 64, 128], warp = [256, 512]>
#words = #nv_tileas.shared_layout<offset = [1, 2]>
nv_tileaa.func @released_alone(%p: !nv_tileas.pipeline<2>, %it: !nv_tileas.pipeline_iterator, %x: f16, %y: tensor<64x64xf16, #l>) attributes {numWarps = 4 : i64} {
  nv_tileas.async.elect {
    // expected-error @below {{applies to whole warps and cannot be inside 'nv_tileas.async.elect'}}
    nv_tileas.async.pipeline.consumer_release %p[%it] : <2>
  }
  nv_tileaa.return
}
// -----
nv_tileaa.func @dots_of_all(%p: !nv_tileas.pipeline<2>, %it: !nv_tileas.pipeline_iterator) attributes {numWarps = 4 : i64} {
  // expected-error @below {{with 'dots' must be inside 'nv_tileas.async.elect'}}
  nv_tileas.async.pipeline.producer_commit %p[%it] dots : <2>
  nv_tileaa.return
}
// -----
nv_tileaa.func @released_by_all(%p: !nv_tileas.pipeline<2>, %it: !nv_tileas.pipeline_iterator) attributes {numWarps = 4 : i64} {
  // expected-error @below {{with 'dots' must be inside 'nv_tileas.async.elect'}}
  nv_tileas.async.pipeline.consumer_release %p[%it] dots : <2>
  nv_tileaa.return
}
// -----
nv_tileaa.func @copies_and_dots(%p: !nv_tileas.pipeline<2>, %it: !nv_tileas.pipeline_iterator) attributes {numWarps = 4 : i64} {
  nv_tileas.async.elect {
    // expected-error @below {{cannot have both 'copies' and 'dots'}}
    nv_tileas.async.pipeline.producer_commit %p[%it] copies dots : <2>
  }
  nv_tileaa.return
}
// -----
nv_tileaa.func @perhaps(%p: !nv_tileas.pipeline<2>, %it: !nv_tileas.pipeline_iterator, %b: i1) attributes {numWarps = 4 : i64} {
  nv_tileas.async.elect {
    // expected-error @below {{with 'dots' is unconditional and follows the dots}}
    nv_tileas.async.pipeline.consumer_release %p[%it] dots if %b : <2>
  }
  nv_tileaa.return
}
// -----
#l = #nv_tileas.layout<register = [1, 2, 4, 1024, 2048], lane = [8, 16, 32, 64, 128], warp = [256, 512]>
#words = #nv_tileas.shared_layout<offset = [1, 2]>
nv_tileaa.func @alone(%p: !nv_tileas.pipeline<2>, %it: !nv_tileas.pipeline_iterator, %x: f16, %y: tensor<64x64xf16, #l>) attributes {numWarps = 4 : i64} {
  nv_tileas.async.elect {
    // expected-error @below {{applies to whole warps and cannot be inside 'nv_tileas.async.elect'}}
    nv_tileas.async.pipeline.producer_commit %p[%it] : <2>
  }
  nv_tileaa.return
}
// -----
#l = #nv_tileas.layout<register = [1, 2, 4, 1024, 2048], lane = [8, 16, 32, 64, 128], warp = [256, 512]>
#words = #nv_tileas.shared_layout<offset = [1, 2]>
nv_tileaa.func @nothing(%p: !nv_tileas.pipeline<2>, %it: !nv_tileas.pipeline_iterator, %x: f16, %y: tensor<64x64xf16, #l>) attributes {numWarps = 4 : i64} {
  // expected-error @below {{must end with a 'nv_tileas.yield' of its results}}
  %a = nv_tileas.async.pipeline.produce_one warps 4 fast 1 {
    nv_tileas.yield
  } : tensor<64x64xf16>
  nv_tileaa.return
}
// -----
#l = #nv_tileas.layout<register = [1, 2, 4, 1024, 2048], lane = [8, 16, 32, 64, 128], warp = [256, 512]>
#words = #nv_tileas.shared_layout<offset = [1, 2]>
nv_tileaa.func @other(%p: !nv_tileas.pipeline<2>, %it: !nv_tileas.pipeline_iterator, %x: f16, %y: tensor<64x64xf16, #l>) attributes {numWarps = 4 : i64} {
  // expected-error @below {{but its result is 'tensor<64x32xf16>'}}
  %a = nv_tileas.async.pipeline.produce_one warps 4 fast 1 {
    %t = nv_tileas.splat %x : f16 -> tensor<64x64xf16, #l>
    nv_tileas.yield %t : tensor<64x64xf16, #l>
  } : tensor<64x32xf16>
  nv_tileaa.return
}
// -----
#l = #nv_tileas.layout<register = [1, 2, 4, 1024, 2048], lane = [8, 16, 32, 64, 128], warp = [256, 512]>
#words = #nv_tileas.shared_layout<offset = [1, 2]>
nv_tileaa.func @dimension(%p: !nv_tileas.pipeline<2>, %it: !nv_tileas.pipeline_iterator, %x: f16, %y: tensor<64x64xf16, #l>) attributes {numWarps = 4 : i64} {
  // expected-error @below {{'fast' is not a dimension of the tile: 2}}
  %a = nv_tileas.async.pipeline.produce_one warps 4 fast 2 {
    %t = nv_tileas.splat %x : f16 -> tensor<64x64xf16, #l>
    nv_tileas.yield %t : tensor<64x64xf16, #l>
  } : tensor<64x64xf16>
  nv_tileaa.return
}
// -----
#l = #nv_tileas.layout<register = [1, 2, 4, 1024, 2048], lane = [8, 16, 32, 64, 128], warp = [256, 512]>
#words = #nv_tileas.shared_layout<offset = [1, 2]>
nv_tileaa.func @outside(%p: !nv_tileas.pipeline<2>, %it: !nv_tileas.pipeline_iterator, %x: f16, %y: tensor<64x64xf16, #l>) attributes {numWarps = 4 : i64} {
  %a = nv_tileas.async.pipeline.produce_one warps 4 fast 1 {
    // expected-error @below {{uses a tensor in registers from outside its region}}
    nv_tileas.yield %y : tensor<64x64xf16, #l>
  } : tensor<64x64xf16>
  nv_tileaa.return
}
// -----
#l = #nv_tileas.layout<register = [1, 2, 4, 1024, 2048], lane = [8, 16, 32, 64, 128], warp = [256, 512]>
#words = #nv_tileas.shared_layout<offset = [1, 2]>
nv_tileaa.func @alone_with_copies(%p: !nv_tileas.pipeline<2>, %it: !nv_tileas.pipeline_iterator, %x: f16, %y: tensor<64x64xf16, #l>) attributes {numWarps = 4 : i64} {
  nv_tileas.async.elect {
    // expected-error @below {{applies to whole warps and cannot be inside 'nv_tileas.async.elect'}}
    nv_tileas.async.pipeline.producer_commit %p[%it] copies : <2>
  }
  nv_tileaa.return
}
// -----
#words = #nv_tileas.shared_layout<offset = [1, 2]>
#from = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64, 144, 288, 576, 1024, 2048, 4096, 8192]>
#to = #nv_tileas.shared_layout<offset = [128, 256, 512, 1024, 2048, 4096, 8192, 2049, 4098, 8196, 8, 16, 32, 64]>
!stage = !nv_tileas.memdesc<128x128xi8, #from>
!turned = !nv_tileas.memdesc<128x128xi8, #to>
nv_tileaa.func @two_words_for_three_barriers() attributes {numWarps = 4 : i64} {
  %w = nv_tileas.alloc_tensor : <4xi64, #words>
  // expected-error @below {{needs 6 barriers, 3 for each of 2 stages}}
  %p = nv_tileas.async.pipeline.create_pipeline %w phases [full = 1, empty = 4, converted = 4] : <4xi64, #words> -> <2>
  nv_tileaa.return
}
// -----
#words = #nv_tileas.shared_layout<offset = [1, 2]>
#from = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64, 144, 288, 576, 1024, 2048, 4096, 8192]>
#to = #nv_tileas.shared_layout<offset = [128, 256, 512, 1024, 2048, 4096, 8192, 2049, 4098, 8196, 8, 16, 32, 64]>
!stage = !nv_tileas.memdesc<128x128xi8, #from>
!turned = !nv_tileas.memdesc<128x128xi8, #to>
nv_tileaa.func @nobody_prepares() attributes {numWarps = 4 : i64} {
  %w = nv_tileas.alloc_tensor : <4xi64, #words>
  %p = nv_tileas.async.pipeline.create_pipeline %w phases [full = 1, empty = 4] : <4xi64, #words> -> <2>
  %it = nv_tileas.async.pipeline.create_iterator %p : <2>
  // expected-error @below {{refers to the phase 'converted', which the pipeline does not have}}
  %t = nv_tileas.async.pipeline.consumer_wait %p[%it] at converted : <2>
  nv_tileaa.return
}
// -----
#words = #nv_tileas.shared_layout<offset = [1, 2]>
#from = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64, 144, 288, 576, 1024, 2048, 4096, 8192]>
#to = #nv_tileas.shared_layout<offset = [128, 256, 512, 1024, 2048, 4096, 8192, 2049, 4098, 8196, 8, 16, 32, 64]>
!stage = !nv_tileas.memdesc<128x128xi8, #from>
!turned = !nv_tileas.memdesc<128x128xi8, #to>
nv_tileaa.func @nobody_is_told() attributes {numWarps = 4 : i64} {
  %w = nv_tileas.alloc_tensor : <4xi64, #words>
  %p = nv_tileas.async.pipeline.create_pipeline %w phases [full = 1, empty = 4] : <4xi64, #words> -> <2>
  %it = nv_tileas.async.pipeline.create_iterator %p : <2>
  // expected-error @below {{refers to the phase 'converted', which the pipeline does not have}}
  nv_tileas.async.pipeline.producer_commit %p[%it] at converted : <2>
  nv_tileaa.return
}
// -----
#words = #nv_tileas.shared_layout<offset = [1, 2]>
nv_tileaa.func @one_name_for_two_phases() attributes {numWarps = 4 : i64} {
  %w = nv_tileas.alloc_tensor : <4xi64, #words>
  // expected-error @below {{names the phase "full" twice}}
  %p = nv_tileas.async.pipeline.create_pipeline %w phases [full = 1, full = 4] : <4xi64, #words> -> <2>
  nv_tileaa.return
}
// -----
#words = #nv_tileas.shared_layout<offset = [1, 2]>
nv_tileaa.func @never_full() attributes {numWarps = 4 : i64} {
  %w = nv_tileas.alloc_tensor : <4xi64, #words>
  // expected-error @below {{has no phase 'full'}}
  %p = nv_tileas.async.pipeline.create_pipeline %w phases [read = 4, empty = 4] : <4xi64, #words> -> <2>
  nv_tileaa.return
}
// -----
#words = #nv_tileas.shared_layout<offset = [1, 2]>
nv_tileaa.func @without_arrivals() attributes {numWarps = 4 : i64} {
  %w = nv_tileas.alloc_tensor : <4xi64, #words>
  // expected-error @below {{a phase needs from 1 to 1048575 arrivals, got 0}}
  %p = nv_tileas.async.pipeline.create_pipeline %w phases [full = 1, empty = 0] : <4xi64, #words> -> <2>
  nv_tileaa.return
}
// -----
#words = #nv_tileas.shared_layout<offset = [1, 2]>
nv_tileaa.func @releases_an_unknown_phase() attributes {numWarps = 4 : i64} {
  %w = nv_tileas.alloc_tensor : <4xi64, #words>
  %p = nv_tileas.async.pipeline.create_pipeline %w phases [full = 1, empty = 4] : <4xi64, #words> -> <2>
  %it = nv_tileas.async.pipeline.create_iterator %p : <2>
  // expected-error @below {{refers to the phase 'read', which the pipeline does not have}}
  nv_tileas.async.pipeline.consumer_release %p[%it] at read : <2>
  nv_tileaa.return
}
// -----
#words = #nv_tileas.shared_layout<offset = [1, 2]>
#from = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64, 144, 288, 576, 1024, 2048, 4096, 8192]>
#to = #nv_tileas.shared_layout<offset = [128, 256, 512, 1024, 2048, 4096, 8192, 2049, 4098, 8196, 8, 16, 32, 64]>
!stage = !nv_tileas.memdesc<128x128xi8, #from>
!turned = !nv_tileas.memdesc<128x128xi8, #to>
nv_tileaa.func @makes_and_changes(%p: !nv_tileas.pipeline<2>, %it: !nv_tileas.pipeline_iterator, %x: f16) attributes {numWarps = 4 : i64} {
  // expected-error @below {{of an agent other than the producer cannot have 'or_copy'}}
  nv_tileas.async.pipeline.produce_one warps 4 fast 1 or_copy of converter {
    nv_tileas.yield
  }
  nv_tileaa.return
}
// -----
#words = #nv_tileas.shared_layout<offset = [1, 2]>
#from = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64, 144, 288, 576, 1024, 2048, 4096, 8192]>
#to = #nv_tileas.shared_layout<offset = [128, 256, 512, 1024, 2048, 4096, 8192, 2049, 4098, 8196, 8, 16, 32, 64]>
!stage = !nv_tileas.memdesc<128x128xi8, #from>
!turned = !nv_tileas.memdesc<128x128xi8, #to>
nv_tileaa.func @elsewhere(%x: !stage, %y: !turned) attributes {numWarps = 4 : i64} {
  // expected-error @below {{destination must be the source's storage under another type}}
  nv_tileas.local_transpose %x, %y : !stage, !turned
  nv_tileaa.return
}
// -----
#words = #nv_tileas.shared_layout<offset = [1, 2]>
#from = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64, 144, 288, 576, 1024, 2048, 4096, 8192]>
#to = #nv_tileas.shared_layout<offset = [128, 256, 512, 1024, 2048, 4096, 8192, 2049, 4098, 8196, 8, 16, 32, 64]>
!stage = !nv_tileas.memdesc<128x128xi8, #from>
!turned = !nv_tileas.memdesc<128x128xi8, #to>
nv_tileaa.func @words(%x: !nv_tileas.memdesc<4xi32, #words>) attributes {numWarps = 4 : i64} {
  %y = nv_tileas.memdesc_reinterpret %x : !nv_tileas.memdesc<4xi32, #words> -> !nv_tileas.memdesc<4xi32, #words>
  // expected-error @below {{transposes only tiles of bytes, got 'i32'}}
  nv_tileas.local_transpose %x, %y : !nv_tileas.memdesc<4xi32, #words>, !nv_tileas.memdesc<4xi32, #words>
  nv_tileaa.return
}
// -----
#words = #nv_tileas.shared_layout<offset = [1, 2]>
nv_tileaa.func @words_of_one_warpgroup() attributes {numWarps = 8 : i64} {
  %w = nv_tileas.alloc_tensor : <4xi64, #words>
  // expected-error @below {{needs 8 barriers, 4 for each of 2 stages}}
  %p = nv_tileas.async.pipeline.create_pipeline %w phases [full = 1, empty = 4] warpgroups 2 : <4xi64, #words> -> <2>
  nv_tileaa.return
}
// -----
#words = #nv_tileas.shared_layout<offset = [1, 2]>
nv_tileaa.func @warpgroups_and_leader() attributes {numWarps = 8 : i64} {
  %w = nv_tileas.alloc_tensor : <4xi64, #words>
  // expected-error @below {{cannot have both 'warpgroups' and a leader}}
  %p = nv_tileas.async.pipeline.create_pipeline %w phases [full = 1, empty = 4] leader full warpgroups 2 : <4xi64, #words> -> <1>
  nv_tileaa.return
}
// -----
#words = #nv_tileas.shared_layout<offset = [1, 2]>
nv_tileaa.func @another_warpgroup() attributes {numWarps = 8 : i64} {
  %w = nv_tileas.alloc_tensor : <4xi64, #words>
  %p = nv_tileas.async.pipeline.create_pipeline %w phases [full = 1, empty = 4] warpgroups 2 : <4xi64, #words> -> <1>
  %i = nv_tileas.async.pipeline.create_iterator %p : <1>
  nv_tileas.async.elect {
    // expected-error @below {{refers to warpgroup 2, which the pipeline does not have}}
    %t = nv_tileas.async.pipeline.consumer_wait %p[%i] warpgroup 2 : <1>
  }
  nv_tileaa.return
}
// -----
#words = #nv_tileas.shared_layout<offset = [1]>
nv_tileaa.func @no_warpgroups() attributes {numWarps = 8 : i64} {
  %w = nv_tileas.alloc_tensor : <2xi64, #words>
  %p = nv_tileas.async.pipeline.create_pipeline %w phases [full = 1, empty = 4] : <2xi64, #words> -> <1>
  %i = nv_tileas.async.pipeline.create_iterator %p : <1>
  nv_tileas.async.elect {
    // expected-error @below {{refers to warpgroup 0, which the pipeline does not have}}
    %t = nv_tileas.async.pipeline.producer_acquire %p[%i] warpgroup 0 : <1>
  }
  nv_tileaa.return
}
// -----
#words = #nv_tileas.shared_layout<offset = [1, 2]>
nv_tileaa.func @which_warpgroup() attributes {numWarps = 8 : i64} {
  %w = nv_tileas.alloc_tensor : <4xi64, #words>
  %p = nv_tileas.async.pipeline.create_pipeline %w phases [full = 1, empty = 4] warpgroups 2 : <4xi64, #words> -> <1>
  %i = nv_tileas.async.pipeline.create_iterator %p : <1>
  nv_tileas.async.elect {
    // expected-error @below {{must name one of the 2 warpgroups of its pipeline}}
    nv_tileas.async.pipeline.producer_commit %p[%i] dots : <1>
  }
  nv_tileaa.return
}
// -----
#words = #nv_tileas.shared_layout<offset = [1, 2]>
nv_tileaa.func @own_warpgroup() attributes {numWarps = 8 : i64} {
  %w = nv_tileas.alloc_tensor : <4xi64, #words>
  %p = nv_tileas.async.pipeline.create_pipeline %w phases [full = 1, empty = 4] warpgroups 2 : <4xi64, #words> -> <1>
  %i = nv_tileas.async.pipeline.create_iterator %p : <1>
  // expected-error @below {{names a warpgroup, but is not inside 'nv_tileas.async.elect'}}
  nv_tileas.async.pipeline.consumer_release %p[%i] warpgroup 1 : <1>
  nv_tileaa.return
}
