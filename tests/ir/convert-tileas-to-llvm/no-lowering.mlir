// RUN: tileiras-opt %s --split-input-file --pass-pipeline='builtin.module(tileas-materialize-convert-layout,convert-tileas-to-llvm)' --verify-diagnostics

// Ops without a lowering say so at their place.
gpu.module @kernels {
  nv_tileaa.func @f(%x: i32) -> i32 attributes {numWarps = 1 : i64} {
    // expected-error @below {{a function with results has no lowering to LLVM: it is no kernel}}
    nv_tileaa.return %x : i32
  }
}
// -----
gpu.module @kernels {
  nv_tileaa.func @f() attributes {numWarps = 1 : i64} {
    // expected-error @below {{'nv_tileaa.call' has no lowering to LLVM}}
    nv_tileaa.call @f() : () -> ()
    nv_tileaa.return
  }
}
// -----
gpu.module @kernels {
  nv_tileaa.func @f() attributes {numWarps = 1 : i64} {
    // expected-error @below {{'nv_tileaa.cancel_next_program_id' has no lowering to LLVM}}
    %x, %y, %z = nv_tileaa.cancel_next_program_id
    nv_tileaa.return
  }
}
// -----
gpu.module @kernels {
  nv_tileaa.func @f() attributes {numWarps = 1 : i64} {
    // expected-error @below {{'nv_tileaa.create_queue' has no lowering to LLVM}}
    %q = nv_tileaa.create_queue : !nv_tileaa.queue<depth = 1, i32>
    nv_tileaa.return
  }
}
// -----
gpu.module @kernels {
  nv_tileaa.func @f() attributes {numWarps = 1 : i64} {
    // expected-error @below {{'nv_tileaa.pragma' has no lowering to LLVM}}
    nv_tileaa.pragma "unroll" = 4 : i64
    nv_tileaa.return
  }
}
// -----
#l = #nv_tileas.layout<register = [], lane = [1, 2, 4, 8, 16], warp = []>
#s = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16]>
gpu.module @kernels {
  nv_tileaa.func @f(%i: i32) attributes {numWarps = 1 : i64} {
    %x = nv_tileas.splat %i : i32 -> tensor<32xi32, #l>
    %a = nv_tileas.alloc_tensor offset 0 : !nv_tileas.memdesc<32xi32, #s, space = tensor>
    // expected-error @below {{a copy from or to tensor memory has no lowering}}
    nv_tileas.copy %x into %a : tensor<32xi32, #l> into !nv_tileas.memdesc<32xi32, #s, space = tensor>
    nv_tileaa.return
  }
}
// -----
#s = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16]>
gpu.module @kernels {
  nv_tileaa.func @f() attributes {numWarps = 1 : i64} {
    // expected-error @below {{tensor memory has no lowering}}
    %a = nv_tileas.alloc_tensor offset 0 : !nv_tileas.memdesc<32xi32, #s, space = tensor>
    nv_tileaa.return
  }
}
// -----
#l = #nv_tileas.layout<register = [], lane = [1, 2, 4, 8, 16], warp = []>
gpu.module @kernels {
  nv_tileaa.func @f(%p: !nv_tileaa.ptr<i32>) attributes {numWarps = 1 : i64} {
    %x = nv_tileas.make_range : tensor<32xi32, #l>
    // expected-error @below {{'nv_tileas.gather_load' is lowered by tileas-assign-load-store-layouts}}
    %y, %t = nv_tileas.gather_load <weak> %p[%x] : !nv_tileaa.ptr<i32>[tensor<32xi32, #l>] -> tensor<32xi32, #l>
    nv_tileaa.return
  }
}
// -----
// A launch is the host's: the wrapper of a kernel makes it.
nv_tileaa.func @f(%n: i32) attributes {numWarps = 1 : i64} {
  // expected-error @below {{'nv_tileaa.launch_func' has no lowering to LLVM}}
  nv_tileaa.launch_func @other::@k grid(%n, %n, %n)
  nv_tileaa.return
}
gpu.module @other {
  nv_tileaa.func @k() attributes {numWarps = 1 : i64} {
    nv_tileaa.return
  }
}
