// arch: sm_90a
// A store that is clipped at the border.
#include "common.cuh"
extern "C" __global__ void kernel(const __grid_constant__ Map map, int x, int y) {
    __shared__ __align__(128) int tile[64];
    int i = threadIdx.x;
    for (int k = i; k < 64; k += 32) tile[k] = 100 + k;
    proxy_fence();
    __syncthreads();
    if (i == 0) {
        tma_store_2d(&map, x, y, tile);
        bulk_done();
    }
}
