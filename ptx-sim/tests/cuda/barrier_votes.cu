// arch: sm_80
// Barriers that count and combine a predicate.
extern "C" __global__ void kernel(const int* a, int* out) {
    int i = threadIdx.x;
    out[3 * i] = __syncthreads_count(a[i] > 0);
    out[3 * i + 1] = __syncthreads_and(a[i] > -50);
    out[3 * i + 2] = __syncthreads_or(a[i] > 99);
}
