// RUN: tileiras-opt %s --split-input-file --verify-diagnostics
// expected-error @+1 {{expected at least one stage, got 0}}
func.func private @stages(!nv_tileas.memdesc<4xf32, #nv_tileas.shared_layout<offset = [1, 2]>, stages = 0>)

// -----

#s = #nv_tileas.shared_layout<offset = [1, 2, 4]>
func.func @slot(%m: !nv_tileas.memdesc<8xf32, #s, stages = 2>, %i: i32) {
  // expected-error @+1 {{result must be one stage of the source}}
  %0 = nv_tileas.memdesc_slot %m[%i] : !nv_tileas.memdesc<8xf32, #s, stages = 2> -> !nv_tileas.memdesc<8xf32, #s, stages = 2>
  return
}

// -----

#s = #nv_tileas.shared_layout<offset = [1, 2, 4]>
#other = #nv_tileas.shared_layout<offset = [4, 2, 1]>
func.func @view(%m: !nv_tileas.memdesc<8xf32, #s>) {
  // expected-error @+1 {{row-major indices do not change, so the layout must not either}}
  %0 = nv_tileas.memdesc_view %m : !nv_tileas.memdesc<8xf32, #s> -> !nv_tileas.memdesc<2x4xf32, #other>
  return
}

// -----

#s = #nv_tileas.shared_layout<offset = [1, 2, 4]>
#small = #nv_tileas.shared_layout<offset = [1, 2]>
func.func @count(%m: !nv_tileas.memdesc<8xf32, #s>) {
  // expected-error @+1 {{source and result must have the same element count, element type and number of stages}}
  %0 = nv_tileas.memdesc_view %m : !nv_tileas.memdesc<8xf32, #s> -> !nv_tileas.memdesc<4xf32, #small>
  return
}

// -----

#s = #nv_tileas.shared_layout<offset = [1, 2, 4]>
func.func @permute(%m: !nv_tileas.memdesc<2x4xf32, #s>) {
  // expected-error @+1 {{layout of the result must be the image of the source's}}
  %0 = nv_tileas.memdesc_permute %m [1, 0] : !nv_tileas.memdesc<2x4xf32, #s> -> !nv_tileas.memdesc<4x2xf32, #s>
  return
}

// -----

#s = #nv_tileas.shared_layout<offset = [1, 2, 4]>
func.func @tile(%v: !nv_tileaa.tiled_view<tile = [4], memref<64xf32, strides = [1]>>, %i: i32, %m: !nv_tileas.memdesc<8xf32, #s>) {
  // expected-error @+1 {{destination must have the shape and element type of the view's tiles}}
  %0, %t = nv_tileas.async.tiled_load %v[%i] into %m layout <register = [1, 2, 4], lane = [0, 0, 0, 0, 0], warp = []> vector 4 bounds <none> : <tile = [4], memref<64xf32, strides = [1]>>[i32] -> !nv_tileas.memdesc<8xf32, #s>
  return
}

// -----

#s = #nv_tileas.shared_layout<offset = [1, 2, 4]>
func.func @one_stage(%v: !nv_tileaa.tiled_view<tile = [8], memref<64xf32, strides = [1]>>, %i: i32, %m: !nv_tileas.memdesc<8xf32, #s, stages = 2>) {
  // expected-error @+1 {{destination must be one stage}}
  %0, %t = nv_tileas.async.tiled_load %v[%i] into %m layout <register = [1, 2, 4], lane = [0, 0, 0, 0, 0], warp = []> vector 4 bounds <none> : <tile = [8], memref<64xf32, strides = [1]>>[i32] -> !nv_tileas.memdesc<8xf32, #s, stages = 2>
  return
}

// -----

#l = #nv_tileas.layout<register = [1, 2, 4], lane = [0, 0, 0, 0, 0], warp = []>
#s = #nv_tileas.shared_layout<offset = [1, 2, 4]>
func.func @pointee(%p: tensor<8x!nv_tileaa.ptr<i32>, #l>, %m: !nv_tileas.memdesc<8xf32, #s>) {
  // expected-error @+1 {{destination must have the shape and the pointee of the pointers}}
  %0, %t = nv_tileas.async.load %p into %m vector 4 : tensor<8x!nv_tileaa.ptr<i32>, #l> -> !nv_tileas.memdesc<8xf32, #s>
  return
}
