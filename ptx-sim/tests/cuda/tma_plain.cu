// arch: sm_90a
// A tile without swizzle, at the tensor's interior.
#include "common.cuh"
extern "C" __global__ void kernel(const __grid_constant__ Map map, float* out, int x, int y) {
    __shared__ __align__(128) float tile[8 * 32];
    __shared__ u64 bar;
    int i = threadIdx.x;
    if (i == 0) {
        mbar_init(&bar, 1);
        mbar_fence();
        mbar_expect(&bar, sizeof(tile));
        tma_load_2d(tile, &map, x, y, &bar);
    }
    __syncthreads();
    mbar_wait(&bar, 0);
    for (int k = i; k < 256; k += 32) out[k] = tile[k];
}
