// arch: sm_80
// 128-bit arithmetic: carry chains.
extern "C" __global__ void kernel(const unsigned long long* a, const unsigned long long* b, unsigned long long* out) {
    int i = threadIdx.x;
    unsigned __int128 x = ((unsigned __int128)a[2 * i + 1] << 64) | a[2 * i];
    unsigned __int128 y = ((unsigned __int128)b[2 * i + 1] << 64) | b[2 * i];
    unsigned __int128 s = x + y, d = x - y, p = x * y;
    unsigned long long* o = out + 6 * i;
    o[0] = (unsigned long long)s;
    o[1] = (unsigned long long)(s >> 64);
    o[2] = (unsigned long long)d;
    o[3] = (unsigned long long)(d >> 64);
    o[4] = (unsigned long long)p;
    o[5] = (unsigned long long)(p >> 64);
}
