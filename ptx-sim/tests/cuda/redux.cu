// arch: sm_80
// Warp reductions of integers.
extern "C" __global__ void kernel(const int* a, int* out) {
    int i = threadIdx.x;
    out[8 * i] = __reduce_add_sync(~0u, a[i]);
    out[8 * i + 1] = __reduce_min_sync(~0u, a[i]);
    out[8 * i + 2] = __reduce_max_sync(~0u, a[i]);
    out[8 * i + 3] = (int)__reduce_max_sync(~0u, (unsigned)a[i]);
    out[8 * i + 4] = (int)__reduce_and_sync(~0u, (unsigned)a[i]);
    out[8 * i + 5] = (int)__reduce_or_sync(~0u, (unsigned)a[i]);
    out[8 * i + 6] = (int)__reduce_xor_sync(~0u, (unsigned)a[i]);
    out[8 * i + 7] = (int)__reduce_min_sync(~0u, (unsigned)a[i]);
}
