// arch: sm_90a
// Pairs of 8-bit floats from single and half precision, and back.
extern "C" __global__ void kernel(const float* a, unsigned short* out, unsigned* wide) {
    int i = threadIdx.x;
    unsigned pair;
    asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(out[4 * i]) : "f"(a[2 * i + 1]), "f"(a[2 * i]));
    asm("cvt.rn.satfinite.relu.e5m2x2.f32 %0, %1, %2;" : "=h"(out[4 * i + 1]) : "f"(a[2 * i + 1]), "f"(a[2 * i]));
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(a[2 * i + 1]), "f"(a[2 * i]));
    asm("cvt.rn.satfinite.e4m3x2.f16x2 %0, %1;" : "=h"(out[4 * i + 2]) : "r"(pair));
    asm("cvt.rn.satfinite.e5m2x2.f16x2 %0, %1;" : "=h"(out[4 * i + 3]) : "r"(pair));
    asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(wide[2 * i]) : "h"(out[4 * i]));
    asm("cvt.rn.f16x2.e5m2x2 %0, %1;" : "=r"(wide[2 * i + 1]) : "h"(out[4 * i + 1]));
}
