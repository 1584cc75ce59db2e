// arch: sm_100a
// Stochastic rounding takes its random bits from an operand.
extern "C" __global__ void kernel(const float* a, const unsigned* random, unsigned* out) {
    int i = threadIdx.x;
    asm("cvt.rs.f16x2.f32 %0, %1, %2, %3;" : "=r"(out[2 * i]) : "f"(a[2 * i + 1]), "f"(a[2 * i]), "r"(random[i]));
    asm("cvt.rs.bf16x2.f32 %0, %1, %2, %3;" : "=r"(out[2 * i + 1]) : "f"(a[2 * i + 1]), "f"(a[2 * i]), "r"(random[i]));
}
