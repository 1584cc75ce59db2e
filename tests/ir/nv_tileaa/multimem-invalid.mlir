// RUN: tileiras-opt %s --split-input-file --verify-diagnostics
nv_tileaa.func @kind_of_load(%v: !nv_tileaa.tiled_view<tile = [8], memref<64xf32, strides = [1]>>, %i: i32) {
  // expected-error @+1 {{kind max does not apply to 'f32'}}
  %x, %t = nv_tileaa.multimem_load_reduce <max> <weak> %v[%i] : <tile = [8], memref<64xf32, strides = [1]>>[i32] -> tensor<8xf32>
  nv_tileaa.return
}

// -----

nv_tileaa.func @kind_of_update(%v: !nv_tileaa.tiled_view<tile = [8], memref<64xf16, strides = [1]>>, %x: tensor<8xf16>, %i: i32) {
  // expected-error @+1 {{kind max does not apply to 'f16'}}
  %t = nv_tileaa.multimem_reduce <max> <relaxed> <system> %x, %v[%i] : tensor<8xf16>, <tile = [8], memref<64xf16, strides = [1]>>[i32]
  nv_tileaa.return
}

// -----

nv_tileaa.func @exchange(%v: !nv_tileaa.tiled_view<tile = [8], memref<64xi32, strides = [1]>>, %x: tensor<8xi32>, %i: i32) {
  // expected-error @+1 {{kind xchg does not apply to 'i32'}}
  %t = nv_tileaa.multimem_reduce <xchg> <relaxed> <system> %x, %v[%i] : tensor<8xi32>, <tile = [8], memref<64xi32, strides = [1]>>[i32]
  nv_tileaa.return
}

// -----

nv_tileaa.func @element(%v: !nv_tileaa.tiled_view<tile = [8], memref<64xi8, strides = [1]>>, %x: tensor<8xi8>, %i: i32) {
  // expected-error @+1 {{multicast memory has no elements of type 'i8'}}
  %t = nv_tileaa.multimem_store <weak> %x, %v[%i] : tensor<8xi8>, <tile = [8], memref<64xi8, strides = [1]>>[i32]
  nv_tileaa.return
}

// -----

nv_tileaa.func @shape(%v: !nv_tileaa.tiled_view<tile = [8], memref<64xi32, strides = [1]>>, %x: tensor<4xi32>, %i: i32) {
  // expected-error @+1 {{value must have the shape and element type of the view's tiles}}
  %t = nv_tileaa.multimem_store <weak> %x, %v[%i] : tensor<4xi32>, <tile = [8], memref<64xi32, strides = [1]>>[i32]
  nv_tileaa.return
}
