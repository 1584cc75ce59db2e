// arch: sm_100a
// Four rows, picked one by one.
#include "common.cuh"
extern "C" __global__ void kernel(const __grid_constant__ Map map, int* out, int r0, int r1, int r2, int r3) {
    __shared__ __align__(128) int tile[4 * 16];
    __shared__ u64 bar;
    int i = threadIdx.x;
    if (i == 0) {
        mbar_init(&bar, 1);
        mbar_fence();
        mbar_expect(&bar, sizeof(tile));
        asm volatile("cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4, %5, %6}], [%7];"
                     ::"r"(smem(tile)), "l"(&map), "r"(8), "r"(r0), "r"(r1), "r"(r2), "r"(r3), "r"(smem(&bar)) : "memory");
    }
    __syncthreads();
    mbar_wait(&bar, 0);
    for (int k = i; k < 64; k += 32) out[k] = tile[k];
}
