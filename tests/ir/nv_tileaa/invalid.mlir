// RUN: tileiras-opt %s --split-input-file --verify-diagnostics
func.func @pointee(%p: !nv_tileaa.ptr<f32>) {
  // expected-error @+1 {{pointee and element type differ}}
  %0 = nv_tileaa.make_memref %p, shape = [], strides = [] : <f32> -> <4xi32, strides = [1]>
  return
}

// -----

func.func @dynamic(%p: !nv_tileaa.ptr<f32>) {
  // expected-error @+1 {{expected 1 dynamic extents and 0 dynamic strides}}
  %0 = nv_tileaa.make_memref %p, shape = [], strides = [] : <f32> -> <?xf32, strides = [1]>
  return
}

// -----

func.func @index_types(%p: !nv_tileaa.ptr<f32>, %a: i32, %b: i64) {
  // expected-error @+1 {{dynamic extents and strides must have the same type}}
  %0 = nv_tileaa.make_memref %p, shape = [%a : i32], strides = [%b : i64] : <f32> -> <?xf32, strides = [?]>
  return
}

// -----

// expected-error @+1 {{expected one stride for each of 2 dimensions, got 1}}
func.func private @strides(!nv_tileaa.memref<4x4xf32, strides = [1]>)

// -----

// expected-error @+1 {{extents and strides must be positive, got 0}}
func.func private @extent(!nv_tileaa.memref<0xf32, strides = [1]>)

// -----

// expected-error @+1 {{tile, dim_map and steps must have the memref's rank 1}}
func.func private @rank(!nv_tileaa.tiled_view<tile = [4, 4], memref<8xf32, strides = [1]>>)

// -----

// expected-error @+1 {{dim_map must be a permutation}}
func.func private @dim_map(!nv_tileaa.tiled_view<tile = [4, 4], memref<8x8xf32, strides = [8, 1]>, dim_map = [0, 0]>)

// -----

// expected-error @+1 {{tile extents must be powers of two, got 3}}
func.func private @tile(!nv_tileaa.tiled_view<tile = [3], memref<8xf32, strides = [1]>>)

// -----

// expected-error @+1 {{steps must be positive, got 0}}
func.func private @steps(!nv_tileaa.tiled_view<tile = [4], memref<8xf32, strides = [1]>, steps = [0]>)

// -----

// expected-error @+1 {{sparse_dim must be less than the rank 1}}
func.func private @sparse(!nv_tileaa.tiled_view<tile = [4], memref<8xf32, strides = [1]>, sparse_dim = 1>)

// -----

// expected-error @+1 {{unknown padding 'one'}}
func.func private @padding(!nv_tileaa.tiled_view<tile = [4], memref<8xf32, strides = [1]>, padding = one>)

// -----

// expected-error @+1 {{expected dim_map, steps, padding or sparse_dim, got 'pad'}}
func.func private @key(!nv_tileaa.tiled_view<tile = [4], memref<8xf32, strides = [1]>, pad = zero>)

// -----

func.func @view(%m: !nv_tileaa.memref<8xf32, strides = [1]>) {
  // expected-error @+1 {{view is over '!nv_tileaa.memref<16xf32, strides = [1]>', operand is '!nv_tileaa.memref<8xf32, strides = [1]>'}}
  %0 = nv_tileaa.make_tiled_view %m : <8xf32, strides = [1]> -> <tile = [4], memref<16xf32, strides = [1]>>
  return
}

// -----

func.func @tile_shape(%v: !nv_tileaa.tiled_view<tile = [4], memref<8xf32, strides = [1]>>, %i: i32) {
  // expected-error @+1 {{value must have the shape and element type of the view's tiles}}
  %0, %t = nv_tileaa.tiled_load <weak> %v[%i] : <tile = [4], memref<8xf32, strides = [1]>>[i32] -> tensor<8xf32>
  return
}

// -----

func.func @tile_element(%v: !nv_tileaa.tiled_view<tile = [4], memref<8xf32, strides = [1]>>, %i: i32, %x: tensor<4xi32>) {
  // expected-error @+1 {{value must have the shape and element type of the view's tiles}}
  %t = nv_tileaa.tiled_store <weak> %x, %v[%i] : tensor<4xi32>, <tile = [4], memref<8xf32, strides = [1]>>[i32]
  return
}

// -----

func.func @indices(%v: !nv_tileaa.tiled_view<tile = [4], memref<8xf32, strides = [1]>>, %i: i32) {
  // expected-error @+1 {{expected 1 indices, got 2}}
  %0, %t = nv_tileaa.tiled_load <weak> %v[%i, %i] : <tile = [4], memref<8xf32, strides = [1]>>[i32, i32] -> tensor<4xf32>
  return
}

// -----

func.func @index(%v: !nv_tileaa.tiled_view<tile = [4], memref<8xf32, strides = [1]>>, %i: f32) {
  // expected-error @+1 {{index 0 of type 'f32' does not fit the view}}
  %0, %t = nv_tileaa.tiled_load <weak> %v[%i] : <tile = [4], memref<8xf32, strides = [1]>>[f32] -> tensor<4xf32>
  return
}

// -----

func.func @sparse_index(%v: !nv_tileaa.tiled_view<tile = [4], memref<8xf32, strides = [1]>, sparse_dim = 0>, %i: i32) {
  // expected-error @+1 {{index 0 of type 'i32' does not fit the view}}
  %0, %t = nv_tileaa.tiled_load <weak> %v[%i] : <tile = [4], memref<8xf32, strides = [1]>, sparse_dim = 0>[i32] -> tensor<4xf32>
  return
}

// -----

