// RUN: tileiras-opt %s | tileiras-opt | FileCheck %s
// Programs of producer warps, and their part in a pipeline.

#l = #nv_tileas.layout<register = [1, 2, 4, 1024, 2048], lane = [8, 16, 32, 64, 128], warp = [256, 512]>
#words = #nv_tileas.shared_layout<offset = [1, 2]>

// CHECK-LABEL: @producers
nv_tileaa.func @producers(%x: f16) attributes {numWarps = 8 : i64} {
  // CHECK: nv_tileas.async.pipeline.create_pipeline %{{.*}} phases [full = 5, empty = 8] :
  %w = nv_tileas.alloc_tensor : <4xi64, #words>
  %p = nv_tileas.async.pipeline.create_pipeline %w phases [full = 5, empty = 8] : <4xi64, #words> -> <2>
  %it = nv_tileas.async.pipeline.create_iterator %p : <2>
  // CHECK: nv_tileas.async.pipeline.produce_one warps 4 fast 1 {
  // CHECK: nv_tileas.yield %{{.*}} : tensor<64x64xf16, #{{.*}}>
  // CHECK-NEXT: } : tensor<64x64xf16>
  %a = nv_tileas.async.pipeline.produce_one warps 4 fast 1 {
    %t = nv_tileas.splat %x : f16 -> tensor<64x64xf16, #l>
    nv_tileas.yield %t : tensor<64x64xf16, #l>
  } : tensor<64x64xf16>
  // CHECK: nv_tileas.async.pipeline.produce_one warps 4 fast 0 {
  // CHECK-NEXT: producer_acquire %{{.*}}[%{{.*}}] : <2>
  // CHECK-NEXT: producer_commit %{{.*}}[%{{.*}}] : <2>
  // CHECK-NEXT: producer_commit %{{.*}}[%{{.*}}] copies : <2>
  // CHECK-NEXT: nv_tileas.yield
  nv_tileas.async.pipeline.produce_one warps 4 fast 0 {
    %t = nv_tileas.async.pipeline.producer_acquire %p[%it] : <2>
    nv_tileas.async.pipeline.producer_commit %p[%it] : <2>
    nv_tileas.async.pipeline.producer_commit %p[%it] copies : <2>
    nv_tileas.yield
  }
  nv_tileaa.return
}

#from = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64, 144, 288, 576, 1024, 2048, 4096, 8192]>
#to = #nv_tileas.shared_layout<offset = [128, 256, 512, 1024, 2048, 4096, 8192, 2049, 4098, 8196, 8, 16, 32, 64]>
#more = #nv_tileas.shared_layout<offset = [1, 2, 4]>
!stage = !nv_tileas.memdesc<128x128xi8, #from>
!turned = !nv_tileas.memdesc<128x128xi8, #to>

// Converter warps, which change stages that others have filled.
// CHECK-LABEL: @converters
nv_tileaa.func @converters(%x: !stage) attributes {numWarps = 8 : i64} {
  // CHECK: nv_tileas.async.pipeline.create_pipeline %{{.*}} phases [full = 1, empty = 8, converted = 4] :
  %w = nv_tileas.alloc_tensor : <8xi64, #more>
  %p = nv_tileas.async.pipeline.create_pipeline %w phases [full = 1, empty = 8, converted = 4] : <8xi64, #more> -> <2>
  %it = nv_tileas.async.pipeline.create_iterator %p : <2>
  // CHECK: nv_tileas.async.pipeline.produce_one warps 4 fast 0 of converter {
  // CHECK-NEXT: consumer_wait %{{.*}}[%{{.*}}] : <2>
  // CHECK-NEXT: %[[Y:.*]] = nv_tileas.memdesc_reinterpret %[[X:.*]] :
  // CHECK-NEXT: nv_tileas.local_transpose %[[X]], %[[Y]] : <128x128xi8, #{{.*}}>, <128x128xi8, #{{.*}}>
  // CHECK-NEXT: producer_commit %{{.*}}[%{{.*}}] at converted : <2>
  nv_tileas.async.pipeline.produce_one warps 4 fast 0 of converter {
    %t = nv_tileas.async.pipeline.consumer_wait %p[%it] : <2>
    %y = nv_tileas.memdesc_reinterpret %x : !stage -> !turned
    nv_tileas.local_transpose %x, %y : !stage, !turned
    nv_tileas.async.pipeline.producer_commit %p[%it] at converted : <2>
    nv_tileas.yield
  }
  // CHECK: consumer_wait %{{.*}}[%{{.*}}] at converted : <2>
  %t = nv_tileas.async.pipeline.consumer_wait %p[%it] at converted : <2>
  nv_tileaa.return
}
