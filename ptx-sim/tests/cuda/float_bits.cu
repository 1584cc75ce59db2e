// arch: sm_80
// Classification, sign copying, and scaling by powers of two.
extern "C" __global__ void kernel(const float* a, const float* b, float* out, int* kinds) {
    int i = threadIdx.x, e;
    out[4 * i] = copysignf(a[i], b[i]);
    out[4 * i + 1] = ldexpf(a[i], i - 16);
    out[4 * i + 2] = frexpf(a[i], &e);
    out[4 * i + 3] = fabsf(a[i]);
    unsigned normal, subnormal;
    asm("{ .reg .pred p; testp.normal.f32 p, %1; selp.u32 %0, 1, 0, p; }" : "=r"(normal) : "f"(a[i]));
    asm("{ .reg .pred p; testp.subnormal.f32 p, %1; selp.u32 %0, 1, 0, p; }" : "=r"(subnormal) : "f"(a[i]));
    kinds[i] = isnan(a[i]) + 2 * isinf(a[i]) + 4 * (signbit(a[i]) != 0) + 8 * normal + 16 * subnormal;
}
