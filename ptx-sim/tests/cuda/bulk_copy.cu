// arch: sm_90a
// One-dimensional bulk copies in and out.
#include "common.cuh"
extern "C" __global__ void kernel(const int* in, int* out) {
    __shared__ __align__(128) int stage[256];
    __shared__ u64 bar;
    int i = threadIdx.x;
    if (i == 0) {
        mbar_init(&bar, 1);
        mbar_fence();
    }
    __syncthreads();
    if (i == 0) {
        mbar_expect(&bar, 1024);
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 1024, [%2];"
                     ::"r"(smem(stage)), "l"(in), "r"(smem(&bar)) : "memory");
    }
    mbar_wait(&bar, 0);
    for (int k = i; k < 256; k += blockDim.x) stage[k] += k;
    proxy_fence();
    __syncthreads();
    if (i == 0) {
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 512;" ::"l"(out), "r"(smem(stage)) : "memory");
        asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.s32 [%0], [%1], 512;"
                     ::"l"(out + 128), "r"(smem(stage + 128)) : "memory");
        bulk_done();
    }
}
