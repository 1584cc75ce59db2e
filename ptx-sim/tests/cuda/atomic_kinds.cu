// arch: sm_80
// Each integer atomic, by all lanes on one word.
extern "C" __global__ void kernel(const int* a, int* words, unsigned long long* wide) {
    int i = threadIdx.x;
    atomicMin(words, a[i]);
    atomicMax(words + 1, a[i]);
    atomicMin((unsigned*)words + 2, (unsigned)a[i]);
    atomicAnd(words + 3, a[i]);
    atomicOr(words + 4, a[i]);
    atomicXor(words + 5, a[i]);
    atomicInc((unsigned*)words + 6, 20);
    atomicDec((unsigned*)words + 7, 20);
    atomicSub(words + 8, a[i]);
    atomicAdd(wide, (unsigned long long)(long long)a[i]);
    atomicMax(wide + 1, (unsigned long long)a[i]);
}
