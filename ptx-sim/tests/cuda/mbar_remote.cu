// arch: sm_90a
// Threads of a cluster arrive on a barrier of another CTA.
#include "common.cuh"
extern "C" __global__ __cluster_dims__(4, 1, 1) void kernel(int* out) {
    __shared__ u64 bar;
    __shared__ int box[4];
    int i = threadIdx.x;
    unsigned rank;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    if (i == 0) {
        mbar_init(&bar, 4);
        mbar_fence();
    }
    asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
    if (i < 4) {
        unsigned remote, data;
        asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(remote) : "r"(smem(&bar)), "r"(i));
        asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(data) : "r"(smem(&box[rank])), "r"(i));
        asm volatile("st.shared::cluster.s32 [%0], %1;" ::"r"(data), "r"((int)(rank * 10 + i)) : "memory");
        asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(remote) : "memory");
    }
    int done = 0;
    while (!done)
        asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], 0; selp.s32 %0, 1, 0, p; }"
                     : "=r"(done) : "r"(smem(&bar)) : "memory");
    if (i < 4) out[rank * 4 + i] = box[i];
    asm volatile("barrier.cluster.arrive;\nbarrier.cluster.wait;" ::: "memory");
}
