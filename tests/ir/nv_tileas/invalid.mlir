// RUN: tileiras-opt %s --split-input-file --verify-diagnostics
// expected-error @+1 {{a warp has five lane bits, got 2}}
func.func private @lanes(tensor<4xf32, #nv_tileas.layout<register = [], lane = [1, 2], warp = []>>)

// -----

// expected-error @+1 {{a basis is an element index, got -1}}
func.func private @basis(tensor<4xf32, #nv_tileas.layout<register = [-1], lane = [1, 2, 0, 0, 0], warp = []>>)

// -----

// expected-error @+1 {{expected register, lane, warp or block, got 'thread'}}
func.func private @key(tensor<4xf32, #nv_tileas.layout<thread = [1]>>)

// -----

// expected-error @+1 {{layout covers 2 elements, shape has 4}}
func.func private @storage(!nv_tileas.memdesc<4xf32, #nv_tileas.shared_layout<offset = [1]>>)

// -----

func.func @no_layout() {
  // expected-error @+1 {{must be tensor with a layout}}
  %0 = nv_tileas.make_range : tensor<32xi32>
  return
}

// -----

#a = #nv_tileas.layout<register = [], lane = [1, 2, 4, 8, 16], warp = []>
#b = #nv_tileas.layout<register = [], lane = [16, 8, 4, 2, 1], warp = []>
func.func @view(%x: tensor<32xi32, #a>) {
  // expected-error @+1 {{row-major indices do not change, so the layout must not either}}
  %0 = nv_tileas.view %x : tensor<32xi32, #a> -> tensor<4x8xi32, #b>
  return
}

// -----

#a = #nv_tileas.layout<register = [], lane = [1, 2, 4, 8, 16], warp = []>
func.func @convert(%x: tensor<32xi32, #a>) {
  // expected-error @+1 {{source and result must differ only in layout}}
  %0 = nv_tileas.convert_layout %x : tensor<32xi32, #a> -> tensor<4x8xi32, #a>
  return
}

// -----

#a = #nv_tileas.layout<register = [], lane = [1, 2, 4, 8, 16], warp = []>
func.func @broadcast(%x: tensor<4x1xi32, #a>) {
  // expected-error @+1 {{layout of the source must be the projection of the result's}}
  %0 = nv_tileas.broadcast %x : tensor<4x1xi32, #a> -> tensor<4x8xi32, #a>
  return
}

// -----

#a = #nv_tileas.layout<register = [], lane = [1, 2, 4, 8, 16], warp = []>
func.func @permute(%x: tensor<4x8xi32, #a>) {
  // expected-error @+1 {{layout of the result must be the image of the source's}}
  %0 = nv_tileas.permute %x [1, 0] : tensor<4x8xi32, #a> -> tensor<8x4xi32, #a>
  return
}

// -----

#a = #nv_tileas.layout<register = [], lane = [1, 2, 4, 8, 16], warp = []>
func.func @tile(%v: !nv_tileaa.tiled_view<tile = [64], memref<64xi32, strides = [1]>>, %i: i32) {
  // expected-error @+1 {{tile must have the shape and element type of the view's tiles}}
  %0, %t = nv_tileas.tiled_load <weak> %v[%i] vector 1 bounds <none> : <tile = [64], memref<64xi32, strides = [1]>>[i32] -> tensor<32xi32, #a>
  return
}

// -----

#a = #nv_tileas.layout<register = [], lane = [1, 2, 4, 8, 16], warp = []>
func.func @indices(%v: !nv_tileaa.tiled_view<tile = [32], memref<64xi32, strides = [1]>>, %i: i32) {
  // expected-error @+1 {{expected one index and one flag for each of 1 dimensions}}
  %0, %t = nv_tileas.tiled_load <weak> %v[%i, %i] vector 1 bounds <none> : <tile = [32], memref<64xi32, strides = [1]>>[i32, i32] -> tensor<32xi32, #a>
  return
}

// -----

#a = #nv_tileas.layout<register = [], lane = [1, 2, 4, 8, 16], warp = []>
func.func @flags(%v: !nv_tileaa.tiled_view<tile = [32], memref<64xi32, strides = [1]>>, %i: i32, %x: tensor<32xi32, #a>) {
  // expected-error @+1 {{expected one index and one flag for each of 1 dimensions}}
  %t = nv_tileas.tiled_store <weak> %x, %v[%i] vector 1 bounds <none> in_bounds [true, true] : tensor<32xi32, #a>, <tile = [32], memref<64xi32, strides = [1]>>[i32]
  return
}

// -----

#a = #nv_tileas.layout<register = [], lane = [1, 2, 4, 8, 16], warp = []>
func.func @vector(%p: tensor<32x!nv_tileaa.ptr<i32>, #a>) {
  // expected-error @+1 {{vector must be a power of two}}
  %0, %t = nv_tileas.load <weak> %p vector 3 : tensor<32x!nv_tileaa.ptr<i32>, #a> -> tensor<32xi32, #a>
  return
}

// -----

#a = #nv_tileas.layout<register = [], lane = [1, 2, 4, 8, 16], warp = []>
#b = #nv_tileas.layout<register = [], lane = [16, 8, 4, 2, 1], warp = []>
func.func @agree(%p: tensor<32x!nv_tileaa.ptr<i32>, #a>, %x: tensor<32xi32, #b>) {
  // expected-error @+1 {{pointers and values must have the same shape and layout}}
  %t = nv_tileas.store <weak> %p, %x vector 1 : tensor<32x!nv_tileaa.ptr<i32>, #a>, tensor<32xi32, #b>
  return
}

// -----

#a = #nv_tileas.layout<register = [], lane = [1, 2, 4, 8, 16], warp = []>
#s = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16]>
func.func @local(%x: tensor<32xi32, #a>, %m: !nv_tileas.memdesc<32xf32, #s>) {
  // expected-error @+1 {{tensor and storage must have the same shape and element type}}
  nv_tileas.local_store %x, %m vector 1 : tensor<32xi32, #a>, !nv_tileas.memdesc<32xf32, #s>
  return
}
