// arch: sm_80
// Directed rounding in double precision.
extern "C" __global__ void kernel(const double* a, const double* b, double* out) {
    int i = threadIdx.x;
    double x = a[i], y = b[i];
    double* o = out + 10 * i;
    o[0] = __dadd_rz(x, y);
    o[1] = __dadd_ru(x, y);
    o[2] = __dmul_rd(x, y);
    o[3] = __dmul_ru(x, y);
    o[4] = __fma_rn(x, y, -x);
    o[5] = __fma_rz(x, y, -x);
    o[6] = __ddiv_rn(x, y);
    o[7] = __ddiv_ru(x, y);
    o[8] = __dsqrt_rn(fabs(x));
    o[9] = __drcp_rz(y);
}
