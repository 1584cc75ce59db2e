// RUN: tileiras-opt %s --split-input-file --verify-diagnostics
#a = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 72, 128, 256, 512]>
#b = #nv_tileas.shared_layout<offset = [8, 16, 32, 64, 1, 2, 68]>
#c = #nv_tileas.layout<register = [1, 64], lane = [2, 4, 8, 16, 32], warp = [128, 256]>
!a = !nv_tileas.memdesc<64x16xf16, #a, align = 256>
!b = !nv_tileas.memdesc<16x8xf16, #b, align = 256>
!c = tensor<64x8xf32, #c>
func.func @shapes(%x: !b, %y: !a, %z: !c) {
  // expected-error @+1 {{shapes of lhs, rhs and acc do not form a matrix product}}
  %r = nv_tileas.async.dot %x, %y, %z by <warpgroup, [64, 8, 16]> : !b, !a, !c
  return
}

// -----

#a = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 72, 128, 256, 512]>
#b = #nv_tileas.shared_layout<offset = [8, 16, 32, 64, 1, 2, 68]>
#c = #nv_tileas.layout<register = [1, 64], lane = [2, 4, 8, 16, 32], warp = [128, 256]>
!a = !nv_tileas.memdesc<64x16xf16, #a, align = 256>
!b = !nv_tileas.memdesc<16x8xf16, #b, align = 256>
!c = tensor<64x8xf32, #c>
#deep = #nv_tileas.shared_layout<offset = [8, 16, 32, 64, 1, 2, 68]>
!deep = !nv_tileas.memdesc<1x16x8xf16, #deep, align = 256>
func.func @rank(%x: !a, %y: !deep, %z: !c) {
  // expected-error @+1 {{operands must have rank two}}
  %r = nv_tileas.async.dot %x, %y, %z by <warpgroup, [64, 8, 16]> : !a, !deep, !c
  return
}

// -----

#a = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 72, 128, 256, 512]>
#b = #nv_tileas.shared_layout<offset = [8, 16, 32, 64, 1, 2, 68]>
#c = #nv_tileas.layout<register = [1, 64], lane = [2, 4, 8, 16, 32], warp = [128, 256]>
!a = !nv_tileas.memdesc<64x16xf16, #a, align = 256>
!b = !nv_tileas.memdesc<16x8xf16, #b, align = 256>
!c = tensor<64x8xf32, #c>
!ring = !nv_tileas.memdesc<64x16xf16, #a, stages = 3, align = 256>
func.func @stages(%x: !ring, %y: !b, %z: !c) {
  // expected-error @+1 {{operands must be a single stage in shared memory, got}}
  %r = nv_tileas.async.dot %x, %y, %z by <warpgroup, [64, 8, 16]> : !ring, !b, !c
  return
}

// -----

#a = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 72, 128, 256, 512]>
#b = #nv_tileas.shared_layout<offset = [8, 16, 32, 64, 1, 2, 68]>
#c = #nv_tileas.layout<register = [1, 64], lane = [2, 4, 8, 16, 32], warp = [128, 256]>
!a = !nv_tileas.memdesc<64x16xf16, #a, align = 256>
!b = !nv_tileas.memdesc<16x8xf16, #b, align = 256>
!c = tensor<64x8xf32, #c>
func.func @unit(%x: !a, %y: !b, %z: !c) {
  // expected-error @+1 {{#nv_tileas.mma<sync, [16, 8, 16]> is not a warpgroup instruction}}
  %r = nv_tileas.async.dot %x, %y, %z by <sync, [16, 8, 16]> : !a, !b, !c
  return
}

// -----

#a = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 72, 128, 256, 512]>
#b = #nv_tileas.shared_layout<offset = [8, 16, 32, 64, 1, 2, 68]>
#c = #nv_tileas.layout<register = [1, 64], lane = [2, 4, 8, 16, 32], warp = [128, 256]>
!a = !nv_tileas.memdesc<64x16xf16, #a, align = 256>
!b = !nv_tileas.memdesc<16x8xf16, #b, align = 256>
!c = tensor<64x8xf32, #c>
!other = !nv_tileas.memdesc<16x8xbf16, #b, align = 256>
func.func @types(%x: !a, %y: !other, %z: !c) {
  // expected-error @+1 {{no instruction #nv_tileas.mma<warpgroup, [64, 8, 16]> multiplies 'f16' by 'bf16' into 'f32'}}
  %r = nv_tileas.async.dot %x, %y, %z by <warpgroup, [64, 8, 16]> : !a, !other, !c
  return
}

