// arch: sm_80
// One element per thread, with a bounds check.
extern "C" __global__ void kernel(const float* a, const float* b, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = a[i] + b[i];
}
