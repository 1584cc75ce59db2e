// arch: sm_80
// Conversions from integers, and between float widths.
extern "C" __global__ void kernel(const long long* a, float* out, double* wide) {
    int i = threadIdx.x;
    float* o = out + 7 * i;
    o[0] = __int2float_rn((int)a[i]);
    o[1] = __int2float_rz((int)a[i]);
    o[2] = __uint2float_ru((unsigned)a[i]);
    o[3] = __ll2float_rd(a[i]);
    o[4] = __ull2float_rn((unsigned long long)a[i]);
    wide[2 * i] = __ll2double_rz(a[i]);
    wide[2 * i + 1] = __int2double_rn((int)a[i]);
    o[5] = __double2float_ru((double)a[i] * 1.1);
    o[6] = __double2float_rz((double)a[i] * 1.1);
}
