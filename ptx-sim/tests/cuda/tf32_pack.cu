// arch: sm_80
// tf32 rounding, and saturating packs of integers.
extern "C" __global__ void kernel(const float* a, const int* b, unsigned* tf32, unsigned* out) {
    int i = threadIdx.x;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(tf32[i]) : "f"(a[i]));
    asm("cvt.pack.sat.s16.s32 %0, %1, %2;" : "=r"(out[3 * i]) : "r"(b[i]), "r"(-b[i]));
    asm("cvt.pack.sat.u8.s32.b32 %0, %1, %2, %3;" : "=r"(out[3 * i + 1]) : "r"(b[i]), "r"(-b[i]), "r"(0x1234));
    asm("cvt.sat.s8.s32 %0, %1;" : "=r"(out[3 * i + 2]) : "r"(b[i]));
}
