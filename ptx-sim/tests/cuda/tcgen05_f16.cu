// arch: sm_100a
// 128x32x64 in bf16 from shared memory, four steps along K, commit to an mbarrier.
#include "common.cuh"
extern "C" __global__ void kernel(const unsigned short* a, const unsigned short* b, float* out) {
    extern __shared__ __align__(1024) unsigned short sa[];
    unsigned short* sb = sa + 128 * 64;
    __shared__ unsigned base;
    __shared__ u64 bar;
    int i = threadIdx.x, w = i / 32;
    if (w == 0) {
        asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], 32;" ::"r"(smem(&base)) : "memory");
        asm volatile("tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;");
    }
    if (i == 0) {
        mbar_init(&bar, 1);
        mbar_fence();
    }
    for (int k = i; k < 128 * 64; k += 128) sa[(k / 64) * 64 + (((k / 8) % 8) ^ (k / 64 % 8)) * 8 + k % 8] = a[k];
    for (int k = i; k < 32 * 64; k += 128) sb[(k / 64) * 64 + (((k / 8) % 8) ^ (k / 64 % 8)) * 8 + k % 8] = b[k];
    proxy_fence();
    __syncthreads();
    if (i == 0) {
        asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
        unsigned idesc = 1 << 4 | 1 << 7 | 1 << 10 | (32 / 8) << 17 | (128 / 16) << 24;
        for (int s = 0; s < 4; ++s)
            asm volatile("{ .reg .pred p; setp.ne.b32 p, %4, 0;\n"
                         "tcgen05.mma.cta_group::1.kind::f16 [%0], %1, %2, %3, p; }"
                         ::"r"(base), "l"(tcgen05_desc(sa, 16, 1024, 2) + 2 * s), "l"(tcgen05_desc(sb, 16, 1024, 2) + 2 * s),
                           "r"(idesc), "r"(s) : "memory");
        asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"(smem(&bar)) : "memory");
    }
    mbar_wait(&bar, 0);
    asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
    for (int c = 0; c < 32; c += 8) {
        unsigned r[8];
        asm volatile("tcgen05.ld.sync.aligned.32x32b.x8.b32 {%0, %1, %2, %3, %4, %5, %6, %7}, [%8];"
                     : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]), "=r"(r[4]), "=r"(r[5]), "=r"(r[6]), "=r"(r[7])
                     : "r"(base + (w * 32 << 16) + c));
        asm volatile("tcgen05.wait::ld.sync.aligned;" ::: "memory");
        for (int j = 0; j < 8; ++j) out[i * 32 + c + j] = __uint_as_float(r[j]);
    }
    __syncthreads();
    if (w == 0) asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, 32;" ::"r"(base));
}
