// arch: sm_80
// Module variables: initialized, zeroed, and a pointer to another.
__device__ int counters[4] = {10, 20, 30, 40};
__device__ int zeroed[4];
__device__ int* where = counters + 1;
extern "C" __global__ void kernel(int* out) {
    int i = threadIdx.x;
    if (i < 4) zeroed[i] += counters[i] + i;
    __syncthreads();
    if (i < 4) out[i] = zeroed[i];
    if (i < 3) out[4 + i] = where[i];
}
