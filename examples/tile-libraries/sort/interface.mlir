// Sorts each row of a tile of keys in ascending order.
cuda_tile.module @sort {
  preview$func extern @sort_rows(
      %keys: tile<4x32xi32> {cuda_tile.preview$access = #cuda_tile<preview$access<inout>>}) -> tile<4x32xi32>
}
