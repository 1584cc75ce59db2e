// RUN: tileiras-opt %s --split-input-file --verify-diagnostics
#a = #nv_tileas.layout<register = [], lane = [1, 2, 4, 8, 16], warp = []>
#b = #nv_tileas.layout<register = [], lane = [16, 8, 4, 2, 1], warp = []>
func.func @agree(%p: tensor<32x!nv_tileaa.ptr<i32>, #a>, %x: tensor<32xi32, #b>) {
  // expected-error @+1 {{pointers and values must have the same shape and layout}}
  %0, %t = nv_tileas.atomic_rmw <add> <relaxed> <device> %p, %x vector 1 : tensor<32x!nv_tileaa.ptr<i32>, #a>, tensor<32xi32, #b>
  return
}

// -----

#a = #nv_tileas.layout<register = [], lane = [1, 2, 4, 8, 16], warp = []>
func.func @pointee(%p: tensor<32x!nv_tileaa.ptr<f32>, #a>, %x: tensor<32xi32, #a>) {
  // expected-error @+1 {{pointee and element type differ}}
  %0, %t = nv_tileas.atomic_rmw <add> <relaxed> <device> %p, %x vector 1 : tensor<32x!nv_tileaa.ptr<f32>, #a>, tensor<32xi32, #a>
  return
}

// -----

#a = #nv_tileas.layout<register = [], lane = [1, 2, 4, 8, 16], warp = []>
func.func @weak(%p: tensor<32x!nv_tileaa.ptr<i32>, #a>, %x: tensor<32xi32, #a>) {
  // expected-error @+1 {{an atomic update cannot be weak}}
  %0, %t = nv_tileas.atomic_rmw <add> <weak> <device> %p, %x vector 1 : tensor<32x!nv_tileaa.ptr<i32>, #a>, tensor<32xi32, #a>
  return
}

// -----

#a = #nv_tileas.layout<register = [], lane = [1, 2, 4, 8, 16], warp = []>
func.func @kind(%p: tensor<32x!nv_tileaa.ptr<i8>, #a>, %x: tensor<32xi8, #a>) {
  // expected-error @+1 {{kind add does not apply to 'i8'}}
  %0, %t = nv_tileas.atomic_rmw <add> <relaxed> <device> %p, %x vector 1 : tensor<32x!nv_tileaa.ptr<i8>, #a>, tensor<32xi8, #a>
  return
}

// -----

#a = #nv_tileas.layout<register = [], lane = [1, 2, 4, 8, 16], warp = []>
func.func @exchange(%p: tensor<32x!nv_tileaa.ptr<f16>, #a>, %x: tensor<32xf16, #a>) {
  // expected-error @+1 {{kind xchg does not apply to 'f16'}}
  %0, %t = nv_tileas.atomic_rmw <xchg> <relaxed> <device> %p, %x vector 1 : tensor<32x!nv_tileaa.ptr<f16>, #a>, tensor<32xf16, #a>
  return
}

// -----

#a = #nv_tileas.layout<register = [], lane = [1, 2, 4, 8, 16], warp = []>
func.func @along(%p: tensor<32x!nv_tileaa.ptr<i32>, #a>, %x: tensor<32xi32, #a>) {
  // expected-error @+1 {{along must be a dimension of the tensor}}
  %0, %t = nv_tileas.atomic_rmw <add> <relaxed> <device> %p, %x vector 1 along 1 : tensor<32x!nv_tileaa.ptr<i32>, #a>, tensor<32xi32, #a>
  return
}

// -----

#a = #nv_tileas.layout<register = [], lane = [1, 2, 4, 8, 16], warp = []>
func.func @vector(%p: tensor<32x!nv_tileaa.ptr<i32>, #a>, %x: tensor<32xi32, #a>) {
  // expected-error @+1 {{vector must be a power of two}}
  %0, %t = nv_tileas.atomic_rmw <add> <relaxed> <device> %p, %x vector 3 : tensor<32x!nv_tileaa.ptr<i32>, #a>, tensor<32xi32, #a>
  return
}

// -----

#a = #nv_tileas.layout<register = [], lane = [1, 2, 4, 8, 16], warp = []>
func.func @swap(%p: tensor<32x!nv_tileaa.ptr<f16>, #a>, %x: tensor<32xf16, #a>) {
  // expected-error @+1 {{compare and swap does not apply to 'f16'}}
  %0, %t = nv_tileas.atomic_cas <relaxed> <device> %p, %x, %x : tensor<32x!nv_tileaa.ptr<f16>, #a>, tensor<32xf16, #a>
  return
}

