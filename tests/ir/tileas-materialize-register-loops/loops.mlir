// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileas-materialize-register-loops)' | FileCheck %s
// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileas-materialize-register-loops)' | tileiras-opt --pass-pipeline='builtin.module(tileas-materialize-register-loops)' | FileCheck %s

// 256 elements per thread: eight chunks of 32 registers, numbered by virtual warps. A second run changes nothing.
#l = #nv_tileas.layout<register = [1, 2, 128, 256, 512, 1024, 2048, 4096], lane = [4, 8, 16, 32, 64], warp = []>
#m = #nv_tileas.layout<register = [128, 256, 512, 1024, 2048, 4096, 1, 2], lane = [4, 8, 16, 32, 64], warp = []>
#s = #nv_tileas.layout<register = [1, 2, 128, 256, 512], lane = [4, 8, 16, 32, 64], warp = []>
#h = #nv_tileas.layout<register = [1, 2, 128, 256, 512, 1024, 2048], lane = [4, 8, 16, 32, 64], warp = []>
!view = !nv_tileaa.tiled_view<tile = [8192], memref<8192xf32, strides = [1]>>
!part = !nv_tileaa.tiled_view<tile = [1024], memref<8192xf32, strides = [1]>>
!half = !nv_tileaa.tiled_view<tile = [4096], memref<8192xf32, strides = [1]>>
!scratch = !nv_tileas.memdesc<4xf32, #nv_tileas.shared_layout<offset = [1, 2]>>
!t = tensor<8192xf32, #l>
!u = tensor<8192xf32, #m>
!s = tensor<1024xf32, #s>
!h = tensor<4096xf32, #h>
gpu.module @kernels {
  // Load, computation and store share a loop, and nothing is stored to memory in between. The constant is created in
  // the loop. The token of the store leaves the loop.
  // CHECK-LABEL: @one_loop
  nv_tileaa.func @one_loop(%v: !view, %i: i32) attributes {numWarps = 1 : i64} {
    // CHECK: %[[T0:.*]] = nv_tileaa.create_mem_token
    // CHECK-NEXT: %[[T:.*]] = nv_tileas.register_loop 8 -> !nv_tileaa.mem_token {
    // CHECK-NEXT: ^bb0(%{{.*}}: i32):
    // CHECK-NEXT: %[[X:[a-z0-9_]+]], %{{.*}} = nv_tileas.tiled_load {{.*}} -> tensor<8192xf32, #nv_tileas.layout<register = [1, 2, 128, 256, 512], lane = [4, 8, 16, 32, 64], warp = [1024, 2048, 4096]>>
    // CHECK-NEXT: %[[C:.*]] = arith.constant dense<1.000000e+00>
    // CHECK-NEXT: %[[Y:.*]] = arith.addf %[[X]], %[[C]]
    // CHECK-NEXT: %[[T2:.*]] = nv_tileas.tiled_store <weak> %[[Y]],
    // CHECK-NEXT: nv_tileas.yield %[[T2]] : !nv_tileaa.mem_token
    // CHECK-NEXT: }
    // CHECK-NEXT: nv_tileas.print "done" token %[[T]]
    %t0 = nv_tileaa.create_mem_token
    %x, %t1 = nv_tileas.tiled_load <weak> %v[%i] token %t0 vector 4 bounds <none> : !view[i32] -> !t
    %c = arith.constant dense<1.0> : !t
    %y = arith.addf %x, %c : !t
    %t2 = nv_tileas.tiled_store <weak> %y, %v[%i] token %t0 vector 4 bounds <none> : !t, !view[i32]
    %t3 = nv_tileas.print "done" token %t2
    nv_tileaa.return
  }

  // A store that must come after the loads has its own loop. The stored value waits in an array. The join of the
  // loads' tokens, which came before the store, comes after their loop.
  // CHECK-LABEL: @ordered
  nv_tileaa.func @ordered(%v: !view, %w: !view, %i: i32) attributes {numWarps = 1 : i64} {
    // CHECK: %[[A:.*]] = nv_tileas.alloc_array slot 0
    // CHECK-NEXT: %[[T:.*]]:2 = nv_tileas.register_loop 8
    // CHECK-NEXT: ^bb0(%[[K:.*]]: i32):
    // CHECK-NEXT: %[[X:[a-z0-9_]+]], %[[T1:[a-zA-Z0-9_]+]] = nv_tileas.tiled_load
    // CHECK-NEXT: nv_tileas.array_store %[[X]], %[[A]][%[[K]]]
    // CHECK-NEXT: %{{.*}}, %[[T2:[a-zA-Z0-9_]+]] = nv_tileas.tiled_load
    // CHECK-NEXT: nv_tileas.yield %[[T1]], %[[T2]]
    // CHECK-NEXT: }
    // CHECK-NEXT: %[[J:.*]] = nv_tileaa.join_mem_token %[[T]]#0, %[[T]]#1
    // CHECK-NEXT: nv_tileas.register_loop 8
    // CHECK-NEXT: ^bb0(%[[K:.*]]: i32):
    // CHECK-NEXT: %[[Y:.*]] = nv_tileas.array_load %[[A]][%[[K]]]
    // CHECK-NEXT: nv_tileas.tiled_store <weak> %[[Y]], {{.*}} token %[[J]]
    %t0 = nv_tileaa.create_mem_token
    %x, %t1 = nv_tileas.tiled_load <weak> %v[%i] token %t0 vector 4 bounds <none> : !view[i32] -> !t
    %z, %t2 = nv_tileas.tiled_load <weak> %w[%i] token %t0 vector 4 bounds <none> : !view[i32] -> !t
    %t3 = nv_tileaa.join_mem_token %t1, %t2
    %t4 = nv_tileas.tiled_store <weak> %x, %w[%i] token %t3 vector 4 bounds <none> : !t, !view[i32]
    nv_tileaa.return
  }

  // Loads that depend on each other's tokens share a loop, together with a join between them.
  // CHECK-LABEL: @joined
  nv_tileaa.func @joined(%v: !view, %w: !view, %i: i32) attributes {numWarps = 1 : i64} {
    // CHECK: nv_tileas.register_loop 8
    // CHECK: nv_tileas.tiled_load
    // CHECK-NEXT: %[[J:.*]] = nv_tileaa.join_mem_token
    // CHECK-NEXT: nv_tileas.tiled_load {{.*}} token %[[J]]
    // CHECK-NOT: nv_tileas.register_loop
    // CHECK: nv_tileaa.return
    %t0 = nv_tileaa.create_mem_token
    %x, %t1 = nv_tileas.tiled_load <weak> %v[%i] token %t0 vector 4 bounds <none> : !view[i32] -> !t
    %t2 = nv_tileaa.join_mem_token %t0, %t1
    %z, %t3 = nv_tileas.tiled_load <weak> %w[%i] token %t2 vector 4 bounds <none> : !view[i32] -> !t
    %y = arith.addf %x, %z : !t
    %t4 = nv_tileas.tiled_store <weak> %y, %v[%i] vector 4 bounds <none> : !t, !view[i32]
    nv_tileaa.return
  }

  // Cheap ops are computed in every loop that uses them.
  // CHECK-LABEL: @lazy
  nv_tileaa.func @lazy(%v: !view, %i: i32, %f: f32) attributes {numWarps = 1 : i64} {
    // CHECK: nv_tileas.register_loop
    // CHECK: nv_tileas.splat
    // CHECK: nv_tileas.register_loop
    // CHECK: nv_tileas.tiled_load
    // CHECK-NEXT: nv_tileas.splat
    // CHECK-NEXT: arith.addf
    %c = nv_tileas.splat %f : f32 -> !t
    %t0 = nv_tileas.tiled_store <weak> %c, %v[%i] vector 4 bounds <none> : !t, !view[i32]
    %x, %t1 = nv_tileas.tiled_load <weak> %v[%i] token %t0 vector 4 bounds <none> : !view[i32] -> !t
    %y = arith.addf %x, %c : !t
    %t2 = nv_tileas.tiled_store <weak> %y, %v[%i] token %t1 vector 4 bounds <none> : !t, !view[i32]
    nv_tileaa.return
  }

  // A loop-carried tensor is an array whose slices are replaced in place. Other carried values are unchanged.
  // CHECK-LABEL: @carried
  nv_tileaa.func @carried(%v: !view, %p: !part, %i: i32, %n: i32, %f: f32) attributes {numWarps = 1 : i64} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    // CHECK: %[[A:.*]] = nv_tileas.alloc_array slot 0
    // CHECK-NEXT: nv_tileas.register_loop 8
    // CHECK-NEXT: ^bb0(%[[K:.*]]: i32):
    // CHECK-NEXT: %[[Z:.*]] = nv_tileas.splat
    // CHECK-NEXT: nv_tileas.array_store %[[Z]], %[[A]][%[[K]]]
    // CHECK: scf.for %[[I:.*]] = {{.*}} iter_args(%[[B:.*]] = %{{.*}}) -> (f32)
    // CHECK-NEXT: %[[X:[a-z0-9_]+]], %{{.*}} = nv_tileas.tiled_load
    // CHECK-NEXT: nv_tileas.array_insert %[[X]] into %[[A]][%[[I]]]
    // CHECK-NEXT: %[[H:.*]] = arith.addf %[[B]], %[[B]] : f32
    // CHECK-NEXT: scf.yield %[[H]] : f32
    %z = nv_tileas.splat %f : f32 -> !t
    %r, %g = scf.for %k = %c0 to %n step %c1 iter_args(%a = %z, %b = %f) -> (!t, f32) : i32 {
      %x, %t1 = nv_tileas.tiled_load <weak> %p[%k] vector 4 bounds <none> : !part[i32] -> !s
      %y = nv_tileas.insert_slice %x into %a[%k] : !s into !t
      %h = arith.addf %b, %b : f32
      scf.yield %y, %h : !t, f32
    }
    // CHECK: nv_tileas.gather_registers %[[A]] slice[%{{.*}}]
    // CHECK: nv_tileas.register_loop
    // CHECK: nv_tileas.array_load %[[A]][%{{.*}}]
    %q = nv_tileas.extract_slice %r[%i] : !t -> !s
    %t2 = nv_tileas.tiled_store <weak> %q, %p[%i] vector 4 bounds <none> : !s, !part[i32]
    %t3 = nv_tileas.tiled_store <weak> %r, %v[%i] vector 4 bounds <none> : !t, !view[i32]
    nv_tileaa.return
  }

  // Tensors that a loop swaps are both read before either is written.
  // CHECK-LABEL: @swapped
  nv_tileaa.func @swapped(%v: !view, %n: i32, %f: f32, %g: f32) attributes {numWarps = 1 : i64} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %a = nv_tileas.splat %f : f32 -> !t
    %b = nv_tileas.splat %g : f32 -> !t
    // CHECK: %[[A:.*]] = nv_tileas.alloc_array slot 0
    // CHECK-NEXT: %[[B:.*]] = nv_tileas.alloc_array slot 1
    // CHECK: scf.for
    // CHECK-NEXT: nv_tileas.register_loop
    // CHECK-NEXT: ^bb0(%[[K:.*]]: i32):
    // CHECK-NEXT: %[[Y:.*]] = nv_tileas.array_load %[[B]][%[[K]]]
    // CHECK-NEXT: %[[X:.*]] = nv_tileas.array_load %[[A]][%[[K]]]
    // CHECK-NEXT: nv_tileas.array_store %[[Y]], %[[A]][%[[K]]]
    // CHECK-NEXT: nv_tileas.array_store %[[X]], %[[B]][%[[K]]]
    %r:2 = scf.for %k = %c0 to %n step %c1 iter_args(%x = %a, %y = %b) -> (!t, !t) : i32 {
      scf.yield %y, %x : !t, !t
    }
    %t3 = nv_tileas.tiled_store <weak> %r#0, %v[%c0] vector 4 bounds <none> : !t, !view[i32]
    nv_tileaa.return
  }

  // Both branches write the array of the result.
  // CHECK-LABEL: @branch
  nv_tileaa.func @branch(%v: !view, %c: i1, %i: i32) attributes {numWarps = 1 : i64} {
    // CHECK: %[[X:.*]] = nv_tileas.alloc_array slot 0
    // CHECK: %[[R:.*]] = nv_tileas.alloc_array slot 1
    // CHECK-NEXT: scf.if %{{.*}} {
    // CHECK: math.exp2
    // CHECK: nv_tileas.array_store %{{.*}}, %[[R]][
    // CHECK: } else {
    // CHECK: nv_tileas.array_load %[[X]][
    // CHECK-NEXT: nv_tileas.array_store %{{.*}}, %[[R]][
    // CHECK: nv_tileas.array_load %[[R]][
    %x, %t1 = nv_tileas.tiled_load <weak> %v[%i] vector 4 bounds <none> : !view[i32] -> !t
    %r = scf.if %c -> (!t) {
      %y = math.exp2 %x : !t
      scf.yield %y : !t
    } else {
      scf.yield %x : !t
    }
    %t3 = nv_tileas.tiled_store <weak> %r, %v[%i] vector 4 bounds <none> : !t, !view[i32]
    nv_tileaa.return
  }

  // CHECK-LABEL: @until
  nv_tileaa.func @until(%v: !view, %i: i32, %f: f32) attributes {numWarps = 1 : i64} {
    %z = nv_tileas.splat %f : f32 -> !t
    // CHECK: %[[A:.*]] = nv_tileas.alloc_array slot 0
    // CHECK-NEXT: %[[R:.*]] = nv_tileas.alloc_array slot 1
    // CHECK: %{{.*}} = scf.while (%[[J:.*]] = %{{.*}}) : (i32) -> i32 {
    // CHECK: nv_tileas.array_load %[[A]][
    // CHECK-NEXT: nv_tileas.array_store %{{.*}}, %[[R]][
    // CHECK: scf.condition(%{{.*}}) %[[J]] : i32
    // CHECK: nv_tileas.array_load %[[R]][
    // CHECK: math.exp2
    // CHECK: scf.yield %{{.*}} : i32
    %r:2 = scf.while (%x = %z, %j = %i) : (!t, i32) -> (!t, i32) {
      %more = arith.cmpi slt, %j, %i : i32
      scf.condition(%more) %x, %j : !t, i32
    } do {
    ^bb0(%x: !t, %j: i32):
      %y = math.exp2 %x : !t
      scf.yield %y, %j : !t, i32
    }
    %t3 = nv_tileas.tiled_store <weak> %r#0, %v[%i] vector 4 bounds <none> : !t, !view[i32]
    nv_tileaa.return
  }

  // Arrays that are not live at the same time share a slot.
  // CHECK-LABEL: @reused
  nv_tileaa.func @reused(%v: !view, %i: i32) attributes {numWarps = 1 : i64} {
    // CHECK: alloc_array slot 0
    // CHECK-NOT: alloc_array slot 1
    // CHECK: alloc_array slot 0
    // CHECK-NOT: alloc_array slot 1
    // CHECK: nv_tileaa.return
    %x, %t1 = nv_tileas.tiled_load <weak> %v[%i] vector 4 bounds <none> : !view[i32] -> !t
    %t2 = nv_tileas.tiled_store <weak> %x, %v[%i] token %t1 vector 4 bounds <none> : !t, !view[i32]
    %y, %t3 = nv_tileas.tiled_load <weak> %v[%i] token %t2 vector 4 bounds <none> : !view[i32] -> !t
    %t4 = nv_tileas.tiled_store <weak> %y, %v[%i] token %t3 vector 4 bounds <none> : !t, !view[i32]
    nv_tileaa.return
  }

  // Permuted registers are read from an array, at an index that is a linear function of the chunk.
  // CHECK-LABEL: @renamed
  nv_tileaa.func @renamed(%v: !view, %i: i32) attributes {numWarps = 1 : i64} {
    // CHECK: %[[A:.*]] = nv_tileas.alloc_array slot 0
    // CHECK: nv_tileas.array_store %{{.*}}, %[[A]]
    // CHECK: nv_tileas.register_loop 8
    // CHECK-NEXT: ^bb0(%[[K:.*]]: i32):
    // CHECK-NEXT: %[[Y:.*]] = nv_tileas.gather_registers %[[A]] chunk %[[K]] : {{.*}} -> tensor<8192xf32, #nv_tileas.layout<register = [128, 256, 512, 1024, 2048], lane = [4, 8, 16, 32, 64], warp = [4096, 1, 2]>>
    // CHECK-NEXT: nv_tileas.tiled_store <weak> %[[Y]]
    %x, %t1 = nv_tileas.tiled_load <weak> %v[%i] vector 4 bounds <none> : !view[i32] -> !t
    %y = nv_tileas.convert_layout %x : !t -> !u
    %t3 = nv_tileas.tiled_store <weak> %y, %v[%i] vector 1 bounds <none> : !u, !view[i32]
    nv_tileaa.return
  }

  // CHECK-LABEL: @halves
  nv_tileaa.func @halves(%p: !half, %v: !view, %i: i32) attributes {numWarps = 1 : i64} {
    // Tensors of 128 registers fit, but a chunk takes a part of them.
    // CHECK: %[[X:[a-z0-9_]+]], %{{.*}} = nv_tileas.tiled_load
    // CHECK-NEXT: %[[A:.*]] = nv_tileas.alloc_array slot 0
    // CHECK-NEXT: nv_tileas.array_store %[[X]], %[[A]] :
    // CHECK-NEXT: nv_tileas.register_loop 8
    // CHECK: nv_tileas.array_cat %[[A]], %[[A]], 0 chunk
    %x, %t1 = nv_tileas.tiled_load <weak> %p[%i] vector 4 bounds <none> : !half[i32] -> !h
    %y = nv_tileas.cat %x, %x, 0 : !h -> !t
    %t3 = nv_tileas.tiled_store <weak> %y, %v[%i] vector 4 bounds <none> : !t, !view[i32]
    nv_tileaa.return
  }

  // CHECK-LABEL: @exchanged
  nv_tileaa.func @exchanged(%v: !view, %i: i32) attributes {numWarps = 1 : i64} {
    // CHECK: %[[A:.*]] = nv_tileas.alloc_array slot 0
    // CHECK: %[[M:.*]] = nv_tileas.alloc_tensor
    // CHECK-NEXT: %[[B:.*]] = nv_tileas.alloc_array slot 1
    // CHECK-NEXT: nv_tileas.array_exchange %[[A]] into %[[B]], %[[M]]
    // CHECK: nv_tileas.array_load %[[B]]
    %x, %t1 = nv_tileas.tiled_load <weak> %v[%i] vector 4 bounds <none> : !view[i32] -> !t
    %m = nv_tileas.alloc_tensor offset 0 : !scratch
    %y = nv_tileas.exchange %x, %m : !t, !scratch -> !u
    %t3 = nv_tileas.tiled_store <weak> %y, %v[%i] vector 1 bounds <none> : !u, !view[i32]
    nv_tileaa.return
  }

  // Small tensors are exchanged through arrays too, and are loaded back to registers.
  // CHECK-LABEL: @small_exchange
  nv_tileaa.func @small_exchange(%p: !part, %i: i32) attributes {numWarps = 1 : i64} {
    // CHECK: %[[X:[a-z0-9_]+]], %{{.*}} = nv_tileas.tiled_load
    // CHECK: %[[A:.*]] = nv_tileas.alloc_array slot 0
    // CHECK-NEXT: nv_tileas.array_store %[[X]], %[[A]] :
    // CHECK-NEXT: %[[B:.*]] = nv_tileas.alloc_array slot 1
    // CHECK-NEXT: nv_tileas.array_exchange %[[A]] into %[[B]]
    // CHECK-NEXT: %[[Y:.*]] = nv_tileas.array_load %[[B]] :
    // CHECK-NEXT: nv_tileas.tiled_store <weak> %[[Y]]
    %x, %t1 = nv_tileas.tiled_load <weak> %p[%i] vector 4 bounds <none> : !part[i32] -> !s
    %m = nv_tileas.alloc_tensor offset 0 : !scratch
    %y = nv_tileas.exchange %x, %m : !s, !scratch -> tensor<1024xf32, #nv_tileas.layout<register = [128, 256, 512, 1, 2], lane = [4, 8, 16, 32, 64], warp = []>>
    %t3 = nv_tileas.tiled_store <weak> %y, %p[%i] vector 1 bounds <none> : tensor<1024xf32, #nv_tileas.layout<register = [128, 256, 512, 1, 2], lane = [4, 8, 16, 32, 64], warp = []>>, !part[i32]
    nv_tileaa.return
  }

  // CHECK-LABEL: @printed
  nv_tileaa.func @printed(%f: f32) attributes {numWarps = 1 : i64} {
    // CHECK: %[[A:.*]] = nv_tileas.alloc_array slot 0
    // CHECK: nv_tileas.print "%f", %[[A]] : !nv_tileas.register_array<
    %x = nv_tileas.splat %f : f32 -> !t
    %m = nv_tileas.alloc_tensor offset 0 : !scratch
    %t3 = nv_tileas.print "%f", %x : !t scratch %m : !scratch
    nv_tileaa.return
  }
}