func.func @load_shape(%p: tensor<4x!nv_tileaa.ptr<f32>>) {
  // expected-error @+1 {{pointers, values and mask must have the same shape}}
  %0, %t = nv_tileaa.load <weak> %p : tensor<4x!nv_tileaa.ptr<f32>> -> tensor<8xf32>
  return
}

// -----

func.func @load_pointee(%p: tensor<4x!nv_tileaa.ptr<f32>>) {
  // expected-error @+1 {{pointee and element type differ}}
  %0, %t = nv_tileaa.load <weak> %p : tensor<4x!nv_tileaa.ptr<f32>> -> tensor<4xi32>
  return
}

// -----

func.func @load_other(%p: tensor<4x!nv_tileaa.ptr<f32>>, %k: tensor<4xi1>, %o: tensor<4xf16>) {
  // expected-error @+1 {{fill values must have the type of the result}}
  %0, %t = nv_tileaa.load <weak> %p mask %k : tensor<4xi1> other %o : tensor<4xf16> : tensor<4x!nv_tileaa.ptr<f32>> -> tensor<4xf32>
  return
}

// -----

func.func @store_mask(%p: tensor<4x!nv_tileaa.ptr<f32>>, %x: tensor<4xf32>, %k: tensor<8xi1>) {
  // expected-error @+1 {{pointers, values and mask must have the same shape}}
  %t = nv_tileaa.store <weak> %p, %x mask %k : tensor<8xi1> : tensor<4x!nv_tileaa.ptr<f32>>, tensor<4xf32>
  return
}

// -----

func.func @splat(%x: f32) {
  // expected-error @+1 {{source must have the element type of the result}}
  %0 = nv_tileaa.splat %x : f32 -> tensor<4xi32>
  return
}

// -----

func.func @unsplat(%x: tensor<2xf32>) {
  // expected-error @+1 {{source must have one element, of the type of the result}}
  %0 = nv_tileaa.unsplat %x : tensor<2xf32> -> f32
  return
}

// -----

func.func @broadcast(%x: tensor<2xf32>) {
  // expected-error @+1 {{only dimensions of extent one can be repeated}}
  %0 = nv_tileaa.broadcast %x : tensor<2xf32> -> tensor<4xf32>
  return
}

// -----

func.func @reshape(%x: tensor<2xf32>) {
  // expected-error @+1 {{source and result must have the same element count and element type}}
  %0 = nv_tileaa.view %x : tensor<2xf32> -> tensor<4xf32>
  return
}

// -----

func.func @permute(%x: tensor<2x4xf32>) {
  // expected-error @+1 {{order must be a permutation}}
  %0 = nv_tileaa.permute %x [0, 0] : tensor<2x4xf32> -> tensor<2x2xf32>
  return
}

// -----

func.func @permute_extent(%x: tensor<2x4xf32>) {
  // expected-error @+1 {{result dimension 0 must have extent 4}}
  %0 = nv_tileaa.permute %x [1, 0] : tensor<2x4xf32> -> tensor<2x4xf32>
  return
}

// -----

func.func @cat(%x: tensor<2x4xf32>) {
  // expected-error @+1 {{wrong extent of result dimension 1}}
  %0 = nv_tileaa.cat %x, %x, 1 : tensor<2x4xf32>, tensor<2x4xf32> -> tensor<2x4xf32>
  return
}

// -----

func.func @slice(%x: tensor<8xf32>, %i: i32) {
  // expected-error @+1 {{source, result and indices must have the same rank}}
  %0 = nv_tileaa.extract_slice %x[%i, %i] : tensor<8xf32> -> tensor<4xf32>
  return
}

// -----

func.func @operands(%x: f32) {
  // expected-error @+1 {{expected 3 operands}}
  %0 = nv_tileaa.fp <fma> %x, %x : f32
  return
}

// -----

func.func @approx(%x: f32) {
  // expected-error @+1 {{has no approximate form}}
  %0 = nv_tileaa.fp <add> %x, %x rounding <approx> : f32
  return
}

// -----

func.func @atomic(%p: !nv_tileaa.ptr<f32>, %x: f32) {
  // expected-error @+1 {{kind add does not apply to 'f32'}}
  %0, %t = nv_tileaa.atomic_rmw <add> <relaxed> <device> %p, %x : !nv_tileaa.ptr<f32>, f32
  return
}

// -----

func.func @pack(%x: tensor<4xf32>) {
  // expected-error @+1 {{operand and result must have the same number of bits}}
  %0 = nv_tileaa.pack %x : tensor<4xf32> -> tensor<8xi8>
  return
}

// -----

func.func @dot(%a: tensor<16x8xf16>, %b: tensor<16x8xf16>, %c: tensor<16x8xf32>) {
  // expected-error @+1 {{shapes of lhs, rhs and acc do not form a matrix product}}
  %0 = nv_tileaa.dot %a, %b, %c : tensor<16x8xf16>, tensor<16x8xf16>, tensor<16x8xf32>
  return
}

// -----

func.func @reduce(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{dim must be less than the rank 2}}
  %0 = nv_tileaa.reduce %x dim 2 identities [0.0 : f32] : tensor<4x8xf32> -> tensor<4xf32> {
  ^bb0(%e: f32, %a: f32):
    nv_tileaa.yield %a : f32
  }
  return
}

// -----

func.func @identity(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{identity 0 : i32 is not of type 'f32'}}
  %0 = nv_tileaa.reduce %x dim 1 identities [0 : i32] : tensor<4x8xf32> -> tensor<4xf32> {
  ^bb0(%e: f32, %a: f32):
    nv_tileaa.yield %a : f32
  }
  return
}

// -----

// expected-error @+1 {{alignment must be zero or a power of two}}
nv_tileaa.global @table alignment = 3 = dense<1> : tensor<4xi32>
