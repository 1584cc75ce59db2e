// arch: sm_80
// An array that is indexed at run time lives in local memory.
extern "C" __global__ void kernel(const int* a, int* out) {
    int i = threadIdx.x;
    int seen[16];
    for (int k = 0; k < 16; ++k) seen[k] = 0;
    for (int k = 0; k < 64; ++k) seen[(a[k] + i) & 15] += k;
    int best = 0;
    for (int k = 1; k < 16; ++k) if (seen[k] > seen[best]) best = k;
    out[2 * i] = best;
    out[2 * i + 1] = seen[best];
}
