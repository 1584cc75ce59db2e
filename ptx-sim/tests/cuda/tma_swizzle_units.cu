// arch: sm_100a
// The raw shared-memory image of a tile of 16 rows of 64 halves whose swizzle moves units of 32 bytes.
#include "common.cuh"
extern "C" __global__ void kernel(const __grid_constant__ Map map, unsigned short* out, int bytes) {
    __shared__ __align__(1024) unsigned short tile[16 * 64];
    __shared__ u64 bar;
    int i = threadIdx.x;
    if (i == 0) {
        asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory");
        mbar_init(&bar, 1);
        mbar_fence();
        mbar_expect(&bar, bytes);
        tma_load_2d(tile, &map, 0, 0, &bar);
    }
    __syncthreads();
    mbar_wait(&bar, 0);
    for (int k = i; k < bytes / 2; k += 32) out[k] = tile[k];
}
