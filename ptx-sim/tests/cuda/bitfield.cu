// arch: sm_80
// bfe, bfi, lop3 and prmt modes with run-time operands.
extern "C" __global__ void kernel(const unsigned* a, const unsigned* b, unsigned* out) {
    int i = threadIdx.x;
    unsigned* o = out + 8 * i;
    unsigned pos = i % 40, len = (i * 7) % 40;
    asm("bfe.u32 %0, %1, %2, %3;" : "=r"(o[0]) : "r"(a[i]), "r"(pos), "r"(len));
    asm("bfe.s32 %0, %1, %2, %3;" : "=r"(o[1]) : "r"(a[i]), "r"(pos), "r"(len));
    asm("bfi.b32 %0, %1, %2, %3, %4;" : "=r"(o[2]) : "r"(a[i]), "r"(b[i]), "r"(pos), "r"(len));
    asm("lop3.b32 %0, %1, %2, %3, 0xe8;" : "=r"(o[3]) : "r"(a[i]), "r"(b[i]), "r"(pos * 0x01010101u));
    asm("prmt.b32.f4e %0, %1, %2, %3;" : "=r"(o[4]) : "r"(a[i]), "r"(b[i]), "r"(i & 3));
    asm("prmt.b32.rc16 %0, %1, %2, %3;" : "=r"(o[5]) : "r"(a[i]), "r"(b[i]), "r"(i & 3));
    asm("prmt.b32 %0, %1, %2, 0xba98;" : "=r"(o[6]) : "r"(a[i]), "r"(b[i]));
    asm("szext.clamp.s32 %0, %1, %2;" : "=r"(o[7]) : "r"(a[i]), "r"(len));
}
