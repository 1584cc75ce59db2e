#l = #nv_tileas.layout<register = [1, 2, 512], lane = [4, 8, 16, 32, 64], warp = [128, 256]>
#small = #nv_tileas.layout<register = [1], lane = [2, 4, 8, 16, 32], warp = [64, 128]>
#tiny = #nv_tileas.layout<register = [], lane = [1, 2, 4, 8, 16], warp = [0, 0]>
gpu.module @kernels {
  nv_tileaa.func @masked(%p: !nv_tileaa.ptr<f32>, %n: i32, %x: f32) attributes {numWarps = 4 : i64} {
    %b = nv_tileas.splat %p : !nv_tileaa.ptr<f32> -> tensor<256x!nv_tileaa.ptr<f32>, #small>
    %r = nv_tileas.make_range : tensor<256xi32, #small>
    %s = nv_tileas.splat %n : i32 -> tensor<256xi32, #small>
    %k = arith.cmpi slt, %r, %s : tensor<256xi32, #small>
    %a = nv_tileaa.addptr %b, %r : tensor<256x!nv_tileaa.ptr<f32>, #small>, tensor<256xi32, #small>
    %o = nv_tileas.splat %x : f32 -> tensor<256xf32, #small>
    %v, %t1 = nv_tileas.load <weak> %a mask %k : tensor<256xi1, #small> other %o : tensor<256xf32, #small> vector 1 : tensor<256x!nv_tileaa.ptr<f32>, #small> -> tensor<256xf32, #small>
    %t2 = nv_tileas.store <weak> %a, %v mask %k : tensor<256xi1, #small> vector 2 : tensor<256x!nv_tileaa.ptr<f32>, #small>, tensor<256xf32, #small>
    nv_tileaa.return
  }
  nv_tileaa.func @ordered(%p: !nv_tileaa.ptr<i32>, %v: i32) attributes {numWarps = 4 : i64} {
    %x, %t1 = nv_tileas.load <acquire> scope <device> %p vector 1 : !nv_tileaa.ptr<i32> -> i32
    %t2 = nv_tileas.store <release> scope <system> %p, %x token %t1 vector 1 : !nv_tileaa.ptr<i32>, i32
    nv_tileaa.return
  }
}
