// arch: sm_80
// match.any and match.all.
extern "C" __global__ void kernel(const int* a, unsigned* out) {
    int i = threadIdx.x, all;
    out[3 * i] = __match_any_sync(~0u, a[i]);
    out[3 * i + 1] = __match_all_sync(~0u, a[i] >> 8, &all);
    out[3 * i + 2] = all;
}
