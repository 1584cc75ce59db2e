// arch: sm_80
// PTX shifts clamp amounts beyond the width.
extern "C" __global__ void kernel(const unsigned* a, unsigned long long* out) {
    int i = threadIdx.x;
    unsigned l, r;
    int s;
    unsigned long long wide;
    asm("shl.b32 %0, %1, %2;" : "=r"(l) : "r"(a[i]), "r"(i * 3));
    asm("shr.u32 %0, %1, %2;" : "=r"(r) : "r"(a[i]), "r"(i * 3));
    asm("shr.s32 %0, %1, %2;" : "=r"(s) : "r"(a[i]), "r"(i * 3));
    asm("shl.b64 %0, %1, %2;" : "=l"(wide) : "l"((unsigned long long)a[i]), "r"(i * 5));
    out[4 * i] = l;
    out[4 * i + 1] = r;
    out[4 * i + 2] = (unsigned)s;
    out[4 * i + 3] = wide;
}
