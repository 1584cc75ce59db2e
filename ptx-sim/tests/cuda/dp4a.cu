// arch: sm_80
// Dot products of packed bytes and halves.
extern "C" __global__ void kernel(const int* a, const int* b, int* out) {
    int i = threadIdx.x;
    out[4 * i] = __dp4a(a[i], b[i], i);
    out[4 * i + 1] = (int)__dp4a((unsigned)a[i], (unsigned)b[i], (unsigned)i);
    out[4 * i + 2] = __dp2a_lo(a[i], b[i], 5);
    out[4 * i + 3] = __dp2a_hi(a[i], b[i], 7);
}
