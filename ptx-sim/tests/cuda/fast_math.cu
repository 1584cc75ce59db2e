// arch: sm_80
// The approximate unit: exponent, logarithm, sine, roots and division.
extern "C" __global__ void kernel(const float* a, float* out, float* rough) {
    int i = threadIdx.x;
    float* o = out + 7 * i;
    o[0] = exp2f(a[i]);
    o[1] = __log2f(a[i]);
    o[2] = __sinf(a[i]);
    o[3] = __cosf(a[i]);
    o[4] = rsqrtf(a[i]);
    o[5] = __fdividef(1.5f, a[i]);
    asm("tanh.approx.f32 %0, %1;" : "=f"(rough[i]) : "f"(a[i]));
    asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(o[6]) : "f"(a[i]));
}
