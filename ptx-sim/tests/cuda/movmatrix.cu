// arch: sm_80
// Transposition inside the registers of a warp.
extern "C" __global__ void kernel(const unsigned* in, unsigned* out) {
    asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(out[threadIdx.x]) : "r"(in[threadIdx.x]));
}
