// arch: sm_90a
// Approximate functions in half precision.
#include <cuda_fp16.h>
extern "C" __global__ void kernel(const unsigned short* a, unsigned short* out) {
    int i = threadIdx.x;
    asm("ex2.approx.f16 %0, %1;" : "=h"(out[4 * i]) : "h"(a[i]));
    asm("tanh.approx.f16 %0, %1;" : "=h"(out[4 * i + 1]) : "h"(a[i]));
    asm("ex2.approx.ftz.bf16 %0, %1;" : "=h"(out[4 * i + 2]) : "h"(a[i]));
    asm("tanh.approx.bf16 %0, %1;" : "=h"(out[4 * i + 3]) : "h"(a[i]));
}