// -----

#a = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 72, 128, 256, 512]>
#b = #nv_tileas.shared_layout<offset = [8, 16, 32, 64, 1, 2, 68]>
#c = #nv_tileas.layout<register = [1, 64], lane = [2, 4, 8, 16, 32], warp = [128, 256]>
!a = !nv_tileas.memdesc<64x16xf16, #a, align = 256>
!b = !nv_tileas.memdesc<16x8xf16, #b, align = 256>
!c = tensor<64x8xf32, #c>
func.func @columns(%x: !a, %y: !b, %z: !c) {
  // expected-error @+1 {{no instruction #nv_tileas.mma<warpgroup, [64, 4, 16]> multiplies 'f16' by 'f16' into 'f32'}}
  %r = nv_tileas.async.dot %x, %y, %z by <warpgroup, [64, 4, 16]> : !a, !b, !c
  return
}

// -----

// Row-major without a swizzle.
#a = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 72, 128, 256, 512]>
#b = #nv_tileas.shared_layout<offset = [8, 16, 32, 64, 1, 2, 68]>
#c = #nv_tileas.layout<register = [1, 64], lane = [2, 4, 8, 16, 32], warp = [128, 256]>
!a = !nv_tileas.memdesc<64x16xf16, #a, align = 256>
!b = !nv_tileas.memdesc<16x8xf16, #b, align = 256>
!c = tensor<64x8xf32, #c>
#plain = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512]>
!plain = !nv_tileas.memdesc<64x16xf16, #plain, align = 256>
func.func @plain(%x: !plain, %y: !b, %z: !c) {
  // expected-error @+1 {{the instruction cannot read lhs from this shared memory layout: bit 7 of the byte offset selects element 0x40, as in no hardware layout}}
  %r = nv_tileas.async.dot %x, %y, %z by <warpgroup, [64, 8, 16]> : !plain, !b, !c
  return
}

// -----

#a = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 72, 128, 256, 512]>
#b = #nv_tileas.shared_layout<offset = [8, 16, 32, 64, 1, 2, 68]>
#c = #nv_tileas.layout<register = [1, 64], lane = [2, 4, 8, 16, 32], warp = [128, 256]>
!a = !nv_tileas.memdesc<64x16xf16, #a, align = 256>
!b = !nv_tileas.memdesc<16x8xf16, #b, align = 256>
!c = tensor<64x8xf32, #c>
!loose = !nv_tileas.memdesc<16x8xf16, #b>
func.func @alignment(%x: !a, %y: !loose, %z: !c) {
  // expected-error @+1 {{the instruction cannot read rhs from this shared memory layout: its alignment is 128 bytes, but its swizzle needs 256}}
  %r = nv_tileas.async.dot %x, %y, %z by <warpgroup, [64, 8, 16]> : !a, !loose, !c
  return
}

// -----

#a = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 72, 128, 256, 512]>
#b = #nv_tileas.shared_layout<offset = [8, 16, 32, 64, 1, 2, 68]>
#c = #nv_tileas.layout<register = [1, 64], lane = [2, 4, 8, 16, 32], warp = [128, 256]>
!a = !nv_tileas.memdesc<64x16xf16, #a, align = 256>
!b = !nv_tileas.memdesc<16x8xf16, #b, align = 256>
!c = tensor<64x8xf32, #c>
#bytes_a = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64, 144, 256, 512, 1024]>
#bytes_b = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64, 128, 256]>
#bytes_c = #nv_tileas.layout<register = [1, 128, 8], lane = [2, 4, 16, 32, 64], warp = [256, 512]>
!bytes_a = !nv_tileas.memdesc<64x32xi8, #bytes_a, align = 256>
!bytes_b = !nv_tileas.memdesc<32x16xi8, #bytes_b, align = 256>
func.func @major(%x: !bytes_a, %y: !bytes_b, %z: tensor<64x16xi32, #bytes_c>) {
  // expected-error @+1 {{the instruction cannot read rhs from this shared memory layout: elements of 8 bits must be contiguous along K, but they are contiguous along M or N}}
  %r = nv_tileas.async.dot %x, %y, %z by <warpgroup, [64, 16, 32]> : !bytes_a, !bytes_b, tensor<64x16xi32, #bytes_c>
  return
}

