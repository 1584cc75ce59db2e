// arch: sm_90a
// 8-bit floats with the 32-byte swizzle.
#include "common.cuh"
extern "C" __global__ void kernel(const unsigned char* a, const unsigned char* b, float* out) {
    __shared__ __align__(1024) unsigned char sa[64 * 32], sb[32 * 32];
    int i = threadIdx.x;
    for (int k = i; k < 64 * 32; k += 128) sa[k ^ ((k >> 7 & 1) << 4)] = a[k];
    for (int k = i; k < 32 * 32; k += 128) sb[k ^ ((k >> 7 & 1) << 4)] = b[k];
    proxy_fence();
    __syncthreads();
    float d[16];
    for (int j = 0; j < 16; ++j) d[j] = 7;
    wgmma_fence();
    u64 da = wgmma_desc(sa, 16, 256, 3), db = wgmma_desc(sb, 16, 256, 3);
    asm volatile("{ .reg .pred p; setp.ne.b32 p, %18, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n32k32.f32.e4m3.e5m2 "
                 "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15}, %16, %17, p, 1, 1; }"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]) : "l"(da), "l"(db), "r"(1));
    wgmma_finish();
    int w = i / 32, g = i % 32 / 4, t = i % 4;
    for (int j = 0; j < 16; ++j) out[(16 * w + g + 8 * (j / 2 % 2)) * 32 + 8 * (j / 4) + 2 * t + j % 2] = d[j];
}
