#rows = #nv_tileas.layout<register = [1, 2, 512], lane = [4, 8, 16, 32, 64], warp = [128, 256]>
#swapped = #nv_tileas.layout<register = [2, 1, 512], lane = [4, 8, 16, 32, 64], warp = [128, 256]>
#columns = #nv_tileas.layout<register = [32, 64, 16], lane = [128, 256, 512, 1, 2], warp = [4, 8]>
nv_tileaa.func @registers(%x: f32) attributes {numWarps = 4 : i64} {
  %a = nv_tileas.splat %x : f32 -> tensor<32x32xf32, #rows>
  %b = nv_tileas.convert_layout %a : tensor<32x32xf32, #rows> -> tensor<32x32xf32, #swapped>
  nv_tileaa.return
}
nv_tileaa.func @first(%x: f32) attributes {numWarps = 4 : i64} {
  %a = nv_tileas.splat %x : f32 -> tensor<32x32xf32, #rows>
  %b = nv_tileas.convert_layout %a : tensor<32x32xf32, #rows> -> tensor<32x32xf32, #columns>
  %c = arith.negf %b : tensor<32x32xf32, #columns>
  %d = nv_tileas.convert_layout %c : tensor<32x32xf32, #columns> -> tensor<32x32xf32, #rows>
  nv_tileaa.return
}
nv_tileaa.func @in_a_loop(%x: f32, %n: i32) attributes {numWarps = 4 : i64} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %i = %c0 to %n step %c1 : i32 {
    %a = nv_tileas.splat %x : f32 -> tensor<32x32xf32, #rows>
    %b = nv_tileas.convert_layout %a : tensor<32x32xf32, #rows> -> tensor<32x32xf32, #columns>
  }
  nv_tileaa.return
}
