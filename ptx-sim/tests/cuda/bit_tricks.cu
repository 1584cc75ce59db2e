// arch: sm_80
// Counting, reversing and permuting bits.
extern "C" __global__ void kernel(const unsigned long long* a, unsigned* out) {
    int i = threadIdx.x;
    unsigned x = (unsigned)a[i], y = (unsigned)(a[i] >> 32);
    unsigned* o = out + 12 * i;
    o[0] = __popc(x);
    o[1] = __popcll(a[i]);
    o[2] = __clz(x);
    o[3] = __clzll(a[i]);
    o[4] = __brev(x);
    o[5] = __ffs(x);
    o[6] = __byte_perm(x, y, 0x7531);
    o[7] = __byte_perm(x, y, y & 0xffff);
    o[8] = __funnelshift_l(x, y, i);
    o[9] = __funnelshift_rc(x, y, 2 * i);
    o[10] = (unsigned)__brevll(a[i]);
    unsigned found;
    asm("bfind.s32 %0, %1;" : "=r"(found) : "r"(x));
    o[11] = found;
}
