// arch: sm_90a
// A in registers, B by the 64-byte swizzle, scale-d zero at first.
#include "common.cuh"
extern "C" __global__ void kernel(const unsigned* a, const unsigned short* b, float* out) {
    __shared__ __align__(1024) unsigned short sb[16 * 32];
    int i = threadIdx.x, w = i / 32, g = i % 32 / 4, t = i % 4;
    for (int k = i; k < 16 * 32; k += 128) {
        int at = 2 * k;
        sb[(at ^ ((at >> 7 & 3) << 4)) / 2] = b[k];
    }
    proxy_fence();
    __syncthreads();
    float d[8];
    wgmma_fence();
#pragma unroll
    for (int s = 0; s < 2; ++s) {
        u64 db = wgmma_desc(sb, 16, 512, 2) + 2 * s;
        const unsigned* p = a + (16 * w + g) * 16 + 8 * s + t;
        asm volatile("{ .reg .pred p; setp.ne.b32 p, %13, 0;\n"
                     "wgmma.mma_async.sync.aligned.m64n16k16.f32.bf16.bf16 "
                     "{%0, %1, %2, %3, %4, %5, %6, %7}, {%8, %9, %10, %11}, %12, p, 1, 1, 0; }"
                     : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]) : "r"(p[0]), "r"(p[8 * 16]), "r"(p[4]), "r"(p[8 * 16 + 4]), "l"(db), "r"(s));
    }
    wgmma_finish();
    for (int j = 0; j < 8; ++j) out[(16 * w + g + 8 * (j / 2 % 2)) * 16 + 8 * (j / 4) + 2 * t + j % 2] = d[j];
}
