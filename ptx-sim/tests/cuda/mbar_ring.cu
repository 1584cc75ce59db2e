// arch: sm_90a
// A ring of three slots between a producer warp and a consumer warp.
#include "common.cuh"
extern "C" __global__ void kernel(const int* in, int* out, int n) {
    __shared__ u64 full[3], empty[3];
    __shared__ int slot[3][32];
    int lane = threadIdx.x & 31;
    if (threadIdx.x == 0)
        for (int s = 0; s < 3; ++s) {
            mbar_init(&full[s], 32);
            mbar_init(&empty[s], 32);
        }
    __syncthreads();
    for (int k = 0; k < n; ++k) {
        int s = k % 3, phase = (k / 3) & 1;
        if (threadIdx.x < 32) {
            mbar_wait(&empty[s], phase ^ 1);
            slot[s][lane] = in[k * 32 + lane] * 2;
            mbar_arrive(&full[s]);
        } else {
            mbar_wait(&full[s], phase);
            out[k * 32 + lane] = slot[s][31 - lane];
            mbar_arrive(&empty[s]);
        }
    }
}
