// arch: sm_100a
// The same tile, for swizzles that move larger units than 16 bytes.
#include "tma_swizzle.cu"
