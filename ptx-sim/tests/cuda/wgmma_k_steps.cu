// arch: sm_90a
// 128-byte swizzle; four steps along K move the start address inside the atom.
#include "common.cuh"
extern "C" __global__ void kernel(const unsigned short* a, const unsigned short* b, float* out) {
    __shared__ __align__(1024) unsigned short sa[64 * 64], sb[16 * 64];
    int i = threadIdx.x;
    for (int k = i; k < 64 * 64; k += 128) sa[(k / 64) * 64 + (((k / 8) % 8) ^ (k / 64 % 8)) * 8 + k % 8] = a[k];
    for (int k = i; k < 16 * 64; k += 128) sb[(k / 64) * 64 + (((k / 8) % 8) ^ (k / 64 % 8)) * 8 + k % 8] = b[k];
    proxy_fence();
    __syncthreads();
    float d[8];
    wgmma_fence();
#pragma unroll
    for (int s = 0; s < 4; ++s) {
        u64 da = wgmma_desc(sa, 16, 1024, 1) + 2 * s, db = wgmma_desc(sb, 16, 1024, 1) + 2 * s;
        asm volatile("{ .reg .pred p; setp.ne.b32 p, %10, 0;\n"
                     "wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16 "
                     "{%0, %1, %2, %3, %4, %5, %6, %7}, %8, %9, p, 1, 1, 0, 0; }"
                     : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]) : "l"(da), "l"(db), "r"(s));
    }
    wgmma_finish();
    int w = i / 32, g = i % 32 / 4, t = i % 4;
    for (int j = 0; j < 8; ++j) out[(16 * w + g + 8 * (j / 2 % 2)) * 16 + 8 * (j / 4) + 2 * t + j % 2] = d[j];
}
