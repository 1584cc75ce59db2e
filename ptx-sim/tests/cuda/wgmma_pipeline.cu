// arch: sm_90a
// A small matrix product: a producer warp feeds tiles by TMA through a ring.
#include "common.cuh"
extern "C" __global__ void kernel(const __grid_constant__ Map ma, const __grid_constant__ Map mb, float* out, int tiles) {
    __shared__ __align__(1024) unsigned short sa[2][64 * 64], sb[2][32 * 64];
    __shared__ u64 full[2], empty[2];
    int i = threadIdx.x;
    if (i == 0) {
        for (int s = 0; s < 2; ++s) {
            mbar_init(&full[s], 1);
            mbar_init(&empty[s], 1);
        }
        mbar_fence();
    }
    __syncthreads();
    if (i >= 128) {
        if (i == 128)
            for (int k = 0; k < tiles; ++k) {
                int s = k & 1;
                mbar_wait(&empty[s], (k >> 1 & 1) ^ 1);
                mbar_expect(&full[s], (64 + 32) * 128);
                tma_load_2d(sa[s], &ma, 64 * k, blockIdx.x * 64, &full[s]);
                tma_load_2d(sb[s], &mb, 64 * k, 0, &full[s]);
            }
        return;
    }
    float d[16];
    for (int j = 0; j < 16; ++j) d[j] = 0;
    for (int k = 0; k < tiles; ++k) {
        int s = k & 1;
        mbar_wait(&full[s], k >> 1 & 1);
        wgmma_fence();
#pragma unroll
        for (int q = 0; q < 4; ++q) {
            u64 da = wgmma_desc(sa[s], 16, 1024, 1) + 2 * q, db = wgmma_desc(sb[s], 16, 1024, 1) + 2 * q;
            asm volatile("wgmma.mma_async.sync.aligned.m64n32k16.f32.bf16.bf16 "
                         "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15}, %16, %17, 1, 1, 1, 0, 0;"
                         : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]) : "l"(da), "l"(db));
        }
        wgmma_finish();
        asm volatile("bar.sync 1, 128;" ::: "memory");
        if (i == 0) mbar_arrive(&empty[s]);
    }
    int w = i / 32, g = i % 32 / 4, t = i % 4;
    for (int j = 0; j < 16; ++j)
        out[(blockIdx.x * 64 + 16 * w + g + 8 * (j / 2 % 2)) * 32 + 8 * (j / 4) + 2 * t + j % 2] = d[j];
}
