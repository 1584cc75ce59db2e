// arch: sm_80
// Signed times unsigned bytes, with saturation of the sum.
extern "C" __global__ void kernel(const unsigned* a, const unsigned* b, const int* start, int* d) {
    int g = threadIdx.x / 4, t = threadIdx.x % 4, c[4];
    for (int j = 0; j < 4; ++j) c[j] = start[(g + 8 * (j / 2)) * 8 + 2 * t + j % 2];
    asm volatile("mma.sync.aligned.m16n8k32.row.col.satfinite.s32.s8.u8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
                 : "r"(a[g * 8 + t]), "r"(a[(g + 8) * 8 + t]), "r"(a[g * 8 + t + 4]), "r"(a[(g + 8) * 8 + t + 4]),
                   "r"(b[g * 8 + t]), "r"(b[g * 8 + t + 4]));
    for (int j = 0; j < 4; ++j) d[(g + 8 * (j / 2)) * 8 + 2 * t + j % 2] = c[j];
}
