// arch: sm_90a
// Each CTA of a pair loads half of a tile for both.
#include "common.cuh"
extern "C" __global__ __cluster_dims__(2, 1, 1) void kernel(const __grid_constant__ Map map, int* out) {
    __shared__ __align__(128) int tile[2][4 * 32];
    __shared__ u64 bar;
    int i = threadIdx.x;
    unsigned rank;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    if (i == 0) {
        mbar_init(&bar, 1);
        mbar_fence();
        mbar_expect(&bar, sizeof(tile));
    }
    asm volatile("barrier.cluster.arrive;\nbarrier.cluster.wait;" ::: "memory");
    if (i == 0)
        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1, {%2, %3}], [%4], %5;"
                     ::"r"(smem(tile[rank])), "l"(&map), "r"(0), "r"((int)rank * 4), "r"(smem(&bar)), "h"((short)3) : "memory");
    mbar_wait(&bar, 0);
    for (int k = i; k < 256; k += 32) out[rank * 256 + k] = tile[k / 128][k % 128] + 1000 * rank;
    asm volatile("barrier.cluster.arrive;\nbarrier.cluster.wait;" ::: "memory");
}
