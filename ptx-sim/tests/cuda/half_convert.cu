// arch: sm_90a
// Between single precision and both half formats, in several roundings.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
extern "C" __global__ void kernel(const float* a, unsigned short* out, float* back, int* ints) {
    int i = threadIdx.x;
    unsigned short* o = out + 8 * i;
    o[0] = __half_as_ushort(__float2half_rn(a[i]));
    o[1] = __half_as_ushort(__float2half_rz(a[i]));
    o[2] = __half_as_ushort(__float2half_ru(a[i]));
    o[3] = __bfloat16_as_ushort(__float2bfloat16_rn(a[i]));
    o[4] = __bfloat16_as_ushort(__float2bfloat16_rz(a[i]));
    __half2 pair = __floats2half2_rn(a[i], -a[i]);
    o[5] = __half_as_ushort(__high2half(pair));
    asm("cvt.rn.relu.bf16.f32 %0, %1;" : "=h"(o[6]) : "f"(a[i]));
    asm("cvt.rz.satfinite.f16.f32 %0, %1;" : "=h"(o[7]) : "f"(a[i]));
    back[2 * i] = __half2float(__ushort_as_half(o[0]));
    back[2 * i + 1] = __bfloat162float(__ushort_as_bfloat16(o[3]));
    ints[i] = __half2int_rz(__ushort_as_half(o[0]));
}
