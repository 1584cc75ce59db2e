// RUN: tileiras-opt %s --split-input-file --verify-diagnostics

nv_tileaa.func @f(%x: i32) {
  // expected-error @below {{returned types differ from the results of function 'f'}}
  nv_tileaa.return %x : i32
}
// -----
nv_tileaa.func @f() -> i32 {
  // expected-error @below {{returned types differ from the results of function 'f'}}
  nv_tileaa.return
}
// -----
nv_tileaa.func @f(%x: i32) {
  // expected-error @below {{region must yield values of the results' types}}
  %r = nv_tileaa.execute : () -> f32 {
    nv_tileaa.yield %x : i32
  }
  nv_tileaa.return
}
// -----
nv_tileaa.func @f() {
  // expected-error @below {{region takes no arguments}}
  %r = nv_tileaa.execute : () -> i32 {
  ^bb0(%a: i32):
    nv_tileaa.yield %a : i32
  }
  nv_tileaa.return
}
// -----
nv_tileaa.func @f() {
  // expected-error @below {{expected at least one result}}
  nv_tileaa.execute : () -> () {
    "nv_tileaa.yield"() : () -> ()
  }
  nv_tileaa.return
}
// -----
nv_tileaa.func @f(%p: !nv_tileaa.ptr<f32>, %o: tensor<8xi32>) {
  // expected-error @below {{value, offsets and mask must have the same shape}}
  %v, %t = nv_tileaa.gather_load <weak> %p[%o] : !nv_tileaa.ptr<f32>[tensor<8xi32>] -> tensor<16xf32>
  nv_tileaa.return
}
// -----
nv_tileaa.func @f(%p: !nv_tileaa.ptr<f32>, %o: tensor<8xi32>) {
  // expected-error @below {{pointee and element type differ}}
  %v, %t = nv_tileaa.gather_load <weak> %p[%o] : !nv_tileaa.ptr<f32>[tensor<8xi32>] -> tensor<8xf16>
  nv_tileaa.return
}
// -----
nv_tileaa.func @f(%p: !nv_tileaa.ptr<f32>, %o: tensor<8xi32>, %x: tensor<8xi32>) {
  // expected-error @below {{fill values must have the type of the result}}
  %v, %t = nv_tileaa.gather_load <weak> %p[%o] other %x : tensor<8xi32> : !nv_tileaa.ptr<f32>[tensor<8xi32>] -> tensor<8xf32>
  nv_tileaa.return
}
// -----
nv_tileaa.func @f(%p: !nv_tileaa.ptr<f32>, %o: tensor<8xi32>, %x: tensor<8xf32>, %m: tensor<4xi1>) {
  // expected-error @below {{value, offsets and mask must have the same shape}}
  %t = nv_tileaa.scatter_store <weak> %x, %p[%o] mask %m : tensor<4xi1> : tensor<8xf32>, !nv_tileaa.ptr<f32>[tensor<8xi32>]
  nv_tileaa.return
}
// -----
nv_tileaa.func @f(%x: tensor<8x2xi32>) {
  // expected-error @below {{source and result must have rank one}}
  %h = nv_tileaa.histogram %x : tensor<8x2xi32> -> tensor<8xi32>
  nv_tileaa.return
}
// -----
nv_tileaa.func @f(%x: tensor<8xi32>, %m: tensor<4xi1>) {
  // expected-error @below {{mask must have the shape of the source}}
  %h = nv_tileaa.histogram %x mask %m : tensor<4xi1> : tensor<8xi32> -> tensor<8xi32>
  nv_tileaa.return
}
// -----
nv_tileaa.func @f(%x: tensor<8xi32>) {
  // expected-error @below {{axis must be from 0 to the rank 1}}
  %h = nv_tileaa.expand_dims %x, 2 : tensor<8xi32> -> tensor<8x1xi32>
  nv_tileaa.return
}
// -----
nv_tileaa.func @f(%x: tensor<8xi32>) {
  // expected-error @below {{result must be the source with an extent of one at 0}}
  %h = nv_tileaa.expand_dims %x, 0 : tensor<8xi32> -> tensor<8x1xi32>
  nv_tileaa.return
}
