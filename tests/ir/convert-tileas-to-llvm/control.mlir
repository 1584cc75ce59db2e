#l = #nv_tileas.layout<register = [1, 2, 512], lane = [4, 8, 16, 32, 64], warp = [128, 256]>
#small = #nv_tileas.layout<register = [1], lane = [2, 4, 8, 16, 32], warp = [64, 128]>
#tiny = #nv_tileas.layout<register = [], lane = [1, 2, 4, 8, 16], warp = [0, 0]>
gpu.module @kernels {
  nv_tileaa.func @for(%n: i32, %x: f32) attributes {numWarps = 4 : i64} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %v = nv_tileas.splat %x : f32 -> tensor<256xf32, #small>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %v) -> (tensor<256xf32, #small>) : i32 {
      %s = arith.addf %a, %v : tensor<256xf32, #small>
      scf.yield %s : tensor<256xf32, #small>
    }
    nv_tileaa.return
  }
  nv_tileaa.func @if(%c: i1, %p: !nv_tileaa.ptr<i32>) attributes {numWarps = 4 : i64} {
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %r = scf.if %c -> (i32) {
      scf.yield %c1 : i32
    } else {
      scf.yield %c2 : i32
    }
    %t = nv_tileas.store <weak> %p, %r vector 1 : !nv_tileaa.ptr<i32>, i32
    nv_tileaa.return
  }
  nv_tileaa.func @while(%n: i32) attributes {numWarps = 4 : i64} {
    %r = scf.while (%a = %n) : (i32) -> i32 {
      %c1 = arith.constant 1 : i32
      %k = arith.cmpi sgt, %a, %c1 : i32
      scf.condition(%k) %a : i32
    } do {
    ^bb0(%a: i32):
      %c1 = arith.constant 1 : i32
      %s = arith.shrsi %a, %c1 : i32
      scf.yield %s : i32
    }
    nv_tileaa.return
  }
}
