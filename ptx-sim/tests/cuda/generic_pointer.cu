// arch: sm_80
// One load instruction whose lanes look at different state spaces.
__device__ int far[32];
extern "C" __global__ void kernel(int* out) {
    __shared__ int near[32];
    int own[2] = {(int)threadIdx.x * 7, 0};
    int i = threadIdx.x;
    near[i] = i;
    far[i] = 100 + i;
    __syncwarp();
    const int* p = i % 3 == 0 ? near + (31 - i) : i % 3 == 1 ? far + (31 - i) : own;
    out[i] = *p + (__isShared(p) ? 1000 : 0) + (__isGlobal(p) ? 2000 : 0) + (__isLocal(p) ? 4000 : 0);
}
