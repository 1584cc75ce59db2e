// RUN: tileiras-opt %s --pass-pipeline='builtin.module(convert-tileas-to-llvm{compute-capability=sm_100})' | FileCheck %s
// Kernels with accumulators in tensor memory compute pairs of f32 with one instruction; other kernels do not.
#m = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512]>
#l = #nv_tileas.layout<register = [1, 2, 4], lane = [8, 16, 32, 64, 128], warp = [256, 512]>
#row = #nv_tileas.layout<register = [], lane = [1, 2, 4, 8, 16], warp = [32, 64]>
!m = !nv_tileas.memdesc<128x8xf32, #m, space = tensor>
!slot = !nv_tileas.memdesc<1xi32, #nv_tileas.shared_layout<offset = []>>

gpu.module @m {
  // CHECK-LABEL: llvm.func @pairs
  // CHECK: "tcgen05.ld.sync.aligned.32x32b.x8.b32
  // CHECK-COUNT-4: llvm.inline_asm {{.*}}"{ .reg .b64 p0; mov.b64 p0, {$2, $3}; .reg .b64 p1; mov.b64 p1, {$4, $5}; .reg .b64 p2; mov.b64 p2, {$6, $7}; fma.rn.f32x2 p0, p0, p1, p2; mov.b64 {$0, $1}, p0; }", "=f,=f,f,f,f,f,f,f"
  // CHECK-COUNT-4: "{ .reg .b64 p0; mov.b64 p0, {$2, $3}; .reg .b64 p1; mov.b64 p1, {$4, $5}; mul.rn.f32x2 p0, p0, p1; mov.b64 {$0, $1}, p0; }", "=f,=f,f,f,f,f"
  // Directed rounding has no such instruction.
  // CHECK-COUNT-8: "llvm.nvvm.add.rp.f"
  // Sums in a thread stay as they are: pairs of partial sums would keep more values in registers.
  // CHECK-COUNT-7: llvm.fadd
  nv_tileaa.func @pairs(%x: f32) attributes {numWarps = 4 : i64} {
    %slot = nv_tileas.alloc_tensor offset 0 : !slot
    nv_tileas.tmem_allocate %slot columns 32 : !slot
    nv_tileas.barrier
    %s = nv_tileas.alloc_tensor offset 0 : !m
    %rows = nv_tileas.tmem_load %s : !m -> tensor<128x8xf32, #l>
    %factor = nv_tileas.splat %x : f32 -> tensor<128x8xf32, #l>
    %a = math.fma %rows, %factor, %rows : tensor<128x8xf32, #l>
    %b = arith.mulf %a, %rows : tensor<128x8xf32, #l>
    %c = nv_tileaa.fp <add> %b, %b rounding<positive_inf> : tensor<128x8xf32, #l>
    %sum = nv_tileas.reduce %c dim 1 identities [0.0 : f32] : tensor<128x8xf32, #l> -> tensor<128xf32, #row> {
    ^bb0(%p: f32, %q: f32):
      %y = arith.addf %p, %q : f32
      nv_tileas.yield %y : f32
    }
    %column = nv_tileas.view %sum : tensor<128xf32, #row> -> tensor<128x1xf32, #row>
    nv_tileas.tmem_scale %s by %column : !m, tensor<128x1xf32, #row>
    nv_tileas.tmem_free columns 32
    nv_tileaa.return
  }

  // CHECK-LABEL: llvm.func @single
  // CHECK-NOT: f32x2
  // CHECK-COUNT-8: llvm.fmul
  nv_tileaa.func @single(%x: f32, %out: !nv_tileaa.ptr<f32>) attributes {numWarps = 4 : i64} {
    %s = nv_tileas.splat %x : f32 -> tensor<128x8xf32, #l>
    %b = arith.mulf %s, %s : tensor<128x8xf32, #l>
    nv_tileaa.return
  }
}
