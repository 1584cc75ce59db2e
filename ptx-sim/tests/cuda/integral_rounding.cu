// arch: sm_80
// Rounding to integral values in place.
extern "C" __global__ void kernel(const float* a, float* out) {
    int i = threadIdx.x;
    out[5 * i] = rintf(a[i]);
    out[5 * i + 1] = truncf(a[i]);
    out[5 * i + 2] = floorf(a[i]);
    out[5 * i + 3] = ceilf(a[i]);
    out[5 * i + 4] = roundf(a[i]);
}
