// arch: sm_80
// Arrivals return a state, and waiting is on that state.
#include "common.cuh"
extern "C" __global__ void kernel(int* out) {
    __shared__ u64 bar;
    __shared__ int box[64];
    int i = threadIdx.x;
    if (i == 0) asm volatile("mbarrier.init.shared.b64 [%0], 64;" ::"r"(smem(&bar)) : "memory");
    __syncthreads();
    for (int round = 0; round < 4; ++round) {
        box[i] = round * 1000 + i;
        u64 state;
        asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(state) : "r"(smem(&bar)) : "memory");
        int done = 0;
        while (!done)
            asm volatile("{ .reg .pred p; mbarrier.test_wait.shared.b64 p, [%1], %2; selp.s32 %0, 1, 0, p; }"
                         : "=r"(done) : "r"(smem(&bar)), "l"(state) : "memory");
        out[round * 64 + i] = box[63 - i];
        __syncthreads();
    }
}
