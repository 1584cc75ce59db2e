// A warp sorts a row: lane c has the key of column c. Element (r, c) has the number r + 4 c.
cuda_tile.module @sort {
  preview$extern_impl @sort_row implements @sort_rows (
      %keys: preview$fragment<1xi32, local, mem_layout = <(1):(1)>, fragmap = <(4, 32, 1):(1, 4, 0)>>
          {cuda_tile.preview$access = #cuda_tile<preview$access<inout>>})
      synchronization = #cuda_tile<preview$synchronization<warp>>
}
