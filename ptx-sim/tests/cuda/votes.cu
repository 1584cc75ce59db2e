// arch: sm_80
// Votes under a full and a partial mask.
extern "C" __global__ void kernel(const int* a, unsigned* out) {
    int i = threadIdx.x;
    out[5 * i] = __ballot_sync(~0u, a[i] > 0);
    out[5 * i + 1] = __any_sync(~0u, a[i] > 90);
    out[5 * i + 2] = __all_sync(~0u, a[i] > -100);
    out[5 * i + 3] = 0;
    if (i < 20) out[5 * i + 3] = __ballot_sync(0xfffff, a[i] & 1);
    int same;
    asm volatile("{ .reg .pred p, q; setp.gt.s32 p, %1, 0; vote.sync.uni.pred q, p, 0xffffffff; selp.s32 %0, 1, 0, q; }"
                 : "=r"(same) : "r"(a[i]));
    out[5 * i + 4] = same;
}
