// arch: sm_80
// Inclusive scan within warps, then over warps through shared memory.
extern "C" __global__ void kernel(const int* a, int* out) {
    __shared__ int totals[8];
    int i = threadIdx.x, lane = i & 31, warp = i >> 5, v = a[i];
    for (int o = 1; o < 32; o <<= 1) {
        int u = __shfl_up_sync(~0u, v, o);
        if (lane >= o) v += u;
    }
    if (lane == 31) totals[warp] = v;
    __syncthreads();
    for (int w = 0; w < warp; ++w) v += totals[w];
    out[i] = v;
}
