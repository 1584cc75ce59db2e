// arch: sm_80
// Four-bit integers, eight to a register.
extern "C" __global__ void kernel(const unsigned* a, const unsigned* b, int* d) {
    int g = threadIdx.x / 4, t = threadIdx.x % 4, c[4] = {0, 0, 0, 0};
    asm volatile("mma.sync.aligned.m16n8k64.row.col.s32.s4.u4.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
                 : "r"(a[g * 8 + t]), "r"(a[(g + 8) * 8 + t]), "r"(a[g * 8 + t + 4]), "r"(a[(g + 8) * 8 + t + 4]),
                   "r"(b[g * 8 + t]), "r"(b[g * 8 + t + 4]));
    for (int j = 0; j < 4; ++j) d[(g + 8 * (j / 2)) * 8 + 2 * t + j % 2] = c[j];
}
