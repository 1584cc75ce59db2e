// RUN: tileiras-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(convert-tileas-to-llvm)'
gpu.module @kernels {
  // expected-error @+1 {{function has no numWarps; run convert-tileaa-to-tileas first}}
  nv_tileaa.func @no_warps() {
    nv_tileaa.return
  }
}

// -----

gpu.module @kernels {
  nv_tileaa.func @unknown() attributes {numWarps = 4 : i64} {
    // expected-error @+1 {{'nv_tileaa.make_range' has no lowering to LLVM}}
    %r = nv_tileaa.make_range : tensor<32xi32>
    nv_tileaa.return
  }
}

// -----

gpu.module @kernels {
  nv_tileaa.func @no_layout(%c: i32) attributes {numWarps = 4 : i64} {
    // expected-error @+1 {{tensor has no layout}}
    %a = arith.constant dense<1> : tensor<32xi32>
    %b = arith.addi %a, %a : tensor<32xi32>
    nv_tileaa.return
  }
}

// -----

gpu.module @kernels {
  nv_tileaa.func @scalar(%p: !nv_tileaa.ptr<i32>) attributes {numWarps = 4 : i64} {
    // expected-error @+1 {{a scalar load must be weak: threads could read different values}}
    %x, %t = nv_tileas.load <acquire> scope <device> %p vector 1 : !nv_tileaa.ptr<i32> -> i32
    nv_tileaa.return
  }
}

// -----

#one = #nv_tileas.layout<register = [], lane = [0, 0, 0, 0, 0], warp = [0, 0]>
gpu.module @kernels {
  nv_tileaa.func @copies(%x: i32) attributes {numWarps = 4 : i64} {
    %s = nv_tileas.splat %x : i32 -> tensor<1xi32, #one>
    // expected-error @+1 {{copies are in other warps; run tileas-materialize-convert-layout first}}
    %r = nv_tileas.replicate %s : tensor<1xi32, #one>
    nv_tileaa.return
  }
}

// -----

#one = #nv_tileas.layout<register = [], lane = [0, 0, 0, 0, 0], warp = [0, 0]>
gpu.module @kernels {
  nv_tileaa.func @scratch(%x: i32) attributes {numWarps = 4 : i64} {
    %s = nv_tileas.splat %x : i32 -> tensor<1xi32, #one>
    // expected-error @+1 {{tensors need scratch; run tileas-materialize-convert-layout first}}
    %t = nv_tileas.print "%d", %s : tensor<1xi32, #one>
    nv_tileaa.return
  }
}

// -----

gpu.module @kernels {
  nv_tileaa.func @conversion(%x: i32) attributes {numWarps = 4 : i64} {
    // expected-error @+1 {{'%*' is not a supported conversion}}
    %t = nv_tileas.print "%*d", %x : i32
    nv_tileaa.return
  }
}

// -----

gpu.module @kernels {
  nv_tileaa.func @text(%x: i32) attributes {numWarps = 4 : i64} {
    // expected-error @+1 {{'%s' prints the string at a pointer, not i32}}
    %t = nv_tileas.print "%s", %x : i32
    nv_tileaa.return
  }
}

// -----

gpu.module @kernels {
  nv_tileaa.func @count(%x: i32) attributes {numWarps = 4 : i64} {
    // expected-error @+1 {{2 expressions, but 1 arguments}}
    %t = nv_tileas.print "%d %d", %x : i32
    nv_tileaa.return
  }
}
