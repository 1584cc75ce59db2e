// RUN: tileiras-opt %s --split-input-file --verify-diagnostics

// expected-error @below {{an array holds the registers of a tensor with a layout, got 'f32'}}
func.func private @array(!nv_tileas.register_array<f32>)
// -----
func.func @chunks() {
  // expected-error @below {{the number of chunks must be a power of two, got 3}}
  nv_tileas.register_loop 3 {
  ^bb0(%k: i32):
    nv_tileas.yield
  }
  return
}
// -----
func.func @number() {
  // expected-error @below {{the body takes the number of a chunk, an i32}}
  nv_tileas.register_loop 2 {
  ^bb0(%k: i64):
    nv_tileas.yield
  }
  return
}
// -----
func.func @tokens(%t: !nv_tileaa.mem_token) {
  // expected-error @below {{the body must yield one token for each result}}
  nv_tileas.register_loop 2 {
  ^bb0(%k: i32):
    nv_tileas.yield %t : !nv_tileaa.mem_token
  }
  return
}
// -----
#l = #nv_tileas.layout<register = [1, 2], lane = [4, 8, 16, 32, 64], warp = []>
func.func @element(%a: !nv_tileas.register_array<tensor<128xf32, #l>>) {
  // expected-error @below {{tensor and array must have the same shape and element type}}
  %x = nv_tileas.array_load %a : !nv_tileas.register_array<tensor<128xf32, #l>> -> tensor<128xi32, #l>
  return
}
// -----
#l = #nv_tileas.layout<register = [1, 2], lane = [4, 8, 16, 32, 64], warp = []>
#m = #nv_tileas.layout<register = [2, 1], lane = [4, 8, 16, 32, 64], warp = []>
func.func @whole(%a: !nv_tileas.register_array<tensor<128xf32, #l>>) {
  // expected-error @below {{without a chunk, tensor and array must have the same layout}}
  %x = nv_tileas.array_load %a : !nv_tileas.register_array<tensor<128xf32, #l>> -> tensor<128xf32, #m>
  return
}
// -----
#l = #nv_tileas.layout<register = [1, 2], lane = [4, 8, 16, 32, 64], warp = []>
// The chunk numbers the first register bit, instead of the last one, with a warp bit.
#c = #nv_tileas.layout<register = [2], lane = [4, 8, 16, 32, 64], warp = [1]>
func.func @chunk(%x: tensor<128xf32, #c>, %a: !nv_tileas.register_array<tensor<128xf32, #l>>, %k: i32) {
  // expected-error @below {{layout of a chunk must have the array's last register bits as its last warp bits}}
  nv_tileas.array_store %x, %a[%k] : tensor<128xf32, #c>, !nv_tileas.register_array<tensor<128xf32, #l>>
  return
}
// -----
#l = #nv_tileas.layout<register = [1, 2], lane = [4, 8, 16, 32, 64], warp = []>
#s = #nv_tileas.layout<register = [], lane = [1, 2, 4, 8, 16], warp = []>
func.func @gather(%a: tensor<128xf32, #l>) {
  // expected-error @below {{only dimensions of extent one can be repeated}}
  %x = nv_tileas.gather_registers %a : tensor<128xf32, #l> -> tensor<32xf32, #s>
  return
}
// -----
#l = #nv_tileas.layout<register = [1, 2], lane = [4, 8, 16, 32, 64], warp = []>
func.func @rank(%a: tensor<128xf32, #l>) {
  // expected-error @below {{source and result must have the same rank and element type}}
  %x = nv_tileas.gather_registers %a : tensor<128xf32, #l> -> tensor<128x1xf32, #l>
  return
}
// -----
#l = #nv_tileas.layout<register = [1, 2], lane = [4, 8, 16, 32, 64], warp = []>
func.func @indices(%a: tensor<128xf32, #l>, %i: i32) {
  // expected-error @below {{expected one index for each of 1 dimensions}}
  %x = nv_tileas.gather_registers %a slice [%i, %i] : tensor<128xf32, #l> -> tensor<128xf32, #l>
  return
}
// -----
#l = #nv_tileas.layout<register = [1, 2], lane = [4, 8, 16, 32, 64], warp = []>
func.func @gather_slice(%a: tensor<128xf32, #l>, %i: i32) {
  // expected-error @below {{extents of the slice must divide those of the whole}}
  %x = nv_tileas.gather_registers %a slice [%i] : tensor<128xf32, #l> -> tensor<256xf32, #l>
  return
}
// -----
#l = #nv_tileas.layout<register = [1, 2], lane = [4, 8, 16, 32, 64], warp = []>
func.func @insert_rank(%x: tensor<128x1xf32, #l>, %a: !nv_tileas.register_array<tensor<128xf32, #l>>, %i: i32) {
  // expected-error @below {{slice and array must have the same rank and element type}}
  nv_tileas.array_insert %x into %a[%i] : tensor<128x1xf32, #l> into !nv_tileas.register_array<tensor<128xf32, #l>>
  return
}
// -----
#l = #nv_tileas.layout<register = [1, 2], lane = [4, 8, 16, 32, 64], warp = []>
func.func @insert_indices(%x: tensor<128xf32, #l>, %a: !nv_tileas.register_array<tensor<128xf32, #l>>) {
  // expected-error @below {{expected one index for each of 1 dimensions}}
  nv_tileas.array_insert %x into %a[] : tensor<128xf32, #l> into !nv_tileas.register_array<tensor<128xf32, #l>>
  return
}
// -----
#l = #nv_tileas.layout<register = [1, 2], lane = [4, 8, 16, 32, 64], warp = []>
func.func @insert_slice(%x: tensor<256xf32, #l>, %a: !nv_tileas.register_array<tensor<128xf32, #l>>, %i: i32) {
  // expected-error @below {{extents of the slice must divide those of the whole}}
  nv_tileas.array_insert %x into %a[%i] : tensor<256xf32, #l> into !nv_tileas.register_array<tensor<128xf32, #l>>
  return
}
// -----
#l = #nv_tileas.layout<register = [1, 2], lane = [4, 8, 16, 32, 64], warp = []>
func.func @cat_dim(%a: !nv_tileas.register_array<tensor<128xf32, #l>>, %k: i32) {
  // expected-error @below {{dim must be less than the rank 1}}
  %x = nv_tileas.array_cat %a, %a, 1 chunk %k : !nv_tileas.register_array<tensor<128xf32, #l>> -> tensor<256xf32, #l>
  return
}
// -----
#l = #nv_tileas.layout<register = [1, 2], lane = [4, 8, 16, 32, 64], warp = []>
func.func @cat(%a: !nv_tileas.register_array<tensor<128xf32, #l>>, %k: i32) {
  // expected-error @below {{result must have twice the extent of the operands along dim, and their element type}}
  %x = nv_tileas.array_cat %a, %a, 0 chunk %k : !nv_tileas.register_array<tensor<128xf32, #l>> -> tensor<128xf32, #l>
  return
}
// -----
#l = #nv_tileas.layout<register = [1, 2], lane = [4, 8, 16, 32, 64], warp = []>
!m = !nv_tileas.memdesc<4xf32, #nv_tileas.shared_layout<offset = [1, 2]>>
func.func @exchange(%a: !nv_tileas.register_array<tensor<128xf32, #l>>, %b: !nv_tileas.register_array<tensor<128xi32, #l>>, %m: !m) {
  // expected-error @below {{source and destination must differ only in layout}}
  nv_tileas.array_exchange %a into %b, %m : !nv_tileas.register_array<tensor<128xf32, #l>> into !nv_tileas.register_array<tensor<128xi32, #l>>, !m
  return
}
// -----
#l = #nv_tileas.layout<register = [1, 2], lane = [4, 8, 16, 32, 64], warp = []>
!m = !nv_tileas.memdesc<4xi32, #nv_tileas.shared_layout<offset = [1, 2]>>
func.func @storage(%a: !nv_tileas.register_array<tensor<128xf32, #l>>, %m: !m) {
  // expected-error @below {{storage must have the tensor's element type and at most its number of elements}}
  nv_tileas.array_exchange %a into %a, %m : !nv_tileas.register_array<tensor<128xf32, #l>> into !nv_tileas.register_array<tensor<128xf32, #l>>, !m
  return
}
// -----
#l = #nv_tileas.layout<register = [1, 2], lane = [4, 8, 16, 32, 64], warp = []>
#c = #nv_tileas.layout<register = [1], lane = [4, 8, 16, 32, 64], warp = [2]>
func.func @count(%a: !nv_tileas.register_array<tensor<128xf32, #l>>) {
  nv_tileas.register_loop 4 {
  ^bb0(%k: i32):
    // expected-error @below {{the loop has 4 chunks, the tensor 2}}
    %x = nv_tileas.array_load %a[%k] : !nv_tileas.register_array<tensor<128xf32, #l>> -> tensor<128xf32, #c>
    nv_tileas.yield
  }
  return
}
