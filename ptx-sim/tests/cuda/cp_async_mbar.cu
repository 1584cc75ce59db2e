// arch: sm_80
// cp.async completion counted on an mbarrier, with and without noinc.
#include "common.cuh"
extern "C" __global__ void kernel(const int4* in, int* out) {
    __shared__ u64 bars[2];
    __shared__ int4 stage[2][32];
    int i = threadIdx.x;
    if (i == 0) {
        asm volatile("mbarrier.init.shared.b64 [%0], 32;" ::"r"(smem(&bars[0])) : "memory");
        asm volatile("mbarrier.init.shared.b64 [%0], 32;" ::"r"(smem(&bars[1])) : "memory");
    }
    __syncthreads();
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(smem(&stage[0][i])), "l"(in + i) : "memory");
    asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(smem(&bars[0])) : "memory");
    asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" ::"r"(smem(&stage[1][i])), "l"(in + 32 + i) : "memory");
    asm volatile("cp.async.mbarrier.arrive.shared.b64 [%0];" ::"r"(smem(&bars[1])) : "memory");
    asm volatile("{ .reg .b64 s; mbarrier.arrive.shared.b64 s, [%0]; }" ::"r"(smem(&bars[1])) : "memory");
    for (int b = 0; b < 2; ++b) {
        int done = 0;
        while (!done)
            asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], 0; selp.s32 %0, 1, 0, p; }"
                         : "=r"(done) : "r"(smem(&bars[b])) : "memory");
    }
    out[2 * i] = stage[0][31 - i].z;
    out[2 * i + 1] = stage[1][31 - i].y;
}
