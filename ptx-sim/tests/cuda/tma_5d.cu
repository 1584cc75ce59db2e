// arch: sm_90a
// Five dimensions with element strides.
#include "common.cuh"
extern "C" __global__ void kernel(const __grid_constant__ Map map, short* out, int count) {
    __shared__ __align__(128) short tile[2048];
    __shared__ u64 bar;
    int i = threadIdx.x;
    if (i == 0) {
        mbar_init(&bar, 1);
        mbar_fence();
        mbar_expect(&bar, 2 * count);
        asm volatile("cp.async.bulk.tensor.5d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4, %5, %6}], [%7];"
                     ::"r"(smem(tile)), "l"(&map), "r"(8), "r"(1), "r"(-1), "r"(0), "r"(1), "r"(smem(&bar)) : "memory");
    }
    __syncthreads();
    mbar_wait(&bar, 0);
    for (int k = i; k < count; k += 32) out[k] = tile[k];
}
