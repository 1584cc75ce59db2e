// arch: sm_80
// Minimum and maximum with NaN, zeros and the NaN-propagating forms.
extern "C" __global__ void kernel(const float* a, const float* b, float* out) {
    int i = threadIdx.x;
    float* o = out + 4 * i;
    o[0] = fminf(a[i], b[i]);
    o[1] = fmaxf(a[i], b[i]);
    asm("min.NaN.f32 %0, %1, %2;" : "=f"(o[2]) : "f"(a[i]), "f"(b[i]));
    asm("max.ftz.f32 %0, %1, %2;" : "=f"(o[3]) : "f"(a[i]), "f"(b[i]));
}