// -----

// The warps have the rows in another order.
#a = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 72, 128, 256, 512]>
#b = #nv_tileas.shared_layout<offset = [8, 16, 32, 64, 1, 2, 68]>
#c = #nv_tileas.layout<register = [1, 64], lane = [2, 4, 8, 16, 32], warp = [128, 256]>
!a = !nv_tileas.memdesc<64x16xf16, #a, align = 256>
!b = !nv_tileas.memdesc<16x8xf16, #b, align = 256>
!c = tensor<64x8xf32, #c>
#turned = #nv_tileas.layout<register = [1, 64], lane = [2, 4, 8, 16, 32], warp = [256, 128]>
func.func @fragments(%x: !a, %y: !b, %z: tensor<64x8xf32, #turned>) {
  // expected-error @+1 {{accumulator is not laid out in fragments of #nv_tileas.mma<warpgroup, [64, 8, 16]>: the layout does not consist of fragments of 64 rows by 8 columns for 1 warpgroups}}
  %r = nv_tileas.async.dot %x, %y, %z by <warpgroup, [64, 8, 16]> : !a, !b, tensor<64x8xf32, #turned>
  return
}

// -----

#a = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 72, 128, 256, 512]>
#b = #nv_tileas.shared_layout<offset = [8, 16, 32, 64, 1, 2, 68]>
#c = #nv_tileas.layout<register = [1, 64], lane = [2, 4, 8, 16, 32], warp = [128, 256]>
!a = !nv_tileas.memdesc<64x16xf16, #a, align = 256>
!b = !nv_tileas.memdesc<16x8xf16, #b, align = 256>
!c = tensor<64x8xf32, #c>
#few = #nv_tileas.layout<register = [1, 64, 128], lane = [2, 4, 8, 16, 32], warp = [256]>
func.func @warps(%x: !a, %y: !b, %z: tensor<64x8xf32, #few>) {
  // expected-error @+1 {{accumulator is not laid out in fragments of #nv_tileas.mma<warpgroup, [64, 8, 16]>: warps of warpgroups: expected 4, found 2}}
  %r = nv_tileas.async.dot %x, %y, %z by <warpgroup, [64, 8, 16]> : !a, !b, tensor<64x8xf32, #few>
  return
}

// -----

#a = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 72, 128, 256, 512]>
#b = #nv_tileas.shared_layout<offset = [8, 16, 32, 64, 1, 2, 68]>
#c = #nv_tileas.layout<register = [1, 64], lane = [2, 4, 8, 16, 32], warp = [128, 256]>
!a = !nv_tileas.memdesc<64x16xf16, #a, align = 256>
!b = !nv_tileas.memdesc<16x8xf16, #b, align = 256>
!c = tensor<64x8xf32, #c>
func.func @read(%x: !a, %y: !b, %z: !c) {
  // expected-error @+1 {{result is read before 'async.dot_wait'}}
  %r = nv_tileas.async.dot %x, %y, %z by <warpgroup, [64, 8, 16]> : !a, !b, !c
  // expected-note @+1 {{read here}}
  %s = arith.addf %r, %r : !c
  return
}

// -----

#a = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 72, 128, 256, 512]>
#b = #nv_tileas.shared_layout<offset = [8, 16, 32, 64, 1, 2, 68]>
#c = #nv_tileas.layout<register = [1, 64], lane = [2, 4, 8, 16, 32], warp = [128, 256]>
!a = !nv_tileas.memdesc<64x16xf16, #a, align = 256>
!b = !nv_tileas.memdesc<16x8xf16, #b, align = 256>
!c = tensor<64x8xf32, #c>
#other = #nv_tileas.layout<register = [64, 1], lane = [2, 4, 8, 16, 32], warp = [128, 256]>
func.func @wait(%x: !c) {
  // expected-error @+1 {{results must have the types of the sources}}
  %r = nv_tileas.async.dot_wait %x pending 0 : !c -> tensor<64x8xf32, #other>
  return
}

// -----

