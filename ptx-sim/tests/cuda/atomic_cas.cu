// arch: sm_80
// A floating maximum by compare-and-swap, and an exchange chain.
extern "C" __global__ void kernel(const float* a, unsigned* best, int* chain, int* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned seen = *(volatile unsigned*)best;
    while (__uint_as_float(seen) < a[i]) {
        unsigned old = atomicCAS(best, seen, __float_as_uint(a[i]));
        if (old == seen) break;
        seen = old;
    }
    out[i] = atomicExch(chain, i);
}
