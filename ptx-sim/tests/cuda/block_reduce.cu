// arch: sm_80
// A tree in shared memory with a barrier at each level.
extern "C" __global__ void kernel(const int* a, int* out) {
    __shared__ int s[256];
    int i = threadIdx.x;
    s[i] = a[blockIdx.x * 256 + i];
    __syncthreads();
    for (int o = 128; o > 0; o >>= 1) {
        if (i < o) s[i] += s[i + o];
        __syncthreads();
    }
    if (i == 0) out[blockIdx.x] = s[0];
}
