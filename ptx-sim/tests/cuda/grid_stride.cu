// arch: sm_80
// A grid-stride loop with a fused multiply-add.
extern "C" __global__ void kernel(float s, const float* a, float* out, long long n) {
    long long step = (long long)gridDim.x * blockDim.x;
    for (long long i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) out[i] = fmaf(s, a[i], out[i]);
}
