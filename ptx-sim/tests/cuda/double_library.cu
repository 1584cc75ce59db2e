// arch: sm_80
// The same in double precision, with tables and 64-bit integer tricks.
extern "C" __global__ void kernel(const double* a, double* out) {
    int i = threadIdx.x;
    double* o = out + 6 * i;
    o[0] = exp(a[i]);
    o[1] = log(a[i]);
    o[2] = sin(a[i]);
    o[3] = cbrt(a[i]);
    o[4] = pow(a[i], 0.3);
    o[5] = rsqrt(a[i]);
}
