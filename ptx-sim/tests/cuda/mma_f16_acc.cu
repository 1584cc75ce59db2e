// arch: sm_80
// Half-precision accumulators in packed registers, k = 8.
extern "C" __global__ void kernel(const unsigned* a, const unsigned* b, unsigned* d) {
    int g = threadIdx.x / 4, t = threadIdx.x % 4;
    unsigned d0, d1, zero = 0;
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3}, {%4}, {%5, %5};"
                 : "=r"(d0), "=r"(d1) : "r"(a[g * 4 + t]), "r"(a[(g + 8) * 4 + t]), "r"(b[g * 4 + t]), "r"(zero));
    d[g * 4 + t] = d0;
    d[(g + 8) * 4 + t] = d1;
}
