// Four random words for each counter, under a key of two words.
cuda_tile.module @philox {
  preview$func extern @philox(
      %counter: tile<128xi32> {cuda_tile.preview$access = #cuda_tile<preview$access<in>>},
      %key: tile<2xi32> {cuda_tile.preview$access = #cuda_tile<preview$access<in>>},
      %words: tile<512xi32> {cuda_tile.preview$access = #cuda_tile<preview$access<out>>}) -> tile<512xi32>
}
