#l = #nv_tileas.layout<register = [1, 2, 512], lane = [4, 8, 16, 32, 64], warp = [128, 256]>
#small = #nv_tileas.layout<register = [1], lane = [2, 4, 8, 16, 32], warp = [64, 128]>
#tiny = #nv_tileas.layout<register = [], lane = [1, 2, 4, 8, 16], warp = [0, 0]>
#columns = #nv_tileas.layout<register = [64], lane = [1, 2, 4, 8, 16], warp = [32, 128]>
#s = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64, 128]>
gpu.module @kernels {
  nv_tileaa.func @exchange(%x: f32) attributes {numWarps = 4 : i64} {
    %v = nv_tileas.splat %x : f32 -> tensor<256xf32, #small>
    %a = nv_tileas.alloc_tensor offset 512 : !nv_tileas.memdesc<256xf32, #s>
    nv_tileas.local_store %v, %a vector 2 : tensor<256xf32, #small>, !nv_tileas.memdesc<256xf32, #s>
    nv_tileas.barrier
    %w = nv_tileas.local_load %a vector 1 : !nv_tileas.memdesc<256xf32, #s> -> tensor<256xf32, #columns>
    nv_tileaa.return
  }
}
