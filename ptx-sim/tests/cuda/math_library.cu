// arch: sm_80
// Library functions, which become long polynomial code.
extern "C" __global__ void kernel(const float* a, float* out) {
    int i = threadIdx.x;
    float* o = out + 8 * i;
    o[0] = expf(a[i]);
    o[1] = logf(a[i]);
    o[2] = sinf(a[i]);
    o[3] = cosf(100.0f * a[i]);
    o[4] = tanhf(a[i]);
    o[5] = powf(a[i], 1.75f);
    o[6] = erff(a[i]);
    o[7] = atan2f(a[i], 0.7f);
}
