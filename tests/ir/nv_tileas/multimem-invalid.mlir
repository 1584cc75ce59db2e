// RUN: tileiras-opt %s --split-input-file --verify-diagnostics
#a = #nv_tileas.layout<register = [], lane = [1, 2, 4, 8, 16], warp = []>
nv_tileaa.func @kind_of_load(%v: !nv_tileaa.tiled_view<tile = [32], memref<64xf64, strides = [1]>>, %i: i32) {
  // expected-error @+1 {{kind min does not apply to 'f64'}}
  %x, %t = nv_tileas.multimem_load_reduce <min> <weak> %v[%i] vector 1 bounds <none> : <tile = [32], memref<64xf64, strides = [1]>>[i32] -> tensor<32xf64, #a>
  nv_tileaa.return
}

// -----

#a = #nv_tileas.layout<register = [], lane = [1, 2, 4, 8, 16], warp = []>
nv_tileaa.func @order_of_update(%v: !nv_tileaa.tiled_view<tile = [32], memref<64xi32, strides = [1]>>, %x: tensor<32xi32, #a>, %i: i32) {
  // expected-error @+1 {{multicast updates must be relaxed or release}}
  %t = nv_tileas.multimem_reduce <add> <acquire> <system> %x, %v[%i] vector 1 bounds <none> : tensor<32xi32, #a>, <tile = [32], memref<64xi32, strides = [1]>>[i32]
  nv_tileaa.return
}

// -----

#a = #nv_tileas.layout<register = [], lane = [1, 2, 4, 8, 16], warp = []>
nv_tileaa.func @kind_of_update(%v: !nv_tileaa.tiled_view<tile = [32], memref<64xi32, strides = [1]>>, %x: tensor<32xi32, #a>, %i: i32) {
  // expected-error @+1 {{kind addf does not apply to 'i32'}}
  %t = nv_tileas.multimem_reduce <addf> <relaxed> <system> %x, %v[%i] vector 1 bounds <none> : tensor<32xi32, #a>, <tile = [32], memref<64xi32, strides = [1]>>[i32]
  nv_tileaa.return
}

// -----

#a = #nv_tileas.layout<register = [], lane = [1, 2, 4, 8, 16], warp = []>
nv_tileaa.func @element(%v: !nv_tileaa.tiled_view<tile = [32], memref<64xf8E4M3FN, strides = [1]>>, %x: tensor<32xf8E4M3FN, #a>, %i: i32) {
  // expected-error @+1 {{multicast memory has no elements of type 'f8E4M3FN'}}
  %t = nv_tileas.multimem_store <weak> %x, %v[%i] vector 1 bounds <none> : tensor<32xf8E4M3FN, #a>, <tile = [32], memref<64xf8E4M3FN, strides = [1]>>[i32]
  nv_tileaa.return
}

// -----

#a = #nv_tileas.layout<register = [], lane = [1, 2, 4, 8, 16], warp = []>
nv_tileaa.func @vector(%v: !nv_tileaa.tiled_view<tile = [32], memref<64xf32, strides = [1]>>, %x: tensor<32xf32, #a>, %i: i32) {
  // expected-error @+1 {{vector must be a power of two}}
  %t = nv_tileas.multimem_store <weak> %x, %v[%i] vector 3 bounds <none> : tensor<32xf32, #a>, <tile = [32], memref<64xf32, strides = [1]>>[i32]
  nv_tileaa.return
}
