#l = #nv_tileas.layout<register = [1, 2, 512], lane = [4, 8, 16, 32, 64], warp = [128, 256]>
#small = #nv_tileas.layout<register = [1], lane = [2, 4, 8, 16, 32], warp = [64, 128]>
#tiny = #nv_tileas.layout<register = [], lane = [1, 2, 4, 8, 16], warp = [0, 0]>
gpu.module @kernels {
  nv_tileaa.func @signature(%p: !nv_tileaa.ptr<f32>, %n: i32, %x: f16) attributes {numWarps = 4 : i64} {
    %q = nv_tileaa.assume #cuda_tile.div_by<16>, %p : !nv_tileaa.ptr<f32>
    nv_tileaa.return
  }
  nv_tileaa.func @program(%p: !nv_tileaa.ptr<i32>) attributes {numWarps = 1 : i64} {
    %x, %y, %z = nv_tileaa.get_program_id
    %a, %b, %c = nv_tileaa.get_num_programs
    %s = arith.addi %y, %b : i32
    %t = nv_tileas.store <weak> %p, %s vector 1 : !nv_tileaa.ptr<i32>, i32
    nv_tileaa.return
  }
  nv_tileaa.func @range(%n: i32) attributes {numWarps = 4 : i64} {
    %r = nv_tileas.make_range : tensor<256xi32, #small>
    %s = nv_tileas.splat %n : i32 -> tensor<256xi32, #small>
    %a = arith.addi %r, %s : tensor<256xi32, #small>
    %k = arith.cmpi slt, %a, %s : tensor<256xi32, #small>
    %m = arith.select %k, %a, %s : tensor<256xi1, #small>, tensor<256xi32, #small>
    nv_tileaa.return
  }
  nv_tileaa.func @floats(%x: f32) attributes {numWarps = 4 : i64} {
    %c = arith.constant dense<2.0> : tensor<256xf32, #small>
    %v = nv_tileas.splat %x : f32 -> tensor<256xf32, #small>
    %a = arith.addf %v, %c : tensor<256xf32, #small>
    %b = nv_tileaa.fp <mul> %a, %c rounding <zero> ftz : tensor<256xf32, #small>
    %h = arith.truncf %b : tensor<256xf32, #small> to tensor<256xf16, #small>
    %i = nv_tileaa.bitcast %h : tensor<256xf16, #small> -> tensor<256xi16, #small>
    nv_tileaa.return
  }
  nv_tileaa.func @dense() attributes {numWarps = 4 : i64} {
    %c = arith.constant dense<[0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233, 377, 610, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7]> : tensor<32xi32, #tiny>
    %d = arith.addi %c, %c : tensor<32xi32, #tiny>
    nv_tileaa.return
  }
}