// -----

#a = #nv_tileas.layout<register = [], lane = [1, 2, 4, 8, 16], warp = []>
func.func @tiled(%v: !nv_tileaa.tiled_view<tile = [32], memref<64xi32, strides = [1]>>, %i: i32, %x: tensor<32xi32, #a>) {
  // expected-error @+1 {{'xchg' needs a result; use a store instead}}
  %t = nv_tileas.tiled_atomic_rmw <xchg> <relaxed> <device> %x, %v[%i] vector 1 bounds <none> : tensor<32xi32, #a>, <tile = [32], memref<64xi32, strides = [1]>>[i32]
  return
}

// -----

#a = #nv_tileas.layout<register = [], lane = [1, 2, 4, 8, 16], warp = []>
func.func @sparse_update(%v: !nv_tileaa.tiled_view<tile = [32], memref<64xi32, strides = [1]>, sparse_dim = 0>, %x: tensor<32xi32, #a>) {
  // expected-error @+1 {{atomic updates do not support views with a sparse dimension}}
  %t = nv_tileas.tiled_atomic_rmw <add> <relaxed> <device> %x, %v[%x] vector 1 bounds <none> : tensor<32xi32, #a>, <tile = [32], memref<64xi32, strides = [1]>, sparse_dim = 0>[tensor<32xi32, #a>]
  return
}

// -----

#a = #nv_tileas.layout<register = [], lane = [1, 2, 4, 8, 16], warp = []>
func.func @scalar_index(%v: !nv_tileaa.tiled_view<tile = [32], memref<64xi32, strides = [1]>, sparse_dim = 0>, %i: i32) {
  // expected-error @+1 {{index 0 of type 'i32' does not fit the view}}
  %x, %t = nv_tileas.tiled_load <weak> %v[%i] vector 1 bounds <vector> : <tile = [32], memref<64xi32, strides = [1]>, sparse_dim = 0>[i32] -> tensor<32xi32, #a>
  return
}

// -----

#a = #nv_tileas.layout<register = [], lane = [1, 2, 4, 8, 16], warp = []>
func.func @index_layout(%v: !nv_tileaa.tiled_view<tile = [8, 4], memref<64x64xi32, strides = [64, 1]>, steps = [1, 1], sparse_dim = 0>, %r: tensor<8xi32, #a>, %i: i32) {
  // expected-error @+1 {{layout of index 0 must be the tile's along that dimension}}
  %x, %t = nv_tileas.tiled_load <weak> %v[%r, %i] vector 1 bounds <vector> : <tile = [8, 4], memref<64x64xi32, strides = [64, 1]>, steps = [1, 1], sparse_dim = 0>[tensor<8xi32, #a>, i32] -> tensor<8x4xi32, #a>
  return
}

// -----

#a = #nv_tileas.layout<register = [], lane = [1, 2, 4, 8, 16], warp = []>
func.func @heap() {
  // expected-error @+1 {{result must be one pointer}}
  %a = nv_tileas.heap_alloc 64 : tensor<32x!nv_tileaa.ptr<f32>, #a>
  return
}

// -----

#a = #nv_tileas.layout<register = [], lane = [1, 2, 4, 8, 16], warp = []>
#s = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16]>
func.func @pieces(%x: tensor<32xi32, #a>, %m: !nv_tileas.memdesc<32xi32, #s>) {
  // expected-error @+1 {{expected one piece of scratch for each of 1 tensors}}
  %t = nv_tileas.print "%d", %x : tensor<32xi32, #a> scratch %m, %m : !nv_tileas.memdesc<32xi32, #s>, !nv_tileas.memdesc<32xi32, #s>
  return
}

// -----

#a = #nv_tileas.layout<register = [], lane = [1, 2, 4, 8, 16], warp = []>
#s = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16]>
func.func @piece(%x: tensor<32xi32, #a>, %m: !nv_tileas.memdesc<32xf32, #s>) {
  // expected-error @+1 {{scratch must have rank one and the tensor's element type}}
  %t = nv_tileas.print "%d", %x : tensor<32xi32, #a> scratch %m : !nv_tileas.memdesc<32xf32, #s>
  return
}
