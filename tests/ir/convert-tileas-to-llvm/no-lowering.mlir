// RUN: tileiras-opt %s --split-input-file --pass-pipeline='builtin.module(tileas-materialize-convert-layout,convert-tileas-to-llvm)' --verify-diagnostics

// Ops without a lowering cause an error at the op.
gpu.module @kernels {
  nv_tileaa.func @f(%x: i32) -> i32 attributes {numWarps = 1 : i64} {
    // expected-error @below {{a function with results has no lowering to LLVM: it is not a kernel}}
    nv_tileaa.return %x : i32
  }
}
// -----
#l = #nv_tileas.layout<register = [32, 64], lane = [1, 2, 4, 8, 16], warp = []>
#s = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64]>
gpu.module @kernels {
  nv_tileaa.func @f(%i: i32) attributes {numWarps = 1 : i64} {
    %x = nv_tileas.splat %i : i32 -> tensor<128xi32, #l>
    %a = nv_tileas.alloc_tensor offset 0 : !nv_tileas.memdesc<128xi32, #s, space = tensor>
    // expected-error @below {{a copy from or to tensor memory has no lowering}}
    nv_tileas.copy %x into %a : tensor<128xi32, #l> into !nv_tileas.memdesc<128xi32, #s, space = tensor>
    nv_tileaa.return
  }
}
// -----
#s = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64]>
gpu.module @kernels {
  nv_tileaa.func @f() attributes {numWarps = 1 : i64} {
    // expected-error @below {{no tensor memory is allocated before}}
    %a = nv_tileas.alloc_tensor offset 0 : !nv_tileas.memdesc<128xi32, #s, space = tensor>
    nv_tileaa.return
  }
}
// -----
#l = #nv_tileas.layout<register = [], lane = [1, 2, 4, 8, 16], warp = []>
gpu.module @kernels {
  nv_tileaa.func @f(%p: !nv_tileaa.ptr<i32>) attributes {numWarps = 1 : i64} {
    %x = nv_tileas.make_range : tensor<32xi32, #l>
    // expected-error @below {{'nv_tileas.gather_load' must be lowered first; run tileas-assign-load-store-layouts}}
    %y, %t = nv_tileas.gather_load <weak> %p[%x] : !nv_tileaa.ptr<i32>[tensor<32xi32, #l>] -> tensor<32xi32, #l>
    nv_tileaa.return
  }
}
// -----
#c = #nv_tileas.layout<register = [1, 64], lane = [2, 4, 8, 16, 32], warp = []>
#a = #nv_tileas.layout<register = [1, 2, 512, 16, 32], lane = [4, 8, 64, 128, 256], warp = []>
#b = #nv_tileas.layout<register = [8, 16, 128, 256], lane = [32, 64, 1, 2, 4], warp = []>
#s = #nv_tileas.layout<register = [], lane = [8, 0, 1, 2, 4], warp = []>
#t = #nv_tileas.layout<register = [], lane = [0, 0, 1, 2, 4], warp = []>
gpu.module @kernels {
  nv_tileaa.func @f(%p: f8E5M2, %q: f8E8M0FNU, %r: f32) attributes {numWarps = 1 : i64} {
    %x = nv_tileas.splat %p : f8E5M2 -> tensor<16x64xf8E5M2, #a>
    %y = nv_tileas.splat %p : f8E5M2 -> tensor<64x8xf8E5M2, #b>
    %u = nv_tileas.splat %q : f8E8M0FNU -> tensor<16x1xf8E8M0FNU, #s>
    %v = nv_tileas.splat %q : f8E8M0FNU -> tensor<1x8xf8E8M0FNU, #t>
    %z = nv_tileas.splat %r : f32 -> tensor<16x8xf32, #c>
    // expected-error @below {{no instruction supports these elements with scales of these blocks}}
    %0 = nv_tileas.block_scaled_mma %x scale %u, %y scale %v, %z by <block_scale, [16, 8, 32]> : tensor<16x64xf8E5M2, #a>, tensor<16x1xf8E8M0FNU, #s>, tensor<64x8xf8E5M2, #b>, tensor<1x8xf8E8M0FNU, #t>, tensor<16x8xf32, #c>
    nv_tileaa.return
  }
}
