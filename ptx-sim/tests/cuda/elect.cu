// arch: sm_90a
// elect.sync picks one lane of the mask.
extern "C" __global__ void kernel(unsigned* out) {
    int i = threadIdx.x;
    unsigned leader, elected;
    unsigned mask = i < 16 ? 0xffffu : 0xffff0000u;
    asm volatile("{ .reg .pred p; elect.sync %0|p, %2; selp.u32 %1, 1, 0, p; }" : "=r"(leader), "=r"(elected) : "r"(mask));
    out[2 * i] = leader;
    out[2 * i + 1] = elected;
}
