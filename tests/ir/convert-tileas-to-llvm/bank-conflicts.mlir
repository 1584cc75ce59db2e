// RUN: tileiras-opt %s --remarks --verify-diagnostics --pass-pipeline='builtin.module(convert-tileas-to-llvm)'

// Neighboring lanes read vectors that are 32 words apart, which are all in the same banks, and eight lanes take part
// in each pass. The vectors of #rows are in different banks. Outside loops, no remark is emitted.
#columns = #nv_tileas.layout<register = [1, 2, 4, 8, 16], lane = [32, 64, 128, 256, 512], warp = []>
#rows = #nv_tileas.layout<register = [32, 64, 128, 256, 512], lane = [1, 2, 4, 8, 16], warp = []>
#s = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512]>
gpu.module @kernels {
  nv_tileaa.func @walk(%x: f32, %n: i32) attributes {numWarps = 1 : i64} {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %v = nv_tileas.splat %x : f32 -> tensor<1024xf32, #rows>
    %a = nv_tileas.alloc_tensor offset 0 : !nv_tileas.memdesc<1024xf32, #s>
    nv_tileas.local_store %v, %a vector 1 : tensor<1024xf32, #rows>, !nv_tileas.memdesc<1024xf32, #s>
    nv_tileas.barrier
    %w = nv_tileas.local_load %a vector 1 : !nv_tileas.memdesc<1024xf32, #s> -> tensor<1024xf32, #columns>
    scf.for %i = %zero to %n step %one : i32 {
      // expected-remark @+1 {{BankConflicts: 8-way bank conflict in shared memory: each access takes 8 passes}}
      %y = nv_tileas.local_load %a vector 1 : !nv_tileas.memdesc<1024xf32, #s> -> tensor<1024xf32, #columns>
      %z = nv_tileas.local_load %a vector 1 : !nv_tileas.memdesc<1024xf32, #s> -> tensor<1024xf32, #rows>
    }
    nv_tileaa.return
  }
}
