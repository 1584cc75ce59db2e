// arch: sm_80
// Conversions to integers in every rounding, with clamping and NaN.
extern "C" __global__ void kernel(const float* a, const double* d, long long* out) {
    int i = threadIdx.x;
    long long* o = out + 12 * i;
    o[0] = __float2int_rn(a[i]);
    o[1] = __float2int_rz(a[i]);
    o[2] = __float2int_ru(a[i]);
    o[3] = __float2int_rd(a[i]);
    o[4] = __float2uint_rz(a[i]);
    o[5] = __float2ll_rn(a[i]);
    o[6] = (long long)__float2ull_rz(a[i]);
    o[7] = __double2int_rn(d[i]);
    o[8] = __double2uint_rz(d[i]);
    o[9] = __double2ll_rd(d[i]);
    short s;
    asm("cvt.rzi.s16.f32 %0, %1;" : "=h"(s) : "f"(a[i]));
    o[10] = s;
    unsigned u;
    asm("cvt.rni.u8.f32 %0, %1;" : "=r"(u) : "f"(a[i]));
    o[11] = u;
}