#a = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64, 144, 256, 512, 1024, 2048, 4096]>
#b = #nv_tileas.shared_layout<offset = [8, 16, 32, 64, 128, 1, 2, 132]>
#c = #nv_tileas.layout<register = [1, 64, 512], lane = [2, 4, 8, 16, 32], warp = [128, 256, 1024]>
!a = !nv_tileas.memdesc<256x32xf8E4M3FN, #a, align = 256>
!b = !nv_tileas.memdesc<32x8xf8E4M3FN, #b, align = 256>
func.func @depth(%x: !a, %y: !b, %z: tensor<256x8xf32, #c>) {
  // expected-error @+1 {{a depth of 16 must be a multiple of the instruction's K and divide 32}}
  %r = nv_tileas.promoted_dot %x, %y, %z by <warpgroup, [64, 8, 32]> depth 16 : !a, !b, tensor<256x8xf32, #c>
  return
}

// -----

#a = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64, 144, 256, 512, 1024, 2048, 4096]>
#b = #nv_tileas.shared_layout<offset = [8, 16, 32, 64, 128, 1, 2, 132]>
#c = #nv_tileas.layout<register = [1, 64, 512], lane = [2, 4, 8, 16, 32], warp = [128, 256, 1024]>
!a = !nv_tileas.memdesc<256x32xf8E4M3FN, #a, align = 256>
!b = !nv_tileas.memdesc<32x8xf8E4M3FN, #b, align = 256>
func.func @sums(%x: !a, %y: !b, %z: tensor<256x8xf16, #c>) {
  // expected-error @+1 {{accumulator must be f32, got 'f16'}}
  %r = nv_tileas.promoted_dot %x, %y, %z by <warpgroup, [64, 8, 32]> depth 32 : !a, !b, tensor<256x8xf16, #c>
  return
}

// -----

#a = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512]>
!a = !nv_tileas.memdesc<64x16xf16, #a, align = 256>
func.func @width(%x: !a) {
  // expected-error @+1 {{source and result must have numeric elements of the same width}}
  %r = nv_tileas.memdesc_reinterpret %x : !a -> !nv_tileas.memdesc<64x16xf32, #a>
  return
}

// -----

#a = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512]>
!a = !nv_tileas.memdesc<64x16xf16, #a, align = 256>
func.func @count(%x: !a) {
  // expected-error @+1 {{source and result must have the same memory space and number of elements}}
  %r = nv_tileas.memdesc_reinterpret %x : !a -> !nv_tileas.memdesc<64x16xf16, #a, stages = 2>
  return
}

// -----

#a = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512]>
!a = !nv_tileas.memdesc<64x16xf16, #a, align = 256>
func.func @alignment(%x: !a) {
  // expected-error @+1 {{alignment 1024 does not divide the source's alignment 256}}
  %r = nv_tileas.memdesc_reinterpret %x : !a -> !nv_tileas.memdesc<64x16xf16, #a, align = 1024>
  return
}

// -----

#a = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512]>
#small = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16]>
!a = !nv_tileas.memdesc<64x16xf16, #a, align = 256>
func.func @apart(%x: !a) {
  // expected-error @+1 {{are not contiguous}}
  %r = nv_tileas.memdesc_reinterpret %x : !a -> !nv_tileas.memdesc<32xf16, #small, stages = 32>
  return
}

// -----
#b = #nv_tileas.shared_layout<offset = [8, 16, 32, 64, 1, 2, 68]>
#c = #nv_tileas.layout<register = [1, 64], lane = [2, 4, 8, 16, 32], warp = [128, 256]>
#left = #nv_tileas.layout<register = [1, 8, 128], lane = [2, 4, 16, 32, 64], warp = [256, 512]>
nv_tileaa.func @other_fragments(%x: tensor<64x16xf16, #left>, %y: !nv_tileas.memdesc<16x8xf16, #b, align = 256>, %z: tensor<64x8xf32, #c>) {
  // expected-error @+1 {{lhs is not laid out in the fragments of #nv_tileas.mma<warpgroup, [64, 8, 16]> that match the accumulator's}}
  %r = nv_tileas.async.dot %x, %y, %z by <warpgroup, [64, 8, 16]> : tensor<64x16xf16, #left>, !nv_tileas.memdesc<16x8xf16, #b, align = 256>, tensor<64x8xf32, #c>
  nv_tileaa.return
}
