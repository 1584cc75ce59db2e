// arch: sm_80
// Butterfly sum and a broadcast.
extern "C" __global__ void kernel(const float* a, float* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = a[i];
    for (int o = 16; o > 0; o >>= 1) v += __shfl_xor_sync(~0u, v, o);
    out[i] = v + __shfl_sync(~0u, a[i], 5);
}
