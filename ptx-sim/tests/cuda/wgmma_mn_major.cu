// arch: sm_90a
// Both operands transposed: MN-major with the 128-byte swizzle.
#include "common.cuh"
extern "C" __global__ void kernel(const unsigned short* a, const unsigned short* b, float* out) {
    __shared__ __align__(1024) unsigned short sa[64 * 16], sb[64 * 16];
    int i = threadIdx.x;
    // Rows of 64 neighbouring M (or N) values, one for each k, permuted by chunks.
    for (int k = i; k < 16 * 64; k += 128) sa[(k / 64) * 64 + (((k / 8) % 8) ^ (k / 64 % 8)) * 8 + k % 8] = a[k];
    for (int k = i; k < 16 * 64; k += 128) sb[(k / 64) * 64 + (((k / 8) % 8) ^ (k / 64 % 8)) * 8 + k % 8] = b[k];
    proxy_fence();
    __syncthreads();
    float d[32];
    for (int j = 0; j < 32; ++j) d[j] = 7;
    wgmma_fence();
    u64 da = wgmma_desc(sa, 2048, 1024, 1), db = wgmma_desc(sb, 2048, 1024, 1);
    asm volatile("{ .reg .pred p; setp.ne.b32 p, %34, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 "
                 "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, %32, %33, p, 1, 1, 1, 1; }"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]) : "l"(da), "l"(db), "r"(1));
    wgmma_finish();
    int w = i / 32, g = i % 32 / 4, t = i % 4;
    for (int j = 0; j < 32; ++j) out[(16 * w + g + 8 * (j / 2 % 2)) * 64 + 8 * (j / 4) + 2 * t + j % 2] = d[j];
}
