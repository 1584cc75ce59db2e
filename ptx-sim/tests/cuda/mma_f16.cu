// arch: sm_80
// m16n8k16 with ldmatrix feeding both operands; B is stored by rows.
#include <cuda_fp16.h>
extern "C" __global__ void kernel(const __half* a, const __half* b, float* d) {
    __shared__ __align__(16) __half sa[16 * 16], sb[16 * 8];
    int i = threadIdx.x;
    for (int k = i; k < 256; k += 32) sa[k] = a[k];
    for (int k = i; k < 128; k += 32) sb[k] = b[k];
    __syncwarp();
    unsigned ra[4], rb[2];
    unsigned pa = (unsigned)__cvta_generic_to_shared(&sa[(i & 15) * 16 + (i >> 4) * 8]);
    unsigned pb = (unsigned)__cvta_generic_to_shared(&sb[(i & 15) * 8]);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(ra[0]), "=r"(ra[1]), "=r"(ra[2]), "=r"(ra[3]) : "r"(pa));
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];" : "=r"(rb[0]), "=r"(rb[1]) : "r"(pb));
    float c[4] = {1, 2, 3, 4};
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(ra[0]), "r"(ra[1]), "r"(ra[2]), "r"(ra[3]), "r"(rb[0]), "r"(rb[1]));
    int g = i / 4, t = i % 4;
    d[g * 8 + 2 * t] = c[0];
    d[g * 8 + 2 * t + 1] = c[1];
    d[(g + 8) * 8 + 2 * t] = c[2];
    d[(g + 8) * 8 + 2 * t + 1] = c[3];
}
