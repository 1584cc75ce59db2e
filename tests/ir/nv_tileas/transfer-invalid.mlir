// RUN: tileiras-opt %s --split-input-file --verify-diagnostics

#l = #nv_tileas.layout<register = [], lane = [1, 2, 4, 8, 16], warp = []>
#s = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16]>
nv_tileaa.func @k(%a: !nv_tileas.memdesc<32xf32, #s>) {
  // expected-error @below {{needs either a destination or a result}}
  nv_tileas.copy %a : !nv_tileas.memdesc<32xf32, #s>
  nv_tileaa.return
}
// -----
#s = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16]>
nv_tileaa.func @k(%a: !nv_tileas.memdesc<32xf32, #s>) {
  // expected-error @below {{moves nothing: both sides are in shared memory}}
  nv_tileas.copy %a into %a : !nv_tileas.memdesc<32xf32, #s> into !nv_tileas.memdesc<32xf32, #s>
  nv_tileaa.return
}
// -----
#l = #nv_tileas.layout<register = [], lane = [1, 2, 4, 8, 16], warp = []>
nv_tileaa.func @k(%x: tensor<32xf32, #l>) {
  // expected-error @below {{moves nothing: both sides are in registers}}
  %y = nv_tileas.copy %x : tensor<32xf32, #l> -> tensor<32xf32, #l>
  nv_tileaa.return
}
// -----
#l = #nv_tileas.layout<register = [], lane = [1, 2, 4, 8, 16], warp = []>
#s = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16]>
nv_tileaa.func @k(%x: tensor<32xi32, #l>, %a: !nv_tileas.memdesc<32xf32, #s>) {
  // expected-error @below {{source and destination must have the same shape and element type}}
  nv_tileas.copy %x into %a : tensor<32xi32, #l> into !nv_tileas.memdesc<32xf32, #s>
  nv_tileaa.return
}
// -----
#l = #nv_tileas.layout<register = [], lane = [1, 2, 4, 8, 16], warp = []>
#s = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16]>
nv_tileaa.func @k(%x: tensor<32xf32, #l>, %a: !nv_tileas.memdesc<32xf32, #s, stages = 2>) {
  // expected-error @below {{storage must have one stage; take one with memdesc_slot}}
  nv_tileas.copy %x into %a : tensor<32xf32, #l> into !nv_tileas.memdesc<32xf32, #s, stages = 2>
  nv_tileaa.return
}
// -----
#s = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16]>
// expected-error @below {{expected space shared, tensor or scales, got 'global'}}
nv_tileaa.func @k(%a: !nv_tileas.memdesc<32xf32, #s, space = global>) {
  nv_tileaa.return
}
// -----
#s = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16]>
// expected-error @below {{expected stages, space, align or packed, got 'depth'}}
nv_tileaa.func @k(%a: !nv_tileas.memdesc<32xf32, #s, depth = 2>) {
  nv_tileaa.return
}
// -----
#l = #nv_tileas.layout<register = [], lane = [1, 2, 4, 8, 16], warp = []>
nv_tileaa.func @k(%p: !nv_tileaa.ptr<f32>, %o: tensor<32xf32, #l>) {
  // expected-error @below {{offsets must be integers}}
  %v, %t = nv_tileas.gather_load <weak> %p[%o] : !nv_tileaa.ptr<f32>[tensor<32xf32, #l>] -> tensor<32xf32, #l>
  nv_tileaa.return
}
// -----
#l = #nv_tileas.layout<register = [], lane = [1, 2, 4, 8, 16], warp = []>
nv_tileaa.func @k(%p: !nv_tileaa.ptr<f32>, %o: tensor<32xi32, #l>) {
  // expected-error @below {{mask must be of i1}}
  %v, %t = nv_tileas.gather_load <weak> %p[%o] mask %o : tensor<32xi32, #l> : !nv_tileaa.ptr<f32>[tensor<32xi32, #l>] -> tensor<32xf32, #l>
  nv_tileaa.return
}
// -----
#l = #nv_tileas.layout<register = [], lane = [1, 2, 4, 8, 16], warp = []>
#m = #nv_tileas.layout<register = [], lane = [16, 8, 4, 2, 1], warp = []>
nv_tileaa.func @k(%p: !nv_tileaa.ptr<f32>, %o: tensor<32xi32, #l>) {
  // expected-error @below {{value, offsets and mask must have the same shape and layout}}
  %v, %t = nv_tileas.gather_load <weak> %p[%o] : !nv_tileaa.ptr<f32>[tensor<32xi32, #l>] -> tensor<32xf32, #m>
  nv_tileaa.return
}
// -----
#l = #nv_tileas.layout<register = [], lane = [1, 2, 4, 8, 16], warp = []>
nv_tileaa.func @k(%p: !nv_tileaa.ptr<f32>, %o: tensor<32xi32, #l>) {
  // expected-error @below {{fill values must have the type of the result}}
  %v, %t = nv_tileas.gather_load <weak> %p[%o] other %o : tensor<32xi32, #l> : !nv_tileaa.ptr<f32>[tensor<32xi32, #l>] -> tensor<32xf32, #l>
  nv_tileaa.return
}
// -----
#l = #nv_tileas.layout<register = [], lane = [1, 2, 4, 8, 16], warp = []>
nv_tileaa.func @k(%p: !nv_tileaa.ptr<f32>, %o: tensor<32xi32, #l>) {
  // expected-error @below {{pointee and element type differ}}
  %t = nv_tileas.scatter_store <weak> %o, %p[%o] : tensor<32xi32, #l>, !nv_tileaa.ptr<f32>[tensor<32xi32, #l>]
  nv_tileaa.return
}
// -----
#l = #nv_tileas.layout<register = [], lane = [1, 2, 4, 8, 16], warp = []>
nv_tileaa.func @k(%o: tensor<32xi32, #l>) {
  // expected-error @below {{axis must be from 0 to the rank 1}}
  %t = nv_tileas.expand_dims %o, -1 : tensor<32xi32, #l> -> tensor<1x32xi32, #l>
  nv_tileaa.return
}
// -----
#l = #nv_tileas.layout<register = [], lane = [1, 2, 4, 8, 16], warp = []>
nv_tileaa.func @k(%o: tensor<32xi32, #l>) {
  // expected-error @below {{result must be the source with an extent of one at 1}}
  %t = nv_tileas.expand_dims %o, 1 : tensor<32xi32, #l> -> tensor<1x32xi32, #l>
  nv_tileaa.return
}
// -----
#l = #nv_tileas.layout<register = [], lane = [1, 2, 4, 8, 16], warp = []>
#m = #nv_tileas.layout<register = [], lane = [16, 8, 4, 2, 1], warp = []>
nv_tileaa.func @k(%o: tensor<32xi32, #l>) {
  // expected-error @below {{row-major indices do not change, so the layout must not either}}
  %t = nv_tileas.expand_dims %o, 0 : tensor<32xi32, #l> -> tensor<1x32xi32, #m>
  nv_tileaa.return
}
// -----
#l = #nv_tileas.layout<register = [], lane = [1, 2, 4, 8, 16], warp = []>
nv_tileaa.func @k(%o: tensor<32xi32, #l>) {
  // expected-error @below {{source and result must have the same element type}}
  %t = nv_tileas.reinterpret %o : tensor<32xi32, #l> -> tensor<32xf32, #l>
  nv_tileaa.return
}
// -----
#l = #nv_tileas.layout<register = [], lane = [1, 2, 4, 8, 16], warp = []>
#m = #nv_tileas.layout<register = [1], lane = [2, 4, 8, 16, 32], warp = []>
nv_tileaa.func @k(%o: tensor<32xi32, #l>) {
  // expected-error @below {{source and result must have the same numbers of registers, warps and CTAs}}
  %t = nv_tileas.reinterpret %o : tensor<32xi32, #l> -> tensor<64xi32, #m>
  nv_tileaa.return
}
