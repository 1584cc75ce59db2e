// arch: sm_80
// cp.async in two stages, with zero fill.
extern "C" __global__ void kernel(const float* in, float* out, int n) {
    __shared__ __align__(16) float stage[2][128];
    int i = threadIdx.x;
    auto fetch = [&](int s) {
        unsigned to = (unsigned)__cvta_generic_to_shared(&stage[s & 1][4 * i]);
        int left = n - (s * 128 + 4 * i), bytes = left >= 4 ? 16 : left > 0 ? 4 * left : 0;
        const float* from = bytes ? in + s * 128 + 4 * i : in;
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(bytes));
        asm volatile("cp.async.commit_group;");
    };
    fetch(0);
    for (int s = 0; s < 4; ++s) {
        if (s < 3) fetch(s + 1);
        if (s < 3) asm volatile("cp.async.wait_group 1;" ::: "memory");
        else asm volatile("cp.async.wait_group 0;" ::: "memory");
        __syncthreads();
        for (int k = i; k < 128; k += 32) out[s * 128 + k] = stage[s & 1][127 - k];
        __syncthreads();
    }
}
