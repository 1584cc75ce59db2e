// arch: sm_80
// Packed half precision: one rounding, fused, saturated, clamped at zero.
#include <cuda_fp16.h>
extern "C" __global__ void kernel(const __half2* a, const __half2* b, __half2* out) {
    int i = threadIdx.x;
    out[6 * i] = __hadd2_rn(a[i], b[i]);
    out[6 * i + 1] = __hmul2_rn(a[i], b[i]);
    out[6 * i + 2] = __hfma2(a[i], b[i], a[i]);
    out[6 * i + 3] = __hfma2_relu(a[i], b[i], b[i]);
    out[6 * i + 4] = __hadd2_sat(a[i], b[i]);
    out[6 * i + 5] = __hmin2_nan(a[i], b[i]);
}
