// arch: sm_100a
// Two single-precision numbers in one 64-bit register.
extern "C" __global__ void kernel(const unsigned long long* a, const unsigned long long* b, unsigned long long* out) {
    int i = threadIdx.x;
    asm("add.rn.f32x2 %0, %1, %2;" : "=l"(out[3 * i]) : "l"(a[i]), "l"(b[i]));
    asm("mul.rz.f32x2 %0, %1, %2;" : "=l"(out[3 * i + 1]) : "l"(a[i]), "l"(b[i]));
    asm("fma.rn.ftz.f32x2 %0, %1, %2, %1;" : "=l"(out[3 * i + 2]) : "l"(a[i]), "l"(b[i]));
}
