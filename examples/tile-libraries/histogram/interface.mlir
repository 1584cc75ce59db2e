// Counts how often each number from 0 to 255 occurs among the low bytes of the values.
cuda_tile.module @histogram {
  preview$func extern @histogram(
      %values: tile<1024xi32> {cuda_tile.preview$access = #cuda_tile<preview$access<in>>},
      %counts: tile<256xi32> {cuda_tile.preview$access = #cuda_tile<preview$access<out>>}) -> tile<256xi32>
}
