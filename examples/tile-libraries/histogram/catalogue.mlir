// All threads of the CTA have eight values each. The counts are in shared memory.
cuda_tile.module @histogram {
  preview$extern_impl @count_bytes implements @histogram (
      %values: preview$fragment<8xi32, local, mem_layout = <(8):(1)>, fragmap = <(1, 128, 8):(0, 1, 128)>>
          {cuda_tile.preview$access = #cuda_tile<preview$access<in>>},
      %counts: preview$fragment<256xi32, smem, mem_layout = <(256):(1)>, fragmap = <(1, 128, 256):(0, 0, 1)>>
          {cuda_tile.preview$access = #cuda_tile<preview$access<out>>})
      synchronization = #cuda_tile<preview$synchronization<cta>>
}
