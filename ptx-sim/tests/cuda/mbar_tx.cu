// arch: sm_90a
// Explicit transaction counts, without any copy.
#include "common.cuh"
extern "C" __global__ void kernel(int* out) {
    __shared__ u64 bar;
    __shared__ int value;
    int i = threadIdx.x;
    if (i == 0) mbar_init(&bar, 1);
    __syncthreads();
    if (i == 0) {
        value = 41;
        mbar_expect(&bar, 4096);
        value = 42;
    } else if (i == 32) {
        asm volatile("mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%0], 1000;" ::"r"(smem(&bar)) : "memory");
        asm volatile("mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%0], 3096;" ::"r"(smem(&bar)) : "memory");
    }
    mbar_wait(&bar, 0);
    __syncthreads();
    out[i] = value + i;
}
