// RUN: tileiras-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(tileas-materialize-register-loops)'

#l = #nv_tileas.layout<register = [1, 2, 128, 256, 512, 1024, 2048, 4096], lane = [4, 8, 16, 32, 64], warp = []>
gpu.module @kernels {
  nv_tileaa.func @scan(%f: f32) attributes {numWarps = 1 : i64} {
    %x = nv_tileas.splat %f : f32 -> tensor<8192xf32, #l>
    // Dependent elements are in different chunks: tileas-slicing makes loops of scans.
    // expected-error @below {{tile is too large: each thread would hold 256 elements, and 'nv_tileas.scan' cannot be split into parts}}
    %y = nv_tileas.scan %x dim 0 identities [0.0 : f32] : tensor<8192xf32, #l> -> tensor<8192xf32, #l> {
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      nv_tileas.yield %c : f32
    }
    nv_tileaa.return
  }
}
// -----
#l = #nv_tileas.layout<register = [1, 2, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536, 131072, 262144, 524288, 1048576, 2097152], lane = [4, 8, 16, 32, 64], warp = []>
!view = !nv_tileaa.tiled_view<tile = [4194304], memref<4194304xf64, strides = [1]>>
gpu.module @kernels {
  nv_tileaa.func @memory(%v: !view, %i: i32) attributes {numWarps = 1 : i64} {
    // expected-error @below {{tile is too large: a thread would need 1048576 bytes of local memory but has only 507904}}
    %x, %t1 = nv_tileas.tiled_load <weak> %v[%i] vector 2 bounds <none> : !view[i32] -> tensor<4194304xf64, #l>
    %t2 = nv_tileas.tiled_store <weak> %x, %v[%i] token %t1 vector 2 bounds <none> : tensor<4194304xf64, #l>, !view[i32]
    nv_tileaa.return
  }
}
