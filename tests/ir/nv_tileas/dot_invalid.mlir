// RUN: tileiras-opt %s --split-input-file --verify-diagnostics
// expected-error @+1 {{fma has no shape}}
func.func private @shape() attributes {x = #nv_tileas.mma<fma, [16, 8, 16]>}

// -----

// expected-error @+1 {{expected M, N and K, powers of two}}
func.func private @extents() attributes {x = #nv_tileas.mma<sync, [16, 8]>}

// -----

#c = #nv_tileas.layout<register = [1, 64], lane = [2, 4, 8, 16, 32], warp = []>
#a = #nv_tileas.layout<register = [1, 128, 8], lane = [2, 4, 16, 32, 64], warp = []>
#b = #nv_tileas.layout<register = [8, 64], lane = [16, 32, 1, 2, 4], warp = []>
func.func @product(%x: tensor<16x16xf16, #a>, %y: tensor<8x16xf16, #b>, %z: tensor<16x8xf32, #c>) {
  // expected-error @+1 {{shapes of lhs, rhs and acc do not form a matrix product}}
  %0 = nv_tileas.dot %x, %y, %z by <sync, [16, 8, 16]> : tensor<16x16xf16, #a>, tensor<8x16xf16, #b>, tensor<16x8xf32, #c>
  return
}

// -----

#c = #nv_tileas.layout<register = [1, 64], lane = [2, 4, 8, 16, 32], warp = []>
#a = #nv_tileas.layout<register = [1, 128, 8], lane = [2, 4, 16, 32, 64], warp = []>
#b = #nv_tileas.layout<register = [8, 64], lane = [16, 32, 1, 2, 4], warp = []>
func.func @elements(%x: tensor<16x16xf16, #a>, %y: tensor<16x8xbf16, #b>, %z: tensor<16x8xf32, #c>) {
  // expected-error @+1 {{lhs and rhs must have the same element type}}
  %0 = nv_tileas.dot %x, %y, %z by <sync, [16, 8, 16]> : tensor<16x16xf16, #a>, tensor<16x8xbf16, #b>, tensor<16x8xf32, #c>
  return
}

// -----

#c = #nv_tileas.layout<register = [1, 64], lane = [2, 4, 8, 16, 32], warp = []>
#a = #nv_tileas.layout<register = [1, 128, 8], lane = [2, 4, 16, 32, 64], warp = []>
#b = #nv_tileas.layout<register = [8, 64], lane = [16, 32, 1, 2, 4], warp = []>
func.func @instruction(%x: tensor<16x16xf32, #a>, %y: tensor<16x8xf32, #b>, %z: tensor<16x8xf32, #c>) {
  // expected-error @+1 {{multiplies 'f32' into 'f32'}}
  %0 = nv_tileas.dot %x, %y, %z by <sync, [16, 8, 16]> : tensor<16x16xf32, #a>, tensor<16x8xf32, #b>, tensor<16x8xf32, #c>
  return
}

// -----

// Accumulator lanes that are along both rows and columns.
#c = #nv_tileas.layout<register = [1, 64], lane = [10, 4, 8, 16, 32], warp = []>
#a = #nv_tileas.layout<register = [1, 128, 8], lane = [2, 4, 16, 32, 64], warp = []>
#b = #nv_tileas.layout<register = [8, 64], lane = [16, 32, 1, 2, 4], warp = []>
func.func @accumulator(%x: tensor<16x16xf16, #a>, %y: tensor<16x8xf16, #b>, %z: tensor<16x8xf32, #c>) {
  // expected-error @+1 {{accumulator is not laid out in fragments of}}
  %0 = nv_tileas.dot %x, %y, %z by <sync, [16, 8, 16]> : tensor<16x16xf16, #a>, tensor<16x8xf16, #b>, tensor<16x8xf32, #c>
  return
}

// -----

#c = #nv_tileas.layout<register = [1, 64], lane = [2, 4, 8, 16, 32], warp = []>
#a = #nv_tileas.layout<register = [1, 8, 128], lane = [2, 4, 16, 32, 64], warp = []>
#b = #nv_tileas.layout<register = [8, 64], lane = [16, 32, 1, 2, 4], warp = []>
func.func @operand(%x: tensor<16x16xf16, #a>, %y: tensor<16x8xf16, #b>, %z: tensor<16x8xf32, #c>) {
  // expected-error @+1 {{layout of lhs does not match the accumulator's; expected #nv_tileas.layout<register = [1, 128, 8], lane = [2, 4, 16, 32, 64], warp = []>}}
  %0 = nv_tileas.dot %x, %y, %z by <sync, [16, 8, 16]> : tensor<16x16xf16, #a>, tensor<16x8xf16, #b>, tensor<16x8xf32, #c>
  return
}

// -----

// Two warps split the rows, so they must split the left operand as well.
#c = #nv_tileas.layout<register = [1, 64], lane = [2, 4, 8, 16, 32], warp = [128]>
#a = #nv_tileas.layout<register = [1, 128, 8], lane = [2, 4, 16, 32, 64], warp = [0]>
#b = #nv_tileas.layout<register = [8, 64], lane = [16, 32, 1, 2, 4], warp = [0]>
func.func @warps(%x: tensor<32x16xf16, #a>, %y: tensor<16x8xf16, #b>, %z: tensor<32x8xf32, #c>) {
  // expected-error @+1 {{layout of lhs does not match the accumulator's; expected #nv_tileas.layout<register = [1, 128, 8], lane = [2, 4, 16, 32, 64], warp = [256]>}}
  %0 = nv_tileas.dot %x, %y, %z by <sync, [16, 8, 16]> : tensor<32x16xf16, #a>, tensor<16x8xf16, #b>, tensor<32x8xf32, #c>
  return
}

// -----

#c = #nv_tileas.layout<register = [1, 64], lane = [2, 4, 8, 16, 32], warp = []>
#a = #nv_tileas.layout<register = [1, 2, 512, 16], lane = [4, 8, 32, 64, 128], warp = []>
#b = #nv_tileas.layout<register = [8, 16, 128], lane = [32, 64, 1, 2, 4], warp = []>
func.func @scales(%x: tensor<16x32xf8E5M2, #a>, %y: tensor<32x8xf8E5M2, #b>, %z: tensor<16x8xf16, #c>) {
  // expected-error @+1 {{no instruction supports these elements with scales of these blocks}}
  %0 = nv_tileas.dot %x, %y, %z by <block_scale, [16, 8, 32]> : tensor<16x32xf8E5M2, #a>, tensor<32x8xf8E5M2, #b>, tensor<16x8xf16, #c>
  return
}

// -----

#c = #nv_tileas.layout<register = [1, 64], lane = [2, 4, 8, 16, 32], warp = []>
#a = #nv_tileas.layout<register = [1, 2, 256, 16], lane = [4, 8, 32, 64, 128], warp = []>
#b = #nv_tileas.layout<register = [8, 16, 128], lane = [32, 64, 1, 2, 4], warp = []>
#s = #nv_tileas.layout<register = [8], lane = [0, 0, 1, 2, 4], warp = []>
#t = #nv_tileas.layout<register = [], lane = [0, 0, 1, 2, 4], warp = []>
func.func @scales_of_rows(%x: tensor<16x32xf8E5M2, #a>, %y: tensor<32x8xf8E5M2, #b>, %z: tensor<16x8xf32, #c>, %s: tensor<16x1xf8E8M0FNU, #s>, %t: tensor<1x8xf8E8M0FNU, #t>) {
  // expected-error @+1 {{layout of the scales of lhs does not match the accumulator's; expected #nv_tileas.layout<register = [], lane = [8, 0, 1, 2, 4], warp = []>}}
  %0 = nv_tileas.block_scaled_mma %x scale %s, %y scale %t, %z by <block_scale, [16, 8, 32]> : tensor<16x32xf8E5M2, #a>, tensor<16x1xf8E8M0FNU, #s>, tensor<32x8xf8E5M2, #b>, tensor<1x8xf8E8M0FNU, #t>, tensor<16x8xf32, #c>
  return
}

// -----

// A warpgroup instruction whose operands go to shared memory later: the accumulator has rows that its warps do not
// have.
#c = #nv_tileas.layout<register = [1, 64], lane = [2, 4, 8, 16, 32], warp = [256, 128]>
#a = #nv_tileas.layout<register = [1, 128, 8], lane = [2, 4, 16, 32, 64], warp = [256, 512]>
#b = #nv_tileas.layout<register = [8, 64], lane = [16, 32, 1, 2, 4], warp = [0, 0]>
func.func @warpgroup(%x: tensor<64x16xf16, #a>, %y: tensor<16x8xf16, #b>, %z: tensor<64x8xf32, #c>) {
  // expected-error @+1 {{the layout does not consist of fragments of 64 rows by 8 columns for 1 warpgroups}}
  %0 = nv_tileas.dot %x, %y, %z by <warpgroup, [64, 8, 16]> : tensor<64x16xf16, #a>, tensor<16x8xf16, #b>, tensor<64x8xf32, #c>
  return
}

// -----

#c = #nv_tileas.layout<register = [1, 64], lane = [2, 4, 8, 16, 32], warp = [256, 128]>
#a = #nv_tileas.layout<register = [1, 128, 8], lane = [2, 4, 16, 32, 64], warp = [256, 512]>
#b = #nv_tileas.layout<register = [8, 64], lane = [16, 32, 1, 2, 4], warp = [0, 0]>
func.func @tensor(%x: tensor<64x16xf16, #a>, %y: tensor<16x8xf16, #b>, %z: tensor<64x8xf32, #c>) {
  // expected-error @+1 {{accumulator is not laid out in fragments or rows of #nv_tileas.mma<tensor, [64, 8, 16]>}}
  %0 = nv_tileas.dot %x, %y, %z by <tensor, [64, 8, 16]> : tensor<64x16xf16, #a>, tensor<16x8xf16, #b>, tensor<64x8xf32, #c>
  return
}

// -----

#c = #nv_tileas.layout<register = [1, 64], lane = [2, 4, 8, 16, 32], warp = [128, 256]>
#a = #nv_tileas.layout<register = [1, 128], lane = [2, 4, 16, 32, 64], warp = [256, 512]>
#b = #nv_tileas.layout<register = [8], lane = [16, 32, 1, 2, 4], warp = [0, 0]>
func.func @depth_of_warpgroup(%x: tensor<64x8xf16, #a>, %y: tensor<8x8xf16, #b>, %z: tensor<64x8xf32, #c>) {
  // expected-error @+1 {{no instruction #nv_tileas.mma<warpgroup, [64, 8, 8]> multiplies 'f16' into 'f32'}}
  %0 = nv_tileas.dot %x, %y, %z by <warpgroup, [64, 8, 8]> : tensor<64x8xf16, #a>, tensor<8x8xf16, #b>, tensor<64x8xf32, #c>
  return
}

// -----

// f8 with blocks of 16 elements cannot have e8m0 scales.
#c = #nv_tileas.layout<register = [1, 64], lane = [2, 4, 8, 16, 32], warp = []>
#a = #nv_tileas.layout<register = [1, 2, 256, 16], lane = [4, 8, 32, 64, 128], warp = []>
#b = #nv_tileas.layout<register = [8, 16, 128], lane = [32, 64, 1, 2, 4], warp = []>
#s = #nv_tileas.layout<register = [1], lane = [16, 0, 2, 4, 8], warp = []>
#t = #nv_tileas.layout<register = [8], lane = [0, 0, 1, 2, 4], warp = []>
func.func @block(%x: tensor<16x32xf8E5M2, #a>, %y: tensor<32x8xf8E5M2, #b>, %z: tensor<16x8xf32, #c>, %s: tensor<16x2xf8E8M0FNU, #s>, %t: tensor<2x8xf8E8M0FNU, #t>) {
  // expected-error @+1 {{no instruction supports these elements with scales of these blocks}}
  %0 = nv_tileas.block_scaled_mma %x scale %s, %y scale %t, %z by <block_scale, [16, 8, 32]> : tensor<16x32xf8E5M2, #a>, tensor<16x2xf8E8M0FNU, #s>, tensor<32x8xf8E5M2, #b>, tensor<2x8xf8E8M0FNU, #t>, tensor<16x8xf32, #c>
  return
}
