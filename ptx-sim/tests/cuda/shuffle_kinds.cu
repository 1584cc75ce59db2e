// arch: sm_80
// All four shuffles with segment widths.
extern "C" __global__ void kernel(const int* a, int* out) {
    int i = threadIdx.x;
    out[6 * i] = __shfl_up_sync(~0u, a[i], 3);
    out[6 * i + 1] = __shfl_down_sync(~0u, a[i], 3);
    out[6 * i + 2] = __shfl_up_sync(~0u, a[i], 2, 8);
    out[6 * i + 3] = __shfl_down_sync(~0u, a[i], 5, 16);
    out[6 * i + 4] = __shfl_sync(~0u, a[i], i * 5, 8);
    out[6 * i + 5] = __shfl_xor_sync(~0u, a[i], 9, 16);
}
