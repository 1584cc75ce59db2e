// RUN: tileiras-opt %s --split-input-file --verify-diagnostics
#l = #nv_tileas.layout<register = [1], lane = [2, 4, 8, 16, 32], warp = []>
#c = #nv_tileas.layout<register = [1, 64], lane = [2, 4, 8, 16, 32], warp = []>
func.func @rank(%x: tensor<64xi16, #l>) {
  // expected-error @+1 {{dim must be less than the rank 1}}
  %0 = nv_tileas.cat %x, %x, 1 : tensor<64xi16, #l> -> tensor<128xi16, #c>
  return
}

// -----

#l = #nv_tileas.layout<register = [1], lane = [2, 4, 8, 16, 32], warp = []>
func.func @extent(%x: tensor<64xi16, #l>) {
  // expected-error @+1 {{result must have twice the extent of the operands along dim}}
  %0 = nv_tileas.cat %x, %x, 0 : tensor<64xi16, #l> -> tensor<64xi16, #l>
  return
}

// -----

#l = #nv_tileas.layout<register = [1], lane = [2, 4, 8, 16, 32], warp = []>
#c = #nv_tileas.layout<register = [64, 2], lane = [1, 4, 8, 16, 32], warp = []>
func.func @other_lanes(%x: tensor<64xi16, #l>) {
  // expected-error @+1 {{layout of the operands must be the result's without the bit that selects the half}}
  %0 = nv_tileas.cat %x, %x, 0 : tensor<64xi16, #l> -> tensor<128xi16, #c>
  return
}

// -----

#l = #nv_tileas.layout<register = [1], lane = [2, 4, 8, 16, 32], warp = []>
#w = #nv_tileas.layout<register = [], lane = [1, 2, 4, 8, 16], warp = []>
func.func @indices(%x: tensor<64xi16, #l>, %i: i32) {
  // expected-error @+1 {{expected one index for each of 1 dimensions}}
  %0 = nv_tileas.extract_slice %x[%i, %i] : tensor<64xi16, #l> -> tensor<32xi16, #w>
  return
}

// -----

#l = #nv_tileas.layout<register = [1], lane = [2, 4, 8, 16, 32], warp = []>
#c = #nv_tileas.layout<register = [1, 64], lane = [2, 4, 8, 16, 32], warp = []>
func.func @larger(%x: tensor<64xi16, #l>, %i: i32) {
  // expected-error @+1 {{extents of the slice must divide those of the whole}}
  %0 = nv_tileas.extract_slice %x[%i] : tensor<64xi16, #l> -> tensor<128xi16, #c>
  return
}

// -----

#l = #nv_tileas.layout<register = [1], lane = [2, 4, 8, 16, 32], warp = []>
#w = #nv_tileas.layout<register = [], lane = [1, 2, 4, 8, 16], warp = []>
func.func @element(%x: tensor<64xi16, #l>, %i: i32) {
  // expected-error @+1 {{source and result must have the same rank and element type}}
  %0 = nv_tileas.shuffle %x[%i] : tensor<64xi16, #l> -> tensor<32xi8, #w>
  return
}

// -----

#l = #nv_tileas.layout<register = [1], lane = [2, 4, 8, 16, 32], warp = []>
func.func @conversion(%x: tensor<64xi16, #l>) {
  // expected-error @+1 {{source and result must differ only in layout}}
  %0 = nv_tileas.shuffle %x : tensor<64xi16, #l> -> tensor<8x8xi16, #l>
  return
}

// -----

#l = #nv_tileas.layout<register = [1], lane = [2, 4, 8, 16, 32], warp = []>
#n = #nv_tileas.layout<register = [2, 1], lane = [4, 8, 16, 32, 64], warp = []>
func.func @parts(%x: tensor<64xi16, #l>) {
  // expected-error @+1 {{a thread must hold all parts of an element, in its first registers}}
  %0 = nv_tileas.pack %x : tensor<64xi16, #l> -> tensor<128xi8, #n>
  return
}

// -----

#l = #nv_tileas.layout<register = [1], lane = [2, 4, 8, 16, 32], warp = []>
func.func @bits(%x: tensor<64xi8, #l>) {
  // expected-error @+1 {{source and result must have the same number of bits}}
  %0 = nv_tileas.unpack %x : tensor<64xi8, #l> -> tensor<64xi16, #l>
  return
}

// -----

#l = #nv_tileas.layout<register = [1], lane = [2, 4, 8, 16, 32], warp = []>
func.func @bytes(%x: tensor<64xi16, #l>) {
  // expected-error @+1 {{expected a tensor of numbers and a tensor of bytes, both of rank one}}
  %0 = nv_tileas.unpack %x : tensor<64xi16, #l> -> tensor<64xi16, #l>
  return
}

// -----

#l = #nv_tileas.layout<register = [1], lane = [2, 4, 8, 16, 32], warp = []>
#s = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64]>
func.func @storage(%x: tensor<64xi16, #l>, %m: !nv_tileas.memdesc<128xi16, #s>) {
  // expected-error @+1 {{storage must have the tensor's element type and at most its number of elements}}
  %0 = nv_tileas.exchange %x, %m : tensor<64xi16, #l>, !nv_tileas.memdesc<128xi16, #s> -> tensor<64xi16, #l>
  return
}
