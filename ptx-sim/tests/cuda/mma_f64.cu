// arch: sm_80
// Double precision, one element to a register.
extern "C" __global__ void kernel(const double* a, const double* b, double* d) {
    int g = threadIdx.x / 4, t = threadIdx.x % 4;
    double c0 = 0.5, c1 = -0.5;
    asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
                 : "+d"(c0), "+d"(c1) : "d"(a[g * 4 + t]), "d"(b[g * 4 + t]));
    d[g * 8 + 2 * t] = c0;
    d[g * 8 + 2 * t + 1] = c1;
}
