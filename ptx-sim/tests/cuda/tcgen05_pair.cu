// arch: sm_100a
// Two CTAs multiply together: each holds half of the rows of A and of the columns of B.
#include "common.cuh"
extern "C" __global__ __cluster_dims__(2, 1, 1) void kernel(const unsigned short* a, const unsigned short* b, float* out) {
    __shared__ __align__(1024) unsigned short sa[128 * 16], sb[16 * 16];
    __shared__ unsigned base;
    __shared__ u64 bar;
    int i = threadIdx.x, w = i / 32;
    unsigned rank;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    // The other CTA must run before either allocates.
    asm volatile("barrier.cluster.arrive;\nbarrier.cluster.wait;" ::: "memory");
    if (w == 0) asm volatile("tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [%0], 32;" ::"r"(smem(&base)) : "memory");
    if (i == 0) {
        mbar_init(&bar, 1);
        mbar_fence();
    }
    for (int k = i; k < 128 * 16; k += 128) sa[(2 * k ^ ((2 * k >> 7 & 1) << 4)) / 2] = a[rank * 128 * 16 + k];
    for (int k = i; k < 16 * 16; k += 128) sb[(2 * k ^ ((2 * k >> 7 & 1) << 4)) / 2] = b[rank * 16 * 16 + k];
    proxy_fence();
    __syncthreads();
    asm volatile("barrier.cluster.arrive;\nbarrier.cluster.wait;" ::: "memory");
    if (rank == 0 && i == 0) {
        asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
        unsigned idesc = 1 << 4 | 0 << 7 | 0 << 10 | (32 / 8) << 17 | (256 / 16) << 24;
        asm volatile("{ .reg .pred p; setp.ne.b32 p, %4, 0;\n"
                     "tcgen05.mma.cta_group::2.kind::f16 [%0], %1, %2, %3, p; }"
                     ::"r"(base), "l"(tcgen05_desc(sa, 16, 256, 6)), "l"(tcgen05_desc(sb, 16, 256, 6)), "r"(idesc), "r"(0) : "memory");
        asm volatile("tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [%0], %1;"
                     ::"r"(smem(&bar)), "h"((short)3) : "memory");
    }
    mbar_wait(&bar, 0);
    asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
    for (int c = 0; c < 32; ++c) {
        unsigned r;
        asm volatile("tcgen05.ld.sync.aligned.32x32b.x1.b32 {%0}, [%1];\ntcgen05.wait::ld.sync.aligned;" : "=r"(r) : "r"(base + (w * 32 << 16) + c));
        out[(rank * 128 + i) * 32 + c] = __uint_as_float(r);
    }
    asm volatile("barrier.cluster.arrive;\nbarrier.cluster.wait;" ::: "memory");
    if (w == 0) {
        asm volatile("tcgen05.relinquish_alloc_permit.cta_group::2.sync.aligned;");
        asm volatile("tcgen05.dealloc.cta_group::2.sync.aligned.b32 %0, 32;" ::"r"(base));
    }
}
