// arch: sm_90a
// tf32 operands, k = 8.
#include "common.cuh"
extern "C" __global__ void kernel(const unsigned* a, const unsigned* b, float* out) {
    __shared__ __align__(1024) unsigned sa[64 * 8], sb[8 * 8];
    int i = threadIdx.x;
    // Core matrices of 8 rows by 16 bytes, row blocks 256 bytes apart.
    const int per = 16 / sizeof(unsigned), k_all = 32 / sizeof(unsigned);
    for (int k = i; k < 64 * k_all; k += 128) {
        int row = k / k_all, col = k % k_all;
        sa[(row / 8) * 8 * k_all + (col / per) * 8 * per + (row % 8) * per + col % per] = a[k];
    }
    for (int k = i; k < 8 * k_all; k += 128) {
        int row = k / k_all, col = k % k_all;
        sb[(row / 8) * 8 * k_all + (col / per) * 8 * per + (row % 8) * per + col % per] = b[k];
    }
    proxy_fence();
    __syncthreads();
    float d[4];
    for (int j = 0; j < 4; ++j) d[j] = 7;
    wgmma_fence();
    u64 da = wgmma_desc(sa, 128, 256, 0), db = wgmma_desc(sb, 128, 256, 0);
    asm volatile("{ .reg .pred p; setp.ne.b32 p, %6, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32 "
                 "{%0, %1, %2, %3}, %4, %5, p, 1, 1; }"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "l"(da), "l"(db), "r"(1));
    wgmma_finish();
    int w = i / 32, g = i % 32 / 4, t = i % 4;
    for (int j = 0; j < 4; ++j) out[(16 * w + g + 8 * (j / 2 % 2)) * 8 + 8 * (j / 4) + 2 * t + j % 2] = d[j];
}
