// arch: sm_80
// Lane masks and launch geometry from the special registers.
extern "C" __global__ void kernel(unsigned* out) {
    unsigned lane, below, equal, block = blockIdx.x;
    asm("mov.u32 %0, %%laneid;" : "=r"(lane));
    asm("mov.u32 %0, %%lanemask_lt;" : "=r"(below));
    asm("mov.u32 %0, %%lanemask_ge;" : "=r"(equal));
    int i = block * blockDim.x + threadIdx.x;
    out[4 * i] = lane;
    out[4 * i + 1] = below;
    out[4 * i + 2] = equal;
    out[4 * i + 3] = gridDim.x * 1000 + blockDim.x;
}
