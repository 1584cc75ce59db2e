// arch: sm_80
// Comparisons, ordered and unordered, combined with predicates.
extern "C" __global__ void kernel(const float* a, const float* b, unsigned* out) {
    int i = threadIdx.x;
    unsigned r = 0, s;
#define CMP(op, bit) asm("set." op ".u32.f32 %0, %1, %2;" : "=r"(s) : "f"(a[i]), "f"(b[i])); r |= (s & 1) << bit;
    CMP("eq", 0) CMP("ne", 1) CMP("lt", 2) CMP("ge", 3) CMP("equ", 4) CMP("neu", 5) CMP("ltu", 6) CMP("geu", 7)
    CMP("num", 8) CMP("nan", 9)
    unsigned t;
    asm("{ .reg .pred p, q, r; setp.gt.f32 p, %1, 0f00000000; setp.lt.and.f32 q|r, %1, %2, p; selp.u32 %0, 1, 2, q; @r add.u32 %0, %0, 4; }"
        : "=r"(t) : "f"(a[i]), "f"(b[i]));
    out[i] = r | t << 16;
}
