// arch: sm_90a
// The same for bfloat16.
#include <cuda_bf16.h>
extern "C" __global__ void kernel(const __nv_bfloat162* a, const __nv_bfloat162* b, __nv_bfloat162* out) {
    int i = threadIdx.x;
    out[5 * i] = __hadd2_rn(a[i], b[i]);
    out[5 * i + 1] = __hmul2_rn(a[i], b[i]);
    out[5 * i + 2] = __hfma2(a[i], b[i], a[i]);
    out[5 * i + 3] = __hmax2(a[i], b[i]);
    out[5 * i + 4] = __hneg2(__habs2(a[i]));
}
