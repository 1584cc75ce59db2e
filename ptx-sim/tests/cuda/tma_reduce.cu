// arch: sm_90a
// Tensor reductions: an addition and a maximum.
#include "common.cuh"
extern "C" __global__ void kernel(const __grid_constant__ Map map) {
    __shared__ __align__(128) int tile[64];
    int i = threadIdx.x;
    for (int k = i; k < 64; k += 32) tile[k] = k;
    proxy_fence();
    __syncthreads();
    if (i == 0) {
        asm volatile("cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group [%0, {%1, %2}], [%3];"
                     ::"l"(&map), "r"(0), "r"(0), "r"(smem(tile)) : "memory");
        bulk_done();
        asm volatile("cp.reduce.async.bulk.tensor.2d.global.shared::cta.max.tile.bulk_group [%0, {%1, %2}], [%3];"
                     ::"l"(&map), "r"(8), "r"(8), "r"(smem(tile)) : "memory");
        bulk_done();
    }
}
