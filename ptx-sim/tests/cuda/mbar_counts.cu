// arch: sm_80
// noComplete arrivals, dropping out, and the pending count of a state.
#include "common.cuh"
extern "C" __global__ void kernel(unsigned* out) {
    __shared__ u64 bar;
    u64 s0, s1, s2, s3;
    unsigned n0, n1, n2, n3;
    asm volatile("mbarrier.init.shared.b64 [%0], 10;" ::"r"(smem(&bar)) : "memory");
    asm volatile("mbarrier.arrive.noComplete.shared.b64 %0, [%1], 4;" : "=l"(s0) : "r"(smem(&bar)) : "memory");
    asm volatile("mbarrier.arrive_drop.shared.b64 %0, [%1];" : "=l"(s1) : "r"(smem(&bar)) : "memory");
    asm volatile("mbarrier.arrive.noComplete.shared.b64 %0, [%1], 4;" : "=l"(s2) : "r"(smem(&bar)) : "memory");
    asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(smem(&bar)) : "memory");
    asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(s3) : "r"(smem(&bar)) : "memory");
    asm volatile("mbarrier.pending_count.b64 %0, %1;" : "=r"(n0) : "l"(s0));
    asm volatile("mbarrier.pending_count.b64 %0, %1;" : "=r"(n1) : "l"(s1));
    asm volatile("mbarrier.pending_count.b64 %0, %1;" : "=r"(n2) : "l"(s2));
    asm volatile("mbarrier.pending_count.b64 %0, %1;" : "=r"(n3) : "l"(s3));
    out[0] = n0;
    out[1] = n1;
    out[2] = n2;
    out[3] = n3;
    asm volatile("mbarrier.inval.shared.b64 [%0];" ::"r"(smem(&bar)) : "memory");
}
