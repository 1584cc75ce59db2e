// arch: sm_100a
// A in tensor memory, 8-bit integers, accumulating onto a stored D.
#include "common.cuh"
extern "C" __global__ void kernel(const unsigned* a, const unsigned char* b, int* out) {
    __shared__ __align__(1024) unsigned char sb[16 * 32];
    __shared__ unsigned base;
    __shared__ u64 bar;
    int i = threadIdx.x, w = i / 32;
    if (w == 0) asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], 32;" ::"r"(smem(&base)) : "memory");
    if (i == 0) {
        mbar_init(&bar, 1);
        mbar_fence();
    }
    for (int k = i; k < 16 * 32; k += 128) sb[k ^ ((k >> 7 & 1) << 4)] = b[k];
    proxy_fence();
    __syncthreads();
    unsigned t = base + (w * 32 << 16);
    const unsigned* p = a + 8 * i;
    asm volatile("tcgen05.st.sync.aligned.32x32b.x8.b32 [%0], {%1, %2, %3, %4, %5, %6, %7, %8};" ::"r"(t + 16),
                 "r"(p[0]), "r"(p[1]), "r"(p[2]), "r"(p[3]), "r"(p[4]), "r"(p[5]), "r"(p[6]), "r"(p[7]) : "memory");
    for (int c = 0; c < 16; ++c) asm volatile("tcgen05.st.sync.aligned.32x32b.x1.b32 [%0], {%1};" ::"r"(t + c), "r"(c) : "memory");
    asm volatile("tcgen05.wait::st.sync.aligned;" ::: "memory");
    asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
    __syncthreads();
    if (i == 0) {
        asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
        unsigned idesc = 2 << 4 | 1 << 7 | 0 << 10 | (16 / 8) << 17 | (128 / 16) << 24;
        asm volatile("{ .reg .pred p; setp.ne.b32 p, %4, 0;\n"
                     "tcgen05.mma.cta_group::1.kind::i8 [%0], [%1], %2, %3, p; }"
                     ::"r"(base), "r"(base + 16), "l"(tcgen05_desc(sb, 16, 256, 6)), "r"(idesc), "r"(1) : "memory");
        asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"(smem(&bar)) : "memory");
    }
    mbar_wait(&bar, 0);
    asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
    for (int c = 0; c < 16; ++c) {
        int r;
        asm volatile("tcgen05.ld.sync.aligned.32x32b.x1.b32 {%0}, [%1];\ntcgen05.wait::ld.sync.aligned;" : "=r"(r) : "r"(t + c));
        out[i * 16 + c] = r;
    }
    __syncthreads();
    if (w == 0) asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, 32;" ::"r"(base));
}
