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
nv_tileaa.func @f() {
  // expected-error @below {{'nowhere' is not a function}}
  nv_tileaa.call @nowhere() : () -> ()
  nv_tileaa.return
}
// -----
nv_tileaa.func @f(%x: i32) {
  // expected-error @below {{function 'f' has type '(i32) -> ()'}}
  nv_tileaa.call @f() : () -> ()
  nv_tileaa.return
}
// -----
nv_tileaa.func @f(%x: i32) {
  // expected-error @below {{function 'f' has type '(i32) -> ()'}}
  %r = nv_tileaa.call @f(%x) : (i32) -> i32
  nv_tileaa.return
}
// -----
nv_tileaa.func @f(%x: i32) {
  // expected-error @below {{'@m::@k' is not a function}}
  nv_tileaa.launch_func @m::@k grid(%x, %x, %x)
  nv_tileaa.return
}
// -----
gpu.module @m {
  nv_tileaa.func @k(%y: i32) -> i32 {
    nv_tileaa.return %y : i32
  }
}
nv_tileaa.func @f(%x: i32) {
  // expected-error @below {{'@m::@k' has results, which a kernel cannot have}}
  nv_tileaa.launch_func @m::@k grid(%x, %x, %x) args(%x) : i32
  nv_tileaa.return
}
// -----
gpu.module @m {
  nv_tileaa.func @k(%y: f32) {
    nv_tileaa.return
  }
}
nv_tileaa.func @f(%x: i32) {
  // expected-error @below {{kernel '@m::@k' has type '(f32) -> ()'}}
  nv_tileaa.launch_func @m::@k grid(%x, %x, %x) args(%x) : i32
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
// expected-error @below {{the depth of a queue must be at least 1, got 0}}
nv_tileaa.func @f(%q: !nv_tileaa.queue<depth = 0, i32>) {
  nv_tileaa.return
}
// -----
// expected-error @below {{a queue holds numbers, pointers or tensors of them, not '!nv_tileaa.mem_token'}}
nv_tileaa.func @f(%q: !nv_tileaa.queue<depth = 1, !nv_tileaa.mem_token>) {
  nv_tileaa.return
}
// -----
nv_tileaa.func @f(%q: !nv_tileaa.queue<depth = 1, i32>, %x: f32) {
  // expected-error @below {{body must yield a value of type 'i32'}}
  nv_tileaa.queue.put %q : !nv_tileaa.queue<depth = 1, i32> {
    nv_tileaa.queue.yield %x : f32
  }
  nv_tileaa.return
}
// -----
nv_tileaa.func @f(%q: !nv_tileaa.queue<depth = 1, i32>) {
  // expected-error @below {{body takes no arguments}}
  nv_tileaa.queue.put %q : !nv_tileaa.queue<depth = 1, i32> {
  ^bb0(%a: i32):
    nv_tileaa.queue.yield %a : i32
  }
  nv_tileaa.return
}
// -----
nv_tileaa.func @f(%q: !nv_tileaa.queue<depth = 1, i32>) {
  // expected-error @below {{queue holds values of type 'i32'}}
  %r = nv_tileaa.queue.get %q : !nv_tileaa.queue<depth = 1, i32> -> f32
  nv_tileaa.return
}
// -----
nv_tileaa.func @f() {
  // expected-error @below {{has no name}}
  nv_tileaa.pragma ""
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
