// arch: sm_80
// High, wide and 24-bit products, and multiply-add.
extern "C" __global__ void kernel(const int* a, const int* b, long long* out) {
    int i = threadIdx.x;
    long long* o = out + 8 * i;
    o[0] = __mulhi(a[i], b[i]);
    o[1] = __umulhi(a[i], b[i]);
    o[2] = (long long)a[i] * b[i];
    o[3] = (unsigned long long)(unsigned)a[i] * (unsigned)b[i];
    o[4] = __mul24(a[i], b[i]);
    o[5] = __mul64hi((long long)a[i] << 20, (long long)b[i] << 13);
    o[6] = a[i] * b[i] + i;
    o[7] = (short)a[i] * (short)b[i];
}
