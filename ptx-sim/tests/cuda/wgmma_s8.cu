// arch: sm_90a
// Bytes into 32-bit integers.
#include "common.cuh"
extern "C" __global__ void kernel(const unsigned char* a, const unsigned char* b, int* out) {
    __shared__ __align__(1024) unsigned char sa[64 * 32], sb[16 * 32];
    int i = threadIdx.x;
    // Core matrices of 8 rows by 16 bytes, row blocks 256 bytes apart.
    const int per = 16 / sizeof(unsigned char), k_all = 32 / sizeof(unsigned char);
    for (int k = i; k < 64 * k_all; k += 128) {
        int row = k / k_all, col = k % k_all;
        sa[(row / 8) * 8 * k_all + (col / per) * 8 * per + (row % 8) * per + col % per] = a[k];
    }
    for (int k = i; k < 16 * k_all; k += 128) {
        int row = k / k_all, col = k % k_all;
        sb[(row / 8) * 8 * k_all + (col / per) * 8 * per + (row % 8) * per + col % per] = b[k];
    }
    proxy_fence();
    __syncthreads();
    int d[8];
    for (int j = 0; j < 8; ++j) d[j] = 7;
    wgmma_fence();
    u64 da = wgmma_desc(sa, 128, 256, 0), db = wgmma_desc(sb, 128, 256, 0);
    asm volatile("{ .reg .pred p; setp.ne.b32 p, %10, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n16k32.s32.s8.u8 "
                 "{%0, %1, %2, %3, %4, %5, %6, %7}, %8, %9, p; }"
                 : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]), "+r"(d[4]), "+r"(d[5]), "+r"(d[6]), "+r"(d[7]) : "l"(da), "l"(db), "r"(1));
    wgmma_finish();
    int w = i / 32, g = i % 32 / 4, t = i % 4;
    for (int j = 0; j < 8; ++j) out[(16 * w + g + 8 * (j / 2 % 2)) * 16 + 8 * (j / 4) + 2 * t + j % 2] = d[j];
}
