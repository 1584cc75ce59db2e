// arch: sm_80
// .ftz and .sat on arithmetic.
extern "C" __global__ void kernel(const float* a, const float* b, float* out) {
    int i = threadIdx.x;
    float* o = out + 6 * i;
    asm("add.ftz.f32 %0, %1, %2;" : "=f"(o[0]) : "f"(a[i]), "f"(b[i]));
    asm("mul.ftz.f32 %0, %1, %2;" : "=f"(o[1]) : "f"(a[i]), "f"(b[i]));
    asm("add.sat.f32 %0, %1, %2;" : "=f"(o[2]) : "f"(a[i]), "f"(b[i]));
    asm("fma.rz.ftz.sat.f32 %0, %1, %2, %1;" : "=f"(o[3]) : "f"(a[i]), "f"(b[i]));
    asm("abs.ftz.f32 %0, %1;" : "=f"(o[4]) : "f"(a[i]));
    asm("neg.ftz.f32 %0, %1;" : "=f"(o[5]) : "f"(b[i]));
}
