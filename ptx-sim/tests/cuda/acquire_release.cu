// arch: sm_80
// A flag passes data from one warp to another without a barrier.
extern "C" __global__ void kernel(int* data, int* flag, int* out) {
    int lane = threadIdx.x & 31;
    if (threadIdx.x < 32) {
        data[lane] = lane * lane;
        __syncwarp();
        if (lane == 0) asm volatile("st.release.gpu.global.s32 [%0], 1;" ::"l"(flag) : "memory");
    } else {
        int ready = 0;
        while (!ready) asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(ready) : "l"(flag) : "memory");
        out[lane] = data[31 - lane];
    }
}
