// arch: sm_80
// Minimum, maximum, absolute value and absolute difference.
extern "C" __global__ void kernel(const int* a, const int* b, int* out) {
    int i = threadIdx.x;
    out[6 * i] = min(a[i], b[i]);
    out[6 * i + 1] = (int)max((unsigned)a[i], (unsigned)b[i]);
    out[6 * i + 2] = abs(a[i]);
    out[6 * i + 3] = __sad(a[i], b[i], 9);
    out[6 * i + 4] = __hadd(a[i], b[i]);
    out[6 * i + 5] = (int)__vminu2((unsigned)a[i], (unsigned)b[i]);
}
