// arch: sm_80
// Scopes and orders of the memory model on atomics and reductions.
extern "C" __global__ void kernel(int* words, int* out) {
    int i = threadIdx.x, old;
    asm volatile("atom.acq_rel.cta.global.add.s32 %0, [%1], %2;" : "=r"(old) : "l"(words), "r"(1) : "memory");
    out[i] = old;
    asm volatile("red.relaxed.gpu.global.max.s32 [%0], %1;" ::"l"(words + 1), "r"(i) : "memory");
    asm volatile("fence.acq_rel.sys;" ::: "memory");
    asm volatile("red.release.sys.global.add.u64 [%0], %1;" ::"l"(words + 2), "l"((long long)i) : "memory");
    asm volatile("fence.sc.gpu;" ::: "memory");
}
