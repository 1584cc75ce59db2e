// arch: sm_80
// Directed rounding of single-precision operations.
extern "C" __global__ void kernel(const float* a, const float* b, float* out) {
    int i = threadIdx.x;
    float x = a[i], y = b[i];
    float* o = out + 14 * i;
    o[0] = __fadd_rz(x, y);
    o[1] = __fadd_ru(x, y);
    o[2] = __fadd_rd(x, y);
    o[3] = __fmul_rz(x, y);
    o[4] = __fmul_ru(x, y);
    o[5] = __fmul_rd(x, y);
    o[6] = __fmaf_rz(x, y, x);
    o[7] = __fmaf_ru(x, y, x);
    o[8] = __fmaf_rd(x, y, x);
    o[9] = __fdiv_rn(x, y);
    o[10] = __fdiv_rz(x, y);
    o[11] = __fsqrt_rn(fabsf(x));
    o[12] = __fsqrt_ru(fabsf(x));
    o[13] = __frcp_rd(y);
}
