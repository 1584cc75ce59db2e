// arch: sm_90a
// Floating atomics: scalar, packed and vector.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
extern "C" __global__ void kernel(float* f, double* d, __half2* h, __nv_bfloat162* b, float4* v) {
    int i = threadIdx.x;
    atomicAdd(f, (float)i);
    atomicAdd(d, 0.25 * i);
    atomicAdd(h, __floats2half2_rn(1.0f, (float)(i & 3)));
    atomicAdd(b, __floats2bfloat162_rn(2.0f, -1.0f));
    atomicAdd(v, make_float4(1, i, 2, 0.5f));
}
