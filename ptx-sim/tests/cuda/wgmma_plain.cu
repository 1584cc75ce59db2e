// arch: sm_90a
// No swizzle: core matrices at both strides, A negated.
#include "common.cuh"
extern "C" __global__ void kernel(const unsigned short* a, const unsigned short* b, float* out) {
    __shared__ __align__(1024) unsigned short sa[64 * 16], sb[24 * 16];
    int i = threadIdx.x;
    // Core matrices of 8 rows by 16 bytes, row blocks 256 bytes apart.
    const int per = 16 / sizeof(unsigned short), k_all = 32 / sizeof(unsigned short);
    for (int k = i; k < 64 * k_all; k += 128) {
        int row = k / k_all, col = k % k_all;
        sa[(row / 8) * 8 * k_all + (col / per) * 8 * per + (row % 8) * per + col % per] = a[k];
    }
    for (int k = i; k < 24 * k_all; k += 128) {
        int row = k / k_all, col = k % k_all;
        sb[(row / 8) * 8 * k_all + (col / per) * 8 * per + (row % 8) * per + col % per] = b[k];
    }
    proxy_fence();
    __syncthreads();
    float d[12];
    for (int j = 0; j < 12; ++j) d[j] = 7;
    wgmma_fence();
    u64 da = wgmma_desc(sa, 128, 256, 0), db = wgmma_desc(sb, 128, 256, 0);
    asm volatile("{ .reg .pred p; setp.ne.b32 p, %14, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n24k16.f32.bf16.bf16 "
                 "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11}, %12, %13, p, -1, 1, 0, 0; }"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]) : "l"(da), "l"(db), "r"(1));
    wgmma_finish();
    int w = i / 32, g = i % 32 / 4, t = i % 4;
    for (int j = 0; j < 12; ++j) out[(16 * w + g + 8 * (j / 2 % 2)) * 24 + 8 * (j / 4) + 2 * t + j % 2] = d[j];
}
