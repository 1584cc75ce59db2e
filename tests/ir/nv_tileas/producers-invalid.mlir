// RUN: tileiras-opt %s --split-input-file --verify-diagnostics
#l = #nv_tileas.layout<register = [1, 2, 4, 1024, 2048], lane = [8, 16, 32, 64, 128], warp = [256, 512]>
#words = #nv_tileas.shared_layout<offset = [1, 2]>
nv_tileaa.func @announces(%p: !nv_tileas.pipeline<2>, %it: !nv_tileas.pipeline_iterator, %x: f16, %y: tensor<64x64xf16, #l>) attributes {numWarps = 4 : i64} {
  // expected-error @below {{stands in the program of one thread, 'nv_tileas.async.elect'}}
  %t = nv_tileas.async.pipeline.producer_acquire %p[%it] bytes 16 : <2>
  nv_tileaa.return
}
// -----
#l = #nv_tileas.layout<register = [1, 2, 4, 1024, 2048], lane = [8, 16, 32, 64, 128], warp = [256, 512]>
#words = #nv_tileas.shared_layout<offset = [1, 2]>
nv_tileaa.func @silent(%p: !nv_tileas.pipeline<2>, %it: !nv_tileas.pipeline_iterator, %x: f16, %y: tensor<64x64xf16, #l>) attributes {numWarps = 4 : i64} {
  nv_tileas.async.elect {
    // expected-error @below {{announces nothing, so all threads wait, and not one alone}}
    %t = nv_tileas.async.pipeline.producer_acquire %p[%it] : <2>
  }
  nv_tileaa.return
}
// -----
#l = #nv_tileas.layout<register = [1, 2, 4, 1024, 2048], lane = [8, 16, 32, 64, 128], warp = [256, 512]>
#words = #nv_tileas.shared_layout<offset = [1, 2]>
nv_tileaa.func @alone(%p: !nv_tileas.pipeline<2>, %it: !nv_tileas.pipeline_iterator, %x: f16, %y: tensor<64x64xf16, #l>) attributes {numWarps = 4 : i64} {
  nv_tileas.async.elect {
    // expected-error @below {{is for whole warps, and not for one thread}}
    nv_tileas.async.pipeline.producer_commit %p[%it] : <2>
  }
  nv_tileaa.return
}
// -----
#l = #nv_tileas.layout<register = [1, 2, 4, 1024, 2048], lane = [8, 16, 32, 64, 128], warp = [256, 512]>
#words = #nv_tileas.shared_layout<offset = [1, 2]>
nv_tileaa.func @nothing(%p: !nv_tileas.pipeline<2>, %it: !nv_tileas.pipeline_iterator, %x: f16, %y: tensor<64x64xf16, #l>) attributes {numWarps = 4 : i64} {
  // expected-error @below {{does not end with a 'nv_tileas.yield' of what it gives}}
  %a = nv_tileas.async.pipeline.produce_one warps 4 fast 1 {
    nv_tileas.yield
  } : tensor<64x64xf16>
  nv_tileaa.return
}
// -----
#l = #nv_tileas.layout<register = [1, 2, 4, 1024, 2048], lane = [8, 16, 32, 64, 128], warp = [256, 512]>
#words = #nv_tileas.shared_layout<offset = [1, 2]>
nv_tileaa.func @other(%p: !nv_tileas.pipeline<2>, %it: !nv_tileas.pipeline_iterator, %x: f16, %y: tensor<64x64xf16, #l>) attributes {numWarps = 4 : i64} {
  // expected-error @below {{and gives 'tensor<64x32xf16>'}}
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
  // expected-error @below {{has no dimension 2}}
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
    // expected-error @below {{uses a tensor in registers from outside of its producer}}
    nv_tileas.yield %y : tensor<64x64xf16, #l>
  } : tensor<64x64xf16>
  nv_tileaa.return
}
// -----
#l = #nv_tileas.layout<register = [1, 2, 4, 1024, 2048], lane = [8, 16, 32, 64, 128], warp = [256, 512]>
#words = #nv_tileas.shared_layout<offset = [1, 2]>
nv_tileaa.func @alone_with_copies(%p: !nv_tileas.pipeline<2>, %it: !nv_tileas.pipeline_iterator, %x: f16, %y: tensor<64x64xf16, #l>) attributes {numWarps = 4 : i64} {
  nv_tileas.async.elect {
    // expected-error @below {{is for whole warps, and not for one thread}}
    nv_tileas.async.pipeline.producer_commit %p[%it] copies : <2>
  }
  nv_tileaa.return
}
