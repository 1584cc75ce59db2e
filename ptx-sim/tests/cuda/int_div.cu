// arch: sm_80
// Division and remainder in both signs and widths.
extern "C" __global__ void kernel(const long long* a, const long long* b, long long* out) {
    int i = threadIdx.x;
    long long* o = out + 8 * i;
    int x = (int)a[i], y = (int)b[i];
    unsigned ux = (unsigned)a[i], uy = (unsigned)b[i];
    o[0] = x / y;
    o[1] = x % y;
    o[2] = ux / uy;
    o[3] = ux % uy;
    o[4] = a[i] / b[i];
    o[5] = a[i] % b[i];
    o[6] = (unsigned long long)a[i] / (unsigned long long)b[i];
    o[7] = (unsigned long long)a[i] % (unsigned long long)b[i];
}
