// Thread i has counter i, both words of the key, and words 4 i to 4 i + 3.
cuda_tile.module @philox {
  preview$extern_impl @philox4x32 implements @philox (
      %counter: preview$fragment<1xi32, local, mem_layout = <(1):(1)>, fragmap = <(1, 128, 1):(0, 1, 0)>>
          {cuda_tile.preview$access = #cuda_tile<preview$access<in>>},
      %key: preview$fragment<2xi32, local, mem_layout = <(2):(1)>, fragmap = <(1, 128, 2):(0, 0, 1)>>
          {cuda_tile.preview$access = #cuda_tile<preview$access<in>>},
      %words: preview$fragment<4xi32, local, mem_layout = <(4):(1)>, fragmap = <(1, 128, 4):(0, 4, 1)>>
          {cuda_tile.preview$access = #cuda_tile<preview$access<out>>})
      synchronization = #cuda_tile<preview$synchronization<none>>
}
